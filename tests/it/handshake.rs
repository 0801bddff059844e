//! The handshake is always answered, in the same words by daemon and shim.

use crate::house::{Agent, House, binaries};
use loci_proto::mcp::handshake::LISTS;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
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

/// Every request of the handshake, in every protocol revision.
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

/// Returns the daemon's answer, on a new connection for each request.
fn of_daemon(house: &House, method: &str, params: &Value) -> Value {
    let socket = UnixStream::connect(house.path("run/loci/locid.sock")).expect("is served");
    let mut writer = socket.try_clone().expect("is a socket");
    let mut lines = BufReader::new(socket).lines();
    let mut say = |line: Value| writeln!(writer, "{line}").expect("is taken");
    say(json!({"loci": [1, 1], "shim": "it", "session": {"id": "it", "pid": 1}}));
    let welcome: Value =
        serde_json::from_str(&lines.next().expect("answers").expect("is text")).expect("is JSON");
    assert_eq!(welcome["ok"], true, "{welcome}");
    say(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    serde_json::from_str(&lines.next().expect("answers").expect("is text")).expect("is JSON")
}

/// Returns a shim that finds no daemon to start: its binary is alone in a folder.
fn orphan(house: &House) -> Agent {
    let alone = house.path("alone");
    if !alone.exists() {
        std::fs::create_dir(&alone).expect("a folder");
        // A child process copies it: a file open for writing cannot be executed, and any test may
        // fork meanwhile.
        let copied =
            Command::new("cp").arg(binaries().join("loci")).arg(&alone).status().expect("runs");
        assert!(copied.success());
    }
    let mut command = house.command_at(&alone.join("loci"));
    Agent::bare(command.env("PATH", "/nowhere").arg("mcp"))
}

#[test]
fn the_shims_snapshot_is_what_the_daemon_says() {
    let house = House::without_model();
    assert!(house.loci(&["ctl", "start"]).status.success());
    if std::env::var_os("LOCI_BLESS").is_some() {
        bless(&house);
    }
    for (method, params) in requests() {
        let said = of_daemon(&house, method, &params);
        let snapshot = match loci_proto::mcp::handshake::answer(method, &params)
            .expect("is in the snapshot")
        {
            loci_proto::mcp::handshake::Answer::Result(result) => {
                json!({"jsonrpc": "2.0", "id": 1, "result": result})
            }
            loci_proto::mcp::handshake::Answer::Error(error) => {
                json!({"jsonrpc": "2.0", "id": 1, "error": error})
            }
        };
        assert_eq!(
            snapshot, said,
            "{method} {params}\nRun: LOCI_BLESS=1 cargo test --release -p loci-tests --test it handshake, then build"
        );
    }
}

/// Writes the daemon's answers as the snapshot.
fn bless(house: &House) {
    let result = |method: &str, params: Value| of_daemon(house, method, &params)["result"].clone();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    let mut initialize = result("initialize", hello);
    initialize.as_object_mut().expect("is an object").remove("protocolVersion");
    let discover = result("server/discover", json!({"_meta": meta("2026-07-28")}));
    let list = |method: &&str| {
        let plain = result(method, json!({}));
        let mut stateless = result(method, json!({"_meta": meta("2026-07-28")}));
        stateless.as_object_mut().expect("is an object").retain(|key, _| plain.get(key).is_none());
        ((*method).to_owned(), json!({"plain": plain, "stateless": stateless}))
    };
    let lists: serde_json::Map<String, Value> = LISTS.iter().map(list).collect();
    let snapshot = json!({"versions": discover["supportedVersions"], "initialize": initialize, "discover": discover, "lists": lists});
    let text = serde_json::to_string_pretty(&snapshot).expect("is JSON");
    std::fs::write(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../proto/src/mcp/handshake.json"),
        text + "\n",
    )
    .expect("is written");
}

#[test]
fn a_session_without_any_daemon_has_its_tools_and_each_call_says_what_is_wrong() {
    let house = House::without_model();
    for (method, params) in requests() {
        let mut agent = orphan(&house);
        let answer = agent.request(method, params.clone());
        let expected =
            loci_proto::mcp::handshake::answer(method, &params).expect("is in the snapshot");
        match expected {
            loci_proto::mcp::handshake::Answer::Result(result) => {
                assert_eq!(answer["result"], result, "{method}")
            }
            loci_proto::mcp::handshake::Answer::Error(error) => {
                assert_eq!(answer["error"], error, "{method}")
            }
        }
    }
    let mut agent = orphan(&house);
    let said = agent.call("memory_stats", json!({})).expect_err("says why");
    assert!(said.contains("locid"), "{said}");
    assert_eq!(
        agent.request("tools/list", json!({}))["result"]["tools"].as_array().map(Vec::is_empty),
        Some(false),
        "and lives on"
    );
}

#[test]
fn a_session_whose_standard_error_takes_nothing_lives_on() {
    let house = House::without_model();
    house.configure_whole("[retrieval]\nrrf_kk = 5\n");
    let mut command = house.command_at("/bin/sh".as_ref());
    command.args(["-c", "exec \"$0\" mcp 2>/dev/full"]).arg(binaries().join("loci"));
    let mut agent = Agent::bare(&mut command);
    for _ in 0..2 {
        let said = agent.call("memory_stats", json!({})).expect_err("says why");
        assert!(said.contains("rrf_kk"), "{said}");
    }
    house.configure("");
    agent.store("semantic", "Nobody had to read that");
}

#[test]
fn what_keeps_the_daemon_from_starting_is_told_and_once_mended_the_same_session_works() {
    let house = House::without_model();
    house.configure_whole("[retrieval]\nrrf_kk = 5\n");
    let mut agent = house.session();
    let said = agent.call("memory_stats", json!({})).expect_err("says why");
    assert!(said.contains("config.toml:2:1") && said.contains("rrf_kk"), "{said}");
    house.configure("");
    agent.store("semantic", "Mended in the same session");
    assert_eq!(agent.recall("mended"), ["Mended in the same session"]);
}
