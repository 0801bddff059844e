//! Recall by query: searches the index, reads the rows of the best results, and groups those that
//! state the same fact.
//!
//! Not here: ranking (`crate::search`), the reply's content (`hydrate`).

use crate::Reader;
use crate::db::groups;
use crate::db::memories;
use crate::db::memories::MemoryReader;
use crate::error::{Error, Result};
use crate::index::{Filter, Index};
use crate::model::encoding::QueryEncoding;
use crate::model::visibility::Visibility;
use crate::operations::recall::hydrate::{Hit, ReplyDraft, sources};
use crate::operations::recall::prepare::SearchText;
use crate::operations::recall::{Answer, RecallContext};
use crate::search::project_preference::ProjectPreference;
use crate::search::versions::{ResultText, VersionOrder, VersionedText};
use crate::search::{Detail, SearchQuery, SearchResults, search};
use crate::search::{collapse, fallback, versions};
use loci_proto::bounded_numbers::MaxResults;
use loci_proto::group::Group;
use loci_proto::memory::{Confidence, MemoryId};
use loci_proto::requests::explain::{RecallExplanation, ScoreBreakdown};
use loci_proto::requests::recall::{RecallReply, RecallRequest};

/// Minimum confidence of a result if the request gives none.
const MIN_CONFIDENCE: f64 = 0.1;

/// The results of the index, before rows are read.
#[derive(Default)]
struct Found {
    /// Only keywords were searched, because the index is being loaded.
    by_fallback: bool,
    /// Best first.
    ranked: Vec<FoundMemory>,
    /// Number of memories that match the query.
    matched: usize,
    /// Even the best result is a weak match.
    is_weak: bool,
    explained: Option<RecallExplanation>,
}

/// One memory that the index found.
struct FoundMemory {
    seq: i64,
    score: f64,
    /// Ranks of better results that may state the same fact.
    possible_duplicates: Vec<usize>,
    /// For a summary, the sequence numbers of the memories whose score it took over, best first.
    summarised: Vec<i64>,
    why: Option<ScoreBreakdown>,
}

/// A search in one project.
#[derive(Clone, Copy)]
struct Scope<'a> {
    request: &'a RecallRequest,
    context: RecallContext<'a>,
    /// The project.
    group: &'a Group,
    visibility: &'a Visibility,
}

impl Reader {
    /// Answers a recall by query.
    pub(crate) fn recall_search(
        &self,
        request: &RecallRequest,
        context: RecallContext<'_>,
        group: &Group,
        text: &SearchText,
    ) -> Result<Answer> {
        let visibility = Visibility::of_group(&group.id, self.shared.isolation());
        let scope = Scope { request, context, group, visibility: &visibility };
        let found = self.find_in_index(scope, text)?;
        let degraded = found.by_fallback.then(|| fallback::degraded(context.degraded));
        let context =
            RecallContext { degraded: degraded.as_ref().unwrap_or(context.degraded), ..context };
        // One read transaction for all rows, so that the file is locked once and not for each row.
        let read_transaction = self.conn.unchecked_transaction()?;
        let Hits { hits, collapsed } = self.read_hits(found.ranked, self.limit(request))?;
        let reply = RecallReply {
            total_matched: found.matched,
            truncated: text.query.truncated,
            weak: found.is_weak,
            explain: found.explained.map(|explained| RecallExplanation {
                collapsed,
                over_limit: explained.ranked.saturating_sub(hits.len() + collapsed),
                ..explained
            }),
            ..RecallReply::default()
        };
        let answer = self.hydrate(ReplyDraft { request, group, reply, hits }, context);
        read_transaction.finish()?;
        answer
    }

    fn limit(&self, request: &RecallRequest) -> usize {
        request.max_results.map_or(self.shared.settings().default_max_results, MaxResults::get)
    }

    /// Reads the rows of the best results. A result that states the same fact as a better one is
    /// listed there and not returned itself; a newer value comes before an older one.
    fn read_hits(&self, ranked: Vec<FoundMemory>, limit: usize) -> Result<Hits> {
        let mut memories = MemoryReader::new(&self.conn)?;
        let (mut hits, mut collapsed) = (Vec::<Hit>::new(), 0);
        for (rank, found) in ranked.into_iter().enumerate() {
            let Some(memory) = memories.get(found.seq)? else { continue };
            let same_fact = hits.iter_mut().find(|hit| {
                found.possible_duplicates.contains(&hit.rank)
                    && collapse::is_same_fact(&hit.memory, &memory)
            });
            if let Some(better) = same_fact {
                better.also.push(memory.id);
                collapsed += 1;
                continue;
            }
            let sources = sources(&mut memories, &found.summarised)?;
            let score = Some(found.score);
            hits.push(Hit { score, why: found.why, rank, sources, ..Hit::of(memory) });
        }
        let mut hits = newest_first(hits);
        hits.truncate(limit);
        Ok(Hits { hits, collapsed })
    }

    /// Searches the index, or the keywords of the database while the index is being loaded.
    fn find_in_index(&self, scope: Scope<'_>, text: &SearchText) -> Result<Found> {
        let Scope { request, context, group, .. } = scope;
        let settings = self.shared.settings();
        let filter = self.filter(scope);
        let warm = self.shared.warm();
        let temporary = warm
            .is_none()
            .then(|| fallback::temporary_index(&self.conn, &filter, text.dates, &text.query))
            .transpose()?;
        let by_fallback = temporary.is_some();
        let Some(index) = warm.as_deref().or(temporary.as_ref()) else {
            return Ok(Found::default());
        };
        let encoding = context.encoding.filter(|_| !by_fallback);
        let encoding = usable_encoding(index, encoding)?;
        let mut mask = index.mask(&filter);
        if !text.dates.is_open() {
            mask.retain(|slot| text.dates.admits(index.text_features(slot).day));
        }
        let isolation = self.shared.isolation();
        let mut projects = groups::names(&self.conn)?;
        projects.retain(|project| isolation.may_be_named(context.viewer, Some(&project.id)));
        let projects = ProjectPreference::new(&text.query.text, group, &projects);
        let query = SearchQuery {
            parsed: &text.query,
            projects: &projects,
            encoding,
            fusion: context.fusion.unwrap_or(settings.fusion),
            today: context.now.day(),
            limit: self.limit(request),
            effort: settings.effort,
            detail: if request.explain { Detail::Steps } else { Detail::Scores },
        };
        let mut results = search(index, &mask, &query);
        let in_store =
            if by_fallback { memories::count(&self.conn)? } else { index.size().memories };
        let mut breakdowns = None;
        let explained = results.explanation.take().map(|explanation| {
            breakdowns = Some(explanation.score_breakdowns);
            RecallExplanation {
                ranking: explanation.ranking.to_owned(),
                in_store,
                visible: index.mask(&self.all_visible(scope)).count(),
                admitted: mask.count(),
                matched: results.matched,
                ranked: results.positive,
                ..RecallExplanation::default()
            }
        });
        Ok(Found {
            by_fallback,
            matched: results.matched,
            is_weak: results.is_weak,
            ranked: found_memories(index, &results, breakdowns.unwrap_or_default()),
            explained,
        })
    }

    /// Returns the filter that admits all memories that the project can see.
    fn all_visible<'a>(&self, scope: Scope<'a>) -> Filter<'a> {
        Filter { compacted: true, ..self.shared.filter(scope.visibility, scope.context.now) }
    }

    /// Returns the filter of the request.
    fn filter<'a>(&self, scope: Scope<'a>) -> Filter<'a> {
        let request = scope.request;
        let default = Confidence::new(MIN_CONFIDENCE).unwrap_or(Confidence::FULL);
        Filter {
            kind: request.kind,
            scope: request.scope,
            min_confidence: request.min_confidence.unwrap_or(default),
            ..self.all_visible(scope)
        }
    }
}

/// Returns the encoding of the query if its model is that of the index; `None` if the index has no
/// vector set.
///
/// # Errors
/// `OtherModel`: the cosine of vectors of two models means nothing.
fn usable_encoding<'a>(
    index: &Index,
    encoding: Option<&'a QueryEncoding>,
) -> Result<Option<&'a QueryEncoding>> {
    let Some(encoding) = encoding else { return Ok(None) };
    match index.vector_set().model.as_str() {
        "" => Ok(None),
        model if *model == *encoding.model => Ok(Some(encoding)),
        _ => Err(Error::OtherModel),
    }
}

/// The rows of the results.
struct Hits {
    hits: Vec<Hit>,
    /// Number of results that state the same fact as a better one.
    collapsed: usize,
}

/// Puts results that state a newer value before those with the older one, and marks the latter.
fn newest_first(hits: Vec<Hit>) -> Vec<Hit> {
    let text = |hit: &Hit| {
        let Hit { memory, score, .. } = hit;
        VersionedText::new(ResultText {
            kind: memory.kind,
            group: memory.group.as_deref(),
            seq: memory.seq,
            score: score.unwrap_or(0.0),
            content: &memory.content,
        })
    };
    let texts: Vec<VersionedText> = hits.iter().map(text).collect();
    let VersionOrder { order, newer } = versions::newest_first(&texts);
    let ids: Vec<MemoryId> = hits.iter().map(|hit| hit.memory.id.clone()).collect();
    let mut hits: Vec<Option<Hit>> = hits.into_iter().map(Some).collect();
    let marked = |at: usize| {
        let older_version_of = newer[at].map(|newer| ids[newer].clone());
        hits[at].take().map(|hit| Hit { older_version_of, ..hit })
    };
    order.into_iter().filter_map(marked).collect()
}

/// Converts slots to sequence numbers, so that the results are valid without the index.
fn found_memories(
    index: &Index,
    results: &SearchResults,
    breakdowns: Vec<ScoreBreakdown>,
) -> Vec<FoundMemory> {
    let duplicates = collapse::possible_duplicates(index, &results.ranked);
    let breakdowns = breakdowns.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    let summarised = |slot: usize| {
        let slots = results.summarised.get(&slot).into_iter().flatten();
        slots.map(|slot| index.seq(*slot)).collect()
    };
    results
        .ranked
        .iter()
        .zip(duplicates)
        .zip(breakdowns)
        .map(|((entry, possible_duplicates), why)| FoundMemory {
            seq: index.seq(entry.slot),
            score: entry.score,
            possible_duplicates,
            summarised: summarised(entry.slot),
            why,
        })
        .collect()
}
