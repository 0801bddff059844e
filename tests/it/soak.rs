//! Many short sessions: the daemon's memory, descriptors and threads stay as they are after the
//! first of them.
//!
//! `LOCI_CONNECTIONS` and `LOCI_CALLS` set how many there are (500 and 5,000 here, 10,000 and
//! 100,000 in `just soak`).

use crate::home::{TestHome, binaries};
use crate::proof::setting;
use crate::wire::{Daemon, Peer, connections, descriptors, resident_kib, wait_until};
use serde_json::json;

/// Connections that are open at the same time.
const AT_ONCE: usize = 8;
/// Memories that are stored before; the calls add none that stays.
const MEMORIES: usize = 200;
/// The growth of the resident memory that is noise: caches of SQLite and of the allocator.
const MAX_GROWTH_KIB: u64 = 6 * 1024;

/// What a process uses.
#[derive(Debug, Clone, Copy)]
struct Usage {
    memory_kib: u64,
    descriptors: Option<usize>,
    threads: usize,
}

impl Usage {
    fn of(pid: u32) -> Self {
        let pid = pid.to_string();
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).expect("the process runs");
        Self {
            memory_kib: resident_kib(&pid),
            descriptors: descriptors(&pid),
            threads: threads.count(),
        }
    }
}

/// Opens connections one after another, each with some calls.
fn connect_and_call(home: &TestHome, worker: usize, connections: usize, calls: usize) {
    for connection in 0..connections {
        let mut peer = Peer::accepted(home);
        for call in 0..calls {
            let number = connection * calls + call;
            if number.is_multiple_of(10) {
                store_and_delete(&mut peer, worker, number);
            } else {
                let query = format!("drawer {}", number % MEMORIES);
                peer.call(number, "recall_memory", &json!({"query": query}));
                let reply = peer.receive().expect("the call is answered");
                assert!(reply["result"]["isError"] != true, "{reply}");
            }
        }
    }
}

fn store_and_delete(peer: &mut Peer, worker: usize, number: usize) {
    let text = format!("Passing note {number} of worker {worker}");
    peer.call(number, "store_memory", &json!({"content": text, "type": "semantic"}));
    let reply = peer.receive().expect("the call is answered");
    let id = &reply["result"]["structuredContent"]["id"];
    assert!(id.is_string(), "{reply}");
    peer.call(number, "forget_memory", &json!({"memory_id": id, "hard_delete": true}));
    let reply = peer.receive().expect("the call is answered");
    assert!(reply["result"]["isError"] != true, "{reply}");
}

/// Runs a share of the load; returns what the daemon uses after it.
fn load(home: &TestHome, daemon: &Daemon, connections_each: usize, calls_each: usize) -> Usage {
    std::thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            scope.spawn(move || connect_and_call(home, worker, connections_each, calls_each));
        }
    });
    wait_until("all connections are closed", || connections(home) == 0);
    Usage::of(daemon.pid())
}

#[test]
fn many_sessions_and_calls_leave_memory_descriptors_and_threads_as_they_were() {
    let total = setting("LOCI_CONNECTIONS", 500);
    let calls_each = setting("LOCI_CALLS", 5_000) / total;
    let home = TestHome::without_model();
    let daemon = Daemon::start(&home, &mut home.command_at(&binaries().join("locid")));
    let mut agent = home.session();
    for number in 0..MEMORIES {
        agent.store("semantic", &format!("The screws of size {number} are in drawer {number}"));
    }
    agent.close();
    let rounds = 5;
    let each = total / AT_ONCE / rounds;
    let usages: Vec<Usage> = (0..rounds).map(|_| load(&home, &daemon, each, calls_each)).collect();
    let (first, last) = (usages[0], usages[rounds - 1]);
    let connections = each * AT_ONCE * rounds;
    println!("{connections} connections, {} calls: {usages:#?}", connections * calls_each);
    assert_eq!(last.threads, first.threads);
    // A file that is read at this moment is no leak: it is closed a moment later.
    wait_until("the descriptors are as after the first round", || {
        descriptors(&daemon.pid().to_string()) == first.descriptors
    });
    let growth = last.memory_kib.saturating_sub(first.memory_kib);
    assert!(growth <= MAX_GROWTH_KIB, "{growth} KiB more after the first of {rounds} rounds");
}
