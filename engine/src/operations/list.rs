//! `list` and `find`: lists memories, newest first, for people and scripts; finds memories by a
//! part of their id.

use crate::db::listing;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::inspect::{FADED_THRESHOLD, group_name};
use crate::operations::visible_memory::named_group;
use crate::search::budget;
use loci_proto::error::Failure;
use loci_proto::memory::Confidence;
use loci_proto::requests::find::{FindReply, FindRequest, FoundMemory};
use loci_proto::requests::list::{ListReply, ListRequest, ListedMemory};

/// Default memories per page.
const DEFAULT_LIMIT: usize = 50;
/// Maximum memories per page.
const MAX_LIMIT: usize = 1000;
/// Allowed length of a partial id in characters.
const PARTIAL_ID_CHARS: std::ops::RangeInclusive<usize> = 4..=36;
/// Maximum memories that a partial id returns.
const MAX_FOUND: usize = 10;

/// The value of the request's `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusFilter {
    Status(Status),
    Expired,
    Pinned,
    Flagged,
    All,
}

impl Reader {
    /// Returns one page of the selected memories.
    ///
    /// # Errors
    /// `invalid` for `status` and `limit`, `Database`.
    pub fn list<'a>(
        &self,
        request: &ListRequest,
        viewer: impl Into<Viewer<'a>>,
        now: Timestamp,
    ) -> Result<ListReply> {
        let status = parse_status(request.status.as_deref())?;
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Failure::invalid(
                "limit",
                format!("must be a whole number in 1..{MAX_LIMIT}"),
            )
            .into());
        }
        let (viewer, isolation) = (viewer.into(), self.shared.isolation());
        let group = named_group(&self.conn, &isolation, viewer, request.group.as_ref())?;
        let can_list = |memory: &Memory| {
            request.all_groups && isolation.may_be_named(viewer, memory.group.as_deref())
        };
        let visibility = Visibility::of_group(&group.id, isolation.clone());
        let text = request.text.as_deref().map(str::to_lowercase);
        let admits = |memory: &Memory| {
            (can_list(memory) || visibility.admits(memory.audience()))
                && self.matches_status(memory, status, now)
                && (!request.flags || !memory.provenance.flags.is_empty())
                && (!request.from_group || memory.group.as_deref() == Some(group.id.as_str()))
                && request
                    .older_than_seconds
                    .is_none_or(|age| memory.created_at <= now.plus(-age.saturating_mul(1000)))
                && request.confidence_below.is_none_or(|limit| self.confidence(memory, now) < limit)
                && request.kind.is_none_or(|kind| kind == memory.kind)
                && request.scope.is_none_or(|scope| scope == memory.scope)
                && text.as_deref().is_none_or(|text| memory.content.to_lowercase().contains(text))
        };
        let (mut found, mut total) = (Vec::new(), 0);
        listing::newest_first(&self.conn, |memory| {
            if admits(&memory) {
                total += 1;
                if found.len() <= limit && request.before.is_none_or(|before| memory.seq < before) {
                    found.push(memory);
                }
            }
        })?;
        let has_more = found.len() > limit;
        found.truncate(limit);
        let next = if has_more { found.last().map(|memory| memory.seq) } else { None };
        let memories =
            found.into_iter().map(|memory| self.listed(memory, now)).collect::<Result<_>>()?;
        Ok(ListReply { memories, total, next })
    }

    /// Returns the memories of every project and status whose id begins or ends with the part.
    ///
    /// # Errors
    /// `invalid` for the part, `Database`.
    pub fn find<'a>(
        &self,
        request: &FindRequest,
        viewer: impl Into<Viewer<'a>>,
        now: Timestamp,
    ) -> Result<FindReply> {
        let part = request.part.to_ascii_lowercase();
        if !PARTIAL_ID_CHARS.contains(&part.len())
            || !part.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
        {
            let message = "must be an id, or at least 4 characters of its beginning or its end";
            return Err(Failure::invalid("part", message).hint("Run loci list to see ids").into());
        }
        let (viewer, isolation) = (viewer.into(), self.shared.isolation());
        let visibility = Visibility::of_group(&viewer.group.id, isolation.clone());
        let mut found = listing::by_partial_id(&self.conn, &part, MAX_FOUND)?;
        found.retain(|memory| {
            visibility.admits(memory.audience())
                || isolation.may_be_named(viewer, memory.group.as_deref())
        });
        let to_found = |memory: Memory| {
            let (visible, group_id) = (visibility.admits(memory.audience()), memory.group.clone());
            Ok(FoundMemory { visible, group_id, memory: self.listed(memory, now)? })
        };
        Ok(FindReply { memories: found.into_iter().map(to_found).collect::<Result<_>>()? })
    }

    fn confidence(&self, memory: &Memory, now: Timestamp) -> Confidence {
        self.shared.settings().decay.at(now, memory.kind, memory.anchor)
    }

    fn matches_status(&self, memory: &Memory, filter: StatusFilter, now: Timestamp) -> bool {
        let is_active = memory.status == Status::Active;
        let is_expired = memory.expires_at.is_some_and(|at| at <= now);
        match filter {
            StatusFilter::Status(Status::Active) => is_active && !is_expired,
            StatusFilter::Status(status) => memory.status == status,
            StatusFilter::Expired => is_active && is_expired,
            StatusFilter::Pinned => is_active && memory.anchor.pinned,
            StatusFilter::Flagged => {
                is_active && self.confidence(memory, now).get() < FADED_THRESHOLD
            }
            StatusFilter::All => true,
        }
    }

    fn listed(&self, memory: Memory, now: Timestamp) -> Result<ListedMemory> {
        Ok(ListedMemory {
            confidence: self.confidence(&memory, now),
            group: group_name(&self.conn, memory.group.as_deref())?,
            preview: budget::preview(&memory.content),
            id: memory.id,
            kind: memory.kind,
            scope: memory.scope,
            status: memory.status.as_str().to_owned(),
            pinned: memory.anchor.pinned,
            provenance: memory.provenance.into_reply(),
            created_at: memory.created_at.iso(),
        })
    }
}

fn parse_status(name: Option<&str>) -> Result<StatusFilter> {
    Ok(match name {
        None | Some("active") => StatusFilter::Status(Status::Active),
        Some("superseded") => StatusFilter::Status(Status::Superseded),
        Some("compacted") => StatusFilter::Status(Status::Compacted),
        Some("forgotten") => StatusFilter::Status(Status::Forgotten),
        Some("expired") => StatusFilter::Expired,
        Some("pinned") => StatusFilter::Pinned,
        Some("flagged") => StatusFilter::Flagged,
        Some("all") => StatusFilter::All,
        Some(_) => {
            let message =
                "must be active, superseded, compacted, forgotten, expired, pinned, flagged or all";
            return Err(Failure::invalid("status", message).into());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::DAY;
    use crate::tests::fixture::{TestStore, named, parse};
    use serde_json::{Value, json};

    fn ids(test_store: &TestStore, request: Value) -> Vec<String> {
        let reply = test_store
            .reader
            .list(&parse(request), &named("a"), test_store.now)
            .expect("the memories are listed");
        reply.memories.into_iter().map(|memory| memory.id.to_string()).collect()
    }

    fn found(test_store: &TestStore, part: &str) -> Vec<(String, bool)> {
        let reply = test_store
            .reader
            .find(&FindRequest { part: part.to_owned() }, &named("a"), test_store.now)
            .expect("the search succeeds");
        reply
            .memories
            .into_iter()
            .map(|found| (found.memory.id.to_string(), found.visible))
            .collect()
    }

    #[test]
    fn a_partial_id_finds_memories_of_every_project_by_its_beginning_or_end() {
        let mut test_store = TestStore::new();
        let ours = test_store
            .store("a", json!({"content": "Ours", "type": "episodic"}), None)
            .id
            .to_string();
        let theirs = test_store
            .store("b", json!({"content": "Theirs", "type": "episodic"}), None)
            .id
            .to_string();
        assert_eq!(found(&test_store, &ours), [(ours.clone(), true)]);
        assert_eq!(found(&test_store, &ours[28..].to_uppercase()), [(ours.clone(), true)]);
        assert_eq!(found(&test_store, &theirs[26..]), [(theirs.clone(), false)]);
        assert_eq!(found(&test_store, &ours[..4]), [(theirs, false), (ours, true)]);
        assert!(found(&test_store, "ffffffff").is_empty());
        for part in ["", "abc", "%%%%", "____", "zzzz", &"a".repeat(37)] {
            assert!(
                test_store
                    .reader
                    .find(&FindRequest { part: part.to_owned() }, &named("a"), test_store.now)
                    .is_err(),
                "{part}"
            );
        }
    }

    #[test]
    fn age_confidence_and_project_filter_the_list() {
        let mut test_store = TestStore::new();
        let sure = test_store
            .store("a", json!({"content": "Sure", "type": "semantic"}), None)
            .id
            .to_string();
        let vague = test_store
            .store("b", json!({"content": "Vague", "type": "semantic", "confidence": 0.2}), None)
            .id
            .to_string();
        test_store.now = test_store.now.plus(10 * DAY);
        let new = test_store
            .store("a", json!({"content": "New", "type": "semantic"}), None)
            .id
            .to_string();
        let none: [&str; 0] = [];
        assert_eq!(ids(&test_store, json!({})), [new.as_str(), &vague, &sure]);
        assert_eq!(
            ids(&test_store, json!({"older_than_seconds": 864_000})),
            [vague.as_str(), &sure]
        );
        assert_eq!(ids(&test_store, json!({"older_than_seconds": 864_001})), none);
        assert_eq!(ids(&test_store, json!({"confidence_below": 0.5})), [vague.as_str()]);
        assert_eq!(
            ids(&test_store, json!({"group": "b"})),
            [new.as_str(), &vague, &sure],
            "global memories are visible in every project"
        );
        assert_eq!(ids(&test_store, json!({"group": "b", "from_group": true})), [vague.as_str()]);
    }
}
