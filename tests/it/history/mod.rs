//! Sixteen sessions change and read the same memories while the daemon is killed: every key has a
//! history that some order of the calls explains.
//!
//! `LOCI_HISTORIES` and `LOCI_OPERATIONS` set how many histories there are and how long they are
//! (10 of 200 here, 1,000 of 500 in `just histories`).

mod checker;

use crate::home::{Agent, TestHome};
use crate::in_time::ExitInTime;
use crate::proof::random::Random;
use crate::proof::setting;
use checker::{Action, KeyState, Operation, is_linearisable};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

const SESSIONS: usize = 16;
/// Memories that a history begins with.
const MEMORIES: usize = 12;
/// Calls between two kills of the daemon.
const CALLS_PER_KILL: usize = 80;

/// What a history is about: a memory by its id, a text, or a relation by its predicate.
type Key = String;

/// The history that the sessions record together.
struct Recording {
    start: Instant,
    operations: Mutex<BTreeMap<Key, Vec<Operation>>>,
    /// Ids of the memories that a call may name.
    memories: Mutex<Vec<Key>>,
    left: AtomicUsize,
    number: usize,
}

impl Recording {
    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).expect("the time fits")
    }

    fn add(&self, key: &str, invoked: u64, action: Action) {
        let operation = Operation { invoked, returned: self.now(), action };
        let mut operations = self.operations.lock().expect("no session panics");
        operations.entry(key.to_owned()).or_default().push(operation);
    }

    fn memory(&self, random: &mut Random) -> Key {
        let memories = self.memories.lock().expect("no session panics");
        memories[random.below(memories.len())].clone()
    }
}

fn state_of(status: &Value) -> KeyState {
    match status.as_str() {
        None | Some("active") => KeyState::Present,
        Some("forgotten") => KeyState::Forgotten,
        Some("superseded") => KeyState::Superseded,
        Some(other) => panic!("an unknown status: {other}"),
    }
}

/// One session in a history.
struct Caller<'a> {
    agent: &'a mut Agent,
    random: Random,
    recording: &'a Recording,
    entities: &'a [String],
    answered: Sender<()>,
}

impl Caller<'_> {
    fn run(&mut self) {
        let take = |left: usize| left.checked_sub(1);
        while self.recording.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            match self.random.below(100) {
                0..40 => self.recall(),
                40..55 => self.forget(),
                55..72 => self.restore(),
                72..84 => self.supersede(),
                84..93 => self.store(),
                _ => self.relate(),
            }
            // The receiver is gone after the last kill.
            let _ = self.answered.send(());
        }
    }

    fn recall(&mut self) {
        let keys = [0; 3].map(|_| self.recording.memory(&mut self.random));
        let invoked = self.recording.now();
        let reply = self.call("recall_memory", json!({"ids": keys, "token_budget": 100_000}));
        let shown: BTreeMap<&str, &Value> = reply["results"]
            .as_array()
            .expect("a JSON array")
            .iter()
            .map(|one| (one["id"].as_str().expect("the result has an id"), &one["status"]))
            .collect();
        let keys: std::collections::BTreeSet<_> = keys.into_iter().collect();
        for key in keys {
            let state = shown.get(key.as_str()).map_or(KeyState::Forgotten, |s| state_of(s));
            self.recording.add(&key, invoked, Action::Read(state));
        }
    }

    fn forget(&mut self) {
        let key = self.recording.memory(&mut self.random);
        let invoked = self.recording.now();
        let reply = self.call("forget_memory", json!({"memory_id": key}));
        let is_new = reply["already_forgotten"] != true;
        self.recording.add(&key, invoked, Action::Forgot(is_new));
    }

    fn restore(&mut self) {
        let key = self.recording.memory(&mut self.random);
        let invoked = self.recording.now();
        let reply = self.call("restore_memory", json!({"memory_id": key}));
        self.recording.add(&key, invoked, Action::Restored(state_of(&reply["was"])));
    }

    fn supersede(&mut self) {
        let key = self.recording.memory(&mut self.random);
        let text = format!("Replacement {} of a memory", self.random.below(1_000_000_000));
        let arguments = json!({"content": text, "type": "semantic", "supersedes": key});
        let invoked = self.recording.now();
        let outcome = self.agent.call("store_memory", arguments);
        if let Err(error) = &outcome {
            assert!(error.starts_with("conflict"), "{error}");
        }
        self.recording.add(&key, invoked, Action::Replaced(outcome.is_ok()));
        if let Ok(reply) = outcome {
            let id = reply["id"].as_str().expect("the reply has an id").to_owned();
            self.recording.memories.lock().expect("no session panics").push(id);
        }
    }

    /// Stores one of a few texts: only the first of all sessions adds it.
    fn store(&mut self) {
        let text = format!("Text {} of history {}", self.random.below(8), self.recording.number);
        let invoked = self.recording.now();
        let reply = self.call("store_memory", json!({"content": text, "type": "semantic"}));
        let is_new = reply["deduplicated"] == false;
        self.recording.add(&text, invoked, Action::Stored(is_new));
    }

    fn relate(&mut self) {
        let predicate = format!("knows_{}_{}", self.recording.number, self.random.below(6));
        let [subject, object] = [&self.entities[0], &self.entities[1]];
        let invoked = self.recording.now();
        let arguments = json!({"subject_id": subject, "predicate": predicate, "object_id": object});
        let reply = self.call("store_relation", arguments);
        let is_new = reply["created"] == true;
        self.recording.add(&predicate, invoked, Action::Stored(is_new));
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.agent.call(tool, arguments).expect("the call succeeds")
    }
}

/// Records one history; returns it with the keys that existed before.
fn record(home: &TestHome, agents: &mut [Agent], number: usize, operations: usize) -> Recording {
    let store = |agent: &mut Agent, text: String| agent.store("semantic", &text);
    let memories = (0..MEMORIES)
        .map(|memory| store(&mut agents[0], format!("Memory {memory} of history {number}")));
    let memories: Vec<Key> = memories.collect();
    let entities = [1, 2].map(|entity| {
        let text = format!("Entity {entity} of history {number}");
        agents[0].store("entity", &text)
    });
    let recording = Recording {
        start: Instant::now(),
        operations: Mutex::default(),
        memories: Mutex::new(memories),
        left: AtomicUsize::new(operations),
        number,
    };
    let (answer, answered) = channel();
    std::thread::scope(|scope| {
        for (session, agent) in agents.iter_mut().enumerate() {
            let random = Random::new((number * SESSIONS + session) as u64);
            let (recording, entities, answered) = (&recording, &entities[..], answer.clone());
            let mut caller = Caller { agent, random, recording, entities, answered };
            scope.spawn(move || caller.run());
        }
        drop(answer);
        kill_at_intervals(home, &answered);
    });
    recording
}

/// Kills the daemon after every [`CALLS_PER_KILL`] answers, until the last session has ended.
fn kill_at_intervals(home: &TestHome, answered: &Receiver<()>) {
    while answered.iter().take(CALLS_PER_KILL).count() == CALLS_PER_KILL {
        let lock = std::fs::read_to_string(home.path("run/loci/locid.lock"));
        let pid = lock.expect("the file can be read").trim().to_owned();
        // A daemon that is being replaced has no process.
        let _ = Command::new("kill").args(["-9", &pid]).stderr(Stdio::null()).exit_in_time();
    }
}

#[test]
fn every_history_of_concurrent_sessions_is_linearisable() {
    let histories = setting("LOCI_HISTORIES", 10);
    let operations = setting("LOCI_OPERATIONS", 200);
    let home = TestHome::without_model();
    let mut agents: Vec<Agent> = (0..SESSIONS).map(|_| home.session()).collect();
    let (mut keys, mut recorded, mut overlapping) = (0, 0, 0);
    for number in 0..histories {
        let recording = record(&home, &mut agents, number, operations);
        for (key, mut history) in recording.operations.into_inner().expect("no session panics") {
            history.sort_by_key(|operation| operation.invoked);
            let is_memory = history.iter().all(|op| !matches!(op.action, Action::Stored(_)));
            let start = if is_memory { KeyState::Present } else { KeyState::Absent };
            assert!(is_linearisable(&history, start), "history {number}, {key}: {history:#?}");
            keys += 1;
            recorded += history.len();
            overlapping +=
                history.windows(2).filter(|pair| pair[1].invoked < pair[0].returned).count();
        }
    }
    println!(
        "{histories} histories, {keys} keys, {recorded} operations, {overlapping} of them overlap the one before"
    );
    assert!(overlapping * 10 > recorded, "too few calls overlap: {overlapping} of {recorded}");
}
