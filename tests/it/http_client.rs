//! A raw HTTP client: sends exactly the bytes that a test gives it, because the bad requests are what no library sends. Not here: any test.

use crate::home::TestHome;
use crate::in_time::{ExitInTime, in_time};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a test waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The protocol revision of a request without a handshake.
pub const STATELESS: &str = "2026-07-28";
/// The newest protocol revision with a handshake.
pub const WITH_HANDSHAKE: &str = "2025-11-25";

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    /// The header lines, in lower case.
    pub head: String,
    pub body: String,
}

impl Answer {
    /// Returns the body as JSON, or the last event of a stream.
    pub fn json(&self) -> Value {
        let event = self.body.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        let text = event.unwrap_or(&self.body);
        serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

/// Sends bytes to a port and reads the answer until the server closes the connection or the body is complete.
pub fn exchange(port: u16, request: &[u8]) -> Answer {
    let stream = connect(port);
    // The server may answer before it has read everything, and then closes the connection.
    let _ = (&stream).write_all(request);
    read_answer(&stream).expect("the server answers")
}

/// Connects to a port.
pub fn connect(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("the port is open");
    stream.set_read_timeout(Some(PATIENCE)).expect("the option is set");
    stream
}

/// Reads an answer; `None` if the server closes the connection without one.
pub fn read_answer(stream: &TcpStream) -> Option<Answer> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let head = head.to_lowercase().replace("\r\n", "\n");
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let mut answer = Answer { status, head, body: String::new() };
    let mut body = Vec::new();
    match answer.header("content-length") {
        Some(length) => {
            body.resize(length.parse().ok()?, 0);
            reader.read_exact(&mut body).ok()?;
        }
        None if answer.header("transfer-encoding").is_some() => {
            read_chunks(&mut reader, &mut body)?;
        }
        None => {}
    }
    answer.body = String::from_utf8(body).ok()?;
    Some(answer)
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> Option<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = usize::from_str_radix(line.trim(), 16).ok()?;
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk).ok()?;
        if length == 0 {
            return Some(());
        }
        body.extend_from_slice(&chunk[..length]);
    }
}

/// A client with a token.
pub struct Client {
    pub port: u16,
    pub token: String,
    /// The header `Loci-Group`.
    pub group: Option<&'static str>,
    /// The header `User-Agent`.
    pub user_agent: &'static str,
}

impl Client {
    /// Returns the lines of a proper request, without the empty line at the end.
    pub fn head(&self, length: usize) -> Vec<String> {
        let mut lines = vec![
            "POST /mcp HTTP/1.1".to_owned(),
            format!("Host: 127.0.0.1:{}", self.port),
            format!("Authorization: Bearer {}", self.token),
            format!("User-Agent: {}", self.user_agent),
            "Content-Type: application/json".to_owned(),
            "Accept: application/json, text/event-stream".to_owned(),
            format!("Content-Length: {length}"),
        ];
        lines.extend(self.group.map(|group| format!("Loci-Group: {group}")));
        lines
    }

    /// Sends a message.
    pub fn post(&self, message: &Value, more: &[String]) -> Answer {
        let body = message.to_string();
        let head = [self.head(body.len()), more.to_vec()].concat().join("\r\n");
        exchange(self.port, format!("{head}\r\n\r\n{body}").as_bytes())
    }

    /// Calls a tool in one revision of the protocol; returns the answer as JSON.
    pub fn call_in(&self, revision: &str, tool: &str, arguments: &Value) -> Value {
        let mut params = json!({"name": tool, "arguments": arguments});
        let mut more = vec![format!("MCP-Protocol-Version: {revision}")];
        if revision == STATELESS {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": revision,
                "io.modelcontextprotocol/clientInfo": {"name": "stateless", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            more.extend(["Mcp-Method: tools/call".to_owned(), format!("Mcp-Name: {tool}")]);
        }
        let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        let answer = self.post(&message, &more);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");
        answer.json()
    }

    /// Calls a tool; returns its reply, or the text of its error.
    pub fn call(&self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let result = self.call_in(WITH_HANDSHAKE, tool, arguments)["result"].clone();
        if result["isError"] == true {
            return Err(result["content"][0]["text"].as_str().unwrap_or_default().to_owned());
        }
        Ok(result["structuredContent"].clone())
    }

    /// Recalls; returns the contents of the results.
    pub fn recall(&self, query: &str) -> Vec<String> {
        let arguments = json!({"query": query, "max_results": 20});
        crate::home::contents(&self.call("recall_memory", &arguments).expect("the call succeeds"))
    }
}

/// `loci serve --http` on a free port while it runs.
pub struct Serving {
    child: Child,
    pub port: u16,
    /// What it has printed.
    pub screen: String,
}

impl Serving {
    /// Starts it and waits until it serves.
    pub fn start(home: &TestHome) -> Self {
        Self::start_with(home.command("loci").args(["serve", "--http", "--port", "0"]))
    }

    /// The same with a command.
    pub fn start_with(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("loci runs");
        let mut output = BufReader::new(child.stdout.take().expect("the output is piped"));
        let mut screen = String::new();
        while !screen.ends_with("\n}\n") {
            let read = in_time("the screen", || output.read_line(&mut screen));
            let read = read.expect("the screen is UTF-8");
            assert_ne!(read, 0, "it ended: {screen}");
        }
        let port = screen.split("127.0.0.1:").nth(1).and_then(|rest| rest.split('/').next());
        let port = port.and_then(|port| port.parse().ok()).expect("the screen has the URL");
        Self { child, port, screen }
    }

    /// Returns a client with a token.
    pub fn client(&self, home: &TestHome, token: &str) -> Client {
        let secret = secret(home, token);
        Client { port: self.port, token: secret, group: None, user_agent: "test/1" }
    }

    /// Sends a signal and returns the exit code.
    pub fn end(mut self, signal: nix::sys::signal::Signal) -> Option<i32> {
        let pid = nix::unistd::Pid::from_raw(self.child.id().cast_signed());
        nix::sys::signal::kill(pid, signal).expect("the signal is sent");
        self.child.exit_in_time().expect("the process ends").code()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.exit_in_time();
    }
}

/// Returns the secret of a token.
pub fn secret(home: &TestHome, token: &str) -> String {
    let output = home.loci(&["serve", "token", "show", token]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("the secret is UTF-8").trim().to_owned()
}
