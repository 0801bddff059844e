//! One connection: the hello line, the handshake of MCP, and requests of which one is in flight at a time.

use crate::builder::Builder;
use crate::error::Error;
use loci_proto::hello::{Hello, MAX_VERSION, MIN_VERSION, Reply};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;

/// The revision of MCP that is spoken.
const PROTOCOL: &str = "2025-11-25";

/// Maximum size of an answer in bytes.
const MAX_ANSWER_BYTES: u64 = 16 * 1024 * 1024;

/// A connection on which the daemon serves MCP.
#[derive(Debug)]
pub(crate) struct Connection {
    reader: BufReader<UnixStream>,
    sent: u64,
}

impl Connection {
    /// Connects, says hello, and initializes MCP.
    pub(crate) fn open(builder: &Builder) -> Result<Self, Error> {
        let socket = builder.socket.clone().unwrap_or_default();
        let stream = UnixStream::connect(&socket).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Error::NoDaemon(socket),
            _ => Error::Broken(error),
        })?;
        stream.set_read_timeout(Some(builder.deadline))?;
        stream.set_write_timeout(Some(builder.deadline))?;
        let mut connection = Self { reader: BufReader::new(stream), sent: 0 };
        let hello = Hello {
            loci: (MIN_VERSION, MAX_VERSION),
            shim: loci_proto::VERSION.to_owned(),
            session: builder.session.clone(),
        };
        connection.send(&serde_json::to_value(hello)?)?;
        if let Reply::Refused(refused) = serde_json::from_value(connection.receive()?)? {
            let reason = serde_json::to_value(refused.error)?;
            let reason = reason.as_str().unwrap_or_default();
            return Err(Error::NotAccepted(format!("{reason}, locid {}", refused.daemon)));
        }
        let client = json!({"name": builder.name, "version": builder.version});
        let params = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client});
        connection.request("initialize", &params)?;
        connection.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(connection)
    }

    /// Sends a request and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value, Error> {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut message = self.receive()?;
            if message["id"] != id || message.get("method").is_some() {
                // A notification of the daemon.
                continue;
            }
            if let Some(error) = message.get("error") {
                let text = error["message"].as_str().unwrap_or("no reason");
                return Err(Error::Refused(text.to_owned()));
            }
            return Ok(message["result"].take());
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Error> {
        let line = format!("{message}\n");
        Ok(self.reader.get_mut().write_all(line.as_bytes())?)
    }

    fn receive(&mut self) -> Result<Value, Error> {
        let mut line = Vec::new();
        (&mut self.reader).take(MAX_ANSWER_BYTES).read_until(b'\n', &mut line)?;
        if line.last() != Some(&b'\n') {
            return Err(Error::Broken(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(serde_json::from_slice(&line)?)
    }
}
