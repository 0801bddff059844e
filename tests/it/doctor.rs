//! `loci doctor`: a healthy installation, and each fault that it can find.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use crate::wire::Daemon;
use serde_json::Value;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;

/// Returns the exit code, and the findings as `part verdict`.
fn doctor(home: &TestHome) -> (Option<i32>, Vec<Value>) {
    let output = home.loci(&["doctor", "--json"]);
    let reply: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), reply["findings"].as_array().expect("a JSON array").clone())
}

fn found<'a>(findings: &'a [Value], part: &str, verdict: &str) -> Vec<&'a str> {
    let these =
        findings.iter().filter(|finding| finding["part"] == part && finding["verdict"] == verdict);
    these.filter_map(|finding| finding["found"].as_str()).collect()
}

#[test]
fn doctor_finds_nothing_wrong_in_a_healthy_installation() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", ["One fact", "Another thing", "A third one"]);
    let (code, findings) = doctor(&home);
    assert_eq!(code, Some(0), "{findings:?}");
    for part in ["daemon", "socket", "config", "model", "network", "database", "index", "disk"] {
        assert!(!found(&findings, part, "ok").is_empty(), "{part}: {findings:?}");
    }
    assert!(findings.iter().all(|finding| finding["verdict"] != "fail"), "{findings:?}");
    assert!(
        found(&findings, "index", "ok")[0].starts_with("3 memories and 3 vectors"),
        "{findings:?}"
    );
    let text = String::from_utf8_lossy(&home.loci(&["doctor"]).stdout).into_owned();
    assert!(text.lines().any(|line| line.starts_with("ok    daemon    locid ")), "{text}");
}

#[test]
fn a_wrong_configuration_and_a_missing_model_are_named_with_the_next_step() {
    let home = TestHome::without_model();
    home.session().store("semantic", "One fact");
    home.configure("[storage]\ndb_pth = 1\n");
    let (code, findings) = doctor(&home);
    assert_eq!(code, Some(1));
    assert!(found(&findings, "config", "fail")[0].contains("config.toml"), "{findings:?}");
    assert!(!found(&findings, "model", "warn").is_empty(), "{findings:?}");
    assert!(
        findings
            .iter()
            .all(|finding| finding["verdict"] == "ok" || finding["next_step"].is_string()),
        "{findings:?}"
    );
    home.configure("");
}

#[test]
fn doctor_checks_the_files_if_the_daemon_cannot_be_started() {
    let home = TestHome::without_model();
    home.session().store("semantic", "One fact");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let db = home.path(".loci/memory.db");
    let whole = std::fs::read(&db).expect("the file can be read");
    std::fs::write(
        &db,
        "no database at all, but a text that is longer than its header would be. ".repeat(4),
    )
    .expect("the file is written");
    let (code, findings) = doctor(&home);
    assert_eq!(code, Some(1));
    assert!(found(&findings, "daemon", "fail")[0].contains("cannot be started"), "{findings:?}");
    assert!(found(&findings, "database", "fail")[0].contains("is not a database"), "{findings:?}");
    std::fs::write(&db, whole).expect("the file is written");
    std::fs::set_permissions(home.path(".loci"), std::fs::Permissions::from_mode(0o755))
        .expect("the permissions are set");
    let (_, findings) = doctor(&home);
    assert!(found(&findings, "database", "fail")[0].contains("is open to others"), "{findings:?}");
    std::fs::set_permissions(home.path(".loci"), std::fs::Permissions::from_mode(0o700))
        .expect("the permissions are set");
    assert_eq!(doctor(&home).0, Some(0));
}

#[test]
fn doctor_finds_files_that_others_can_read() {
    let home = TestHome::without_model();
    let file = home.path("m.jsonl");
    let script = format!(
        "umask 000; loci ctl start && loci export --output {0} && loci reset --yes && loci import {0}",
        file.display()
    );
    let mut command = home.command("loci");
    let path = format!(
        "{}:{}",
        crate::home::binaries().display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let shell: Vec<(String, String)> = command
        .get_envs()
        .filter_map(|(k, v)| Some((k.to_str()?.to_owned(), v?.to_str()?.to_owned())))
        .collect();
    command = std::process::Command::new("sh");
    let done = command
        .env_clear()
        .envs(shell)
        .env("PATH", path)
        .args(["-c", &script])
        .output_in_time()
        .expect("the command runs");
    assert!(done.status.success(), "{done:?}");
    assert_eq!(file.metadata().expect("the file exists").permissions().mode() & 0o777, 0o600);
    for folder in [home.path(".loci"), home.path("run/loci")] {
        private(&folder);
    }
}

fn private(path: &std::path::Path) {
    let found = std::fs::symlink_metadata(path).expect("the file exists");
    assert_eq!(found.permissions().mode() & 0o077, 0, "{} is open to others", path.display());
    if found.is_dir() {
        std::fs::read_dir(path)
            .expect("the folder can be listed")
            .for_each(|entry| private(&entry.expect("the entry can be read").path()));
    }
}

#[test]
fn an_internet_socket_that_the_daemon_was_started_with_is_found() {
    let home = TestHome::without_model();
    let listener = TcpListener::bind("127.0.0.1:0").expect("the socket binds");
    let mut command = home.command_at("/bin/sh".as_ref());
    command.args(["-c", "exec 9<&0 0</dev/null; exec \"$0\""]);
    command.arg(crate::home::binaries().join("locid")).stdin(OwnedFd::from(listener));
    let mut daemon = Daemon::start(&home, &mut command);
    drop(command);
    let (code, findings) = doctor(&home);
    let network = found(&findings, "network", "fail");
    assert_eq!((code, network.len()), (Some(1), 1), "{findings:?}");
    assert!(network[0].contains("not local are open: 9 (Inet)"), "{network:?}");
    // A daemon that loci starts inherits nothing.
    assert!(home.loci(&["ctl", "restart"]).status.success());
    daemon.wait_for_exit();
    assert!(found(&doctor(&home).1, "network", "ok")[0].starts_with("no internet socket is open"));
}
