//! Exits and stalls: a shim whose agent closes, stops reading or sends a signal, and a suspended
//! daemon.

use crate::home::{Agent, TestHome};
use crate::wire::{sessions, signal, wait_until};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

/// Returns a session that has reached the daemon.
fn session(home: &TestHome) -> Agent {
    let mut agent = home.session();
    agent.call("memory_stats", json!({})).expect("the call succeeds");
    agent
}

/// Returns whether every thread of a process is stopped by a signal.
fn is_stopped(pid: u32) -> bool {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process runs");
    let state = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("status"));
    tasks
        .filter_map(Result::ok)
        .filter_map(|task| state(task).ok())
        .all(|text| text.contains("T (stopped)"))
}

fn assert_gone(home: &TestHome, pid: u32) {
    assert!(!Path::new(&format!("/proc/{pid}")).exists(), "no shim is left");
    wait_until("the daemon has no session", || sessions(home) == 0);
}

#[test]
fn a_shim_with_nothing_in_flight_exits_at_once_with_success() {
    let home = TestHome::without_model();
    let daemon = {
        drop(session(&home));
        home.status()["pid"].clone()
    };
    for end_by in ["-TERM", "-INT", "-HUP", "input", "output"] {
        let mut agent = session(&home);
        let (pid, start) = (agent.pid(), Instant::now());
        let code = match end_by {
            "input" => agent.close(),
            "output" => agent.close_output(),
            signal_name => {
                signal(signal_name, [pid]);
                agent.wait_for_exit()
            }
        };
        assert_eq!(code, Some(0), "{end_by}");
        assert!(start.elapsed() < Duration::from_secs(1), "{end_by}: {:?}", start.elapsed());
        assert_gone(&home, pid);
    }
    assert_eq!(home.status()["pid"], daemon, "the daemon stays");
}

#[test]
fn a_shim_with_a_call_in_flight_waits_at_most_five_seconds() {
    let home = TestHome::without_model();
    let mut agent = session(&home);
    let lock = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    lock.execute_batch("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE")
        .expect("the database is locked");
    let call = json!({"name": "store_memory", "arguments": {"content": "Never in time", "type": "semantic"}});
    agent.send(
        &json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}).to_string(),
    );
    wait_until("the daemon has received the call", || home.status()["sessions"][0]["calls"] == 2);
    let (pid, start) = (agent.pid(), Instant::now());
    signal("-TERM", [pid]);
    let answer = agent.receive();
    assert_eq!(
        (&answer["id"], &answer["result"]["isError"]),
        (&json!(7), &json!(true)),
        "{answer}"
    );
    assert_eq!(agent.wait_for_exit(), Some(0));
    assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
    drop(lock);
    assert_gone(&home, pid);
}

#[test]
fn a_suspended_daemon_is_reported_within_ten_seconds_and_the_session_recovers() {
    let home = TestHome::without_model();
    let (mut agent, mut late) = (session(&home), Agent::bare(home.command("loci").arg("mcp")));
    let daemon = home.status()["pid"]
        .as_u64()
        .and_then(|pid| u32::try_from(pid).ok())
        .expect("the status has a pid");
    signal("-STOP", [daemon]);
    // Its threads stop one after the other.
    wait_until("the daemon stands still", || is_stopped(daemon));
    let start = Instant::now();
    let error = agent.call("memory_stats", json!({})).expect_err("the call fails");
    assert!(
        error.contains(&format!("locid does not answer (pid {daemon})"))
            && error.contains("kill -CONT"),
        "{error}"
    );
    assert!(start.elapsed() < Duration::from_secs(11), "{:?}", start.elapsed());
    let start = Instant::now();
    assert!(
        late.request("tools/list", json!({}))["result"]["tools"].is_array(),
        "a new session has its tools"
    );
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    signal("-CONT", [daemon]);
    agent.store("semantic", "Stored after the daemon continued");
    assert_eq!(home.status()["pid"], daemon, "it was not replaced");
}
