//! MCP: both protocol eras, any request first, and the token cost of the tools.

use crate::home::{Agent, TestHome};
use crate::wire::Peer;
use serde_json::{Value, json};

fn bare(home: &TestHome) -> Agent {
    Agent::bare(home.command("loci").arg("mcp"))
}

#[test]
fn the_tool_list_stays_within_its_token_limit() {
    let home = TestHome::without_model();
    let mut agent = bare(&home);
    let hello = agent
        .request("initialize", json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}));
    let instructions = hello["result"]["instructions"].as_str().expect("a JSON string").to_owned();
    let tools = agent.request("tools/list", json!({}))["result"]["tools"].clone();
    let tokens =
        |tools: &Value| (tools.to_string().chars().count() + instructions.chars().count()) / 4;
    let named = |name: &str| {
        tools
            .as_array()
            .expect("a JSON array")
            .iter()
            .find(|t| t["name"] == name)
            .cloned()
            .expect("the tool is listed")
    };
    let (store, recall) = (named("store_memory"), named("recall_memory"));
    let (all, always_loaded) = (tokens(&tools), tokens(&json!([store, recall])));
    assert!(all <= 2200, "{all} tokens");
    assert!(always_loaded <= 900, "{always_loaded} tokens");
    for tool in tools.as_array().expect("a JSON array") {
        let is_always_loaded = *tool == store || *tool == recall;
        assert_eq!(tool["_meta"]["anthropic/alwaysLoad"] == true, is_always_loaded, "{tool}");
        assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{tool}");
    }
    let server = &hello["result"]["serverInfo"];
    assert_eq!(server["title"], "loci");
    let icon = server["icons"][0]["src"].as_str().expect("a JSON string");
    // A client that checks the handshake refuses a blank in a URI.
    let is_of_uri = |b: u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/%".contains(&b);
    assert!(icon.starts_with("data:image/") && icon.bytes().all(is_of_uri), "{icon}");
    // What is absent has MCP's default: not read-only, destructive, not idempotent.
    for (tool, annotations) in [
        ("store_memory", json!({"destructiveHint": false, "openWorldHint": false})),
        ("recall_memory", json!({"readOnlyHint": true, "openWorldHint": false})),
        ("forget_memory", json!({"idempotentHint": true, "openWorldHint": false})),
        (
            "restore_memory",
            json!({"destructiveHint": false, "idempotentHint": true, "openWorldHint": false}),
        ),
    ] {
        assert_eq!(named(tool)["annotations"], annotations, "{tool}");
    }
    assert_eq!(recall["inputSchema"]["properties"]["max_results"]["maximum"], 20);
    assert_eq!(store["inputSchema"]["required"], json!(["content", "type"]));
}

#[test]
fn every_protocol_revision_with_a_handshake_is_accepted() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let home = TestHome::without_model();
        let mut agent = bare(&home);
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
        assert_eq!(agent.request("initialize", params)["result"]["protocolVersion"], version);
        assert_eq!(agent.request("ping", json!({}))["result"], json!({}));
        agent.store("semantic", "It works");
    }
}

#[test]
fn the_stateless_revision_needs_no_handshake() {
    let home = TestHome::without_model();
    let mut agent = bare(&home);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "3"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discovered = agent.request("server/discover", json!({"_meta": meta}));
    assert!(
        discovered["result"]["supportedVersions"]
            .as_array()
            .expect("a JSON array")
            .contains(&json!("2026-07-28")),
        "{discovered}"
    );
    let listed = agent.request("tools/list", json!({"_meta": meta}));
    assert!(listed["result"]["ttlMs"].as_u64().expect("a JSON number") > 0);
    let call = json!({"_meta": meta, "name": "store_memory", "arguments": {"content": "No handshake", "type": "semantic"}});
    let stored = agent.request("tools/call", call);
    assert_eq!(stored["result"]["resultType"], "complete", "{stored}");
    assert_eq!(home.status()["sessions"][0]["client"], "stateless 3");
}

#[test]
fn a_call_before_any_handshake_is_answered_and_a_later_handshake_works() {
    let home = TestHome::without_model();
    let mut agent = bare(&home);
    let stored = agent.request("tools/call", json!({"name": "store_memory", "arguments": {"content": "First of all", "type": "semantic"}}));
    assert_eq!(stored["result"]["structuredContent"]["deduplicated"], false, "{stored}");
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    assert_eq!(agent.request("initialize", params)["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(agent.recall("first"), ["First of all"]);
}

#[test]
fn invalid_messages_are_answered_and_the_session_continues() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let batch =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let no_id = r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#;
    for (line, code) in [("{not json", -32700), ("[]", -32600), (batch, -32600), (no_id, -32600)] {
        agent.send(line);
        let answer = agent.receive();
        assert_eq!(
            (&answer["error"]["code"], &answer["id"]),
            (&json!(code), &Value::Null),
            "{line}"
        );
    }
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":77,"method":"ping","params":{{"x":"{}"}}}}"#,
        "y".repeat(1 << 20)
    );
    agent.send(&long);
    let answer = agent.receive();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(77)));
    assert_eq!(agent.request("no/such/method", json!({}))["error"]["code"], -32601);
    assert_eq!(agent.request("logging/setLevel", json!({}))["error"]["code"], -32601);
    agent.store("semantic", "The session continues");
}

#[test]
fn invalid_utf8_and_deep_nesting_are_rejected_by_shim_and_daemon() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "So that the daemon is there");
    let mut peer = Peer::accepted(&home);
    let utf16: Vec<u8> = "\u{FEFF}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let deep = "[".repeat((1 << 20) - 2).into_bytes();
    let deep_object =
        [br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":"#.as_slice(), &b"[".repeat(1 << 19)]
            .concat();
    for line in [b"{\"id\":\xff\xfe}".to_vec(), utf16, deep, deep_object] {
        let line = [line.as_slice(), b"\n"].concat();
        agent.send_bytes(&line);
        peer.send_bytes(&line);
        for answer in [agent.receive(), peer.receive().expect("the daemon answers")] {
            assert_eq!(
                (&answer["error"]["code"], &answer["id"]),
                (&json!(-32700), &Value::Null),
                "{answer}"
            );
        }
    }
    let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for line in [
        nested.clone(),
        format!(r#"{{"jsonrpc":"2.0","id":9,"method":"ping","params":{{"x":{nested}}}}}"#),
    ] {
        agent.send(&line);
        assert_eq!(agent.receive()["error"]["code"], -32700, "nothing is nested two hundred deep");
    }
    agent.send_bytes(b"{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\r\n");
    assert_eq!(
        agent.receive(),
        json!({"jsonrpc": "2.0", "id": 8, "result": {}}),
        "a carriage return before the newline is fine"
    );
    agent.store("semantic", "The session continues");
}

#[test]
fn a_second_handshake_is_answered_and_a_notification_with_an_id_is_refused() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for version in ["2025-06-18", "2025-11-25"] {
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
        assert_eq!(agent.request("initialize", params)["result"]["protocolVersion"], version);
    }
    for method in ["notifications/initialized", "notifications/cancelled"] {
        assert_eq!(
            agent.request(method, json!({"requestId": 1}))["error"]["code"],
            -32601,
            "{method}"
        );
    }
    agent.store("semantic", "The session continues");
}
