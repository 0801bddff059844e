//! Calls a verb from the command line; starts the daemon if none runs.

use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::backoff::Backoff;
use crate::client::connector::ConnectTimeouts;
use crate::client::socket::connect;
use crate::client::unreachable::{ConnectError, Unreachable};
use crate::output::Problem;
use crate::spawn::Launch;
use crate::speaker;
use loci_project as project;
use loci_project::Environment;
use loci_proto::admin::VerbCall;
use loci_proto::hello::Session;
use loci_proto::paths::Paths;
use loci_proto::requests::Verb;
use loci_proto::requests::list::ListedMemory;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::marker::PhantomData;
use tokio::time::timeout;

/// The reply of a verb as the daemon sent it: one line of JSON, which has the shape of `T`.
#[derive(Debug)]
pub struct RawReply<T>(String, PhantomData<T>);

impl<T: DeserializeOwned> RawReply<T> {
    /// Parses the reply.
    ///
    /// # Errors
    /// When the reply does not have its shape, because the daemon has another version.
    pub fn parse(&self) -> Result<T, Problem> {
        Ok(serde_json::from_str(&self.0).map_err(unreadable)?)
    }

    /// Returns the unparsed reply.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Calls verbs of the daemon on behalf of one command.
#[derive(Debug)]
pub struct VerbClient {
    /// The paths of the daemon.
    pub paths: Paths,
    session: Session,
}

impl VerbClient {
    /// Creates the client of this process; finds the project in the same way as for an agent.
    ///
    /// # Errors
    /// When the paths cannot be resolved.
    pub fn of_process() -> Result<Self, Problem> {
        let found = project::find(&Environment::of_process());
        let id = uuid::Uuid::now_v7().to_string();
        let speaker = speaker::of_process().speaker.clone();
        let session = Session { speaker, ..found.session(id, speaker::agent_session()) };
        Ok(Self { paths: Paths::of_process()?, session })
    }

    /// Returns the session of this command, for requests that are not verbs.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Calls a verb and returns the raw reply. Arguments that are null are omitted.
    ///
    /// # Errors
    /// The daemon cannot be reached, or refuses the call.
    pub async fn ask<V: Verb>(&self, request: &V) -> Result<RawReply<V::Reply>, Problem> {
        let arguments = serde_json::to_value(request).map_err(std::io::Error::from)?;
        Ok(RawReply(self.post_call(V::NAME, arguments).await?, PhantomData))
    }

    async fn post_call(&self, verb: &str, arguments: Value) -> Result<String, Problem> {
        let arguments = match arguments {
            Value::Object(arguments) => {
                arguments.into_iter().filter(|(_, value)| !value.is_null()).collect()
            }
            _ => Map::new(),
        };
        let call = VerbCall { session: self.session.clone(), arguments };
        let body = serde_json::to_vec(&call).map_err(std::io::Error::from)?;
        let reply = self.post(&format!("/verbs/{verb}"), body).await?;
        String::from_utf8(reply)
            .map_err(|error| Problem::new("The daemon's answer is not UTF-8").because(&error))
    }

    /// Calls a verb and returns the parsed reply.
    ///
    /// # Errors
    /// As [`VerbClient::ask`].
    pub async fn call<V: Verb>(&self, request: &V) -> Result<V::Reply, Problem> {
        self.ask(request).await?.parse()
    }

    /// Returns the client for a decision about texts that the person was shown: the daemon refuses it where one has changed since.
    #[must_use]
    pub fn having_shown<'a>(&self, memories: impl IntoIterator<Item = &'a ListedMemory>) -> Self {
        let version = |memory: &ListedMemory| (memory.id.to_string(), memory.version.clone());
        let shown = Some(memories.into_iter().map(version).collect());
        Self { paths: self.paths.clone(), session: Session { shown, ..self.session.clone() } }
    }

    async fn post(&self, path: &str, body: Vec<u8>) -> Result<Vec<u8>, Problem> {
        self.wait_until_ready().await?;
        Ok(admin::post_json(&self.paths, path, body).await?.to_vec())
    }

    /// Waits until a daemon answers requests; starts one if none runs.
    ///
    /// # Errors
    /// The reason why no daemon can be reached.
    pub async fn wait_until_ready(&self) -> Result<(), Problem> {
        let mut latest_error = Unreachable::Absent;
        match timeout(ConnectTimeouts::default().total, self.start_and_wait(&mut latest_error))
            .await
        {
            Ok(result) => result,
            Err(_) => Err(latest_error.into()),
        }
    }

    async fn start_and_wait(&self, latest_error: &mut Unreachable) -> Result<(), Problem> {
        let mut backoff = Backoff::default();
        loop {
            match connect(&self.paths.admin_socket).await {
                Ok(_) => match admin::get(&self.paths, "/status").await {
                    // A daemon that was just killed may still accept connections, but does not answer.
                    Err(RequestError::Unreachable(
                        Unreachable::Broken(_) | Unreachable::Absent,
                    )) => {}
                    Err(RequestError::Unreachable(other)) => return Err(other.into()),
                    Ok(_) | Err(RequestError::Refused(_)) => return Ok(()),
                },
                Err(Unreachable::Absent) => {}
                Err(other) => return Err(other.into()),
            }
            if self.paths.hold.exists() {
                return Err(Unreachable::OnHold.into());
            }
            match Launch::default().start(&self.paths, latest_error).await {
                // The session socket accepts connections; the admin socket will soon.
                Ok(_) => {}
                Err(ConnectError::Permanent(reason)) => return Err(reason.into()),
                Err(ConnectError::Transient(reason)) => *latest_error = reason,
            }
            backoff.wait().await;
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn unreadable(error: serde_json::Error) -> RequestError {
    Unreachable::Broken(format!("its answer cannot be parsed: {error}")).into()
}
