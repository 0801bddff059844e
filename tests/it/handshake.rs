//! The handshake is always answered, in the same bytes by daemon and shim.

use crate::home::{Agent, TestHome, binaries};
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

/// The line that the daemon answers with, on a connection of its own for each request.
fn of_daemon(home: &TestHome, method: &str, params: &Value) -> String {
    let socket = UnixStream::connect(home.path("run/loci/locid.sock")).expect("the daemon accepts");
    let mut writer = socket.try_clone().expect("the descriptor is cloned");
    let mut lines = BufReader::new(socket).lines();
    let mut say = |line: Value| writeln!(writer, "{line}").expect("the peer reads its input");
    say(json!({"loci": [1, 1], "shim": "it", "session": {"id": "it", "pid": 1}}));
    let welcome: Value = serde_json::from_str(
        &lines.next().expect("the daemon sends a line").expect("a line can be read"),
    )
    .expect("valid JSON");
    assert_eq!(welcome["ok"], true, "{welcome}");
    say(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    lines.next().expect("the daemon sends a line").expect("a line can be read")
}

/// A JSON-RPC answer to the request 1.
fn line(answer: Answer) -> String {
    let rest = match answer {
        Answer::Result(result) => format!("\"result\":{result}"),
        Answer::Error(error) => format!("\"error\":{error}"),
    };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{rest}}}")
}

/// The same while a daemon runs: this shim looks for the socket in another home.
fn orphan_elsewhere(home: &TestHome) -> Agent {
    let run = home.path("elsewhere");
    if !run.exists() {
        std::fs::create_dir(&run).expect("the folder is created");
        std::fs::set_permissions(&run, Permissions::from_mode(0o700))
            .expect("the permissions are set");
    }
    let mut command = alone(home);
    Agent::bare(command.env("XDG_RUNTIME_DIR", run))
}

/// A shim that has no daemon to start: its binary lies alone in a folder.
fn orphan(home: &TestHome) -> Agent {
    Agent::bare(&mut alone(home))
}

/// `loci mcp` where it finds no `locid`.
fn alone(home: &TestHome) -> Command {
    let alone = home.path("alone");
    if !alone.exists() {
        std::fs::create_dir(&alone).expect("the folder is created");
        // A child process copies it: a file that this process has open for writing cannot be executed, and any test may fork meanwhile.
        let copied = Command::new("cp")
            .arg(binaries().join("loci"))
            .arg(&alone)
            .status()
            .expect("the command runs");
        assert!(copied.success());
    }
    let mut command = home.command_at(&alone.join("loci"));
    command.env("PATH", "/nowhere").arg("mcp");
    command
}

#[test]
fn the_handshake_snapshot_equals_the_daemons_answers() {
    let home = TestHome::without_model();
    assert!(home.loci(&["ctl", "start"]).status.success());
    if std::env::var_os("LOCI_BLESS").is_some() {
        bless(&home);
    }
    for (method, params) in requests() {
        let said = of_daemon(&home, method, &params);
        let snapshot = handshake::answer(method, &params).expect("the snapshot has the answer");
        assert_eq!(
            line(snapshot),
            said,
            "{method} {params}\nRun: LOCI_BLESS=1 cargo test --release -p loci-tests --test it handshake, then build"
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
        let mut without = orphan_elsewhere(&home);
        let answers = [&mut with_daemon, &mut without].map(|agent| {
            agent.send(&request.to_string());
            agent.line()
        });
        assert_eq!(answers[0], answers[1], "{method} {params}");
        assert_eq!(answers[0].trim_end(), of_daemon(&home, method, &params), "{method} {params}");
    }
}

/// Writes the daemon's answers down as the snapshot, keys in the daemon's order.
fn bless(home: &TestHome) {
    let result = |method: &str, params: Value| {
        let line = of_daemon(home, method, &params);
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

/// Compact JSON over several lines, indented by two blanks; keys keep their order.
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
        let mut agent = orphan(&home);
        let answer = agent.request(method, params.clone());
        let expected = handshake::answer(method, &params).expect("the snapshot has the answer");
        let expected: Value = serde_json::from_str(&line(expected)).expect("valid JSON");
        assert_eq!(answer, expected, "{method}");
    }
    let mut agent = orphan(&home);
    let said = agent.call("memory_stats", json!({})).expect_err("the call fails");
    assert!(said.contains("locid"), "{said}");
    assert_eq!(
        agent.request("tools/list", json!({}))["result"]["tools"].as_array().map(Vec::is_empty),
        Some(false),
        "and lives on"
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
        let said = agent.call("memory_stats", json!({})).expect_err("the call fails");
        assert!(said.contains("rrf_kk"), "{said}");
    }
    home.configure("");
    agent.store("semantic", "Nobody had to read that");
}

#[test]
fn a_failed_start_is_reported_and_the_session_recovers_after_the_fix() {
    let home = TestHome::without_model();
    home.configure_whole("[retrieval]\nrrf_kk = 5\n");
    let mut agent = home.session();
    let said = agent.call("memory_stats", json!({})).expect_err("the call fails");
    assert!(said.contains("config.toml:2:1") && said.contains("rrf_kk"), "{said}");
    home.configure("");
    agent.store("semantic", "Mended in the same session");
    assert_eq!(agent.recall("mended"), ["Mended in the same session"]);
}
