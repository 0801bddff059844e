//! `hook`: answers an event of a client's session, and records what it delivered.
//!
//! The rules are here and in the engine, so that all clients behave alike. Not here: the JSON of each client (the shim).

mod compaction;
mod context;
mod stop;

use crate::config::hooks::Hooks;
use crate::handlers::handle::Handle;
use crate::service::hooks::sessions::HookSession;
use crate::service::{Caller, Service};
use loci_engine::hooks::receipt::{HookReceipt, Outcome, TextVersion, Withheld};
use loci_engine::hooks::selection::Injection;
use loci_engine::hooks::text::tokens;
use loci_proto::error::Failure;
use loci_proto::gate::ModelText;
use loci_proto::requests::hook::{HookEvent, HookReply, HookRequest, SESSION_CHARS};
use std::sync::Arc;

/// One event while it is answered.
struct Event<'a> {
    service: &'a Service,
    caller: Caller<'a>,
    request: HookRequest,
    config: Hooks,
    /// The client's id of the session; empty if it gave none.
    id: String,
    session: Arc<HookSession>,
}

/// What an event leads to.
#[derive(Default)]
struct Answer {
    reply: HookReply,
    brief: bool,
    delivered: Vec<(i64, TextVersion)>,
    withheld: Vec<(i64, Withheld)>,
}

impl Answer {
    fn silent(reason: &str) -> Self {
        Self::of(Outcome::Silent, reason)
    }

    fn of(outcome: Outcome, reason: &str) -> Self {
        let (outcome, reason) = (outcome.as_str().to_owned(), reason.to_owned());
        Self { reply: HookReply { outcome, reason, ..HookReply::default() }, ..Self::default() }
    }

    /// Puts a text before what is delivered: the instructions of the server, or where the session is.
    fn begin_with(&mut self, text: ModelText, what: &str) {
        let context = match self.reply.context.take() {
            Some(rest) => text.and_own("\n").and(&rest),
            None => text,
        };
        self.reply.tokens = tokens(&context);
        self.reply.context = Some(context);
        self.reply.reason = format!("{what}; {}", self.reply.reason);
        Outcome::Delivered.as_str().clone_into(&mut self.reply.outcome);
    }

    /// Adds a text and its memories.
    fn add(&mut self, injection: Injection) {
        self.withheld.extend(injection.withheld);
        if injection.text.is_empty() {
            return;
        }
        let context = self.reply.context.get_or_insert_default();
        if !context.is_empty() {
            context.push_own("\n");
        }
        context.push(&injection.text);
        self.reply.tokens = tokens(context);
        Outcome::Delivered.as_str().clone_into(&mut self.reply.outcome);
        for memory in injection.delivered {
            self.delivered.push((memory.seq, memory.version));
            self.reply.memories.push(memory.id);
        }
    }
}

impl Handle for HookRequest {
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<HookReply, Failure> {
        let is_short = |id: &String| id.chars().count() <= SESSION_CHARS;
        let id = self.session.clone().filter(is_short).unwrap_or_default();
        let ancestors = &caller.session.hello.ancestors;
        let id = if self.dry_run { String::new() } else { id };
        let session = service.hook_session(self.client, &id, ancestors).await?;
        service.sessions.record_activity();
        let kept = service.kept_in_project(caller.session, &session, (&id, self.folder_gone)).await;
        let caller = Caller { session: kept.as_ref().unwrap_or(caller.session), key: caller.key };
        let config = service.config.config().hooks;
        let event = Event { service, caller, request: self, config, id, session };
        if event.request.event == HookEvent::SessionEnd {
            // Also of an incognito one: the next session of its process must find that it has ended.
            event.session.lock().close();
        }
        // Of an incognito session nothing is recorded, also not that it asked.
        if service.is_client_session_off(&event.id).await {
            let caller = Caller { session: event.caller.session, key: None };
            service.keep_incognito(caller, &event.id).await;
            return Ok(Answer::silent("off in this session").reply);
        }
        if !event.id.is_empty() {
            service.follow(event.caller.session, &event.session, (&event.id, &event.request)).await;
        }
        let mut answer = event.answer().await?;
        event.tell_project(&mut answer);
        if !event.request.dry_run {
            event.record(&answer);
        }
        Ok(answer.reply)
    }
}

impl Event<'_> {
    async fn answer(&self) -> Result<Answer, Failure> {
        match self.request.event {
            HookEvent::SessionStart => self.session_start().await,
            HookEvent::Prompt => self.prompt().await,
            HookEvent::PreTool => self.pre_tool().await,
            HookEvent::SubagentStart => self.subagent_start().await,
            HookEvent::PostCompact => self.post_compact().await,
            HookEvent::Stop => Ok(self.stop()),
            HookEvent::SessionEnd => Ok(Answer::of(Outcome::Closed, "the session has ended")),
        }
    }

    /// Says in which project the session is now, where the agent does not know it. A subagent has a conversation of its own.
    fn tell_project(&self, answer: &mut Answer) {
        let takes_text = self.refusal().is_none() && self.request.event != HookEvent::SubagentStart;
        let ancestors = &self.caller.session.hello.ancestors;
        if takes_text
            && let Some(news) = self.service.take_project_news(&self.session, &self.id, ancestors)
        {
            answer.begin_with(news, "another project");
        }
    }

    /// Returns why an event delivers nothing whatever is stored; `None` if it may.
    fn refusal(&self) -> Option<&'static str> {
        let HookRequest { client, event, .. } = self.request;
        if !self.config.is_on(event) {
            Some("off in the configuration")
        } else if !client.takes_context(event) {
            Some("the client takes no text here")
        } else {
            None
        }
    }

    /// Adds the receipt of the event.
    fn record(&self, answer: &Answer) {
        let outcomes = [
            Outcome::Delivered,
            Outcome::Reset,
            Outcome::Stored,
            Outcome::Reminded,
            Outcome::Closed,
        ];
        let outcome = outcomes.into_iter().find(|outcome| outcome.as_str() == answer.reply.outcome);
        self.service.hooks.receipts.add(HookReceipt {
            tokens: answer.reply.tokens,
            brief: answer.brief,
            delivered: answer.delivered.clone(),
            withheld: answer.withheld.clone(),
            ..self.receipt(outcome.unwrap_or(Outcome::Silent), &answer.reply.reason)
        });
    }

    /// Returns a receipt without memories.
    fn receipt(&self, outcome: Outcome, reason: &str) -> HookReceipt {
        HookReceipt {
            session: self.id.clone(),
            client: self.request.client.as_str(),
            event: self.request.event.as_str(),
            at: self.service.now(),
            group: Some(self.caller.session.group.id.clone()),
            outcome,
            reason: reason.to_owned(),
            tokens: 0,
            brief: false,
            delivered: Vec::new(),
            withheld: Vec::new(),
        }
    }
}
