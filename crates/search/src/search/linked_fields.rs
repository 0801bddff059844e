//! Two further lexical fields of a memory: the names of the entities that it mentions or is, and the
//! relations of these entities (predicates, and the names at the other end).
//!
//! A field scores the share of the query's keywords that occur in it, times its weight, as a share of the
//! best score, so it works with every ranking. Nothing is stored for it: names and links are in the index
//! anyway, relations are read from the database when their weight is not 0. Only memories that were
//! scored are raised, so a field finds none by itself. Not here: one hop from what the query names
//! (`graph_boost`).

use crate::index::{Index, Mask};
use crate::ranking::fusion::ScoredSlot;
use crate::search::project_preference::ProjectPreference;
use crate::search::query::parse::{ParsedQuery, tokens};
use loci_base::text::stem;
use loci_base::text::tokenize;
use std::collections::HashMap;

/// The weights of the two fields, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FieldWeights {
    /// Weight of the names of linked entities.
    pub entity: f64,
    /// Weight of the relations of linked entities.
    pub relation: f64,
}

impl FieldWeights {
    /// Returns whether a field counts.
    pub fn any(self) -> bool {
        self.entity > 0.0 || self.relation > 0.0
    }
}

/// Which keywords of a query a text contains: one bit each.
type Keywords = u32;

/// The keywords of a query, as stems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryStems(Vec<String>);

impl QueryStems {
    /// The stems of a query.
    pub fn new(query: &ParsedQuery) -> Self {
        Self(
            query.keywords.iter().map(|word| stem_of(word)).take(Keywords::BITS as usize).collect(),
        )
    }

    /// Returns which keywords a text contains.
    pub fn within(&self, text: &str) -> Keywords {
        let mut found = 0;
        for word in tokens(text) {
            let stem = stem_of(&word);
            for (number, _) in self.0.iter().enumerate().filter(|(_, keyword)| **keyword == stem) {
                found |= 1 << number;
            }
        }
        found
    }

    fn share(&self, found: Keywords) -> f64 {
        f64::from(found.count_ones()) / self.0.len().max(1) as f64
    }
}

fn stem_of(word: &str) -> String {
    stem::stem_plain(tokenize::unmarked(word))
}

/// A relation whose predicate or ends may contain keywords.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldRelation {
    /// The entity that has the relation, by sequence number.
    pub subject: i64,
    /// The entity that it leads to, by sequence number.
    pub object: i64,
    /// The keywords in its predicate.
    pub predicate: Keywords,
}

/// The fields of one search.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkedFields {
    /// How much each field counts.
    pub weights: FieldWeights,
    /// The stems of the query.
    pub stems: QueryStems,
    /// The relations of the store; empty if their weight is 0.
    pub relations: Vec<FieldRelation>,
}

/// What the fields added to a score: by the names, and by the relations.
pub(crate) type FieldBoosts = HashMap<usize, [f64; 2]>;

impl LinkedFields {
    /// Adds what the fields score, and returns it by slot.
    pub fn apply(
        &self,
        index: &Index,
        mask: &Mask,
        projects: &ProjectPreference,
        scored: &mut [ScoredSlot],
    ) -> FieldBoosts {
        let best = scored.iter().map(|entry| entry.score).fold(0.0, f64::max);
        let names = self.names(index, mask, projects);
        let relations = self.relations(mask, index, &names);
        let mut boosts = FieldBoosts::new();
        if names.is_empty() && relations.is_empty() {
            return boosts;
        }
        for entry in scored.iter_mut() {
            let seq = index.seq(entry.slot);
            let linked = index.graph().entities_mentioned_in(seq).iter().chain([&seq]);
            let (mut by_name, mut by_relation) = (0, 0);
            for entity in linked {
                by_name |= names.get(entity).copied().unwrap_or(0);
                by_relation |= relations.get(entity).copied().unwrap_or(0);
            }
            let added = [
                self.weights.entity * best * self.stems.share(by_name),
                self.weights.relation * best * self.stems.share(by_relation),
            ];
            if added.iter().any(|part| *part > 0.0) {
                entry.score += added[0] + added[1];
                boosts.insert(entry.slot, added);
            }
        }
        boosts
    }

    /// Returns the admitted entities with the keywords in their names.
    fn names(
        &self,
        index: &Index,
        mask: &Mask,
        projects: &ProjectPreference,
    ) -> HashMap<i64, Keywords> {
        let is_asking = |group| projects.is_asking(index, group);
        let mut found: HashMap<i64, Keywords> = HashMap::new();
        for (name, entities) in index.names() {
            let keywords = self.stems.within(name);
            for entity in entities.iter().filter(|_| keywords != 0) {
                if is_admitted(index, mask, *entity) && index.is_name_of(*entity, name, is_asking) {
                    *found.entry(*entity).or_default() |= keywords;
                }
            }
        }
        found
    }

    /// Returns the entities with the keywords in their relations, of which both ends are admitted.
    fn relations(
        &self,
        mask: &Mask,
        index: &Index,
        names: &HashMap<i64, Keywords>,
    ) -> HashMap<i64, Keywords> {
        let mut found: HashMap<i64, Keywords> = HashMap::new();
        for FieldRelation { subject, object, predicate } in &self.relations {
            if !is_admitted(index, mask, *subject) || !is_admitted(index, mask, *object) {
                continue;
            }
            for (entity, other) in [(subject, object), (object, subject)] {
                let keywords = predicate | names.get(other).copied().unwrap_or(0);
                if keywords != 0 {
                    *found.entry(*entity).or_default() |= keywords;
                }
            }
        }
        found
    }
}

fn is_admitted(index: &Index, mask: &Mask, seq: i64) -> bool {
    index.slot(seq).is_some_and(|slot| mask.admits(slot))
}
