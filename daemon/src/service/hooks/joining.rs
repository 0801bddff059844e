//! Finds the record of a client's session, and the MCP sessions of the same client session.

use crate::interface::agents::session::Session;
use crate::service::Service;
use crate::service::hooks::sessions;
use crate::service::hooks::sessions::HookSession;
use loci_proto::error::Failure;
use loci_proto::requests::hook::HookClient;
use std::sync::Arc;

impl Service {
    /// Returns the record of a session, from the database if the daemon has not seen the session before. An empty id has a record of its
    /// own at each event.
    ///
    /// # Errors
    /// `busy`, `storage_failed`.
    pub async fn hook_session(
        &self,
        client: HookClient,
        id: &str,
        ancestors: &[u32],
    ) -> Result<Arc<HookSession>, Failure> {
        if id.is_empty() {
            return Ok(Arc::default());
        }
        if let Some(known) = self.hooks.sessions.get(id, ancestors) {
            return Ok(known);
        }
        let session = id.to_owned();
        let given =
            self.read(move |reader| reader.given_to_session(client.as_str(), &session)).await?;
        Ok(self.hooks.sessions.insert(id, given, ancestors))
    }

    /// Returns the MCP sessions of the client that runs this session: those that name it, and those that the same process has started and
    /// that name none or one that has ended, if it runs no other session.
    #[must_use]
    pub fn joined_sessions(&self, id: &str, ancestors: &[u32]) -> Vec<Arc<Session>> {
        if id.is_empty() {
            return Vec::new();
        }
        self.sessions
            .all()
            .into_iter()
            .filter(|session| self.is_joined(session, id, ancestors))
            .collect()
    }

    /// Returns whether one of these MCP sessions goes on as the client's session `id`. As [`Self::joined_sessions`], but a session that
    /// the server names and of which nothing is known counts as ended: the daemon may have been started again since.
    #[must_use]
    pub fn continues_session(&self, id: &str, is_searched: impl Fn(&Session) -> bool) -> bool {
        let ancestors = self.hooks.sessions.ancestors(id);
        let goes_on = |session: &Session| {
            let hello = &session.hello;
            let is_unknown = hello
                .agent_session
                .as_deref()
                .is_none_or(|named| !self.hooks.sessions.is_running(named));
            self.is_joined(session, id, &ancestors)
                || (is_unknown && self.is_of_process(session, id, &ancestors))
        };
        !id.is_empty()
            && self.sessions.all().iter().any(|session| is_searched(session) && goes_on(session))
    }

    /// Returns whether the process that started an MCP session runs the client's session `id` and no other.
    fn is_of_process(&self, session: &Session, id: &str, ancestors: &[u32]) -> bool {
        session.hello.ancestors.first().is_some_and(|client| {
            sessions::is_client(*client, ancestors)
                && !self.hooks.sessions.has_other_of_process(*client, id)
        })
    }

    fn is_joined(&self, session: &Session, id: &str, ancestors: &[u32]) -> bool {
        let hello = &session.hello;
        let is_named = hello.agent_session.as_deref().map(|named| named == id);
        // After `/clear` a client has a new session, and the server that it started before still names the old one.
        let has_ended = |named| self.hooks.sessions.has_ended(named);
        match is_named {
            Some(true) => true,
            Some(false) if !hello.agent_session.as_deref().is_some_and(has_ended) => false,
            _ => self.is_of_process(session, id, ancestors),
        }
    }
}
