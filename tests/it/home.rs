//! A whole installation in a temporary home: the real binaries, the real database, and (unless a
//! test says otherwise) the real model.
//!
//! A [`TestHome`] stops its daemon and removes its folder when it is dropped. Not here: any test.

use crate::in_time::{ExitInTime, OutputInTime, in_time};
use serde_json::{Map, Value, json};
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Maximum requests to a shim whose answers nobody reads.
const MAX_UNHEARD: usize = 1_000_000;

/// A Python program that runs a command at a pseudo-terminal: waits for the question, types the
/// line, prints the screen, exits with the command's code.
const TERMINAL: &str = r#"
import os, pty, sys
question, typed, program = sys.argv[1].encode(), sys.argv[2].encode(), sys.argv[3:]
child, terminal = pty.fork()
if child == 0:
    os.execv(program[0], program)
screen, answered = b"", False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:
        break
    if not part:
        break
    screen += part
    if not answered and question in screen:
        answered = True
        os.write(terminal, typed + b"\n")
sys.stdout.write(screen.decode())
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"#;

/// A temporary home.
pub struct TestHome {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// Returns everything that a command has printed.
pub fn printed(output: &Output) -> String {
    [&output.stdout[..], &output.stderr[..]].map(String::from_utf8_lossy).concat()
}

impl TestHome {
    /// Returns a home with the model.
    pub fn new() -> Self {
        let home = Self::without_model();
        home.with("LOCI_MODELS", models())
    }

    /// Returns a home whose model folder is empty and stays so unless a test fills it.
    pub fn without_model() -> Self {
        let folder =
            tempfile::Builder::new().prefix("loci-it-").tempdir().expect("the folder is created");
        let home = Self { folder, variables: Vec::new() };
        for name in ["run", "project", "models"] {
            std::fs::create_dir(home.path(name)).expect("the folder is created");
        }
        private(&home.path("run"));
        home.configure("");
        let models = home.path("models");
        home.with("LOCI_MODELS", models)
    }

    /// Adds an environment variable.
    pub fn with(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((
            name.to_owned(),
            value.as_ref().to_str().expect("the path is UTF-8").to_owned(),
        ));
        self
    }

    /// Returns a path inside the home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes `~/.loci/config.toml`, with model download disabled.
    pub fn configure(&self, text: &str) {
        self.configure_whole(&format!("{text}\n[embedding]\ndownload = false\n"));
    }

    /// Writes exactly this text to `~/.loci/config.toml`.
    pub fn configure_whole(&self, text: &str) {
        let folder = self.path(".loci");
        if !folder.exists() {
            std::fs::create_dir(&folder).expect("the folder is created");
            private(&folder);
        }
        let file = folder.join("config.toml");
        std::fs::write(&file, text).expect("the file is written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))
            .expect("the permissions are set");
    }

    /// Returns a command with only this home's environment.
    pub fn command(&self, binary: &str) -> Command {
        self.command_at(&binaries().join(binary))
    }

    /// The same for a binary at another path.
    pub fn command_at(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command
            .env_clear()
            .env("HOME", self.folder.path())
            .env("XDG_RUNTIME_DIR", self.path("run"))
            // Without a terminal, too, a test acts as a person, unless it sets the marks of an agent.
            .env("LOCI_PERSON", "1")
            .current_dir(self.path("project"));
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs `loci` until it exits.
    pub fn loci(&self, arguments: &[&str]) -> Output {
        self.command("loci")
            .args(arguments)
            .stdin(Stdio::null())
            .output_in_time()
            .expect("loci runs")
    }

    /// Allows, as a person, what the `.loci.toml` of a folder asks for.
    pub fn allow(&self, folder: &str) {
        let mut command = self.command("loci");
        command.current_dir(self.path(folder)).args(["groups", "allow", "--yes"]);
        let allowed = command.stdin(Stdio::null()).output_in_time().expect("loci runs");
        assert!(allowed.status.success(), "{}", printed(&allowed));
    }

    /// Runs `loci`, which must succeed and print JSON; returns that.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let output = self.loci(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", printed(&output));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", printed(&output)))
    }

    /// Runs `loci` at a terminal and types a line when it asks; returns its exit code and the
    /// screen.
    pub fn at_terminal(
        &self,
        arguments: &[&str],
        question: &str,
        typed: &str,
    ) -> (Option<i32>, String) {
        let loci = self.command("loci");
        let mut terminal = self.command_at(Path::new("python3"));
        terminal.args(["-c", TERMINAL, question, typed]).arg(loci.get_program()).args(arguments);
        let output = terminal.stdin(Stdio::null()).output_in_time().expect("python3 runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns the daemon's status.
    pub fn status(&self) -> Value {
        let output = self.loci(&["ctl", "status", "--json"]);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("no status: {}", String::from_utf8_lossy(&output.stderr)))
    }

    /// Changes a column of a stored memory in the database, as an earlier version or an import has
    /// stored it: without removing hidden characters.
    pub fn set_stored(&self, id: &str, column: &str, text: &str) {
        let database = rusqlite::Connection::open(self.path(".loci/memory.db"));
        let database = database.expect("the database opens");
        database.busy_timeout(std::time::Duration::from_secs(5)).expect("the option is set");
        let changed = database
            .execute(&format!("UPDATE memories SET {column} = ?1 WHERE id = ?2"), [text, id]);
        assert_eq!(changed.expect("the statement runs"), 1);
        if column == "content" {
            let hash = loci_engine::duplicate::content_hash::hash(text);
            let sql = "UPDATE memories SET content_hash = ?1 WHERE id = ?2";
            database.execute(sql, (hash, id)).expect("the hash is that of the text");
        }
    }

    /// Starts an agent's session in the home's project.
    pub fn session(&self) -> Agent {
        Agent::start(self.command("loci"))
    }

    /// Starts an agent's session in another project.
    pub fn session_in(&self, project: &str) -> Agent {
        let folder = self.path(project);
        std::fs::create_dir_all(&folder).expect("the folder is created");
        let mut command = self.command("loci");
        command.current_dir(folder);
        Agent::start(command)
    }

    /// Returns every log line of this home's daemon.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path(".loci/logs/locid.log")).unwrap_or_default()
    }
}

impl Drop for TestHome {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let status = self.loci(&["ctl", "status", "--json"]);
            println!("status: {status:?}\nlog of the daemon:\n{}", self.log());
        }
        let stopped = self.loci(&["ctl", "stop"]);
        let stderr = String::from_utf8_lossy(&stopped.stderr);
        assert!(
            stopped.status.success() || std::thread::panicking(),
            "the daemon did not stop: {stderr}"
        );
    }
}

/// One `loci mcp` as an agent runs it.
pub struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
    calls: u64,
}

impl Agent {
    /// Starts a session by this command.
    pub fn start(mut command: Command) -> Self {
        let mut agent = Self::bare(command.arg("mcp"));
        let hello = agent.request(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}}),
        );
        assert_eq!(hello["result"]["serverInfo"]["name"], "loci", "{hello}");
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string());
        agent
    }

    /// Starts a shim without sending anything.
    pub fn bare(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("loci starts");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().map(BufReader::new);
        Self { child, stdin, stdout, calls: 0 }
    }

    /// Sends one line.
    pub fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes());
        self.send_bytes(b"\n");
    }

    /// Sends raw bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("the stream is open");
        in_time("the shim to read its input", || stdin.write_all(bytes))
            .expect("the peer reads its input");
    }

    /// Sends lines from another thread; the session can send nothing more afterwards.
    pub fn send_from_a_thread(&mut self, lines: Vec<String>) -> std::thread::JoinHandle<()> {
        let mut stdin = self.stdin.take().expect("the stream is open");
        std::thread::spawn(move || {
            for line in lines {
                writeln!(stdin, "{line}").expect("the peer reads its input");
            }
            stdin.flush().expect("the shim reads its input");
        })
    }

    /// Returns the next message, a notification or a reply.
    pub fn next_message(&mut self) -> Value {
        serde_json::from_str(&self.next_line()).expect("valid JSON")
    }

    /// The next line, byte for byte.
    pub fn next_line(&mut self) -> String {
        let stdout = self.stdout.as_mut().expect("the stream is open");
        let mut line = String::new();
        let read = in_time("a line of the shim", || stdout.read_line(&mut line));
        assert!(read.expect("a line can be read") > 0, "the shim has ended");
        line
    }

    /// Returns the next reply.
    pub fn receive(&mut self) -> Value {
        loop {
            let message = self.next_message();
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Sends a request and waits for its reply.
    #[expect(clippy::needless_pass_by_value, reason = "parameters are written where they are used")]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool; returns its structured content, or the text of its error.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are written where they are used")]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, String> {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        if result["isError"] == true {
            return Err(result["content"][0]["text"].as_str().unwrap_or_default().to_owned());
        }
        assert!(result["structuredContent"].is_object(), "{answer}");
        Ok(result["structuredContent"].clone())
    }

    /// Calls a tool as [`Agent::call`] does; `None` if the shim ends before it answers.
    #[expect(clippy::needless_pass_by_value, reason = "arguments are written where they are used")]
    pub fn try_call(&mut self, tool: &str, arguments: Value) -> Option<Result<Value, String>> {
        self.calls += 1;
        let params = json!({"name": tool, "arguments": arguments});
        let line =
            json!({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params});
        writeln!(self.stdin.as_mut()?, "{line}").ok()?;
        let mut line = String::new();
        let answer: Value = loop {
            line.clear();
            let stdout = self.stdout.as_mut()?;
            if in_time("a line of the shim", || stdout.read_line(&mut line)).ok()? == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).ok()?;
            if message["id"] == self.calls {
                break message;
            }
        };
        let result = &answer["result"];
        if result["isError"] == true {
            return Some(Err(result["content"][0]["text"].as_str().unwrap_or_default().to_owned()));
        }
        assert!(result["structuredContent"].is_object(), "{answer}");
        Some(Ok(result["structuredContent"].clone()))
    }

    /// Stores a memory; returns its id.
    pub fn store(&mut self, kind: &str, content: &str) -> String {
        let reply = self
            .call("store_memory", json!({"content": content, "type": kind}))
            .expect("the call succeeds");
        reply["id"].as_str().expect("the reply has an id").to_owned()
    }

    /// Stores several memories of one type.
    pub fn store_all<'a>(&mut self, kind: &str, contents: impl IntoIterator<Item = &'a str>) {
        for content in contents {
            self.store(kind, content);
        }
    }

    /// Stores a memory; returns the whole reply.
    pub fn store_with(&mut self, arguments: Value) -> Map<String, Value> {
        match self.call("store_memory", arguments).expect("the call succeeds") {
            Value::Object(reply) => reply,
            other => panic!("{other}"),
        }
    }

    /// Recalls; returns the contents of the results, best first.
    pub fn recall(&mut self, query: &str) -> Vec<String> {
        contents(
            &self
                .call("recall_memory", json!({"query": query, "max_results": 20}))
                .expect("the call succeeds"),
        )
    }

    /// Returns the pid of the shim.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the session as an agent does; returns the shim's exit code.
    pub fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.wait_for_exit()
    }

    /// Closes the shim's output and sends a request; returns the shim's exit code.
    pub fn close_output(mut self) -> Option<i32> {
        drop(self.stdout.take());
        // A program that another test starts has the other end too until it runs: the first answers may still be written.
        for _ in 0..MAX_UNHEARD {
            let stdin = self.stdin.as_mut().expect("the stream is open");
            let sent = in_time("the shim to read its input or to exit", || {
                writeln!(stdin, r#"{{"jsonrpc":"2.0","id":"unheard","method":"ping"}}"#)
            });
            if sent.is_err() || self.child.try_wait().expect("it is asked").is_some() {
                break;
            }
        }
        self.wait_for_exit()
    }

    /// Waits for the shim to exit; returns its exit code.
    pub fn wait_for_exit(&mut self) -> Option<i32> {
        self.child.exit_in_time().expect("the process ends").code()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // The shim exits at the end of its input; a failed test may have left it in any state.
        let _ = self.child.kill();
        let _ = self.child.exit_in_time();
    }
}

/// Returns the contents of a recall's results, best first.
pub fn contents(reply: &Value) -> Vec<String> {
    let results = reply["results"].as_array().expect("a JSON array");
    results.iter().filter_map(|r| r["content"].as_str()).map(str::to_owned).collect()
}

/// Returns the folder of the built binaries: `LOCI_TEST_BINARIES`, else the parent of this test's
/// folder.
pub fn binaries() -> PathBuf {
    if let Some(folder) = std::env::var_os("LOCI_TEST_BINARIES") {
        return PathBuf::from(folder);
    }
    let test = std::env::current_exe().expect("the path of the test is known");
    let folder = test
        .parent()
        .and_then(Path::parent)
        .expect("the test is in target/release/deps")
        .to_path_buf();
    for name in ["loci", "locid"] {
        assert!(folder.join(name).is_file(), "{name} is not built; run: cargo build --release");
    }
    folder
}

/// Returns the model cache of this machine; downloads the model if it is missing.
pub fn models() -> PathBuf {
    static MODELS: OnceLock<PathBuf> = OnceLock::new();
    MODELS
        .get_or_init(|| {
            let home =
                || Path::new(&std::env::var_os("HOME").expect("HOME is set")).join(".loci/models");
            let models = std::env::var_os("LOCI_MODELS").map_or_else(home, PathBuf::from);
            fetch_model(&models, None);
            models
        })
        .clone()
}

/// Downloads the model of a configuration into the model cache of this machine, if it is missing.
pub fn fetch_model(models: &Path, config: Option<&Path>) {
    let fetched = Command::new(binaries().join("locid"))
        .args(["model", "fetch"])
        .env("LOCI_MODELS", models)
        .envs(config.map(|config| ("LOCI_CONFIG", config)))
        .exit_in_time()
        .expect("locid runs");
    assert!(fetched.success(), "the model could not be fetched");
}

pub fn private(folder: &Path) {
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
        .expect("the permissions are set");
}
