//! `compact_memories`: an agent is shown a cluster and writes the summary itself. What it writes wins over an extractive one.
//!
//! An agent sees clusters of its own project alone. Not here: extractive summaries (`compact`).

use crate::db::clusters;
use crate::db::clusters::Episode;
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::memories::{Memory, Standing, Status};
use crate::db::rows::Row;
use crate::error::{Error, Result};
use crate::maintain::Span;
use crate::maintain::compact;
use crate::maintain::compact::{Summary, add_source};
use crate::maintain::plan::{Cluster, Member, due};
use crate::model::content;
use crate::model::encoding::DocumentEncoding;
use crate::model::time::Timestamp;
use crate::transaction::change::{CallContext, Change};
use crate::{Reader, Shared, Writer};
use loci_proto::error::{Code, Failure};
use loci_proto::group::Group;
use loci_proto::memory::MemoryId;
use loci_proto::requests::compact::{ClusterMemory, CompactReply, CompactRequest};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Characters that are counted as one token.
const CHARS_PER_TOKEN: usize = 4;
/// Characters of a memory in the answer beside its content.
const FRAME: usize = 90;

/// A cluster that an agent may sum up.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Listed {
    pub(crate) cluster: Cluster,
    /// The extractive summary that stands for it already.
    pub(crate) replaces: Option<(i64, MemoryId)>,
}

/// The text of a summary that an agent sends, if it sends one.
///
/// # Errors
/// `invalid` when the cluster or the summary is missing beside the other, or the summary cannot be kept.
pub fn text_of(request: &CompactRequest) -> Result<Option<&str>> {
    let missing = |field: &str| {
        Failure::invalid(field, "is missing")
            .hint("CallContext without arguments for a cluster, then with both")
    };
    match (&request.cluster, &request.summary) {
        (None, None) => Ok(None),
        (Some(_), Some(text)) => {
            content::check_text(text).map_err(|error| match error {
                Error::Refused(failure) => Error::from(failure.at("summary")),
                other => other,
            })?;
            Ok(Some(text))
        }
        (None, Some(_)) => Err(missing("cluster").into()),
        (Some(_), None) => Err(missing("summary").into()),
    }
}

impl Reader {
    /// The cluster of a project that is due for the longest; else one that has only an extractive summary.
    ///
    /// # Errors
    /// `Database`; `busy` while the index is being loaded.
    pub fn compactable(&self, group: &Group, now: Timestamp) -> Result<CompactReply> {
        self.shared.stands()?;
        let mut found = open(&self.conn, &self.shared, &group.id, now)?;
        if found.is_empty() {
            found = summed_up(&self.conn, &group.id)?;
        }
        let Some(listed) = found.into_iter().next() else {
            return Ok(CompactReply {
                note: Some("Nothing is due".to_owned()),
                ..CompactReply::default()
            });
        };
        let mut room = self.shared.settings().recall_token_budget.saturating_mul(CHARS_PER_TOKEN);
        let mut memories = Vec::with_capacity(listed.cluster.members.len());
        for member in &listed.cluster.members {
            let content = memories::by_seq(&self.conn, member.seq)?.map(|memory| memory.content);
            let content = content.filter(|text| text.chars().count() + FRAME <= room);
            room = room
                .saturating_sub(FRAME + content.as_ref().map_or(0, |text| text.chars().count()));
            memories.push(ClusterMemory { id: member.id.clone(), date: member.at.date(), content });
        }
        Ok(CompactReply {
            cluster: Some(listed.cluster.key),
            week: Some(listed.cluster.period),
            memories,
            replaces: listed.replaces.map(|(_, id)| id),
            note: Some("CallContext again with cluster and your summary".to_owned()),
            ..CompactReply::default()
        })
    }
}

impl Writer {
    /// Puts an agent's summary in the place of a cluster, or of its extractive summary.
    ///
    /// # Errors
    /// `not_found` when the project has no such cluster, or it has changed since; `invalid`; `Database`.
    pub fn compact_as_told(
        &mut self,
        call: &CallContext,
        request: &CompactRequest,
        coded: &DocumentEncoding,
    ) -> Result<CompactReply> {
        let text = text_of(request)?.unwrap_or_default().to_owned();
        let key = request.cluster.clone().unwrap_or_default();
        self.once(call, |change| {
            let group = &call.actor.group.id;
            let mut found = open(change.conn, change.shared, group, call.now)?;
            found.extend(summed_up(change.conn, group)?);
            let listed = found
                .into_iter()
                .find(|listed| listed.cluster.key == key)
                .ok_or_else(|| gone(&key))?;
            let summary = Summary { text: &text, coded, method: "agent", quoted: &[] };
            let (id, act) = match &listed.replaces {
                None => compact::replace(change, &listed.cluster, summary)?,
                Some(old) => supersede(change, &listed.cluster, old, summary)?,
            };
            let (cluster, compacted) = (Some(key), Some(listed.cluster.members.len()));
            Ok(CompactReply {
                cluster,
                id: Some(id),
                compacted,
                act,
                replaces: listed.replaces.map(|(_, id)| id),
                ..CompactReply::default()
            })
        })
    }
}

fn gone(key: &str) -> Error {
    let message = format!("names no cluster of this project that can be summed up: {key}");
    Failure::new(Code::NotFound, message)
        .at("cluster")
        .hint("Its memories may have changed; call without arguments for another")
        .into()
}

/// The project's clusters that are due.
fn open(conn: &Connection, shared: &Shared, group: &str, now: Timestamp) -> Result<Vec<Listed>> {
    let mut episodes = clusters::episodes(conn)?;
    episodes.retain(|episode| episode.group == group);
    Ok(due(conn, shared, &episodes, now)?
        .into_iter()
        .map(|cluster| Listed { cluster, replaces: None })
        .collect())
}

/// The project's clusters that have an extractive summary, newest first.
fn summed_up(conn: &Connection, group: &str) -> Result<Vec<Listed>> {
    let mut found = Vec::new();
    for summary in clusters::summaries(conn, group)? {
        let field =
            |name: &str| summary.metadata.get(name).and_then(Value::as_str).map(str::to_owned);
        if field("method").as_deref() != Some("extractive") {
            continue;
        }
        let mut members: Vec<Member> = Vec::new();
        for source in memories::sources(conn, summary.seq)? {
            let episode: Option<Episode> = clusters::episode_of(conn, source.seq)?;
            members.extend(
                episode.filter(|_| stands_below(&source, &summary)).as_ref().map(Member::from),
            );
        }
        members.sort_by_key(|member| (member.at, member.seq));
        if let (Some(key), Some((span, period)), false) =
            (field("cluster"), Span::of(&summary.metadata), members.is_empty())
        {
            let cluster = Cluster {
                key,
                group: group.to_owned(),
                scope: summary.scope,
                span,
                period: period.to_owned(),
                members,
            };
            found.push(Listed { cluster, replaces: Some((summary.seq, summary.id)) });
        }
    }
    Ok(found)
}

fn stands_below(source: &Memory, summary: &Memory) -> bool {
    source.status == Status::Compacted
        && source.superseded_by.as_deref() == Some(summary.id.as_str())
}

/// The new summary takes the place of the old one, above the same memories.
fn supersede(
    change: &mut Change<'_>,
    cluster: &Cluster,
    old: &(i64, MemoryId),
    summary: Summary<'_>,
) -> Result<(MemoryId, Option<i64>)> {
    let (id, seq) = compact::insert(change, cluster, summary)?;
    change.keep(Row::Memory(old.0))?;
    memories::supersede(change.conn, old.0, &id, change.call.now)?;
    change.log(Operation::Supersede, &old.1, &json!({"by": id}))?;
    change.touch(old.0);
    for member in &cluster.members {
        change.keep(Row::Memory(member.seq))?;
        memories::set_status(change.conn, member.seq, Standing::compacted(&id), change.call.now)?;
        add_source(change, seq, member)?;
        change.log(Operation::Compact, &member.id, &json!({"into": id}))?;
        change.touch(member.seq);
    }
    let journal = change.write_down("compact")?;
    Ok((id, journal))
}
