//! Export and import over the admin socket, as streams, so that neither a large store nor a large file is held in memory.
//!
//! An import is spooled into an unnamed file before the writer reads it, so that a slow sender blocks no other call. The daemon never
//! opens a path that a client has sent. Not here: what the lines mean (`engine::transfer`).

use crate::handlers;
use crate::interface::admin::context::{AdminContext, error_response, read_call};
use crate::interface::admin::screened_lines::Spooled;
use crate::interface::admin::spool;
use crate::service::Caller;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use loci_engine::Writer;
use loci_engine::backups::manifest::Reason;
use loci_engine::transaction::change::CallContext;
use loci_engine::transfer::ForeignContext;
use loci_proto::admin::{FailedExport, VerbCall};
use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use loci_proto::mcp::arguments;
use loci_proto::requests::export::ExportRequest;
use loci_proto::requests::import::{ImportReply, ImportRequest};
use std::io::{self, BufReader, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Maximum number of imports that are received at the same time; a further one is answered `busy` at once.
pub(crate) const MAX_UPLOADS: usize = 8;
/// Maximum time for the client to read the next chunk of an export.
const CHUNK_DEADLINE: Duration = Duration::from_mins(1);
/// Maximum time for the client to send the next chunk of an import.
const UPLOAD_DEADLINE: Duration = Duration::from_secs(30);
/// Size of a chunk of an export, in bytes.
const CHUNK_BYTES: usize = 64 * 1024;

/// `POST /export`: the store as it is now.
pub async fn export(State(admin): State<AdminContext>, request: Request) -> Response {
    match read_call(request).await {
        Ok(call) => answer_export(&admin, call).await,
        Err(refusal) => refusal,
    }
}

/// Answers a call with the lines of an export.
pub(crate) async fn answer_export(admin: &AdminContext, call: VerbCall) -> Response {
    match begin_export(admin, call).await {
        Ok(body) => ([(CONTENT_TYPE, "application/x-ndjson")], body).into_response(),
        Err(failure) => error_response(failure),
    }
}

async fn begin_export(admin: &AdminContext, call: VerbCall) -> Result<Body, Failure> {
    let service = &admin.service;
    let request: ExportRequest = arguments::parse(call.arguments)?;
    let session = admin.session(call.session);
    handlers::check_whole_store(service, &session).await?;
    service.flush_or_drop_usage().await?;
    // The export has its own connection, so that the readers stay free for calls.
    let now = service.now();
    let (reader, request) = service
        .read(move |reader| {
            reader.check_export(&request, now)?;
            Ok((reader.try_clone()?, request))
        })
        .await?;
    // The readers of a read-only store take no locks: the pools stay until the export ends, and no writer opens meanwhile.
    let pools = service.pools().await.ok().filter(|pools| pools.writer().is_err());
    let (sender, body) = Channel::<Bytes, io::Error>::new(4);
    let buffer = Vec::with_capacity(CHUNK_BYTES);
    let mut chunks = ChunkWriter { sender: Some(sender), runtime: Handle::current(), buffer };
    tokio::task::spawn_blocking(move || {
        let _pools = pools;
        match reader.export_at(&request, now, &mut chunks) {
            Ok(()) => chunks.end(),
            Err(error) => {
                tracing::warn!(%error, "export failed");
                chunks.fail(error.into());
            }
        }
    });
    Ok(Body::new(body))
}

/// Sends an export to the client in chunks; blocks while the client does not read. If it is dropped before the end,
/// as by a panic, it aborts the body: an export that was cut off must not look complete.
struct ChunkWriter {
    /// None after the end.
    sender: Option<Sender<Bytes, io::Error>>,
    runtime: Handle,
    buffer: Vec<u8>,
}

impl ChunkWriter {
    /// Ends an export that failed with a line that says why.
    fn fail(mut self, error: Failure) {
        let line = serde_json::to_vec(&FailedExport { error }).unwrap_or_default();
        self.buffer.push(b'\n');
        self.buffer.extend_from_slice(&line);
        // If not, the dropped writer aborts the body, which tells the client that the export is incomplete.
        if self.send().is_ok() {
            self.end();
        }
    }

    /// Ends an export of which everything was sent.
    fn end(mut self) {
        self.sender = None;
    }

    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let chunk =
            Bytes::from(std::mem::replace(&mut self.buffer, Vec::with_capacity(CHUNK_BYTES)));
        let Some(sender) = &mut self.sender else { return Ok(()) };
        match self.runtime.block_on(timeout(CHUNK_DEADLINE, sender.send_data(chunk))) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => {
                Err(io::Error::new(io::ErrorKind::BrokenPipe, "the client has disconnected"))
            }
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read")),
        }
    }
}

impl Drop for ChunkWriter {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            sender.abort(io::Error::other("the export failed"));
        }
    }
}

impl Write for ChunkWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= CHUNK_BYTES {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

/// `POST /import`: the first line of the body is a [`VerbCall`]; the other lines are the file.
pub async fn import(State(admin): State<AdminContext>, request: Request) -> Response {
    let mut body = request.into_body();
    match run_import(&admin, &mut body).await {
        Ok(reply) => Json(reply).into_response(),
        Err(failure) => {
            // Read the rest of the body: a client that cannot finish sending does not read the answer.
            tokio::spawn(timeout(UPLOAD_DEADLINE, async move {
                while let Some(Ok(_)) = body.frame().await {}
            }));
            error_response(failure)
        }
    }
}

async fn run_import(admin: &AdminContext, body: &mut Body) -> Result<ImportReply, Failure> {
    let receiving = Arc::clone(&admin.uploads).try_acquire_owned().map_err(|_| {
        Failure::new(Code::Busy, format!("{MAX_UPLOADS} other imports are being received"))
            .hint("Nothing was imported; wait until one of them ends, then import again")
    })?;
    let (line, rest) = read_first_line(body).await?;
    let call: VerbCall = serde_json::from_slice(&line)
        .map_err(|e| Failure::invalid("the first line", format!("is not a request: {e}")))?;
    let request: ImportRequest = arguments::parse(call.arguments)?;
    let session = admin.session(call.session);
    handlers::check_whole_store(&admin.service, &session).await?;
    // Of another program, a line that cannot be imported is left out.
    let skip_bad = request.skip_bad || request.foreign.is_some();
    let (file, report) = receive(admin, body, rest, skip_bad).await?.into_parts();
    drop(receiving);
    let service = &admin.service;
    service.flush_usage().await?;
    let is_preview = request.preview;
    if !is_preview {
        service.back_up_before(Reason::Import).await;
    }
    if request.foreign.is_some() {
        service.recognise(&session).await;
    }
    let entered = service.resolved(&session).await;
    let caller = Caller { session: entered.as_ref().unwrap_or(&session), key: None };
    let context = ForeignContext {
        needs_file: service.config.serves_opted_in_only(),
        hinted: session.hinted_group().id.clone(),
    };
    let import = move |writer: &mut Writer, call: &CallContext| {
        let mut file = file;
        if request.foreign.is_some() {
            writer.import_foreign(call, &request, &context, &mut BufReader::new(file))
        } else {
            writer.import(call, &request, &mut file)
        }
    };
    let reply = service.write(caller, import).await?;
    if !is_preview {
        service.set_vectors_missing(true);
        service.record_folder(&session).await;
    }
    Ok(report.complete(reply))
}

/// Returns the next chunk of the body; `None` at its end.
async fn next_chunk(body: &mut Body) -> Result<Option<Bytes>, Failure> {
    let incomplete = |reason: String| {
        Failure::new(Code::Invalid, format!("the file is incomplete: {reason}"))
            .hint("Nothing was imported")
    };
    loop {
        match timeout(UPLOAD_DEADLINE, body.frame()).await {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => {
                if let Ok(bytes) = frame.into_data() {
                    return Ok(Some(bytes));
                }
            }
            Ok(Some(Err(error))) => return Err(incomplete(error.to_string())),
            Err(_) => {
                return Err(incomplete(format!(
                    "nothing was sent for {} s",
                    UPLOAD_DEADLINE.as_secs()
                )));
            }
        }
    }
}

/// Reads the first line of the body; returns it and the bytes after it that were already received.
async fn read_first_line(body: &mut Body) -> Result<(Vec<u8>, Bytes), Failure> {
    let mut line = Vec::new();
    while let Some(mut bytes) = next_chunk(body).await? {
        if let Some(newline) = bytes.iter().position(|byte| *byte == b'\n') {
            let rest = bytes.split_off(newline + 1);
            line.extend_from_slice(&bytes);
            return Ok((line, rest));
        }
        line.extend_from_slice(&bytes);
        if line.len() > limits::HELLO_BYTES {
            break;
        }
    }
    Err(Failure::invalid("the first line", "is not a request"))
}

/// Receives the body into an unnamed file. `rest` is the part that has already been read.
async fn receive(
    admin: &AdminContext,
    body: &mut Body,
    rest: Bytes,
    skip_bad: bool,
) -> Result<Spooled, Failure> {
    let service = Arc::clone(&admin.service);
    let (sender, chunks) = mpsc::channel::<Bytes>(4);
    let spooling = tokio::task::spawn_blocking(move || {
        spool::spool(service.home(), chunks, skip_bad, &service.config.policy())
    });
    let mut next = Some(rest);
    while let Some(bytes) = next {
        // Sending fails if the spool has refused the file; its failure is returned below.
        if sender.send(bytes).await.is_err() {
            break;
        }
        next = next_chunk(body).await?;
    }
    drop(sender);
    spooling.await.map_err(|e| Failure::new(Code::Internal, e.to_string()))?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a line in a blocking thread, as an export does, and ends it or not; returns what the client reads.
    async fn exported(is_ended: bool) -> Result<Bytes, io::Error> {
        let (sender, body) = Channel::<Bytes, io::Error>::new(4);
        let runtime = Handle::current();
        tokio::task::spawn_blocking(move || {
            let mut chunks = ChunkWriter { sender: Some(sender), runtime, buffer: Vec::new() };
            chunks.write_all(b"a line\n").and_then(|()| chunks.flush()).expect("it is sent");
            if is_ended {
                chunks.end();
            }
        });
        body.collect().await.map(http_body_util::Collected::to_bytes)
    }

    #[tokio::test]
    async fn an_export_that_is_cut_off_does_not_look_complete() {
        assert_eq!(exported(true).await.expect("the body is whole"), "a line\n");
        assert!(exported(false).await.is_err(), "the body is aborted");
    }
}
