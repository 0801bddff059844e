//! Requests over HTTP that are malformed, too large, too slow or too many: each gets its status, and agents on the socket go on. Not
//! here: who is let in (`http_door`).

use crate::home::TestHome;
use crate::http_client::{Answer, Client, Serving, connect, exchange, read_answer};
use serde_json::json;
use std::io::{Read, Write};
use std::time::{Duration, Instant};

/// A home, its server and a client.
fn served() -> (TestHome, Serving, Client) {
    let home = TestHome::without_model();
    let serving = Serving::start(&home);
    let client = serving.client(&home, "default");
    (home, serving, client)
}

/// Sends a proper request in which the lines that begin with one of `without` are left out and `lines` are added.
fn send(client: &Client, without: &[&str], lines: &[&str], body: &str) -> Answer {
    let mut head = client.head(body.len());
    head.retain(|line| !without.iter().any(|start| line.starts_with(start)));
    head.extend(lines.iter().map(|&line| line.to_owned()));
    exchange(client.port, format!("{}\r\n\r\n{body}", head.join("\r\n")).as_bytes())
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn bodies_other_than_plain_json_of_a_bounded_size_are_refused() {
    let (_home, _serving, client) = served();
    for (without, lines, body, status) in [
        (&["Content-Type"][..], &[][..], PING, 415),
        (&["Content-Type"], &["Content-Type: text/plain"], PING, 415),
        (&["Content-Type"], &["Content-Type: multipart/form-data; boundary=x"], PING, 415),
        (&["Content-Type"], &["Content-Type: application/x-www-form-urlencoded"], PING, 415),
        (&["Content-Type"], &["Content-Type: application/jsonp"], PING, 415),
        (&[], &["Content-Type: application/json"], PING, 415),
        (&["Content-Type"], &["Content-Type: application/json; charset=utf-8"], PING, 200),
        (&[], &["Content-Encoding: gzip"], PING, 415),
        (&[], &["Content-Encoding: identity"], PING, 200),
        (&["Content-Length"], &["Content-Length: 99999999999"], "", 413),
        (&["Content-Length"], &["Content-Length: 1048577"], "", 413),
        (&["Content-Length"], &["Content-Length: 99999999999999999999999"], "", 400),
        (&["Content-Length"], &["Content-Length: -1"], "", 400),
        (&["Content-Length"], &["Content-Length: 40", "Content-Length: 41"], PING, 400),
        (&[], &["Transfer-Encoding: chunked"], PING, 400),
        (&["Content-Length"], &["Transfer-Encoding: gzip"], PING, 400),
        (&["Accept"], &[], PING, 406),
        (&["Accept"], &["Accept: text/html"], PING, 406),
        (&[], &[], "not json", 400),
        (&[], &[], "[]", 400),
        (&[], &[], "", 400),
        (&[], &[], r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400),
        (&[], &["MCP-Protocol-Version: 1999-01-01"], PING, 400),
        (&[], &["Loci-Group: a", "Loci-Group: b"], PING, 400),
        (&[], &["Loci-Group: ${PROJECT}"], PING, 400),
    ] {
        let answer = send(&client, without, lines, body);
        assert_eq!(answer.status, status, "{without:?} {lines:?} {body}: {answer:?}");
        assert!(!answer.body.contains("PROJECT"), "nothing is repeated: {answer:?}");
    }
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"recall_memory","arguments":{"query":"a","query":"b"}}}"#;
    let answer = send(&client, &[], &[], twice);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["result"]["isError"], true, "{answer:?}");
}

#[test]
fn a_chunked_body_is_read_and_one_without_an_end_is_cut_off() {
    let (_home, _serving, client) = served();
    let mut head = client.head(0);
    head.retain(|line| !line.starts_with("Content-Length"));
    let head = format!("{}\r\nTransfer-Encoding: chunked\r\n\r\n", head.join("\r\n"));
    let chunks = format!("{head}{:x}\r\n{PING}\r\n0\r\n\r\n", PING.len());
    assert_eq!(exchange(client.port, chunks.as_bytes()).status, 200);
    let bomb = format!("{head}{}", format!("4000\r\n{}\r\n", " ".repeat(0x4000)).repeat(128));
    assert_eq!(exchange(client.port, bomb.as_bytes()).status, 413);
}

#[test]
fn other_paths_and_methods_are_refused() {
    let (_home, _serving, client) = served();
    for (method, path, status) in [
        ("GET", "/mcp", 405),
        ("DELETE", "/mcp", 405),
        ("OPTIONS", "/mcp", 405),
        ("PUT", "/mcp", 405),
        ("POST", "/health", 405),
        ("OPTIONS", "/health", 405),
        ("GET", "/", 404),
        ("GET", "/status", 404),
        ("POST", "/stop", 404),
        ("GET", "/.well-known/oauth-protected-resource", 404),
    ] {
        let answer = send_line(&client, &format!("{method} {path} HTTP/1.1"), "");
        assert_eq!(answer.status, status, "{method} {path}: {answer:?}");
        assert!(!answer.head.contains("access-control"), "{answer:?}");
        assert_eq!(answer.header("allow").is_some(), status == 405, "{answer:?}");
    }
    // The token is asked for before the body is looked at, and the address before the token.
    let evil = send_line(&client, "OPTIONS /mcp HTTP/1.1", "Origin: http://evil.example\r\n");
    assert_eq!(evil.status, 403);
    let foreign = send_line(&client, "POST http://evil.example/mcp HTTP/1.1", "");
    assert_eq!(foreign.status, 403);
    let own = format!("POST http://127.0.0.1:{}/mcp HTTP/1.1", client.port);
    assert_eq!(send_line(&client, &own, "").status, 200);
    let many = format!("X-Long: {}\r\n", "x".repeat(90)).repeat(300);
    assert_eq!(send_line(&client, "POST /mcp HTTP/1.1", &many).status, 431);
}

/// Sends a ping with another request line and more headers.
fn send_line(client: &Client, line: &str, more: &str) -> Answer {
    let mut head = client.head(PING.len());
    line.clone_into(&mut head[0]);
    exchange(client.port, format!("{}\r\n{more}\r\n{PING}", head.join("\r\n")).as_bytes())
}

#[test]
fn slow_headers_and_bodies_are_cut_off_while_others_are_served() {
    let (home, _serving, client) = served();
    let mut agent = home.session();
    let began = Instant::now();
    let slow: Vec<_> = (0..20)
        .map(|_| {
            let mut stream = connect(client.port);
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: 127").expect("it is sent");
            stream
        })
        .collect();
    let head = client.head(1000).join("\r\n");
    let mut half = connect(client.port);
    half.write_all(format!("{head}\r\n\r\n{{").as_bytes()).expect("it is sent");
    assert_eq!(send(&client, &[], &[], PING).status, 200);
    agent.store("semantic", "The staging server is called heron");
    assert_eq!(read_answer(&half).map(|answer| answer.status), Some(408));
    for mut stream in slow {
        let mut rest = Vec::new();
        // The end of the connection, or a reset.
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < 300, "no page is sent: {rest:?}");
    }
    let waited = began.elapsed();
    assert!(waited > Duration::from_secs(8) && waited < Duration::from_secs(25), "{waited:?}");
}

#[test]
fn a_token_that_sends_too_many_requests_is_told_when_to_come_back() {
    let (home, _serving, client) = served();
    let mut agent = home.session();
    let stream = connect(client.port);
    let request = format!("{}\r\n\r\n{PING}", client.head(PING.len()).join("\r\n"));
    let mut refused = None;
    for _ in 0..2000 {
        (&stream).write_all(request.as_bytes()).expect("it is sent");
        let answer = read_answer(&stream).expect("the server answers");
        if answer.status == 429 {
            refused = Some(answer);
            break;
        }
        assert_eq!(answer.status, 200, "{answer:?}");
    }
    let refused = refused.expect("one of them is refused");
    assert_eq!(refused.header("retry-after"), Some("1"), "{refused:?}");
    agent.store("semantic", "The staging server is called heron");
    assert!(home.loci(&["serve", "token", "add", "other"]).status.success());
    let other = Client { token: crate::http_client::secret(&home, "other"), ..client };
    assert!(other.call("memory_stats", &json!({})).is_ok(), "each token has its own limit");
}

#[test]
fn nothing_of_a_request_is_logged_at_any_level() {
    let home = TestHome::without_model().with("LOCI_LOG_LEVEL", "trace");
    let serving = Serving::start(&home);
    let client = Client { group: Some("canarygroup"), ..serving.client(&home, "default") };
    let stored = json!({"content": "The canarytext is yellow", "type": "semantic"});
    client.call("store_memory", &stored).expect("the memory is stored");
    assert_eq!(client.recall("canarytext").len(), 1);
    send(&client, &["Authorization"], &["Authorization: Bearer canarytoken"], PING);
    send_line(&client, "POST /mcp?token=canaryquery HTTP/1.1", "X-Canary: canaryheader\r\n");
    send(&client, &[], &[], r#"{"canarybody": }"#);
    drop(serving);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let log = home.log();
    assert!(log.contains("HTTP server opened"), "{log}");
    for canary in ["canary", client.token.as_str()] {
        assert!(!log.contains(canary), "{canary} is logged: {log}");
    }
}
