//! What the daemon denies to itself and to others: core dumps, its memory and environment, and under
//! systemd every call that its unit does not permit.
//!
//! Not here: the settings of the unit (`tidy`), other users at the socket (`sockets`).

use crate::call_filter::apply_restrictions_of_the_unit;
use crate::home::{TestHome, binaries};
use crate::in_time::{ExitInTime, OutputInTime};
use crate::wire::{Daemon, signal, wait_until};
use loci_proto::requests::Request;
use serde_json::json;
use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output};

/// A user without rights; files and processes are given to it if the test is root.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// Gives a file or folder, with everything in it, to a user.
fn give(path: &Path, user: u32) {
    chown(path, Some(user), Some(user)).expect("the owner is changed");
    if path.is_dir() {
        let entries = fs::read_dir(path).expect("the folder can be listed");
        entries.for_each(|entry| give(&entry.expect("the entry can be read").path(), user));
    }
}

/// Returns a command as the user that the daemon runs as.
fn as_user(command: &Command, user: u32) -> Command {
    if !is_root() {
        let mut same = Command::new(command.get_program());
        same.args(command.get_args());
        return same;
    }
    let mut other = Command::new("setpriv");
    let user = user.to_string();
    other.args(["--reuid", &user, "--regid", &user, "--clear-groups", "--"]);
    other.arg(command.get_program()).args(command.get_args());
    other
}

/// Reads the environment of a process as a user.
fn environment(pid: u32, user: u32) -> Output {
    let mut read = Command::new("cat");
    read.arg(format!("/proc/{pid}/environ"));
    as_user(&read, user).current_dir("/").output_in_time().expect("the command runs")
}

/// Starts the daemon as a user without rights, and waits until it listens.
fn start_as(home: &TestHome, user: u32) -> Daemon {
    let locid = home.command("locid");
    let mut command = as_user(&locid, user);
    command.env_clear();
    command.envs(locid.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("LOCI_CANARY", "canary-4711").current_dir(home.path("project"));
    let daemon = Daemon::launch(home, &mut command);
    wait_until("the daemon listens", || home.path("run/loci/admin.sock").exists());
    daemon
}

#[test]
fn the_daemons_environment_is_unreadable_and_its_crash_dumps_no_core() {
    let user = if is_root() { NOBODY } else { nix::unistd::geteuid().as_raw() };
    let home = TestHome::without_model();
    if is_root() {
        give(&home.path(""), user);
    }
    let mut daemon = start_as(&home, user);
    let environ = format!("/proc/{}/environ", daemon.pid());
    let owner = fs::metadata(&environ).expect("the process runs").uid();
    assert_eq!(owner, 0, "the kernel gives the files of a process that is not dumpable to root");
    let refused = environment(daemon.pid(), user);
    assert!(!refused.status.success(), "its own user can read it");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("Permission denied"), "{refused:?}");
    // A process of the same user that does not protect itself can be read.
    let mut open = Command::new("sleep");
    open.arg("60");
    let mut open = as_user(&open, user).env("LOCI_CANARY", "canary-4711").spawn().expect("it runs");
    wait_until("the environment is readable", || {
        let read = environment(open.id(), user);
        String::from_utf8_lossy(&read.stdout).contains("canary-4711")
    });
    open.kill().and_then(|()| open.exit_in_time()).expect("it ends");
    let limits = fs::read_to_string(format!("/proc/{}/limits", daemon.pid())).expect("it runs");
    let core = limits.lines().find(|line| line.starts_with("Max core file size"));
    let core: Vec<&str> = core.expect("there is a limit").split_whitespace().collect();
    assert_eq!(core[4..6], ["0", "0"], "soft and hard limit");
    // Not SEGV, the first of which Rust's handler for stack overflows takes.
    signal("-ABRT", [daemon.pid()]);
    let status = daemon.wait_for_exit();
    assert_eq!((status.signal(), status.core_dumped()), (Some(libc::SIGABRT), false));
    if is_root() {
        give(&home.path(""), 0);
    }
}

#[test]
fn the_daemon_serves_with_the_model_under_every_restriction_of_its_unit() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systemd/locid.service");
    let unit = fs::read_to_string(unit).expect("the unit can be read");
    assert!(
        unit.contains("\nMemoryDenyWriteExecute=yes\n"),
        "the filter denies what the unit denies"
    );
    let home = TestHome::new();
    let mut command = home.command("locid");
    if !apply_restrictions_of_the_unit(&mut command, &unit) {
        loci_testkit::skipped::skip(
            "no systemd-analyze or no headers of the kernel: no filter was built",
        );
        return;
    }
    let mut daemon = Daemon::start(&home, &mut command);
    let mut agent = home.session();
    let stored =
        agent.store_with(json!({"content": "The ferry leaves at nine", "type": "semantic"}));
    assert!(stored.get("degraded").is_none(), "the model encoded the text: {stored:?}");
    assert_eq!(agent.recall("When does the boat depart?"), ["The ferry leaves at nine"]);
    let all = home.path("all.jsonl");
    let all = all.to_str().expect("the path is UTF-8");
    for command in [
        &["compact"][..],
        &["export", "--output", all],
        &["reset", "--yes"],
        &["import", all],
        &["doctor"],
        &["ctl", "reload"],
    ] {
        let output = home.loci(command);
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
    assert_eq!(home.status()["pid"], daemon.pid(), "it is the daemon with the filter");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert_eq!(daemon.wait_for_exit().code(), Some(0), "{}", daemon.log());
    assert!(!daemon.log().contains("ERROR"), "{}", daemon.log());
}

/// As `ReadWritePaths=`, `ProtectSystem=strict` and `PrivateNetwork=` of the drop-in file: only the
/// data folder and the socket folder can be written.
const READ_ONLY: &str = r#"
    mount --make-rprivate / 2> /dev/null || true
    mount --bind "$HOME/.loci" "$HOME/.loci" && mount --bind "$XDG_RUNTIME_DIR" "$XDG_RUNTIME_DIR" &&
    mount -o remount,bind,ro "$(df --output=target "$HOME" | tail -n 1)" || exit 1
    if touch "$HOME/writable" 2> /dev/null; then exit 1; fi
    exec "$0"
"#;

#[test]
fn the_daemon_serves_where_only_its_folders_can_be_written() {
    let home = TestHome::new();
    let sandbox = |program: &Path| {
        let mut command = home.command_at("unshare".as_ref());
        command.args(["--map-root-user", "--mount", "--net", "--", "sh", "-c", READ_ONLY]);
        command.arg(program);
        command
    };
    if !sandbox(Path::new("true")).exit_in_time().is_ok_and(|status| status.success()) {
        loci_testkit::skipped::skip("this user may have no namespaces: nothing was made read-only");
        return;
    }
    let daemon = Daemon::start(&home, &mut sandbox(&binaries().join("locid")));
    let mut agent = home.session();
    let stored =
        agent.store_with(json!({"content": "The ferry leaves at nine", "type": "semantic"}));
    assert!(stored.get("degraded").is_none(), "the model encoded the text: {stored:?}");
    assert_eq!(agent.recall("When does the boat depart?"), ["The ferry leaves at nine"]);
    let all = home.path("all.jsonl");
    let all = all.to_str().expect("the path is UTF-8");
    for command in [&["export", "--output", all][..], &["reset", "--yes"], &["import", all]] {
        let output = home.loci(command);
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
    assert_eq!(agent.recall("ferry"), ["The ferry leaves at nine"]);
    assert_eq!(home.status()["pid"], daemon.pid(), "it is the daemon in the sandbox");
}

/// Tries what the filter denies; prints one line for each attempt that succeeds.
const DENIED: &str = r"
import ctypes, mmap, socket
def attempt(name, call):
    try:
        call()
        print(name)
    except OSError:
        pass
attempt('writable and executable', lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC))
attempt('internet', lambda: socket.socket(socket.AF_INET))
attempt('local', lambda: socket.socket(socket.AF_UNIX))
attempt('writable', lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE))
";

#[test]
fn the_filter_of_the_unit_denies_executable_memory_and_the_internet() {
    let unit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systemd/locid.service");
    let unit = fs::read_to_string(unit).expect("the unit can be read");
    let attempts = |is_filtered: bool| {
        let mut python = Command::new("python3");
        python.args(["-c", DENIED]);
        if is_filtered && !apply_restrictions_of_the_unit(&mut python, &unit) {
            return None;
        }
        let output = python.output_in_time().expect("python3 runs");
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let Some(filtered) = attempts(true) else {
        loci_testkit::skipped::skip(
            "no systemd-analyze or no headers of the kernel: no filter was built",
        );
        return;
    };
    assert_eq!(filtered, "local\nwritable\n");
    let free = attempts(false).unwrap_or_default();
    assert_eq!(free, "writable and executable\ninternet\nlocal\nwritable\n");
}

#[test]
fn a_session_cannot_call_any_verb_that_only_people_may() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Kept");
    let tools = agent.request("tools/list", json!({}))["result"]["tools"].clone();
    let is_tool = |verb: &&str| {
        tools.as_array().expect("a JSON array").iter().any(|tool| tool["name"] == *verb)
    };
    let (for_agents, for_people): (Vec<&str>, Vec<&str>) =
        Request::VERBS.iter().map(|(name, _)| *name).partition(is_tool);
    assert!(for_agents.len() == 8 && for_people.len() >= 19, "{for_agents:?} {for_people:?}");
    for verb in for_people.into_iter().chain(["export", "import", "stop", "drain"]) {
        let reply = agent.request("tools/call", json!({"name": verb, "arguments": {}}));
        assert_eq!(reply["error"]["code"], -32602, "{verb}: {reply}");
    }
    assert_eq!(agent.recall("kept"), ["Kept"]);
}
