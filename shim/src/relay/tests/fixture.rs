//! The stage of these tests: an agent's end of the pipes, and a daemon that does what the test says.

use crate::client::{Patience, Reach};
use crate::relay::agent::Agent;
use crate::relay::idempotency_key::Keys;
use crate::relay::line_reader::{Line, Lines};
use crate::relay::{Endurance, Relay};
use loci_proto::hello::{Hello, Reply, Session, Welcome};
use loci_proto::limits;
use loci_proto::paths::{Paths, Variables};
use serde_json::{Value, json};
use std::rc::Rc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::UnixListener;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, LocalSet};
use tokio::time::timeout;

/// Nothing in these tests may take longer.
const AT_MOST: Duration = Duration::from_secs(20);
/// How long to look for something that must not happen.
const A_WHILE: Duration = Duration::from_millis(50);

/// Deadlines of a scene; long ones unless the scene is about them.
#[derive(Clone, Copy)]
pub struct Deadlines {
    pub reach: Duration,
    pub hello: Duration,
    pub drain: Duration,
    pub request: Duration,
    pub greeting: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { reach: AT_MOST, hello: AT_MOST, drain: AT_MOST, request: AT_MOST, greeting: AT_MOST }
    }
}

/// A relay at work, and both its neighbours.
pub struct Scene {
    pub agent: AgentEnd,
    pub daemon: DaemonEnd,
    /// Ends when the relay does.
    pub relay: JoinHandle<()>,
    /// A signal to the relay.
    pub stop: oneshot::Sender<()>,
}

/// Plays a scene with long deadlines.
pub async fn play(script: impl AsyncFnOnce(Scene)) {
    play_with(Deadlines::default(), script).await;
}

/// Plays a scene.
pub async fn play_with(deadlines: Deadlines, script: impl AsyncFnOnce(Scene)) {
    let play = async { script(set(deadlines)).await };
    timeout(AT_MOST, LocalSet::new().run_until(play)).await.expect("the scene does not hang");
}

fn set(deadlines: Deadlines) -> Scene {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let variables = Variables {
        home: Some(folder.path().join("home")),
        runtime: Some(folder.path().into()),
        ..Variables::default()
    };
    let paths = Paths::resolve(&variables).expect("resolves");
    std::fs::create_dir(&paths.runtime).expect("is made");
    let (stdin, to_relay) = tokio::io::duplex(64 * 1024);
    let (stdout, from_relay) = tokio::io::duplex(64 * 1024);
    let keys = Keys::new();
    let session = Session { id: keys.session().to_owned(), ..Session::default() };
    let hello = Hello { loci: (1, 1), shim: "0".to_owned(), session };
    let patience = Patience { reach: deadlines.reach, hello: deadlines.hello };
    let reach = Reach { paths: Ok(paths.clone()), hello, launch: None, patience };
    let endurance = Endurance {
        drain: deadlines.drain,
        request: deadlines.request,
        greeting: deadlines.greeting,
        handshake: AT_MOST,
    };
    let relay = Relay::new(Agent::new(stdin, stdout), Rc::new(reach), keys, endurance);
    let (stop, stopped) = oneshot::channel::<()>();
    let told = async {
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    Scene {
        agent: AgentEnd {
            stdin: Some(to_relay),
            lines: Some(Lines::new(from_relay, limits::LINE_BYTES)),
        },
        daemon: DaemonEnd { listener: None, paths, _folder: folder },
        relay: tokio::task::spawn_local(relay.run(told)),
        stop,
    }
}

/// What an agent holds of its server.
pub struct AgentEnd {
    pub stdin: Option<DuplexStream>,
    pub lines: Option<Lines<DuplexStream>>,
}

impl AgentEnd {
    pub async fn say(&mut self, line: &str) {
        self.say_bytes(format!("{line}\n").as_bytes()).await;
    }

    pub async fn say_bytes(&mut self, bytes: &[u8]) {
        self.stdin.as_mut().expect("still speaks").write_all(bytes).await.expect("the relay reads");
    }

    pub async fn ask(&mut self, id: u32, method: &str) {
        self.say(&request(id, method)).await;
    }

    /// The next answer; none when the relay has ended.
    pub async fn hears(&mut self) -> Option<Value> {
        match self.lines.as_mut().expect("still listens").next().await.expect("can be read")? {
            Line::Whole(line) => Some(serde_json::from_slice(&line).expect("is JSON")),
            Line::TooLong(_) => panic!("an answer is too long"),
        }
    }

    /// The ids of the next answers.
    pub async fn hears_ids(&mut self, count: usize) -> Vec<Value> {
        let mut ids = Vec::new();
        for _ in 0..count {
            ids.push(self.hears().await.expect("an answer")["id"].take());
        }
        ids
    }

    /// The text of the next answer, which is a failed call.
    pub async fn hears_failure(&mut self) -> String {
        let answer = self.hears().await.expect("an answer");
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
    }
}

/// A request as the agent writes it.
pub fn request(id: u32, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{}}}}"#)
}

/// The place where a daemon may listen.
pub struct DaemonEnd {
    listener: Option<UnixListener>,
    paths: Paths,
    _folder: TempDir,
}

impl DaemonEnd {
    /// Begins to listen.
    pub fn starts(&mut self) {
        self.listener = Some(UnixListener::bind(&self.paths.socket).expect("is bound"));
    }

    /// Accepts a shim and reads its hello, as it does while it is well.
    pub async fn accepts(&mut self) -> DaemonSession {
        if self.listener.is_none() {
            self.starts();
        }
        let (stream, _) = self.listener.as_ref().expect("listens").accept().await.expect("accepts");
        let (reader, writer) = stream.into_split();
        let mut session = DaemonSession { lines: Lines::new(reader, limits::LINE_BYTES), writer };
        let hello = session.hears().await;
        serde_json::from_value::<Hello>(hello).expect("is a hello");
        session
    }

    /// Accepts a shim and welcomes it.
    pub async fn welcomes(&mut self) -> DaemonSession {
        self.welcomes_with("").await
    }

    /// The same, with a list of tools that has this fingerprint.
    pub async fn welcomes_with(&mut self, tools: &str) -> DaemonSession {
        let mut session = self.accepts().await;
        let (daemon, boot, tools) = ("0".to_owned(), "b".to_owned(), tools.to_owned());
        let welcome = Welcome { ok: true, loci: 1, daemon, boot, pid: 1, tools };
        session.says(&json!(Reply::Welcome(welcome))).await;
        session
    }

    /// Answers one request on the admin socket, and stops listening for agents as the request asked; its first line.
    pub async fn obeys(&mut self) -> String {
        let admin = UnixListener::bind(&self.paths.admin_socket).expect("is bound");
        let (mut stream, _) = admin.accept().await.expect("accepts");
        let mut request = vec![0; 4096];
        let length = stream.read(&mut request).await.expect("is asked");
        self.listener = None;
        std::fs::remove_file(&self.paths.socket).expect("was there");
        stream
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{\"done\":\"x\"}")
            .await
            .expect("is answered");
        String::from_utf8_lossy(&request[..length]).lines().next().unwrap_or_default().to_owned()
    }

    /// True when no shim comes within a while.
    pub async fn is_left_alone(&mut self) -> bool {
        timeout(A_WHILE, self.accepts()).await.is_err()
    }
}

/// What a daemon holds of a shim. Dropped, it is a daemon that was killed.
pub struct DaemonSession {
    pub lines: Lines<OwnedReadHalf>,
    pub writer: OwnedWriteHalf,
}

impl DaemonSession {
    /// The next line as it came; none at the end.
    pub async fn hears_line(&mut self) -> Option<String> {
        match self.lines.next().await.expect("can be read")? {
            Line::Whole(line) => Some(String::from_utf8(line).expect("is text")),
            Line::TooLong(_) => panic!("a line is too long"),
        }
    }

    pub async fn hears(&mut self) -> Value {
        serde_json::from_str(&self.hears_line().await.expect("a line")).expect("is JSON")
    }

    /// Ids (or methods, for notifications) of the next lines.
    pub async fn hears_ids(&mut self, count: usize) -> Vec<Value> {
        let mut heard = Vec::new();
        for _ in 0..count {
            let mut message = self.hears().await;
            let name = if message["id"].is_null() { "method" } else { "id" };
            heard.push(message[name].take());
        }
        heard
    }

    pub async fn says(&mut self, message: &Value) {
        self.says_bytes(format!("{message}\n").as_bytes()).await;
    }

    pub async fn says_bytes(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.expect("the relay reads");
    }

    pub async fn answers(&mut self, id: u32) {
        self.says(&json!({"jsonrpc": "2.0", "id": id, "result": {}})).await;
    }
}
