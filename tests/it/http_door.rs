//! MCP over HTTP on loopback: who is let in, what clients get, and when the port is open at all. Not here: requests that are malformed
//! or too large (`http_limits`).

use crate::home::{TestHome, binaries, contents};
use crate::http_client::{Client, STATELESS, Serving, WITH_HANDSHAKE, exchange, secret};
use crate::in_time::OutputInTime;
use crate::wire::wait_until;
use nix::sys::signal::Signal;
use serde_json::{Value, json};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

fn store(client: &Client, content: &str) -> Value {
    let arguments = json!({"content": content, "type": "episodic"});
    client.call("store_memory", &arguments).expect("the memory is stored")
}

/// Returns the daemon's internet sockets.
fn internet_sockets(home: &TestHome) -> String {
    let doctor = home.loci(&["doctor", "--json"]);
    let text = String::from_utf8_lossy(&doctor.stdout).into_owned();
    let reply: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    let findings = reply["findings"].as_array().expect("a JSON array");
    let network = findings.iter().find(|finding| finding["part"] == "network");
    network.expect("the network is checked")["found"].to_string()
}

#[test]
fn the_server_is_closed_unless_it_is_asked_for_and_closes_with_the_command() {
    let home = TestHome::without_model();
    let _agent = home.session();
    assert!(internet_sockets(&home).contains("no internet socket is open"));
    assert!(home.status().get("http").is_none());
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let serving = Serving::start(&home);
        let port = serving.port;
        assert!(serving.screen.contains("http_tokens.toml"), "{}", serving.screen);
        assert_eq!(home.status()["http"]["url"], format!("http://127.0.0.1:{port}/mcp"));
        assert!(internet_sockets(&home).contains("HTTP clients of this machine are served"));
        let health = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
        let answer = exchange(port, health.as_bytes());
        assert_eq!((answer.status, answer.body.as_str()), (200, "ok\n"));
        let code = serving.end(signal);
        assert_eq!(code, (signal != Signal::SIGKILL).then_some(0), "{signal}");
        wait_until("the server is closed", || home.status().get("http").is_none());
        wait_until("the port is closed", || TcpStream::connect(("127.0.0.1", port)).is_err());
    }
    wait_until("the last connection is closed", || {
        internet_sockets(&home).contains("no internet socket is open")
    });
}

#[test]
fn http_clients_and_agents_share_memories_in_both_protocol_revisions() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store("semantic", "The staging server is called heron");
    let serving = Serving::start(&home);
    let client = serving.client(&home, "default");
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": WITH_HANDSHAKE, "capabilities": {},
        "clientInfo": {"name": "walker", "version": "3"}}});
    let answer = client.post(&initialize, &[]);
    assert_eq!(answer.json()["result"]["protocolVersion"], WITH_HANDSHAKE, "{answer:?}");
    assert!(answer.header("mcp-session-id").is_none(), "{answer:?}");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(client.post(&ready, &[]).status, 202);
    assert_eq!(
        client.recall("What is the test machine called?")[0],
        "The staging server is called heron"
    );

    let arguments = json!({"query": "staging server"});
    let stateless = client.call_in(STATELESS, "recall_memory", &arguments);
    let found = contents(&stateless["result"]["structuredContent"]);
    assert_eq!(found, ["The staging server is called heron"], "{stateless}");

    let kept = json!({"content": "The ferry leaves at nine", "type": "semantic"});
    let reply = client.call("store_memory", &kept).expect("the memory is stored");
    assert_eq!(agent.recall("When does the boat depart?")[0], "The ferry leaves at nine");
    let inspected = home.loci(&["inspect", reply["id"].as_str().expect("an id"), "--json"]);
    let inspected: Value = serde_json::from_slice(&inspected.stdout).expect("the reply is JSON");
    assert_eq!(inspected["memory"]["client"], "walker 3", "{inspected}");
    assert_eq!(inspected["memory"]["origin"], "agent", "{inspected}");

    let status = home.status();
    let sessions = status["sessions"].as_array().expect("a JSON array");
    let clients: Vec<_> = sessions.iter().map(|session| &session["client"]).collect();
    for name in ["walker 3", "stateless 1"] {
        assert!(clients.iter().any(|client| *client == name), "{name}: {status}");
    }
    let over_http = sessions.iter().filter(|session| session.get("pid").is_none()).count();
    assert_eq!(over_http, 2, "{status}");
    let listed = home.loci(&["ctl", "ps"]);
    assert!(String::from_utf8_lossy(&listed.stdout).contains("HTTP"), "{listed:?}");
}

#[test]
fn a_request_passes_only_with_an_own_host_no_foreign_origin_and_a_token() {
    let home = TestHome::without_model();
    let serving = Serving::start(&home);
    let client = serving.client(&home, "default");
    let (port, token) = (client.port, &client.token);
    let own = format!("127.0.0.1:{port}");
    let one = |value: &str| format!("Host: {value}\r\n");
    let hosts = [
        (one(&own), true),
        (one(&format!("localhost:{port}")), true),
        (one(&format!("[::1]:{port}")), true),
        (one("evil.example"), false),
        (one("127.0.0.1"), false),
        (one("localhost:1"), false),
        (one(&format!("127.0.0.1.nip.io:{port}")), false),
        (one(&format!("LOCALHOST:{port}")), false),
        (one(&format!("127.0.0.1:{port}.evil.example")), false),
        (one(&format!("{own}, evil.example")), false),
        (one(&own).repeat(2), false),
        (String::new(), false),
    ];
    let origins = [
        (String::new(), true),
        (format!("Origin: http://{own}\r\n"), true),
        (format!("Origin: http://localhost:{port}\r\n"), true),
        (format!("Origin: https://{own}\r\n"), false),
        ("Origin: null\r\n".to_owned(), false),
        ("Origin: http://evil.example\r\n".to_owned(), false),
        ("Origin: http://127.0.0.1\r\n".to_owned(), false),
        (format!("Origin: http://{own}\r\n").repeat(2), false),
    ];
    let tokens = [
        (format!("Authorization: Bearer {token}\r\n"), true),
        (format!("authorization: bearer {token}\r\n"), true),
        (String::new(), false),
        ("Authorization: Bearer wrong\r\n".to_owned(), false),
        (format!("Authorization: Bearer {}\r\n", &token[..token.len() - 1]), false),
        (format!("Authorization: Bearer {token}0\r\n"), false),
        (format!("Authorization: Basic {token}\r\n"), false),
        (format!("Authorization: Bearer {token}\r\n").repeat(2), false),
    ];
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let rest = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
    for (host, is_own_host) in &hosts {
        for (origin, is_own_origin) in &origins {
            for (authorization, is_valid) in &tokens {
                let request = format!(
                    "POST /mcp?token={token} HTTP/1.1\r\n{host}{origin}{authorization}{rest}\r\nContent-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                let answer = exchange(port, request.as_bytes());
                let expected = match (is_own_host & is_own_origin, is_valid) {
                    (false, _) => 403,
                    (true, false) => 401,
                    (true, true) => 200,
                };
                assert_eq!(answer.status, expected, "{request}\n{answer:?}");
                assert!(!answer.body.contains(token.as_str()), "{answer:?}");
                assert!(!answer.head.contains("access-control"), "{answer:?}");
                let challenge = answer.header("www-authenticate");
                assert_eq!(challenge.is_some(), expected == 401, "{answer:?}");
            }
        }
    }
    assert!(!home.log().contains(token.as_str()), "no token is logged");
}

#[test]
fn a_bound_token_reaches_its_own_project_only() {
    let home = TestHome::without_model();
    let serving = Serving::start(&home);
    let all = Client { group: Some("shop"), ..serving.client(&home, "default") };
    store(&all, "The shop moved to heron");
    let notes = Client { group: Some("notes"), ..serving.client(&home, "default") };
    let hidden = store(&notes, "The notes moved to egret");
    let global = json!({"content": "The keys moved to Oslo", "type": "semantic", "scope": "global",
        "category": "rule"});
    let foreign = notes.call("store_memory", &global).expect("it is stored");
    let own =
        home.loci(&["add", "--group", "default", "--scope", "global", "My office moved to Turku"]);
    assert!(own.status.success(), "{own:?}");
    let added = home.loci(&["serve", "token", "add", "phone", "--project", "shop"]);
    assert!(added.status.success(), "{added:?}");
    let bound = serving.client(&home, "phone");
    let seen = ["My office moved to Turku", "The shop moved to heron"];
    let sorted = |mut found: Vec<String>| {
        found.sort();
        found
    };
    assert_eq!(sorted(bound.recall("moved")), seen);
    let named = Client { group: Some("shop"), ..serving.client(&home, "phone") };
    assert_eq!(sorted(named.recall("moved")), seen);
    let own = json!({"query": "moved", "group": "shop"});
    let found = bound.call("recall_memory", &own).expect("its own project may be named");
    assert_eq!(sorted(contents(&found)), seen);
    let brief = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": {"uri": "loci://group/shop"}});
    let brief = bound.post(&brief, &[]).body;
    assert!(
        brief.contains("heron") && brief.contains("Turku") && !brief.contains("Oslo"),
        "{brief}"
    );
    let kept = json!({"content": "The shop has a cellar", "type": "semantic", "scope": "global"});
    let kept = bound.call("store_memory", &kept).expect("it is stored in the project");
    assert!(kept["note"].as_str().is_some_and(|note| note.contains("this token")), "{kept}");
    assert_eq!(notes.recall("cellar"), [""; 0]);

    let elsewhere = Client { group: Some("notes"), ..serving.client(&home, "phone") };
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(elsewhere.post(&ping, &[]).status, 403);
    for (tool, arguments) in [
        ("recall_memory", json!({"query": "moved", "group": "notes"})),
        ("store_memory", json!({"content": "x", "type": "episodic", "group": "notes"})),
        ("memory_stats", json!({"group": "notes"})),
        ("memory_inspect", json!({"memory_id": hidden["id"], "group": "notes"})),
        ("memory_inspect", json!({"memory_id": hidden["id"]})),
        ("memory_inspect", json!({"memory_id": foreign["id"]})),
        ("forget_memory", json!({"memory_id": hidden["id"]})),
        ("compact_memories", json!({})),
    ] {
        let refusal = bound.call(tool, &arguments).expect_err(tool);
        assert!(!refusal.contains("egret"), "{tool}: {refusal}");
    }
    let stats = bound.call("memory_stats", &json!({})).expect("its own project is counted");
    assert_eq!(stats["total_memories"], 2, "{stats}");
    let brief = json!({"jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": {"uri": "loci://group/notes"}});
    let brief = bound.post(&brief, &[]);
    assert!(brief.json().get("error").is_some(), "{brief:?}");
    assert!(
        notes.recall("moved").contains(&"The notes moved to egret".to_owned()),
        "it is still there"
    );
}

#[test]
fn a_bound_token_replaces_nothing_that_others_see_and_reads_no_other_past() {
    let home = TestHome::without_model();
    let serving = Serving::start(&home);
    let all = Client { group: Some("shop"), ..serving.client(&home, "default") };
    let notes = Client { group: Some("notes"), ..serving.client(&home, "default") };
    store(&notes, "The notes moved");
    let added = home.loci(&["serve", "token", "add", "phone", "--project", "shop"]);
    assert!(added.status.success(), "{added:?}");
    let bound = serving.client(&home, "phone");
    // What the token may see at a time does not grow; others go on seeing what it may not replace.
    let till = json!({"content": "The till moved to egret", "type": "semantic", "scope": "global"});
    let till = all.call("store_memory", &till).expect("it is stored");
    let newer =
        json!({"content": "The till moved to ibis", "type": "semantic", "supersedes": till["id"]});
    let refusal = bound.call("store_memory", &newer).expect_err("others see it");
    assert!(refusal.contains("supersedes"), "{refusal}");
    for (tool, arguments) in [
        ("forget_memory", json!({"memory_id": till["id"]})),
        ("forget_memory", json!({"memory_id": till["id"], "hard_delete": true})),
        ("forget_memory", json!({"memory_id": till["id"], "rejected": true, "reason": "old"})),
        ("restore_memory", json!({"memory_id": till["id"]})),
    ] {
        let refusal = bound.call(tool, &arguments).expect_err("others see it");
        assert!(refusal.contains("every project sees"), "{tool}: {refusal}");
    }
    let id = json!({"memory_id": till["id"]});
    notes.call("forget_memory", &id).expect("it is global");
    notes.call("restore_memory", &id).expect("it was forgotten");
    let log = json!({"memory_id": till["id"], "include_log": true});
    let lines = |client: &Client| {
        let shown = client.call("memory_inspect", &log).expect("it is visible");
        shown["log"].as_array().expect("a JSON array").len()
    };
    assert!(lines(&all) >= lines(&bound) + 2, "what another project did is not shown");
    let till = till["id"].as_str().expect("a string");
    assert!(home.loci(&["move", till, "--to", "notes", "--group", "shop"]).status.success());
    let shown = all.call("memory_inspect", &json!({"memory_id": till, "group": "notes"}));
    let stored_at = shown.expect("it is there")["memory"]["created_at"].clone();
    let then = json!({"query": "till", "as_of": stored_at});
    let seen = |client: &Client| {
        let found = client.call("recall_memory", &then).expect("the past is read");
        contents(&found).iter().any(|text| text.contains("egret"))
    };
    assert!(seen(&all) && !seen(&bound), "of the past a token sees what it may see now");
    let explained = bound
        .call("recall_memory", &json!({"query": "moved", "explain": true}))
        .expect("it is found");
    assert_eq!(explained["explain"]["in_store"], explained["explain"]["visible"], "{explained}");
}

#[test]
fn a_removed_token_is_refused_from_the_next_request_on() {
    let home = TestHome::without_model();
    let serving = Serving::start(&home);
    let added = home.loci(&["serve", "token", "add", "phone"]);
    assert_eq!(String::from_utf8_lossy(&added.stdout).trim(), secret(&home, "phone"));
    let client = serving.client(&home, "phone");
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(client.post(&ping, &[]).status, 200);
    assert!(home.loci(&["serve", "token", "remove", "phone"]).status.success());
    assert_eq!(client.post(&ping, &[]).status, 401);
    let listed = home.loci(&["serve", "token", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("default") && !listed.contains("loci_"), "{listed}");
    let again = home.loci(&["serve", "token", "add", "default"]);
    assert_eq!(again.status.code(), Some(1), "{again:?}");
}

#[test]
fn switches_apply_to_http_clients() {
    let home = TestHome::without_model();
    let serving = Serving::start(&home);
    let client = Client { group: Some("shop"), ..serving.client(&home, "default") };
    store(&client, "The shop moved to heron");
    assert!(home.loci(&["groups", "off", "shop"]).status.success());
    let answer = client.call("recall_memory", &json!({"query": "moved"})).expect("it says so");
    assert_eq!(answer["off"], true, "{answer}");
    assert!(home.loci(&["groups", "on", "shop"]).status.success());
    let session = home.status()["sessions"][0]["id"].as_str().expect("an id").to_owned();
    assert!(home.loci(&["ctl", "incognito", &session]).status.success());
    let answer = client.call("recall_memory", &json!({"query": "moved"})).expect("it says so");
    assert_eq!(answer["off"], true, "{answer}");
    // More clients than there are sessions do not end it.
    for number in 0..70 {
        let user_agent = format!("other/{number}").leak();
        let other = Client { user_agent, ..serving.client(&home, "default") };
        other.call("memory_stats", &json!({})).expect("it is served");
    }
    let answer = client.call("recall_memory", &json!({"query": "moved"})).expect("it says so");
    assert_eq!(answer["off"], true, "{answer}");
}

#[test]
fn the_configuration_opens_the_server_at_each_start() {
    let home = TestHome::without_model();
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let port = port.expect("a port is free").port();
    home.configure(&format!("[server]\ntransport = \"http\"\nhttp_port = {port}\n"));
    for _ in 0..2 {
        assert!(home.loci(&["ctl", "start"]).status.success());
        assert_eq!(home.status()["http"]["opened_by"], "config");
        let token = secret(&home, "default");
        let client = Client { port, token, group: None, user_agent: "test/1" };
        assert!(client.recall("heron").is_empty());
        let second = home.loci(&["serve", "--http", "--port", "0"]);
        let stderr = String::from_utf8_lossy(&second.stderr).into_owned();
        assert_eq!(second.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(&format!("http://127.0.0.1:{port}/mcp")), "{stderr}");
        assert!(home.loci(&["ctl", "stop"]).status.success());
    }
}

#[test]
fn a_port_in_use_is_named_and_agents_on_the_socket_are_served() {
    let home = TestHome::without_model();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = taken.local_addr().expect("it has an address").port();
    let in_use = format!("127.0.0.1:{port} in use");
    let command = home.loci(&["serve", "--http", "--port", &port.to_string()]);
    let stderr = String::from_utf8_lossy(&command.stderr).into_owned();
    assert_eq!(command.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(&in_use), "{stderr}");
    assert!(home.loci(&["ctl", "stop"]).status.success());

    home.configure(&format!("[server]\ntransport = \"http\"\nhttp_port = {port}\n"));
    let mut agent = home.session();
    agent.store("semantic", "The staging server is called heron");
    let status = home.status();
    assert!(status.get("http").is_none(), "{status}");
    assert!(status["warnings"].to_string().contains(&in_use), "{status}");
}

#[test]
fn addresses_that_other_machines_reach_are_refused_at_start() {
    for address in ["0.0.0.0", "::", "192.168.1.4", "example.com"] {
        let home = TestHome::without_model();
        home.configure(&format!("[server]\ntransport = \"http\"\nhttp_address = \"{address}\"\n"));
        let daemon = home.command("locid").output_in_time().expect("the command runs");
        let stderr = String::from_utf8_lossy(&daemon.stderr).into_owned();
        assert_eq!(daemon.status.code(), Some(78), "{stderr}");
        assert!(stderr.contains("server.http_address must be 127.0.0.1"), "{stderr}");
    }
}

#[test]
fn a_token_file_that_others_can_read_opens_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let home = TestHome::without_model();
    drop(Serving::start(&home));
    let file = home.path(".loci/http_tokens.toml");
    let mode = file.metadata().expect("the file is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    wait_until("the server is closed", || home.status().get("http").is_none());
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644))
        .expect("the mode is set");
    let refused = home.loci(&["serve", "--http", "--port", "0"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("chmod 600"), "{stderr}");
}

#[test]
fn serve_says_what_it_needs() {
    let home = TestHome::without_model();
    let sse = home.loci(&["serve", "--sse"]);
    let stderr = String::from_utf8_lossy(&sse.stderr).into_owned();
    assert_eq!(sse.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("HTTP+SSE is deprecated") && stderr.contains("--http"), "{stderr}");
    let (code, screen) = home.at_terminal(&["serve"], "never asked", "");
    assert_eq!(code, Some(2), "{screen}");
    assert!(screen.contains("--http") && screen.contains("token"), "{screen}");
    // The former name of `loci mcp`, which configurations may still have.
    let mut agent = crate::home::Agent::bare(
        home.command_at(&binaries().join("loci")).arg("serve").stderr(Stdio::null()),
    );
    agent.store("semantic", "The staging server is called heron");
}
