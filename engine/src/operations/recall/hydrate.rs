//! Turns found memories into a reply: content or previews, relations, sources, within the token
//! budget.
//!
//! Not here: finding memories (`search`, `ids`), the estimate of tokens (`search::budget`).

use crate::Reader;
use crate::calibration::Calibration;
use crate::db::memories::MemoryReader;
use crate::db::memory_row::is_true;
use crate::error::Result;
use crate::model::actor::Viewer;
use crate::model::candidate::given_reason;
use crate::model::document::QUESTIONS;
use crate::model::event_date;
use crate::model::files;
use crate::model::files::FILES;
use crate::model::memory::Memory;
use crate::model::provenance::{Provenance, client_name};
use crate::model::status::Status;
use crate::model::validity;
use crate::model::visibility::Visibility;
use crate::operations::inspect::DORMANT;
use crate::operations::named_project::shown_name;
use crate::operations::recall::prepare::valid_at;
use crate::operations::recall::{Answer, RecallContext};
use crate::search::budget;
use loci_proto::bounded_numbers::TokenBudget;
use loci_proto::group::Group;
use loci_proto::memory::{Confidence, MemoryId, Origin};
use loci_proto::requests::association::Association;
use loci_proto::requests::explain::{ScoreBreakdown, VersionOf};
use loci_proto::requests::inspect::VersionChain;
use loci_proto::requests::recall::{RecallReply, RecallRequest, RecalledMemory, Source, Tried};
use loci_proto::requests::topics::ResultCluster;

/// Maximum number of relations that are returned with an entity.
const MAX_RELATIONS: usize = 10;

/// What a result that mends the error of the query is marked with.
const BY_ERROR: &str = "error";

/// The field of metadata that points to the transcript which a memory was taken from.
const HISTORY: &str = "history";

/// One memory of a reply.
pub(crate) struct Hit {
    pub memory: Memory,
    /// Its score; `None` for a memory shown by id.
    pub score: Option<f64>,
    pub why: Option<ScoreBreakdown>,
    /// Its rank, 0 for the best.
    pub rank: usize,
    /// Memories that state the same fact.
    pub also: Vec<MemoryId>,
    /// For a summary, the memories whose score it took over.
    pub sources: Vec<Source>,
    /// The result that states a newer value.
    pub older_version_of: Option<MemoryId>,
    /// Rejected attempts at the same matter.
    pub tried: Vec<Tried>,
    /// It mends the error that the query is.
    pub mends_error: bool,
}

impl Hit {
    /// Returns a result for a memory without a score.
    pub(crate) fn of(memory: Memory) -> Self {
        Self {
            memory,
            score: None,
            why: None,
            rank: 0,
            also: Vec::new(),
            sources: Vec::new(),
            older_version_of: None,
            tried: Vec::new(),
            mends_error: false,
        }
    }
}

/// A reply in progress.
pub(crate) struct ReplyDraft<'a> {
    pub request: &'a RecallRequest,
    /// The project that is searched.
    pub group: &'a Group,
    /// The reply without results.
    pub reply: RecallReply,
    pub hits: Vec<Hit>,
    /// Memories linked to the results, with their sequence numbers.
    pub associations: Vec<(i64, Association)>,
    /// Which results are about the same.
    pub clusters: Vec<ResultCluster>,
}

impl Reader {
    /// Completes a reply with as many results as the token budget permits.
    pub(crate) fn hydrate(
        &self,
        draft: ReplyDraft<'_>,
        context: RecallContext<'_>,
    ) -> Result<Answer> {
        let ReplyDraft { request, group, mut reply, hits, associations, clusters } = draft;
        let settings = &self.shared.settings();
        let previews = request.summary_only;
        let matches_from = Calibration::of(&self.shared.sets().active.model).match_cosine;
        let default_budget =
            if previews { settings.preload_token_budget } else { settings.recall_token_budget };
        let token_budget = request.token_budget.map_or(default_budget, TokenBudget::get);
        let hit_seqs: Vec<i64> = hits.iter().map(|hit| hit.memory.seq).collect();
        let of_candidates: Vec<i64> = hits
            .iter()
            .filter(|hit| hit.memory.status == Status::Candidate)
            .map(|hit| hit.memory.seq)
            .collect();
        let confidence = |m: &Memory| settings.decay.at(context.now, m.kind, m.anchor);
        let visibility = Visibility::of_group(&group.id, self.shared.isolation_for(context.viewer));
        let valid_at = valid_at(request, context.now)?;
        let mut breakdowns = Vec::with_capacity(hits.len());
        let mut results = Vec::with_capacity(hits.len());
        for hit in hits {
            let Hit { memory, score, why, also, sources, older_version_of, .. } = hit;
            let matched = hit.mends_error.then(|| BY_ERROR.to_owned());
            let tried = hit.tried;
            let is_own = memory.group.as_deref() == Some(context.viewer.group.id.as_str());
            let files = context.files.filter(|_| is_own);
            let stale = files.and_then(|files| files::stale(&memory.metadata, files));
            let why = why.map(|why| self.with_version(why, &memory, &visibility)).transpose()?;
            breakdowns.push(
                why.map(|why| traced(why, &memory, older_version_of.is_none(), matches_from)),
            );
            let faded = self.is_faded(&memory, context.now);
            let dormant = self.is_dormant(&memory, context.now).then(|| DORMANT.to_owned());
            let outdated = validity::outside(&memory.metadata, valid_at);
            let event_date_derived = event_date::derived(&memory.content, &memory.metadata);
            let group_id = memory.group.clone();
            let (by, flagged) =
                (by(&memory.provenance, context.client), memory.provenance.flags.names());
            let result = if previews {
                let has_mark = by.is_some() || !flagged.is_empty();
                let created_at = has_mark.then(|| memory.created_at.date());
                RecalledMemory { created_at, ..preview(memory, score) }
            } else {
                let relations = self.relations(&memory, &visibility, MAX_RELATIONS)?;
                RecalledMemory { relations, ..full(confidence(&memory), memory, score) }
            };
            let group = self.other_group(group_id.as_deref(), context.viewer)?;
            let marks = RecalledMemory { older_version_of, by, flagged, group, faded, ..result };
            let result = RecalledMemory { also, sources, event_date_derived, ..marks };
            let status = dormant.or(result.status.clone());
            let result = RecalledMemory { tried, matched, stale, outdated, status, ..result };
            results.push(if context.is_agent { for_agent(result) } else { result });
        }
        reply.degraded = context.degraded.clone();
        if context.names_project && request.group.is_none() {
            reply.group = Some(self.project_name(group)?);
        }
        let explained = reply.explain.take();
        budget::fit(&mut reply, results, token_budget);
        budget::add_clusters(&mut reply, clusters, token_budget);
        let linked = budget::add_associations(&mut reply, associations, token_budget);
        budget::explain(&mut reply, explained, breakdowns);
        let mut shown: Vec<i64> = hit_seqs.into_iter().take(reply.results.len()).collect();
        let mut accessed = if previews || request.dry_run { Vec::new() } else { shown.clone() };
        accessed.retain(|seq| !of_candidates.contains(seq));
        shown.extend(linked);
        Ok(Answer { reply, accessed, shown })
    }
}

impl Reader {
    /// Adds to an explanation which version of a fact the memory is.
    fn with_version(
        &self,
        why: ScoreBreakdown,
        memory: &Memory,
        visibility: &Visibility,
    ) -> Result<ScoreBreakdown> {
        let chain = self.versions(memory, visibility)?;
        let version = chain.map(|VersionChain { root, version, supersedes, .. }| VersionOf {
            root,
            version,
            supersedes,
        });
        Ok(ScoreBreakdown { version, ..why })
    }

    /// Returns the project of a memory as the viewer can name it, if it is not the viewer's own.
    pub(crate) fn other_group(
        &self,
        group: Option<&str>,
        viewer: Viewer<'_>,
    ) -> Result<Option<String>> {
        let (conn, isolation) = (&self.conn, self.shared.isolation());
        match group.filter(|group| *group != viewer.group.id) {
            None => Ok(None),
            Some(id) => {
                Ok(Some(shown_name(conn, &isolation, viewer, id)?.unwrap_or_else(|| id.to_owned())))
            }
        }
    }
}

/// Returns who stored a memory, if it was not the client of the session: most memories were, and
/// the field costs tokens.
pub(crate) fn by(provenance: &Provenance, client: Option<&str>) -> Option<String> {
    let is_of_agent = matches!(provenance.origin, None | Some(Origin::Agent | Origin::Hook));
    let is_own =
        is_of_agent && provenance.client.as_deref().map(client_name) == client.map(client_name);
    if is_own { None } else { provenance.source() }
}

/// Adds to the breakdown of a score what the memory is, and which search found it.
fn traced(
    why: ScoreBreakdown,
    memory: &Memory,
    is_newest_result: bool,
    matches_from: f32,
) -> ScoreBreakdown {
    let level = match memory.status {
        Status::Candidate => "candidate",
        _ if is_true(&memory.metadata, "summary") => "summary",
        _ if is_true(&memory.metadata, "promoted") => "promoted",
        _ => "stored",
    };
    let by_vector = why.vector.is_some_and(|vector| vector.score >= f64::from(matches_from));
    let by_keywords = why.keywords.is_some_and(|keywords| keywords.score > 0.0);
    let source = match (by_vector, by_keywords) {
        (true, true) => "both",
        (true, false) => "vector",
        (false, true) => "keywords",
        (false, false) => "links",
    };
    ScoreBreakdown {
        level: level.to_owned(),
        source: source.to_owned(),
        is_latest: is_newest_result && memory.superseded_by.is_none(),
        access_count: memory.access_count,
        ..why
    }
}

/// Returns previews of the memories whose score a summary took over.
pub(crate) fn sources(memories: &mut MemoryReader<'_>, seqs: &[i64]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for seq in seqs {
        // The memory may have been forgotten since the index was searched.
        let source = memories.get(*seq)?.filter(|memory| memory.status == Status::Compacted);
        sources.extend(
            source
                .map(|memory| Source { preview: budget::preview(&memory.content), id: memory.id }),
        );
    }
    Ok(sources)
}

fn preview(memory: Memory, score: Option<f64>) -> RecalledMemory {
    RecalledMemory { preview: Some(budget::preview(&memory.content)), ..bare(memory, score) }
}

fn full(confidence: Confidence, mut memory: Memory, score: Option<f64>) -> RecalledMemory {
    let content = std::mem::take(&mut memory.content);
    let metadata = std::mem::take(&mut memory.metadata);
    let created_at = memory.created_at.iso();
    RecalledMemory {
        content: Some(content),
        confidence: Some(confidence),
        created_at: Some(created_at),
        metadata: Some(metadata),
        ..bare(memory, score)
    }
}

/// Leaves out of the metadata what no model needs: the questions of a memory, its files and the pointer to its transcript; and the metadata
/// if nothing is left.
fn for_agent(result: RecalledMemory) -> RecalledMemory {
    let metadata = result.metadata.map(|mut metadata| {
        for name in [QUESTIONS, FILES, HISTORY] {
            metadata.remove(name);
        }
        metadata
    });
    RecalledMemory { metadata: metadata.filter(|metadata| !metadata.is_empty()), ..result }
}

fn bare(memory: Memory, score: Option<f64>) -> RecalledMemory {
    RecalledMemory {
        id: memory.id,
        kind: Some(memory.kind),
        preview: None,
        content: None,
        confidence: None,
        score: score.map(|s| (s * 1e4).round() / 1e4),
        created_at: None,
        metadata: None,
        status: (memory.status != Status::Active).then(|| memory.status.as_str().to_owned()),
        rejected: memory
            .forgotten_reason
            .filter(|_| memory.status == Status::Rejected)
            .map(given_reason),
        tried: Vec::new(),
        matched: None,
        stale: None,
        superseded_by: memory.superseded_by,
        older_version_of: None,
        sources: Vec::new(),
        relations: Vec::new(),
        also: Vec::new(),
        why: None,
        group: None,
        by: None,
        flagged: Vec::new(),
        event_date_derived: None,
        faded: false,
        outdated: None,
    }
}
