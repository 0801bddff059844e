//! Whether the newer of two results states a newer value of what the older one states.
//!
//! "We build with Xcode 15.4" and "We build with Xcode 26.1 now" answer the same question; only the
//! newer one is right. "The staging database is db-s1" and "The production database is db-p1" do
//! not: the query names one of them. docs/retrieval.md ("The judge") has the figures. Not here:
//! duplicates (`collapse`), what an agent replaced by `supersedes`.

use crate::index::{Row, slot_id};
use crate::search::judge::candidates::{Candidates, sigmoid};
use loci_proto::memory::MemoryType;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Number of best results that are compared.
const COMPARED: usize = 12;
/// Likelihood from which the newer text is a newer version.
const REPLACES: f64 = 0.5;
/// Number of lost stems above which more of them count no more.
const MAX_LOST: usize = 6;

/// The weights of: content stems that the newer text lacks; whether a name or code of the query
/// stands in the older one only; the heaviest term that does; the terms in both; how rare the rarest
/// stem in both is.
const WEIGHTS: [f64; 5] = [-2.1887, -2.5642, -2.1891, 2.7261, 4.9069];
const CONSTANT: f64 = -1.9522;

/// The names in an explanation, in the order of [`WEIGHTS`].
const NAMES: [&str; 5] = ["lost", "mark_only", "term_only", "shared_query", "shared_rare"];

/// A result that may state a newer value of what another one states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Newer {
    /// Its slot.
    pub slot: usize,
    /// How likely it does, 0 to 1.
    pub likelihood: f64,
    features: [f64; 5],
}

impl Newer {
    /// Returns whether it is taken for a newer version.
    pub fn replaces(&self) -> bool {
        self.likelihood >= REPLACES
    }

    /// Returns from what the likelihood is computed, by name.
    pub fn named(&self) -> BTreeMap<String, f64> {
        NAMES.iter().zip(self.features).map(|(name, value)| ((*name).to_owned(), value)).collect()
    }
}

/// Returns for each of the best results the likeliest newer version, by slot.
/// `may_replace(newer, older)` forbids some.
pub(super) fn newer_versions(
    candidates: &Candidates<'_>,
    may_replace: impl Fn(usize, usize) -> bool,
) -> HashMap<usize, Newer> {
    let index = candidates.index;
    let compared = &candidates.slots[..candidates.slots.len().min(COMPARED)];
    let mut found: HashMap<usize, Newer> = HashMap::new();
    for (at, older) in compared.iter().enumerate() {
        if index.kind(*older) == MemoryType::Episodic {
            continue;
        }
        let is_entity = |slot: usize| index.kind(slot) == MemoryType::Entity;
        let is_newer = |newer: &usize| {
            let newer = compared[*newer];
            index.seq(newer) > index.seq(*older)
                && index.group(newer) == index.group(*older)
                && is_entity(newer) == is_entity(*older)
        };
        let newer: Vec<usize> = (0..compared.len()).filter(is_newer).collect();
        let Some(vector) = index.vector(*older, 0).map(Row::to_owned_vector) else { continue };
        let slots: Vec<u32> = newer.iter().map(|newer| slot_id(compared[*newer])).collect();
        for (newer, cosine) in newer.iter().zip(index.cosines(&vector, &slots)) {
            if cosine < index.calibration().version_cosine {
                continue;
            }
            let Some(version) = version(candidates, *newer, at) else { continue };
            let is_likelier =
                found.get(older).is_none_or(|best| version.likelihood > best.likelihood);
            if is_likelier && (!version.replaces() || may_replace(version.slot, *older)) {
                found.insert(*older, version);
            }
        }
    }
    found
}

/// Compares two results, by position; `None` if they have no content word in common, or all.
fn version(candidates: &Candidates<'_>, newer: usize, older: usize) -> Option<Newer> {
    let words = candidates.index.words();
    let stems = |at: usize| -> HashSet<u32> { words.content_stems(candidates.slots[at]).collect() };
    let (stems_of_newer, stems_of_older) = (stems(newer), stems(older));
    // A new version changes a word: the same words are another wording, order or sign.
    let is_changed = stems_of_older != stems_of_newer;
    let shared = stems_of_older.intersection(&stems_of_newer).filter(|_| is_changed);
    let shared_rare = shared.map(|stem| candidates.rarity(*stem)).reduce(f64::max)?;
    let lost = stems_of_older.difference(&stems_of_newer).count().min(MAX_LOST);
    let terms = candidates.prepared.terms();
    let has = |at: usize, term: usize| candidates.has[at][term];
    let only_older: Vec<usize> =
        (0..terms.len()).filter(|term| has(older, *term) && !has(newer, *term)).collect();
    let identifier_only = candidates
        .prepared
        .identifiers()
        .iter()
        .any(|id| candidates.occurs(older, id) && !candidates.occurs(newer, id));
    let mark_only = identifier_only || only_older.iter().any(|term| terms[*term].is_mark);
    let heaviest = terms.iter().map(|term| term.weight).fold(1e-9, f64::max);
    let term_only =
        only_older.iter().map(|term| terms[*term].weight).fold(0.0, f64::max) / heaviest;
    let shared_query: f64 = (0..terms.len())
        .filter(|term| has(older, *term) && has(newer, *term))
        .map(|term| terms[term].weight)
        .sum();
    let features =
        [lost as f64, f64::from(u8::from(mark_only)), term_only, shared_query, shared_rare];
    let sum: f64 = features.iter().zip(WEIGHTS).map(|(value, weight)| value * weight).sum();
    let slot = candidates.slots[newer];
    Some(Newer { slot, likelihood: sigmoid(CONSTANT + sum), features })
}
