//! Files and processes that meet the database from outside: files of other programs in its place, a
//! program that holds its lock, interrupted and simultaneous migrations, many restarts.
//!
//! Not here: databases that were replaced or cut (`replaced_files`), signals (`signals`).

use crate::home::TestHome;
use crate::in_time::{ExitInTime, OutputInTime};
use crate::upgrade::home_with_schema_1;
use crate::wire::{Daemon, kill_daemon, signal, wait_until};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn a_file_that_is_no_database_is_refused_unchanged() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Stored first");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let database = home.path(".loci/memory.db");
    let whole = fs::read(&database).expect("the database is readable");
    let mut bad_magic = whole.clone();
    bad_magic[..6].copy_from_slice(b"NoSQL ");
    let mut future_format = whole.clone();
    future_format[18..20].copy_from_slice(&[9, 9]);
    let text = "A letter to somebody, longer than the header of a database. ".repeat(10);
    let cases = [("text", text.into_bytes()), ("magic", bad_magic), ("format", future_format)];
    for (name, bytes) in cases {
        fs::write(&database, &bytes).expect("the file is written");
        let run = home.command("locid").output_in_time().expect("the command runs");
        assert!(matches!(run.status.code(), Some(70 | 78)), "{name}: {run:?}");
        assert!(!run.stderr.is_empty(), "{name}: the reason is printed");
        assert!(fs::read(&database).expect("it is readable") == bytes, "{name}: it was changed");
    }
    fs::write(&database, whole).expect("the database is put back");
    assert_eq!(home.session().recall("stored first"), ["Stored first"]);
}

#[test]
fn another_program_that_reads_or_locks_the_database_delays_stores_only() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Stored first");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    // The daemon has an access to write when the lock is taken, and the store is its first.
    let mut agent = home.session();
    assert_eq!(agent.recall("stored first"), ["Stored first"]);
    let other = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    let count: i64 = other
        .query_row("SELECT count(*) FROM memories", [], |row| row.get(0))
        .expect("the query returns a row");
    assert_eq!(count, 1);
    other.execute_batch("BEGIN IMMEDIATE").expect("the database is locked");
    let start = Instant::now();
    let note = json!({"content": "Stored under the lock", "type": "semantic"});
    let refused = agent.call("store_memory", note.clone()).expect_err("the store is refused");
    assert!(refused.contains("locked") || refused.contains("busy"), "{refused}");
    assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
    assert_eq!(agent.recall("stored first"), ["Stored first"], "recall goes on");
    other.execute_batch("ROLLBACK").expect("the lock is released");
    drop(other);
    agent.call("store_memory", note).expect("the store succeeds");
    assert_eq!(agent.recall("stored").len(), 2);
}

/// Returns the size of a file; 0 if it does not exist.
fn size_of(path: &Path) -> u64 {
    path.metadata().map_or(0, |file| file.len())
}

#[test]
fn a_daemon_killed_at_any_moment_of_its_first_start_is_followed_by_one_that_serves() {
    for size in [0, 1, 4 << 10, 20 << 10, 40 << 10, 80 << 10, 120 << 10, 200 << 10] {
        let home = TestHome::without_model();
        let mut daemon = Daemon::launch(&home, &mut home.command("locid"));
        let [database, log] =
            ["memory.db", "memory.db-wal"].map(|name| home.path(".loci").join(name));
        wait_until("the schema is being written", || {
            database.exists() && size_of(&log) >= size || home.loci(&["stats"]).status.success()
        });
        signal("-KILL", [daemon.pid()]);
        daemon.wait_for_exit();
        let mut agent = home.session();
        agent.store("semantic", "Stored after an interrupted first start");
        assert_eq!(agent.recall("interrupted").len(), 1, "{size}");
        assert!(!home.path(".loci/quarantine").exists(), "there was nothing to keep aside");
    }
}

/// Starts the daemon on a database of schema 1, and kills it when the log of the migration has this
/// size, or when it serves.
fn kill_in_migration(home: &TestHome, size: u64) {
    let mut daemon = Daemon::launch(home, &mut home.command("locid"));
    let log = home.path(".loci/memory.db-wal");
    wait_until("the migration is at work or done", || {
        size_of(&log) >= size
            || daemon.log().contains("the store is open")
            || home.path("run/loci/admin.sock").exists() && home.loci(&["stats"]).status.success()
    });
    signal("-KILL", [daemon.pid()]);
    daemon.wait_for_exit();
}

#[test]
fn a_migration_killed_at_any_size_of_its_log_is_completed_without_loss() {
    for size in [1, 8 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10] {
        let home = home_with_schema_1();
        kill_in_migration(&home, size);
        let stats = home.session().call("memory_stats", json!({})).expect("the call succeeds");
        assert_eq!(
            (&stats["total_memories"], &stats["active_memories"]),
            (&json!(6), &json!(5)),
            "{size}"
        );
        let doctor = home.loci(&["doctor"]);
        assert!(!String::from_utf8_lossy(&doctor.stdout).contains("fail"), "{doctor:?}");
    }
}

#[test]
fn of_two_daemons_that_migrate_at_once_one_serves_and_the_other_exits() {
    let home = home_with_schema_1();
    let start = || {
        let mut locid: Command = home.command("locid");
        locid.stderr(Stdio::null()).spawn().expect("locid starts")
    };
    let mut daemons = [start(), start()];
    wait_until("one has exited", || {
        daemons.iter_mut().any(|daemon| daemon.try_wait().expect("it can be asked").is_some())
    });
    let codes = daemons.each_mut().map(|daemon| daemon.try_wait().expect("it can be asked"));
    let mut exits: Vec<Option<i32>> =
        codes.iter().flatten().map(std::process::ExitStatus::code).collect();
    assert_eq!(exits.pop(), Some(Some(75)));
    assert!(exits.is_empty(), "the other serves");
    let stats = home.session().call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(stats["total_memories"], 6);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    for daemon in &mut daemons {
        daemon.exit_in_time().expect("it ends");
    }
}

#[test]
fn restarts_change_no_confidence() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for (number, kind) in ["episodic", "semantic", "procedural"].into_iter().enumerate() {
        let content = format!("Something of the kind {number}");
        agent.store_with(json!({"content": content, "type": kind, "confidence": 0.8}));
    }
    drop(agent);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let old = Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    let year = "UPDATE memories SET confidence_at = confidence_at - 31536000000";
    assert_eq!(old.execute(year, []).expect("the statement runs"), 3);
    drop(old);
    let confidences = || {
        let listed = home.loci(&["list", "--json"]).stdout;
        let listed: Value = serde_json::from_slice(&listed).expect("valid JSON");
        let memories = listed["memories"].as_array().expect("a JSON array").clone();
        memories.iter().map(|memory| memory["confidence"].clone()).collect::<Vec<_>>()
    };
    let anchors = || {
        let exported = home.loci(&["export"]).stdout;
        String::from_utf8(exported).expect("the export is UTF-8")
    };
    let before = (confidences(), anchors());
    assert!(before.0.iter().all(|value| value.as_f64().is_some_and(|v| v < 0.8)), "{before:?}");
    for number in 0..20 {
        if number % 2 == 0 {
            kill_daemon(&home);
        } else {
            assert!(home.loci(&["ctl", "restart"]).status.success());
        }
        assert_eq!(confidences(), before.0, "after {number} restarts");
    }
    assert_eq!(anchors(), before.1, "nothing was written");
}
