//! Compaction: a summary takes the place of old episodes, or of older summaries, in one transaction. Nothing is lost: they stay, below their summary.
//!
//! Not here: which episodes (`plan`), which sentences (`summary`), the summaries of agents (`agents`).

use crate::db::clusters;
use crate::db::clusters::Kind;
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::{New, Standing};
use crate::db::rows::Row;
use crate::error::Result;
use crate::maintain::plan::{Cluster, Member, is_due};
use crate::maintain::summary;
use crate::maintain::summary::{Members, SENTENCES, Sentence, Written};
use crate::maintain::{Span, quotes};
use crate::model::encoding::DocumentEncoding;
use crate::operations::store::hash;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use crate::{Reader, Writer};
use loci_proto::memory::{Confidence, MemoryId, MemoryType};
use loci_proto::requests::maintenance::StepReport;
use serde_json::{Map, Value, json};

/// A summary in the making.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its sentences; give those without a vector one, where there is a model.
    pub sentences: Vec<Sentence>,
    members: Members,
}

impl Draft {
    /// The text of the summary, as far as the vectors are there.
    #[must_use]
    pub fn text(&self) -> String {
        self.written().text
    }

    fn written(&self) -> Written {
        summary::write(self.members, &self.sentences)
    }
}

/// A summary that is to take the place of a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary<'a> {
    pub text: &'a str,
    pub coded: &'a DocumentEncoding,
    /// `extractive` or `agent`.
    pub method: &'a str,
    /// Ids of the memories that its lines quote, in their order.
    pub quoted: &'a [MemoryId],
}

impl Reader {
    /// The sentences of a cluster; none when one of its memories is gone. A memory of one sentence has its vector already. A summary among
    /// them gives the lines that it quotes, with their dates.
    ///
    /// # Errors
    /// `Database`.
    pub fn draft(&self, cluster: &Cluster) -> Result<Option<Draft>> {
        let most = (SENTENCES / cluster.members.len().max(1)).max(1);
        let mut all = Vec::new();
        for (number, member) in cluster.members.iter().enumerate() {
            let Some(memory) = memories::by_seq(&self.conn, member.seq)? else { return Ok(None) };
            if quotes::is_extractive(&memory) {
                for (at, text) in quotes::still_said(&self.conn, &memory)?.into_iter().take(most) {
                    all.push(Sentence { member: number, at, text, vector: None });
                }
                continue;
            }
            let texts = summary::sentences(&memory.content, most);
            let known =
                if texts.len() == 1 { self.shared.index().direction(member.seq) } else { None };
            all.extend(texts.into_iter().map(|text| Sentence {
                member: number,
                at: member.at,
                text,
                vector: known.clone(),
            }));
        }
        let named = if cluster.span == Span::Week { "memories" } else { "summaries" };
        Ok((!all.is_empty()).then_some(Draft {
            sentences: all,
            members: Members { count: cluster.members.len(), named },
        }))
    }
}

impl Writer {
    /// Puts a draft's summary in the place of a cluster. Nothing is done, and nothing made, when a memory has changed since the plan.
    ///
    /// # Errors
    /// `Database`.
    pub fn compact(
        &mut self,
        call: &CallContext,
        cluster: &Cluster,
        draft: &Draft,
        coded: &DocumentEncoding,
    ) -> Result<StepReport> {
        let written = draft.written();
        let quoted: Vec<MemoryId> =
            written.quoted.iter().map(|member| cluster.members[*member].id.clone()).collect();
        self.once(call, |change| {
            let deed = super::Step::Compact(cluster.clone()).told();
            if clusters::has(change.conn, &cluster.row())? || !still_due(change, cluster)? {
                return Ok(deed);
            }
            let summary =
                Summary { text: &written.text, coded, method: "extractive", quoted: &quoted };
            let (made, journal) = replace(change, cluster, summary)?;
            Ok(StepReport { made: Some(made), journal, ..deed })
        })
    }
}

/// True when every member stands as the plan has seen it.
pub(crate) fn still_due(change: &Change<'_>, cluster: &Cluster) -> Result<bool> {
    let rules = &change.shared.settings().rules;
    for member in &cluster.members {
        let now = clusters::episode_of(change.conn, member.seq)?;
        let same = |e: &clusters::Episode| {
            is_due(e, rules, change.call.now)
                && e.hash == member.hash
                && e.group == cluster.group
                && e.scope == cluster.scope
        };
        if !now.as_ref().is_some_and(same) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes the summary and compacts the members; the new memory and the number of the act.
pub(crate) fn replace(
    change: &mut Change<'_>,
    cluster: &Cluster,
    summary: Summary<'_>,
) -> Result<(MemoryId, Option<i64>)> {
    let (id, seq) = insert(change, cluster, summary)?;
    for member in &cluster.members {
        change.keep(Row::Memory(member.seq))?;
        memories::set_status(change.conn, member.seq, Standing::compacted(&id), change.call.now)?;
        add_source(change, seq, member)?;
        change.log(Operation::Compact, &member.id, &json!({"into": id}))?;
        change.touch(member.seq);
    }
    clusters::insert(change.conn, &cluster.row(), Kind::Compact, change.call.now)?;
    let journal = change.write_down("compact")?;
    Ok((id, journal))
}

pub(crate) fn add_source(change: &mut Change<'_>, memory: i64, source: &Member) -> Result<()> {
    memories::add_source(change.conn, memory, source.seq)?;
    change.made(Row::Source(memory, source.seq));
    Ok(())
}

/// The summary's own row. It is as sure as its memories are on average: being summed up brings nothing back that had faded.
pub(crate) fn insert(
    change: &mut Change<'_>,
    cluster: &Cluster,
    summary: Summary<'_>,
) -> Result<(MemoryId, i64)> {
    let id = MemoryId::from(uuid::Uuid::now_v7());
    let seqs: Vec<i64> = cluster.members.iter().map(|member| member.seq).collect();
    let metadata = metadata(cluster, summary);
    let new = New {
        id: &id,
        kind: MemoryType::Episodic,
        content: summary.text,
        group: &cluster.group,
        scope: cluster.scope,
        confidence: average(change, &seqs)?,
        metadata: &metadata,
        hash: &hash(summary.text),
        expires_at: None,
    };
    let seq = change.insert(&new, summary.coded)?;
    let details =
        json!({"summary": summary.method, "cluster": cluster.key, "memories": seqs.len()});
    change.log(Operation::Create, &id, &details)?;
    mentions::renew(change, seq)?;
    Ok((id, seq))
}

/// The mean of what the confidences of memories are now.
pub(crate) fn average(change: &Change<'_>, seqs: &[i64]) -> Result<Confidence> {
    let mut sum = 0.0;
    for seq in seqs {
        if let Some(memory) = memories::by_seq(change.conn, *seq)? {
            sum += change
                .shared
                .settings()
                .decay
                .at(change.call.now, memory.kind, memory.anchor)
                .get();
        }
    }
    Ok(Confidence::new(sum / seqs.len().max(1) as f64).unwrap_or(Confidence::FULL))
}

fn metadata(cluster: &Cluster, summary: Summary<'_>) -> Map<String, Value> {
    let ids: Vec<&str> = cluster.members.iter().map(|member| member.id.as_str()).collect();
    let dates = || cluster.members.iter().map(|member| member.at);
    let fields = json!({
        "summary": true,
        "method": summary.method,
        "cluster": cluster.key,
        "event_date": dates().min().map(crate::model::time::Timestamp::date),
        "event_date_end": dates().max().map(crate::model::time::Timestamp::date),
        "source_ids": ids,
        "quotes": summary.quoted.iter().map(|id| ids.iter().position(|known| *known == id.as_str())).collect::<Vec<_>>(),
    });
    let mut fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
    fields.insert(cluster.span.as_str().to_owned(), json!(cluster.period));
    fields
}
