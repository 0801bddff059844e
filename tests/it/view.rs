//! The server of the viewer: who is let in, what a page may ask for, and that it closes with its command. Not here: the page itself, which
//! `tests/view` tests in a browser.

use crate::home::TestHome;
use crate::http_client::{Answer, connect, exchange, read_answer};
use crate::in_time::{ExitInTime, in_time};
use crate::wire::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// `loci view` while it runs, and what a page of it has.
struct Viewing {
    child: Child,
    port: u16,
    token: String,
    cookie: String,
    key: String,
    boot: Value,
}

impl Viewing {
    /// Starts it, and opens its link.
    fn start(home: &TestHome) -> Self {
        Self::opened_by(home.command("loci"))
    }

    /// Starts it with a prepared command, and opens its link.
    fn opened_by(mut command: Command) -> Self {
        let mut child = command
            .args(["view", "--no-open"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("loci runs");
        let mut output = BufReader::new(child.stdout.take().expect("the output is piped"));
        let mut screen = String::new();
        while !screen.contains("/open/") || !screen.ends_with('\n') {
            let read = in_time("the screen", || output.read_line(&mut screen));
            let read = read.expect("the screen is UTF-8");
            assert_ne!(read, 0, "it ended: {screen}");
        }
        let link = screen.split("http://127.0.0.1:").nth(1).expect("the screen has the link");
        let (port, token) = link.trim().split_once("/open/").expect("the link has a token");
        let (port, token) = (port.parse().expect("a port"), token.to_owned());
        let (cookie, key, boot) = Default::default();
        let mut viewing = Self { child, port, token, cookie, key, boot };
        // A program that shows a preview of a link only looks.
        let look = format!("HEAD /open/{} HTTP/1.1", viewing.token);
        let host = format!("Host: 127.0.0.1:{port}");
        let request = format!("{look}\r\n{host}\r\nConnection: close\r\n\r\n");
        (&connect(port)).write_all(request.as_bytes()).expect("the request is sent");
        let page = viewing.get(&format!("/open/{}", viewing.token));
        assert_eq!(page.status, 200, "{page:?}");
        let cookie = page.header("set-cookie").expect("the page sets a cookie");
        assert!(cookie.ends_with("; httponly; samesite=strict; path=/"), "{cookie}");
        cookie.split(';').next().expect("a cookie").clone_into(&mut viewing.cookie);
        viewing.boot = boot_of(&page).expect("the page has its data");
        viewing.key = viewing.boot["key"].as_str().expect("a key").to_owned();
        viewing
    }

    fn exchange(&self, line: &str, headers: &[String], body: &str) -> Answer {
        let host = format!("Host: 127.0.0.1:{}", self.port);
        let length = format!("Content-Length: {}", body.len());
        let head = [&[line.to_owned(), host, length], headers].concat().join("\r\n");
        exchange(self.port, format!("{head}\r\n\r\n{body}").as_bytes())
    }

    fn get(&self, path: &str) -> Answer {
        self.exchange(&format!("GET {path} HTTP/1.1"), &self.signed(), "")
    }

    /// The headers by which a page is known.
    fn signed(&self) -> Vec<String> {
        vec![format!("Cookie: {}", self.cookie), format!("Loci-View-Key: {}", self.key)]
    }

    /// The headers of a page that changes something.
    fn own(&self) -> Vec<String> {
        let origin = format!("Origin: http://127.0.0.1:{}", self.port);
        [self.signed(), vec![origin, "Content-Type: application/json".to_owned()]].concat()
    }

    fn call(&self, path: &str, arguments: &Value) -> Answer {
        let body = json!({"session": self.boot["session"], "arguments": arguments}).to_string();
        self.exchange(&format!("POST {path} HTTP/1.1"), &self.own(), &body)
    }

    /// Calls a verb, and returns its reply.
    fn verb(&self, name: &str, arguments: &Value) -> Value {
        let answer = self.call(&format!("/api/verbs/{name}"), arguments);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }
}

impl Drop for Viewing {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.exit_in_time();
    }
}

/// Returns the data of a page; `None` if it has to ask for them.
fn boot_of(page: &Answer) -> Option<Value> {
    let (_, data) = page.body.split_once(r#"id="boot">"#).expect("the page has an element");
    let (data, _) = data.split_once("</script>").expect("the element ends");
    serde_json::from_str::<Value>(data).ok().filter(|data| !data.is_null())
}

#[test]
fn the_page_shows_the_store_and_a_change_in_it_can_be_undone() {
    let home = TestHome::new();
    let mut agent = home.session();
    let id = agent.store("semantic", "The staging server is called heron");
    let viewing = Viewing::start(&home);
    assert_eq!(viewing.boot["list"]["memories"][0]["id"], id, "{}", viewing.boot);
    assert_eq!(viewing.boot["facets"]["type"], json!([{"value": "semantic", "count": 1}]));

    let arguments = json!({"memory_id": id, "content": "The staging server is called egret"});
    let edited = viewing.verb("edit", &arguments);
    assert_eq!(agent.recall("staging server"), ["The staging server is called egret"]);
    viewing.verb("undo", &json!({"id": edited["act"]}));
    assert_eq!(agent.recall("staging server"), ["The staging server is called heron"]);

    let found = viewing.verb("recall_memory", &json!({"query": "staging server", "explain": true}));
    assert!(found["results"][0]["why"].is_object(), "{found}");
    // The two recalls of the agent are counted a moment later.
    let mut again = json!(null);
    wait_until("the accesses are counted", || {
        again = viewing.get("/api/boot").json();
        again["list"]["memories"][0]["access_count"].as_u64() >= Some(2)
    });
    again["list"]["memories"][0].as_object_mut().expect("a memory").remove("access_count");
    assert_eq!(again["list"], viewing.boot["list"]);
}

#[test]
fn a_link_works_once_and_nothing_works_without_cookie_and_key() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The staging server is called heron");
    let viewing = Viewing::start(&home);
    let used = viewing.get(&format!("/open/{}", viewing.token));
    assert!(used.header("set-cookie").is_none() && boot_of(&used).is_none(), "{used:?}");
    assert!(boot_of(&viewing.get("/")).is_none());

    let paths = ["/api/boot", "/api/status", "/api/backups", "/api/nothing"];
    let (cookie, key) = (viewing.signed().remove(0), viewing.signed().remove(1));
    let wrong_key = "Loci-View-Key: 0".to_owned();
    for headers in [vec![], vec![cookie.clone()], vec![key], vec![cookie, wrong_key]] {
        for path in paths {
            let answer = viewing.exchange(&format!("GET {path} HTTP/1.1"), &headers, "");
            let expected = if path == "/api/nothing" { 404 } else { 401 };
            assert_eq!(answer.status, expected, "{path} {headers:?} {answer:?}");
            assert!(!answer.body.contains("heron"), "{answer:?}");
        }
        let body = json!({"session": viewing.boot["session"], "arguments": {}}).to_string();
        for path in ["/api/verbs/list", "/api/long/doctor", "/api/export", "/api/import"] {
            let headers = [headers.as_slice(), &viewing.own()[2..]].concat();
            let answer = viewing.exchange(&format!("POST {path} HTTP/1.1"), &headers, &body);
            assert_eq!(answer.status, 401, "{path} {headers:?} {answer:?}");
        }
    }
    // A page cannot add a header to a stream of events, which holds only numbers.
    let events = "GET /api/events HTTP/1.1";
    assert_eq!(viewing.exchange(events, &[], "").status, 401);
    assert_eq!(viewing.exchange(events, &viewing.signed()[1..], "").status, 401);
}

#[test]
fn two_viewers_keep_their_sessions_in_one_browser() {
    let home = TestHome::without_model();
    let (first, second) = (Viewing::start(&home), Viewing::start(&home));
    let both = [&first, &second].map(|viewing| viewing.cookie.as_str()).join("; ");
    for viewing in [&first, &second] {
        let signed = vec![format!("Cookie: {both}"), format!("Loci-View-Key: {}", viewing.key)];
        assert_eq!(viewing.exchange("GET /api/status HTTP/1.1", &signed, "").status, 200);
    }
    let swapped = vec![format!("Cookie: {both}"), format!("Loci-View-Key: {}", second.key)];
    assert_eq!(first.exchange("GET /api/status HTTP/1.1", &swapped, "").status, 401);
}

#[test]
fn pages_of_other_sites_are_refused() {
    let home = TestHome::without_model();
    let viewing = Viewing::start(&home);
    let body = json!({"session": viewing.boot["session"], "arguments": {}}).to_string();
    let line = "POST /api/verbs/list HTTP/1.1";
    assert_eq!(viewing.exchange(line, &viewing.own(), &body).status, 200);
    let with = |replaced: &str, header: &str| -> Vec<String> {
        let others = viewing.own().into_iter().filter(|own| !own.starts_with(replaced));
        others.chain((!header.is_empty()).then(|| header.to_owned())).collect()
    };
    for (headers, status) in [
        (with("Origin", "Origin: http://evil.example"), 403),
        (with("Origin", "Origin: null"), 403),
        (with("Origin", &format!("Origin: http://127.0.0.1:{}", viewing.port ^ 1)), 403),
        (with("Origin", ""), 403),
        (with("Content-Type", "Content-Type: text/plain"), 415),
        (with("Content-Type", "Content-Type: application/x-www-form-urlencoded"), 415),
        (with("Content-Type", ""), 415),
    ] {
        assert_eq!(viewing.exchange(line, &headers, &body).status, status, "{headers:?}");
    }
    let rebound = format!("GET / HTTP/1.1\r\nHost: evil.example:{}\r\n\r\n", viewing.port);
    assert_eq!(exchange(viewing.port, rebound.as_bytes()).status, 403);
    let page = viewing.get("/");
    let policy = page.header("content-security-policy").expect("the page has a policy");
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-frame-options", "deny"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        assert_eq!(page.header(name), Some(value), "{page:?}");
    }
    assert!(page.header("access-control-allow-origin").is_none());
}

#[test]
fn what_cannot_be_undone_is_left_to_the_command_line() {
    let home = TestHome::without_model();
    let id = home.session().store("semantic", "The staging server is called heron");
    let viewing = Viewing::start(&home);
    for (path, arguments) in [
        ("/api/verbs/reset", json!({})),
        ("/api/verbs/purge_backups", json!({})),
        ("/api/verbs/incognito", json!({})),
        ("/api/long/scan", json!({"redact": true})),
        ("/api/long/doctor", json!({"fix": true})),
        ("/api/verbs/forget_memory", json!({"memory_id": id, "hard_delete": true})),
    ] {
        let answer = viewing.call(path, &arguments);
        assert_eq!(answer.status, 403, "{path} {answer:?}");
        assert!(answer.json()["hint"].as_str().is_some(), "{answer:?}");
    }
    assert_eq!(viewing.verb("list", &json!({}))["total"], 1);
    assert_eq!(viewing.call("/stop", &json!({})).status, 404);
    let forgotten = json!({"memory_id": id, "hard_delete": false});
    assert_eq!(viewing.verb("forget_memory", &forgotten)["status"], "forgotten");
}

#[test]
fn a_page_is_told_of_changes() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let viewing = Viewing::start(&home);
    let stream = connect(viewing.port);
    let (host, signed) = (viewing.port, viewing.signed().join("\r\n"));
    let request = format!("GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{host}\r\n{signed}\r\n\r\n");
    (&stream).write_all(request.as_bytes()).expect("the request is sent");
    let mut lines = BufReader::new(&stream).lines().map(|line| line.expect("the stream goes on"));
    let mut next = || {
        let line = lines.find(|line| line.starts_with("data: ")).expect("an event");
        serde_json::from_str::<Value>(&line["data: ".len()..]).expect("JSON")["revision"].as_i64()
    };
    let first = next().expect("a number");
    agent.store("semantic", "The staging server is called heron");
    assert!(next().expect("a number") > first);
}

#[test]
fn export_and_import_work_as_on_the_command_line() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The staging server is called heron");
    let viewing = Viewing::start(&home);
    let export = viewing.call("/api/export", &json!({}));
    assert_eq!(export.header("content-type"), Some("application/x-ndjson"), "{export:?}");
    assert!(export.body.contains("heron"), "{export:?}");
    let call = json!({"session": viewing.boot["session"], "arguments": {}});
    let body = format!("{call}\n{}", export.body);
    let mut headers = viewing.own();
    headers[3] = "Content-Type: application/x-ndjson".to_owned();
    let imported = viewing.exchange("POST /api/import HTTP/1.1", &headers, &body);
    assert_eq!(imported.status, 200, "{imported:?}");
    assert_eq!(viewing.verb("list", &json!({}))["total"], 1);
    // The one that was made before the import.
    assert_eq!(viewing.get("/api/backups").json()["backups"][0]["reason"], "import");
}

#[test]
fn it_closes_with_its_command_and_keeps_the_daemon_until_then() {
    let home = TestHome::without_model();
    let _agent = home.session();
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL] {
        let mut viewing = Viewing::start(&home);
        let url = format!("http://127.0.0.1:{}/", viewing.port);
        assert_eq!(home.status()["viewers"], json!([url]));
        let doctor = home.loci(&["doctor", "--json"]);
        assert!(String::from_utf8_lossy(&doctor.stdout).contains("a viewer is open at"));
        // An open stream of events does not hold it.
        let stream = connect(viewing.port);
        let signed = viewing.signed().join("\r\n");
        let port = viewing.port;
        let request =
            format!("GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{signed}\r\n\r\n");
        (&stream).write_all(request.as_bytes()).expect("the request is sent");
        kill(Pid::from_raw(viewing.child.id().cast_signed()), signal).expect("the signal is sent");
        let code = viewing.child.exit_in_time().expect("the command ends").code();
        assert_eq!(code, (signal != Signal::SIGKILL).then_some(0), "{signal}");
        wait_until("the viewer is closed", || home.status().get("viewers").is_none());
        wait_until("the port is closed", || TcpStream::connect(("127.0.0.1", port)).is_err());
        assert!(read_answer(&stream).is_none_or(|answer| answer.status == 200));
    }
    let viewing = Viewing::start(&home);
    let port = viewing.port.to_string();
    let refused = home.loci(&["view", "--no-open", "--port", &port]);
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("in use") && text.contains("without --port"), "{text}");
}

#[test]
fn a_page_that_no_person_has_opened_only_reads() {
    let home = TestHome::without_model();
    let id = home.session().store("semantic", "The kiln is fired on Monday");
    let mut agent = home.command("loci");
    agent.env("GEMINI_CLI", "1");
    let mut script = home.command("loci");
    script.env_remove("LOCI_PERSON");
    for command in [agent, script] {
        let viewing = Viewing::opened_by(command);
        assert_eq!(viewing.boot["read_only"], true);
        for (verb, arguments) in [
            ("list", json!({})),
            ("recall_memory", json!({"query": "kiln"})),
            ("review", json!({})),
            ("doctor", json!({})),
            ("maintenance", json!({"action": "status"})),
            ("bridge", json!({})),
        ] {
            viewing.verb(verb, &arguments);
        }
        for (verb, arguments) in [
            ("store_memory", json!({"content": "x", "type": "semantic"})),
            ("edit", json!({"memory_id": id, "content": "x"})),
            ("pin", json!({"memory_id": id, "pinned": true})),
            ("forget_memory", json!({"memory_id": id})),
            ("forget_many", json!({"memory_ids": [id]})),
            ("undo", json!({"last": 1})),
            ("review", json!({"decline": id})),
            ("groups_rename", json!({"group": "a", "name": "b"})),
            ("backup", json!({})),
            ("maintenance", json!({"action": "pause"})),
            ("store_relation", json!({"from": id, "to": id, "predicate": "is"})),
        ] {
            // The page may say that a person speaks: it speaks for who opened it.
            let session = json!({"id": "x", "pid": 1, "speaker": "person"});
            let body = json!({"session": session, "arguments": arguments}).to_string();
            let line = format!("POST /api/verbs/{verb} HTTP/1.1");
            let answer = viewing.exchange(&line, &viewing.own(), &body);
            assert_eq!(answer.status, 403, "{verb}: {answer:?}");
            assert!(answer.body.contains("only reads"), "{verb}: {answer:?}");
        }
        let answer = viewing.call("/api/import", &json!({}));
        assert_eq!(answer.status, 403, "{answer:?}");
    }
    let viewing = Viewing::start(&home);
    assert_eq!(viewing.boot["read_only"], false);
    viewing.verb("pin", &json!({"memory_id": id, "pinned": true}));
}
