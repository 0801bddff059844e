//! 200 sessions of a client with hooks, opened and killed: one daemon, and no process is left.

use crate::home::{Agent, TestHome};
use crate::hooks::run_hook;
use crate::wire::{connections, wait_until};
use serde_json::json;

/// Sessions in all, and how many are open at the same time.
const SESSIONS: usize = 200;
const AT_ONCE: usize = 8;

/// Opens a session as a client does, with its MCP server, and kills it.
fn open_and_kill(home: &TestHome, number: usize) {
    let session = format!("session-{number}");
    let hook = |event: &str, prompt: &str| {
        let input =
            json!({"session_id": session, "source": "startup", "prompt": prompt}).to_string();
        run_hook(home.command("loci"), "claude", event, input.as_bytes())
    };
    hook("session-start", "");
    let agent = Agent::bare(home.command("loci").arg("mcp"));
    hook("prompt", "Where are the screws of size 3?");
    hook("subagent-start", "");
    if number.is_multiple_of(2) {
        hook("session-end", "");
    }
    // Dropped without a word, as a client that crashes.
    drop(agent);
}

#[test]
fn two_hundred_sessions_leave_one_daemon_and_no_process() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The screws of size 3 are in the red drawer");
    let pid = home.status()["pid"].clone();
    std::thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let home = &home;
            scope.spawn(move || {
                (worker..SESSIONS).step_by(AT_ONCE).for_each(|n| open_and_kill(home, n));
            });
        }
    });
    wait_until("all connections are closed", || connections(&home) == 0);
    let status = home.status();
    assert_eq!(status["pid"], pid);
    let pid = pid.as_u64().expect("a process id");
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    assert_eq!(children.unwrap_or_default().trim(), "", "the daemon has no child");
    let client = &status["hooks"]["clients"][0];
    assert_eq!(client["missed"].as_u64(), Some(0), "{client}");
    assert!(client["delivered"].as_u64().is_some_and(|count| count >= 200), "{client}");
}
