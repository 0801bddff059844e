//! Nothing leaves the machine, and no memory's text reaches a log.

use crate::home::{Agent, TestHome};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use serde_json::json;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Command;

/// Makes the kernel kill the command, and all processes that it starts, at the first non-local
/// socket.
fn allow_only_local_sockets(command: &mut Command) {
    let family = |number: i32| {
        let value = u64::try_from(number).expect("the number is not negative");
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
            .expect("the condition is valid");
        SeccompRule::new(vec![condition]).expect("the rule is valid")
    };
    let rules = [(libc::SYS_socket, vec![family(libc::AF_INET), family(libc::AF_INET6)])]
        .into_iter()
        .collect();
    let arch = TargetArch::try_from(std::env::consts::ARCH).expect("the architecture is supported");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::KillProcess, arch)
        .expect("the filter is valid");
    let program: BpfProgram = filter.try_into().expect("the filter compiles");
    // SAFETY: applying a filter is two system calls on memory allocated before the fork.
    unsafe {
        command
            .pre_exec(move || seccompiler::apply_filter(&program).map_err(std::io::Error::other));
    }
}

#[test]
fn daemon_store_and_recall_open_only_local_sockets() {
    let home = TestHome::new();
    let mut command = home.command("loci");
    allow_only_local_sockets(command.arg("mcp"));
    let mut agent = Agent::bare(&mut command);
    let stored = agent
        .request("tools/call", json!({"name": "store_memory", "arguments": {"content": "The ferry leaves at nine", "type": "semantic"}}));
    assert!(
        stored["result"]["structuredContent"].get("degraded").is_none(),
        "the model encoded the text: {stored}"
    );
    assert_eq!(agent.recall("When does the boat depart?"), ["The ferry leaves at nine"]);
    assert_eq!(home.status()["model"]["state"], "ready");
}

#[test]
fn the_socket_filter_kills_a_process_with_an_internet_socket() {
    let mut probe = Command::new("bash");
    allow_only_local_sockets(probe.args(["-c", "exec 3<>/dev/tcp/127.0.0.1/9"]));
    assert_eq!(probe.status().expect("the command runs").signal(), Some(libc::SIGSYS));
}

#[test]
fn no_log_contains_a_memory_or_a_query_at_any_level() {
    let home = TestHome::without_model().with("LOCI_LOG_LEVEL", "trace");
    let mut agent = home.session();
    agent.store_with(json!({"content": "canary-content-4711", "type": "semantic", "metadata": {"subject": "canary-metadata-4711"}}));
    agent.recall("canary-question-4711");
    let _refused = agent.call(
        "store_memory",
        json!({"content": "canary-refused-4711", "type": "canary-type-4711"}),
    );
    drop(agent);
    let log = home.log();
    assert!(!log.is_empty(), "the daemon has written a log");
    assert!(!log.contains("4711"), "{log}");
}
