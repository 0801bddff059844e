//! The attributes of each memory that filters test: a compact record per slot, and bitmaps for the
//! tests applied to all slots.
//!
//! Not here: what a filter is (`mask`), texts (`features`, `postings`), vectors.

use crate::index::bitmap::Bitmap;
use crate::index::slot_set::SlotSet;
use crate::model::decay::Anchor;
use crate::model::entry::Entry;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use std::collections::HashMap;

/// Slots that share one lower bound of their confidence.
pub(crate) const BLOCK: usize = 512;
/// Sentinels: no expiry, and no event day.
const NEVER: (i64, i32) = (i64::MAX, i32::MIN);

/// Sentinel: no summary.
const NOBODY: i64 = i64::MIN;

/// The attributes of one memory.
#[derive(Debug, Clone, Copy)]
struct MemoryAttributes {
    seq: i64,
    confidence: Confidence,
    confident_at: Timestamp,
    expires_at: i64,
    group: u32,
    event_day: i32,
    created_day: i32,
    summary: i64,
    extractive: bool,
    kind: MemoryType,
    scope: Scope,
    status: Status,
    pinned: bool,
}

/// Lower bound of a block: the least confidence, and the earliest time at which one of its confidences was set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ConfidenceFloor {
    pub confidence: f64,
    pub at: Timestamp,
}

/// The slots of one group, in storing order.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub all: SlotSet,
    /// Those of them with global scope.
    pub global: SlotSet,
}

/// The attributes of all memories, by slot.
#[derive(Debug, Default)]
pub(crate) struct Attributes {
    known: Vec<MemoryAttributes>,
    lowest: Vec<ConfidenceFloor>,
    groups: Vec<Option<String>>,
    group_numbers: HashMap<Option<String>, u32>,
    members: Vec<Members>,
    pub active: Bitmap,
    pub compacted: Bitmap,
    pub global: Bitmap,
    pub expiring: Bitmap,
    kinds: [Bitmap; 4],
}

impl Attributes {
    /// Sets the attributes of a slot that exists, or of the next one.
    pub(crate) fn put(&mut self, slot: usize, entry: &Entry) {
        let group = self.group_number(entry.group.as_ref());
        let attributes = MemoryAttributes {
            seq: entry.seq,
            confidence: entry.anchor.confidence,
            confident_at: entry.anchor.at,
            expires_at: entry.expires_at.map_or(NEVER.0, |at| at.0),
            group,
            event_day: entry.event_day.unwrap_or(NEVER.1),
            created_day: entry.created_day,
            summary: entry.summary.unwrap_or(NOBODY),
            extractive: entry.extractive,
            kind: entry.kind,
            scope: entry.scope,
            status: entry.status,
            pinned: entry.anchor.pinned,
        };
        if slot < self.known.len() {
            let old = std::mem::replace(&mut self.known[slot], attributes);
            if (old.group, old.scope) != (attributes.group, attributes.scope) {
                self.leave(slot, old);
                self.join(slot, attributes);
            }
            let block = slot / BLOCK * BLOCK..self.known.len().min((slot / BLOCK + 1) * BLOCK);
            self.lowest[slot / BLOCK] = self.known[block]
                .iter()
                .map(lowest)
                .reduce(lower)
                .unwrap_or_else(|| lowest(&attributes));
        } else {
            self.known.push(attributes);
            self.join(slot, attributes);
            match self.lowest.get_mut(slot / BLOCK) {
                Some(known) => *known = lower(*known, lowest(&attributes)),
                None => self.lowest.push(lowest(&attributes)),
            }
        }
        self.set_bits(slot, attributes);
    }

    /// Marks the memory of a slot as deleted.
    pub(crate) fn remove(&mut self, slot: usize) {
        self.known[slot].status = Status::Forgotten;
        self.set_bits(slot, self.known[slot]);
    }

    fn set_bits(&mut self, slot: usize, attributes: MemoryAttributes) {
        self.active.set(slot, attributes.status == Status::Active);
        self.compacted.set(slot, attributes.status == Status::Compacted);
        self.global.set(slot, attributes.scope == Scope::Global);
        self.expiring.set(slot, attributes.expires_at != NEVER.0);
        for kind in MemoryType::ALL {
            self.kinds[number(*kind)].set(slot, attributes.kind == *kind);
        }
    }

    fn join(&mut self, slot: usize, attributes: MemoryAttributes) {
        let members = &mut self.members[attributes.group as usize];
        members.all.insert(crate::index::slot::slot_id(slot));
        if attributes.scope == Scope::Global {
            members.global.insert(crate::index::slot::slot_id(slot));
        }
    }

    fn leave(&mut self, slot: usize, attributes: MemoryAttributes) {
        let members = &mut self.members[attributes.group as usize];
        members.all.remove(crate::index::slot::slot_id(slot));
        members.global.remove(crate::index::slot::slot_id(slot));
    }

    fn group_number(&mut self, group: Option<&String>) -> u32 {
        if let Some(known) = self.group_numbers.get(&group.cloned()) {
            return *known;
        }
        let number = crate::index::slot::slot_id(self.groups.len());
        self.groups.push(group.cloned());
        self.members.push(Members::default());
        self.group_numbers.insert(group.cloned(), number);
        number
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    pub(crate) fn seq(&self, slot: usize) -> i64 {
        self.known[slot].seq
    }

    pub(crate) fn group_of(&self, slot: usize) -> u32 {
        self.known[slot].group
    }

    pub(crate) fn kind(&self, slot: usize) -> MemoryType {
        self.known[slot].kind
    }

    pub(crate) fn of_kind(&self, kind: MemoryType) -> &Bitmap {
        &self.kinds[number(kind)]
    }

    pub(crate) fn expires_at(&self, slot: usize) -> i64 {
        self.known[slot].expires_at
    }

    pub(crate) fn anchor(&self, slot: usize) -> Anchor {
        let attributes = &self.known[slot];
        Anchor {
            confidence: attributes.confidence,
            at: attributes.confident_at,
            pinned: attributes.pinned,
        }
    }

    pub(crate) fn lowest(&self) -> &[ConfidenceFloor] {
        &self.lowest
    }

    /// Returns the number of a group.
    pub(crate) fn group(&self, name: &str) -> Option<u32> {
        self.group_numbers.get(&Some(name.to_owned())).copied()
    }

    /// Returns the slots of a group, by its number.
    pub(crate) fn members_of(&self, group: u32) -> &Members {
        &self.members[group as usize]
    }

    /// Returns the entry of a slot, without its names and its text.
    pub(crate) fn entry(&self, slot: usize) -> Entry {
        let attributes = &self.known[slot];
        Entry {
            seq: attributes.seq,
            kind: attributes.kind,
            group: self.groups[attributes.group as usize].clone(),
            scope: attributes.scope,
            status: attributes.status,
            anchor: self.anchor(slot),
            expires_at: (attributes.expires_at != NEVER.0)
                .then_some(Timestamp(attributes.expires_at)),
            names: Vec::new(),
            content: String::new(),
            event_day: (attributes.event_day != NEVER.1).then_some(attributes.event_day),
            created_day: attributes.created_day,
            summary: self.summary(slot),
            extractive: attributes.extractive,
        }
    }

    pub(crate) fn summary(&self, slot: usize) -> Option<i64> {
        Some(self.known[slot].summary).filter(|seq| *seq != NOBODY)
    }

    pub(crate) fn is_extractive(&self, slot: usize) -> bool {
        self.known[slot].extractive
    }
}

fn lowest(attributes: &MemoryAttributes) -> ConfidenceFloor {
    ConfidenceFloor { confidence: attributes.confidence.get(), at: attributes.confident_at }
}

fn lower(a: ConfidenceFloor, b: ConfidenceFloor) -> ConfidenceFloor {
    ConfidenceFloor {
        confidence: a.confidence.min(b.confidence),
        at: Timestamp(a.at.0.min(b.at.0)),
    }
}

fn number(kind: MemoryType) -> usize {
    match kind {
        MemoryType::Episodic => 0,
        MemoryType::Semantic => 1,
        MemoryType::Procedural => 2,
        MemoryType::Entity => 3,
    }
}
