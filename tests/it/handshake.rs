//! The handshake: always answered, byte for byte the same by daemon and shim.

use crate::home::{Agent, TestHome, binaries};
use crate::in_time::ExitInTime;
use crate::wire::Peer;
use loci_proto::mcp::handshake::{self, Answer, LISTS};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

fn meta(version: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": {"name": "it", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Every request of the handshake, in every revision.
fn requests() -> Vec<(&'static str, Value)> {
    let initialize = |version: &str| {
        (
            "initialize",
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}),
        )
    };
    let mut all: Vec<_> =
        ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01"]
            .map(initialize)
            .into();
    for version in ["2026-07-28", "2025-11-25", "2099-01-01"] {
        all.push(("server/discover", json!({"_meta": meta(version)})));
        all.extend(LISTS.map(|list| (list, json!({"_meta": meta(version)}))));
    }
    all.extend(LISTS.map(|list| (list, json!({}))));
    all.push(("ping", json!({})));
    all
}

/// Returns the line that the daemon answers with. Each request has its own connection.
fn daemon_answer(home: &TestHome, method: &str, params: &Value) -> String {
    let socket = UnixStream::connect(home.path("run/loci/locid.sock")).expect("the daemon accepts");
    let mut writer = socket.try_clone().expect("the descriptor is cloned");
    let mut lines = BufReader::new(socket).lines();
    let mut send = |line: Value| writeln!(writer, "{line}").expect("the peer reads its input");
    send(json!({"loci": [1, 1], "shim": "it", "session": {"id": "it", "pid": 1}}));
    let welcome: Value = serde_json::from_str(
        &lines.next().expect("the daemon sends a line").expect("a line can be read"),
    )
    .expect("valid JSON");
    assert_eq!(welcome["ok"], true, "{welcome}");
    send(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    lines.next().expect("the daemon sends a line").expect("a line can be read")
}

/// Returns the answer as a JSON-RPC line with the id 1.
fn line(answer: Answer) -> String {
    let rest = match answer {
        Answer::Result(result) => format!("\"result\":{result}"),
        Answer::Error(error) => format!("\"error\":{error}"),
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{rest}}}")
}

/// Starts a shim that finds no daemon although one runs: its runtime folder is another one.
fn shim_in_another_runtime_folder(home: &TestHome) -> Agent {
    let run = home.path("elsewhere");
    if !run.exists() {
        std::fs::create_dir(&run).expect("the folder is created");
        std::fs::set_permissions(&run, Permissions::from_mode(0o700))
            .expect("the permissions are set");
    }
    let mut command = command_without_locid(home);
    Agent::bare(command.env("XDG_RUNTIME_DIR", run))
}

/// Starts a shim that cannot start a daemon: no `locid` is next to its binary or in its `PATH`.
fn shim_without_daemon(home: &TestHome) -> Agent {
    Agent::bare(&mut command_without_locid(home))
}

/// Returns the command `loci mcp` with a copy of `loci` in a folder without `locid`.
fn command_without_locid(home: &TestHome) -> Command {
    let folder = home.path("alone");
    if !folder.exists() {
        std::fs::create_dir(&folder).expect("the folder is created");
        // A child process copies it: a file that this process has open for writing cannot be
        // executed, and any test may fork meanwhile.
        let copied = Command::new("cp")
            .arg(binaries().join("loci"))
            .arg(&folder)
            .exit_in_time()
            .expect("the command runs");
        assert!(copied.success());
    }
    let mut command = home.command_at(&folder.join("loci"));
    command.env("PATH", "/nowhere").arg("mcp");
    command
}

#[test]
fn the_handshake_snapshot_equals_the_daemons_answers() {
    let home = TestHome::without_model();
    assert!(home.loci(&["ctl", "start"]).status.success());
    if std::env::var_os("LOCI_BLESS").is_some() {
        // This test contains the old snapshot: only the next build can compare the new one.
        write_snapshot(&home);
        return;
    }
    for (method, params) in requests() {
        let of_daemon = daemon_answer(&home, method, &params);
        let snapshot = handshake::answer(method, &params).expect("the snapshot has the answer");
        assert_eq!(
            line(snapshot),
            of_daemon,
            "{method} {params}\nRun: LOCI_BLESS=1 cargo test --release -p loci-tests --test it the_handshake_snapshot, then build"
        );
    }
}

#[test]
fn a_shim_answers_byte_for_byte_the_same_with_a_daemon_and_without() {
    let home = TestHome::without_model();
    assert!(home.loci(&["ctl", "start"]).status.success());
    for (method, params) in requests() {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut with_daemon = Agent::bare(home.command("loci").arg("mcp"));
        let mut without = shim_in_another_runtime_folder(&home);
        let answers = [&mut with_daemon, &mut without].map(|agent| {
            agent.send(&request.to_string());
            agent.next_line()
        });
        assert_eq!(answers[0], answers[1], "{method} {params}");
        assert_eq!(
            answers[0].trim_end(),
            daemon_answer(&home, method, &params),
            "{method} {params}"
        );
    }
}

/// Writes the daemon's answers to the snapshot file, with keys in the daemon's order.
fn write_snapshot(home: &TestHome) {
    let result = |method: &str, params: Value| {
        let line = daemon_answer(home, method, &params);
        let result = line
            .strip_prefix(r#"{"jsonrpc":"2.0","id":1,"result":"#)
            .expect("the line is a result");
        result.strip_suffix('}').expect("a JSON object").to_owned()
    };
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    let initialize = result("initialize", hello);
    let discover = result("server/discover", json!({"_meta": meta("2026-07-28")}));
    let known: Value = serde_json::from_str(&discover).expect("valid JSON");
    let mut lists = LISTS.map(|method| {
        let plain = result(method, json!({}));
        let stateless = result(method, json!({"_meta": meta("2026-07-28")}));
        format!(r#""{method}":{{"plain":{plain},"stateless":{stateless}}}"#)
    });
    lists.sort();
    let (lists, versions) = (lists.join(","), &known["supportedVersions"]);
    let snapshot = format!(
        r#"{{"discover":{discover},"initialize":{initialize},"lists":{{{lists}}},"versions":{versions}}}"#
    );
    std::fs::write(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../proto/src/mcp/handshake.json"),
        pretty(&snapshot) + "\n",
    )
    .expect("the file is written");
}

/// Formats compact JSON over several lines, indented by two spaces; keys keep their order.
fn pretty(compact: &str) -> String {
    let (mut text, mut depth, mut in_string, mut is_escaped) = (String::new(), 0, false, false);
    let mut last = ' ';
    for c in compact.chars() {
        let opens = !in_string && "{[".contains(c);
        let closes = !in_string && "}]".contains(c);
        depth -= usize::from(closes);
        let is_first = !in_string && "{[".contains(last);
        if is_first && !closes || closes && !is_first || last == ',' && !in_string {
            text.push('\n');
            text.push_str(&"  ".repeat(depth));
        }
        text.push(c);
        if !in_string && c == ':' {
            text.push(' ');
        }
        depth += usize::from(opens);
        if c == '"' && !is_escaped {
            in_string = !in_string;
        }
        is_escaped = c == '\\' && !is_escaped;
        last = if in_string { '"' } else { c };
    }
    text
}

#[test]
fn a_session_without_any_daemon_has_its_tools_and_each_call_says_what_is_wrong() {
    let home = TestHome::without_model();
    for (method, params) in requests() {
        let mut agent = shim_without_daemon(&home);
        let answer = agent.request(method, params.clone());
        let expected = handshake::answer(method, &params).expect("the snapshot has the answer");
        let expected: Value = serde_json::from_str(&line(expected)).expect("valid JSON");
        assert_eq!(answer, expected, "{method}");
    }
    let mut agent = shim_without_daemon(&home);
    let error = agent.call("memory_stats", json!({})).expect_err("the call fails");
    assert!(error.contains("locid"), "{error}");
    assert_eq!(
        agent.request("tools/list", json!({}))["result"]["tools"].as_array().map(Vec::is_empty),
        Some(false),
        "the session continues"
    );
}

#[test]
fn a_session_survives_a_blocked_standard_error() {
    let home = TestHome::without_model();
    home.configure_whole("[retrieval]\nrrf_kk = 5\n");
    let mut command = home.command_at("/bin/sh".as_ref());
    command.args(["-c", "exec \"$0\" mcp 2>/dev/full"]).arg(binaries().join("loci"));
    let mut agent = Agent::bare(&mut command);
    for _ in 0..2 {
        let error = agent.call("memory_stats", json!({})).expect_err("the call fails");
        assert!(error.contains("rrf_kk"), "{error}");
    }
    home.configure("");
    agent.store("semantic", "Stored although standard error is full");
}

#[test]
fn a_failed_start_is_reported_and_the_session_recovers_after_the_fix() {
    let home = TestHome::without_model();
    home.configure_whole("[retrieval]\nrrf_kk = 5\n");
    let mut agent = home.session();
    let error = agent.call("memory_stats", json!({})).expect_err("the call fails");
    assert!(error.contains("config.toml:2:1") && error.contains("rrf_kk"), "{error}");
    home.configure("");
    agent.store("semantic", "Stored after the fix in the same session");
    assert_eq!(agent.recall("after the fix"), ["Stored after the fix in the same session"]);
}

/// A shim sends the handshake and the calls in flight to a new daemon at once.
#[test]
fn a_call_right_behind_the_handshake_has_the_name_of_its_client() {
    const SESSIONS: usize = 40;
    let home = TestHome::without_model();
    assert!(home.loci(&["ctl", "start"]).status.success());
    for number in 0..SESSIONS {
        let content = format!("Kiln number {number} burns at {} degrees", 900 + number);
        let arguments = json!({"content": content, "type": "semantic"});
        let lines = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "store_memory", "arguments": arguments}}),
        ];
        let mut peer = Peer::accepted(&home);
        peer.send_bytes(lines.map(|line| format!("{line}\n")).concat().as_bytes());
        while peer.receive().expect("the daemon answers")["id"] != 2 {}
    }
    let listed = home.json(&["list", "--limit", "100", "--json"]);
    let memories = listed["memories"].as_array().expect("a JSON array");
    let clients: Vec<_> = memories.iter().map(|memory| &memory["client"]).collect();
    assert_eq!(clients, vec!["it 1"; SESSIONS]);
}
