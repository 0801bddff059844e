//! `diff`: how what is known has changed between two times. Both are read as they were known
//! (`as_of`), so a memory that was changed and changed back is not listed.
//!
//! Not here: single acts (`history` of `undo`).

use crate::db::memories::MemoryReader;
use crate::db::{log, past};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::{self, Timestamp};
use crate::model::visibility::Visibility;
use crate::operations::inspect::group_name;
use crate::operations::named_project::existing_group;
use crate::operations::verbs::read_verb;
use loci_proto::error::Failure;
use loci_proto::memory::Trust;
use loci_proto::requests::diff::{DiffReply, DiffRequest, MemoryChange};

read_verb!(DiffRequest, |reader, request, call| reader.diff(
    request,
    (&call.actor).into(),
    call.now
));

/// Default changes of a reply.
const DEFAULT_LIMIT: usize = 100;
/// Maximum changes of a reply.
const MAX_LIMIT: usize = 1000;
/// Maximum characters of a text.
const TEXT_CHARS: usize = 2_000;

/// One changed memory: its state at the two times, as far as it can be seen.
struct Pair {
    before: Option<Memory>,
    after: Option<Memory>,
    /// It existed at the first time, and could not be seen.
    was_hidden: bool,
    /// It exists at the second time, and cannot be seen.
    is_hidden: bool,
}

impl Reader {
    /// Returns the memories that differ between two times, the latest change first.
    ///
    /// # Errors
    /// `invalid` for `since`, `until` and `limit`; `not_found` for the project; `Database`.
    pub fn diff(
        &self,
        request: &DiffRequest,
        viewer: Viewer<'_>,
        now: Timestamp,
    ) -> Result<DiffReply> {
        let since = time::past_start(&request.since, "since", now)?;
        let until = match &request.until {
            Some(text) => time::past_moment(text, "until", now)?,
            None => now,
        };
        if until < since {
            return Err(Failure::invalid("until", "is before since").into());
        }
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let message = format!("must be a whole number in 1..{MAX_LIMIT}");
            return Err(Failure::invalid("limit", message).into());
        }
        // A change in the very millisecond of `since` belongs to what has changed since.
        let first = self.at_time(since.plus(-1))?;
        let second = self.at_time(until)?;
        let pairs = self.changed_pairs(request, viewer, (&first, &second))?;
        let mut changes = Vec::new();
        for pair in pairs {
            changes.extend(change(&second, &pair, (since, until))?);
        }
        changes.sort_by(|(a, _), (b, _)| b.cmp(a));
        let total = changes.len();
        changes.truncate(limit);
        let stamp = first.stamp().unwrap_or_default();
        Ok(DiffReply {
            since: since.iso(),
            until: until.iso(),
            history_from: stamp.history_from,
            note: stamp.note,
            changes: changes.into_iter().map(|(_, change)| change).collect(),
            total,
        })
    }

    /// Returns the memories that may differ and that the viewer can see at one of the two times.
    fn changed_pairs(
        &self,
        request: &DiffRequest,
        viewer: Viewer<'_>,
        (first, second): (&Self, &Self),
    ) -> Result<Vec<Pair>> {
        let isolation = self.shared.isolation();
        let group = existing_group(&self.conn, &isolation, viewer, request.group.as_ref())?;
        let visibility = Visibility::of_group(&group.id, isolation.clone());
        let is_seen = |memory: &Memory| {
            let is_listed =
                request.all_groups && isolation.may_be_named(viewer, memory.group.as_deref());
            let is_of_group =
                request.group.is_none() || memory.group.as_deref() == Some(group.id.as_str());
            is_listed || (is_of_group && visibility.admits(memory.audience()))
        };
        let (mut before, mut after) =
            (MemoryReader::new(&first.conn)?, MemoryReader::new(&second.conn)?);
        let mut pairs = Vec::new();
        for seq in past::may_differ(&first.conn)? {
            let (old, new) = (before.get(seq)?, after.get(seq)?);
            let (was, is) = (old.is_some(), new.is_some());
            let (before, after) = (old.filter(is_seen), new.filter(is_seen));
            if before.is_some() || after.is_some() {
                let was_hidden = was && before.is_none();
                let is_hidden = is && after.is_none();
                pairs.push(Pair { before, after, was_hidden, is_hidden });
            }
        }
        Ok(pairs)
    }
}

/// Returns what has become of a memory, with the key by which changes are sorted; `None` if it was
/// only used.
fn change(
    reader: &Reader,
    pair: &Pair,
    (since, until): (Timestamp, Timestamp),
) -> Result<Option<((i64, i64), MemoryChange)>> {
    let Some(memory) = pair.after.as_ref().or(pair.before.as_ref()) else { return Ok(None) };
    let fields = changed_fields(pair);
    let Some(kind) = kind_of(pair, &fields) else { return Ok(None) };
    let line = log::last_between(&reader.conn, memory.id.as_str(), (since, until), kind == "new")?;
    let (at, client, session) = match line {
        Some(line) => (line.at, line.client, line.session),
        None => (memory.updated_at, None, None),
    };
    let before = pair.before.as_ref().filter(|before| before.content != memory.content);
    let status =
        if pair.after.is_none() && !pair.is_hidden { "removed" } else { memory.status.as_str() };
    let change = MemoryChange {
        change: kind.to_owned(),
        id: memory.id.clone(),
        kind: memory.kind,
        status: status.to_owned(),
        group: group_name(&reader.conn, memory.group.as_deref())?,
        at: at.iso(),
        client,
        session,
        text: cut(&memory.content),
        before: before.map(|before| cut(&before.content)),
        fields: fields.iter().map(|field| (*field).to_owned()).collect(),
        superseded_by: memory.superseded_by.clone(),
        reason: memory.forgotten_reason.clone(),
    };
    Ok(Some(((at.0, memory.seq), change)))
}

fn kind_of(pair: &Pair, fields: &[&str]) -> Option<&'static str> {
    let (before, after) = match (&pair.before, &pair.after) {
        (Some(before), Some(after)) => (before, after),
        (None, _) => return Some(if pair.was_hidden { "moved" } else { "new" }),
        (_, None) => return Some(if pair.is_hidden { "moved" } else { "removed" }),
    };
    let trusted = |memory: &Memory| memory.provenance.trust == Trust::Person;
    Some(match after.status {
        status if status == before.status => {
            if before.content != after.content {
                "changed"
            } else if trusted(after) && !trusted(before) {
                "confirmed"
            } else if fields == ["group"] {
                "moved"
            } else if fields.is_empty() {
                return None;
            } else {
                "changed"
            }
        }
        Status::Forgotten => "forgotten",
        Status::Superseded => "superseded",
        Status::Rejected => "rejected",
        Status::Compacted => "compacted",
        Status::Active if before.status == Status::Candidate => "confirmed",
        Status::Active | Status::Candidate => "restored",
    })
}

fn changed_fields(pair: &Pair) -> Vec<&'static str> {
    let (Some(before), Some(after)) = (&pair.before, &pair.after) else { return Vec::new() };
    let differ = [
        ("type", before.kind != after.kind),
        ("scope", before.scope != after.scope),
        ("group", before.group != after.group),
        ("metadata", before.metadata != after.metadata),
        ("pinned", before.anchor.pinned != after.anchor.pinned),
        ("expires_at", before.expires_at != after.expires_at),
    ];
    differ.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect()
}

fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS).collect()
}
