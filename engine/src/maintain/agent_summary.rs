//! `compact_memories`: returns a cluster to an agent and stores the summary that the agent writes.
//! An agent's summary replaces an extractive one.
//!
//! An agent sees only clusters of its own project. Not here: extractive summaries (`compact`).

use crate::db::clusters;
use crate::db::clusters::Episode;
use crate::db::log::Operation;
use crate::db::memories;
use crate::db::rows::Row;
use crate::error::{Error, Result};
use crate::flags;
use crate::flags::Flags;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::maintain::PeriodKind;
use crate::maintain::compact;
use crate::maintain::compact::Summary;
use crate::maintain::plan::due_clusters;
use crate::maintain::steps::{Cluster, Member};
use crate::model::actor::Actor;
use crate::model::content;
use crate::model::encoding::TextEncodings;
use crate::model::memory::Memory;
use crate::model::method;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::{Code, Failure};
use loci_proto::memory::MemoryId;
use loci_proto::requests::compact::{ClusterMemory, CompactReply, CompactRequest};
use loci_proto::sanitize::Removed;
use rusqlite::Connection;
use serde_json::{Value, json};

/// Characters counted as one token.
const CHARS_PER_TOKEN: usize = 4;
/// Characters that a memory adds to the reply in addition to its content.
const ENTRY_OVERHEAD: usize = 90;

/// A cluster that an agent may summarise.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OpenCluster {
    pub(crate) cluster: Cluster,
    /// The sequence number and id of the extractive summary that the agent's summary replaces.
    pub(crate) replaces: Option<(i64, MemoryId)>,
}

/// Returns the text of an agent's summary without its hidden characters, if the request has one.
///
/// # Errors
/// `invalid` if only one of cluster and summary is given, or the summary cannot be stored.
pub fn summary_text(request: &CompactRequest) -> Result<Option<String>> {
    let missing = |field: &str| {
        Failure::invalid(field, "is missing")
            .hint("Call without arguments for a cluster, then with both")
    };
    match (&request.cluster, &request.summary) {
        (None, None) => Ok(None),
        (Some(_), Some(text)) => {
            let clean = content::clean_text(text, &mut Removed::default());
            Ok(Some(clean.map_err(|failure| failure.at("summary"))?))
        }
        (None, Some(_)) => Err(missing("cluster").into()),
        (Some(_), None) => Err(missing("summary").into()),
    }
}

impl Reader {
    /// Returns the oldest due cluster of a project; if there is none, the newest one that has only
    /// an extractive summary. A cluster with a memory that is trusted more than the caller is left
    /// out.
    ///
    /// # Errors
    /// `Database`; `busy` while the index is being loaded.
    pub fn compactable(&self, actor: &Actor, now: Timestamp) -> Result<CompactReply> {
        let (group, caller) = (&actor.group, Provenance::of(actor, Flags::default()));
        self.shared.require_ready()?;
        let mut clusters = due_in_group(&self.conn, &self.shared, &group.id, now)?;
        if clusters.is_empty() {
            clusters = extractive_clusters(&self.conn, &group.id)?;
        }
        let mut open = None;
        for candidate in clusters {
            if trusted_more(&self.conn, &candidate.cluster, &caller)?.is_none() {
                open = Some(candidate);
                break;
            }
        }
        let Some(OpenCluster { cluster, replaces }) = open else {
            return Ok(CompactReply {
                note: Some("Nothing is due".to_owned()),
                ..CompactReply::default()
            });
        };
        let mut remaining =
            self.shared.settings().recall_token_budget.saturating_mul(CHARS_PER_TOKEN);
        let mut memories = Vec::with_capacity(cluster.members.len());
        for member in &cluster.members {
            let content = memories::by_seq(&self.conn, member.seq)?.map(|memory| memory.content);
            let content = content.filter(|text| text.chars().count() + ENTRY_OVERHEAD <= remaining);
            remaining = remaining.saturating_sub(
                ENTRY_OVERHEAD + content.as_ref().map_or(0, |text| text.chars().count()),
            );
            memories.push(ClusterMemory { id: member.id.clone(), date: member.at.date(), content });
        }
        Ok(CompactReply {
            cluster: Some(cluster.key),
            week: Some(cluster.period),
            memories,
            replaces: replaces.map(|(_, id)| id),
            note: Some("Call again with cluster and your summary".to_owned()),
            ..CompactReply::default()
        })
    }
}

impl Writer {
    /// Replaces a cluster, or its extractive summary, by an agent's summary.
    ///
    /// # Errors
    /// `not_found` if the project has no such cluster, or it has changed since; `invalid`;
    /// `Database`.
    pub fn store_agent_summary(
        &mut self,
        call: &CallContext,
        request: &CompactRequest,
        encodings: &TextEncodings,
    ) -> Result<CompactReply> {
        let text = summary_text(request)?.unwrap_or_default();
        let key = request.cluster.clone().unwrap_or_default();
        self.run_idempotent(call, |change| {
            let group = &call.actor.group.id;
            let mut clusters = due_in_group(change.conn, change.shared, group, call.now)?;
            clusters.extend(extractive_clusters(change.conn, group)?);
            let OpenCluster { cluster, replaces } = clusters
                .into_iter()
                .find(|open| open.cluster.key == key)
                .ok_or_else(|| cluster_not_found(&key))?;
            let caller = Provenance::of(&call.actor, flags::of_text(&text));
            if let Some(id) = trusted_more(change.conn, &cluster, &caller)? {
                let message = format!("would replace a memory that is trusted more: {id}");
                let failure = Failure::new(Code::Conflict, message).at("summary");
                return Err(failure
                    .hint("Leave the cluster; the user can run loci compact")
                    .into());
            }
            let summary = Summary { text: &text, encodings, method: "agent", quoted: &[] };
            let (id, act) = match &replaces {
                None => compact::replace(change, &cluster, summary)?,
                Some(old) => supersede(change, &cluster, old, summary)?,
            };
            Ok(CompactReply {
                cluster: Some(key),
                id: Some(id),
                compacted: Some(cluster.members.len()),
                act,
                replaces: replaces.map(|(_, id)| id),
                ..CompactReply::default()
            })
        })
    }
}

/// Returns a member of the cluster that the caller's text may not replace.
fn trusted_more(
    conn: &Connection,
    cluster: &Cluster,
    caller: &Provenance,
) -> Result<Option<MemoryId>> {
    for member in &cluster.members {
        let memory = memories::by_seq(conn, member.seq)?;
        if let Some(memory) = memory.filter(|m| !caller.may_replace(&m.provenance)) {
            return Ok(Some(memory.id));
        }
    }
    Ok(None)
}

fn cluster_not_found(key: &str) -> Error {
    let message = format!("names no cluster of this project that is due for a summary: {key}");
    Failure::new(Code::NotFound, message)
        .at("cluster")
        .hint("Its memories may have changed; call without arguments for another")
        .into()
}

/// Returns the project's clusters that are due.
fn due_in_group(
    conn: &Connection,
    shared: &Shared,
    group: &str,
    now: Timestamp,
) -> Result<Vec<OpenCluster>> {
    let mut episodes = clusters::episodes(conn)?;
    episodes.retain(|episode| episode.group == group);
    Ok(due_clusters(conn, shared, &episodes, now)?
        .into_iter()
        .map(|cluster| OpenCluster { cluster, replaces: None })
        .collect())
}

/// Returns the project's clusters that have an extractive summary, newest first.
fn extractive_clusters(conn: &Connection, group: &str) -> Result<Vec<OpenCluster>> {
    let mut open = Vec::new();
    for summary in clusters::summaries(conn, group)? {
        let field =
            |name: &str| summary.metadata.get(name).and_then(Value::as_str).map(str::to_owned);
        if !method::is_extractive(&summary.metadata) {
            continue;
        }
        let mut members: Vec<Member> = Vec::new();
        for source in memories::sources(conn, summary.seq)? {
            let episode: Option<Episode> = clusters::episode_of(conn, source.seq)?;
            members.extend(
                episode.filter(|_| is_covered_by(&source, &summary)).as_ref().map(Member::from),
            );
        }
        members.sort_by_key(|member| (member.at, member.seq));
        if let (Some(key), Some((period_kind, period)), false) =
            (field("cluster"), PeriodKind::of(&summary.metadata), members.is_empty())
        {
            let cluster = Cluster {
                key,
                group: group.to_owned(),
                scope: summary.scope,
                period_kind,
                period: period.to_owned(),
                members,
            };
            open.push(OpenCluster { cluster, replaces: Some((summary.seq, summary.id)) });
        }
    }
    Ok(open)
}

/// Returns whether the summary replaced the source.
fn is_covered_by(source: &Memory, summary: &Memory) -> bool {
    source.status == Status::Compacted
        && source.superseded_by.as_deref() == Some(summary.id.as_str())
}

/// Replaces the old summary by the new one, which covers the same memories.
fn supersede(
    change: &mut Change<'_>,
    cluster: &Cluster,
    old: &(i64, MemoryId),
    summary: Summary<'_>,
) -> Result<(MemoryId, Option<i64>)> {
    let id = compact::insert_over_members(change, cluster, summary)?;
    change.record_before(Row::Memory(old.0))?;
    memories::supersede(change.conn, old.0, &id, change.call.now)?;
    change.log(Operation::Supersede, &old.1, &json!({"by": id}))?;
    change.touch(old.0);
    let journal = change.commit_to_journal("compact")?;
    Ok((id, journal))
}
