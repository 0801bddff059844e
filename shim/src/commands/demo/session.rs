//! One agent session of the demo: a child process `loci mcp`, with MCP over its pipes.

use crate::commands::sandbox::Sandbox;
use crate::output::Problem;
use crate::relay::line_reader::{Line, LineReader};
use loci_proto::{VERSION, limits};
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::time::timeout;

/// Time limit of one answer.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// A running session.
pub struct Session {
    child: Child,
    stdin: ChildStdin,
    lines: LineReader<ChildStdout>,
    /// Id of the latest request.
    last_id: u64,
}

impl Session {
    /// Starts the process and completes the MCP handshake.
    pub async fn begin(sandbox: &Sandbox) -> Result<Self, Problem> {
        let mut child =
            sandbox.loci(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(Problem::new("The session has no pipes"));
        };
        let mut session =
            Self { child, stdin, lines: LineReader::new(stdout, limits::LINE_BYTES), last_id: 0 };
        let client = json!({"name": "loci demo", "version": VERSION});
        session
            .request(
                "initialize",
                json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
            )
            .await?;
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        Ok(session)
    }

    /// Calls a tool and returns its structured result.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Problem> {
        let mut result =
            self.request("tools/call", json!({"name": tool, "arguments": arguments})).await?;
        if result["isError"] == true {
            return Err(Problem::new(format!("{tool} failed"))
                .because(&result["content"][0]["text"].as_str().unwrap_or_default()));
        }
        Ok(result["structuredContent"].take())
    }

    /// Closes the input as an agent does, and waits for the process to exit.
    pub async fn end(self) -> Result<(), Problem> {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        let status = timeout(ANSWER_TIMEOUT, child.wait())
            .await
            .map_err(|_| Problem::new("The session did not end"))??;
        if status.success() {
            Ok(())
        } else {
            Err(Problem::new(format!("The session ended with {status}")))
        }
    }

    async fn request(&mut self, method: &str, params: Value) -> Result<Value, Problem> {
        self.last_id += 1;
        self.send(
            &json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}),
        )
        .await?;
        let answer = timeout(ANSWER_TIMEOUT, self.read_answer());
        let mut answer =
            answer.await.map_err(|_| Problem::new(format!("{method} was not answered")))??;
        match answer.get("result") {
            Some(_) => Ok(answer["result"].take()),
            None => Err(Problem::new(format!("{method} failed")).because(&answer["error"])),
        }
    }

    async fn send(&mut self, message: &Value) -> Result<(), Problem> {
        let mut line = message.to_string();
        line.push('\n');
        Ok(self.stdin.write_all(line.as_bytes()).await?)
    }

    /// Reads the answer to the latest request; skips notifications.
    async fn read_answer(&mut self) -> Result<Value, Problem> {
        while let Some(Line::Whole(line)) = self.lines.next().await? {
            let message: Value = serde_json::from_slice(&line).map_err(|error| {
                Problem::new("The session sent a line that is not JSON").because(&error)
            })?;
            if message["id"] == self.last_id {
                return Ok(message);
            }
        }
        Err(Problem::new("The session ended without an answer"))
    }
}
