//! A large store is served while its index is loaded, and says so.

use crate::home::TestHome;
use crate::wire::{signal, wait_until};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A store whose texts take a second to tokenise.
const LONG_TEXTS: StoreSize = StoreSize { memories: 6_000, words: 700 };
/// A store with enough memories for an index snapshot.
const MANY_MEMORIES: StoreSize = StoreSize { memories: 50_001, words: 6 };

/// The number of memories, and of words in each.
#[derive(Clone, Copy)]
struct StoreSize {
    memories: usize,
    words: usize,
}

/// Returns a home with a closed store: many texts and one that differs from them.
fn home(StoreSize { memories, words }: StoreSize) -> TestHome {
    let home = TestHome::without_model();
    let added =
        home.loci(&["add", "The zebra crossing is closed until Friday", "--type", "semantic"]);
    assert!(added.status.success() && home.loci(&["ctl", "stop"]).status.success());
    let conn = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    conn.execute_batch("PRAGMA synchronous = OFF; BEGIN").expect("the statements run");
    {
        let mut row = conn
            .prepare(
                "INSERT INTO memories(id, type, content, scope, confidence_at, created_at, updated_at, content_hash, status_at)
                 VALUES (?1, 'semantic', ?2, 'global', ?3, ?3, ?3, ?4, ?3)",
            )
            .expect("the statement is valid");
        for number in 1..memories {
            let words: Vec<String> =
                (0..words).map(|at| format!("w{}", (number * 31 + at * at * 17) % 9_973)).collect();
            let id = format!("00000000-0000-7000-8000-{number:012x}");
            let text = words.join(" ");
            let hash = loci_engine::duplicate::content_hash::hash(&text);
            row.execute((id, text, 1_769_904_000_000_i64, hash)).expect("the statement runs");
        }
    }
    conn.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)").expect("the statements run");
    home
}

fn index(home: &TestHome) -> Value {
    home.status()["index"].clone()
}

#[test]
fn a_large_store_is_served_while_its_index_is_being_loaded() {
    let home = home(LONG_TEXTS);
    let mut agent = home.session();
    let question = json!({"query": "Where is the zebra?"});
    let during_warmup = agent.call("recall_memory", question.clone()).expect("the call succeeds");
    assert_eq!(
        during_warmup["results"][0]["content"], "The zebra crossing is closed until Friday",
        "{during_warmup}"
    );
    assert_eq!(during_warmup["degraded"], json!(["embedding", "index"]), "{during_warmup}");
    let status = home.status();
    assert_eq!(
        (&status["index"]["state"], &status["index"]["of"]),
        (&json!("loading"), &json!(LONG_TEXTS.memories)),
        "{status}"
    );
    let screen = String::from_utf8_lossy(&home.loci(&["ctl", "status"]).stdout).into_owned();
    assert!(screen.contains("  index     loading (") && screen.contains(" of 6,000)"), "{screen}");
    let counted = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(
        (&counted["total_memories"], &index(&home)["state"]),
        (&json!(LONG_TEXTS.memories), &json!("loading"))
    );
    // A store waits for the index, so that it finds duplicates among all memories.
    let again = agent.store_with(
        json!({"content": "The zebra crossing is closed until Friday", "type": "semantic"}),
    );
    assert_eq!(
        (&again["deduplicated"], &again["id"]),
        (&json!(true), &during_warmup["results"][0]["id"])
    );
    assert_eq!(
        index(&home),
        json!({"state": "ready", "read": LONG_TEXTS.memories, "of": LONG_TEXTS.memories, "from": "built from the database"})
    );
    let after_warmup = agent.call("recall_memory", question).expect("the call succeeds");
    assert_eq!(after_warmup["degraded"], json!(["embedding"]), "{after_warmup}");
}

#[test]
fn a_daemon_can_be_stopped_or_killed_during_the_warmup() {
    let home = home(LONG_TEXTS);
    for end_by in ["stop", "kill"] {
        assert!(home.loci(&["ctl", "start"]).status.success());
        let status = home.status();
        assert_eq!(status["index"]["state"], "loading", "{end_by}: {status}");
        if end_by == "stop" {
            assert!(home.loci(&["ctl", "stop"]).status.success());
            let conn = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
            let open: i64 = conn
                .query_row("SELECT count(*) FROM meta WHERE key = 'open'", [], |row| row.get(0))
                .expect("the query returns a row");
            assert_eq!(open, 0, "the database was closed properly");
            let log = home.log();
            assert!(
                log.matches("the index is loaded").count() == 1 && !log.contains("ERROR"),
                "only the first daemon loaded the index: {log}"
            );
        } else {
            let pid = status["pid"]
                .as_u64()
                .and_then(|pid| u32::try_from(pid).ok())
                .expect("the status has a pid");
            signal("-KILL", [pid]);
            wait_until("it is gone", || !std::path::Path::new(&format!("/proc/{pid}")).exists());
        }
    }
    assert_eq!(home.session().recall("zebra"), ["The zebra crossing is closed until Friday"]);
}

#[test]
fn a_very_large_store_starts_from_its_snapshot() {
    let home = home(MANY_MEMORIES);
    let file = home.path(".loci/memory.db-index");
    let snapshot_contains = |needle: &str| {
        std::fs::read(&file)
            .expect("the file can be read")
            .windows(needle.len())
            .any(|part| part == needle.as_bytes())
    };
    let from = |expected: &str| {
        assert!(home.loci(&["ctl", "start"]).status.success());
        wait_until("the index is loaded", || index(&home)["state"] == "ready");
        assert_eq!((index(&home)["from"].as_str(), file.exists()), (Some(expected), false));
    };
    from("built from the database");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert_eq!(file.metadata().expect("the file exists").permissions().mode() & 0o777, 0o600);
    assert!(snapshot_contains("zebra"), "the snapshot contains the text before the hard delete");
    from("loaded from the snapshot");
    let doctor = home.loci(&["doctor"]);
    let report = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(report.contains("loaded from the snapshot"), "{report}");
    let found =
        home.session().call("recall_memory", json!({"query": "zebra"})).expect("the call succeeds");
    let id = found["results"][0]["id"].as_str().expect("a JSON string").to_owned();
    assert!(home.loci(&["forget", &id, "--hard", "--yes"]).status.success());
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert!(!snapshot_contains("zebra"));
    from("loaded from the snapshot");
}
