//! Recall by query: searches the index, reads the rows of the best results, and groups those that
//! state the same fact.
//!
//! Not here: ranking (`crate::search`), the reply's content (`hydrate`).

use crate::Reader;
use crate::db::connection;
use crate::db::groups;
use crate::db::memories;
use crate::db::memories::MemoryReader;
use crate::db::metadata;
use crate::db::relations;
use crate::db::relations::RelationEnd;
use crate::error::{Error, Result};
use crate::index::{Filter, Index, Mask, Statuses};
use crate::model::encoding::QueryEncoding;
use crate::model::past::Past;
use crate::model::statement_filter;
use crate::model::statement_filter::StatementFilter;
use crate::model::validity;
use crate::model::visibility::Visibility;
use crate::operations::recall::fallback;
use crate::operations::recall::hydrate::ReplyDraft;
use crate::operations::recall::page::{FoundMemory, Page, PageOrder, may_be_newer};
use crate::operations::recall::past_limits::PastLimits;
use crate::operations::recall::prepare::{SearchText, valid_at};
use crate::operations::recall::{Answer, RecallContext, rerank};
use crate::ranking::fusion::Fusion;
use crate::search::branch_preference::BranchPreference;
use crate::search::project_preference::ProjectPreference;
use crate::search::query::kind::Kind;
use crate::search::query::parse::ParsedQuery;
use crate::search::query::terms::named_entities;
use crate::search::repeats;
use crate::search::similar_results::similar_results;
use crate::search::{Detail, SearchQuery, SearchResults, search};
use crate::search::{FieldRelation, LinkedFields, QueryStems};
use loci_proto::bounded_numbers::MaxResults;
use loci_proto::degraded::Degraded;
use loci_proto::group::Group;
use loci_proto::memory::SoughtStatus;
use loci_proto::requests::explain::{RecallExplanation, ScoreBreakdown};
use loci_proto::requests::recall::{RecallReply, RecallRequest};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The results of the index, before rows are read.
#[derive(Default)]
pub(super) struct Found {
    /// Only keywords were searched, because the index is being loaded.
    pub by_fallback: bool,
    /// Best first.
    pub ranked: Vec<FoundMemory>,
    /// Number of memories that match the query.
    pub matched: usize,
    /// Even the best result is a weak match.
    pub is_weak: bool,
    /// Number of admitted memories that wait for the model, which encoded the query.
    unencoded: usize,
    explained: Option<RecallExplanation>,
    /// What the search of changed memories left out.
    pub limits: PastLimits,
}

/// A search in one project.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub request: &'a RecallRequest,
    pub context: RecallContext<'a>,
    /// The project.
    pub group: &'a Group,
    pub visibility: &'a Visibility,
    pub statuses: Statuses,
    /// The memories that the call selects by their metadata; `None` if it does not.
    pub selected: Option<&'a HashSet<i64>>,
    /// The kind of the query, if kinds count.
    pub kind: Option<Kind>,
}

impl Scope<'_> {
    /// Returns whether the call's filter of metadata selects a memory.
    pub(super) fn selects(&self, seq: i64) -> bool {
        self.selected.is_none_or(|selected| selected.contains(&seq))
    }
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
        let visibility = Visibility::of_group(&group.id, self.shared.isolation_for(context.viewer));
        let selected = self.selected(request)?;
        let scope = Scope {
            request,
            context,
            group,
            visibility: &visibility,
            statuses: sought_statuses(request.status),
            selected: selected.as_ref(),
            kind: (self.shared.settings().query_kinds)
                .then(|| Kind::of(&text.query, context.now.day())),
        };
        let limit = self.limit(scope);
        let depth = context.rerank.map_or(limit, |rerank| rerank.depth.max(limit));
        let mut found = self.find_at_time(scope, text, depth)?;
        let degraded = match found.unencoded {
            _ if found.by_fallback => Some(fallback::degraded(context.degraded)),
            0 => None,
            count => Some(unencoded(context.degraded, count)),
        };
        let context =
            RecallContext { degraded: degraded.as_ref().unwrap_or(context.degraded), ..context };
        // One read transaction for all rows, so that the file is locked once and not for each row.
        let read_transaction = connection::begin_read(&self.conn)?;
        let query = text.query.text.as_str();
        let order = Self::order(context, query, depth);
        let mut page = Page::read(&self.conn, std::mem::take(&mut found.ranked), order)?;
        if page.has_room_for_more {
            found = self.find_at_time(scope, text, depth.max(repeats::DEPTH))?;
            page = Page::read(&self.conn, std::mem::take(&mut found.ranked), order)?;
        }
        let Page { mut hits, collapsed, .. } = page;
        let degraded = rerank::apply(context, query, limit, &mut hits, &mut found.is_weak);
        let context =
            RecallContext { degraded: degraded.as_ref().unwrap_or(context.degraded), ..context };
        if request.min_confidence.is_none() {
            // The order within the two parts stays.
            hits.sort_by_key(|hit| self.is_faded(&hit.memory, context.now));
        }
        let valid_at = valid_at(request, context.now)?;
        hits.sort_by_key(|hit| validity::outside(&hit.memory.metadata, valid_at).is_some());
        if scope.statuses == Statuses::Recall {
            self.append_candidates(scope, text, &mut found, &mut hits)?;
        }
        // What mends an error and what was rejected is known of the present.
        if scope.statuses == Statuses::Recall && self.past.is_none() {
            if self.put_error_matches_first(scope, limit, &mut hits)? && found.is_weak {
                hits.retain(|hit| hit.mends_error);
                found.is_weak = false;
            }
            self.append_error_candidate(scope, limit, &mut hits)?;
            self.add_tried(scope, &mut hits)?;
        }
        let reply = RecallReply {
            total_matched: found.matched,
            truncated: text.query.truncated,
            weak: found.is_weak,
            as_of: self.past.as_ref().map(|past| past.stamp(found.limits.notes())),
            explain: found.explained.map(|explained| RecallExplanation {
                collapsed,
                over_limit: explained.ranked.saturating_sub(hits.len() + collapsed),
                ..explained
            }),
            ..RecallReply::default()
        };
        let associations = self.associations(scope, Some(text), &hits)?;
        let clusters = self.clusters(scope, &hits);
        let draft = ReplyDraft { request, group, reply, hits, associations, clusters };
        let answer = self.hydrate(draft, context);
        if let Some(read_transaction) = read_transaction {
            read_transaction.finish()?;
        }
        answer
    }

    /// Returns how a page of `limit` results is ordered.
    pub(super) fn order(context: RecallContext<'_>, query: &str, limit: usize) -> PageOrder {
        PageOrder {
            limit,
            min_share_of_newer: repeats::min_share_of_newer(query, context.now.day()),
        }
    }

    /// Returns the ranking: that of the call, else the configured one.
    pub(super) fn fusion(&self, context: RecallContext<'_>) -> Fusion {
        context.fusion.unwrap_or(self.shared.settings().fusion)
    }

    /// Returns how many results are returned: as the call says, else by the kind of the query.
    pub(super) fn limit(&self, scope: Scope<'_>) -> usize {
        let configured = self.shared.settings().default_max_results;
        let by_kind = || scope.kind.map_or(configured, |kind| kind.max_results(configured));
        scope.request.max_results.map_or_else(by_kind, MaxResults::get)
    }

    /// Searches the index, or the keywords of the database while the index is being loaded.
    pub(super) fn find_in_index(
        &self,
        scope: Scope<'_>,
        text: &SearchText,
        limit: usize,
    ) -> Result<Found> {
        let Scope { request, context, group, .. } = scope;
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
        let encoding = usable_encoding(index, context.encoding.filter(|_| !by_fallback))?;
        let mask = mask(index, &filter, text, self.past.as_ref().filter(|_| !by_fallback), scope);
        let asking = ProjectPreference::new(&text.query.text, group, &self.projects(context)?);
        let named = named_entities(index, &mask, &text.query, &asking);
        let projects = asking.or_project_of(project_of_entities(index, &mask, &named));
        let answering = self.entities_with_relation(index, &mask, &text.query, &named)?;
        let fields = self.linked_fields(&text.query)?;
        let branch = BranchPreference::new(&context.viewer.group.id, context.viewer.checkout);
        let query = SearchQuery {
            parsed: &text.query,
            projects: &projects,
            fields: fields.as_ref(),
            branch: branch.as_ref(),
            weights: self.shared.settings().weights,
            answering: &answering,
            encoding,
            fusion: self.fusion(context),
            today: context.now.day(),
            limit,
            finds_nearest: request.nearest,
            // A call that names its ranking gets all of it.
            follows_links: context.fusion.is_some() || scope.kind.is_none_or(Kind::uses_graph),
            effort: self.shared.settings().effort,
            stages: self.shared.settings().stages,
            detail: if request.explain { Detail::Steps } else { Detail::Scores },
            may_replace: &|newer, older| self.may_replace(newer, older),
        };
        let mut results = search(index, &mask, &query);
        let (mut breakdowns, mut explained) = (None, None);
        if let Some(explanation) = results.explanation.take() {
            let visible = index.mask(&self.all_visible(scope)).count();
            let in_store = self.counted_for(context, by_fallback, visible, index)?;
            let judgement = results.judgement.as_ref();
            breakdowns = Some(explanation.score_breakdowns);
            explained = Some(RecallExplanation {
                ranking: explanation.ranking.to_owned(),
                query_kind: scope.kind.map(|kind| kind.name().to_owned()),
                fit: judgement.map(|of| of.fit),
                evidence: judgement.map(|of| of.evidence.named()).unwrap_or_default(),
                in_store,
                visible,
                admitted: mask.count(),
                matched: results.matched,
                ranked: results.positive,
                ..RecallExplanation::default()
            });
        }
        Ok(Found {
            by_fallback,
            matched: results.matched,
            is_weak: results.is_weak,
            unencoded: encoding.map_or(0, |_| index.unencoded_count(&mask)),
            ranked: found_memories(index, &results, breakdowns.unwrap_or_default()),
            explained,
            limits: PastLimits::default(),
        })
    }

    /// Returns whether a memory may state a newer value of what another one states; false if a row
    /// cannot be read.
    pub(super) fn may_replace(&self, newer: i64, older: i64) -> bool {
        let read = |seq| memories::by_seq(&self.conn, seq).ok().flatten();
        read(newer).zip(read(older)).is_some_and(|(newer, older)| may_be_newer(&newer, &older))
    }

    /// Returns the memories with the category and the subject of the request; `None` if it names
    /// neither.
    fn selected(&self, request: &RecallRequest) -> Result<Option<HashSet<i64>>> {
        let (category, subject) = (request.category.as_deref(), request.subject.as_deref());
        let Some(filter) = StatementFilter::new(category, subject)? else { return Ok(None) };
        let accepts = |fields: &Map<String, Value>| filter.admits(fields);
        Ok(Some(metadata::seqs_with(&self.conn, &statement_filter::FIELDS, accepts)?))
    }

    /// Returns how many memories the store has, as far as the viewer may know it: how many isolated projects have is for nobody outside.
    fn counted_for(
        &self,
        context: RecallContext<'_>,
        by_fallback: bool,
        visible: usize,
        index: &Index,
    ) -> Result<usize> {
        let hides = !self.shared.isolation_for(context.viewer).is_empty();
        Ok(match by_fallback {
            _ if hides && !context.viewer.is_person() => visible,
            true => memories::count(&self.conn)?,
            false => index.size().memories,
        })
    }

    /// Returns the projects that a query may name.
    pub(in crate::operations) fn projects(&self, context: RecallContext<'_>) -> Result<Vec<Group>> {
        let isolation = self.shared.isolation();
        let mut projects = groups::names(&self.conn)?;
        // The group of what is stored outside any project has a name that queries do not mean.
        projects.retain(|project| {
            !isolation.is_outside(Some(&project.id))
                && isolation.may_be_named(context.viewer, Some(&project.id))
        });
        Ok(projects)
    }

    /// Returns the fields of linked entities; `None` if their weights are 0.
    fn linked_fields(&self, query: &ParsedQuery) -> Result<Option<LinkedFields>> {
        let weights = self.shared.settings().fields;
        if !weights.any() {
            return Ok(None);
        }
        let stems = QueryStems::new(query);
        let mut found = Vec::new();
        if weights.relation > 0.0 {
            for (subject, object, predicate) in relations::all(&self.conn)? {
                let predicate = stems.within(&predicate.replace('_', " "));
                found.push(FieldRelation { subject, object, predicate });
            }
        }
        Ok(Some(LinkedFields { weights, stems, relations: found }))
    }

    /// Returns the slots of the entities that the query names and that have a relation whose words
    /// it contains, as "who does Anna report to" has those of `reports_to`.
    fn entities_with_relation(
        &self,
        index: &Index,
        mask: &Mask,
        query: &ParsedQuery,
        named: &[usize],
    ) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        if named.is_empty() || index.graph().is_empty() {
            return Ok(found);
        }
        let mut memories = MemoryReader::new(&self.conn)?;
        for slot in named.iter().copied() {
            let Some(entity) = memories.get(index.seq(slot))? else { continue };
            for end in [RelationEnd::Subject, RelationEnd::Object] {
                let asked = |relation: &relations::Relation| {
                    query.asks_for(&relation.predicate)
                        && index.slot(relation.other).is_some_and(|slot| mask.admits(slot))
                };
                if relations::of(&self.conn, &entity.id, end)?.iter().any(asked) {
                    found.push(slot);
                    break;
                }
            }
        }
        Ok(found)
    }

    /// Returns the filter that admits all memories that the project can see.
    pub(super) fn all_visible<'a>(&self, scope: Scope<'a>) -> Filter<'a> {
        Filter {
            statuses: Statuses::Recall,
            ..self.shared.filter(scope.visibility, scope.context.now)
        }
    }

    /// Returns the filter of the request. Without a minimum confidence it also admits faded
    /// memories, and dormant ones if the request asks for them.
    pub(super) fn filter<'a>(&self, scope: Scope<'a>) -> Filter<'a> {
        let (request, all) = (scope.request, self.all_visible(scope));
        Filter {
            kind: request.kind,
            scope: request.scope,
            min_confidence: request.min_confidence.unwrap_or(all.min_confidence),
            dormant_below: self
                .shared
                .settings()
                .dormant_threshold
                .filter(|_| scope.statuses == Statuses::Recall && !request.include_dormant),
            statuses: scope.statuses,
            ..all
        }
    }
}

fn sought_statuses(status: Option<SoughtStatus>) -> Statuses {
    match status {
        None => Statuses::Recall,
        Some(SoughtStatus::Candidate) => Statuses::Candidate,
        Some(SoughtStatus::Rejected) => Statuses::Rejected,
    }
}

/// Returns the mask of a search: of an earlier time only memories that have not changed since.
pub(super) fn mask(
    index: &Index,
    filter: &Filter<'_>,
    text: &SearchText,
    past: Option<&Past>,
    scope: Scope<'_>,
) -> Mask {
    let mut mask = index.mask(filter);
    if scope.selected.is_some() {
        mask.retain(|slot| scope.selects(index.seq(slot)));
    }
    if !text.dates.is_open() {
        mask.retain(|slot| text.dates.admits(index.text_features(slot).day));
    }
    if let Some(past) = past {
        mask.retain(|slot| past.has_unchanged(index.seq(slot)));
    }
    mask
}

/// Returns the encoding of the query if its model is that of the index; `None` if the index has no
/// vector set.
///
/// # Errors
/// `OtherModel`: the cosine of vectors of two models means nothing.
pub(super) fn usable_encoding<'a>(
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

/// Returns the degraded parts that a reply reports, with the memories added that wait for the model.
fn unencoded(others: &Degraded, count: usize) -> Degraded {
    let mut degraded = others.clone();
    degraded.parts.push("vectors".to_owned());
    degraded.hint.get_or_insert_with(|| {
        format!(
            "{count} {} not encoded yet, so the ranking is less exact; call again in a moment",
            if count == 1 { "memory is" } else { "memories are" }
        )
    });
    degraded
}

/// Returns the project of the entities that the query names, if they and all memories that mention
/// them are of one project.
fn project_of_entities(index: &Index, mask: &Mask, named: &[usize]) -> Option<String> {
    let mentions = |slot: usize| index.graph().memories_mentioning(index.seq(slot)).iter();
    let mut projects = named
        .iter()
        .copied()
        .chain(named.iter().flat_map(|slot| mentions(*slot)).filter_map(|seq| index.slot(*seq)))
        .filter(|slot| mask.admits(*slot))
        .map(|slot| index.group(slot));
    let first = projects.next()?;
    projects.all(|project| project == first).then(|| index.group_id(first))?
}

/// Converts slots to sequence numbers, so that the results are valid without the index.
pub(super) fn found_memories(
    index: &Index,
    results: &SearchResults,
    breakdowns: Vec<ScoreBreakdown>,
) -> Vec<FoundMemory> {
    let similar = similar_results(index, &results.ranked);
    let breakdowns = breakdowns.into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    let summarised = |slot: usize| {
        let slots = results.summarised.get(&slot).into_iter().flatten();
        slots.map(|slot| index.seq(*slot)).collect()
    };
    let judgement = results.judgement.as_ref();
    let fit = |slot: usize| judgement.and_then(|of| of.fits.get(&slot)).copied();
    let newer = |slot: usize| {
        judgement.and_then(|of| of.newer.get(&slot)).map(|newer| (index.seq(newer.slot), *newer))
    };
    results
        .ranked
        .iter()
        .zip(similar)
        .zip(breakdowns)
        .map(|((entry, similar), why)| FoundMemory {
            seq: index.seq(entry.slot),
            score: fit(entry.slot).unwrap_or(entry.score.min(1.0)),
            relevance: entry.score,
            newer: newer(entry.slot),
            similar,
            summarised: summarised(entry.slot),
            why,
        })
        .collect()
}
