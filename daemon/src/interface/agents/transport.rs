//! One connection as MCP messages: a line in, a message out, and back.
//!
//! rmcp's own line transport ignores what it cannot parse; here every line that asks for an answer gets one. Faults that serde would
//! hide (a key given twice, a number that no float holds) are found before anything is parsed into values. At most
//! [`limits::CALLS_IN_FLIGHT`] requests of a connection run at once: the next line is read when one has been answered. Who sends a line
//! that is too long is told so and heard no more: no shim sends one, and what follows could be as long again.
//! Not here: what the messages mean (`mcp`).

use crate::interface::agents::faults::Fault;
use loci_proto::limits;
use rmcp::model::{
    CallToolResult, ClientNotification, ContentBlock, ErrorCode, ErrorData, JsonRpcMessage,
    RequestId, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// Lines of one connection as messages.
///
/// A task of its own reads: the library drops a waiting [`Transport::receive`] whenever it has something to send, and what that
/// future held would be lost with it.
pub struct Lines<W> {
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    writer: Arc<Writer<W>>,
    running: Arc<Running>,
    _reading: AbortOnDropHandle<()>,
}

/// The way back to the peer, as long as it reads.
struct Writer<W> {
    stream: Mutex<W>,
    /// How long the peer may take to read one answer, or to go on with a line that it has begun.
    patience: Duration,
    /// Part of a line may have been written: nothing can follow it.
    broken: CancellationToken,
}

/// The requests of a connection that are being answered.
struct Running {
    places: Arc<Semaphore>,
    taken: std::sync::Mutex<HashMap<RequestId, OwnedSemaphorePermit>>,
}

impl Running {
    /// Takes a place for a request before it is handed on; a cancelled request gives its place back.
    ///
    /// # Errors
    /// The refusal of a request whose id still waits: the library would answer one of the two, and leave the other without a word.
    async fn admit(&self, message: &RxJsonRpcMessage<RoleServer>) -> Result<(), Answer> {
        match message {
            JsonRpcMessage::Request(request) => {
                if self
                    .taken
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .contains_key(&request.id)
                {
                    let why = "a request with this id is not answered yet";
                    return Err(Box::new(refusal(
                        Some(request.id.clone()),
                        ErrorCode::INVALID_REQUEST,
                        why,
                    )));
                }
                if let Ok(place) = Arc::clone(&self.places).acquire_owned().await {
                    self.taken
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(request.id.clone(), place);
                }
            }
            JsonRpcMessage::Notification(n) => {
                if let ClientNotification::CancelledNotification(cancelled) = &n.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    drop(self.done(id));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The request has its answer: its id may be used again, and so may its place once that is dropped.
    fn done(&self, id: &RequestId) -> Option<OwnedSemaphorePermit> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Lines<W> {
    /// Messages over this reader and writer; a peer that takes longer than `patience` to read an answer, or to go on with a
    /// line, is dropped.
    pub fn new(
        reader: impl AsyncBufRead + Unpin + Send + 'static,
        writer: W,
        patience: Duration,
    ) -> Self {
        let running = Arc::new(Running {
            places: Arc::new(Semaphore::new(limits::CALLS_IN_FLIGHT)),
            taken: std::sync::Mutex::default(),
        });
        let writer = Arc::new(Writer {
            stream: Mutex::new(writer),
            patience,
            broken: CancellationToken::new(),
        });
        let (found, messages) = mpsc::channel(1);
        let reading = read(reader, Arc::clone(&writer), Arc::clone(&running), found);
        Self { messages, writer, running, _reading: AbortOnDropHandle::new(tokio::spawn(reading)) }
    }
}

/// Reads messages until the end of the stream; lines that are none are answered here.
async fn read<W: AsyncWrite + Unpin>(
    mut reader: impl AsyncBufRead + Unpin,
    writer: Arc<Writer<W>>,
    running: Arc<Running>,
    found: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
) {
    let mut line = Vec::new();
    loop {
        let understood = match read_line(&mut reader, &mut line, writer.patience).await {
            Ok(Read::Line) => understand(&line),
            Ok(Read::TooLong) => {
                // Whether it is heard or not, the connection ends after what is in flight.
                let _ = writer
                    .write(&refusal(
                        crate::interface::agents::faults::id_of_beginning(&line),
                        ErrorCode::INVALID_REQUEST,
                        &too_long(),
                    ))
                    .await;
                return;
            }
            Ok(Read::End) | Err(_) => return,
        };
        let passed_on = match understood {
            Ok(Some(message)) => match running.admit(&message).await {
                Ok(()) => found.send(message).await.is_ok(),
                Err(answer) => writer.write(&answer).await.is_ok(),
            },
            Ok(None) => true,
            Err(answer) => writer.write(&answer).await.is_ok(),
        };
        if !passed_on {
            return;
        }
    }
}

/// What was read.
enum Read {
    Line,
    TooLong,
    End,
}

/// Reads the next line into `line`; of one that is too long, the beginning. The rest of that one is left where it is.
///
/// A line may begin whenever it likes, but who has begun one has to go on within `patience`.
async fn read_line(
    reader: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
    patience: Duration,
) -> io::Result<Read> {
    line.clear();
    loop {
        let patience = if line.is_empty() { Duration::MAX } else { patience };
        let available =
            tokio::time::timeout(patience, reader.fill_buf()).await.map_err(io::Error::from)??;
        if available.is_empty() {
            return Ok(Read::End);
        }
        let newline = available.iter().position(|byte| *byte == b'\n');
        let taken = newline.map_or(available.len(), |at| at + 1);
        if line.len() + taken > limits::LINE_BYTES {
            return Ok(Read::TooLong);
        }
        line.extend_from_slice(&available[..taken]);
        reader.consume(taken);
        if newline.is_some() {
            return Ok(Read::Line);
        }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer> for Lines<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, running) = (Arc::clone(&self.writer), Arc::clone(&self.running));
        async move {
            // The id is free before the peer can know of it; the place only when the answer has been taken.
            let _place = match &message {
                JsonRpcMessage::Response(response) => running.done(&response.id),
                JsonRpcMessage::Error(error) => error.id.as_ref().and_then(|id| running.done(id)),
                _ => None,
            };
            writer.write(&message).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        tokio::select! {
            biased;
            () = self.writer.broken.cancelled() => None,
            message = self.messages.recv() => message,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.stream.lock().await.shutdown().await
    }
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    async fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut stream = self.stream.lock().await;
        if self.broken.is_cancelled() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let written = tokio::time::timeout(self.patience, async {
            stream.write_all(&line).await?;
            stream.flush().await
        });
        let written = written.await.unwrap_or_else(|_| {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read"))
        });
        if written.is_err() {
            self.broken.cancel();
        }
        written
    }
}

type Answer = Box<TxJsonRpcMessage<RoleServer>>;

/// A line as a message; nothing for a blank line; the answer that says what is wrong with it otherwise.
fn understand(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Answer> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    match crate::interface::agents::faults::find(line) {
        None => {}
        Some(Fault::NotJson(why)) => {
            return Err(Box::new(refusal(None, ErrorCode::PARSE_ERROR, &why)));
        }
        Some(Fault::NotARequest(id, why)) => {
            return Err(Box::new(refusal(id, ErrorCode::INVALID_REQUEST, &why)));
        }
        Some(Fault::Argument(id, failure)) => {
            let result = CallToolResult::error(vec![ContentBlock::text(failure.to_string())]);
            return Err(Box::new(JsonRpcMessage::response(
                ServerResult::CallToolResult(result),
                id,
            )));
        }
    }
    serde_json::from_slice(line).map(Some).map_err(|fault| {
        // A lone surrogate makes the whole line no JSON; any other fault still has an id to answer to.
        let id = if fault.to_string().contains("surrogate") {
            None
        } else {
            crate::interface::agents::faults::id_of(line)
        };
        let code = if id.is_some() { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
        Box::new(refusal(id, code, &fault.to_string()))
    })
}

fn refusal(id: Option<RequestId>, code: ErrorCode, why: &str) -> TxJsonRpcMessage<RoleServer> {
    JsonRpcMessage::error(ErrorData::new(code, why.to_owned(), None), id)
}

fn too_long() -> String {
    format!("the line is longer than {} bytes; the connection ends here", limits::LINE_BYTES)
}
