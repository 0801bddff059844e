//! The client: connects, and calls the tools of agents.

use crate::builder::Builder;
use crate::connection::Connection;
use crate::error::Error;
use loci_proto::mcp::idempotency::META_KEY;
use loci_proto::paths::Paths;
use loci_proto::requests::compact::{CompactReply, CompactRequest};
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};
use loci_proto::requests::inspect::{InspectReply, InspectRequest};
use loci_proto::requests::recall::{RecallReply, RecallRequest};
use loci_proto::requests::relate::{RelateReply, RelateRequest};
use loci_proto::requests::restore::{RestoreReply, RestoreRequest};
use loci_proto::requests::stats::{StatsReply, StatsRequest};
use loci_proto::requests::store::{StoreReply, StoreRequest};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A session with the daemon.
#[derive(Debug)]
pub struct Client {
    builder: Builder,
    connection: Option<Connection>,
    calls: u64,
}

impl Client {
    /// Begins to describe a client; name and version are shown as the source of what it stores.
    #[must_use]
    pub fn builder(name: &str, version: &str) -> Builder {
        Builder::new(name, version)
    }

    /// Stores a memory.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn store(&mut self, request: &StoreRequest) -> Result<StoreReply, Error> {
        self.call("store_memory", request)
    }

    /// Searches memories, or returns those with the given ids.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn recall(&mut self, request: &RecallRequest) -> Result<RecallReply, Error> {
        self.call("recall_memory", request)
    }

    /// Hides a memory, or deletes it permanently.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn forget(&mut self, request: &ForgetRequest) -> Result<ForgetReply, Error> {
        self.call("forget_memory", request)
    }

    /// Makes a hidden memory active again.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn restore(&mut self, request: &RestoreRequest) -> Result<RestoreReply, Error> {
        self.call("restore_memory", request)
    }

    /// Returns one memory with everything that is stored about it.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn inspect(&mut self, request: &InspectRequest) -> Result<InspectReply, Error> {
        self.call("memory_inspect", request)
    }

    /// Relates two entities.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn relate(&mut self, request: &RelateRequest) -> Result<RelateReply, Error> {
        self.call("store_relation", request)
    }

    /// Counts memories.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn stats(&mut self, request: &StatsRequest) -> Result<StatsReply, Error> {
        self.call("memory_stats", request)
    }

    /// Returns a cluster of old episodes, or replaces it by a summary.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub fn compact(&mut self, request: &CompactRequest) -> Result<CompactReply, Error> {
        self.call("compact_memories", request)
    }

    /// Calls a tool by its name, as [`loci_proto::mcp::tools`] lists it.
    ///
    /// # Errors
    /// [`Error::Refused`] with the daemon's reason and the next step; [`Error::NoDaemon`]; [`Error::Broken`] if the connection breaks twice.
    pub fn call<R: DeserializeOwned>(
        &mut self,
        tool: &str,
        arguments: &impl Serialize,
    ) -> Result<R, Error> {
        self.calls += 1;
        let key = format!("{}:{}", self.builder.session.id, self.calls);
        let arguments = without_nulls(serde_json::to_value(arguments)?);
        let params = json!({"name": tool, "arguments": arguments, "_meta": {META_KEY: key}});
        let answer = match self.request(&params) {
            Err(Error::Broken(_)) => self.request(&params)?,
            other => other?,
        };
        if answer["isError"] == true {
            let text = answer["content"][0]["text"].as_str().unwrap_or_default();
            return Err(Error::Refused(text.to_owned()));
        }
        Ok(serde_json::from_value(answer["structuredContent"].clone())?)
    }

    /// Sends a call, on a new connection if there is none.
    fn request(&mut self, params: &Value) -> Result<Value, Error> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => Connection::open(&self.builder)?,
        };
        let answer = connection.request("tools/call", params)?;
        self.connection = Some(connection);
        Ok(answer)
    }
}

/// The daemon takes an argument that is null for one of a wrong type.
fn without_nulls(mut arguments: Value) -> Value {
    if let Value::Object(fields) = &mut arguments {
        fields.retain(|_, value| !value.is_null());
    }
    arguments
}

impl Builder {
    /// Connects to the daemon.
    ///
    /// # Errors
    /// [`Error::NotAccepted`] for a project that cannot have this name; [`Error::NoDaemon`]; [`Error::Paths`].
    pub fn connect(mut self) -> Result<Client, Error> {
        if let Some(fault) = self.fault.take() {
            return Err(Error::NotAccepted(fault));
        }
        if self.socket.is_none() {
            let paths = Paths::of_process().map_err(|error| Error::Paths(error.to_string()))?;
            self.socket = Some(paths.socket);
        }
        let connection = Some(Connection::open(&self)?);
        Ok(Client { builder: self, connection, calls: 0 })
    }
}
