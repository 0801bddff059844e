//! Compaction: one transaction replaces old episodes, or older summaries, by a summary. The
//! replaced memories are kept as its sources.
//!
//! Not here: choosing episodes (`plan`) and sentences (`summary`), summaries by agents
//! (`agent_summary`).

use crate::db::clusters;
use crate::db::clusters::ClusterKind;
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::{NewMemory, StatusChange};
use crate::db::rows::Row;
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::failpoint::failpoint;
use crate::flags;
use crate::flags::Flags;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::maintain::plan::is_due;
use crate::maintain::sources::{add_source, mean_confidence, provenance};
use crate::maintain::steps::Cluster;
use crate::maintain::summary;
use crate::maintain::summary::{MAX_SENTENCES, Members, Quote, Sentence, SummaryText};
use crate::maintain::{PeriodKind, quotes};
use crate::model::encoding::TextEncodings;
use crate::model::method;
use crate::model::time::Timestamp;
use crate::text::dates::event_day;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::memory::{MemoryId, MemoryType};
use loci_proto::requests::maintenance::StepReport;
use serde_json::{Map, Value, json};

/// A summary before it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its candidate sentences. If there is a model, the caller sets the missing vectors.
    pub sentences: Vec<Sentence>,
    members: Members,
}

impl Draft {
    /// Returns the text of the summary, with the sentences chosen by the vectors set so far.
    #[must_use]
    pub fn text(&self) -> String {
        self.summary_text().text
    }

    fn summary_text(&self) -> SummaryText {
        summary::write(self.members, &self.sentences)
    }
}

/// A summary that will replace a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Summary<'a> {
    pub text: &'a str,
    pub encodings: &'a TextEncodings,
    /// `extractive` or `agent`.
    pub method: &'a str,
    /// Ids of the memories that its lines quote, in order.
    pub quoted: &'a [MemoryId],
}

impl Reader {
    /// Returns the sentences of a cluster; `None` if one of its memories no longer exists. Sets
    /// the vector of a sentence that is a whole memory. The sentences of an extractive summary are
    /// the lines that it quotes, with their dates.
    ///
    /// # Errors
    /// `Database`.
    pub fn draft(&self, cluster: &Cluster) -> Result<Option<Draft>> {
        let max_per_member = (MAX_SENTENCES / cluster.members.len().max(1)).max(1);
        let mut all = Vec::new();
        for (index, member) in cluster.members.iter().enumerate() {
            let Some(memory) = memories::by_seq(&self.conn, member.seq)? else { return Ok(None) };
            if quotes::is_extractive(&memory) {
                for Quote { at, text, .. } in
                    quotes::valid_quotes(&self.conn, &memory)?.into_iter().take(max_per_member)
                {
                    all.push(Sentence { member: index, at, text, vector: None });
                }
                continue;
            }
            // The line of the summary has the date.
            let content = event_day::without_date(&memory.content, member.at.day());
            let texts = summary::sentences(content, max_per_member);
            let vector =
                if texts.len() == 1 { self.shared.index().direction(member.seq) } else { None };
            all.extend(texts.into_iter().map(|text| Sentence {
                member: index,
                at: member.at,
                text,
                vector: vector.clone(),
            }));
        }
        let noun = if cluster.period_kind == PeriodKind::Week { "memories" } else { "summaries" };
        Ok((!all.is_empty()).then_some(Draft {
            sentences: all,
            members: Members { count: cluster.members.len(), noun },
        }))
    }
}

impl Writer {
    /// Replaces a cluster by the draft's summary. Changes nothing if a memory has changed since the
    /// plan.
    ///
    /// # Errors
    /// `Database`.
    pub fn compact(
        &mut self,
        call: &CallContext,
        cluster: &Cluster,
        draft: &Draft,
        encodings: &TextEncodings,
    ) -> Result<StepReport> {
        let written = draft.summary_text();
        let quoted: Vec<MemoryId> =
            written.quoted.iter().map(|member| cluster.members[*member].id.clone()).collect();
        self.run_idempotent(call, |change| {
            let report = super::Step::Compact(cluster.clone()).to_reply();
            if clusters::is_processed(change.conn, &cluster.processed_key())?
                || !still_due(change, cluster)?
            {
                return Ok(report);
            }
            let summary = Summary {
                text: &written.text,
                encodings,
                method: method::EXTRACTIVE,
                quoted: &quoted,
            };
            let (id, journal) = replace(change, cluster, summary)?;
            Ok(StepReport { made: Some(id), journal, ..report })
        })
    }
}

/// Returns true if every member is still in the state of the plan.
pub(crate) fn still_due(change: &Change<'_>, cluster: &Cluster) -> Result<bool> {
    let rules = &change.shared.settings().rules;
    for member in &cluster.members {
        let current = clusters::episode_of(change.conn, member.seq)?;
        let is_unchanged = |e: &clusters::Episode| {
            is_due(e, rules, change.call.now)
                && e.hash == member.hash
                && e.group == cluster.group
                && e.scope == cluster.scope
        };
        if !current.as_ref().is_some_and(is_unchanged) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Inserts the summary and compacts the members; returns the new memory and the number of the act.
pub(crate) fn replace(
    change: &mut Change<'_>,
    cluster: &Cluster,
    summary: Summary<'_>,
) -> Result<(MemoryId, Option<i64>)> {
    let id = insert_over_members(change, cluster, summary)?;
    failpoint!("after a cluster is compacted");
    clusters::insert(change.conn, &cluster.processed_key(), ClusterKind::Compact, change.call.now)?;
    let journal = change.commit_to_journal("compact")?;
    Ok((id, journal))
}

/// Inserts the summary and sets its members to compacted; returns the new memory.
pub(crate) fn insert_over_members(
    change: &mut Change<'_>,
    cluster: &Cluster,
    summary: Summary<'_>,
) -> Result<MemoryId> {
    let (id, seq) = insert(change, cluster, summary)?;
    failpoint!("after the row of a summary");
    for member in &cluster.members {
        change.record_before(Row::Memory(member.seq))?;
        memories::set_status(
            change.conn,
            member.seq,
            StatusChange::compacted(&id),
            change.call.now,
        )?;
        add_source(change, seq, member)?;
        change.log(Operation::Compact, &member.id, &json!({"into": id}))?;
        change.touch(member.seq);
    }
    Ok(id)
}

/// Inserts the summary. Its confidence is the mean of its members, so a summary does not restore
/// confidence that was lost by decay.
fn insert(
    change: &mut Change<'_>,
    cluster: &Cluster,
    summary: Summary<'_>,
) -> Result<(MemoryId, i64)> {
    let id = MemoryId::from(uuid::Uuid::now_v7());
    let seqs: Vec<i64> = cluster.members.iter().map(|member| member.seq).collect();
    let metadata = metadata(cluster, summary);
    // An extractive summary has no words of its own.
    let own_flags =
        if summary.method == "agent" { flags::of_text(summary.text) } else { Flags::default() };
    let new = NewMemory {
        id: &id,
        kind: MemoryType::Episodic,
        content: summary.text,
        group: Some(&cluster.group),
        scope: cluster.scope,
        confidence: mean_confidence(change, &seqs)?,
        metadata: &metadata,
        hash: &hash(summary.text),
        expires_at: None,
        provenance: &provenance(change, own_flags, &seqs)?,
        importance: None,
    };
    let seq = change.insert(&new, summary.encodings)?;
    let details =
        json!({"summary": summary.method, "cluster": cluster.key, "memories": seqs.len()});
    change.log(Operation::Create, &id, &details)?;
    mentions::renew(change, seq)?;
    Ok((id, seq))
}

fn metadata(cluster: &Cluster, summary: Summary<'_>) -> Map<String, Value> {
    let ids: Vec<&str> = cluster.members.iter().map(|member| member.id.as_str()).collect();
    let dates = || cluster.members.iter().map(|member| member.at);
    let fields = json!({
        "summary": true,
        "method": summary.method,
        "cluster": cluster.key,
        "event_date": dates().min().map(Timestamp::date),
        "event_date_end": dates().max().map(Timestamp::date),
        "source_ids": ids,
        "quotes": summary.quoted.iter().map(|id| ids.iter().position(|source| *source == id.as_str())).collect::<Vec<_>>(),
    });
    let mut fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
    fields.insert(cluster.period_kind.as_str().to_owned(), json!(cluster.period));
    fields
}
