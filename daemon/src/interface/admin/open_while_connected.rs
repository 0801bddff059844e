//! A reply that keeps something open: one line, then nothing until the daemon drains. It is dropped when the caller disconnects, and what
//! it keeps open with it.

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use http_body::Frame;
use loci_proto::error::{Code, Failure};
use serde::Serialize;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The body of such a reply.
struct OpenBody<T> {
    line: Option<Bytes>,
    draining: Pin<Box<WaitForCancellationFutureOwned>>,
    _kept: T,
}

impl<T: Unpin> http_body::Body for OpenBody<T> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(line) = self.line.take() {
            return Poll::Ready(Some(Ok(Frame::data(line))));
        }
        ready!(self.draining.as_mut().poll(context));
        Poll::Ready(None)
    }
}

/// Returns the reply with this first line, which keeps `kept` until the caller disconnects or the daemon drains.
///
/// # Errors
/// `internal` if the line cannot be written as JSON.
pub(super) fn response<T: Unpin + Send + 'static>(
    line: &impl Serialize,
    kept: T,
    draining: CancellationToken,
) -> Result<Response, Failure> {
    let mut line =
        serde_json::to_vec(line).map_err(|e| Failure::new(Code::Internal, e.to_string()))?;
    line.push(b'\n');
    let draining = Box::pin(draining.cancelled_owned());
    let body = Body::new(OpenBody { line: Some(line.into()), draining, _kept: kept });
    Ok(([(CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}
