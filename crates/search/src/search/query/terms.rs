//! The lookup terms of a query, their weights, and the entities that it names.
//!
//! Not here: parsing (`parse`), posting lists (`index::postings`).

use crate::index::{Index, Mask};
use crate::ranking::bm25::CorpusStats;
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::QueryTerm;
use crate::search::project_preference::ProjectPreference;
use crate::search::query::parse::ParsedQuery;
use loci_base::model::encoding::QueryWord;
use loci_base::model::names;
use loci_proto::limits;
use std::collections::HashSet;

/// A content word of a query.
#[derive(Debug)]
pub(crate) struct WeightedWord<'a> {
    pub word: &'a str,
    /// The terms by which it is looked up.
    pub lookup: Vec<String>,
    /// Number of admitted memories that contain it.
    pub doc_freq: usize,
    pub term: QueryTerm,
}

/// The content words of a query with their weights among the admitted memories; of words with the
/// same stem only the first.
///
/// `doc_freq` returns how many admitted memories contain a word, given its lookup terms.
pub(crate) fn weighted_terms<'a>(
    index: &Index,
    words: &'a [QueryWord],
    mask: &Mask,
    mut doc_freq: impl FnMut(&[String]) -> usize,
) -> Vec<WeightedWord<'a>> {
    let mut lookup: Vec<Vec<String>> =
        words.iter().map(|word| index.words().terms_within(&word.text, mask)).collect();
    let is_first = |at: &usize| !lookup[..*at].iter().any(|earlier| earlier[0] == lookup[*at][0]);
    let distinct: Vec<usize> =
        (0..lookup.len()).filter(is_first).take(limits::QUERY_TERMS).collect();
    let doc_freqs: Vec<usize> = distinct.iter().map(|at| doc_freq(&lookup[*at])).collect();
    let weights = late_interaction::term_weights(&doc_freqs, mask.count());
    let word = |((at, weight), doc_freq): ((usize, f64), usize)| {
        let QueryWord { text, code, legibility } = &words[at];
        let lookup = std::mem::take(&mut lookup[at]);
        let term = QueryTerm { code: *code, weight, legibility: f64::from(*legibility) };
        WeightedWord { word: text, lookup, doc_freq, term }
    };
    distinct.into_iter().zip(weights).zip(doc_freqs).map(word).collect()
}

/// The lookup terms of each keyword among the admitted memories; of keywords with the same stem only
/// the first.
pub(crate) fn keyword_terms(index: &Index, mask: &Mask, query: &ParsedQuery) -> Vec<Vec<String>> {
    let mut seen = HashSet::new();
    query
        .keywords
        .iter()
        .map(|word| index.words().terms_within(word, mask))
        .filter(|terms| seen.insert(terms[0].clone()))
        .collect()
}

/// The slots of the admitted entities that the query names, in no order: by an alias only those of the
/// asking project.
pub fn named_entities(
    index: &Index,
    mask: &Mask,
    query: &ParsedQuery,
    projects: &ProjectPreference,
) -> Vec<usize> {
    let names = if index.has_no_names() { HashSet::new() } else { names::candidates(&query.text) };
    let is_asking = |group| projects.is_asking(index, group);
    let seqs: HashSet<i64> =
        names.iter().flat_map(|name| index.entities_named(name, is_asking)).collect();
    seqs.into_iter().filter_map(|seq| index.slot(seq)).filter(|slot| mask.admits(*slot)).collect()
}

/// Statistics of the admitted memories for BM25.
pub(crate) fn corpus_stats(index: &Index, mask: &Mask) -> CorpusStats {
    let words = index.words().total_length(mask.words()) as f64;
    CorpusStats { count: mask.count(), mean_length: (words / mask.count().max(1) as f64).max(1.0) }
}
