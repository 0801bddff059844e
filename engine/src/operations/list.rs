//! `list` and `find`: lists memories, newest first or sorted, for people and scripts; finds memories by a
//! part of their id.

use crate::db::{listing, memories};
use crate::error::{Error, Result};
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::event_date;
use crate::model::excerpt::Excerpt;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::inspect::group_name;
use crate::operations::visible_memory::existing_group;
use crate::search::budget;
use crate::search::query::date_filter::DateFilter;
use loci_proto::error::Failure;
use loci_proto::memory::{Confidence, MemoryId};
use loci_proto::requests::find::{FindReply, FindRequest, FoundMemory};
use loci_proto::requests::list::{ListOrder, ListReply, ListRequest, ListedMemory};

/// Default memories per page.
const DEFAULT_LIMIT: usize = 50;
/// Maximum memories per page.
const MAX_LIMIT: usize = 1000;
/// Memories that are read at once for a page that is not counted.
const UNCOUNTED_BATCH: usize = 500;
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
        let group = existing_group(&self.conn, &isolation, viewer, request.group.as_ref())?;
        let can_list = |memory: &Memory| {
            request.all_groups && isolation.may_be_named(viewer, memory.group.as_deref())
        };
        let visibility = Visibility::of_group(&group.id, isolation.clone());
        let text = request.text.as_deref().map(str::to_lowercase);
        let client = request.client.as_deref().map(str::to_lowercase);
        let days = DateFilter::parse(request.date_from.as_deref(), request.date_to.as_deref())?;
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
                && client.as_deref().is_none_or(|client| is_by(memory, client))
                && text.as_deref().is_none_or(|text| memory.content.to_lowercase().contains(text))
                && request.tool.as_deref().is_none_or(|tool| is_about_tool(memory, tool))
                && (days.is_open() || days.admits(Some(day(memory))))
        };
        let excerpt = Excerpt::of(request, limit)?;
        if let Some(ids) = &request.ids {
            return self.list_ids(ids, &excerpt, admits, now);
        }
        if request.uncounted && request.sort == ListOrder::Newest {
            return self.list_uncounted((request.before, limit), &excerpt, admits, now);
        }
        let mut found: Vec<Position> = Vec::new();
        listing::newest_first(&self.conn, |memory| {
            if admits(&memory) {
                found.push(Position { key: self.key(&memory, request.sort, now), seq: memory.seq });
            }
        })?;
        found.sort_unstable_by(Position::compare);
        let total = found.len();
        let start = match request.before {
            None => 0,
            // The order of storing is known even if that memory is gone.
            Some(before) if request.sort == ListOrder::Newest => {
                found.partition_point(|position| position.seq >= before)
            }
            Some(before) => found
                .iter()
                .position(|position| position.seq == before)
                .map(|at| at + 1)
                .ok_or_else(|| no_such_page(before))?,
        };
        let page = &found[start..found.len().min(start + limit)];
        let has_more = start + limit < total;
        let next = page.last().map(|position| position.seq).filter(|_| has_more);
        let mut memories = Vec::with_capacity(page.len());
        for position in page {
            let memory = memories::by_seq(&self.conn, position.seq)?;
            memories
                .extend(memory.map(|memory| self.excerpted(memory, &excerpt, now)).transpose()?);
        }
        Ok(ListReply { memories, total, next })
    }

    /// Lists one page of the admitted memories, newest first, and reads no further.
    fn list_uncounted(
        &self,
        (before, limit): (Option<i64>, usize),
        excerpt: &Excerpt,
        admits: impl Fn(&Memory) -> bool,
        now: Timestamp,
    ) -> Result<ListReply> {
        let (mut found, mut before) = (Vec::new(), before.unwrap_or(i64::MAX));
        loop {
            let batch = listing::newest_before(&self.conn, before, UNCOUNTED_BATCH)?;
            let is_last = batch.is_empty();
            for memory in batch {
                let seq = memory.seq;
                if admits(&memory) {
                    if found.len() == limit {
                        return Ok(ListReply { total: limit, memories: found, next: Some(before) });
                    }
                    found.push(self.excerpted(memory, excerpt, now)?);
                }
                before = seq;
            }
            if is_last {
                return Ok(ListReply { total: found.len(), memories: found, next: None });
            }
        }
    }

    /// Lists the admitted memories of `ids`, in that order.
    fn list_ids(
        &self,
        ids: &[MemoryId],
        excerpt: &Excerpt,
        admits: impl Fn(&Memory) -> bool,
        now: Timestamp,
    ) -> Result<ListReply> {
        if ids.len() > MAX_LIMIT {
            let message = format!("must have at most {MAX_LIMIT} ids, not {}", ids.len());
            return Err(Failure::invalid("ids", message).into());
        }
        let mut found = Vec::new();
        for id in ids {
            let memory = memories::by_id(&self.conn, id)?.filter(&admits);
            found.extend(memory.map(|memory| self.excerpted(memory, excerpt, now)).transpose()?);
        }
        Ok(ListReply { total: found.len(), memories: found, next: None })
    }

    /// Returns by what a memory is sorted; the highest comes first.
    fn key(&self, memory: &Memory, order: ListOrder, now: Timestamp) -> f64 {
        match order {
            ListOrder::Newest => memory.seq as f64,
            ListOrder::Oldest => -(memory.seq as f64),
            ListOrder::Day => f64::from(day(memory)),
            ListOrder::Used => memory.access_count as f64,
            ListOrder::Confidence => self.confidence(memory, now).get(),
        }
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
            StatusFilter::Flagged => is_active && self.is_faded(memory, now),
            StatusFilter::All => true,
        }
    }

    fn excerpted(&self, memory: Memory, excerpt: &Excerpt, now: Timestamp) -> Result<ListedMemory> {
        let content = excerpt.from(&memory.content);
        Ok(ListedMemory { content, ..self.listed(memory, now)? })
    }

    fn listed(&self, memory: Memory, now: Timestamp) -> Result<ListedMemory> {
        let event_date_derived = event_date::derived(&memory.content, &memory.metadata);
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
            access_count: memory.access_count,
            event_date: event_date::given(&memory.metadata).map(str::to_owned),
            event_date_derived,
            content: None,
        })
    }
}

/// Returns whether a memory names this tool in its metadata.
fn is_about_tool(memory: &Memory, tool: &str) -> bool {
    let named = memory.metadata.get("tool").and_then(serde_json::Value::as_str);
    named.is_some_and(|named| named.eq_ignore_ascii_case(tool))
}

/// Whether a memory was stored by a client, or by what is named in its place; `client` is in lower case.
fn is_by(memory: &Memory, client: &str) -> bool {
    memory.provenance.source().is_some_and(|source| source.to_lowercase() == client)
}

/// A memory of a list, and by what it is sorted.
struct Position {
    key: f64,
    seq: i64,
}

impl Position {
    /// The highest key first; of equal keys the one stored last.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        other.key.total_cmp(&self.key).then(other.seq.cmp(&self.seq))
    }
}

/// Returns the day of a memory's event, else the day when it was stored.
fn day(memory: &Memory) -> i32 {
    event_date::day(&memory.content, &memory.metadata).unwrap_or_else(|| memory.created_at.day())
}

fn no_such_page(before: i64) -> Error {
    Failure::invalid("before", format!("is not the number of a listed memory: {before}"))
        .hint("Start again with the first page")
        .into()
}

fn parse_status(name: Option<&str>) -> Result<StatusFilter> {
    Ok(match name {
        None | Some("active") => StatusFilter::Status(Status::Active),
        Some("superseded") => StatusFilter::Status(Status::Superseded),
        Some("compacted") => StatusFilter::Status(Status::Compacted),
        Some("forgotten") => StatusFilter::Status(Status::Forgotten),
        Some("candidate") => StatusFilter::Status(Status::Candidate),
        Some("rejected") => StatusFilter::Status(Status::Rejected),
        Some("expired") => StatusFilter::Expired,
        Some("pinned") => StatusFilter::Pinned,
        Some("flagged") => StatusFilter::Flagged,
        Some("all") => StatusFilter::All,
        Some(_) => {
            let message = "must be active, superseded, compacted, forgotten, candidate, rejected, expired, pinned, flagged or all";
            return Err(Failure::invalid("status", message).into());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::DAY;
    use crate::tests::fixture::{TestStore, named, parse};
    use crate::transaction::access::{Accesses, Boosting};
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

    fn texts(test_store: &TestStore, request: Value) -> Vec<String> {
        let reply = test_store
            .reader
            .list(&parse(request), &named("a"), test_store.now)
            .expect("the memories are listed");
        reply.memories.into_iter().map(|memory| memory.preview).collect()
    }

    /// Stores three memories; the first is used twice, the second is the least sure.
    fn dated() -> TestStore {
        let mut test_store = TestStore::new();
        let date = json!({"event_date": "2026-01-20"});
        for (content, confidence, metadata) in
            [("2026-01-10: one", 0.9, json!({})), ("two", 0.5, date), ("three", 1.0, json!({}))]
        {
            let arguments = json!({"content": content, "type": "semantic", "confidence": confidence, "metadata": metadata});
            test_store.store("a", arguments, None);
        }
        let used = [(1, Accesses::boosting(2)), (3, Accesses::boosting(1))].into_iter().collect();
        test_store
            .writer
            .touch(&used, test_store.now, Boosting::Off)
            .expect("the accesses are counted");
        test_store
    }

    #[test]
    fn days_filter_the_list_and_the_order_is_chosen() {
        let test_store = dated();
        let (one, two, three) = ("2026-01-10: one", "two", "three");
        for (request, expected) in [
            (json!({"date_from": "2026-01-15"}), vec![three, two]),
            (json!({"date_to": "2026-01-20"}), vec![two, one]),
            (json!({"date_from": "2026-01-10", "date_to": "2026-01-10"}), vec![one]),
            (json!({"sort": "newest"}), vec![three, two, one]),
            (json!({"sort": "oldest"}), vec![one, two, three]),
            (json!({"sort": "day"}), vec![three, two, one]),
            (json!({"sort": "used"}), vec![one, three, two]),
            (json!({"sort": "confidence"}), vec![three, one, two]),
        ] {
            assert_eq!(texts(&test_store, request.clone()), expected, "{request}");
        }
        let listed =
            |request: Value| test_store.reader.list(&parse(request), &named("a"), test_store.now);
        let memories = listed(json!({})).expect("the memories are listed").memories;
        let days =
            |memory: &ListedMemory| (memory.event_date.clone(), memory.event_date_derived.clone());
        assert_eq!(
            memories.iter().map(days).collect::<Vec<_>>(),
            [(None, None), (Some("2026-01-20".into()), None), (None, Some("2026-01-10".into()))]
        );
        let refused = listed(json!({"date_from": "2026-02-02", "date_to": "2026-02-01"}));
        assert!(refused.is_err_and(|error| error.to_string().contains("date_from")));
    }

    #[test]
    fn every_order_is_listed_page_by_page() {
        let test_store = dated();
        for (order, _) in ListOrder::ALL {
            let whole = texts(&test_store, json!({"sort": order}));
            let (mut paged, mut before) = (Vec::new(), None);
            loop {
                let request = parse(json!({"sort": order, "limit": 1, "before": before}));
                let page = test_store
                    .reader
                    .list(&request, &named("a"), test_store.now)
                    .expect("the memories are listed");
                assert_eq!(page.total, 3);
                paged.extend(page.memories.into_iter().map(|memory| memory.preview));
                before = page.next;
                if before.is_none() {
                    break;
                }
            }
            assert_eq!(paged, whole, "{order}");
        }
        let request = parse(json!({"sort": "used", "before": 99}));
        let refused = test_store.reader.list(&request, &named("a"), test_store.now);
        assert!(refused.is_err_and(|error| error.to_string().contains("before")));
    }
}
