//! Endless lines and other protocols, at the socket and through the shim: each gets one error, and
//! other sessions are not affected.

use crate::home::TestHome;
use crate::wire::{Daemon, Peer, resident_kib, sessions, wait_until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;
/// Maximum memory growth during an endless line, in KiB: the daemon holds one line up to its bound.
const MAX_GROWTH_KIB: u64 = 4 * 1024;

#[test]
fn an_endless_line_at_the_daemon_is_answered_once_and_the_connection_closed() {
    let home = TestHome::without_model();
    let daemon = Daemon::start(&home, &mut home.command("locid"));
    let mut agent = home.session();
    agent.store("semantic", "Stored during a flood");
    let pid = daemon.pid().to_string();
    let (part, before) = (vec![b'y'; MIB], resident_kib(&pid));
    for (start, id) in [
        (r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":""#, json!(7)),
        ("", Value::Null),
    ] {
        let mut flood = Peer::accepted(&home);
        flood.send_bytes(start.as_bytes());
        let taken = flood.send_repeatedly(&part, 1024);
        assert!(taken < 16 * MIB, "{taken} bytes of the line were taken");
        let answer = flood.receive().expect("the daemon answers");
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)), "{answer}");
        assert_eq!(flood.receive(), None, "nothing follows the error");
    }
    let after = resident_kib(&pid);
    println!("{before} KiB before two floods, {after} KiB after");
    assert!(after < before + MAX_GROWTH_KIB, "{before} KiB before, {after} KiB after");
    assert_eq!(agent.recall("flood"), ["Stored during a flood"]);
    wait_until("only the agent's session is left", || sessions(&home) == 1);
}

#[test]
fn calls_in_flight_are_answered_before_an_endless_line_closes_the_connection() {
    let home = TestHome::without_model();
    let _daemon = Daemon::start(&home, &mut home.command("locid"));
    let mut peer = Peer::accepted(&home);
    peer.call(
        1,
        "store_memory",
        &json!({"content": "Asked for in good order", "type": "semantic"}),
    );
    peer.send_repeatedly(&vec![b'y'; MIB], 2);
    let answers: Vec<Value> = std::iter::from_fn(|| peer.receive()).collect();
    let stored = answers.iter().find(|answer| answer["id"] == 1).expect("the store is answered");
    assert_eq!(stored["result"]["structuredContent"]["deduplicated"], false, "{stored}");
    assert_eq!(
        answers.iter().filter(|answer| answer["error"]["code"] == -32600).count(),
        1,
        "{answers:?}"
    );
    assert_eq!(home.session().recall("good order"), ["Asked for in good order"]);
}

#[test]
fn a_line_of_a_gibibyte_is_refused_and_the_session_continues() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Stored before the flood");
    let (daemon, shim) = (home.status()["pid"].clone(), agent.pid().to_string());
    let (part, before) = (vec![b'y'; MIB], resident_kib(&shim));
    for (start, id) in [
        (r#"{"jsonrpc":"2.0","id":77,"method":"ping","params":{"x":""#, json!(77)),
        ("", Value::Null),
    ] {
        agent.send_bytes(start.as_bytes());
        for _ in 0..1024 {
            agent.send_bytes(&part);
        }
        agent.send("");
        let answer = agent.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(-32600)), "{answer}");
    }
    let after = resident_kib(&shim);
    println!("the shim has {before} KiB before, {after} KiB after");
    assert!(after < before + MAX_GROWTH_KIB, "{before} KiB before, {after} KiB after");
    assert_eq!(agent.recall("flood"), ["Stored before the flood"]);
    assert_eq!(
        (&home.status()["pid"], sessions(&home)),
        (&daemon, 1),
        "neither connection nor daemon was lost"
    );
}

#[test]
fn the_longest_line_that_a_shim_forwards_is_accepted_by_the_daemon() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "So that the daemon is there");
    let line = |fill: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":5,"method":"ping","params":{{"x":"{}"}}}}"#,
            "y".repeat(fill)
        )
    };
    let longest = MIB - 1 - line(0).len();
    agent.send(&line(longest));
    assert_eq!(
        agent.receive(),
        json!({"jsonrpc": "2.0", "id": 5, "result": {}}),
        "one byte less than 1 MiB, and the newline"
    );
    agent.send(&line(longest + 1));
    assert_eq!(agent.receive()["error"]["code"], -32600);
    agent.store("semantic", "The session goes on");
    assert_eq!(sessions(&home), 1);
}

#[test]
fn a_peer_with_another_protocol_is_answered_once() {
    let home = TestHome::without_model();
    let _daemon = Daemon::start(&home, &mut home.command("locid"));
    let client_hello = b"\x16\x03\x01\x00\xc4\x01\x00\x00\xc0\x03\x03nothing here ends a line";
    let hello_of_80_kb =
        [br#"{"loci":[1,1],"shim":""#.as_slice(), &"x".repeat(80_000).into_bytes()].concat();
    let foreign: [&[u8]; 7] = [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        client_hello,
        b"\x00\xff\xfe\x80 garbage",
        b"\n",
        b"{}\n",
        br#"{"jsonrpc":"2.0","id":1,"method":"ping"}
"#,
        &hello_of_80_kb,
    ];
    for words in foreign {
        let start = Instant::now();
        let mut peer = Peer::silent(&home);
        peer.send_bytes(words);
        let answer = peer
            .receive()
            .unwrap_or_else(|| panic!("no answer to {}", String::from_utf8_lossy(words)));
        assert_eq!(
            (&answer["ok"], &answer["error"]),
            (&json!(false), &json!("bad_hello")),
            "{answer}"
        );
        assert_eq!(peer.receive(), None, "nothing follows the error");
        assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    }
    home.session().store("semantic", "Stored after seven other protocols");
}
