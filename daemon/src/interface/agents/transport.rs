//! The line transport of one connection: converts lines to MCP messages and back.
//!
//! rmcp's own line transport ignores lines that it cannot parse; this one answers every line that requires an answer. Faults that serde
//! would hide (a duplicate key, a number that no float can hold) are found before anything is parsed into values. At most
//! [`limits::CALLS_IN_FLIGHT`] requests of a connection are unanswered: the next line is read when one of them has been answered. A line
//! that is too long is answered with an error, and nothing more is read: no shim sends such a line, and the next one could be as long.
//! Not here: what the messages mean (`mcp`), reading a line (`line_reader`).

use crate::interface::agents::exits;
use crate::interface::agents::faults::{self, Fault};
use crate::interface::agents::line_reader::{LineLimits, LineOutcome, read_line};
use loci_engine::flags::orders;
use loci_proto::gate::ModelText;
use loci_proto::limits;
use rmcp::model::{
    ClientNotification, ClientRequest, ErrorCode, JsonRpcMessage, RequestId, ServerResult,
};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

/// MCP messages of one connection, as lines.
///
/// A separate task reads, because rmcp drops a pending [`Transport::receive`] whenever it has something to send, and a partly
/// read line would be lost with that future.
pub struct LineTransport<W> {
    messages: mpsc::Receiver<RxJsonRpcMessage<RoleServer>>,
    writer: Arc<MessageWriter<W>>,
    in_flight: Arc<InFlightRequests>,
    _reading: AbortOnDropHandle<()>,
}

/// Writes messages to the peer.
struct MessageWriter<W> {
    stream: Mutex<W>,
    /// Maximum time for the peer to read one answer, or to continue a line that it has begun.
    peer_timeout: Duration,
    /// Cancelled when a write failed: part of a line may have been written, so nothing can follow it.
    broken: CancellationToken,
}

/// The requests of a connection that have no answer yet.
struct InFlightRequests {
    permits: Arc<Semaphore>,
    by_id: std::sync::Mutex<HashMap<RequestId, OwnedSemaphorePermit>>,
}

impl InFlightRequests {
    /// Waits for a permit for a request before it is passed on; a cancelled request returns its permit.
    ///
    /// # Errors
    /// The refusal of a request whose id is already in flight: rmcp would answer only one of the two.
    async fn admit(&self, message: &RxJsonRpcMessage<RoleServer>) -> Result<(), Answer> {
        match message {
            JsonRpcMessage::Request(request) => {
                if self.permits_by_id().contains_key(&request.id) {
                    let reason = "a request with this id is not answered yet";
                    let id = Some(request.id.clone());
                    return Err(Box::new(refusal(id, ErrorCode::INVALID_REQUEST, reason)));
                }
                if let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await {
                    self.permits_by_id().insert(request.id.clone(), permit);
                }
            }
            JsonRpcMessage::Notification(n) => {
                if let ClientNotification::CancelledNotification(cancelled) = &n.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    drop(self.remove(id));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Waits until no request is unanswered.
    async fn all_answered(&self) {
        let all = u32::try_from(limits::CALLS_IN_FLIGHT).unwrap_or(u32::MAX);
        drop(self.permits.acquire_many(all).await);
    }

    /// Removes an answered or cancelled request, so that its id may be used again. Returns its permit, which is freed when dropped.
    fn remove(&self, id: &RequestId) -> Option<OwnedSemaphorePermit> {
        self.permits_by_id().remove(id)
    }

    fn permits_by_id(&self) -> MutexGuard<'_, HashMap<RequestId, OwnedSemaphorePermit>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> LineTransport<W> {
    /// Creates a transport over a reader and a writer. A peer that takes longer than `peer_timeout` to read an answer, or to continue a
    /// line, is disconnected.
    pub fn new(
        reader: impl AsyncBufRead + Unpin + Send + 'static,
        writer: W,
        peer_timeout: Duration,
    ) -> Self {
        let in_flight = Arc::new(InFlightRequests {
            permits: Arc::new(Semaphore::new(limits::CALLS_IN_FLIGHT)),
            by_id: std::sync::Mutex::default(),
        });
        let writer = Arc::new(MessageWriter {
            stream: Mutex::new(writer),
            peer_timeout,
            broken: CancellationToken::new(),
        });
        let (parsed, messages) = mpsc::channel(1);
        let reading = read_messages(reader, Arc::clone(&writer), Arc::clone(&in_flight), parsed);
        Self {
            messages,
            writer,
            in_flight,
            _reading: AbortOnDropHandle::new(tokio::spawn(reading)),
        }
    }
}

/// Returns whether a message begins a session. The shim sends the calls in flight right behind it to a new daemon; rmcp handles requests
/// at the same time, and a call that came first would not know the name of its client.
fn is_initialize(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    matches!(message, JsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

/// Reads messages until the end of the stream; answers lines that are not messages.
async fn read_messages<W: AsyncWrite + Unpin>(
    mut reader: impl AsyncBufRead + Unpin,
    writer: Arc<MessageWriter<W>>,
    in_flight: Arc<InFlightRequests>,
    parsed: mpsc::Sender<RxJsonRpcMessage<RoleServer>>,
) {
    let mut line = Vec::new();
    let line_limits =
        LineLimits { max_bytes: limits::LINE_BYTES, continue_within: writer.peer_timeout };
    loop {
        let message = match read_line(&mut reader, &mut line, line_limits).await {
            Ok(LineOutcome::Line) => parse_message(&line),
            Ok(LineOutcome::TooLong) => {
                // Whether or not this can be written, the connection ends after the calls in flight.
                let _ = writer
                    .write(&refusal(
                        faults::id_of_excerpt(&line),
                        ErrorCode::INVALID_REQUEST,
                        &line_too_long(),
                    ))
                    .await;
                return;
            }
            Ok(LineOutcome::End) | Err(_) => return,
        };
        let is_open = match message {
            Ok(Some(message)) => match in_flight.admit(&message).await {
                Ok(()) => {
                    let begins_session = is_initialize(&message);
                    let is_open = parsed.send(message).await.is_ok();
                    if is_open && begins_session {
                        in_flight.all_answered().await;
                    }
                    is_open
                }
                Err(answer) => writer.write(&answer).await.is_ok(),
            },
            Ok(None) => true,
            Err(answer) => writer.write(&answer).await.is_ok(),
        };
        if !is_open {
            return;
        }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer> for LineTransport<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, in_flight) = (Arc::clone(&self.writer), Arc::clone(&self.in_flight));
        async move {
            // Free the id before the peer can see the answer, but the permit only after the answer has been written.
            let _permit = match &message {
                JsonRpcMessage::Response(response) => in_flight.remove(&response.id),
                JsonRpcMessage::Error(error) => {
                    error.id.as_ref().and_then(|id| in_flight.remove(id))
                }
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

impl<W: AsyncWrite + Unpin> MessageWriter<W> {
    async fn write(&self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        let mut stream = self.stream.lock().await;
        if self.broken.is_cancelled() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let written = tokio::time::timeout(self.peer_timeout, async {
            stream.write_all(&line).await?;
            stream.flush().await
        });
        let written = written.await.unwrap_or_else(|_| {
            Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read its answers"))
        });
        if written.is_err() {
            self.broken.cancel();
        }
        written
    }
}

/// A message that is the answer to a faulty line.
type Answer = Box<TxJsonRpcMessage<RoleServer>>;

/// Parses a line; returns `None` for a blank line.
///
/// # Errors
/// The answer that names the fault of the line.
fn parse_message(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Answer> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    if let Some(fault) = faults::find(line) {
        return Err(Box::new(fault_answer(fault)));
    }
    serde_json::from_slice(line).map(Some).map_err(|fault| {
        // With a lone surrogate the whole line is not JSON; after any other fault the id can still be read.
        let id = if fault.to_string().contains("surrogate") { None } else { faults::id_of(line) };
        let code = if id.is_some() { ErrorCode::INVALID_REQUEST } else { ErrorCode::PARSE_ERROR };
        Box::new(refusal(id, code, &fault.to_string()))
    })
}

/// Returns the answer to a message with a fault.
pub(crate) fn fault_answer(fault: Fault) -> TxJsonRpcMessage<RoleServer> {
    match fault {
        Fault::NotJson(reason) => refusal(None, ErrorCode::PARSE_ERROR, &reason),
        Fault::NotARequest(id, reason) => refusal(id, ErrorCode::INVALID_REQUEST, &reason),
        Fault::Argument(id, failure) => {
            let result = exits::failed(&failure);
            JsonRpcMessage::response(ServerResult::CallToolResult(result), id)
        }
    }
}

fn refusal(id: Option<RequestId>, code: ErrorCode, reason: &str) -> TxJsonRpcMessage<RoleServer> {
    JsonRpcMessage::error(exits::error(code, ModelText::note(reason, orders)), id)
}

fn line_too_long() -> String {
    format!("the line is longer than {} bytes; closing the connection", limits::LINE_BYTES)
}
