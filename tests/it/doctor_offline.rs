//! `loci doctor --offline`: checks the files of a store without a daemon, and writes nothing.
//!
//! Not here: `loci doctor` through the daemon (`doctor`).

use crate::cli_screens::Scene;
use crate::home::TestHome;
use crate::normalize::normalize_numbers;
use crate::upgrade::write_schema;
use crate::wire::kill_daemon;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Content and time of change of every file below a folder.
type Files = BTreeMap<PathBuf, (Vec<u8>, SystemTime)>;

fn files(folder: &Path, into: &mut Files) {
    for entry in fs::read_dir(folder).expect("the folder can be listed") {
        let path = entry.expect("the entry can be read").path();
        if path.is_dir() {
            files(&path, into);
        } else {
            let changed = path.metadata().and_then(|found| found.modified());
            let bytes = fs::read(&path).expect("the file can be read");
            into.insert(path, (bytes, changed.expect("the time can be read")));
        }
    }
}

/// Runs the command; asserts that no file of the store was created, changed or removed. Returns the exit code and the findings.
fn offline(home: &TestHome, arguments: &[&str]) -> (Option<i32>, Vec<Value>) {
    let (mut before, mut after) = (Files::new(), Files::new());
    files(&home.path(".loci"), &mut before);
    let output = home.loci(&[&["doctor", "--offline", "--json"], arguments].concat());
    files(&home.path(".loci"), &mut after);
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after), "{output:?}");
    for (path, found) in &before {
        assert!(&after[path] == found, "{} was written", path.display());
    }
    let reply: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let findings = reply["findings"].as_array().unwrap_or_else(|| panic!("{output:?}"));
    (output.status.code(), findings.clone())
}

/// Returns the findings with a verdict as `part: found`.
fn with_verdict(findings: &[Value], verdict: &str) -> Vec<String> {
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let these = findings.iter().filter(|finding| finding["verdict"] == verdict);
    these.map(|finding| format!("{}: {}", text(finding, "part"), text(finding, "found"))).collect()
}

fn has(found: &[String], text: &str) -> bool {
    found.iter().any(|found| found.contains(text))
}

fn stop(home: &TestHome) {
    assert!(home.loci(&["ctl", "stop"]).status.success());
}

/// Compares the screens of the command, beside a daemon and without one.
pub fn screens(scene: &Scene) {
    let screen = || normalize_numbers(&scene.screen(&["doctor", "--offline"]));
    insta::assert_snapshot!("beside_a_daemon", screen());
    assert!(scene.home.loci(&["ctl", "stop", "--hold"]).status.success());
    insta::assert_snapshot!("without_a_daemon", screen());
    assert!(scene.home.loci(&["ctl", "start"]).status.success());
}

#[test]
fn a_store_is_checked_without_a_daemon_and_no_byte_of_it_changes() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", ["One fact", "Another thing"]);
    agent.store("episodic", "Something happened");
    agent.close();
    assert!(home.loci(&["backup", "create"]).status.success());
    stop(&home);
    let (code, findings) = offline(&home, &["--deep"]);
    let ok = with_verdict(&findings, "ok");
    assert_eq!((code, ok.len()), (Some(0), findings.len()), "{findings:#?}");
    for text in [
        "daemon: none runs",
        "config.toml is valid",
        "model: every file is complete",
        "storage: the data folder is private",
        "every page and every index is intact",
        "every reference is valid",
        "every memory matches its hash",
        "pages match their checksums",
        "the store was closed; its log is empty",
        "3 active memories (1 episodic, 2 semantic); 0 others",
        "vectors: 3 of 3 active memories have vectors of all-MiniLM-L6-v2",
        "index: at the next start it is built from the database",
        "verified 3 of 3 memories",
        "backup: 1 backup,",
        "disk: ",
    ] {
        assert!(has(&ok, text), "{text}: {findings:#?}");
    }
    // No daemon was started for it.
    assert!(!home.loci(&["ctl", "status"]).status.success());
}

#[test]
fn a_store_that_was_not_closed_is_read_with_its_log() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store_all("semantic", ["One fact", "Another thing"]);
    // A shim would start another daemon.
    agent.close();
    kill_daemon(&home);
    let (code, findings) = offline(&home, &[]);
    let ok = with_verdict(&findings, "ok");
    assert_eq!(code, Some(0), "{findings:#?}");
    assert!(
        has(&ok, "the store was not closed: the next start checks it; its log has "),
        "{ok:#?}"
    );
    assert!(has(&ok, "2 active memories (2 semantic)"), "{ok:#?}");
}

#[test]
fn beside_a_running_daemon_it_is_refused_with_the_next_step() {
    let home = TestHome::without_model();
    home.session().store("semantic", "One fact");
    let pid = home.status()["pid"].clone();
    let refused = home.loci(&["doctor", "--offline"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(said.contains(&format!("the store is in use by process {pid}")), "{said}");
    assert!(said.contains("loci ctl stop --hold"), "{said}");
    assert!(refused.stdout.is_empty(), "{refused:?}");
    assert_eq!(home.status()["pid"], pid);
}

#[test]
fn an_older_or_newer_store_is_named_and_not_migrated() {
    let home = TestHome::without_model();
    let path = home.path(".loci/memory.db");
    write_schema(7, &path);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("the mode is set");
    let (code, findings) = offline(&home, &[]);
    let warned = with_verdict(&findings, "warn");
    assert_eq!(code, Some(0), "{findings:#?}");
    assert!(has(&warned, "has schema 7 and"), "{findings:#?}");
    assert!(has(&with_verdict(&findings, "ok"), "every page and every index is intact"));
    let conn = rusqlite::Connection::open(&path).expect("the database opens");
    conn.pragma_update(None, "user_version", 99).expect("the version is set");
    drop(conn);
    let (code, findings) = offline(&home, &[]);
    let failed = with_verdict(&findings, "fail");
    assert_eq!(code, Some(1), "{findings:#?}");
    assert!(has(&failed, "was written by a newer loci (schema 99)"), "{findings:#?}");
}

#[test]
fn a_damaged_a_lost_and_a_missing_store_are_named_with_what_helps() {
    let home = TestHome::without_model();
    let (code, findings) = offline(&home, &[]);
    assert_eq!(code, Some(0), "{findings:#?}");
    assert!(has(&with_verdict(&findings, "ok"), "memory.db does not exist yet"), "{findings:#?}");

    let mut agent = home.session();
    for number in 0..200 {
        agent.store("semantic", &format!("Entry {number} {}", "of some length ".repeat(40)));
    }
    agent.close();
    stop(&home);
    let path = home.path(".loci/memory.db");
    let whole = fs::read(&path).expect("the database is readable");
    let mut damaged = whole.clone();
    damaged[8192..65_536].fill(0xA5);
    fs::write(&path, &damaged).expect("the database is written");
    let (code, findings) = offline(&home, &[]);
    assert_eq!(code, Some(1), "{findings:#?}");
    let helps = |findings: &[Value]| {
        findings.iter().any(|finding| {
            let next_step = finding["next_step"].as_str().unwrap_or_default();
            finding["verdict"] == "fail" && next_step.contains("loci doctor --recover")
        })
    };
    assert!(helps(&findings), "{findings:#?}");

    fs::remove_file(&path).expect("the database is removed");
    let (code, findings) = offline(&home, &[]);
    assert_eq!(code, Some(1), "{findings:#?}");
    assert!(has(&with_verdict(&findings, "fail"), "is missing, but it had 200 memories"));
    assert!(helps(&findings), "{findings:#?}");
    fs::write(&path, &whole).expect("the database is written");
}
