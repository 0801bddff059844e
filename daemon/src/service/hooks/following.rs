//! A client's session is in the project of the folder that its hooks name. A reply tells the agent when the project changes.
//!
//! A folder that is gone, and one that many projects share, leave the session in its project. Not here: finding the project of a folder (the
//! shim), which MCP sessions are those of the client (`joining`).

use crate::interface::agents::session::Session;
use crate::service::Service;
use crate::service::hooks::sessions::{HookSession, is_folder, moved_text};
use loci_proto::gate::ModelText;
use loci_proto::group::{Group, GroupHint};
use loci_proto::requests::hook::HookRequest;
use std::sync::Arc;

impl Service {
    /// Returns the session of a hook in the project that it was in before, if its folder is gone or is none of a project.
    pub async fn kept_in_project(
        &self,
        hook: &Session,
        record: &HookSession,
        (id, is_gone): (&str, bool),
    ) -> Option<Session> {
        if !is_gone && hook.hello.group != GroupHint::Default {
            return None;
        }
        let known = record.lock().hello.clone();
        let joined = self.joined_sessions(id, &hook.hello.ancestors).into_iter();
        let mut hellos = known.into_iter().chain(joined.map(|one| one.at_present().hello.clone()));
        let kept = hellos.find_map(|hello| hook.at_folder_of(&hello))?;
        Some(self.resolved(&kept).await.unwrap_or(kept))
    }

    /// Notes the folder of a client's session, and moves its MCP sessions there.
    pub async fn follow(
        &self,
        hook: &Session,
        record: &HookSession,
        (id, request): (&str, &HookRequest),
    ) {
        let known = record.lock().project(&hook.group.id);
        let now = match known {
            Some(now) => now,
            None => Group { name: self.project_name(hook).await, ..hook.group.clone() },
        };
        record.lock().note_place(&hook.hello, &now, request.folder_gone);
        for session in self.joined_sessions(id, &hook.hello.ancestors) {
            self.take_along(&session, hook, &now).await;
        }
    }

    /// Takes an MCP session to the folder of a hook, unless its project was named.
    async fn take_along(&self, session: &Arc<Session>, hook: &Session, now: &Group) {
        let there = &hook.hello;
        let present = session.at_present();
        if !is_folder(&there.group)
            || present.hello.group == there.group
            || matches!(session.hello.group, GroupHint::Named(_))
            || session.is_bound_to_project()
        {
            return;
        }
        let entered = self.resolved(&present).await;
        let before = entered.as_ref().map_or(&present.group, |entered| &entered.group).clone();
        let is_back = session.hello.group == there.group;
        let moved = session.at_folder_of(there).filter(|_| !is_back);
        let news = (before.id != now.id).then(|| moved_text(&before, now));
        session.followed().go_to(moved, news);
    }

    /// Takes the news of the project for the agent.
    #[must_use]
    pub fn take_project_news(
        &self,
        record: &HookSession,
        id: &str,
        ancestors: &[u32],
    ) -> Option<ModelText> {
        let news = record.lock().news.take()?;
        for session in self.joined_sessions(id, ancestors) {
            let _ = session.followed().take_news();
        }
        Some(news)
    }
}
