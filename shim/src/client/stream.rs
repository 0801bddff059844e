//! Requests with a streamed answer or a streamed body (export, import, and long-running requests).
//!
//! These requests have no time limit; a daemon that dies closes the connection.

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
use serde::de::DeserializeOwned;
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

    /// Reads the first line of the body: JSON.
    ///
    /// # Errors
    /// As [`StreamedAnswer::next_chunk`]; when the line does not have the shape of `T`.
    pub async fn first_line<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        let mut line = Vec::new();
        while line.last() != Some(&b'\n') {
            match self.next_chunk().await? {
                Some(chunk) => line.extend_from_slice(&chunk),
                None => break,
            }
        }
        serde_json::from_slice(&line)
            .map_err(|error| Problem::new("The daemon's answer cannot be parsed").because(&error))
    }

    /// Waits until the daemon ends the answer.
    pub async fn ended(&mut self) {
        while let Ok(Some(_)) = self.next_chunk().await {}
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// As [`StreamedAnswer::next_chunk`].
    pub async fn read_all(mut self) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.next_chunk().await? {
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

impl VerbClient {
    /// Sends a request whose answer may be large or take long.
    ///
    /// # Errors
    /// The daemon cannot be reached, or refuses the request.
    pub async fn call_streamed(
        &self,
        path: &str,
        request: &impl Serialize,
    ) -> Result<StreamedAnswer, Problem> {
        self.wait_until_ready().await?;
        let body = self.encode(request)?;
        self.post_streamed(
            path,
            Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed(),
        )
        .await
    }

    /// Prepares a request with a streamed body. The first line of the body is the request; the caller sends the rest through the
    /// returned sender, and passes the body to [`VerbClient::post_streamed`].
    ///
    /// # Errors
    /// As [`VerbClient::call_streamed`].
    pub async fn prepare_upload(
        &self,
        path: &str,
        request: &impl Serialize,
    ) -> Result<(Sender<Bytes, io::Error>, RequestBody), Problem> {
        self.wait_until_ready().await?;
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
        let call = VerbCall { session: self.session().clone(), arguments };
        Ok(serde_json::to_vec(&call).map_err(io::Error::from)?)
    }

    /// Sends a request and returns the answer as soon as its HTTP header has arrived.
    ///
    /// # Errors
    /// The daemon cannot be reached, or refuses the request.
    pub async fn post_streamed(
        &self,
        path: &str,
        body: RequestBody,
    ) -> Result<StreamedAnswer, Problem> {
        let stream = connect(&self.paths.admin_socket).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|e| broken(&e))?;
        // The task ends with the request; the answer reports errors of the connection.
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
