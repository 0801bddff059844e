//! The attributes of each memory that filters test: a compact record per slot, and bitmaps for the
//! tests applied to all slots.
//!
//! Not here: filters (`mask`), texts (`features`, `postings`), vectors.

use crate::index::bitmap::Bitmap;
use crate::index::slot_id;
use crate::index::slot_set::SlotSet;
use loci_base::model::decay::Anchor;
use loci_base::model::entry::Entry;
use loci_base::model::importance::Importance;
use loci_base::model::names::EntityNames;
use loci_base::model::status::Status;
use loci_base::model::time::Timestamp;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use std::collections::HashMap;

/// Number of consecutive slots that share one [`ConfidenceFloor`].
pub const BLOCK: usize = 512;
/// `expires_at` of a memory that does not expire.
const NO_EXPIRY: i64 = i64::MAX;
/// `event_day` of a memory without an event.
const NO_EVENT: i32 = i32::MIN;
/// `summary` of a memory that no summary replaces.
const NO_SUMMARY: i64 = i64::MIN;

/// The attributes of one memory.
#[derive(Debug, Clone, Copy)]
struct MemoryAttributes {
    seq: i64,
    confidence: Confidence,
    confident_at: Timestamp,
    expires_at: i64,
    group: u32,
    /// Its number in the list of branches + 1; 0 for none.
    branch: u32,
    event_day: i32,
    created_day: i32,
    summary: i64,
    extractive: bool,
    kind: MemoryType,
    scope: Scope,
    status: Status,
    pinned: bool,
    accesses: u16,
    importance: Option<Importance>,
}

/// Lower bound of the confidences of a block: the lowest confidence, and the earliest time at which
/// any of them was set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ConfidenceFloor {
    pub confidence: f64,
    pub at: Timestamp,
}

/// The slots of one group, in storage order.
#[derive(Debug, Default)]
pub struct Members {
    pub all: SlotSet,
    /// Those of them with global scope.
    pub global: SlotSet,
}

/// The attributes of all memories, by slot.
#[derive(Debug, Default)]
pub struct Attributes {
    by_slot: Vec<MemoryAttributes>,
    /// The floor of each block of [`BLOCK`] slots.
    floors: Vec<ConfidenceFloor>,
    /// The group names, by group number.
    groups: Vec<Option<String>>,
    group_numbers: HashMap<Option<String>, u32>,
    /// The slots of each group, by group number.
    members: Vec<Members>,
    /// The branches on which memories were stored.
    branches: Vec<String>,
    /// The slots that hold a memory.
    pub present: Bitmap,
    pub active: Bitmap,
    pub forgotten: Bitmap,
    pub compacted: Bitmap,
    pub candidate: Bitmap,
    pub rejected: Bitmap,
    pub global: Bitmap,
    pub expiring: Bitmap,
    /// The slots of each memory type, in the order of [`kind_number`].
    kinds: [Bitmap; 4],
}

impl Attributes {
    /// Sets the attributes of a slot that exists, or of the next one.
    pub fn put(&mut self, slot: usize, entry: &Entry) {
        let group = self.group_number(entry.group.as_ref());
        let attributes = MemoryAttributes {
            seq: entry.seq,
            confidence: entry.anchor.confidence,
            confident_at: entry.anchor.at,
            expires_at: entry.expires_at.map_or(NO_EXPIRY, |at| at.0),
            group,
            branch: self.branch_number(entry.branch.as_deref()),
            event_day: entry.event_day.unwrap_or(NO_EVENT),
            created_day: entry.created_day,
            summary: entry.summary.unwrap_or(NO_SUMMARY),
            extractive: entry.extractive,
            kind: entry.kind,
            scope: entry.scope,
            status: entry.status,
            pinned: entry.anchor.pinned,
            accesses: entry.anchor.accesses,
            importance: entry.anchor.importance,
        };
        if slot < self.by_slot.len() {
            let old = std::mem::replace(&mut self.by_slot[slot], attributes);
            if (old.group, old.scope) != (attributes.group, attributes.scope) {
                self.remove_member(slot, old);
                self.add_member(slot, attributes);
            }
            let block = slot / BLOCK * BLOCK..self.by_slot.len().min((slot / BLOCK + 1) * BLOCK);
            self.floors[slot / BLOCK] = self.by_slot[block]
                .iter()
                .map(floor)
                .reduce(lower)
                .unwrap_or_else(|| floor(&attributes));
        } else {
            self.by_slot.push(attributes);
            self.add_member(slot, attributes);
            match self.floors.get_mut(slot / BLOCK) {
                Some(existing) => *existing = lower(*existing, floor(&attributes)),
                None => self.floors.push(floor(&attributes)),
            }
        }
        self.set_bits(slot, attributes);
    }

    /// Marks the memory of a slot as removed.
    pub fn remove(&mut self, slot: usize) {
        self.by_slot[slot].status = Status::Forgotten;
        self.set_bits(slot, self.by_slot[slot]);
        self.present.set(slot, false);
    }

    fn set_bits(&mut self, slot: usize, attributes: MemoryAttributes) {
        self.present.set(slot, true);
        self.active.set(slot, attributes.status == Status::Active);
        self.forgotten.set(slot, attributes.status == Status::Forgotten);
        self.compacted.set(slot, attributes.status == Status::Compacted);
        self.candidate.set(slot, attributes.status == Status::Candidate);
        self.rejected.set(slot, attributes.status == Status::Rejected);
        self.global.set(slot, attributes.scope == Scope::Global);
        self.expiring.set(slot, attributes.expires_at != NO_EXPIRY);
        for kind in MemoryType::ALL {
            self.kinds[kind_number(*kind)].set(slot, attributes.kind == *kind);
        }
    }

    fn add_member(&mut self, slot: usize, attributes: MemoryAttributes) {
        let members = &mut self.members[attributes.group as usize];
        members.all.insert(slot_id(slot));
        if attributes.scope == Scope::Global {
            members.global.insert(slot_id(slot));
        }
    }

    fn remove_member(&mut self, slot: usize, attributes: MemoryAttributes) {
        let members = &mut self.members[attributes.group as usize];
        members.all.remove(slot_id(slot));
        members.global.remove(slot_id(slot));
    }

    /// Returns the number of a group, and assigns one if it is new.
    fn group_number(&mut self, group: Option<&String>) -> u32 {
        if let Some(number) = self.group_numbers.get(&group.cloned()) {
            return *number;
        }
        let number = slot_id(self.groups.len());
        self.groups.push(group.cloned());
        self.members.push(Members::default());
        self.group_numbers.insert(group.cloned(), number);
        number
    }

    /// Returns the number of a branch, and assigns one if it is new.
    fn branch_number(&mut self, branch: Option<&str>) -> u32 {
        let Some(branch) = branch else { return 0 };
        let at = self.branches.iter().position(|known| known == branch).unwrap_or_else(|| {
            self.branches.push(branch.to_owned());
            self.branches.len() - 1
        });
        slot_id(at + 1)
    }

    /// Returns the branches on which memories were stored, by their number.
    pub fn branches(&self) -> &[String] {
        &self.branches
    }

    /// Returns the number of the branch on which a memory was stored.
    pub(crate) fn branch_number_of(&self, slot: usize) -> Option<usize> {
        (self.by_slot[slot].branch as usize).checked_sub(1)
    }

    pub fn len(&self) -> usize {
        self.by_slot.len()
    }

    pub fn seq(&self, slot: usize) -> i64 {
        self.by_slot[slot].seq
    }

    pub(crate) fn group_of(&self, slot: usize) -> u32 {
        self.by_slot[slot].group
    }

    pub fn kind(&self, slot: usize) -> MemoryType {
        self.by_slot[slot].kind
    }

    /// Returns the slots of a memory type.
    pub fn of_kind(&self, kind: MemoryType) -> &Bitmap {
        &self.kinds[kind_number(kind)]
    }

    /// Returns the time of expiry in milliseconds; [`i64::MAX`] if the memory does not expire.
    pub fn expires_at(&self, slot: usize) -> i64 {
        self.by_slot[slot].expires_at
    }

    pub fn anchor(&self, slot: usize) -> Anchor {
        let attributes = &self.by_slot[slot];
        Anchor {
            confidence: attributes.confidence,
            at: attributes.confident_at,
            pinned: attributes.pinned,
            accesses: attributes.accesses,
            importance: attributes.importance,
        }
    }

    /// Returns the day when the memory was stored, in days since 0001-01-01.
    pub fn event_day(&self, slot: usize) -> Option<i32> {
        let day = self.by_slot[slot].event_day;
        (day != NO_EVENT).then_some(day)
    }

    pub fn created_day(&self, slot: usize) -> i32 {
        self.by_slot[slot].created_day
    }

    /// Returns the floor of each block.
    pub(crate) fn floors(&self) -> &[ConfidenceFloor] {
        &self.floors
    }

    /// Returns the id of a group, by its number; `None` for memories without a group.
    pub fn group_id(&self, number: u32) -> Option<String> {
        self.groups.get(number as usize).cloned().flatten()
    }

    /// Returns the number of a group, if it has one.
    pub fn group(&self, name: &str) -> Option<u32> {
        self.group_numbers.get(&Some(name.to_owned())).copied()
    }

    /// Returns the number of the memories without a group, if there are any.
    pub(crate) fn no_group(&self) -> Option<u32> {
        self.group_numbers.get(&None).copied()
    }

    /// Returns the slots of a group, by its number.
    pub(crate) fn members_of(&self, group: u32) -> &Members {
        &self.members[group as usize]
    }

    /// Returns the entry of a slot, without its names, its error and its text.
    pub fn entry(&self, slot: usize) -> Entry {
        let attributes = &self.by_slot[slot];
        Entry {
            seq: attributes.seq,
            kind: attributes.kind,
            group: self.groups[attributes.group as usize].clone(),
            scope: attributes.scope,
            status: attributes.status,
            anchor: self.anchor(slot),
            expires_at: (attributes.expires_at != NO_EXPIRY)
                .then_some(Timestamp(attributes.expires_at)),
            names: EntityNames::default(),
            content: String::new(),
            questions: String::new(),
            event_day: self.event_day(slot),
            created_day: attributes.created_day,
            summary: self.summary(slot),
            extractive: attributes.extractive,
            branch: self.branch_number_of(slot).map(|number| self.branches[number].clone()),
            error: None,
        }
    }

    pub fn summary(&self, slot: usize) -> Option<i64> {
        Some(self.by_slot[slot].summary).filter(|seq| *seq != NO_SUMMARY)
    }

    pub fn is_extractive(&self, slot: usize) -> bool {
        self.by_slot[slot].extractive
    }
}

fn floor(attributes: &MemoryAttributes) -> ConfidenceFloor {
    ConfidenceFloor { confidence: attributes.confidence.get(), at: attributes.confident_at }
}

/// Returns a floor of both blocks.
fn lower(a: ConfidenceFloor, b: ConfidenceFloor) -> ConfidenceFloor {
    ConfidenceFloor {
        confidence: a.confidence.min(b.confidence),
        at: Timestamp(a.at.0.min(b.at.0)),
    }
}

fn kind_number(kind: MemoryType) -> usize {
    match kind {
        MemoryType::Episodic => 0,
        MemoryType::Semantic => 1,
        MemoryType::Procedural => 2,
        MemoryType::Entity => 3,
    }
}
