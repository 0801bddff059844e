//! Random acts: for every time, the store at that time is what a reader saw then.
//!
//! `AS_OF_CASES` sets the number of sequences.

use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::model::encoding::TextEncodings;
use crate::model::time::Timestamp;
use crate::tests::fixture::{TestStore, folder_in_memory, named, parse};
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::export::ExportRequest;
use loci_proto::requests::import::ImportRequest;
use loci_proto::requests::list::ListRequest;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Cursor;

/// A command. A `usize` selects one of the memories, modulo their count.
#[derive(Debug, Clone)]
enum Command {
    Store { is_entity: bool, in_b: bool },
    Repeat(usize),
    Supersede(usize),
    Forget(usize),
    ForgetMany(usize, usize),
    Reject(usize),
    Confirm(usize),
    Restore(usize),
    Relate(usize, usize),
    Pin(usize, bool),
    Edit(usize),
    Metadata(usize),
    Scope(usize, bool),
    Move(usize, bool),
    Import(i64),
    Undo,
    UndoOne(usize),
    UndoSession,
    Redo,
}

fn command() -> impl Strategy<Value = Command> {
    let which = 0_usize..16;
    prop_oneof![
        4 => any::<(bool, bool)>().prop_map(|(is_entity, in_b)| Command::Store { is_entity, in_b }),
        2 => which.clone().prop_map(Command::Repeat),
        2 => which.clone().prop_map(Command::Supersede),
        2 => which.clone().prop_map(Command::Forget),
        1 => (which.clone(), which.clone()).prop_map(|(a, b)| Command::ForgetMany(a, b)),
        1 => which.clone().prop_map(Command::Reject),
        1 => which.clone().prop_map(Command::Confirm),
        2 => which.clone().prop_map(Command::Restore),
        2 => (which.clone(), which.clone()).prop_map(|(a, b)| Command::Relate(a, b)),
        1 => (which.clone(), any::<bool>()).prop_map(|(at, on)| Command::Pin(at, on)),
        3 => which.clone().prop_map(Command::Edit),
        1 => which.clone().prop_map(Command::Metadata),
        1 => (which.clone(), any::<bool>()).prop_map(|(at, on)| Command::Scope(at, on)),
        2 => (which.clone(), any::<bool>()).prop_map(|(at, to_b)| Command::Move(at, to_b)),
        1 => (-100_i64..100).prop_map(Command::Import),
        3 => Just(Command::Undo),
        1 => which.prop_map(Command::UndoOne),
        1 => Just(Command::UndoSession),
        3 => Just(Command::Redo),
    ]
}

/// What a reader sees of a store: the lists of two projects, and every memory in full.
type Seen = BTreeMap<String, Value>;

fn seen(reader: &Reader, ids: &[MemoryId], at: Timestamp) -> Seen {
    let mut seen = Seen::new();
    for group in ["a", "b"] {
        let request: ListRequest =
            parse(json!({"status": "all", "text_chars": 1000, "limit": 1000}));
        let list = reader.list(&request, &named(group), at).expect("it is listed");
        seen.insert(format!("list {group}"), json!(list));
        for id in ids {
            let request = parse(json!({"memory_id": id}));
            if let Ok(shown) = reader.inspect(&request, &named(group), at) {
                seen.insert(format!("{group} {id}"), json!(shown));
            }
        }
    }
    seen
}

struct History {
    store: TestStore,
    ids: Vec<MemoryId>,
    texts: usize,
    acts: Vec<i64>,
    /// What was seen after the last command of each time.
    seen: Vec<(Timestamp, Seen)>,
}

impl History {
    fn new() -> Self {
        let mut store = TestStore::in_folder(folder_in_memory(), Settings::for_model("test"));
        store.origin = Origin::Person;
        let (ids, seen) = (Vec::new(), Vec::new());
        let mut history = Self { store, ids, texts: 0, acts: Vec::new(), seen };
        for number in 0..4 {
            history.store_new(number % 2 == 0, number == 3);
        }
        history
    }

    fn text(&mut self) -> String {
        self.texts += 1;
        format!("Statement number {0} says w{0}w", self.texts)
    }

    fn store_new(&mut self, is_entity: bool, in_b: bool) {
        let kind = if is_entity { "entity" } else { "semantic" };
        let text = self.text();
        let group = if in_b { "b" } else { "a" };
        let arguments = json!({"content": text, "type": kind, "scope": "group"});
        self.ids.push(self.store.store(group, arguments, None).id);
    }

    /// Runs a command; one that is refused changes nothing.
    fn execute(&mut self, command: &Command) -> Option<i64> {
        let id = |which: usize| self.ids[which % self.ids.len()].clone();
        let call = self.store.call("a", None);
        let writer = &mut self.store.writer;
        match *command {
            Command::Store { is_entity, in_b } => {
                self.store_new(is_entity, in_b);
                None
            }
            Command::Repeat(which) => self.repeat(which),
            Command::Supersede(which) => {
                let old = id(which);
                let text = self.text();
                let arguments = json!({"content": text, "type": "semantic", "supersedes": old});
                let reply = self.store.try_store("a", arguments, None).ok()?;
                self.ids.push(reply.id);
                None
            }
            Command::Forget(which) => {
                self.store.forget("a", json!({"memory_id": id(which)})).ok()?.act
            }
            Command::ForgetMany(a, b) => {
                let request = parse(json!({"memory_ids": [id(a), id(b)], "reason": "both"}));
                writer.forget_many(&call, &request).ok()?.act
            }
            Command::Reject(which) => {
                let request = json!({"memory_id": id(which), "rejected": true, "reason": "slow"});
                self.store.forget("a", request).ok()?.act
            }
            Command::Confirm(which) => {
                writer.confirm(&call, &parse(json!({"memory_id": id(which)}))).ok()?.act
            }
            Command::Restore(which) => {
                writer.restore(&call, &parse(json!({"memory_id": id(which)}))).ok()?.act
            }
            Command::Relate(a, b) => {
                let triple = json!({"subject_id": id(a), "predicate": "knows", "object_id": id(b)});
                writer.relate(&call, &parse(triple)).ok()?.act
            }
            Command::Pin(which, on) => {
                writer.pin(&call, &parse(json!({"memory_id": id(which), "pinned": on}))).ok()?.act
            }
            Command::Edit(which) => {
                let id = id(which);
                let text = self.text();
                self.edit(json!({"memory_id": id, "content": text}))
            }
            Command::Metadata(which) => {
                let request = json!({"memory_id": id(which), "metadata": {"n": self.texts}, "confidence": 0.5});
                self.edit(request)
            }
            Command::Scope(which, global) => {
                let scope = if global { "global" } else { "group" };
                self.edit(json!({"memory_id": id(which), "scope": scope}))
            }
            Command::Move(which, to_b) => {
                let to = if to_b { "b" } else { "a" };
                let group = if to_b { "a" } else { "b" };
                let request = json!({"memory_ids": [id(which)], "to": to, "group": group});
                writer.move_to(&call, &parse(request)).ok()?.act
            }
            Command::Import(age) => self.import(age),
            Command::Undo | Command::UndoOne(_) | Command::UndoSession | Command::Redo => {
                self.take_back(command);
                None
            }
        }
    }

    /// Undoes or redoes.
    fn take_back(&mut self, command: &Command) {
        let call = self.store.call("a", None);
        let writer = &mut self.store.writer;
        match *command {
            Command::UndoOne(which) if !self.acts.is_empty() => {
                let act = self.acts[which % self.acts.len()];
                let _ = writer.undo(&call, &parse(json!({"ids": [act]})));
            }
            Command::UndoSession => {
                let _ = writer.undo(&call, &parse(json!({"session": self.store.session})));
                self.store.session.push('x');
            }
            Command::Redo => drop(writer.redo(&call, &parse(json!({})))),
            _ => drop(self.store.undo_last()),
        }
    }

    fn edit(&mut self, request: Value) -> Option<i64> {
        let call = self.store.call("a", None);
        self.store.writer.edit(&call, &parse(request), &TextEncodings::default()).ok()?.act
    }

    /// Stores the text of a memory again, in another case: it is merged if the memory is active.
    fn repeat(&mut self, which: usize) -> Option<i64> {
        let id = self.ids[which % self.ids.len()].clone();
        let shown = self.store.inspect("a", json!({"memory_id": id})).ok()?;
        let (text, kind) = (shown.memory.content.to_uppercase(), shown.memory.kind);
        let arguments = json!({"content": text, "type": kind, "scope": "group"});
        let reply = self.store.try_store("a", arguments, None).ok()?;
        if !reply.deduplicated {
            self.ids.push(reply.id);
        }
        None
    }

    /// Imports a memory with a date of its own, and changes a known one.
    fn import(&mut self, age: i64) -> Option<i64> {
        let mut other = TestStore::in_folder(folder_in_memory(), Settings::for_model("test"));
        other.now = self.store.now.plus(-age * 1000);
        let arguments = json!({"content": self.text(), "type": "semantic", "scope": "group"});
        let id = other.store("a", arguments, None).id;
        let mut file = Vec::new();
        other.reader.export(&ExportRequest::default(), &mut file).expect("it is exported");
        let call = self.store.call("a", None);
        let request = ImportRequest::default();
        let reply = self.store.writer.import(&call, &request, &mut Cursor::new(file));
        self.ids.push(id);
        reply.expect("it is imported").act
    }

    fn run(mut self, commands: &[(Command, i64)]) {
        self.store.now = self.store.now.plus(1000);
        for (command, wait) in commands {
            self.store.now = self.store.now.plus(*wait);
            let act = self.execute(command);
            self.acts.extend(act);
            let now = self.store.now;
            self.seen.retain(|(at, _)| *at < now);
            self.seen.push((now, seen(&self.store.reader, &self.ids, now)));
        }
        for at in 0..self.seen.len() {
            let (time, expected) = &self.seen[at];
            let next = self.seen.get(at + 1).map_or(self.store.now, |(next, _)| next.plus(-1));
            for moment in [*time, next] {
                let past = self.store.reader.at_time(moment).expect("the past is read");
                let found = seen(&past, &self.ids, *time);
                for (name, value) in &found {
                    assert_eq!(Some(value), expected.get(name), "{name} at {at} of {commands:?}");
                }
                assert_eq!(found.len(), expected.len(), "at {at} of {commands:?}");
                assert_eq!(past.stamp().and_then(|stamp| stamp.note), None);
            }
        }
    }
}

fn cases() -> u32 {
    std::env::var("AS_OF_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(48)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 60, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn the_store_at_an_earlier_time_is_what_a_reader_saw_then(
        commands in prop::collection::vec((command(), prop_oneof![1 => Just(0_i64), 3 => 1_i64..5000]), 1..30)
    ) {
        History::new().run(&commands);
    }
}
