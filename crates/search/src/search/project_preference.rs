//! Raises the memories of the asking project, or of the projects that the query names, above those
//! of other projects that match equally well.
//!
//! Facts, procedures and entities of every project are visible. "How do we deploy?" means the
//! project in which it is asked, unless it names another. A memory of another project stays first
//! if it matches clearly better. docs/retrieval.md ("The judge") has the measurement of the
//! constant. Not here: which memories are visible (`model::visibility`).

use crate::index::Index;
use crate::ranking::fusion::ScoredSlot;
use crate::search::query::parse;
use crate::search::query::prepared::PreparedTerm;
use loci_proto::group::Group;
use std::collections::HashMap;

/// What a memory of a preferred project gains.
const PREFERRED: f64 = 0.3813;
/// Words of a project name with fewer characters do not name it alone.
const MIN_NAME_CHARS: usize = 3;

/// The projects whose memories a query prefers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectPreference {
    /// Id of the asking group.
    asking: Option<String>,
    /// Ids of the preferred groups, and the words by which the query names each.
    preferred: Vec<(String, Vec<String>)>,
    /// Whether the query names them.
    is_named: bool,
}

impl ProjectPreference {
    /// Determines the preference of a query that is asked in `own`; `all` are the groups of the
    /// store.
    pub fn new(query: &str, own: &Group, all: &[Group]) -> Self {
        let words: Vec<String> = parse::tokens(query).collect();
        let mut preferred: Vec<(String, Vec<String>)> = all
            .iter()
            .filter(|group| is_named(&group.name, &words))
            .map(|group| (group.id.clone(), parse::tokens(&group.name).collect()))
            .collect();
        let is_named = !preferred.is_empty();
        if !is_named {
            preferred.push((own.id.clone(), Vec::new()));
        }
        Self { asking: Some(own.id.clone()), preferred, is_named }
    }

    /// Returns whether the query names the project with this id.
    pub fn names(&self, group: &str) -> bool {
        self.is_named && self.preferred.iter().any(|(id, _)| id == group)
    }

    /// Prefers this project, of which everything is that the query names, unless the query names a
    /// project itself.
    #[must_use]
    pub fn or_project_of(self, named_entities: Option<String>) -> Self {
        match named_entities {
            Some(project) if !self.is_named => {
                Self { preferred: vec![(project, Vec::new())], is_named: true, ..self }
            }
            _ => self,
        }
    }

    /// Adds the constant to the scores, and the weights of the terms by which the query names the
    /// project: a memory need not repeat the name. `terms` are those of a late interaction. Returns
    /// what was added by slot; nothing if every scored memory belongs to the preferred projects.
    pub fn apply(
        &self,
        index: &Index,
        terms: Option<&[PreparedTerm]>,
        scored: &mut [ScoredSlot],
    ) -> HashMap<usize, f64> {
        let best = || scored.iter().map(|entry| entry.score).fold(0.0, f64::max);
        // The scores of a plain fusion have another scale.
        let preferred = terms.map_or_else(|| PREFERRED * best(), |_| PREFERRED);
        let terms = terms.unwrap_or_default();
        let weight = |words: &[String]| -> f64 {
            terms.iter().filter(|term| words.contains(&term.word)).map(|term| term.weight).sum()
        };
        let gains: HashMap<u32, f64> = self
            .preferred(index)
            .map(|(group, words)| (group, preferred + weight(words)))
            .collect();
        let gain = |slot: usize| gains.get(&index.group(slot)).copied();
        if scored.iter().all(|entry| gain(entry.slot).is_some()) {
            return HashMap::new();
        }
        let mut boosts = HashMap::new();
        for entry in scored.iter_mut() {
            if let Some(gain) = gain(entry.slot) {
                boosts.insert(entry.slot, gain);
                entry.score += gain;
            }
        }
        boosts
    }

    /// Returns whether a project, given by its number, is the asking one. Without an asking project
    /// nothing is foreign.
    pub(crate) fn is_asking(&self, index: &Index, group: u32) -> bool {
        self.asking.as_deref().is_none_or(|id| index.group_number(id) == Some(group))
    }

    /// Returns the numbers of the preferred projects, and the words by which the query names each.
    pub(crate) fn preferred<'a>(
        &'a self,
        index: &Index,
    ) -> impl Iterator<Item = (u32, &'a [String])> {
        self.preferred.iter().filter_map(|(id, words)| Some((index.group_number(id)?, &**words)))
    }
}

/// Returns whether the words of a project's name stand in the query one after the other.
fn is_named(name: &str, query: &[String]) -> bool {
    let name: Vec<String> = parse::tokens(name).collect();
    let is_distinctive = name.iter().any(|word| word.chars().count() >= MIN_NAME_CHARS);
    is_distinctive && query.windows(name.len()).any(|window| window == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(id: &str, name: &str) -> Group {
        Group { id: id.to_owned(), name: name.to_owned() }
    }

    fn preferred(query: &str) -> Vec<String> {
        let all = [group("g_1", "rig-eol"), group("g_2", "attic"), group("g_3", "a")];
        let preference = ProjectPreference::new(query, &all[1], &all);
        preference.preferred.into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn the_asking_project_is_preferred_unless_the_query_names_another() {
        assert_eq!(preferred("how do I run the tests"), ["g_2"]);
        assert_eq!(preferred("how do I run the tests of rig-eol"), ["g_1"]);
        assert_eq!(preferred("tests of Rig EOL?"), ["g_1"]);
        assert_eq!(preferred("the eol rig"), ["g_2"]);
        assert_eq!(preferred("does attic use what rig-eol uses"), ["g_1", "g_2"]);
        assert_eq!(preferred("a test"), ["g_2"], "one letter names no project");
    }
}
