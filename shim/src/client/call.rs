//! A verb asked for from the command line: the daemon is started where there is none, and answers as it answers an agent.

use crate::client::admin;
use crate::client::admin::NotDone;
use crate::client::{Failed, Patience, Pauses, Unreachable};
use crate::output::Problem;
use crate::project;
use crate::project::Surroundings;
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
    /// The reply as its type.
    ///
    /// # Errors
    /// When it is of another type: the daemon is of another version.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        Ok(serde_json::from_str(&self.0).map_err(unreadable)?)
    }

    /// The reply as it came: one line of JSON.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The way from one command to the daemon.
#[derive(Debug)]
pub struct Door {
    /// Where the daemon is.
    pub paths: Paths,
    session: Session,
}

impl Door {
    /// A door for this process: its project is found as an agent's would be.
    ///
    /// # Errors
    /// When there is no place for a socket.
    pub fn of_process() -> Result<Self, Problem> {
        let found = project::find(&Surroundings::of_process());
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

    /// Who asks, for requests that are no verbs.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Has a verb done; the reply as the daemon sent it, to be read or printed. Arguments that are null are left out.
    ///
    /// # Errors
    /// No daemon, or what the verb refuses.
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
            String::from_utf8(answer)
                .map_err(|error| Problem::new("The answer is no text").because(&error))?,
        ))
    }

    /// Has a verb done; the reply as its type.
    ///
    /// # Errors
    /// As [`Door::reply`].
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

    /// Waits until a daemon takes requests, and starts one where there is none.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn ready(&self) -> Result<(), Problem> {
        let mut latest = Unreachable::Absent;
        match timeout(Patience::default().reach, self.until_it_listens(&mut latest)).await {
            Ok(ready) => ready,
            Err(_) => Err(latest.into()),
        }
    }

    async fn until_it_listens(&self, latest: &mut Unreachable) -> Result<(), Problem> {
        let mut pauses = Pauses::default();
        loop {
            match crate::client::connect(&self.paths.admin_socket).await {
                Ok(_) => match admin::get(&self.paths, "/status").await {
                    // One that was killed a moment ago may still take connections, and answers none.
                    Err(NotDone::Unreachable(Unreachable::Broken(_) | Unreachable::Absent)) => {}
                    Err(NotDone::Unreachable(other)) => return Err(other.into()),
                    Ok(_) | Err(NotDone::Refused(_)) => return Ok(()),
                },
                Err(Unreachable::Absent) => {}
                Err(other) => return Err(other.into()),
            }
            if self.paths.hold.exists() {
                return Err(Unreachable::OnHold.into());
            }
            match Launch::default().start(&self.paths, latest).await {
                // It takes connections; its admin socket follows at once.
                Ok(_) => {}
                Err(Failed::ForGood(reason)) => return Err(reason.into()),
                Err(Failed::ForNow(reason)) => *latest = reason,
            }
            pauses.pause().await;
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "map_err hands it over")]
fn unreadable(error: serde_json::Error) -> NotDone {
    Unreachable::Broken(format!("its answer cannot be read: {error}")).into()
}
