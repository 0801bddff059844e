//! `recall`: finds memories by a query, or shows memories by their ids.
//!
//! [`prepare`] validates the request, `search` or `ids` finds the memories, `hydrate` makes the
//! reply. Not here: ranking (`crate::search`), counting accesses (`transaction::access`).

pub(crate) mod associations;
mod candidates;
mod clusters;
mod errors;
pub(crate) mod fallback;
mod hydrate;
mod ids;
mod page;
mod past;
mod past_limits;
mod prepare;
mod rerank;
mod search;
mod tried;

pub use prepare::{PreparedRecall, prepare};

use crate::Reader;
use crate::error::Result;
use crate::model::actor::Viewer;
use crate::model::encoding::QueryEncoding;
use crate::model::files::ProjectFiles;
use crate::model::rerank::Rerank;
use crate::model::time::Timestamp;
use crate::operations::named_project::existing_group;
use crate::ranking::fusion::Fusion;
use crate::search::budget;
use loci_proto::degraded::Degraded;
use loci_proto::requests::recall::RecallReply;
use prepare::Target;

/// A reply, and the memories that it contains in full.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The reply to the agent.
    pub reply: RecallReply,
    /// Sequence numbers of the memories returned in full; the caller records an access of each.
    pub accessed: Vec<i64>,
    /// Sequence numbers of all memories in the reply, also of previews.
    pub shown: Vec<i64>,
}

impl Answer {
    /// Adds how long the recall took, if it is explained.
    pub fn set_latency(&mut self, latency: std::time::Duration) {
        if let Some(explained) = &mut self.reply.explain {
            explained.latency_us = Some(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
            budget::count_again(&mut self.reply);
        }
    }
}

/// The input of a recall besides its request.
#[derive(Debug, Clone, Copy)]
pub struct RecallContext<'a> {
    /// The project of the session, and whether a person asks.
    pub viewer: Viewer<'a>,
    /// The client of the session, as it names itself: results of other clients say so.
    pub client: Option<&'a str>,
    /// The encoding of the query; `None` without a model: then only keywords are searched.
    pub encoding: Option<&'a QueryEncoding>,
    /// The time of the call.
    pub now: Timestamp,
    /// The fusion to use instead of the configured one, for comparisons.
    pub fusion: Option<Fusion>,
    /// An agent asks: metadata that no model needs is left out.
    pub is_agent: bool,
    /// The reply names the session's project, because nobody would guess it.
    pub names_project: bool,
    /// The files of the session's checkout, to say which memories are out of date.
    pub files: Option<&'a dyn ProjectFiles>,
    /// A cross-encoder, which orders the best results of a search; `None` without one.
    pub rerank: Option<Rerank<'a>>,
    /// The degraded parts that the reply reports.
    pub degraded: &'a Degraded,
}

impl Reader {
    /// Answers a recall.
    ///
    /// # Errors
    /// `Database`; `not_found` for an isolated project; `OtherModel` if the query must be encoded again,
    /// by the model that is now active.
    pub fn recall(&self, prepared: &PreparedRecall, context: RecallContext<'_>) -> Result<Answer> {
        match &prepared.request.as_of {
            Some(text) => self.recall_as_of(prepared, context, text),
            None => self.recall_now(prepared, context),
        }
    }

    /// Answers a recall at the time of this reader.
    fn recall_now(&self, prepared: &PreparedRecall, context: RecallContext<'_>) -> Result<Answer> {
        let request = &prepared.request;
        let (isolation, named) = (self.shared.isolation(), request.group.as_ref());
        let group = existing_group(&self.conn, &isolation, context.viewer, named)?;
        match &prepared.target {
            Target::Ids(ids) => self.recall_ids(request, context, &group, ids),
            Target::Search(text) => self.recall_search(request, context, &group, text),
        }
    }
}
