//! `list` and `find`: lists memories, newest first or sorted, for people and scripts; finds memories by a
//! part of their id.

use crate::db::{listing, memories};
use crate::error::{Error, Result};
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::declared;
use crate::model::event_date;
use crate::model::excerpt::Excerpt;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::validity;
use crate::model::visibility::Visibility;
use crate::operations::inspect::group_name;
use crate::operations::list_filter::{ListFilter, day};
use crate::operations::verbs::read_verb;
use crate::search::budget;
use loci_proto::error::Failure;
use loci_proto::memory::{Confidence, MemoryId};
use loci_proto::requests::find::{FindReply, FindRequest, FoundMemory};
use loci_proto::requests::list::{ListOrder, ListReply, ListRequest, ListedMemory};

read_verb!(ListRequest, |reader, request, call| reader.list(request, &call.actor, call.now));
read_verb!(FindRequest, |reader, request, call| reader.find(request, &call.actor, call.now));

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
        if let Some(text) = &request.as_of {
            let (past, at) = self.as_of(text, now)?;
            let request = ListRequest { as_of: None, ..request.clone() };
            let reply = past.list_now(&request, viewer.into(), at)?;
            return Ok(ListReply { as_of: past.stamp(), ..reply });
        }
        self.list_now(request, viewer.into(), now)
    }

    /// Lists at the time of this reader.
    fn list_now(
        &self,
        request: &ListRequest,
        viewer: Viewer<'_>,
        now: Timestamp,
    ) -> Result<ListReply> {
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            return Err(Failure::invalid(
                "limit",
                format!("must be a whole number in 1..{MAX_LIMIT}"),
            )
            .into());
        }
        let filter = ListFilter::new(self, request, viewer, now)?;
        let admits = |memory: &Memory| filter.admits(memory);
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
                found.push(self.position(&memory, request.sort, now));
            }
        })?;
        found.sort_unstable_by(Position::compare);
        let total = found.len();
        let start = self.start(request, &found)?;
        let page = &found[start..found.len().min(start + limit)];
        let has_more = start + limit < total;
        let next = page.last().map(|position| position.seq).filter(|_| has_more);
        let mut memories = Vec::with_capacity(page.len());
        for position in page {
            let Some(memory) = memories::by_seq(&self.conn, position.seq)? else { continue };
            let wishes = filter.wishes(position.seq);
            memories.push(ListedMemory { wishes, ..self.excerpted(memory, &excerpt, now)? });
        }
        Ok(ListReply { memories, total, next, as_of: None })
    }

    /// Returns where the page of a request begins.
    fn start(&self, request: &ListRequest, found: &[Position]) -> Result<usize> {
        Ok(match request.before {
            None => 0,
            // The time of storing is nearly known even if that memory is gone.
            Some(before) if request.sort == ListOrder::Newest => {
                let place = listing::place(&self.conn, before)?.map(Position::of_place);
                let is_before = |position: &Position| {
                    place.as_ref().is_none_or(|place| position.compare(place).is_le())
                };
                found.partition_point(is_before)
            }
            Some(before) => found
                .iter()
                .position(|position| position.seq == before)
                .map(|at| at + 1)
                .ok_or_else(|| no_such_page(before))?,
        })
    }

    /// Lists one page of the admitted memories, newest first, and reads no further.
    fn list_uncounted(
        &self,
        (before, limit): (Option<i64>, usize),
        excerpt: &Excerpt,
        admits: impl Fn(&Memory) -> bool,
        now: Timestamp,
    ) -> Result<ListReply> {
        let mut found = Vec::new();
        let mut place = match before {
            None => Some((Timestamp(i64::MAX), i64::MAX)),
            Some(before) => listing::place(&self.conn, before)?,
        };
        loop {
            let batch = match place {
                Some(place) => listing::newest_before(&self.conn, place, UNCOUNTED_BATCH)?,
                None => Vec::new(),
            };
            let is_last = batch.is_empty();
            for memory in batch {
                let passed = (memory.created_at, memory.seq);
                if admits(&memory) {
                    if found.len() == limit {
                        let next = place.map(|(_, seq)| seq);
                        return Ok(ListReply { total: limit, memories: found, next, as_of: None });
                    }
                    found.push(self.excerpted(memory, excerpt, now)?);
                }
                place = Some(passed);
            }
            if is_last {
                return Ok(ListReply {
                    total: found.len(),
                    memories: found,
                    next: None,
                    as_of: None,
                });
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
        Ok(ListReply { total: found.len(), memories: found, next: None, as_of: None })
    }

    /// Returns by what a memory is sorted; the highest comes first.
    fn position(&self, memory: &Memory, order: ListOrder, now: Timestamp) -> Position {
        let stored = memory.created_at.0 as f64;
        let key = match order {
            ListOrder::Newest => stored,
            ListOrder::Oldest => -stored,
            ListOrder::Day => f64::from(day(memory)),
            ListOrder::Used => memory.access_count as f64,
            ListOrder::Confidence => self.confidence(memory, now).get(),
        };
        Position { key, seq: memory.seq, is_ascending: order == ListOrder::Oldest }
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

    pub(crate) fn confidence(&self, memory: &Memory, now: Timestamp) -> Confidence {
        self.shared.settings().decay.at(now, memory.kind, memory.anchor)
    }

    fn excerpted(&self, memory: Memory, excerpt: &Excerpt, now: Timestamp) -> Result<ListedMemory> {
        let content = excerpt.from(&memory.content);
        Ok(ListedMemory { content, ..self.listed(memory, now)? })
    }

    fn listed(&self, memory: Memory, now: Timestamp) -> Result<ListedMemory> {
        let event_date_derived = event_date::derived(&memory.content, &memory.metadata);
        let status = self.shown_status(&memory, now);
        Ok(ListedMemory {
            confidence: self.confidence(&memory, now),
            group: group_name(&self.conn, memory.group.as_deref())?,
            preview: budget::preview(&memory.content),
            version: memory.version(),
            id: memory.id,
            kind: memory.kind,
            scope: memory.scope,
            status,
            rejected: memory.forgotten_reason.filter(|_| memory.status == Status::Rejected),
            pinned: memory.anchor.pinned,
            provenance: memory.provenance.into_reply(),
            created_at: memory.created_at.iso(),
            access_count: memory.access_count,
            category: declared::category(&memory.metadata).map(|is| is.as_str().to_owned()),
            unasked: declared::unasked(&memory.metadata).map(|said| said.as_str().to_owned()),
            event_date: event_date::given(&memory.metadata).map(str::to_owned),
            event_date_derived,
            valid_from: validity::from(&memory.metadata).map(str::to_owned),
            valid_to: validity::to(&memory.metadata).map(str::to_owned),
            content: None,
            wishes: Vec::new(),
        })
    }
}

/// A memory of a list, and by what it is sorted.
struct Position {
    key: f64,
    seq: i64,
    /// Of equal keys the memory stored first comes first.
    is_ascending: bool,
}

impl Position {
    fn of_place((created, seq): listing::StoredAt) -> Self {
        Self { key: created.0 as f64, seq, is_ascending: false }
    }

    /// The highest key first; of equal keys the one stored last.
    fn compare(&self, other: &Self) -> std::cmp::Ordering {
        let by_seq =
            if self.is_ascending { self.seq.cmp(&other.seq) } else { other.seq.cmp(&self.seq) };
        other.key.total_cmp(&self.key).then(by_seq)
    }
}

fn no_such_page(before: i64) -> Error {
    Failure::invalid("before", format!("is not the number of a listed memory: {before}"))
        .hint("Start again with the first page")
        .into()
}
