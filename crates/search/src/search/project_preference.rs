//! Raises the memories of the asking project, or of the projects that the query names, above those
//! of other projects that match equally well.
//!
//! Facts, procedures and entities of every project are visible. "How do we deploy?" means the
//! project in which it is asked, unless it names another. A memory of another project stays first
//! if it matches clearly better. docs/retrieval.md has the measurement behind each constant. Not
//! here: which memories are visible (`model::visibility`).

use crate::index::Index;
use crate::ranking::fusion;
use crate::ranking::fusion::ScoredSlot;
use crate::search::query::parse;
use loci_proto::group::Group;
use loci_proto::memory::MemoryType;
use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Boost of a memory of a preferred project, as a share of the best score.
const PROJECT_BOOST: f64 = 0.3;
/// Further boost of a procedure of a preferred project if the query asks how something is done.
const PROCEDURE_BOOST: f64 = 0.6;
/// Share of the best score below which a memory gets no boost.
const NO_BOOST_BELOW: f64 = 0.4;
/// Share of the best score from which a memory gets the whole boost.
const WHOLE_BOOST_FROM: f64 = 0.6;
/// Number of best results that show which project a query is about.
const SHOWING_RESULTS: usize = 8;
/// Number of these that must belong to one other project for the query to be about that project.
const MIN_OF_ONE_PROJECT: usize = 6;
/// Share of the best score from which a memory of the asking project shows that the query is not
/// about another one.
const OWN_MATCHES_FROM: f64 = 0.8;
/// Words of a project name with fewer characters do not name it alone.
const MIN_NAME_CHARS: usize = 3;

/// A query that asks how something is done, or tells to do it.
static ASKS_HOW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\bhow (?:do|does|to|can|could|should)\b|\bhow (?:is|are)\b.*\b(?:\w+ed|run|built|done|made|put|set|sent|kept|brought|taken|given|written|chosen|begun|got|gotten)\b|\b(?:steps?|checklist|procedure|runbook|guide|instructions)\b|\bwhat (?:must|has to|have to|needs? to|should|do|does)\b.*\b(?:do|done|happen)\b|^(?:please )?(?:deploy|release|run|test|rotate|roll ?back|onboard|set ?up|put|build|install|restore|publish|migrate|start|restart|update)\b",
    )
    .expect("the pattern compiles")
});
/// A query about the person who asks: what they want holds in every project.
static ASKS_ABOUT_ME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(?:do|did|should|would|may|must|can|am|have) I\b|\bmy\b|\bI (?:like|want|prefer|use|keep|read|hate)\b|\buser\b",
    )
    .expect("the pattern compiles")
});

/// The projects whose memories a query prefers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProjectPreference {
    /// Ids of the groups.
    preferred: Vec<String>,
    /// Whether the query names them.
    is_named: bool,
    asks_how: bool,
    asks_about_me: bool,
}

impl ProjectPreference {
    /// Determines the preference of a query that is asked in `own`; `all` are the groups of the
    /// store.
    pub fn new(query: &str, own: &Group, all: &[Group]) -> Self {
        let words: Vec<String> = parse::tokens(query).collect();
        let mut preferred: Vec<String> = all
            .iter()
            .filter(|group| is_named(&group.name, &words))
            .map(|group| group.id.clone())
            .collect();
        let is_named = !preferred.is_empty();
        if !is_named {
            preferred.push(own.id.clone());
        }
        Self {
            preferred,
            is_named,
            asks_how: ASKS_HOW.is_match(query),
            asks_about_me: ASKS_ABOUT_ME.is_match(query),
        }
    }

    /// Prefers this project, of which everything is that the query names, unless the query names a
    /// project itself.
    #[must_use]
    pub fn or_project_of(self, named_entities: Option<String>) -> Self {
        match named_entities {
            Some(project) if !self.is_named && self.preferred != [project.as_str()] => {
                Self { preferred: vec![project], is_named: true, ..self }
            }
            _ => self,
        }
    }

    /// Adds the boost to the scores and returns it by slot. Nothing is added if every scored memory
    /// belongs to the preferred projects.
    pub fn apply(&self, index: &Index, scored: &mut [ScoredSlot]) -> HashMap<usize, f64> {
        let mut groups: Vec<u32> =
            self.preferred.iter().filter_map(|id| index.group_number(id)).collect();
        let mut boosts = HashMap::new();
        if scored.iter().all(|entry| groups.contains(&index.group(entry.slot))) {
            return boosts;
        }
        let top = fusion::top(scored, SHOWING_RESULTS);
        let best = top.first().map_or(0.0, |entry| entry.score);
        if !self.is_named
            && let Some(other) = other_project_of_query(index, scored, &top, &groups)
        {
            groups = vec![other];
        }
        let may_gain = |entry: &&mut ScoredSlot| {
            entry.score > NO_BOOST_BELOW * best && groups.contains(&index.group(entry.slot))
        };
        for entry in scored.iter_mut().filter(may_gain) {
            let nearness =
                (entry.score / best - NO_BOOST_BELOW) / (WHOLE_BOOST_FROM - NO_BOOST_BELOW);
            let boost = best * nearness.min(1.0) * self.share(index.kind(entry.slot));
            if boost > 0.0 {
                boosts.insert(entry.slot, boost);
                entry.score += boost;
            }
        }
        boosts
    }

    /// The boost of a memory type, as a share of the best score.
    fn share(&self, kind: MemoryType) -> f64 {
        let general = if self.asks_about_me { 0.0 } else { PROJECT_BOOST };
        let is_procedure = self.asks_how && kind == MemoryType::Procedural;
        general + if is_procedure { PROCEDURE_BOOST } else { 0.0 }
    }
}

/// Returns the project that a query is about without naming it: the best results are mostly of that
/// project, and those of the asking project match much less.
fn other_project_of_query(
    index: &Index,
    scored: &[ScoredSlot],
    top: &[ScoredSlot],
    own: &[u32],
) -> Option<u32> {
    let limit = OWN_MATCHES_FROM * top.first()?.score;
    let own_matches =
        scored.iter().any(|entry| entry.score >= limit && own.contains(&index.group(entry.slot)));
    if own_matches {
        return None;
    }
    let count = |group: u32| top.iter().filter(|entry| index.group(entry.slot) == group).count();
    top.iter()
        .map(|entry| index.group(entry.slot))
        .find(|group| count(*group) >= MIN_OF_ONE_PROJECT)
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
        ProjectPreference::new(query, &all[1], &all).preferred
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

    #[test]
    fn questions_how_and_questions_about_the_person_are_recognised() {
        let of = |query: &str| ProjectPreference::new(query, &group("g", "x"), &[]);
        for query in ["how do we deploy", "release checklist", "how is the API deployed"] {
            assert!(of(query).asks_how, "{query}");
        }
        for query in
            ["which port does the API use", "why Postgres", "how was the last run", "how is Anna"]
        {
            assert!(!of(query).asks_how, "{query}");
        }
        assert!(of("which editor do I use").asks_about_me);
        assert!(!of("which editor does Anna use").asks_about_me);
    }
}
