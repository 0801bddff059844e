//! What is too large for one message: a request whose answer is read piece by piece, or whose body is sent piece by piece.
//!
//! There is no deadline for the whole; a daemon that goes away closes the connection.

use crate::client::admin::NotDone;
use crate::client::call::Door;
use crate::client::{Unreachable, connect};
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

/// The body of a request, whole or in pieces.
pub type Outgoing = BoxBody<Bytes, io::Error>;

/// An answer that is still being read.
#[derive(Debug)]
pub struct Answer {
    body: Incoming,
    connection: JoinHandle<()>,
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl Answer {
    /// The next piece; none at the end.
    ///
    /// # Errors
    /// When the answer breaks off.
    pub async fn piece(&mut self) -> Result<Option<Bytes>, Problem> {
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

    /// All of it.
    ///
    /// # Errors
    /// As [`Answer::piece`].
    pub async fn whole(mut self) -> Result<Vec<u8>, Problem> {
        let mut all = Vec::new();
        while let Some(piece) = self.piece().await? {
            all.extend_from_slice(&piece);
        }
        Ok(all)
    }
}

impl Door {
    /// Asks for something whose answer may be long, or long in coming.
    ///
    /// # Errors
    /// No daemon, or what it refuses.
    pub async fn begin(&self, path: &str, request: &impl Serialize) -> Result<Answer, Problem> {
        self.ready().await?;
        let body = self.asking(request)?;
        self.exchange(path, Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed())
            .await
    }

    /// Has something done that is told by a request and the pieces that follow it.
    ///
    /// # Errors
    /// As [`Door::begin`].
    pub async fn begin_sending(
        &self,
        path: &str,
        request: &impl Serialize,
    ) -> Result<(Sender<Bytes, io::Error>, Outgoing), Problem> {
        self.ready().await?;
        let mut line = self.asking(request)?;
        line.push(b'\n');
        let (mut sender, body) = Channel::<Bytes, io::Error>::new(4);
        sender
            .send_data(Bytes::from(line))
            .await
            .map_err(|_| Problem::new(format!("{path}: nothing can be sent")))?;
        Ok((sender, body.boxed()))
    }

    fn asking(&self, request: &impl Serialize) -> Result<Vec<u8>, Problem> {
        let arguments = match serde_json::to_value(request) {
            Ok(Value::Object(arguments)) => arguments,
            _ => Map::new(),
        };
        let ask = VerbCall { session: self.session().clone(), arguments };
        Ok(serde_json::to_vec(&ask).map_err(io::Error::from)?)
    }

    /// Sends a request; the answer as soon as it begins.
    ///
    /// # Errors
    /// No daemon, or what it refuses.
    pub async fn exchange(&self, path: &str, body: Outgoing) -> Result<Answer, Problem> {
        let stream = connect(&self.paths.admin_socket).await?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|e| broken(&e))?;
        // It ends with the exchange; what went wrong is told by the answer.
        let connection = tokio::spawn(async move { drop(connection.await) });
        let request = Request::builder().method(Method::POST).uri(path).header("host", "localhost");
        let request = request
            .header("content-type", "application/json")
            .body(body)
            .map_err(|e| broken(&e))?;
        let answer: Response<Incoming> =
            sender.send_request(request).await.map_err(|e| broken(&e))?;
        let status = answer.status();
        let answer = Answer { body: answer.into_body(), connection };
        if status.is_success() {
            return Ok(answer);
        }
        match serde_json::from_slice(&answer.whole().await?) {
            Ok(failure) => Err(NotDone::Refused(failure).into()),
            Err(_) => Err(Unreachable::Broken(format!("{path}: {status}")).into()),
        }
    }
}

fn broken(error: &impl ToString) -> Unreachable {
    Unreachable::Broken(error.to_string())
}
