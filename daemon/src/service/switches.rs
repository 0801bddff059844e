//! Whether loci is off for a session: it is then neither read nor written, and nothing is recorded.
//!
//! Everything that serves a session asks [`Service::off`]: tools, resources, the command line, hooks. Not here: what a person may do in a
//! project that is off (`handlers::switches`).

use crate::interface::agents::session::Session;
use crate::service::store_state::StoreState;
use crate::service::{Caller, Service};
use loci_engine::operations::switches::Switches;
use loci_proto::admin::SwitchStatus;
use loci_proto::group::Group;
use loci_proto::off::OffReason;

impl Service {
    /// Returns why loci is off for a session; `None` if it is on. The session's group is that of its project now
    /// ([`Service::resolved`]).
    pub async fn off(&self, session: &Session) -> Option<OffReason> {
        if let Some(reason) = off_by_itself(session) {
            return Some(reason);
        }
        // A store that cannot be opened refuses the call anyway.
        let Ok(pools) = self.pools().await else { return None };
        if ids_of(session).any(|id| pools.switches.is_incognito(id))
            || self.has_incognito_server(session)
        {
            return Some(OffReason::Incognito);
        }
        if pools.switches.is_off(&session.group, &session.hello) {
            return Some(OffReason::Person);
        }
        let needs_file = self.config.serves_opted_in_only() && !session.hello.opted_in;
        (needs_file && !pools.switches.is_on(&session.group)).then_some(OffReason::NotOptedIn)
    }

    /// Returns whether a person has made this session incognito while it ran. False while the store is being opened.
    pub fn became_incognito(&self, session: &Session) -> bool {
        match &*self.store.borrow() {
            StoreState::Open(pools) => ids_of(session).any(|id| pools.switches.is_incognito(id)),
            StoreState::Opening | StoreState::Failed(_) => false,
        }
    }

    /// Returns whether a client's session, by its own id, or an MCP session of it is off by itself or became incognito: its hooks then
    /// answer nothing and record nothing.
    pub async fn is_client_session_off(&self, id: &str) -> bool {
        let joined = self.joined_sessions(id, &self.hooks.sessions.ancestors(id));
        if joined.iter().any(|session| off_by_itself(session).is_some()) {
            return true;
        }
        let Ok(pools) = self.pools().await else { return false };
        pools.switches.is_incognito(id) || self.continues_incognito(id, &pools.switches)
    }

    /// Notes that the session which an incognito one goes on as is incognito too: what the agent runs in its shell names only this one.
    pub async fn keep_incognito(&self, caller: Caller<'_>, id: &str) {
        let Ok(pools) = self.pools().await else { return };
        if pools.switches.is_incognito(id) || !self.continues_incognito(id, &pools.switches) {
            return;
        }
        let ids = vec![id.to_owned()];
        let noted =
            self.write(caller, move |writer, call| writer.set_incognito(call, &ids, true)).await;
        if let Err(failure) = noted {
            tracing::warn!(%failure, "a session that goes on as incognito was not noted");
        }
    }

    fn continues_incognito(&self, id: &str, switches: &Switches) -> bool {
        let is_incognito = |session: &Session| ids_of(session).any(|id| switches.is_incognito(id));
        self.continues_session(id, is_incognito)
    }

    /// Returns whether the agent that names this session has a server that was started as incognito.
    fn has_incognito_server(&self, session: &Session) -> bool {
        let Some(id) = &session.hello.agent_session else { return false };
        let is_server = |other: &Session| {
            other.hello.incognito && other.hello.agent_session.as_ref() == Some(id)
        };
        self.sessions.all().iter().any(|other| is_server(other))
    }

    /// Returns where loci is off, and adds to each connected session whether it is.
    pub async fn switch_status(
        &self,
        sessions: &mut [loci_proto::admin::SessionStatus],
    ) -> SwitchStatus {
        let mut status =
            SwitchStatus { opt_in: self.config.serves_opted_in_only(), ..SwitchStatus::default() };
        let connected = self.sessions.all();
        for shown in sessions {
            let Some(session) = connected.iter().find(|session| session.hello.id == shown.id)
            else {
                continue;
            };
            let entered = self.resolved(session).await;
            let entered = entered.as_ref().unwrap_or(session);
            shown.off = self.off(entered).await;
            if self.is_isolated(&entered.group).await {
                "(isolated)".clone_into(&mut shown.group);
            }
            status.incognito += usize::from(shown.off == Some(OffReason::Incognito));
        }
        let Ok(pools) = self.pools().await else { return status };
        let mut off = pools.switches.off();
        off.retain(|group| !pools.isolated.contains(group));
        if !off.is_empty() {
            let names = pools.readers.run(move |reader| reader.group_names(&off)).await;
            status.off = names.and_then(|names| Ok(names?)).unwrap_or_default();
        }
        status
    }

    /// Returns a copy of the session in the group that its project has now; `None` if that is its own.
    pub async fn resolved(&self, session: &Session) -> Option<Session> {
        let group = self.present_group(session).await?;
        Some(session.in_group(group))
    }

    /// Returns the group of a session's project if it is not that of its hello.
    async fn present_group(&self, session: &Session) -> Option<Group> {
        let recognised = session.recognised.get().and_then(|found| found.group.clone());
        let group = recognised.as_ref().unwrap_or(&session.group);
        self.resolve_group(group).await.or(recognised)
    }
}

/// Returns the ids of a session: that of its shim, and the agent's own if there is one.
pub fn ids_of(session: &Session) -> impl Iterator<Item = &str> {
    std::iter::once(&session.hello.id).chain(&session.hello.agent_session).map(String::as_str)
}

/// Returns why a session is off whatever its project is; nothing of the store is read for it.
#[must_use]
pub fn off_by_itself(session: &Session) -> Option<OffReason> {
    match &session.hello {
        hello if hello.incognito => Some(OffReason::Incognito),
        hello if hello.off => Some(OffReason::ProjectFile),
        _ => None,
    }
}
