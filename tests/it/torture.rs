//! The daemon is killed repeatedly under busy sessions: every call is answered, nothing
//! acknowledged is lost or duplicated.
//!
//! `LOCI_KILLS` sets how often (100 here, thousands in `just torture`). Prints what was in flight
//! at each kill: a run with fewer than one call in flight on average proves nothing, and fails.

use crate::home::{Agent, TestHome};
use serde_json::json;
use std::collections::{HashMap, HashSet};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

const SESSIONS: usize = 8;

/// State shared by the sessions and the thread that kills the daemon.
#[derive(Default)]
struct SharedState {
    in_flight: AtomicUsize,
    stopped: AtomicBool,
}

#[test]
fn killed_daemons_lose_and_duplicate_nothing() {
    let kills: usize = std::env::var("LOCI_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    let home = TestHome::without_model();
    let shared = SharedState::default();
    let (acknowledge, acknowledged) = channel();
    let (stored, at_kills) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let (agent, shared, acknowledge) = (home.session(), &shared, acknowledge.clone());
                scope.spawn(move || store_until_stopped(number, agent, shared, &acknowledge))
            })
            .collect();
        drop(acknowledge);
        let at_kills = kill_often(&home, kills, &shared, &acknowledged);
        shared.stopped.store(true, Ordering::Relaxed);
        let stored: Vec<(String, String)> =
            workers.into_iter().flat_map(|w| w.join().expect("every call is answered")).collect();
        (stored, at_kills)
    });
    let average = at_kills.iter().sum::<usize>() as f64 / at_kills.len() as f64;
    println!(
        "{} kills, {} stores acknowledged, {average:.1} calls in flight at a kill",
        at_kills.len(),
        stored.len()
    );
    assert!(average >= 1.0, "fewer than one call in flight at a kill");
    check_store(&home, &stored);
}

/// Stores and recalls until stopped; returns id and text of every store.
fn store_until_stopped(
    number: usize,
    mut agent: Agent,
    shared: &SharedState,
    acknowledge: &Sender<()>,
) -> Vec<(String, String)> {
    let mut stored = Vec::new();
    while !shared.stopped.load(Ordering::Relaxed) {
        let text = format!("Session {number} wrote entry {}", stored.len());
        shared.in_flight.fetch_add(1, Ordering::Relaxed);
        let reply = agent.store_with(json!({"content": text, "type": "semantic"}));
        shared.in_flight.fetch_sub(1, Ordering::Relaxed);
        assert_eq!(reply["deduplicated"], false, "{text} was stored twice");
        stored.push((reply["id"].as_str().expect("the reply has an id").to_owned(), text));
        // The receiver is gone once the last kill is done.
        let _ = acknowledge.send(());
    }
    stored
}

/// Kills the daemon after a varying number of acknowledged stores; returns the calls in flight at
/// each kill.
fn kill_often(
    home: &TestHome,
    kills: usize,
    shared: &SharedState,
    acknowledged: &Receiver<()>,
) -> Vec<usize> {
    let mut at_kills = Vec::new();
    for round in 0..kills {
        let stores_before_kill = 1 + (round * 7919) % 23;
        (0..stores_before_kill).for_each(|_| acknowledged.recv().expect("the sessions still run"));
        let pid = std::fs::read_to_string(home.path("run/loci/locid.lock"))
            .expect("the file can be read")
            .trim()
            .to_owned();
        at_kills.push(shared.in_flight.load(Ordering::Relaxed));
        // A daemon that is being replaced has no process; the next round finds the new one.
        let _ =
            Command::new("kill").args(["-9", &pid]).stderr(std::process::Stdio::null()).status();
    }
    at_kills
}

/// Asserts that every acknowledged memory exists once with its text, and nothing else exists.
fn check_store(home: &TestHome, stored: &[(String, String)]) {
    let ids: HashSet<&String> = stored.iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), stored.len(), "every id is distinct");
    let mut agent = home.session();
    let counted = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(counted["total_memories"], stored.len(), "every acknowledged store is counted once");
    for batch in stored.chunks(50) {
        let expected: HashMap<&str, &str> =
            batch.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
        let ids: Vec<&&str> = expected.keys().collect();
        let shown = agent
            .call("recall_memory", json!({"ids": ids, "token_budget": 1_000_000}))
            .expect("the call succeeds");
        let results = shown["results"].as_array().expect("a JSON array");
        assert_eq!(results.len(), batch.len(), "{shown}");
        assert!(
            results
                .iter()
                .all(|r| expected[r["id"].as_str().expect("the reply has an id")] == r["content"])
        );
    }
}
