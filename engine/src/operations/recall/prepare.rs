//! Validates and parses a recall request, once.
//!
//! The daemon calls [`prepare`] before it embeds the query, and hands the result back to
//! [`Reader::recall`](crate::Reader::recall). Not here: the search.

use crate::error::Result;
use crate::model::past::EncodedPast;
use crate::model::time::{Timestamp, any_moment};
use crate::search::query::date_filter::DateFilter;
use crate::search::query::parse::ParsedQuery;
use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use loci_proto::memory::MemoryId;
use loci_proto::requests::recall::RecallRequest;

/// A validated recall request.
#[derive(Debug, Clone)]
pub struct PreparedRecall {
    pub(crate) request: RecallRequest,
    pub(crate) target: Target,
    /// Earlier texts with their encodings, for a recall with `as_of`.
    pub(crate) encoded_past: Vec<EncodedPast>,
}

/// The memories that a recall returns: those with given ids, or the results of a search.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Ids(Vec<MemoryId>),
    Search(SearchText),
}

/// The parsed text and date filter of a search.
#[derive(Debug, Clone)]
pub(crate) struct SearchText {
    pub query: ParsedQuery,
    pub dates: DateFilter,
}

/// Validates a request and parses its query.
///
/// # Errors
/// `invalid` if it has neither query nor ids, or an invalid date; `too_many` for too many ids.
pub fn prepare(mut request: RecallRequest, now: Timestamp) -> Result<PreparedRecall> {
    if request.as_of.is_some() {
        let asked = [("associations", request.associations), ("cluster", request.cluster)];
        if let Some((field, _)) = asked.iter().find(|(_, asked)| *asked) {
            return Err(Failure::invalid(*field, "works on the present alone")
                .hint("Leave out as_of")
                .into());
        }
    }
    if let Some(ids) = request.ids.take() {
        if ids.len() > limits::RECALL_IDS {
            let message =
                format!("has {} ids; at most {} are allowed", ids.len(), limits::RECALL_IDS);
            return Err(Failure::new(Code::TooMany, message)
                .at("ids")
                .hint("Split the ids over several calls")
                .into());
        }
        if !ids.is_empty() {
            return Ok(PreparedRecall {
                request,
                target: Target::Ids(ids),
                encoded_past: Vec::new(),
            });
        }
    }
    let query = match request.query.as_deref() {
        Some(text) if !text.trim().is_empty() => ParsedQuery::new(text),
        _ => {
            return Err(Failure::invalid("query", "is missing")
                .hint("Give a query, or ids of memories to show in full")
                .into());
        }
    };
    let dates = DateFilter::parse(request.date_from.as_deref(), request.date_to.as_deref(), now)?;
    let target = Target::Search(SearchText { query, dates });
    Ok(PreparedRecall { request, target, encoded_past: Vec::new() })
}

/// Returns the time at which facts should be true; of a day its end.
///
/// # Errors
/// `invalid`, naming the field.
pub(crate) fn valid_at(request: &RecallRequest, now: Timestamp) -> Result<Timestamp> {
    let Some(text) = &request.valid_at else { return Ok(now) };
    any_moment(text, "valid_at", now).map_err(Into::into)
}

impl PreparedRecall {
    /// Returns the text to embed before the recall: the query, cut to its maximum length; `None` if
    /// the request has ids.
    #[must_use]
    pub fn text_to_embed(&self) -> Option<&str> {
        match &self.target {
            Target::Ids(_) => None,
            Target::Search(search) => Some(&search.query.text),
        }
    }

    /// Returns whether the recall is of an earlier time, and by a query.
    #[must_use]
    pub fn is_search_of_past(&self) -> bool {
        self.request.as_of.is_some() && matches!(self.target, Target::Search(_))
    }

    /// Returns the query as given, if previews were requested for the session's own project and the
    /// recall counts as usage.
    #[must_use]
    pub fn preview_query(&self) -> Option<&str> {
        let RecallRequest { query, summary_only, group, dry_run, as_of, .. } = &self.request;
        query.as_deref().filter(|_| *summary_only && group.is_none() && !dry_run && as_of.is_none())
    }
}
