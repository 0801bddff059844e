//! Random sequences of commands on a store and on a naive model of it: every reply and every state
//! agree.
//!
//! `STATE_MACHINE_CASES` sets the number of sequences. Not here: crashes (`failpoints`, and the proofs
//! in `tests/it`).

mod model;

use crate::backups::create::NewBackup;
use crate::backups::manifest::{Reason, list};
use crate::db::integrity;
use crate::error::Error;
use crate::handles::settings::Settings;
use crate::model::encoding::TextEncodings;
use crate::model::status::Status;
use crate::model::time::{ClockReading, DAY};
use crate::tests::counts::check_counts;
use crate::tests::fixture::{TestStore, axis, folder_in_memory, parse};
use loci_proto::memory::MemoryId;
use loci_proto::requests::doctor::Verdict;
use model::Model;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;

/// A command. A `usize` selects one of the memories, modulo their count.
#[derive(Debug, Clone)]
enum Command {
    Store { is_entity: bool },
    Repeat(usize),
    Supersede(usize),
    Forget(usize),
    Erase(usize),
    Restore(usize),
    Relate(usize, usize),
    Pin(usize, bool),
    Edit(usize),
    Undo,
    Recall(usize),
    Find(usize),
    Reopen,
    JumpClock(i64),
    Maintain,
    BackUp,
    Checkpoint,
}

fn command() -> impl Strategy<Value = Command> {
    let which = 0_usize..16;
    prop_oneof![
        5 => any::<bool>().prop_map(|is_entity| Command::Store { is_entity }),
        2 => which.clone().prop_map(Command::Repeat),
        3 => which.clone().prop_map(Command::Supersede),
        3 => which.clone().prop_map(Command::Forget),
        1 => which.clone().prop_map(Command::Erase),
        3 => which.clone().prop_map(Command::Restore),
        3 => (which.clone(), which.clone()).prop_map(|(a, b)| Command::Relate(a, b)),
        1 => (which.clone(), any::<bool>()).prop_map(|(at, on)| Command::Pin(at, on)),
        2 => which.clone().prop_map(Command::Edit),
        3 => Just(Command::Undo),
        2 => which.clone().prop_map(Command::Recall),
        2 => which.prop_map(Command::Find),
        1 => Just(Command::Reopen),
        1 => (-400_i64..400).prop_map(Command::JumpClock),
        1 => Just(Command::Maintain),
        1 => Just(Command::BackUp),
        1 => Just(Command::Checkpoint),
    ]
}

/// The store and its model.
struct Pair {
    store: TestStore,
    model: Model,
    /// Ids by place in the model.
    ids: Vec<MemoryId>,
    /// Numbers the texts.
    texts: usize,
    backups: usize,
}

impl Pair {
    fn new() -> Self {
        let store = TestStore::in_folder(folder_in_memory(), Settings::for_model("test"));
        let model = Model::default();
        let mut pair = Self { store, model, ids: Vec::new(), texts: 0, backups: 0 };
        (0..4).for_each(|number| pair.store_new(number % 2 == 0));
        pair
    }

    fn text(&mut self) -> String {
        self.texts += 1;
        format!("Statement number {0} says w{0}w", self.texts)
    }

    fn arguments(text: &str, is_entity: bool) -> serde_json::Value {
        json!({"content": text, "type": if is_entity { "entity" } else { "semantic" }})
    }

    fn store_new(&mut self, is_entity: bool) {
        let text = self.text();
        let vector = axis(self.texts % 300);
        let reply = self.store.store("a", Self::arguments(&text, is_entity), Some(&vector));
        assert!(!reply.deduplicated);
        self.model.store(&text, is_entity);
        self.ids.push(reply.id);
    }

    fn run(mut self, commands: &[Command]) {
        for command in commands {
            self.store.now = self.store.now.plus(1000);
            self = self.execute(command);
            self.check_memories();
        }
        self.check_index();
        self = self.reopened();
        self.check_memories();
        self.check_index();
    }

    fn execute(mut self, command: &Command) -> Self {
        let at = |which: usize| which % self.ids.len();
        match *command {
            Command::Store { is_entity } => self.store_new(is_entity),
            Command::Repeat(which) => self.repeat(at(which)),
            Command::Supersede(which) => self.supersede(at(which)),
            Command::Forget(which) => self.forget(at(which)),
            Command::Erase(which) => self.erase(at(which)),
            Command::Restore(which) => self.restore(at(which)),
            Command::Relate(a, b) => self.relate(at(a), at(b)),
            Command::Pin(which, on) => self.pin(at(which), on),
            Command::Edit(which) => self.edit(at(which)),
            Command::Undo => self.undo(),
            Command::Recall(which) => self.recall(at(which)),
            Command::Find(which) => self.find(at(which)),
            Command::Reopen => return self.reopened(),
            Command::JumpClock(days) => self.store.now = self.store.now.plus(days * DAY),
            Command::Maintain => self.maintain(),
            Command::BackUp => self.back_up(),
            Command::Checkpoint => {
                let reading = ClockReading { now: self.store.now, is_trusted: true };
                self.store.writer.checkpoint(reading).expect("the checkpoint runs");
            }
        }
        self
    }

    fn reopened(self) -> Self {
        let store = self.store.reopened();
        assert_eq!(store.writer.findings(), Vec::<String>::new());
        Self { store, ..self }
    }

    /// Stores the text of a memory again: it is merged with an active memory that has it.
    fn repeat(&mut self, at: usize) {
        let Some(memory) = self.model.get(at).cloned() else { return };
        let equal = self.model.active_with(&memory.text, memory.is_entity);
        let reply = self.store.store("a", Self::arguments(&memory.text, memory.is_entity), None);
        assert_eq!(reply.deduplicated, !equal.is_empty(), "{memory:?}");
        if equal.is_empty() {
            self.model.store(&memory.text, memory.is_entity);
            self.ids.push(reply.id);
        } else {
            assert!(equal.iter().any(|at| self.ids[*at] == reply.id));
        }
    }

    fn supersede(&mut self, at: usize) {
        let is_entity = self.model.get(at).is_some_and(|memory| memory.is_entity);
        let text = self.text();
        let mut arguments = Self::arguments(&text, is_entity);
        arguments["supersedes"] = json!(self.ids[at]);
        let reply = self.store.try_store("a", arguments, None);
        assert_eq!(reply.is_ok(), self.model.is_active(at), "{reply:?}");
        if let Ok(reply) = reply {
            self.model.supersede(at, &text);
            self.ids.push(reply.id);
        }
    }

    fn forget(&mut self, at: usize) {
        let reply = self.store.forget("a", json!({"memory_id": self.ids[at]}));
        match self.model.get(at) {
            Some(memory) => {
                let was_forgotten = memory.status == Status::Forgotten;
                assert_eq!(reply.expect("it is forgotten").already_forgotten, was_forgotten);
                self.model.change(at, |memory| memory.status = Status::Forgotten);
            }
            None => assert!(reply.is_err() || reply.is_ok_and(|it| it.status == "deleted")),
        }
    }

    fn erase(&mut self, at: usize) {
        let exists = self.model.get(at).is_some();
        let reply = self.store.forget("a", json!({"memory_id": self.ids[at], "hard_delete": true}));
        assert!(reply.is_ok() || !exists, "{reply:?}");
        if exists {
            self.model.erase(at);
        }
    }

    fn restore(&mut self, at: usize) {
        let call = self.store.call("a", None);
        let reply = self.store.writer.restore(&call, &parse(json!({"memory_id": self.ids[at]})));
        let Some(memory) = self.model.get(at) else {
            assert!(reply.is_err());
            return;
        };
        let equal = self.model.active_with(&memory.text, memory.is_entity);
        if memory.status == Status::Active || equal.is_empty() {
            assert_eq!(reply.expect("it is restored").was, memory.status.as_str());
            self.model.change(at, |memory| memory.status = Status::Active);
        } else {
            assert!(reply.is_err(), "an equal text is active");
        }
    }

    fn relate(&mut self, subject: usize, object: usize) {
        let triple = json!({"subject_id": self.ids[subject], "predicate": "knows",
            "object_id": self.ids[object]});
        let reply = self.store.relate("a", triple);
        let is_one =
            |at: usize| self.model.is_active(at) && self.model.get(at).is_some_and(|m| m.is_entity);
        if subject != object && is_one(subject) && is_one(object) {
            let is_new = self.model.relate(subject, object);
            assert_eq!(reply.expect("they are related").created, is_new);
        } else {
            assert!(reply.is_err(), "{reply:?}");
        }
    }

    fn pin(&mut self, at: usize, pinned: bool) {
        let call = self.store.call("a", None);
        let request = json!({"memory_id": self.ids[at], "pinned": pinned});
        let reply = self.store.writer.pin(&call, &parse(request));
        assert_eq!(reply.is_ok(), self.model.get(at).is_some(), "{reply:?}");
        self.model.change(at, |memory| memory.pinned = pinned);
    }

    fn edit(&mut self, at: usize) {
        let (text, call) = (self.text(), self.store.call("a", None));
        let request = json!({"memory_id": self.ids[at], "content": text});
        let encoding = TextEncodings::default();
        let reply = self.store.writer.edit(&call, &parse(request), &encoding);
        assert_eq!(reply.is_ok(), self.model.is_active(at), "{reply:?}");
        if reply.is_ok() {
            self.model.change(at, |memory| memory.text = text);
        }
    }

    fn undo(&mut self) {
        let reply = self.store.undo_last();
        assert_eq!(reply.is_ok(), self.model.undo(), "{reply:?}");
    }

    fn recall(&mut self, at: usize) {
        let reply = self.store.recall("a", json!({"ids": [self.ids[at]]}), None).reply;
        let shown = self.model.get(at).filter(|memory| memory.status != Status::Forgotten);
        let found = reply.results.first().and_then(|result| result.content.as_ref());
        assert_eq!(found, shown.map(|memory| &memory.text));
        assert_eq!(reply.missing.len(), usize::from(shown.is_none()));
    }

    /// Searches the word of a text: exactly the active memories with it are found.
    fn find(&mut self, at: usize) {
        let Some(memory) = self.model.get(at) else { return };
        let word = memory.text.split(' ').next_back().unwrap_or_default();
        let reply = self.store.recall("a", json!({"query": word, "max_results": 20}), None).reply;
        let found: BTreeSet<&str> =
            reply.results.iter().filter_map(|result| result.content.as_deref()).collect();
        let active = (0..self.ids.len()).filter(|at| self.model.is_active(*at));
        let texts = active.filter_map(|at| self.model.get(at)).map(|memory| memory.text.as_str());
        let expected: BTreeSet<&str> = texts.filter(|text| text.contains(word)).collect();
        assert_eq!(found, expected);
    }

    /// Facts and entities are not changed by maintenance.
    fn maintain(&mut self) {
        let plan = self.store.reader.plan(self.store.now).expect("the run is planned");
        assert_eq!(plan.steps, Vec::new());
        self.store.writer.run_ended(self.store.now).expect("the run is recorded");
    }

    fn back_up(&mut self) {
        let folder = self.store.folder.path().join("backups");
        let reason = Reason::Manual;
        let new =
            NewBackup { folder: folder.clone(), reason, now: self.store.now, max_bytes: u64::MAX };
        self.store.writer.back_up(&new).expect("the backup is written");
        self.backups += 1;
        assert_eq!(list(&folder).len(), self.backups);
    }

    /// Compares every memory and relation.
    fn check_memories(&self) {
        for (at, id) in self.ids.iter().enumerate() {
            let shown = self.store.inspect("a", json!({"memory_id": id}));
            let Some(memory) = self.model.get(at) else {
                assert!(matches!(shown, Err(Error::Refused(_))), "{shown:?}");
                continue;
            };
            let shown = shown.expect("the memory is shown");
            let found = (shown.memory.content.as_str(), shown.memory.status.as_str());
            assert_eq!(found, (memory.text.as_str(), memory.status.as_str()));
            assert_eq!(shown.memory.pinned, memory.pinned, "{memory:?}");
            assert!((0.0..=1.0).contains(&shown.memory.confidence.get()));
        }
        check_counts(&self.store, None);
        let stored = crate::db::dump::count(&self.store.writer.conn, "entity_relations");
        assert_eq!(stored, self.model.relations.len());
    }

    /// Compares the index with the database, and checks the structure of the latter.
    fn check_index(&self) {
        integrity::words(&self.store.writer.conn).expect("the keyword index matches the texts");
        let mut findings = self.store.reader.full_check().expect("the store is checked").findings;
        findings.push(self.store.reader.examine_index().expect("the index is compared"));
        let faults: Vec<_> =
            findings.iter().filter(|finding| finding.verdict != Verdict::Ok).collect();
        assert!(faults.is_empty(), "{faults:?}");
        let whole = crate::db::dump::integrity(&self.store.writer.conn);
        assert_eq!(whole.expect("the check runs"), "ok");
    }
}

fn cases() -> u32 {
    std::env::var("STATE_MACHINE_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]
    #[test]
    fn a_store_agrees_with_a_naive_model(commands in prop::collection::vec(command(), 1..40)) {
        Pair::new().run(&commands);
    }
}
