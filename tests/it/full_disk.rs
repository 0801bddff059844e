//! A full disk: each call reports it, stored memories remain, and with free space the same session
//! continues.
//!
//! The data folder is a small file system of its own, mounted in a namespace of the shim, which its
//! daemons share. That needs no privileges where user namespaces are allowed. Elsewhere only the
//! engine's own test of a full database remains.

use crate::home::{Agent, TestHome};
use crate::in_time::ExitInTime;
use crate::wire::wait_until;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shell command that runs before the shim starts.
const MOUNT: &str = r#"mount -t tmpfs -o size=4m,mode=0700 tmpfs "$HOME/.loci""#;
/// The same with room for the reserve.
const LARGER: &str = r#"mount -t tmpfs -o size=24m,mode=0700 tmpfs "$HOME/.loci""#;
/// A bind mount that can only be read until a line is written to the pipe `go`.
const READ_ONLY: &str = r#"mount --bind "$HOME/.loci" "$HOME/.loci" && mount -o remount,ro,bind "$HOME/.loci" && mkfifo "$HOME/go" &&
    { { read -r _ < "$HOME/go"; mount -o remount,rw,bind "$HOME/.loci"; } & }"#;

/// A session whose data folder is a file system of 4 MiB.
struct OnDisk {
    agent: Agent,
    disk: PathBuf,
}

impl OnDisk {
    /// Returns `None` if this user may not create namespaces.
    fn session(home: &TestHome, prepare: &str) -> Option<Self> {
        Self::mounted(home, &format!("{MOUNT} && {prepare}"))
    }

    /// The same with another mount.
    fn mounted(home: &TestHome, prepare: &str) -> Option<Self> {
        let mut command = small_disk(home, &format!("{prepare} && exec \"$0\" mcp"));
        command.arg(crate::home::binaries().join("loci"));
        if !small_disk(home, MOUNT).exit_in_time().is_ok_and(|status| status.success()) {
            loci_testkit::skipped::skip("this user may have no namespaces: no disk was filled");
            return None;
        }
        let agent = Agent::bare(&mut command);
        // The shim's view of the file system, which contains the disk.
        let disk = Path::new("/proc")
            .join(agent.pid().to_string())
            .join("root")
            .join(home.path(".loci").strip_prefix("/").ok()?);
        Some(Self { agent, disk })
    }

    /// Fills the disk completely.
    fn fill(&self) {
        let mut filler = File::create(self.disk.join("filler")).expect("the file is created");
        for part in [vec![0; 4096], vec![0; 1]] {
            while filler.write_all(&part).is_ok() {}
        }
    }

    fn free_space(&self) {
        // Truncated, not deleted: a process that another test is starting may hold it open for a
        // moment.
        File::create(self.disk.join("filler")).expect("the file is truncated");
    }

    /// Stores a text of 4 KiB.
    fn store(&mut self, number: usize) -> Result<(), String> {
        let content = format!("Entry {number} {}", "of some length ".repeat(270));
        self.agent.call("store_memory", json!({"content": content, "type": "semantic"})).map(drop)
    }
}

/// Returns a shell in its own namespace, in which this user may mount.
fn small_disk(home: &TestHome, script: &str) -> Command {
    let mut command = home.command_at("unshare".as_ref());
    command.args(["--map-root-user", "--mount", "--", "/bin/sh", "-c", script]);
    command
}

/// Returns a home whose configuration file is not on the small disk.
fn home() -> TestHome {
    let home = TestHome::without_model();
    std::fs::rename(home.path(".loci/config.toml"), home.path("config.toml"))
        .expect("the file is moved");
    let config = home.path("config.toml");
    home.with("LOCI_CONFIG", config)
}

#[test]
fn each_store_reports_a_full_disk_and_the_session_recovers() {
    // The log is on the same disk; the level `debug` fills it faster.
    let home = home().with("LOCI_LOG_LEVEL", "debug");
    let Some(mut session) = OnDisk::session(&home, "true") else { return };
    session.store(0).expect("the store succeeds");
    let daemon = home.status()["pid"].clone();
    session.fill();
    // Pages that the database has already allocated are used first.
    let stored = (1..200).find(|number| session.store(*number).is_err()).expect("a store fails");
    for _ in 0..3 {
        let error = session.store(stored).expect_err("the store fails");
        assert!(
            error.contains("the disk is full; nothing was stored")
                && error.contains("Free some space and call again"),
            "{error}"
        );
    }
    let found = session
        .agent
        .call(
            "recall_memory",
            json!({"query": "entry", "max_results": 20, "token_budget": 1_000_000}),
        )
        .expect("the call succeeds");
    assert_eq!(found["total_matched"], stored, "exactly the acknowledged memories are found");
    assert_eq!(
        session.agent.call("memory_stats", json!({})).expect("the call succeeds")["total_memories"],
        stored
    );
    drop(home.session());
    session.free_space();
    session.store(stored).expect("the store succeeds");
    assert_eq!(
        session.agent.call("memory_stats", json!({})).expect("the call succeeds")["total_memories"],
        stored + 1
    );
    assert_eq!(home.status()["pid"], daemon, "it is the same daemon");
}

#[test]
fn each_call_reports_a_disk_full_from_the_start_and_the_session_recovers() {
    let home = home();
    let fill = r#"{ cat /dev/zero > "$HOME/.loci/filler" 2>/dev/null; true; }"#;
    let Some(mut session) = OnDisk::session(&home, fill) else { return };
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    assert_eq!(session.agent.request("initialize", hello)["result"]["serverInfo"]["name"], "loci");
    let tools = session.agent.request("tools/list", json!({}))["result"]["tools"].clone();
    assert_eq!(
        tools.as_array().map(Vec::is_empty),
        Some(false),
        "the shim answers the handshake itself"
    );
    for call in 0..4 {
        let error = session.store(call).expect_err("the store fails");
        println!("{error}");
        let names_cause =
            error.contains("the disk is full") || error.contains("No space left on device");
        assert!(!error.contains("code 101"), "the daemon exits without a panic: {error}");
        assert!(
            names_cause
                && (error.contains("Free some space") || error.contains("Fix this and try again")),
            "{error}"
        );
    }
    session.free_space();
    session.store(0).expect("the store succeeds");
    assert_eq!(session.agent.recall("entry").len(), 1);
}

/// Sends the handshake, which a bare session has not sent.
fn handshake(session: &mut OnDisk) {
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    assert_eq!(session.agent.request("initialize", hello)["result"]["serverInfo"]["name"], "loci");
}

/// Returns whether the status has a storage warning of this kind.
fn has_warning(home: &TestHome, kind: &str) -> bool {
    let status = home.status();
    let warnings = status["storage"].as_array().cloned().unwrap_or_default();
    let found = warnings.iter().find(|warning| warning["kind"] == kind);
    if let Some(warning) = found {
        let message = warning["message"].as_str().expect("the warning has a message");
        let texts = status["warnings"].as_array().expect("a JSON array");
        assert!(texts.iter().any(|text| text.as_str().is_some_and(|t| t.starts_with(message))));
    }
    found.is_some()
}

/// Stores until the disk is full; returns the number of stored memories.
fn store_until_full(session: &mut OnDisk) -> usize {
    session.fill();
    (1..200).find(|number| session.store(*number).is_err()).expect("a store fails")
}

/// Waits until the daemon has opened a read-only store for writing.
fn wait_until_writable(home: &TestHome) {
    wait_until("the store can be written", || {
        let status = home.status();
        let degraded = status["degraded"].as_array().unwrap_or_else(|| panic!("{status}"));
        !degraded.iter().any(|part| part == "writing")
    });
}

#[test]
fn a_full_disk_is_reported_until_it_has_room() {
    let home = home();
    let Some(mut session) = OnDisk::mounted(&home, LARGER) else { return };
    handshake(&mut session);
    session.store(0).expect("the store succeeds");
    wait_until("the reserve exists", || {
        session.disk.join("memory.db-reserve").metadata().is_ok_and(|file| file.len() == 4 << 20)
    });
    store_until_full(&mut session);
    assert!(has_warning(&home, "disk_full"));
    let recalled = |session: &mut OnDisk| {
        session.agent.call("recall_memory", json!({"query": "entry"})).expect("the call succeeds")
    };
    let notice = recalled(&mut session)["notice"].to_string();
    assert!(notice.contains("The disk is full") && notice.contains("Free some space"), "{notice}");
    assert!(recalled(&mut session)["notice"].is_null(), "the agent has been told");
    let findings = String::from_utf8(home.loci(&["doctor"]).stdout).expect("the output is UTF-8");
    assert!(findings.contains("fail  storage   The disk is full"), "{findings}");
    session.free_space();
    wait_until("the warning ends", || !has_warning(&home, "disk_full"));
    session.store(1000).expect("the store succeeds");
}

#[test]
fn memories_are_forgotten_and_the_store_is_closed_on_a_full_disk() {
    let home = home();
    let Some(mut session) = OnDisk::mounted(&home, LARGER) else { return };
    handshake(&mut session);
    for number in 100..108 {
        session.store(number).expect("the store succeeds");
    }
    let reserve = session.disk.join("memory.db-reserve");
    wait_until("the reserve exists", || reserve.metadata().is_ok_and(|file| file.len() == 4 << 20));
    let stored = store_until_full(&mut session) - 1 + 8;
    let listed = home.loci(&["list", "--json"]).stdout;
    let listed: Value = serde_json::from_slice(&listed).expect("valid JSON");
    for (number, hard) in [(0, false), (1, true), (2, false), (3, true)] {
        let id = &listed["memories"][number]["id"];
        let forgotten =
            session.agent.call("forget_memory", json!({"memory_id": id, "hard_delete": hard}));
        forgotten.unwrap_or_else(|error| panic!("{number} {hard}: {error}"));
    }
    assert!(reserve.metadata().expect("the reserve exists").len() > 1 << 20);
    let total = |session: &mut OnDisk| {
        let stats = session.agent.call("memory_stats", json!({})).expect("the call succeeds");
        stats["total_memories"].clone()
    };
    assert_eq!(total(&mut session), stored - 2, "two were deleted");
    // Forgetting made room in the database itself.
    let more = (200..400).find(|number| session.store(*number).is_err());
    let stored = stored - 2 + more.expect("a store fails") - 200;
    assert!(reserve.metadata().expect("the reserve exists").len() > 1 << 20, "it is not used");
    let output = home.loci(&["ctl", "stop"]);
    assert!(output.status.success(), "{output:?}");
    let log = std::fs::read_to_string(session.disk.join("logs/locid.log")).unwrap_or_default();
    assert!(!log.contains("not closed cleanly"), "{log}");
    // The next call starts a daemon on the full disk.
    assert_eq!(total(&mut session), stored);
    let refused = (400..600).find_map(|number| session.store(number).err());
    let refused = refused.expect("the disk is still full");
    assert!(refused.contains("the disk is full; nothing was stored"), "{refused}");
    assert!(has_warning(&home, "disk_full"));
    session.free_space();
    wait_until("the warning ends", || !has_warning(&home, "disk_full"));
    session.store(1000).expect("it stores again");
}

#[test]
fn a_start_on_a_full_disk_without_a_reserve_serves_reading_and_later_writing() {
    let home = home();
    let Some(mut session) = OnDisk::session(&home, "true") else { return };
    handshake(&mut session);
    session.store(0).expect("the store succeeds");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    session.fill();
    assert_eq!(session.agent.recall("entry").len(), 1);
    let refused = session.store(1).expect_err("the store is refused");
    assert!(refused.starts_with("storage_failed: the disk is full"), "{refused}");
    assert!(has_warning(&home, "disk_full"));
    let daemon = home.status()["pid"].clone();
    session.free_space();
    wait_until_writable(&home);
    session.store(2).expect("it stores again");
    assert_eq!(home.status()["pid"], daemon, "without a restart");
    assert!(!has_warning(&home, "disk_full"));
}

#[test]
fn a_read_only_data_folder_is_served_and_written_again_when_it_can_be() {
    for crash in [false, true] {
        let home = home();
        let mut agent = home.session();
        agent.store("semantic", "Entry of the time before");
        if crash {
            crate::wire::signal(
                "-KILL",
                home.status()["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok()),
            );
            wait_until("it is gone", || !home.loci(&["ctl", "status"]).status.success());
            let log = home.path(".loci/memory.db-wal");
            assert!(log.metadata().is_ok_and(|file| file.len() > 0), "the log has the memory");
        } else {
            assert!(home.loci(&["ctl", "stop"]).status.success());
        }
        drop(agent);
        let Some(mut session) = OnDisk::mounted(&home, READ_ONLY) else { return };
        handshake(&mut session);
        assert_eq!(session.agent.recall("entry"), ["Entry of the time before"], "crash: {crash}");
        let error = session.store(1).expect_err("the store is refused");
        assert!(error.starts_with("storage_failed: the data folder is read-only"), "{error}");
        assert!(has_warning(&home, "read_only"));
        for command in [&["list"][..], &["export"], &["stats"], &["ctl", "status"]] {
            let output = home.loci(command);
            assert!(output.status.success(), "{command:?}: {output:?}");
        }
        let doctor = String::from_utf8(home.loci(&["doctor"]).stdout).expect("the output is UTF-8");
        assert!(doctor.contains("fail  storage"), "{doctor}");
        let mut go = File::options().write(true).open(home.path("go")).expect("the pipe opens");
        writeln!(go, "go").expect("the line is written");
        wait_until_writable(&home);
        session.store(2).expect("it stores again");
        assert_eq!(session.agent.recall("entry").len(), 2);
        assert!(!has_warning(&home, "read_only"));
    }
}
