//! The fixture of the relay tests: the agent's end of the pipes, and a daemon scripted by the test.

use crate::client::connector::{ConnectTimeouts, Connector};
use crate::relay::agent::Agent;
use crate::relay::idempotency_key::IdempotencyKeys;
use crate::relay::line_reader::{Line, LineReader};
use crate::relay::{Relay, Timeouts};
use crate::spawn::{Launch, folders};
use loci_proto::hello::{Hello, Reply, Session, Welcome};
use loci_proto::limits;
use loci_proto::paths::{Paths, Variables};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::timeout;

/// Time limit of one test.
const TEST_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a test waits for an event that must not happen.
const ABSENCE_TIMEOUT: Duration = Duration::from_millis(50);

/// Settings of the relay. Its timeouts are effectively unlimited unless a test sets them.
#[derive(Clone, Copy)]
pub struct TestSettings {
    pub connect: Duration,
    pub hello: Duration,
    pub drain: Duration,
    pub request: Duration,
    pub local_handshake: Duration,
    /// A shell script in place of `locid`, which the relay may start.
    pub locid: Option<&'static str>,
}

impl Default for TestSettings {
    fn default() -> Self {
        Self {
            connect: TEST_TIMEOUT,
            hello: TEST_TIMEOUT,
            drain: TEST_TIMEOUT,
            request: TEST_TIMEOUT,
            local_handshake: TEST_TIMEOUT,
            locid: None,
        }
    }
}

/// A running relay with both of its ends.
pub struct Fixture {
    pub agent: AgentEnd,
    pub daemon: DaemonEnd,
    /// Completes when the relay ends.
    pub relay: JoinHandle<()>,
    /// Sends the stop signal to the relay.
    pub stop: oneshot::Sender<()>,
}

/// Runs a test with long timeouts.
pub async fn run(script: impl AsyncFnOnce(Fixture)) {
    run_with(TestSettings::default(), script).await;
}

/// Runs a test.
pub async fn run_with(settings: TestSettings, script: impl AsyncFnOnce(Fixture)) {
    let test = async { script(set_up(settings)).await };
    timeout(TEST_TIMEOUT, LocalSet::new().run_until(test)).await.expect("the test must not hang");
}

fn set_up(settings: TestSettings) -> Fixture {
    let folder = tempfile::tempdir().expect("the temporary folder is created");
    let variables = Variables {
        home: Some(folder.path().join("home")),
        runtime: Some(folder.path().into()),
        ..Variables::default()
    };
    let paths = Paths::resolve(&variables).expect("the paths resolve");
    folders::ensure_private(&paths.runtime).expect("the runtime folder is created");
    let (stdin, to_relay) = tokio::io::duplex(64 * 1024);
    let (stdout, from_relay) = tokio::io::duplex(64 * 1024);
    let keys = IdempotencyKeys::new();
    let session = Session { id: keys.session().to_owned(), ..Session::default() };
    let hello = Hello { loci: (1, 1), shim: "0".to_owned(), session };
    let connect_timeouts = ConnectTimeouts { total: settings.connect, hello: settings.hello };
    let launch = settings.locid.map(|script| launch(folder.path(), script));
    let connector =
        Connector { paths: Ok(paths.clone()), hello, launch, timeouts: connect_timeouts };
    let timeouts = Timeouts {
        drain: settings.drain,
        request: settings.request,
        connect: settings.local_handshake,
        handshake: TEST_TIMEOUT,
    };
    let relay = Relay::new(Agent::new(stdin, stdout), Rc::new(connector), keys, timeouts);
    let (stop, stopped) = oneshot::channel::<()>();
    let stop_signal = async {
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    Fixture {
        agent: AgentEnd {
            stdin: Some(to_relay),
            lines: Some(LineReader::new(from_relay, limits::LINE_BYTES)),
        },
        daemon: DaemonEnd { listener: None, paths, _folder: folder },
        relay: tokio::task::spawn_local(relay.run(stop_signal)),
        stop,
    }
}

/// Returns how to start the shell script in place of `locid`.
fn launch(folder: &Path, script: &str) -> Launch {
    let binary = folder.join("locid");
    std::fs::write(&binary, format!("#!/bin/sh\n{script}\n")).expect("the script is written");
    std::fs::set_permissions(&binary, Permissions::from_mode(0o700))
        .expect("the script is made executable");
    Launch { binary: Some(binary) }
}

/// The agent's end of the relay.
pub struct AgentEnd {
    pub stdin: Option<DuplexStream>,
    pub lines: Option<LineReader<DuplexStream>>,
}

impl AgentEnd {
    pub async fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.stdin
            .as_mut()
            .expect("the input is open")
            .write_all(bytes)
            .await
            .expect("the relay reads its input");
    }

    pub async fn request(&mut self, id: u32, method: &str) {
        self.send(&request(id, method)).await;
    }

    /// Receives the next answer; `None` when the relay has ended.
    pub async fn receive(&mut self) -> Option<Value> {
        match self
            .lines
            .as_mut()
            .expect("the output is open")
            .next()
            .await
            .expect("the output can be read")?
        {
            Line::Whole(line) => Some(serde_json::from_slice(&line).expect("the answer is JSON")),
            Line::TooLong(_) => panic!("an answer is too long"),
        }
    }

    /// Receives answers and returns their ids.
    pub async fn receive_ids(&mut self, count: usize) -> Vec<Value> {
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(self.receive().await.expect("the agent receives an answer")["id"].take());
        }
        ids
    }

    /// Receives a failed call and returns its text.
    pub async fn receive_failure(&mut self) -> String {
        let answer = self.receive().await.expect("the agent receives an answer");
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"].as_str().expect("the result has a text").to_owned()
    }
}

/// Returns a request line.
pub fn request(id: u32, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}"#)
}

/// The sockets on which the scripted daemon listens.
pub struct DaemonEnd {
    listener: Option<UnixListener>,
    pub paths: Paths,
    _folder: TempDir,
}

impl DaemonEnd {
    /// Starts listening.
    pub fn listen(&mut self) {
        self.listener = Some(UnixListener::bind(&self.paths.socket).expect("the socket is bound"));
    }

    /// Accepts a connection and reads its hello.
    pub async fn accept_hello(&mut self) -> DaemonSession {
        if self.listener.is_none() {
            self.listen();
        }
        let (stream, _) = self
            .listener
            .as_ref()
            .expect("the daemon listens")
            .accept()
            .await
            .expect("the relay connects");
        let (reader, writer) = stream.into_split();
        let mut session =
            DaemonSession { lines: LineReader::new(reader, limits::LINE_BYTES), writer };
        let hello = session.receive().await;
        serde_json::from_value::<Hello>(hello).expect("the first line is a hello");
        session
    }

    /// Accepts a connection and its hello.
    pub async fn accept_and_welcome(&mut self) -> DaemonSession {
        self.accept_and_welcome_with("").await
    }

    /// Accepts a connection and its hello; the welcome contains `tools` as the fingerprint of the tool list.
    pub async fn accept_and_welcome_with(&mut self, tools: &str) -> DaemonSession {
        let mut session = self.accept_hello().await;
        let (daemon, boot, tools) = ("0".to_owned(), "b".to_owned(), tools.to_owned());
        let welcome = Welcome { ok: true, loci: 1, daemon, boot, pid: 1, tools };
        session.send(&json!(Reply::Welcome(welcome))).await;
        session
    }

    /// Answers one stop request on the admin socket, stops listening, and returns the request line.
    pub async fn answer_stop_request(&mut self) -> String {
        let admin =
            UnixListener::bind(&self.paths.admin_socket).expect("the admin socket is bound");
        let (mut stream, _) = admin.accept().await.expect("the relay connects");
        let mut request = vec![0; 4096];
        let length = stream.read(&mut request).await.expect("the request can be read");
        self.listener = None;
        std::fs::remove_file(&self.paths.socket).expect("the socket is removed");
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{\"done\":\"x\"}")
            .await
            .expect("the answer is written");
        String::from_utf8_lossy(&request[..length]).lines().next().unwrap_or_default().to_owned()
    }

    /// Returns true when no connection arrives within [`ABSENCE_TIMEOUT`].
    pub async fn gets_no_connection(&mut self) -> bool {
        timeout(ABSENCE_TIMEOUT, self.accept_hello()).await.is_err()
    }
}

/// The daemon's end of one connection. Dropping it simulates a killed daemon.
pub struct DaemonSession {
    pub lines: LineReader<OwnedReadHalf>,
    pub writer: OwnedWriteHalf,
}

impl DaemonSession {
    /// Receives the next line unchanged; `None` at the end.
    pub async fn receive_line(&mut self) -> Option<String> {
        match self.lines.next().await.expect("the connection can be read")? {
            Line::Whole(line) => Some(String::from_utf8(line).expect("the line is UTF-8")),
            Line::TooLong(_) => panic!("a line is too long"),
        }
    }

    pub async fn receive(&mut self) -> Value {
        serde_json::from_str(&self.receive_line().await.expect("the daemon receives a line"))
            .expect("the line is JSON")
    }

    /// Receives lines and returns their ids, or the methods of notifications.
    pub async fn receive_ids(&mut self, count: usize) -> Vec<Value> {
        let mut received = Vec::new();
        for _ in 0..count {
            let mut message = self.receive().await;
            let name = if message["id"].is_null() { "method" } else { "id" };
            received.push(message[name].take());
        }
        received
    }

    pub async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.expect("the relay reads its input");
    }

    pub async fn answer(&mut self, id: u32) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "result": {}})).await;
    }
}
