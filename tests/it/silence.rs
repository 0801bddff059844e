//! Nothing leaves the machine: every command, every tool and the daemon work without a network and
//! without an internet socket, except those that download the model.
//!
//! Not here: the download (`first_use`), and the sources that may contain network code (`tidy`).

use crate::call_filter::allow_only_local_sockets;
use crate::home::{Agent, TestHome, binaries};
use crate::in_time::{ExitInTime, OutputInTime};
use crate::terminal::Terminal;
use clap::CommandFactory;
use loci::cli::Cli;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output, Stdio};

/// The commands that may use the network, and only if the model is missing.
const MAY_DOWNLOAD: [&str; 3] = ["demo", "model download", "model use"];

/// Serves a page on loopback until it is interrupted; `view` tests it.
const SERVES: [&str; 1] = ["view"];

/// Refused by a build without encryption (`without_encryption`); `just encrypted` tests them.
const ENCRYPTION: [&str; 3] = ["encrypt", "decrypt", "rekey"];

/// Every other command, with arguments, in an order in which all succeed. `A` and `B` stand for the
/// ids of two entities, `_` for a space.
const COMMANDS: [&str; 94] = [
    "search heron",
    "list",
    "topics",
    "wander A",
    "inspect A --log",
    "add Silence_is_golden --type semantic",
    "edit A --content The_server_of_the_shop_is_called_egret",
    "pin A",
    "supersede A B",
    "undo --last --yes",
    "review",
    "fix error:_heron",
    "how pnpm",
    "import --from history --dry-run",
    "confirm A",
    "relate A knows B",
    "forget A",
    "restore A",
    "reject B --why it_failed",
    "undo --last --yes",
    "stats",
    "diff --since 1d",
    "history",
    "browse",
    "top --once",
    "hook claude prompt",
    "injected",
    "brief",
    "recall --for-hook heron",
    "undo --last --yes",
    "redo --yes",
    "scan",
    "eval",
    "doctor",
    "setup claude --yes",
    "backup create",
    "backup list",
    "backup verify",
    "export --output all.jsonl",
    "import all.jsonl",
    "import --from markdown . --dry-run",
    "dump --output all.dump",
    "export --format markdown --output notes",
    "move A --to other",
    "bridge claude --on --yes",
    "bridge codex",
    "bridge status --scan",
    "bridge list",
    "bridge history MEMORY.md",
    "bridge restore --yes",
    "bridge write claude --yes",
    "groups list",
    "groups rename project shop",
    "groups alias shop store",
    "groups merge other shop --yes",
    "move A --to attic --create",
    "groups join attic --yes",
    "groups off shop",
    "groups allow --yes",
    "groups on shop",
    "ctl incognito SESSION",
    "compact --yes",
    "cleanup --dry-run",
    "ctl maintenance status",
    "ctl maintenance plan",
    "ctl maintenance pause",
    "ctl maintenance resume",
    "ctl maintenance run",
    "ctl status",
    "ctl ps",
    "ctl cost",
    "ctl reload",
    "ctl logs",
    "serve token add phone --project shop",
    "serve token list",
    "serve token show phone",
    "serve token remove phone",
    "model status",
    "update --check",
    "uninstall --dry-run",
    "ctl install --print",
    "re-embed --dry-run",
    "re-embed --force --wait",
    "re-embed --drop-kept",
    "config show",
    "completions bash",
    "man",
    "reset --yes",
    "backup restore --yes",
    "ctl restart",
    "ctl stop --hold",
    "doctor --offline",
    "ctl start",
    "ctl drain",
];
/// The first command that ends the daemon on purpose.
const FIRST_STOP: &str = "backup restore --yes";

/// Returns every command of `loci` except the relay, as it is typed.
fn all_commands() -> BTreeSet<String> {
    fn collect(command: &clap::Command, typed: &str, found: &mut BTreeSet<String>) {
        for sub in command.get_subcommands() {
            let typed = format!("{typed} {}", sub.get_name()).trim().to_owned();
            if sub.has_subcommands() {
                collect(sub, &typed, found);
            } else {
                found.insert(typed);
            }
        }
    }
    let mut found = BTreeSet::new();
    collect(&Cli::command(), "", &mut found);
    found.remove("mcp");
    found
}

#[test]
fn every_command_is_in_the_list_of_silent_commands_or_may_download() {
    let listed = |command: &String| {
        let is_start = |line: &&&str| {
            line.strip_prefix(command.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        COMMANDS
            .iter()
            .chain(&MAY_DOWNLOAD)
            .chain(&SERVES)
            .chain(&ENCRYPTION)
            .any(|line| is_start(&line))
    };
    let missing: Vec<String> =
        all_commands().into_iter().filter(|command| !listed(command)).collect();
    assert!(missing.is_empty(), "add them to COMMANDS of tests/it/silence.rs: {missing:?}");
}

/// Returns a command in a network namespace without a route, which the kernel kills at the first
/// internet socket. Where this user may have no namespaces, only the second holds.
fn silent(home: &TestHome, arguments: &[&str], in_namespace: bool) -> Command {
    let loci = binaries().join("loci");
    let mut command = if in_namespace {
        let mut command = home.command_at("unshare".as_ref());
        command.args(["--map-root-user", "--net", "--"]).arg(loci);
        command
    } else {
        home.command_at(&loci)
    };
    allow_only_local_sockets(command.args(arguments));
    command
}

fn has_namespaces() -> bool {
    let mut probe = Command::new("unshare");
    probe.args(["--map-root-user", "--net", "--", "true"]).stderr(Stdio::null());
    let allowed = probe.exit_in_time().is_ok_and(|status| status.success());
    if !allowed {
        loci_testkit::skipped::skip(
            "this user may have no namespaces: the network was not taken away",
        );
    }
    allowed
}

/// Returns the interfaces that a process sees.
fn interfaces(pid: &Value) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/net/dev")).expect("it is readable");
    let names = text.lines().filter_map(|line| line.split_once(':'));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

/// Uses each tool in a session; returns the ids of two entities.
fn use_every_tool(agent: &mut Agent) -> [String; 2] {
    let entity = |agent: &mut Agent, name: &str, content: &str| {
        let stored = agent
            .store_with(json!({"content": content, "type": "entity", "metadata": {"name": name}}));
        assert!(stored.get("degraded").is_none(), "the model encoded the text: {stored:?}");
        stored["id"].as_str().expect("the reply has an id").to_owned()
    };
    let heron = entity(agent, "heron", "The server of the shop is called heron");
    let anna = entity(agent, "Anna", "Anna looks after the shop");
    agent.store("semantic", "The ferry leaves at nine");
    assert_eq!(agent.recall("When does the boat depart?")[0], "The ferry leaves at nine");
    let relation = json!({"subject_id": anna, "predicate": "uses", "object_id": heron});
    for (tool, arguments) in [
        ("store_relation", relation),
        ("forget_memory", json!({"memory_id": heron})),
        ("restore_memory", json!({"memory_id": heron})),
        ("memory_inspect", json!({"memory_id": heron, "include_log": true})),
        ("memory_stats", json!({})),
        ("compact_memories", json!({})),
    ] {
        agent.call(tool, arguments).unwrap_or_else(|error| panic!("{tool}: {error}"));
    }
    [heron, anna]
}

fn assert_success(typed: &str, output: &Output) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_ne!(output.status.signal(), Some(libc::SIGSYS), "{typed} opened a socket");
    assert!(output.status.success(), "{typed}: {stderr}");
}

#[test]
fn every_tool_and_command_works_without_a_network_and_without_internet_sockets() {
    let home = TestHome::new();
    let in_namespace = has_namespaces();
    let mut agent = Agent::bare(&mut silent(&home, &["mcp"], in_namespace));
    let tools = agent.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().expect("a JSON array").len();
    assert_eq!(tools, 8, "use_every_tool uses store, recall and the six others");
    let [heron, anna] = use_every_tool(&mut agent);
    let mut other = silent(&home, &["mcp"], in_namespace);
    std::fs::create_dir(home.path("other")).expect("the folder is created");
    other.current_dir(home.path("other"));
    Agent::bare(&mut other).store("episodic", "Stored in another project");
    let pid = home.status()["pid"].clone();
    if in_namespace {
        assert_eq!(interfaces(&pid), ["lo"], "the daemon has no network");
    }
    crate::bridge::claude_memory(&home, "- The pond of the garden is green\n");
    for typed in COMMANDS {
        if typed == FIRST_STOP {
            assert_eq!(home.status()["pid"], pid, "the daemon was not killed");
        }
        let words = typed.split(' ').map(|word| match word {
            "A" => heron.clone(),
            "B" => anna.clone(),
            "SESSION" => agent.pid().to_string(),
            word => word.replace('_', " "),
        });
        let words: Vec<String> = words.collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if typed == "browse" {
            let mut terminal = Terminal::start(silent(&home, &words, in_namespace), 100, 30);
            terminal.wait_for("1 of ");
            terminal.press("\rq");
            assert!(terminal.end().0.success(), "browse");
            continue;
        }
        let output = silent(&home, &words, in_namespace).stdin(Stdio::null()).output_in_time();
        assert_success(typed, &output.expect("the command runs"));
    }
}

#[test]
fn the_socket_filter_kills_a_process_with_an_internet_socket() {
    let mut probe = Command::new("bash");
    allow_only_local_sockets(probe.args(["-c", "exec 3<>/dev/tcp/127.0.0.1/9"]));
    assert_eq!(probe.exit_in_time().expect("the command runs").signal(), Some(libc::SIGSYS));
    // The download is the one part of loci that opens one.
    let home = TestHome::without_model();
    home.configure_whole("[embedding]\nurl = \"http://127.0.0.1:9\"\n");
    let mut fetch = home.command("locid");
    allow_only_local_sockets(fetch.args(["model", "fetch"]));
    let fetch = fetch.output_in_time().expect("the command runs");
    assert_eq!(fetch.status.signal(), Some(libc::SIGSYS), "{fetch:?}");
}

/// Stores, recalls, maintains, exports, checks and stops.
const TRACED: &str = r#"
    set -e
    "$0" add 'The ferry leaves at nine' --type semantic
    "$0" search 'When does the boat depart?' --full
    "$0" compact
    "$0" export --output traced.jsonl
    "$0" doctor
    "$0" ctl stop
"#;

/// Runs a command under `strace`; returns its output and the calls that create or connect sockets.
/// `None` if this machine has no `strace`, or this user may trace nothing.
fn traced(home: &TestHome, command: &[&str]) -> Option<(Output, String)> {
    let trace = home.path("trace");
    let mut strace = home.command_at("strace".as_ref());
    strace.args(["-f", "-qq", "-e", "trace=socket,connect,bind,io_uring_setup", "-o"]).arg(&trace);
    let output = strace.args(command).stdin(Stdio::null()).output_in_time().ok()?;
    let calls = std::fs::read_to_string(&trace).unwrap_or_default();
    let could_trace = !String::from_utf8_lossy(&output.stderr).contains("PTRACE");
    could_trace.then_some((output, calls))
}

#[test]
fn a_traced_session_connects_to_local_sockets_only() {
    let home = TestHome::new();
    let probe = ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9 || true"];
    let Some((_, calls)) = traced(&home, &probe) else {
        loci_testkit::skipped::skip(
            "no strace, or no right to trace: the calls were filtered, not listed",
        );
        return;
    };
    assert!(calls.contains("socket(AF_INET"), "the trace shows internet sockets: {calls}");
    let loci = binaries().join("loci");
    let script = ["sh", "-c", TRACED, loci.to_str().expect("the path is UTF-8")];
    let (output, calls) = traced(&home, &script).expect("strace runs");
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    assert!(stdout.contains("The ferry leaves at nine"), "{stdout}");
    assert!(stdout.contains("network   no internet socket is open"), "{stdout}");
    let created = calls.lines().filter(|line| line.contains("socket("));
    let foreign: Vec<&str> = created.filter(|line| !line.contains("AF_UNIX")).collect();
    assert!(foreign.is_empty() && !calls.contains("io_uring_setup"), "{foreign:?}");
    let connected = calls.lines().filter(|line| line.contains("connect(")).count();
    let bound = calls.lines().filter(|line| line.contains("bind(")).count();
    assert!(connected >= 6 && bound >= 2, "each command and the daemon were traced: {calls}");
    assert!(!home.path("run/loci/locid.sock").exists(), "the daemon has stopped");
}
