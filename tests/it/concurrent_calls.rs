//! Many calls, slow calls, cancelled calls: no session starves, and every call that is not
//! cancelled gets a reply.

use crate::home::{Agent, TestHome};
use crate::wire::{Peer, wait_until};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::time::Instant;

/// Locks the database, so that no store can finish until this is dropped.
fn lock_database(home: &TestHome) -> Connection {
    let conn = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    conn.execute_batch("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE")
        .expect("the database is locked");
    conn
}

fn send(agent: &mut Agent, id: usize, text: &str, token: Option<&str>) {
    let meta = token.map_or(json!({}), |token| json!({"progressToken": token}));
    let params = json!({"name": "store_memory", "arguments": {"content": text, "type": "semantic"}, "_meta": meta});
    agent.send(
        &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string(),
    );
}

#[test]
fn a_slow_call_reports_progress_if_requested() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "The database is there");
    let lock = lock_database(&home);
    send(&mut agent, 100, "Slow", Some("t"));
    for expected in [1.0, 2.0] {
        let notification = agent.next_message();
        assert_eq!(
            (&notification["method"], &notification["params"]["progressToken"]),
            (&json!("notifications/progress"), &json!("t")),
            "{notification}"
        );
        assert_eq!(notification["params"]["progress"], expected);
    }
    drop(lock);
    assert_eq!(agent.receive()["result"]["structuredContent"]["deduplicated"], false);
}

#[test]
fn a_cancelled_call_has_no_reply_and_the_session_continues() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "The database is there");
    let lock = lock_database(&home);
    send(&mut agent, 100, "Taken back", None);
    agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 100}}).to_string());
    agent.send(&json!({"jsonrpc": "2.0", "id": 101, "method": "ping"}).to_string());
    assert_eq!(agent.receive()["id"], 101, "the cancelled call is not answered");
    drop(lock);
    agent.store("semantic", "Stored after the cancelled call");
    // The cancelled store may take effect later than the one after it.
    wait_until("recall and statistics agree whether the store took effect", || {
        let found = agent.recall("taken").len();
        let counted = agent.call("memory_stats", json!({})).expect("the call succeeds");
        counted["total_memories"] == 2 + found
    });
}

#[test]
fn the_shim_refuses_a_duplicate_id_in_flight() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "The database is there");
    let lock = lock_database(&home);
    send(&mut agent, 100, "The first of its id", None);
    send(&mut agent, 100, "The second of its id", None);
    let refused = agent.receive();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(100), &json!(-32600)),
        "{refused}"
    );
    drop(lock);
    let answer = agent.receive();
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["deduplicated"]),
        (&json!(100), &json!(false)),
        "{answer}"
    );
    assert_eq!(agent.recall("of its id"), ["The first of its id"], "the second had no effect");
}

#[test]
fn the_daemon_refuses_a_duplicate_id_in_flight() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The database is there");
    let lock = lock_database(&home);
    let mut peer = Peer::accepted(&home);
    for text in ["The first of its id", "The second of its id"] {
        peer.call(5, "store_memory", &json!({"content": text, "type": "semantic"}));
    }
    let refused = peer.receive().expect("the daemon answers");
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(5), &json!(-32600)),
        "{refused}"
    );
    drop(lock);
    assert_eq!(
        peer.receive().expect("the daemon answers")["result"]["structuredContent"]["deduplicated"],
        false
    );
    assert_eq!(home.session().recall("of its id"), ["The first of its id"]);
    peer.call(5, "memory_stats", &json!({}));
    assert!(
        peer.receive().expect("the daemon answers")["result"].is_object(),
        "an answered id can be used again"
    );
}

#[test]
fn a_session_that_sends_everything_at_once_does_not_starve_another() {
    let home = TestHome::new();
    let (mut greedy, mut modest) = (home.session(), home.session());
    for agent in [&mut greedy, &mut modest] {
        agent.recall("so that both are connected and the model is warm");
    }
    let long =
        "This is one of many notes that take the model a while to read, since it goes on and on. "
            .repeat(60);
    for id in 0..16 {
        send(&mut greedy, 1000 + id, &format!("{id} {long}"), None);
    }
    send(&mut modest, 2000, "A short note", None);
    let modest_done = std::thread::spawn(move || {
        let answer = modest.receive();
        (modest, answer, Instant::now())
    });
    let done: Vec<Instant> =
        (0..16).map(|_| drop(greedy.receive())).map(|()| Instant::now()).collect();
    let (_modest, answer, at) = modest_done.join().expect("the thread does not panic");
    assert_eq!(answer["id"], 2000);
    let after = done.iter().filter(|when| **when > at).count();
    assert!(after >= 8, "the short note waited for {} of the 16 long ones", 16 - after);
}

#[test]
fn a_thousand_calls_are_all_answered_although_replies_are_read_late() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Something to count");
    let line = |id: usize| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "memory_stats"}}).to_string()
    };
    let sender = agent.send_from_a_thread((5000..6000).map(line).collect());
    let mut answered: Vec<Value> = (0..1000).map(|_| agent.receive()["id"].clone()).collect();
    sender.join().expect("all lines are written");
    answered.sort_by_key(Value::as_u64);
    assert_eq!(answered, (5000..6000).map(|id| json!(id)).collect::<Vec<_>>());
}

#[test]
fn an_agent_that_stores_the_same_text_repeatedly_is_rate_limited() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let again = json!({"content": "The same again", "type": "semantic"});
    let outcomes: Vec<_> = (0..1000).map(|_| agent.call("store_memory", again.clone())).collect();
    assert!(outcomes[..20].iter().all(Result::is_ok) && outcomes[20..].iter().all(Result::is_err));
    let error = outcomes[20].as_ref().expect_err("the 21st store is refused");
    assert!(error.starts_with("busy: ") && error.contains("retry_after"), "{error}");
    let shown = agent.call("recall_memory", json!({"query": "same"})).expect("the call succeeds");
    assert_eq!(
        (&shown["total_matched"], &shown["results"][0]["confidence"]),
        (&json!(1), &json!(1.0)),
    );
}

#[test]
fn calls_with_unusual_ids_and_encodings_are_answered() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for line in [
        r#"{"jsonrpc":"2.0","id":1001,"method":"tools/call","params":{"name":"memory_stats","_meta":{"x":1e999},"arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":1001,"method":"tools\/call","params":{"name":"recall_memory","arguments":{"query":"x","min_confidence":1e999}}}"#,
        r#"{"jsonrpc":"2.0","id":1001,"x":1e999,"method":"tools/call","params":{"name":"memory_stats"}}"#,
        r#"{"jsonrpc":"2.0","id":1001,"method":"tools/call","params":{"name":"memory_stats","arguments":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1001,"method":"tools/call","params":{"arguments":{}}}"#,
        r#"{"jsonrpc":"2.0","id":-0,"method":"ping"}"#,
    ] {
        agent.send(line);
        let answer = agent.receive();
        let id = answer["id"].as_f64();
        assert!(id == Some(1001.0) || id == Some(0.0), "{line} was answered by {answer}");
        assert_ne!(answer["error"]["code"], -32601, "{line}");
    }
    agent.store("semantic", "The session continues");
}
