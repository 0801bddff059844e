//! The end of a turn: a reminder to store, if something was decided and nothing was stored since. At most once in a session.

use crate::handlers::hook::{Answer, Event};
use loci_engine::hooks::decisions;
use loci_engine::hooks::receipt::Outcome;
use loci_engine::hooks::text::tokens;
use loci_proto::gate::ModelText;
use std::time::Instant;

/// The reminder: a statement, and what the agent can do.
const REMINDER: &str = "loci: a decision was stated in this session and no memory was stored since. If it matters for later sessions, store it with \
                        store_memory; otherwise end the turn.";

impl Event<'_> {
    pub(super) fn stop(&self) -> Answer {
        if !self.config.is_on(self.request.event) {
            return Answer::silent("off in the configuration");
        }
        if self.request.continued || !self.request.client.takes_reminder() {
            return Answer::silent("the client takes no reminder here");
        }
        let joined = self.joined();
        let last_store = joined.iter().filter_map(|session| session.last_store()).max();
        let mut record = self.session.lock();
        if decisions::states_decision(self.request.message.as_deref().unwrap_or_default()) {
            record.decided.get_or_insert_with(Instant::now);
        }
        let Some(decided) = record.decided else { return Answer::silent("nothing was decided") };
        if last_store.is_some_and(|at| at >= decided) {
            record.decided = None;
            return Answer::silent("a memory was stored since");
        }
        if std::mem::replace(&mut record.reminded, true) {
            return Answer::silent("reminded before");
        }
        let mut answer = Answer::of(Outcome::Reminded, "a decision without a memory");
        answer.reply.reminder = Some(ModelText::own(REMINDER));
        answer.reply.tokens = tokens(REMINDER);
        answer
    }
}
