//! Start and exit of the daemon, and the permissions of its files.

use crate::home::{Agent, TestHome};
use crate::in_time::{ExitInTime, OutputInTime};
use crate::wire::{kill_daemon, wait_until};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

#[test]
fn status_start_and_stop_report_the_actual_state() {
    let home = TestHome::without_model();
    let absent = home.loci(&["ctl", "status"]);
    assert_eq!(absent.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&absent.stderr).contains("locid is not running"));
    assert!(home.loci(&["ctl", "start"]).status.success());
    let status = home.status();
    assert_eq!((&status["sessions"], &status["memories"]), (&json!([]), &json!(0)));
    assert!(home.loci(&["ctl", "status"]).status.success());
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert_eq!(home.loci(&["ctl", "status"]).status.code(), Some(3));
    assert!(home.loci(&["ctl", "stop"]).status.success(), "stopping twice succeeds");
}

#[test]
fn a_stop_lasts_until_the_next_tool_call() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Written before the stop");
    let first = home.status()["pid"].clone();
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert_eq!(
        home.loci(&["ctl", "status"]).status.code(),
        Some(3),
        "an idle shim starts no daemon"
    );
    assert_eq!(agent.recall("written"), ["Written before the stop"]);
    assert_ne!(home.status()["pid"], first);
}

#[test]
fn a_killed_daemon_costs_the_session_nothing() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Stored before the crash");
    kill_daemon(&home);
    agent.store("semantic", "Stored after the crash");
    assert_eq!(agent.recall("stored crash").len(), 2);
}

#[test]
fn closing_a_session_ends_its_shim_and_leaves_the_daemon() {
    let home = TestHome::without_model();
    let agent = home.session();
    let pid = agent.pid();
    assert_eq!(agent.close(), Some(0));
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
    wait_until("the daemon removes the session", || home.status()["sessions"] == json!([]));
}

#[test]
fn every_file_and_folder_is_private() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Private");
    for folder in [home.path(".loci"), home.path("run/loci")] {
        assert_private(&folder);
    }
    drop(agent);
}

fn assert_private(path: &Path) {
    let found = std::fs::symlink_metadata(path).expect("the file exists");
    assert_eq!(found.permissions().mode() & 0o077, 0, "{} is open to others", path.display());
    if found.is_dir() {
        std::fs::read_dir(path)
            .expect("the folder can be listed")
            .for_each(|entry| assert_private(&entry.expect("the entry can be read").path()));
    }
}

#[test]
fn a_newer_database_is_refused_unchanged_and_the_session_recovers() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Of the older loci");
    let schema = schema(&home.path(".loci/memory.db"));
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let db = home.path(".loci/memory.db");
    set_user_version(&db, 99);
    let before = std::fs::read(&db).expect("the file can be read");
    let run = home.command("locid").output_in_time().expect("the command runs");
    assert_eq!(run.status.code(), Some(78));
    let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(stderr.contains("newer loci") && stderr.contains("schema 99"), "{stderr}");
    assert!(std::fs::read(&db).expect("the file can be read") == before, "the file was changed");
    let mut agent = Agent::bare(home.command("loci").arg("mcp"));
    for _ in 0..3 {
        let refused = agent.call("memory_stats", json!({})).expect_err("the call fails");
        assert!(refused.contains("newer loci") && refused.contains("schema 99"), "{refused}");
    }
    assert!(
        agent.request("tools/list", json!({}))["result"]["tools"].is_array(),
        "the shim answers the handshake itself"
    );
    assert!(std::fs::read(&db).expect("the file can be read") == before, "the file was changed");
    // The refusing daemon may still be shutting down and would report the old fault again.
    home.loci(&["ctl", "stop"]);
    set_user_version(&db, schema);
    assert_eq!(agent.recall("older"), ["Of the older loci"], "the refused session works again");
}

/// Returns the schema number. Opens the database, since the number may still be in the write-ahead
/// log.
fn schema(db: &Path) -> u32 {
    let conn = rusqlite::Connection::open(db).expect("the database opens");
    conn.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("the query returns a row")
}

/// Writes the schema number: byte 60 of the header, big-endian.
fn set_user_version(db: &Path, version: u32) {
    let mut bytes = std::fs::read(db).expect("the file can be read");
    bytes[60..64].copy_from_slice(&version.to_be_bytes());
    std::fs::write(db, bytes).expect("the file is written");
}

#[test]
fn a_second_daemon_on_the_same_database_exits_silently() {
    let home = TestHome::without_model();
    // A session alone may end before the daemon that it starts has the lock; then this one would serve.
    home.session().store("semantic", "The first daemon serves");
    let second = home.command("locid").output_in_time().expect("the command runs");
    assert_eq!(second.status.code(), Some(75));
    assert!(second.stderr.is_empty(), "{}", String::from_utf8_lossy(&second.stderr));
}

#[test]
fn a_terminated_daemon_closes_the_database_cleanly() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Kept");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert!(!home.path(".loci/memory.db-wal").exists(), "the log was emptied and removed");
    assert!(
        !home.path("run/loci/locid.sock").exists() && !home.path("run/loci/admin.sock").exists()
    );
}

#[test]
fn an_auto_started_daemon_exits_when_idle() {
    let home = TestHome::without_model();
    let status = home
        .command("locid")
        .args(["--auto-started", "--idle-exit", "1"])
        .exit_in_time()
        .expect("the command runs");
    assert_eq!(status.code(), Some(0));
}

/// The socket of an exiting process still accepts connections about one time in five.
#[test]
fn a_command_right_after_a_kill_is_served_by_the_next_daemon() {
    let home = TestHome::without_model();
    for _ in 0..20 {
        assert!(home.loci(&["stats"]).status.success());
        kill_daemon(&home);
        let done = home.loci(&["stats"]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
}

/// Kills the daemon of this home as a crash would.
#[test]
fn a_session_reports_its_client_and_project() {
    let home = TestHome::without_model();
    let mut agent: Agent = home.session_in("garden");
    agent.store("semantic", "Named");
    let status = home.status();
    let session = &status["sessions"][0];
    assert_eq!(
        (&session["client"], &session["group"], &session["calls"]),
        (&json!("it 1"), &json!("garden"), &json!(1))
    );
    assert_eq!(session["pid"], agent.pid());
}
