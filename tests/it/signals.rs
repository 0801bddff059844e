//! Signals to the daemon: those that it ignores, and a second request to stop.
//!
//! Not here: SIGHUP (`settings_live`), calls in flight at a stop (`peer_limits`).

use crate::home::TestHome;
use crate::wire::{Daemon, signal};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn user_signals_and_broken_pipes_are_ignored() {
    let home = TestHome::without_model();
    let daemon = Daemon::start(&home, &mut home.command("locid"));
    let mut agent = home.session();
    for name in ["-USR1", "-PIPE", "-HUP"] {
        signal(name, [daemon.pid()]);
        agent.store("semantic", &format!("Stored after {name}"));
    }
    assert_eq!(home.status()["pid"], daemon.pid(), "it is the same daemon");
    assert_eq!(agent.recall("stored after").len(), 3);
}

#[test]
fn a_second_stop_signal_during_stores_loses_nothing_and_ends_it_within_five_seconds() {
    let home = TestHome::without_model();
    let mut daemon = Daemon::start(&home, &mut home.command("locid"));
    let mut agent = home.session();
    let call = |id: usize| {
        let arguments = json!({"content": format!("Entry {id} of many"), "type": "semantic"});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "store_memory", "arguments": arguments}})
            .to_string()
    };
    for id in 100..116 {
        agent.send(&call(id));
    }
    let first = agent.receive();
    assert_eq!(first["result"]["isError"], json!(false), "{first}");
    let start = Instant::now();
    signal("-TERM", [daemon.pid()]);
    signal("-TERM", [daemon.pid()]);
    let exit = daemon.wait_for_exit();
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(exit.code(), Some(0), "{}", daemon.log());
    // The shim starts the next daemon and repeats what was not answered.
    for _ in 101..116 {
        let answer = agent.receive();
        assert!(answer["result"]["structuredContent"]["id"].is_string(), "{answer}");
    }
    let stats = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(stats["total_memories"], 16, "each took effect once");
}
