//! The counts that `stats` takes from the index equal a count of every memory, whatever happened to
//! the store, and `doctor` finds counts that do not.

use crate::handles::settings::Settings;
use crate::model::time::DAY;
use crate::tests::fixture::{TestStore, axis, folder_in_memory, mark_compacted, named, parse};
use loci_proto::memory::MemoryId;
use loci_proto::requests::doctor::Verdict;
use loci_proto::requests::export::ExportRequest;
use loci_proto::requests::import::ImportRequest;
use loci_proto::requests::stats::StatsReply;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Cursor;

const GROUPS: [&str; 2] = ["a", "b"];

/// A change of a store. A `usize` selects one of the memories, modulo their number.
#[derive(Debug, Clone)]
enum Change {
    Store { kind: usize, group: usize, scope: usize, has_vector: bool },
    StoreExpiring,
    StoreFaint,
    Supersede(usize),
    Forget(usize),
    Erase(usize),
    Restore(usize),
    Compact(usize),
    Relate(usize, usize),
    Pin(usize),
    Undo,
    Import,
    Reopen,
    Wait(i64),
}

fn change() -> impl Strategy<Value = Change> {
    let which = 0_usize..16;
    prop_oneof![
        6 => (0_usize..4, 0_usize..2, 0_usize..2, any::<bool>()).prop_map(
            |(kind, group, scope, has_vector)| Change::Store { kind, group, scope, has_vector }
        ),
        1 => Just(Change::StoreExpiring),
        1 => Just(Change::StoreFaint),
        2 => which.clone().prop_map(Change::Supersede),
        2 => which.clone().prop_map(Change::Forget),
        1 => which.clone().prop_map(Change::Erase),
        2 => which.clone().prop_map(Change::Restore),
        2 => which.clone().prop_map(Change::Compact),
        3 => (which.clone(), which.clone()).prop_map(|(a, b)| Change::Relate(a, b)),
        1 => which.prop_map(Change::Pin),
        2 => Just(Change::Undo),
        1 => Just(Change::Import),
        1 => Just(Change::Reopen),
        1 => (1_i64..300).prop_map(Change::Wait),
    ]
}

/// Returns a store in memory: no power is lost here.
fn new_store() -> TestStore {
    TestStore::in_folder(folder_in_memory(), Settings::for_model("test"))
}

/// A store with the ids of its memories.
struct Changed {
    store: TestStore,
    ids: Vec<MemoryId>,
    /// Numbers the texts.
    texts: usize,
}

impl Changed {
    fn new() -> Self {
        let mut changed = Self { store: new_store(), ids: Vec::new(), texts: 0 };
        changed.store_with("a", json!({"type": "entity"}), true);
        changed
    }

    fn store_with(&mut self, group: &str, mut arguments: Value, has_vector: bool) {
        self.texts += 1;
        arguments["content"] = json!(format!("Statement {0} says w{0}w", self.texts));
        let vector = has_vector.then(|| axis(self.texts % 300));
        if let Ok(reply) = self.store.try_store(group, arguments, vector.as_ref()) {
            self.ids.push(reply.id);
        }
    }

    /// Applies a change. One that the store refuses changes nothing.
    fn apply(mut self, change: &Change) -> Self {
        self.store.now = self.store.now.plus(1000);
        let id = |which: usize| self.ids[which % self.ids.len()].clone();
        let call = self.store.call("a", None);
        match *change {
            Change::Store { kind, group, scope, has_vector } => {
                let kind = ["episodic", "semantic", "procedural", "entity"][kind];
                let scope = ["global", "group"][scope];
                self.store_with(GROUPS[group], json!({"type": kind, "scope": scope}), has_vector);
            }
            Change::StoreExpiring => {
                self.store_with("b", json!({"type": "semantic", "ttl_seconds": 86_400}), false);
            }
            Change::StoreFaint => {
                self.store_with("a", json!({"type": "episodic", "confidence": 0.11}), true);
            }
            Change::Supersede(which) => {
                let arguments = json!({"type": "semantic", "supersedes": id(which)});
                self.store_with("a", arguments, false);
            }
            Change::Forget(which) => {
                drop(self.store.forget("a", json!({"memory_id": id(which)})));
            }
            Change::Erase(which) => {
                let request = json!({"memory_id": id(which), "hard_delete": true});
                drop(self.store.forget("a", request));
            }
            Change::Restore(which) => {
                let request = parse(json!({"memory_id": id(which)}));
                drop(self.store.writer.restore(&call, &request));
            }
            Change::Compact(which) => self.compact(&id(which)),
            Change::Relate(a, b) => {
                let triple = json!({"subject_id": id(a), "predicate": "knows", "object_id": id(b)});
                drop(self.store.relate("a", triple));
            }
            Change::Pin(which) => {
                let request = parse(json!({"memory_id": id(which), "pinned": true}));
                drop(self.store.writer.pin(&call, &request));
            }
            Change::Undo => drop(self.store.undo_last()),
            Change::Import => self.import(),
            Change::Reopen => return Self { store: self.store.reopened(), ..self },
            Change::Wait(days) => self.store.now = self.store.now.plus(days * DAY),
        }
        self
    }

    fn compact(&mut self, id: &MemoryId) {
        if self.store.inspect("a", json!({"memory_id": id})).is_ok() {
            mark_compacted(&mut self.store, id, None);
        }
    }

    /// Imports the export of another store.
    fn import(&mut self) {
        let mut other = new_store();
        self.texts += 1;
        let text = format!("Imported {0} says w{0}w", self.texts);
        other.store("c", json!({"content": text, "type": "semantic"}), None);
        let mut file = Vec::new();
        let exported = other.reader.export(&ExportRequest::default(), &mut file);
        exported.expect("the export succeeds");
        let (call, request) = (self.store.call("b", None), ImportRequest::default());
        let imported = self.store.writer.import(&call, &request, &mut Cursor::new(file));
        imported.expect("the import succeeds");
    }

    fn check(&self) {
        check_counts(&self.store, None);
        for group in GROUPS {
            check_counts(&self.store, Some(group));
        }
    }
}

/// Compares what `stats` reports with a count of every memory, for a group that has stored.
pub(super) fn check_counts(store: &TestStore, group: Option<&str>) {
    let request = parse(group.map_or(json!({}), |group| json!({"group": group})));
    let Ok(reported) = store.reader.stats(&request, &named("a"), store.now) else { return };
    let id = group.map(|group| [named(group).id]);
    let counted = store.reader.stats_of_database(id.as_ref().map(<[_; 1]>::as_slice), store.now);
    let counted: StatsReply = counted.expect("the memories are counted");
    assert_eq!(reported, counted, "{group:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_counts_of_the_index_equal_a_count_of_every_memory(
        changes in prop::collection::vec(change(), 1..24)
    ) {
        let mut changed = Changed::new();
        for change in &changes {
            changed = changed.apply(change);
            changed.check();
        }
    }
}

#[test]
fn doctor_finds_counts_that_differ_from_the_database() {
    let mut store = TestStore::new();
    for (group, text) in [("a", "The kettle is hot"), ("b", "The stove is cold")] {
        store.store(group, json!({"content": text, "type": "semantic"}), None);
    }
    let failures = |store: &TestStore| {
        let is_failure =
            |finding: &loci_proto::requests::doctor::Finding| finding.verdict != Verdict::Ok;
        store.findings().into_iter().filter(is_failure).map(|it| it.found).collect::<Vec<_>>()
    };
    assert_eq!(failures(&store), Vec::<String>::new());
    store.writer.shared.index_mut().miscount(1);
    let found = failures(&store);
    assert!(
        found.len() == 1 && found[0].starts_with("project b has 1 memories (1 active, 1 forgotten"),
        "{found:?}"
    );
}
