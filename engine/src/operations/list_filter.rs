//! The filters of `list` and `facets`: which memories a request selects.
//!
//! Not here: the page and its order (`list`), the counts (`facets`).

use crate::db::wishes;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::declared;
use crate::model::event_date;
use crate::model::memory::Memory;
use crate::model::statement_filter::StatementFilter;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::{Isolation, Visibility};
use crate::operations::named_project::existing_group;
use crate::search::query::date_filter::DateFilter;
use crate::text::same_letters;
use loci_proto::error::Failure;
use loci_proto::memory::Confidence;
use loci_proto::requests::list::ListRequest;
use loci_proto::wish::Wish;
use std::collections::BTreeMap;

/// The value of the request's `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StatusFilter {
    Status(Status),
    Expired,
    Pinned,
    Flagged,
    Dormant,
    All,
}

/// A filter that `facets` leaves out for the counts of its own values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Facet {
    Kind,
    Project,
    Client,
    Trust,
    Status,
    Time,
}

/// Which filters a memory does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failed {
    None,
    /// Only this one.
    Only(Facet),
    /// Several, or one that is no facet.
    Others,
}

/// The filters of one request.
pub(crate) struct ListFilter<'r, 'v> {
    reader: &'r Reader,
    request: &'r ListRequest,
    viewer: Viewer<'v>,
    isolation: Isolation,
    visibility: Visibility,
    group: String,
    status: StatusFilter,
    text: Option<String>,
    client: Option<String>,
    statement: Option<StatementFilter>,
    days: DateFilter,
    /// Those of the store, if the request asks for memories with wishes.
    wishes: Option<BTreeMap<i64, Vec<Wish>>>,
    now: Timestamp,
}

impl<'r, 'v> ListFilter<'r, 'v> {
    /// # Errors
    /// `invalid` for `status`, `group`, `category`, `subject` and the dates; `Database`.
    pub(crate) fn new(
        reader: &'r Reader,
        request: &'r ListRequest,
        viewer: Viewer<'v>,
        now: Timestamp,
    ) -> Result<Self> {
        let status = parse_status(request.status.as_deref())?;
        let isolation = reader.shared.isolation();
        let group = existing_group(&reader.conn, &isolation, viewer, request.group.as_ref())?;
        Ok(Self {
            reader,
            request,
            viewer,
            visibility: Visibility::of_group(&group.id, isolation.clone()),
            isolation,
            group: group.id,
            status,
            text: request.text.as_deref().map(same_letters::folded),
            client: request.client.as_deref().map(same_letters::folded),
            statement: StatementFilter::new(
                request.category.as_deref(),
                request.subject.as_deref(),
            )?,
            wishes: request.wished.then(|| wishes::open(&reader.conn)).transpose()?,
            days: DateFilter::parse(request.date_from.as_deref(), request.date_to.as_deref(), now)?,
            now,
        })
    }

    /// Returns the wishes for a memory, if the request asks for them.
    pub(crate) fn wishes(&self, seq: i64) -> Vec<Wish> {
        let wishes = self.wishes.as_ref().and_then(|wishes| wishes.get(&seq));
        wishes.cloned().unwrap_or_default()
    }

    /// Returns whether the request selects a memory.
    pub(crate) fn admits(&self, memory: &Memory) -> bool {
        self.failed(memory) == Failed::None
    }

    /// Returns the filters that a memory does not pass.
    pub(crate) fn failed(&self, memory: &Memory) -> Failed {
        let facets: [(Facet, bool); 6] = [
            (Facet::Status, self.matches_status(memory)),
            (Facet::Kind, self.request.kind.is_none_or(|kind| kind == memory.kind)),
            (Facet::Project, self.is_from_project(memory)),
            (Facet::Client, self.client.as_deref().is_none_or(|client| is_by(memory, client))),
            (Facet::Trust, self.request.trust.is_none_or(|trust| trust == memory.provenance.trust)),
            (Facet::Time, self.days.is_open() || self.days.admits(Some(day(memory)))),
        ];
        let mut failed = facets.iter().filter(|(_, passes)| !passes).map(|(facet, _)| *facet);
        match (failed.next(), failed.next()) {
            (_, Some(_)) => Failed::Others,
            _ if !self.passes_others(memory) => Failed::Others,
            (None, _) => Failed::None,
            (Some(facet), None) => Failed::Only(facet),
        }
    }

    /// The filters that are no facets; the most expensive comes last.
    fn passes_others(&self, memory: &Memory) -> bool {
        let Self { request, now, .. } = self;
        let is_listed =
            request.all_groups && self.isolation.may_be_named(self.viewer, memory.group.as_deref());
        (is_listed || self.visibility.admits(memory.audience()))
            && (!request.uncategorised || declared::category(&memory.metadata).is_none())
            && (!request.flags || !memory.provenance.flags.is_empty())
            && (!request.held || memory.provenance.is_gated())
            && self.wishes.as_ref().is_none_or(|wishes| wishes.contains_key(&memory.seq))
            && request
                .older_than_seconds
                .is_none_or(|age| memory.created_at <= now.plus(-age.saturating_mul(1000)))
            && request.confidence_below.is_none_or(|limit| self.confidence(memory) < limit)
            && request.scope.is_none_or(|scope| scope == memory.scope)
            && request.tool.as_deref().is_none_or(|tool| is_about_tool(memory, tool))
            && self.statement.as_ref().is_none_or(|filter| filter.admits(&memory.metadata))
            && self
                .text
                .as_deref()
                .is_none_or(|text| same_letters::folded(&memory.content).contains(text))
    }

    fn is_from_project(&self, memory: &Memory) -> bool {
        !self.request.from_group || memory.group.as_deref() == Some(self.group.as_str())
    }

    fn confidence(&self, memory: &Memory) -> Confidence {
        self.reader.confidence(memory, self.now)
    }

    fn matches_status(&self, memory: &Memory) -> bool {
        let is_active = memory.status == Status::Active;
        let is_expired = memory.expires_at.is_some_and(|at| at <= self.now);
        match self.status {
            StatusFilter::Status(Status::Active) => is_active && !is_expired,
            StatusFilter::Status(status) => memory.status == status,
            StatusFilter::Expired => is_active && is_expired,
            StatusFilter::Pinned => is_active && memory.anchor.pinned,
            StatusFilter::Flagged => is_active && self.reader.is_faded(memory, self.now),
            StatusFilter::Dormant => self.reader.is_dormant(memory, self.now),
            StatusFilter::All => true,
        }
    }
}

/// Returns the day of a memory's event, else the day when it was stored.
pub(crate) fn day(memory: &Memory) -> i32 {
    event_date::day(&memory.content, &memory.metadata).unwrap_or_else(|| memory.created_at.day())
}

/// Returns whether a memory names this tool in its metadata.
fn is_about_tool(memory: &Memory, tool: &str) -> bool {
    let named = memory.metadata.get("tool").and_then(serde_json::Value::as_str);
    named.is_some_and(|named| named.eq_ignore_ascii_case(tool))
}

/// Whether a memory was stored by a client, or by what is named in its place; `client` is in lower case.
fn is_by(memory: &Memory, client: &str) -> bool {
    memory.provenance.source().is_some_and(|source| same_letters::folded(&source) == client)
}

fn parse_status(name: Option<&str>) -> Result<StatusFilter> {
    Ok(match name {
        None | Some("active") => StatusFilter::Status(Status::Active),
        Some("superseded") => StatusFilter::Status(Status::Superseded),
        Some("compacted") => StatusFilter::Status(Status::Compacted),
        Some("forgotten") => StatusFilter::Status(Status::Forgotten),
        Some("candidate") => StatusFilter::Status(Status::Candidate),
        Some("rejected") => StatusFilter::Status(Status::Rejected),
        Some("expired") => StatusFilter::Expired,
        Some("pinned") => StatusFilter::Pinned,
        Some("flagged") => StatusFilter::Flagged,
        Some("dormant") => StatusFilter::Dormant,
        Some("all") => StatusFilter::All,
        Some(_) => {
            let message = "must be active, superseded, compacted, forgotten, candidate, rejected, expired, pinned, flagged, dormant or all";
            return Err(Failure::invalid("status", message).into());
        }
    })
}
