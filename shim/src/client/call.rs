//! Calls a verb from the command line; starts the daemon if none runs.

use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::backoff::Backoff;
use crate::client::connector::ConnectTimeouts;
use crate::client::socket::connect;
use crate::client::unreachable::{ConnectError, Unreachable};
use crate::output::Problem;
use crate::project;
use crate::project::Environment;
use crate::spawn::Launch;
use loci_proto::admin::VerbCall;
use loci_proto::hello::Session;
use loci_proto::paths::Paths;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::time::timeout;

/// A verb's reply, as the daemon sent it.
#[derive(Debug)]
pub struct Answer(String);

impl Answer {
    /// Parses the reply.
    ///
    /// # Errors
    /// When the reply has another shape, because the daemon has another version.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        Ok(serde_json::from_str(&self.0).map_err(unreadable)?)
    }

    /// Returns the reply as it came: one line of JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Sends the verbs of one command to the daemon.
#[derive(Debug)]
pub struct VerbClient {
    /// The paths of the daemon.
    pub paths: Paths,
    session: Session,
}

impl VerbClient {
    /// Creates the client of this process. The project is found in the same way as for an agent.
    ///
    /// # Errors
    /// When the paths cannot be resolved.
    pub fn of_process() -> Result<Self, Problem> {
        let found = project::find(&Environment::of_process());
        let id = uuid::Uuid::now_v7().to_string();
        let session = Session {
            id,
            group: found.hint,
            warnings: found.warnings,
            agent_session: None,
            pid: std::process::id(),
        };
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
    /// No daemon, or a refusal of the verb.
    pub async fn reply(&self, verb: &str, request: &impl Serialize) -> Result<Answer, Problem> {
        let arguments = match serde_json::to_value(request) {
            Ok(Value::Object(arguments)) => {
                arguments.into_iter().filter(|(_, value)| !value.is_null()).collect()
            }
            _ => Map::new(),
        };
        let ask = VerbCall { session: self.session.clone(), arguments };
        let body = serde_json::to_vec(&ask).map_err(std::io::Error::from)?;
        let answer = self.post(&format!("/verbs/{verb}"), body).await?;
        Ok(Answer(
            String::from_utf8(answer).map_err(|error| {
                Problem::new("The daemon's answer is not UTF-8").because(&error)
            })?,
        ))
    }

    /// Calls a verb and returns the parsed reply.
    ///
    /// # Errors
    /// As [`VerbClient::reply`].
    pub async fn call<T: DeserializeOwned>(
        &self,
        verb: &str,
        request: &impl Serialize,
    ) -> Result<T, Problem> {
        self.reply(verb, request).await?.read()
    }

    async fn post(&self, path: &str, body: Vec<u8>) -> Result<Vec<u8>, Problem> {
        self.ready().await?;
        Ok(admin::send(&self.paths, path, body).await?.to_vec())
    }

    /// Waits until a daemon answers requests; starts one if none runs.
    ///
    /// # Errors
    /// Why no daemon can be reached.
    pub async fn ready(&self) -> Result<(), Problem> {
        let mut latest = Unreachable::Absent;
        match timeout(ConnectTimeouts::default().total, self.until_listening(&mut latest)).await {
            Ok(ready) => ready,
            Err(_) => Err(latest.into()),
        }
    }

    async fn until_listening(&self, latest: &mut Unreachable) -> Result<(), Problem> {
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
            match Launch::default().start(&self.paths, latest).await {
                // The session socket accepts connections; the admin socket follows at once.
                Ok(_) => {}
                Err(ConnectError::Permanent(reason)) => return Err(reason.into()),
                Err(ConnectError::Transient(reason)) => *latest = reason,
            }
            backoff.wait().await;
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn unreadable(error: serde_json::Error) -> RequestError {
    Unreachable::Broken(format!("its answer cannot be parsed: {error}")).into()
}
