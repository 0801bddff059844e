//! From a question to memories in order, over the warm index alone.
//!
//! The same mask filters everything before anything is counted or ranked: word statistics, neighbours and windows are those of the
//! admitted memories, so that a small project beside a large one is never starved and no foreign text moves a score. Not here: rows
//! and answers (`recall`), how scores are made (`soft`, `rank`, `bm25`).

use crate::bm25::{self, Admitted, Having};
use crate::embedding::Asked;
use crate::explain::{self, Account, Of, Outcome, Telling};
use crate::index::{Index, Mask};
use crate::rank::{self, Candidate, Fusion};
use crate::soft::{self, Item, Order, Word, terms};
use crate::spoken::{self, Above};
use crate::{collapse, graph, names, query};
use loci_proto::limits;
use std::collections::{HashMap, HashSet};

/// Least cosine that counts as a match of meaning.
const MATCH_COSINE: f64 = 0.25;
/// Share of the best score that a memory must reach which matches neither by a word nor by meaning, but stands beside what does.
pub(crate) const BESIDE: f64 = 0.5;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sought<'a> {
    /// The question.
    pub text: &'a str,
    /// What the model reads in it; none while there is no model: the words alone are searched then.
    pub asked: Option<&'a Asked>,
    /// How legs become scores.
    pub fusion: Fusion,
    /// The day on which it is asked.
    pub today: i32,
    /// How many are wanted.
    pub limit: usize,
    /// Whether the scores are taken apart too.
    pub telling: Telling,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Found {
    /// Slots and scores, best first; somewhat more than are wanted, since some may say the same.
    pub ranked: Vec<(usize, f64)>,
    /// How many had a place; counted where the scores are taken apart.
    pub all: usize,
    /// For a summary among them the slots of the memories that it is given for, best first.
    pub spoken: HashMap<usize, Vec<usize>>,
    /// How many memories have a word of the question, are near enough in meaning, or are entities that it names.
    pub matched: usize,
    /// What the best has of its score by what it is linked to.
    lifted: f64,
    /// Not even the best is likely to be an answer.
    pub weak: bool,
    /// How the scores came about, where that was asked for.
    pub account: Option<Account>,
}

/// Finds what the mask admits.
pub(crate) fn search(index: &Index, mask: &Mask, sought: &Sought<'_>) -> Found {
    let mut slots: Vec<usize> = (0..index.len()).filter(|slot| mask.admits(*slot)).collect();
    let above = Above::new(index, mask);
    let repeats = above.repeats(index);
    let fewer = (!repeats.is_empty()).then(|| mask.without(&repeats));
    let mask = fewer.as_ref().unwrap_or(mask);
    slots.retain(|slot| mask.admits(*slot));
    let coded = || slots.iter().all(|slot| index.codes(*slot).is_some());
    let soft = sought.asked.filter(|_| sought.fusion == Fusion::Soft && coded());
    let legs = Legs::new(index, mask, sought, (slots, above));
    let mut found = match soft {
        Some(asked) => legs.soft(sought, asked),
        None => legs.plain(sought),
    };
    let floor = if soft.is_some() { Some(soft::WEAK) } else { rank::floor(sought.fusion, sought.asked.is_some()) };
    found.weak = found.ranked.first().zip(floor).is_some_and(|((_, best), floor)| *best - found.lifted < floor);
    found
}

/// The two legs, and what they are taken over.
struct Legs<'a> {
    index: &'a Index,
    mask: &'a Mask,
    /// The admitted slots, in storing order.
    slots: Vec<usize>,
    above: Above,
    among: Admitted,
    words: Vec<Having>,
    cosines: Vec<f32>,
    /// Slots of the entities that the question names.
    named: Vec<usize>,
}

impl<'a> Legs<'a> {
    fn new(index: &'a Index, mask: &'a Mask, sought: &Sought<'_>, (slots, above): (Vec<usize>, Above)) -> Self {
        let total: f64 = slots.iter().map(|slot| f64::from(index.words().length(*slot))).sum();
        let among = Admitted { count: slots.len(), mean_length: (total / slots.len().max(1) as f64).max(1.0), slots: index.len() };
        let words = distinct(query::words(sought.text).words.iter().map(|word| terms::of_word(word)));
        let having = |terms: &Vec<String>| index.words().having_any(terms).into_iter().filter(|(slot, ..)| mask.admits(*slot)).collect();
        Self {
            words: words.iter().map(having).collect(),
            cosines: sought.asked.map_or_else(Vec::new, |asked| index.cosines(&asked.vector, mask)),
            named: named(index, sought.text).into_iter().filter(|slot| mask.admits(*slot)).collect(),
            index,
            mask,
            slots,
            above,
            among,
        }
    }

    fn lexical(&self, form: bm25::Form) -> Vec<f64> {
        let mut shares = form.shares(&self.words, self.among);
        // Whoever is asked for by name is meant, whatever the text about them says.
        self.named.iter().for_each(|slot| shares[*slot] = 1.0);
        shares
    }

    fn cosine(&self, slot: usize) -> f64 {
        self.cosines.get(slot).map_or(0.0, |cosine| f64::from(*cosine))
    }

    /// For each slot whether it matches by a word, by its name, or by meaning.
    fn matching(&self) -> Vec<bool> {
        let mut matching: Vec<bool> =
            (0..self.index.len()).map(|slot| self.mask.admits(slot) && self.cosine(slot) >= MATCH_COSINE).collect();
        self.words.iter().flatten().for_each(|(slot, ..)| matching[*slot] = true);
        self.named.iter().for_each(|slot| matching[*slot] = true);
        matching
    }

    fn candidate(&self, slot: usize, lexical: &[f64]) -> Candidate {
        Candidate { slot, cosine: self.cosine(slot), lexical: lexical[slot] }
    }

    fn plain(&self, sought: &Sought<'_>) -> Found {
        let (matching, lexical) = (self.matching(), self.lexical(bm25::PLAIN));
        let candidates: Vec<Candidate> =
            self.slots.iter().filter(|slot| matching[**slot]).map(|slot| self.candidate(*slot, &lexical)).collect();
        let (fusion, with_vectors) = (sought.fusion, sought.asked.is_some());
        self.found(rank::scores(fusion, with_vectors, &candidates), sought, candidates.len(), |outcome| Account {
            ranking: explain::name(fusion, with_vectors),
            whys: explain::plain(fusion, &Of { candidates: &candidates, outcome, index: self.index }, with_vectors),
        })
    }

    /// The best of what was scored, once summaries have spoken for what is below them; `tell` says how these scores came about.
    fn found(
        &self,
        mut scored: Vec<(usize, f64)>,
        sought: &Sought<'_>,
        matched: usize,
        tell: impl FnOnce(&Outcome<'_>) -> Account,
    ) -> Found {
        let telling = sought.telling == Telling::Parts;
        let linked = graph::lift(self.index, self.mask, &self.named, &mut scored);
        let own = if telling { scored.clone() } else { Vec::new() };
        let spoken = self.above.speak(&mut scored, sought.limit);
        for (slot, score) in &mut scored {
            *score *= spoken::weight(self.index, *slot);
        }
        let all = if telling { scored.iter().filter(|(_, score)| *score > 0.0).count() } else { 0 };
        let ranked = rank::best(scored, sought.limit + collapse::SPARE);
        let account = telling.then(|| tell(&Outcome { scored: &own, linked: &linked, ranked: &ranked }));
        let lifted = ranked.first().and_then(|(slot, _)| linked.get(slot)).copied().unwrap_or(0.0);
        Found { ranked, spoken, matched, all, lifted, weak: false, account }
    }

    fn soft(mut self, sought: &Sought<'_>, asked: &Asked) -> Found {
        let text = sought.text;
        let orders = self.orders();
        let (matching, lexical) = (self.matching(), self.lexical(bm25::SHORT));
        let mut speakers: Vec<u32> = self.slots.iter().map(|slot| self.index.said(*slot).speaker).collect();
        speakers.sort_unstable();
        speakers.dedup();
        let called = self.index.sayings().called(&speakers, &query::tokens(text).collect());
        let item = |slot: &usize| {
            let said = self.index.said(*slot);
            Item {
                cosine: self.cosine(*slot),
                lexical: lexical[*slot],
                kind: said.kind,
                day: said.day,
                said_by_named: called.contains(&said.speaker),
                codes: self.index.codes(*slot).unwrap_or_default(),
            }
        };
        let items: Vec<Item<'_>> = self.slots.iter().map(item).collect();
        let question = soft::Question::new(text, self.asked_words(asked), sought.today);
        let made = soft::scores(&items, &orders, &question);
        let mut scored: Vec<(usize, f64)> = self.slots.iter().copied().zip(made).collect();
        let matched = self.slots.iter().filter(|slot| matching[**slot]).count();
        let best = scored.iter().filter(|(slot, _)| matching[*slot]).map(|(_, score)| *score).fold(0.0, f64::max);
        scored.retain(|(slot, score)| matched > 0 && *score > 0.0 && (matching[*slot] || *score >= BESIDE * best));
        self.found(scored, sought, matched, |outcome| {
            let candidates: Vec<Candidate> = self.slots.iter().map(|slot| self.candidate(*slot, &lexical)).collect();
            let of = Of { candidates: &candidates, outcome, index: self.index };
            Account { ranking: "soft", whys: explain::soft(&of, &soft::parts(&items, &orders, &question)) }
        })
    }

    /// Puts the slots of each project together, in storing order, and says what each order is worth.
    fn orders(&mut self) -> Vec<Order> {
        let group = |slot: &usize| self.index.said(*slot).group;
        self.slots.sort_by_key(group);
        let blocks = self.slots.chunk_by(|a, b| group(a) == group(b));
        blocks.map(|block| Order { len: block.len(), link: self.index.link(block) }).collect()
    }

    /// The content words of the question, one a stem, weighted by how rare they are among the admitted memories.
    fn asked_words(&self, asked: &Asked) -> Vec<Word> {
        let terms: Vec<Vec<String>> = asked.words.iter().map(|(word, _)| terms::of_word(word)).collect();
        let first = (0..terms.len()).filter(|at| !terms[..*at].iter().any(|before| before[0] == terms[*at][0]));
        let first: Vec<usize> = first.take(limits::QUERY_TERMS).collect();
        let having = |at: &usize| self.index.words().having_any(&terms[*at]).iter().filter(|(slot, ..)| self.mask.admits(*slot)).count();
        let weights = soft::weights(&first.iter().map(having).collect::<Vec<_>>(), self.among.count);
        first.into_iter().zip(weights).map(|(at, weight)| Word { code: asked.words[at].1, weight }).collect()
    }
}

/// Words by their terms; of several with the same name the first.
fn distinct(words: impl Iterator<Item = Vec<String>>) -> Vec<Vec<String>> {
    let mut seen = HashSet::new();
    words.filter(|terms| seen.insert(terms[0].clone())).collect()
}

/// The entities that a question names, whatever their status.
fn named(index: &Index, text: &str) -> Vec<usize> {
    if index.has_no_names() {
        return Vec::new();
    }
    let seqs: HashSet<i64> = names::candidates(query::head(text).0).iter().flat_map(|name| index.named(name)).copied().collect();
    seqs.into_iter().filter_map(|seq| index.slot(seq)).collect()
}
