//! From a question to memories in order, over the warm index alone.
//!
//! The same mask filters everything before anything is counted or ranked: word statistics, neighbours and windows are those of the
//! admitted memories, so that a small project beside a large one is never starved and no foreign text moves a score. Not here: rows
//! and answers (`recall`), how scores are made (`soft`, `rank`, `bm25`).

pub(crate) mod budget;
mod coarse_to_fine;
pub(crate) mod collapse;
pub(crate) mod explain;
pub(crate) mod fallback;
pub(crate) mod graph_boost;
pub mod query;
pub(crate) mod summary_rollup;
mod top_k;

use crate::index::{BinaryQuery, Index, Mask, QuantizedVector, slot_id};
use crate::model::encoding::{Embedding, QueryEncoding, SignCode};
use crate::model::names;
use crate::ranking::bm25;
use crate::ranking::bm25::{Admitted, Having};
use crate::ranking::fusion;
use crate::ranking::fusion::{Candidate, Fusion};
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::{Item, Order, Word};
use explain::{Account, Of, Outcome, Telling};
use loci_proto::limits;
use query::parse;
use std::collections::{HashMap, HashSet};
use summary_rollup::Above;

/// Least cosine that counts as a match of meaning.
const MATCH_COSINE: f32 = 0.25;
/// How far an estimate of a cosine may be off; it is a tenth of that, usually.
const OFF: f64 = 0.3;
/// Share of the best score that a memory must reach which matches neither by a word nor by meaning, but stands beside what does.
pub(crate) const BESIDE: f64 = 0.5;

/// How much of a large store is compared with a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// All of it roughly, and the best of that exactly.
    #[default]
    Approximate,
    /// The cosines of all of it exactly, the words of the best: shows what rough cosines leave out.
    ExactVectors,
    /// All of it, words and all: shows what only comparing the words of the best leaves out, too.
    Exhaustive,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchQuery<'a> {
    /// The question.
    pub text: &'a str,
    /// What the model reads in it; none while there is no model: the words alone are searched then.
    pub asked: Option<&'a QueryEncoding>,
    /// How legs become scores.
    pub fusion: Fusion,
    /// The day on which it is asked.
    pub today: i32,
    /// How many are wanted.
    pub limit: usize,
    /// How much is compared.
    pub effort: Effort,
    /// Whether the scores are taken apart too.
    pub telling: Telling,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Found {
    /// Slots and scores, best first; somewhat more than are wanted, since some may say the same.
    pub ranked: Vec<(usize, f64)>,
    /// How many had a place.
    pub all: usize,
    /// For a summary among them the slots of the memories that it is given for, best first.
    pub spoken: HashMap<usize, Vec<usize>>,
    /// How many memories have a word of the question, are near enough in meaning, or are entities that it names.
    pub matched: usize,
    /// Not even the best is likely to be an answer.
    pub weak: bool,
    /// How the scores came about, where that was asked for.
    pub account: Option<Account>,
}

/// Finds what the mask admits.
pub(crate) fn search(index: &Index, mask: &Mask, sought: &SearchQuery<'_>) -> Found {
    let above = Above::new(index, mask);
    let repeats = above.repeats(index);
    let fewer = (!repeats.is_empty()).then(|| mask.without(&repeats));
    let mask = fewer.as_ref().unwrap_or(mask);
    let soft = sought.asked.filter(|_| sought.fusion == Fusion::Soft && index.all_encoded(mask));
    let many = mask.count() > late_interaction::SCAN_ALL && sought.effort != Effort::Exhaustive;
    let named: Vec<usize> = named(index, sought.text).filter(|slot| mask.admits(*slot)).collect();
    let legs = || Legs::new(index, mask, sought, &named);
    let Ranked { mut scored, matched, longer } = match soft {
        Some(asked) if many => coarse_to_fine::find(index, mask, sought, (asked, &named)),
        Some(asked) => legs().soft(sought, asked),
        None => legs().plain(sought),
    };
    let linked = graph_boost::lift(index, mask, &named, &mut scored);
    let telling = sought.telling == Telling::Parts;
    let own = if telling { scored.clone() } else { Vec::new() };
    let mut found = found(index, &above, scored, (matched, sought.limit));
    found.account = telling.then(|| {
        legs().account(
            sought,
            soft,
            &Outcome { scored: &own, linked: &linked, ranked: &found.ranked },
        )
    });
    let floor = if soft.is_some() {
        Some(late_interaction::WEAK)
    } else {
        fusion::floor(sought.fusion, sought.asked.is_some())
    };
    // What the floor is compared with is what a short question without links would give.
    let more = |slot: usize| match soft {
        Some(asked) if longer > 0.0 => longer * f64::from(index.cosines(&QuantizedVector::from(&asked.vector), &[slot_id(slot)])[0]).max(0.0),
        _ => 0.0,
    } + linked.get(&slot).copied().unwrap_or(0.0);
    found.weak = found
        .ranked
        .first()
        .zip(floor)
        .is_some_and(|((slot, best), floor)| *best - more(*slot) < floor);
    found
}

/// What a ranking gives.
struct Ranked {
    /// Slots and scores, in no order.
    scored: Vec<(usize, f64)>,
    /// How many match.
    matched: usize,
    /// What a cosine of 1 adds since the question is long.
    longer: f64,
}

/// The two legs, and what they are taken over. What is said of memories stands in the order of `slots`.
struct Legs<'a> {
    index: &'a Index,
    mask: &'a Mask,
    /// The admitted slots, in storing order.
    slots: Vec<u32>,
    among: Admitted,
    words: Vec<Having>,
    cosines: Vec<f32>,
    /// The entities that the question names.
    named: Vec<usize>,
}

impl<'a> Legs<'a> {
    fn new(index: &'a Index, mask: &'a Mask, sought: &SearchQuery<'_>, named: &[usize]) -> Self {
        let slots: Vec<u32> = mask.slots().map(slot_id).collect();
        let having = |terms: &Vec<String>| {
            let Some(list) = index.words().list(terms) else { return Vec::new() };
            let found = list.iter().filter(|(slot, _)| mask.admits(*slot));
            found
                .map(|(slot, times)| (mask.rank(slot), times, index.words().length(slot)))
                .collect()
        };
        Self {
            words: words(index, sought.text).iter().map(having).collect(),
            cosines: sought.asked.map_or_else(
                || vec![0.0; slots.len()],
                |asked| index.cosines(&QuantizedVector::from(&asked.vector), &slots),
            ),
            named: named.iter().map(|slot| mask.rank(*slot)).collect(),
            among: among(index, mask),
            index,
            mask,
            slots,
        }
    }

    fn lexical(&self, form: bm25::Form) -> Vec<f64> {
        let mut shares = form.shares(&self.words, self.among);
        // Whoever is asked for by name is meant, whatever the text about them says.
        self.named.iter().for_each(|at| shares[*at] = 1.0);
        shares
    }

    fn cosine(&self, at: usize) -> f64 {
        f64::from(self.cosines[at])
    }

    fn slot(&self, at: usize) -> usize {
        self.slots[at] as usize
    }

    /// For each memory whether it matches by a word, by its name, or by meaning.
    fn matching(&self) -> Vec<bool> {
        let mut matching: Vec<bool> =
            (0..self.slots.len()).map(|at| self.cosines[at] >= MATCH_COSINE).collect();
        self.words.iter().flatten().for_each(|(at, ..)| matching[*at] = true);
        self.named.iter().for_each(|at| matching[*at] = true);
        matching
    }

    fn candidate(&self, at: usize, lexical: &[f64]) -> Candidate {
        Candidate { slot: self.slot(at), cosine: self.cosine(at), lexical: lexical[at] }
    }

    fn matching_candidates(&self) -> Vec<Candidate> {
        let (matching, lexical) = (self.matching(), self.lexical(bm25::PLAIN));
        (0..self.slots.len())
            .filter(|at| matching[*at])
            .map(|at| self.candidate(at, &lexical))
            .collect()
    }

    fn plain(&self, sought: &SearchQuery<'_>) -> Ranked {
        let candidates = self.matching_candidates();
        let scored = fusion::scores(sought.fusion, sought.asked.is_some(), &candidates);
        Ranked { scored, matched: candidates.len(), longer: 0.0 }
    }

    fn soft(&self, sought: &SearchQuery<'_>, asked: &QueryEncoding) -> Ranked {
        let ((places, orders), matching) = (self.orders(), self.matching());
        let items = self.items(sought, &places, &self.lexical(bm25::SHORT));
        let question = self.question(sought, asked);
        let scores = late_interaction::scores(&items, &orders, &question);
        let made = places.iter().zip(scores).map(|(at, score)| Scored {
            slot: self.slot(*at),
            score,
            matches: matching[*at],
        });
        let matched = matching.iter().filter(|matches| **matches).count();
        Ranked { scored: worth_giving(made.collect(), matched), matched, longer: question.longer() }
    }

    /// How scores came about: the memories' own, and what came of them.
    fn account(
        &self,
        sought: &SearchQuery<'_>,
        soft: Option<&QueryEncoding>,
        outcome: &Outcome<'_>,
    ) -> Account {
        let Some(asked) = soft else {
            let (candidates, with_vectors) = (self.matching_candidates(), sought.asked.is_some());
            let of = Of { candidates: &candidates, outcome, index: self.index };
            let ranking = explain::name(sought.fusion, with_vectors);
            return Account { ranking, whys: explain::plain(sought.fusion, &of, with_vectors) };
        };
        let ((places, orders), lexical) = (self.orders(), self.lexical(bm25::SHORT));
        let items = self.items(sought, &places, &lexical);
        let parts = late_interaction::parts(&items, &orders, &self.question(sought, asked));
        let candidates: Vec<Candidate> =
            places.iter().map(|at| self.candidate(*at, &lexical)).collect();
        let of = Of { candidates: &candidates, outcome, index: self.index };
        Account { ranking: "soft", whys: explain::soft(&of, &parts) }
    }

    fn question(
        &self,
        sought: &SearchQuery<'_>,
        asked: &QueryEncoding,
    ) -> late_interaction::Question {
        let having = |terms: &[String]| {
            self.index.words().list(terms).map_or(0, |list| list.count_in(self.mask))
        };
        question(self.index, self.mask, (sought, asked), having)
    }

    fn items(&self, sought: &SearchQuery<'_>, places: &[usize], lexical: &[f64]) -> Vec<Item<'a>> {
        let called = self
            .index
            .features()
            .speakers_named(&parse::tokens(sought.text).collect(), |slot| self.mask.admits(slot));
        let item = |at: &usize| {
            let said = self.index.text_features(self.slot(*at));
            Item {
                cosine: self.cosine(*at),
                lexical: lexical[*at],
                kind: said.kind,
                day: said.day,
                said_by_named: called.contains(&said.speaker),
                codes: self.index.codes(self.slot(*at)).unwrap_or_default(),
            }
        };
        places.iter().map(item).collect()
    }

    /// The memories of each project one after the other, in storing order, and what each order is worth.
    fn orders(&self) -> (Vec<usize>, Vec<Order>) {
        let group = |at: &usize| self.index.group(self.slot(*at));
        let mut places: Vec<usize> = (0..self.slots.len()).collect();
        if !places.is_sorted_by_key(group) {
            places.sort_by_key(group);
        }
        let print = self.mask.fingerprint();
        let link = |block: &[usize]| {
            self.index
                .coherence((group(&block[0]), print), block.iter().rev().map(|at| self.slot(*at)))
        };
        let orders = places
            .chunk_by(|a, b| group(a) == group(b))
            .map(|block| Order { len: block.len(), link: link(block) })
            .collect();
        (places, orders)
    }
}

/// The admitted memories whose cosine to a vector is greater than this, by slot. Of many only those are looked at that may be.
pub(crate) fn near(
    index: &Index,
    mask: &Mask,
    vector: &Embedding,
    threshold: f64,
) -> Vec<(usize, f32)> {
    let rough = BinaryQuery::new(vector.as_slice());
    let may_be = |estimate: f32| f64::from(estimate) > threshold - OFF;
    let mut slots: Vec<u32> = Vec::new();
    if mask.count() <= late_interaction::SCAN_ALL {
        slots.extend(mask.slots().map(slot_id));
    } else {
        for (number, word) in mask.words().iter().enumerate().filter(|(_, word)| **word != 0) {
            let estimates = index.estimate(&rough, number);
            slots.extend(
                (0..64)
                    .filter(|at| word >> at & 1 == 1 && may_be(estimates[*at]))
                    .map(|at| slot_id(number * 64 + at)),
            );
        }
        slots.extend(
            index
                .estimate_extra_chunks(&rough, mask)
                .filter(|(_, estimate)| may_be(*estimate))
                .map(|(slot, _)| slot_id(slot)),
        );
        slots.sort_unstable();
        slots.dedup();
    }
    let cosines = index.cosines(&QuantizedVector::from(vector), &slots);
    slots
        .into_iter()
        .map(|slot| slot as usize)
        .zip(cosines)
        .filter(|(_, cosine)| f64::from(*cosine) > threshold)
        .collect()
}

/// The admitted memories, as far as BM25 asks.
fn among(index: &Index, mask: &Mask) -> Admitted {
    let total = index.words().total(mask.words()) as f64;
    Admitted { count: mask.count(), mean_length: (total / mask.count().max(1) as f64).max(1.0) }
}

/// A memory and what it is worth.
struct Scored {
    slot: usize,
    score: f64,
    /// By a word, by its name, or by meaning, and not only by what stands beside it.
    matches: bool,
}

/// What matches, and what stands beside it and is good enough.
fn worth_giving(mut scored: Vec<Scored>, matched: usize) -> Vec<(usize, f64)> {
    let best = scored.iter().filter(|of| of.matches).map(|of| of.score).fold(0.0, f64::max);
    scored.retain(|of| matched > 0 && (of.matches || of.score >= BESIDE * best));
    scored.into_iter().map(|of| (of.slot, of.score)).collect()
}

/// The best of what was scored, once summaries have spoken for what is below them.
fn found(
    index: &Index,
    above: &Above,
    mut scored: Vec<(usize, f64)>,
    (matched, limit): (usize, usize),
) -> Found {
    let by_themselves = scored.len();
    let spoken = above.speak(&mut scored, limit);
    let matched = matched + scored.len() - by_themselves;
    for (slot, score) in &mut scored {
        *score *= summary_rollup::weight(index, *slot);
    }
    let all = scored.iter().filter(|(_, score)| *score > 0.0).count();
    Found {
        ranked: fusion::best(scored, limit + collapse::SPARE),
        all,
        spoken,
        matched,
        weak: false,
        account: None,
    }
}

/// What is known of a question; `having` counts the admitted memories that have a word.
fn question(
    index: &Index,
    mask: &Mask,
    (sought, asked): (&SearchQuery<'_>, &QueryEncoding),
    having: impl FnMut(&[String]) -> usize,
) -> late_interaction::Question {
    let words = asked_words(index, &asked.words, mask.count(), having);
    match crate::search::query::event_date::told(index, mask, sought, asked) {
        Some((told, day)) => {
            late_interaction::Question::new(sought.text, &told.hold_back(words), sought.today)
                .told_by(&told, day)
        }
        None => late_interaction::Question::new(
            sought.text,
            &words.into_iter().map(|(_, word)| word).collect::<Vec<_>>(),
            sought.today,
        ),
    }
}

/// The content words of a question, or of a part of it, one a stem, weighted by how rare they are among `all` admitted memories.
fn asked_words<'a>(
    index: &Index,
    asked: &'a [(String, SignCode)],
    all: usize,
    mut having: impl FnMut(&[String]) -> usize,
) -> Vec<(&'a str, Word)> {
    let terms: Vec<Vec<String>> =
        asked.iter().map(|(word, _)| index.words().terms_of(word)).collect();
    let first =
        (0..terms.len()).filter(|at| !terms[..*at].iter().any(|before| before[0] == terms[*at][0]));
    let first: Vec<usize> = first.take(limits::QUERY_TERMS).collect();
    let weights = late_interaction::weights(
        &first.iter().map(|at| having(&terms[*at])).collect::<Vec<_>>(),
        all,
    );
    let word =
        |(at, weight): (usize, f64)| (asked[at].0.as_str(), Word { code: asked[at].1, weight });
    first.into_iter().zip(weights).map(word).collect()
}

/// The words of a question by their terms; of several with the same name the first.
fn words(index: &Index, question: &str) -> Vec<Vec<String>> {
    let mut seen = HashSet::new();
    let words = parse::words(question).words;
    words
        .iter()
        .map(|word| index.words().terms_of(word))
        .filter(|terms| seen.insert(terms[0].clone()))
        .collect()
}

/// The entities that a question names, whatever their status.
fn named(index: &Index, text: &str) -> impl Iterator<Item = usize> {
    let names =
        if index.has_no_names() { HashSet::new() } else { names::candidates(parse::head(text).0) };
    let seqs: HashSet<i64> = names.iter().flat_map(|name| index.named(name)).copied().collect();
    seqs.into_iter().filter_map(|seq| index.slot(seq))
}
