//! The events that add a text to the conversation: the brief of the project, and the memories that belong to a prompt or a tool.

use crate::handlers::hook::{Answer, Event};
use crate::handlers::recall;
use crate::interface::agents::session::Session;
use loci_engine::bridge::LoadedMemory;
use loci_engine::hooks::receipt::TextVersion;
use loci_engine::hooks::selection::{Found, Injection, Matches, choose};
use loci_engine::hooks::{decisions, prompts};
use loci_engine::model::time::Timestamp;
use loci_engine::operations::brief::BriefRequest;
use loci_engine::operations::recall::prepare;
use loci_proto::error::Failure;
use loci_proto::gate::ModelText;
use loci_proto::mcp::tools;
use loci_proto::requests::bridge::BridgeClient;
use loci_proto::requests::hook::HookEvent;
use loci_proto::requests::recall::RecallRequest;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// Time for which a model's cache of a conversation lives, in seconds, if the client does not say whether it has expired.
const CACHE_SECONDS: f64 = 300.0;

impl Event<'_> {
    pub(super) async fn session_start(&self) -> Result<Answer, Failure> {
        self.service.bridge.session_started(self.request.client.as_str(), self.caller.session);
        let source = self.request.source.as_deref().unwrap_or("startup");
        let _alone = self.session.delivery().await;
        match source {
            "compact" | "clear" => self.reset(source),
            "restart" => self.restart(),
            _ => {}
        }
        if let Some(reason) = self.refusal() {
            return Ok(Answer::silent(reason));
        }
        let is_given = self.session.lock().brief;
        if is_given && source == "startup" {
            return Ok(Answer::silent("already delivered"));
        }
        if is_given && matches!(source, "resume" | "fork") && self.cache_is_alive() {
            return Ok(Answer::silent("resumed with a live cache"));
        }
        let brief = self.brief().await?;
        let mut answer = Answer::silent("nothing is stored");
        self.deliver_brief(&mut answer, brief);
        if answer.brief {
            answer.reply.reason = format!("brief at {source}");
        }
        self.add_offer(&mut answer).await;
        if !self.request.client.gives_instructions()
            && !std::mem::replace(&mut self.session.lock().instructed, true)
        {
            answer.begin_with(ModelText::own(tools::INSTRUCTIONS.as_str()), "instructions");
        }
        Ok(answer)
    }

    pub(super) async fn prompt(&self) -> Result<Answer, Failure> {
        let prompt = self.request.prompt.as_deref().unwrap_or_default();
        if decisions::states_decision(prompt) {
            self.session.lock().decided = Some(Instant::now());
        }
        if let Some(reason) = self.refusal() {
            return Ok(Answer::silent(reason));
        }
        let _alone = self.session.delivery().await;
        let (mut answer, queries) = (Answer::silent(""), prompts::queries(prompt));
        let wants_brief = {
            let record = self.session.lock();
            !record.brief && record.start_is_due && self.config.is_on(HookEvent::SessionStart)
        };
        if wants_brief {
            let brief = self.brief().await?;
            self.deliver_brief(&mut answer, brief);
            self.add_offer(&mut answer).await;
        }
        let brief_is_given = answer.brief;
        let reason = if queries.is_empty() {
            "the prompt asks nothing".to_owned()
        } else {
            self.deliver_matches(&mut answer, queries, "matches the prompt").await?
        };
        let brief = if brief_is_given { "brief after a missed start; " } else { "" };
        answer.reply.reason = format!("{brief}{reason}");
        Ok(answer)
    }

    pub(super) async fn pre_tool(&self) -> Result<Answer, Failure> {
        if let Some(reason) = self.refusal() {
            return Ok(Answer::silent(reason));
        }
        let _alone = self.session.delivery().await;
        let mut answer = Answer::silent("the tool has no file or command");
        if let Some(target) = self.request.target.as_deref().filter(|text| !text.trim().is_empty())
        {
            let reason = self.deliver_matches(
                &mut answer,
                vec![target.to_owned()],
                "matches the tool's input",
            );
            answer.reply.reason = reason.await?;
        }
        Ok(answer)
    }

    /// A subagent has a conversation of its own: what it is given does not count as given to the session.
    pub(super) async fn subagent_start(&self) -> Result<Answer, Failure> {
        if let Some(reason) = self.refusal() {
            return Ok(Answer::silent(reason));
        }
        let brief = self.brief().await?;
        let mut answer = Answer::silent("nothing is stored");
        if !brief.text.is_empty() {
            answer.add(brief);
            answer.brief = true;
            "brief for a subagent".clone_into(&mut answer.reply.reason);
        }
        Ok(answer)
    }

    fn cache_is_alive(&self) -> bool {
        match (self.request.cache_expired, self.request.idle_seconds) {
            (Some(expired), _) => !expired,
            (None, Some(seconds)) => seconds < CACHE_SECONDS,
            (None, None) => false,
        }
    }

    async fn brief(&self) -> Result<Injection, Failure> {
        let (actor, now) = (self.caller.session.actor(), self.service.now());
        let request = BriefRequest {
            group: self.request.group.clone(),
            budget: self.config.budget(self.brief_event()),
            only_rules: self.request.event == HookEvent::SubagentStart,
            has: self.given_before_brief(),
            own: self.own_memory(),
        };
        self.service.read(move |reader| reader.hook_brief(&request, (&actor).into(), now)).await
    }

    /// Returns what earlier prompts gave to a session that has had no brief. A brief that comes again stands for one that is lost, and
    /// with it may be what came after it.
    fn given_before_brief(&self) -> HashMap<i64, TextVersion> {
        let record = self.session.lock();
        let is_first = !record.brief && self.request.event != HookEvent::SubagentStart;
        if is_first { record.given.clone() } else { HashMap::new() }
    }

    /// Returns what the client loads of its own memory in this session. A subagent loads none.
    fn own_memory(&self) -> Option<Arc<LoadedMemory>> {
        let is_own = self.request.event != HookEvent::SubagentStart && self.request.group.is_none();
        let client = BridgeClient::of(self.request.client.as_str()).filter(|_| is_own)?;
        self.service.bridge.loaded(client, &self.caller.session.group.id)
    }

    /// The event whose budget a brief has: that of a prompt that stands in for a lost start has the budget of the start.
    fn brief_event(&self) -> HookEvent {
        match self.request.event {
            HookEvent::SubagentStart => HookEvent::SubagentStart,
            _ => HookEvent::SessionStart,
        }
    }

    /// Delivers the brief. No other event of the session delivers one meanwhile.
    fn deliver_brief(&self, answer: &mut Answer, brief: Injection) {
        if brief.text.is_empty() {
            return;
        }
        let mut record = self.session.lock();
        record.brief = true;
        record.give(brief.delivered.iter().filter(|memory| memory.is_whole));
        drop(record);
        self.note_shown(&brief);
        answer.add(brief);
        answer.brief = true;
    }

    /// Adds which project without a folder here the user may join to this one.
    async fn add_offer(&self, answer: &mut Answer) {
        if self.request.group.is_none()
            && let Some(offer) = self.service.offer(self.caller.session).await
        {
            let text = offer.for_agent().and_own("\n");
            answer.add(Injection { text, ..Injection::default() });
        }
    }

    /// Delivers the memories that belong to the questions of a prompt; returns the reason of the outcome.
    async fn deliver_matches(
        &self,
        answer: &mut Answer,
        queries: Vec<String>,
        reason: &str,
    ) -> Result<String, Failure> {
        let mut matches = Vec::with_capacity(queries.len());
        for query in queries {
            matches.push(self.matches(query).await?);
        }
        let joined = self.joined();
        let shown: Vec<(i64, Timestamp)> =
            joined.iter().flat_map(|session| session.shown.read_in_full()).collect();
        let injection = {
            let mut record = self.session.lock();
            // A memory that was edited since says something that the session does not know.
            let has = |found: &Found| {
                record.given.get(&found.seq) == Some(&found.version)
                    || shown.iter().any(|(seq, at)| *seq == found.seq && *at >= found.updated_at)
            };
            let injection = choose(&matches, self.config.budget(self.request.event), has);
            record.give(&injection.delivered);
            injection
        };
        self.note_shown(&injection);
        let is_silent = injection.text.is_empty();
        answer.add(injection);
        let reason = if !is_silent {
            reason
        } else if matches.iter().all(|matches| matches.found.is_empty()) {
            "nothing found"
        } else if matches.iter().all(|matches| matches.is_unjudged) {
            "the model is not ready"
        } else if !matches.iter().any(Matches::any_fits) {
            "nothing fits"
        } else {
            "all withheld"
        };
        Ok(reason.to_owned())
    }

    async fn matches(&self, query: String) -> Result<Matches, Failure> {
        let request = RecallRequest {
            query: Some(query),
            group: self.request.group.clone(),
            dry_run: true,
            ..RecallRequest::default()
        };
        let prepared = Arc::new(prepare(request, self.service.now())?);
        let own = self.own_memory();
        recall::run(
            self.service,
            self.caller.session,
            &prepared,
            move |reader, prepared, context| reader.hook_matches(prepared, context, own.as_deref()),
        )
        .await
    }

    /// Returns the MCP sessions of the same client session.
    pub(super) fn joined(&self) -> Vec<Arc<Session>> {
        self.service.joined_sessions(&self.id, &self.caller.session.hello.ancestors)
    }

    /// Notes what the agent was shown, so that storing it again is no evidence.
    fn note_shown(&self, injection: &Injection) {
        let seqs: Vec<i64> = injection.delivered.iter().map(|memory| memory.seq).collect();
        self.joined().iter().for_each(|session| session.shown.record(&seqs));
    }
}
