//! A compacted conversation: what the session was given is no longer in it; the client's summary can be stored as an episode.

use crate::handlers::groups;
use crate::handlers::handle::Handle;
use crate::handlers::hook::{Answer, Event};
use crate::service::Caller;
use loci_engine::hooks::receipt::Outcome;
use loci_engine::privacy;
use loci_proto::error::Failure;
use loci_proto::limits;
use loci_proto::memory::{MemoryType, Scope};
use loci_proto::requests::Request;
use loci_proto::requests::store::StoreRequest;
use serde_json::{Map, Value};

/// Before a stored summary, so that it is clear what the text is.
const HEADING: &str = "Summary of a session by its client: ";

impl Event<'_> {
    /// Forgets what the session was given, and adds a receipt.
    pub(super) fn reset(&self, why: &str) {
        if self.session.lock().reset() && !self.request.dry_run {
            let receipt = self.receipt(Outcome::Reset, why);
            self.service.hooks.receipts.add(receipt);
        }
    }

    /// Forgets what the session was given, if its client was started again and has lost it, and adds a receipt.
    pub(super) fn restart(&self) {
        if self.session.lock().forget() && !self.request.dry_run {
            let receipt = self.receipt(Outcome::Reset, "restart");
            self.service.hooks.receipts.add(receipt);
        }
    }

    pub(super) async fn post_compact(&self) -> Result<Answer, Failure> {
        self.reset("compact");
        if !self.config.is_on(self.request.event) {
            return Ok(Answer::silent("off in the configuration"));
        }
        let summary = self.request.summary.as_deref().map(str::trim).unwrap_or_default();
        if summary.is_empty() {
            return Ok(Answer::silent("the client gave no summary"));
        }
        let mut end = summary.len().min(limits::CONTENT_BYTES - HEADING.len());
        while !summary.is_char_boundary(end) {
            end -= 1;
        }
        let mut metadata = Map::new();
        metadata.insert("source".to_owned(), Value::from("compaction"));
        let mut request = Request::Store(StoreRequest {
            scope: Some(Scope::Group),
            metadata,
            ..StoreRequest::new(format!("{HEADING}{}", &summary[..end]), MemoryType::Episodic)
        });
        let group = groups::project_of(self.service, self.caller.session, &request).await;
        let policy = self.service.config.policy_of(&group);
        privacy::request::screen(&policy, &mut request)?;
        let Request::Store(request) = request else { return Ok(Answer::silent("")) };
        let caller = Caller { session: self.caller.session, key: None };
        let stored = request.handle(self.service, caller).await?;
        let mut answer = Answer::of(Outcome::Stored, "summary of the compaction");
        answer.reply.memories.push(stored.id);
        Ok(answer)
    }
}
