//! A full disk: each call reports it, stored memories remain, and with free space the same session
//! continues.
//!
//! The data folder is a small file system of its own, mounted in a namespace of the shim, which its
//! daemons share. That needs no privileges where user namespaces are allowed. Elsewhere only the
//! engine's own test of a full database remains.

use crate::home::{Agent, TestHome};
use serde_json::json;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shell command that runs before the shim starts.
const MOUNT: &str = r#"mount -t tmpfs -o size=4m,mode=0700 tmpfs "$HOME/.loci""#;

/// A session whose data folder is a file system of 4 MiB.
struct OnDisk {
    agent: Agent,
    disk: PathBuf,
}

impl OnDisk {
    /// Returns `None` if this user may not create namespaces.
    fn session(home: &TestHome, prepare: &str) -> Option<Self> {
        let mut command = small_disk(home, &format!("{MOUNT} && {prepare} && exec \"$0\" mcp"));
        command.arg(crate::home::binaries().join("loci"));
        if !small_disk(home, MOUNT).status().is_ok_and(|status| status.success()) {
            crate::skipped::skip("this user may have no namespaces: no disk was filled");
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
