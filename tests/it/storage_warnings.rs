//! What a person sees of failing storage: failed checkpoints, folders opened to others, lasting
//! notices; and locks that are links.
//!
//! Not here: a full or read-only disk (`full_disk`).

use crate::home::TestHome;
use crate::in_time::{ExitInTime, OutputInTime};
use crate::wire::{Daemon, wait_until};
use serde_json::{Value, json};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// Returns the kinds of the storage warnings.
fn warnings(home: &TestHome) -> Vec<String> {
    let status = home.status();
    let storage = status["storage"].as_array().expect("a JSON array");
    storage.iter().filter_map(|warning| warning["kind"].as_str()).map(str::to_owned).collect()
}

fn doctor(home: &TestHome) -> String {
    String::from_utf8(home.loci(&["doctor"]).stdout).expect("the output is UTF-8")
}

/// A limit of the file size makes writes beyond it fail: those of the database, not of its log.
#[test]
fn failing_checkpoints_are_warned_about_until_one_succeeds() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for number in 0..250 {
        agent.store("semantic", &format!("Entry {number} {}", "of some length ".repeat(270)));
    }
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let script = "trap '' XFSZ; exec prlimit --fsize=700000:unlimited \"$0\"";
    let mut command = home.command_at("/bin/sh".as_ref());
    command.args(["-c", script]).arg(crate::home::binaries().join("locid"));
    let daemon = Daemon::start(&home, &mut command);
    agent.store("semantic", "A short entry");
    wait_until("three checkpoints failed", || warnings(&home).contains(&"checkpoints_fail".into()));
    let recalled = agent.call("recall_memory", json!({"query": "short"})).expect("it answers");
    assert!(
        recalled["notice"].as_str().is_some_and(|text| text.contains("database")),
        "{recalled}"
    );
    assert!(doctor(&home).contains("fail  storage   The database file cannot be written"));
    let log = daemon.log();
    assert!(log.lines().filter(|line| line.contains("WARN")).count() <= 4, "{log}");
    let lifted = Command::new("prlimit")
        .args(["--fsize=unlimited", "--pid", &daemon.pid().to_string()])
        .exit_in_time();
    assert!(lifted.expect("prlimit runs").success());
    wait_until("a checkpoint succeeds", || !warnings(&home).contains(&"checkpoints_fail".into()));
    assert_eq!(agent.recall("short").first().map(String::as_str), Some("A short entry"));
}

#[test]
fn folders_and_files_opened_while_it_runs_are_named_with_their_chmod() {
    let home = TestHome::without_model();
    home.session().store("semantic", "One fact");
    for (path, open, closed) in [(".loci", 0o777, 0o700), (".loci/memory.db", 0o666, 0o600)] {
        let path = home.path(path);
        let mode = |mode| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, mode).expect("the mode is set");
        };
        mode(open);
        assert!(warnings(&home).contains(&"open_to_others".into()));
        let (found, remedy) = (doctor(&home), format!("chmod {closed:o} {}", path.display()));
        assert!(found.contains("fail  storage") && found.contains(&remedy), "{found}");
        mode(closed);
        assert!(!warnings(&home).contains(&"open_to_others".into()));
    }
}

#[test]
fn a_notice_lasts_until_it_is_dismissed() {
    let home = TestHome::without_model();
    home.session().store("semantic", "One fact");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let notices =
        json!([{"text": "18 acknowledged changes are missing", "at": 1_700_000_000_000_i64}]);
    let script = "import sqlite3, sys\nc = sqlite3.connect(sys.argv[1])\nc.execute('insert into meta(key, value) values (?, ?)', ('notices', sys.argv[2]))\nc.commit()";
    let added = Command::new("python3")
        .args(["-c", script])
        .arg(home.path(".loci/memory.db"))
        .arg(notices.to_string())
        .exit_in_time();
    assert!(added.expect("python3 runs").success());
    // With its checksums, the page would be reported as changed by something else.
    std::fs::remove_file(home.path(".loci/memory.db-sums")).expect("the checksums are removed");
    for _ in 0..2 {
        let mut agent = home.session();
        let stats = agent.call("memory_stats", json!({})).expect("the call succeeds");
        assert!(stats["notice"].to_string().contains("18 acknowledged changes"), "{stats}");
        let stats = agent.call("memory_stats", json!({})).expect("the call succeeds");
        assert_eq!(stats["notice"], Value::Null);
        assert!(doctor(&home).contains("warn  storage   18 acknowledged changes are missing"));
        assert!(home.loci(&["ctl", "restart"]).status.success());
    }
    let dismissed = home.loci(&["doctor", "--dismiss"]);
    assert_eq!(String::from_utf8_lossy(&dismissed.stdout), "1 notice removed\n", "{dismissed:?}");
    assert!(home.loci(&["ctl", "restart"]).status.success());
    assert!(warnings(&home).is_empty() || !warnings(&home).contains(&"notice".into()));
}

/// Starts the daemon while a link is at `path`; it must refuse and leave the target as it is.
fn refused_with_a_link_at(home: &TestHome, path: &Path) {
    let target = home.path("letter");
    std::fs::write(&target, "Dear Anna").expect("the file is written");
    let mode = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(&target, mode).expect("the mode is set");
    let _ = std::fs::remove_file(path);
    symlink(&target, path).expect("the link is created");
    let locid = crate::home::binaries().join("locid");
    let mut command = home.command_at("timeout".as_ref());
    let output = command.arg("10").arg(locid).output_in_time().expect("locid runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(70), "{error}");
    assert!(error.contains("is a symbolic link"), "{error}");
    assert_eq!(std::fs::read_to_string(&target).expect("the file is read"), "Dear Anna");
    let found = target.metadata().expect("the file exists").permissions().mode() & 0o777;
    assert_eq!(found, 0o644);
    std::fs::remove_file(path).expect("the link is removed");
}

#[test]
fn a_lock_that_is_a_link_is_refused_and_its_target_unchanged() {
    let home = TestHome::without_model();
    home.session().store("semantic", "One fact");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    refused_with_a_link_at(&home, &home.path(".loci/memory.db.lock"));
    refused_with_a_link_at(&home, &home.path("run/loci/locid.lock"));
    home.session().store("semantic", "Another fact");
}

#[test]
fn links_in_place_of_our_files_lead_to_no_change_elsewhere() {
    let home = TestHome::without_model();
    home.session().store("semantic", "One fact");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let target = home.path("letter");
    std::fs::write(&target, "Dear Anna").expect("the file is written");
    let log = home.path(".loci/logs/locid.log");
    std::fs::remove_file(&log).expect("the log is removed");
    let links =
        [".loci/hold", ".loci/memory.db-reserve", ".loci/memory.db-index", "run/loci/spawn.lock"];
    let links = links.map(|path| home.path(path)).into_iter().chain([log.clone()]);
    for link in links {
        let _ = std::fs::remove_file(&link);
        symlink(&target, &link).expect("the link is created");
        if link.ends_with("hold") {
            assert!(!home.loci(&["ctl", "stop", "--hold"]).status.success());
        } else {
            // A call is served, or refused by the shim; the target stays as it is in both cases.
            let _ = home.loci(&["stats"]);
            assert!(home.loci(&["ctl", "stop"]).status.success());
        }
        let text = std::fs::read_to_string(&target).expect("the file is read");
        assert_eq!(text, "Dear Anna", "{}", link.display());
        let _ = std::fs::remove_file(&link);
    }
    home.session().store("semantic", "Another fact");
}
