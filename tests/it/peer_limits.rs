//! Peers that send nothing, read nothing or connect in large numbers, and a daemon that must exit
//! meanwhile: other sessions are not affected.

use crate::home::TestHome;
use crate::wire::{Daemon, Peer, cpu_ticks, resident_kib, sessions, signal, wait_until};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_peer_without_a_complete_hello_is_dropped_after_two_seconds() {
    let home = TestHome::without_model();
    let _daemon = Daemon::start(&home, &mut home.command("locid"));
    let mut peers = [Peer::silent(&home), Peer::silent(&home)];
    peers[1].send_bytes(br#"{"loci":[1,1],"#);
    let start = Instant::now();
    let mut agent = home.session();
    agent.store("semantic", "Stored during two silent connections");
    for peer in &mut peers {
        assert_eq!(peer.receive(), None);
    }
    let took = start.elapsed();
    assert!(took > Duration::from_millis(1500) && took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_peer_that_reads_nothing_is_dropped_without_affecting_others() {
    let home = TestHome::without_model();
    let _daemon = Daemon::start(&home, home.command("locid").args(["--read-deadline", "1"]));
    let mut agent = home.session();
    let text = |n: usize| format!("{n} {}", "long ".repeat(6000));
    let ids: Vec<String> = (0..8).map(|n| agent.store("semantic", &text(n))).collect();
    let mut greedy = Peer::accepted(&home);
    // Before it can be dropped.
    assert_eq!(sessions(&home), 2);
    for id in 0..16 {
        greedy.call(id, "recall_memory", &json!({"ids": ids, "token_budget": 1_000_000}));
    }
    let mut slowest = Duration::ZERO;
    wait_until("the greedy peer is gone", || {
        let start = Instant::now();
        agent.call("memory_stats", json!({})).expect("the call succeeds");
        slowest = slowest.max(start.elapsed());
        sessions(&home) == 1
    });
    assert!(slowest < Duration::from_secs(1), "the other session waited {slowest:?}");
}

#[test]
fn a_peer_that_stalls_inside_a_line_is_dropped_and_an_idle_one_is_not() {
    let home = TestHome::without_model();
    let _daemon = Daemon::start(&home, home.command("locid").args(["--read-deadline", "1"]));
    let (mut stalled, mut idle) = (Peer::accepted(&home), Peer::accepted(&home));
    let start = Instant::now();
    stalled.send_bytes(br#"{"jsonrpc":"2.0","id":1,"method":"pi"#);
    assert_eq!(stalled.receive(), None);
    let took = start.elapsed();
    assert!(took > Duration::from_millis(900) && took < Duration::from_secs(5), "{took:?}");
    wait_until("it is gone", || sessions(&home) == 1);
    idle.call(1, "memory_stats", &json!({}));
    assert_eq!(idle.receive().expect("the daemon answers")["id"], 1);
}

#[test]
fn connections_beyond_the_limit_are_answered_busy_and_the_others_served() {
    let home = TestHome::without_model();
    let _daemon = Daemon::start(&home, &mut home.command("locid"));
    let (mut served, mut busy) = (Vec::new(), 0);
    for _ in 0..500 {
        let (mut peer, answer) = Peer::with_hello(&home);
        if answer["ok"] == true {
            served.push(peer);
        } else {
            assert_eq!(answer["error"], "busy", "{answer}");
            assert_eq!(peer.receive(), None);
            busy += 1;
        }
    }
    assert_eq!((served.len(), busy), (256, 244));
    for (id, peer) in served.iter_mut().enumerate() {
        peer.call(id, "memory_stats", &json!({}));
    }
    for (id, peer) in served.iter_mut().enumerate() {
        assert_eq!(peer.receive().expect("the daemon answers")["id"], id);
    }
    drop(served);
    wait_until("all are gone", || sessions(&home) == 0);
    home.session().store("semantic", "Stored after all peers have gone");
}

#[test]
fn without_free_descriptors_the_daemon_does_not_spin_and_recovers() {
    let home = TestHome::without_model();
    let mut limited = home.command_at("/bin/sh".as_ref());
    let locid = crate::home::binaries().join("locid");
    let daemon = Daemon::start(&home, limited.args(["-c", "ulimit -n 64; exec \"$0\""]).arg(locid));
    let (start, used) = (Instant::now(), cpu_ticks(daemon.pid()));
    let mut crowd: Vec<Peer> = (0..150).map(|_| Peer::silent(&home)).collect();
    for peer in &mut crowd {
        assert_eq!(
            peer.receive(),
            None,
            "each is accepted in the end, and dropped because it sends nothing"
        );
    }
    let (took, used) =
        (start.elapsed().as_millis(), u128::from(cpu_ticks(daemon.pid()) - used) * 10);
    println!("150 silent connections at 64 descriptors: {used} ms of a core in {took} ms");
    assert!(took > 4000, "the descriptors were not exhausted: {took} ms");
    assert!(used * 20 < took, "{used} ms of a core in {took} ms");
    assert!(
        !daemon.log().contains("ERROR"),
        "the store can still open its files: {}",
        daemon.log()
    );
    let peers: Vec<_> = (0..40).map(|_| Peer::with_hello(&home)).collect();
    let served = peers.iter().filter(|(_, answer)| answer["ok"] == true).count();
    assert!((8..=30).contains(&served), "{served} were served, the others answered busy");
    assert!(peers.iter().all(|(_, answer)| answer["ok"] == true || answer["error"] == "busy"));
    drop(peers);
    wait_until("all are gone", || sessions(&home) == 0);
    home.session().store("semantic", "Service has resumed");
}

#[test]
fn a_terminated_daemon_answers_the_calls_in_flight() {
    let home = TestHome::without_model();
    let mut daemon = Daemon::start(&home, &mut home.command("locid"));
    let mut peers: Vec<Peer> = (0..8).map(|_| Peer::accepted(&home)).collect();
    for call in 0..40 {
        for (number, peer) in peers.iter_mut().enumerate() {
            peer.call(
                call,
                "store_memory",
                &json!({"content": format!("Peer {number} says {call}"), "type": "semantic"}),
            );
        }
    }
    assert!(peers[0].receive().is_some(), "the daemon processes the calls");
    signal("-TERM", [daemon.pid()]);
    let mut answered = 1;
    for peer in &mut peers {
        while let Some(answer) = peer.receive() {
            assert!(answer["result"]["structuredContent"]["id"].is_string(), "{answer}");
            answered += 1;
        }
    }
    assert_eq!(daemon.wait_for_exit().code(), Some(0), "{}", daemon.log());
    assert_eq!(
        home.session().call("memory_stats", json!({})).expect("the call succeeds")["total_memories"],
        answered
    );
    println!("{answered} of 320 stores were answered, and no other one took effect");
}

/// For each token the kernel maps the 16 pages around its row of the weights.
#[test]
fn the_models_pages_are_trimmed_while_idle() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store("semantic", "The first memory waits for the model");
    let pid = home.status()["pid"].to_string();
    let mut peak = 0;
    for number in 0..40 {
        agent.store(
            "episodic",
            &format!(
                "Note {number}: {}",
                WORDS.split(' ').skip(number * 5 % 160).take(12).collect::<Vec<_>>().join(" ")
            ),
        );
        peak = peak.max(resident_kib(&pid));
    }
    wait_until("8 MiB are released", || resident_kib(&pid) + 8 * 1024 <= peak);
    let found = agent
        .call("recall_memory", json!({"query": "the note about gravel and lanterns"}))
        .expect("the call succeeds");
    assert!(
        found["degraded"].is_null()
            && found["results"].as_array().is_some_and(|results| !results.is_empty()),
        "{found}"
    );
}

/// Words from all over the model's vocabulary.
const WORDS: &str = "storm harbour engine ledger violin copper lantern meadow gravel orchard turbine valley saddle mirror cabin falcon marble ribbon \
    anchor basin candle desert ember fabric garden hammer island jacket kernel ladder magnet needle oyster pepper quarry rocket signal temple \
    umbrella velvet window yogurt zipper acrobat bishop cathedral diploma eclipse fountain glacier hydrogen iguana juniper kangaroo lobster \
    monsoon nectar obelisk pyramid quartz rhubarb saxophone tornado uranium vaccine walnut xylophone yacht zeppelin almanac ballad cobalt dagger \
    elbow fjord grammar helmet insulin jigsaw knuckle lemon mammal nickel oxygen piano quilt radar sonnet tunnel urchin violet waltz yeast zebra \
    avocado beacon cinnamon dolphin emerald furnace gazelle harvest ivory jasmine ketchup lagoon mustard nomad orchid parrot quiver raisin salmon \
    thistle ukulele vinegar whistle";
