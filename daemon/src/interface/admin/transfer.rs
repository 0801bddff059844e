//! Export and import over the admin socket: as streams, so that neither a large store nor a large file is ever in memory.
//!
//! An import is spooled into a file without a name before the writer sees it: a slow sender holds nobody up. The daemon opens no path
//! that came from a client. Not here: what the lines mean (`engine::transfer`).

use crate::handlers;
use crate::interface::admin::http::{Admin, refused};
use crate::interface::agents::session::Session;
use crate::service::Service;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use http_body_util::channel::{Channel, Sender};
use loci_engine::{Reader, transfer};
use loci_proto::admin::VerbCall;
use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use loci_proto::mcp::arguments;
use loci_proto::requests::export::ExportRequest;
use loci_proto::requests::import::{ImportReply, ImportRequest};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// How long the other side may take to read or to send the next piece.
const STALL: Duration = Duration::from_mins(1);
/// Bytes of a piece of an export.
const PIECE: usize = 64 * 1024;

/// `POST /export`: the store as it is at this moment.
pub async fn export(State(admin): State<Admin>, Json(asked): Json<VerbCall>) -> Response {
    match begin(&admin.service, asked).await {
        Ok(body) => ([(CONTENT_TYPE, "application/x-ndjson")], body).into_response(),
        Err(failure) => refused(failure),
    }
}

async fn begin(service: &Service, asked: VerbCall) -> Result<Body, Failure> {
    let request: ExportRequest = arguments::parse(asked.arguments)?;
    service.flush_accesses().await?;
    // A connection of its own: the readers go on answering.
    let reader = handlers::read(service, Reader::another).await?;
    let (sender, body) = Channel::<Bytes, io::Error>::new(4);
    let runtime = Handle::current();
    tokio::task::spawn_blocking(move || {
        let mut pieces = Pieces { sender, runtime, buffer: Vec::with_capacity(PIECE) };
        if let Err(error) = reader.export(&request, &mut pieces) {
            tracing::warn!(%error, "an export did not come to its end");
            // Without its end the other side knows that this is no whole export.
            pieces.sender.abort(io::Error::other("the export failed"));
        }
    });
    Ok(Body::new(body))
}

/// Where an export is written to: pieces for the other side, as fast as it takes them.
struct Pieces {
    sender: Sender<Bytes, io::Error>,
    runtime: Handle,
    buffer: Vec<u8>,
}

impl Pieces {
    fn send(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::replace(&mut self.buffer, Vec::with_capacity(PIECE)));
        match self.runtime.block_on(timeout(STALL, self.sender.send_data(piece))) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => {
                Err(io::Error::new(io::ErrorKind::BrokenPipe, "nobody reads it any more"))
            }
            Err(_) => Err(io::Error::new(io::ErrorKind::TimedOut, "nobody reads it")),
        }
    }
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE {
            self.send()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send()
    }
}

/// `POST /import`: the first line of the body is an [`VerbCall`], all others are the file.
pub async fn import(State(admin): State<Admin>, request: Request) -> Response {
    let mut body = request.into_body();
    match take_in(&admin, &mut body).await {
        Ok(reply) => Json(reply).into_response(),
        Err(failure) => {
            // Whoever is still sending reads the answer only when the sending does not fail.
            tokio::spawn(timeout(
                STALL,
                async move { while let Some(Ok(_)) = body.frame().await {} },
            ));
            refused(failure)
        }
    }
}

async fn take_in(admin: &Admin, body: &mut Body) -> Result<ImportReply, Failure> {
    let (ask, rest) = first_line(body).await?;
    let ask: VerbCall = serde_json::from_slice(&ask)
        .map_err(|e| Failure::invalid("the first line", format!("is no request: {e}")))?;
    let request: ImportRequest = arguments::parse(ask.arguments)?;
    let session = Session::new(ask.session, &admin.default_group, admin.service.now());
    session.called(Some(format!("loci {}", loci_proto::VERSION)));
    let file = spooled(admin, body, rest, request.skip_bad).await?;
    let service = &admin.service;
    service.flush_accesses().await?;
    let reply = handlers::write(service, &session, None, move |writer, call| {
        writer.import(call, &request, &mut { file })
    })
    .await?;
    service.vectors_may_be_missing();
    Ok(reply)
}

/// The next piece of what is sent; none at its end.
async fn piece(body: &mut Body) -> Result<Option<Bytes>, Failure> {
    let broken = |why: String| {
        Failure::new(Code::Invalid, format!("the file did not come whole: {why}"))
            .hint("Nothing was imported")
    };
    loop {
        match timeout(STALL, body.frame()).await {
            Ok(None) => return Ok(None),
            Ok(Some(Ok(frame))) => {
                if let Ok(bytes) = frame.into_data() {
                    return Ok(Some(bytes));
                }
            }
            Ok(Some(Err(error))) => return Err(broken(error.to_string())),
            Err(_) => return Err(broken(format!("nothing was sent for {} s", STALL.as_secs()))),
        }
    }
}

async fn first_line(body: &mut Body) -> Result<(Vec<u8>, Bytes), Failure> {
    let mut line = Vec::new();
    while let Some(mut bytes) = piece(body).await? {
        if let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            let rest = bytes.split_off(at + 1);
            line.extend_from_slice(&bytes);
            return Ok((line, rest));
        }
        line.extend_from_slice(&bytes);
        if line.len() > limits::HELLO_BYTES {
            break;
        }
    }
    Err(Failure::invalid("the first line", "is no request"))
}

/// Brings what is sent into a file that has no name and goes with its handle.
async fn spooled(
    admin: &Admin,
    body: &mut Body,
    rest: Bytes,
    skip_bad: bool,
) -> Result<File, Failure> {
    let service = Arc::clone(&admin.service);
    let (pieces, taken) = mpsc::channel::<Bytes>(4);
    let spooling = tokio::task::spawn_blocking(move || {
        crate::interface::admin::spool::take(service.home(), taken, skip_bad)
    });
    let mut next = Some(rest);
    while let Some(bytes) = next {
        // It takes no more when it has refused; what it says of that comes below.
        if pieces.send(bytes).await.is_err() {
            break;
        }
        next = piece(body).await?;
    }
    drop(pieces);
    spooling.await.map_err(|e| Failure::new(Code::Internal, e.to_string()))?
}

/// Makes lines of a document.
pub(crate) fn unfolded(document: File, folder: &std::path::Path) -> Result<File, Failure> {
    let mut lines = BufWriter::new(crate::interface::admin::spool::file(folder)?);
    transfer::unfold(&mut { document }, &mut lines)?;
    lines.into_inner().map_err(|e| crate::interface::admin::spool::unwritten(e.error()))
}
