//! `recall`: find memories by a question, or show memories by their ids.
//!
//! Not here: finding and ranking (`search`), what an answer leaves behind (`access`).

use crate::db::memories::MemoryReader;
use crate::db::{groups, memories};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::index::Filter;
use crate::model::encoding::QueryEncoding;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::ranking::fusion::Fusion;
use crate::search::explain::Telling;
use crate::search::query::date_filter::Days;
use crate::search::query::parse;
use crate::search::{SearchQuery, search};
use crate::search::{budget, collapse, fallback};
use loci_proto::bounded_numbers::{MaxResults, TokenBudget};
use loci_proto::degraded::Degraded;
use loci_proto::error::{Code, Failure};
use loci_proto::group::Group;
use loci_proto::limits;
use loci_proto::memory::{Confidence, MemoryId};
use loci_proto::requests::explain::{RecallExplanation, ScoreBreakdown};
use loci_proto::requests::recall::{RecallReply, RecallRequest, RecalledMemory, Source};

/// Relations that are given with an entity.
const RELATIONS: usize = 10;
/// Least confidence of what is found, where the call does not say.
const MIN_CONFIDENCE: f64 = 0.1;

/// An answer, and the memories whose full text it gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the agent gets.
    pub reply: RecallReply,
    /// Sequence numbers of the memories given in full, to be counted as accessed.
    pub given: Vec<i64>,
}

/// One recall.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The request.
    pub request: &'a RecallRequest,
    /// The project of the session that asks.
    pub group: &'a Group,
    /// What the model reads in the query; none while there is no model: the words alone are searched then.
    pub asked: Option<&'a QueryEncoding>,
    /// The moment of the call.
    pub now: Timestamp,
    /// Another ranking than the one that is set; for comparing them.
    pub fusion: Option<Fusion>,
    /// What the answer has to say about parts that are out.
    pub degraded: &'a Degraded,
}

/// One memory of an answer in the making.
struct Hit {
    memory: Memory,
    score: Option<f64>,
    why: Option<ScoreBreakdown>,
    /// Its place in the ranking.
    place: usize,
    /// Memories that say the same.
    also: Vec<MemoryId>,
    /// What a summary is given for.
    sources: Vec<Source>,
}

impl Hit {
    fn of(memory: Memory) -> Self {
        Self { memory, score: None, why: None, place: 0, also: Vec::new(), sources: Vec::new() }
    }
}

/// What the index has found, before rows are fetched.
#[derive(Default)]
struct Candidates {
    /// The warm index does not stand yet, and only words were searched.
    early: bool,
    ranked: Vec<Candidate>,
    matched: usize,
    weak: bool,
}

/// One memory that the index has found.
struct Candidate {
    seq: i64,
    score: f64,
    /// Earlier places whose memories may say the same.
    near: Vec<usize>,
    /// What a summary is given for, best first.
    below: Vec<i64>,
    why: Option<ScoreBreakdown>,
}

/// What a request asks for, once it is known to ask for something.
enum Wanted<'a> {
    Ids(&'a [MemoryId]),
    Text(&'a str),
}

/// The text that has to be embedded before a recall: the part of the query that is read, where the request is a question.
///
/// # Errors
/// `invalid` when it neither asks nor names, `too_many` ids.
pub fn text_to_embed(request: &RecallRequest) -> Result<Option<&str>> {
    Ok(match wanted(request)? {
        Wanted::Ids(_) => None,
        Wanted::Text(text) => {
            Days::of(request)?;
            Some(parse::head(text).0)
        }
    })
}

fn wanted(request: &RecallRequest) -> Result<Wanted<'_>> {
    if let Some(ids) = &request.ids {
        if ids.len() > limits::RECALL_IDS {
            let message = format!(
                "holds {} ids; at most {} can be shown at once",
                ids.len(),
                limits::RECALL_IDS
            );
            return Err(Failure::new(Code::TooMany, message)
                .at("ids")
                .hint("Ask in several calls")
                .into());
        }
        if !ids.is_empty() {
            return Ok(Wanted::Ids(ids));
        }
    }
    match request.query.as_deref() {
        Some(text) if !text.trim().is_empty() => Ok(Wanted::Text(text)),
        _ => Err(Failure::invalid("query", "is missing")
            .hint("Give a query, or ids of memories to show in full")
            .into()),
    }
}

impl Reader {
    /// Answers one recall.
    ///
    /// # Errors
    /// `invalid` when it neither asks nor names, or for a date; `too_many` ids, `Database`.
    pub fn recall(&self, question: Question<'_>) -> Result<Answer> {
        let group = match &question.request.group {
            Some(name) => groups::resolve(&self.conn, name, Some(question.group))?,
            None => question.group.clone(),
        };
        match wanted(question.request)? {
            Wanted::Ids(ids) => self.show(question, &group, ids),
            Wanted::Text(text) => self.search(question, &group, text),
        }
    }

    fn search(&self, question: Question<'_>, group: &Group, text: &str) -> Result<Answer> {
        let request = question.request;
        let (found, explain) = self.candidates(question, group, text)?;
        let degraded = found.early.then(|| fallback::degraded(question.degraded));
        let question =
            Question { degraded: degraded.as_ref().unwrap_or(question.degraded), ..question };
        let limit = self.limit(request);
        let reply = RecallReply {
            total_matched: found.matched,
            truncated: parse::words(text).truncated,
            weak: found.weak,
            ..RecallReply::default()
        };
        let mut hits: Vec<Hit> = Vec::new();
        let mut collapsed = 0;
        // One look at the store, so that its file is locked once and not for every row.
        let snapshot = self.conn.unchecked_transaction()?;
        let mut memories = MemoryReader::new(&self.conn)?;
        for (place, candidate) in found.ranked.into_iter().enumerate() {
            let wanted = hits.len() < limit;
            if !wanted && candidate.near.is_empty() {
                continue;
            }
            let Some(memory) = memories.get(candidate.seq)? else { continue };
            match hits.iter_mut().find(|hit| {
                candidate.near.contains(&hit.place) && collapse::same(&hit.memory, &memory)
            }) {
                Some(said) => {
                    said.also.push(memory.id);
                    collapsed += 1;
                }
                None if wanted => {
                    let sources = sources(&mut memories, &candidate.below)?;
                    hits.push(Hit {
                        score: Some(candidate.score),
                        why: candidate.why,
                        place,
                        sources,
                        ..Hit::of(memory)
                    });
                }
                None => {}
            }
        }
        let explain = explain.map(|told| RecallExplanation {
            collapsed,
            over_limit: told.ranked.saturating_sub(hits.len() + collapsed),
            ..told
        });
        // Given back: entities find their relations by the same statement.
        drop(memories);
        let answer = self.answer(question, group, RecallReply { explain, ..reply }, hits);
        snapshot.finish()?;
        answer
    }

    fn limit(&self, request: &RecallRequest) -> usize {
        request.max_results.map_or(self.shared.settings().default_max_results, MaxResults::get)
    }

    /// Asks the index: somewhat more than is wanted, best first.
    fn candidates(
        &self,
        question: Question<'_>,
        group: &Group,
        text: &str,
    ) -> Result<(Candidates, Option<RecallExplanation>)> {
        let request = question.request;
        let (days, settings) = (Days::of(request)?, self.shared.settings());
        let visibility = Visibility::of_group(&group.id);
        let filter = self.filter(question, &visibility);
        let warm = self.shared.warm();
        let early = warm
            .is_none()
            .then(|| fallback::index(&self.conn, &filter, days, parse::head(text).0))
            .transpose()?;
        let Some(index) = warm.as_deref().or(early.as_ref()) else {
            return Ok((Candidates::default(), None));
        };
        let mut mask = index.mask(&filter);
        if days != Days::default() {
            mask.retain(|slot| days.hold(index.text_features(slot).day));
        }
        let sought = SearchQuery {
            text: parse::head(text).0,
            asked: question.asked.filter(|_| early.is_none()),
            fusion: question.fusion.unwrap_or(settings.fusion),
            today: question.now.day(),
            limit: self.limit(request),
            effort: settings.effort,
            telling: if request.explain { Telling::Parts } else { Telling::Scores },
        };
        let found = search(index, &mask, &sought);
        let in_store = if early.is_some() { memories::count(&self.conn)? } else { index.held().0 };
        let explain = found.account.as_ref().map(|account| RecallExplanation {
            ranking: account.ranking.to_owned(),
            in_store,
            visible: index.mask(&self.all_visible(question, &visibility)).count(),
            admitted: mask.count(),
            matched: found.matched,
            ranked: found.all,
            ..RecallExplanation::default()
        });
        let near = collapse::near(index, &found.ranked);
        let below = |slot: &usize| {
            found.spoken.get(slot).into_iter().flatten().map(|slot| index.seq(*slot)).collect()
        };
        let mut whys = found.account.map(|account| account.whys.into_iter());
        let candidate = |((slot, score), near): ((usize, f64), Vec<usize>)| {
            let why = whys.as_mut().and_then(Iterator::next);
            Candidate { seq: index.seq(slot), score, near, below: below(&slot), why }
        };
        let ranked = found.ranked.into_iter().zip(near).map(candidate).collect();
        Ok((
            Candidates { early: early.is_some(), ranked, matched: found.matched, weak: found.weak },
            explain,
        ))
    }

    /// What the project sees, whatever else the call asks for.
    fn all_visible<'a>(&self, question: Question<'_>, visibility: &'a Visibility) -> Filter<'a> {
        Filter { compacted: true, ..self.shared.filter(visibility, question.now) }
    }

    fn filter<'a>(&self, question: Question<'_>, visibility: &'a Visibility) -> Filter<'a> {
        let request = question.request;
        let lowest = Confidence::new(MIN_CONFIDENCE).unwrap_or(Confidence::FULL);
        Filter {
            kind: request.kind,
            scope: request.scope,
            min_confidence: request.min_confidence.unwrap_or(lowest),
            ..self.all_visible(question, visibility)
        }
    }

    /// Memories by id, in the order asked for; what this session cannot see is `missing`, whatever the reason.
    fn show(&self, question: Question<'_>, group: &Group, ids: &[MemoryId]) -> Result<Answer> {
        let mut reply = RecallReply::default();
        let mut found: Vec<Hit> = Vec::new();
        let visibility = Visibility::of_group(&group.id);
        for id in ids {
            if found.iter().any(|hit| hit.memory.id == *id) || reply.missing.contains(id) {
                continue;
            }
            match memories::by_id(&self.conn, id)?
                .filter(|memory| can_show(memory, &visibility, question.now))
            {
                Some(memory) => found.push(Hit::of(memory)),
                None => reply.missing.push(id.clone()),
            }
        }
        reply.total_matched = found.len();
        reply.note = match question.request {
            RecallRequest { query: Some(_), .. } => {
                Some("query was ignored because ids were given".to_owned())
            }
            RecallRequest { explain: true, .. } => {
                Some("explain was ignored because ids are not ranked".to_owned())
            }
            _ => None,
        };
        self.answer(question, group, reply, found)
    }

    fn answer(
        &self,
        question: Question<'_>,
        group: &Group,
        mut reply: RecallReply,
        found: Vec<Hit>,
    ) -> Result<Answer> {
        let settings = &self.shared.settings();
        let short = question.request.summary_only;
        let usual =
            if short { settings.preload_token_budget } else { settings.recall_token_budget };
        let room = question.request.token_budget.map_or(usual, TokenBudget::get);
        let seqs: Vec<i64> = found.iter().map(|hit| hit.memory.seq).collect();
        let mut whys = Vec::new();
        let confidence = |m: &Memory| settings.decay.at(question.now, m.kind, m.anchor);
        let sight = Visibility::new(&self.conn, group, None)?;
        let mut results = Vec::with_capacity(found.len());
        for Hit { memory, score, why, also, sources, .. } in found {
            whys.push(why);
            if short {
                results.push(RecalledMemory { also, sources, ..summary(memory, score) });
                continue;
            }
            let relations = self.relations(&memory, &sight, RELATIONS, false)?;
            results.push(RecalledMemory {
                relations,
                also,
                sources,
                ..full(confidence(&memory), memory, score)
            });
        }
        reply.degraded = question.degraded.clone();
        let explained = reply.explain.take();
        budget::fit(&mut reply, results, room);
        budget::explain(&mut reply, explained, whys);
        let given = if short || question.request.dry_run {
            Vec::new()
        } else {
            seqs.into_iter().take(reply.results.len()).collect()
        };
        Ok(Answer { reply, given })
    }
}

/// What a summary is given for.
fn sources(memories: &mut MemoryReader<'_>, below: &[i64]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for seq in below {
        // It may have been forgotten since the index was asked.
        let source = memories.get(*seq)?.filter(|memory| memory.status == Status::Compacted);
        sources.extend(
            source
                .map(|memory| Source { preview: budget::preview(&memory.content), id: memory.id }),
        );
    }
    Ok(sources)
}

fn can_show(memory: &Memory, visibility: &Visibility, now: Timestamp) -> bool {
    visibility.admits(memory.audience())
        && memory.status != Status::Forgotten
        && memory.expires_at.is_none_or(|at| at > now)
}

fn summary(memory: Memory, score: Option<f64>) -> RecalledMemory {
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

fn bare(memory: Memory, score: Option<f64>) -> RecalledMemory {
    RecalledMemory {
        id: memory.id,
        kind: memory.kind,
        preview: None,
        content: None,
        confidence: None,
        score: score.map(|s| (s * 1e4).round() / 1e4),
        created_at: None,
        metadata: None,
        status: (memory.status != Status::Active).then(|| memory.status.as_str().to_owned()),
        superseded_by: memory.superseded_by,
        sources: Vec::new(),
        relations: Vec::new(),
        also: Vec::new(),
        why: None,
    }
}
