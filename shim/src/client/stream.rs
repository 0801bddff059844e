//! Requests with a streamed answer or a streamed body (export, import, and long-running requests).
//!
//! The whole exchange has no time limit; a daemon that dies closes the connection.

use crate::client::admin::RequestError;
use crate::client::call::VerbClient;
use crate::client::socket::connect;
use crate::client::unreachable::Unreachable;
use crate::output::Problem;
use http_body_util::channel::{Channel, Sender};
use http_body_util::{BodyExt, Full, combinators::BoxBody};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use loci_proto::admin::VerbCall;
use serde::Serialize;
use serde_json::{Map, Value};
use std::io;
use tokio::task::JoinHandle;

/// The body of a request, whole or streamed.
pub type RequestBody = BoxBody<Bytes, io::Error>;

/// An answer whose body is still being read.
#[derive(Debug)]
pub struct StreamedAnswer {
    body: Incoming,
    connection: JoinHandle<()>,
}

impl Drop for StreamedAnswer {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl StreamedAnswer {
    /// Returns the next chunk of the body; `None` at the end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            match self.body.frame().await {
                None => return Ok(None),
                Some(Ok(frame)) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                Some(Err(error)) => return Err(broken(&error).into()),
            }
        }
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// As [`StreamedAnswer::next_chunk`].
    pub async fn read_all(mut self) -> Result<Vec<u8>, Problem> {
        let mut all = Vec::new();
        while let Some(chunk) = self.next_chunk().await? {
            all.extend_from_slice(&chunk);
        }
        Ok(all)
    }
}

impl VerbClient {
    /// Sends a request whose answer may be large or slow.
    ///
    /// # Errors
    /// No daemon, or a refusal.
    pub async fn start(
        &self,
        path: &str,
        request: &impl Serialize,
    ) -> Result<StreamedAnswer, Problem> {
        self.ready().await?;
        let body = self.encode(request)?;
        self.exchange(path, Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed())
            .await
    }

    /// Prepares a request with a streamed body: its first line is the request, the sender adds the rest.
    ///
    /// # Errors
    /// As [`VerbClient::start`].
    pub async fn start_upload(
        &self,
        path: &str,
        request: &impl Serialize,
    ) -> Result<(Sender<Bytes, io::Error>, RequestBody), Problem> {
        self.ready().await?;
        let mut line = self.encode(request)?;
        line.push(b'\n');
        let (mut sender, body) = Channel::<Bytes, io::Error>::new(4);
        sender
            .send_data(Bytes::from(line))
            .await
            .map_err(|_| Problem::new(format!("{path}: the request cannot be sent")))?;
        Ok((sender, body.boxed()))
    }

    fn encode(&self, request: &impl Serialize) -> Result<Vec<u8>, Problem> {
        let arguments = match serde_json::to_value(request) {
            Ok(Value::Object(arguments)) => arguments,
            _ => Map::new(),
        };
        let ask = VerbCall { session: self.session().clone(), arguments };
        Ok(serde_json::to_vec(&ask).map_err(io::Error::from)?)
    }

    /// Sends a request and returns the answer as soon as its head has arrived.
    ///
    /// # Errors
    /// No daemon, or a refusal.
    pub async fn exchange(&self, path: &str, body: RequestBody) -> Result<StreamedAnswer, Problem> {
        let stream = connect(&self.paths.admin_socket).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|e| broken(&e))?;
        // The task ends with the exchange; errors are reported by the answer.
        let connection = tokio::spawn(async move { drop(connection.await) });
        let request = Request::builder().method(Method::POST).uri(path).header("host", "localhost");
        let request = request
            .header("content-type", "application/json")
            .body(body)
            .map_err(|e| broken(&e))?;
        let answer: Response<Incoming> =
            sender.send_request(request).await.map_err(|e| broken(&e))?;
        let status = answer.status();
        let answer = StreamedAnswer { body: answer.into_body(), connection };
        if status.is_success() {
            return Ok(answer);
        }
        match serde_json::from_slice(&answer.read_all().await?) {
            Ok(failure) => Err(RequestError::Refused(failure).into()),
            Err(_) => Err(Unreachable::Broken(format!("{path}: {status}")).into()),
        }
    }
}

fn broken(error: &impl ToString) -> Unreachable {
    Unreachable::Broken(error.to_string())
}
