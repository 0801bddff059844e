//! One connection as MCP messages: a line in, a message out, and back.
//!
//! rmcp's own line transport ignores what it cannot parse; here every line that asks for an answer gets one. Faults that serde would
//! hide (a key given twice, a number that no float holds) are found before anything is parsed into values. At most
//! [`limits::CALLS_IN_FLIGHT`] requests of a connection run at once: the next line is read when one has been answered.
//! Not here: what the messages mean (`mcp`).

use crate::transport::faults::Fault;
use loci_proto::limits;
use rmcp::model::{CallToolResult, ClientNotification, ContentBlock, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

mod faults;

/// How long a peer may take to read an answer before it is dropped.
const WRITE_DEADLINE: Duration = Duration::from_secs(30);

/// Lines of one connection as messages.
pub struct Lines<R, W> {
    reader: R,
    line: Vec<u8>,
    /// The rest of a line that was too long is being skipped.
    skipping: bool,
    writer: Arc<tokio::sync::Mutex<W>>,
    running: Arc<Running>,
}

/// The requests of a connection that are being answered.
struct Running {
    places: Arc<Semaphore>,
    taken: Mutex<HashMap<RequestId, OwnedSemaphorePermit>>,
}

impl Running {
    /// Takes a place for a request before it is handed on; a cancelled request gives its place back.
    async fn admit(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => {
                if let Ok(place) = Arc::clone(&self.places).acquire_owned().await {
                    self.taken.lock().unwrap_or_else(PoisonError::into_inner).insert(request.id.clone(), place);
                }
            }
            JsonRpcMessage::Notification(n) => {
                if let ClientNotification::CancelledNotification(cancelled) = &n.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.done(id);
                }
            }
            _ => {}
        }
    }

    fn done(&self, id: &RequestId) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

/// What was read.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R: AsyncBufRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> Lines<R, W> {
    /// Messages over this reader and writer.
    pub fn new(reader: R, writer: W) -> Self {
        let places = Arc::new(Semaphore::new(limits::CALLS_IN_FLIGHT));
        let running = Arc::new(Running { places, taken: Mutex::default() });
        Self { reader, line: Vec::new(), skipping: false, writer: Arc::new(tokio::sync::Mutex::new(writer)), running }
    }

    /// Reads up to the next newline. May be dropped while it waits: what was read so far stays in `line`.
    async fn read_line(&mut self) -> io::Result<Read> {
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(Read::End);
            }
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let too_long = !self.skipping && self.line.len() + taken > limits::LINE_BYTES;
            if !self.skipping && !too_long {
                self.line.extend_from_slice(&available[..taken]);
            }
            self.reader.consume(taken);
            let skipped = self.skipping;
            self.skipping = (skipped || too_long) && newline.is_none();
            if too_long {
                self.line.clear();
                return Ok(Read::TooLong);
            }
            if newline.is_some() && !skipped {
                return Ok(Read::Line);
            }
        }
    }

    /// The next request or notification; lines that are neither are answered here.
    async fn next(&mut self) -> io::Result<Option<RxJsonRpcMessage<RoleServer>>> {
        loop {
            match self.read_line().await? {
                Read::End => return Ok(None),
                Read::TooLong => write(&self.writer, &refusal(None, ErrorCode::INVALID_REQUEST, &too_long())).await?,
                Read::Line => {
                    let line = std::mem::take(&mut self.line);
                    match understand(&line) {
                        Ok(Some(message)) => return Ok(Some(message)),
                        Ok(None) => {}
                        Err(answer) => write(&self.writer, &answer).await?,
                    }
                }
            }
        }
    }
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncBufRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, running) = (Arc::clone(&self.writer), Arc::clone(&self.running));
        async move {
            let sent = write(&writer, &message).await;
            match &message {
                JsonRpcMessage::Response(response) => running.done(&response.id),
                JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| running.done(id)),
                _ => {}
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let message = match self.next().await {
            Ok(message) => message?,
            Err(error) => {
                tracing::debug!(%error, "a connection broke");
                return None;
            }
        };
        let running = Arc::clone(&self.running);
        running.admit(&message).await;
        Some(message)
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.lock().await.shutdown().await
    }
}

async fn write<W: AsyncWrite + Unpin>(writer: &tokio::sync::Mutex<W>, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut writer = writer.lock().await;
    let written = tokio::time::timeout(WRITE_DEADLINE, async {
        writer.write_all(&line).await?;
        writer.flush().await
    });
    written.await.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "the peer does not read"))?
}

type Answer = Box<TxJsonRpcMessage<RoleServer>>;

/// A line as a message; nothing for a blank line; the answer that says what is wrong with it otherwise.
fn understand(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Answer> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    match faults::find(line) {
        None => {}
        Some(Fault::NotJson(why)) => return Err(Box::new(refusal(None, ErrorCode::PARSE_ERROR, &why))),
        Some(Fault::NotARequest(id, why)) => return Err(Box::new(refusal(id, ErrorCode::INVALID_REQUEST, &why))),
        Some(Fault::Argument(id, failure)) => {
            let result = CallToolResult::error(vec![ContentBlock::text(failure.to_string())]);
            return Err(Box::new(JsonRpcMessage::response(ServerResult::CallToolResult(result), id)));
        }
    }
    serde_json::from_slice(line).map(Some).map_err(|fault| {
        let code = if fault.is_data() { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
        let id = if fault.is_data() { faults::id_of(line) } else { None };
        Box::new(refusal(id, code, &fault.to_string()))
    })
}

fn refusal(id: Option<RequestId>, code: ErrorCode, why: &str) -> TxJsonRpcMessage<RoleServer> {
    JsonRpcMessage::error(ErrorData::new(code, why.to_owned(), None), id)
}

fn too_long() -> String {
    format!("the line is longer than {} bytes", limits::LINE_BYTES)
}
