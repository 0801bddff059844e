//! BM25 over the memories that a search may return. Pure.
//!
//! Document frequencies and the mean length are those of the admitted memories alone, so other
//! projects and replaced versions neither change a score nor leak into one. Not here: term
//! frequencies (`index::postings`).

/// One entry of a posting list: a memory that contains the term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// Position of the memory among the admitted ones.
    pub at: usize,
    /// How often the term occurs in its text.
    pub term_freq: u32,
    /// Length of its text in words.
    pub length: u32,
}

/// The posting list of one query term, restricted to the admitted memories.
pub type Postings = Vec<Posting>;

/// Parameters of BM25: saturation of the term frequency (`k1`), length normalisation (`b`), and the
/// form of the idf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25Params {
    k1: f64,
    b: f64,
    idf: IdfForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdfForm {
    /// `ln(1 + (N - n + .5) / (n + .5))`: never negative, so that a term of a small store still
    /// counts (Lucene's form).
    Lucene,
    /// `ln((N - n + .5) / (n + .5))`, at least 1e-6 (the form of SQLite's FTS5, and of Robertson
    /// and Spärck Jones).
    Fts5,
}

/// Parameters of the weighted and the reciprocal rank fusion: k1 and b of FTS5.
pub(crate) const FUSION_PARAMS: Bm25Params = Bm25Params { k1: 1.2, b: 0.75, idf: IdfForm::Lucene };
/// Parameters of the late-interaction ranking: docs/retrieval.md, row "low5".
pub(crate) const LATE_INTERACTION_PARAMS: Bm25Params =
    Bm25Params { k1: 0.9, b: 0.3, idf: IdfForm::Fts5 };
/// What FTS5 itself computes; tests compare with it.
pub const FTS5_PARAMS: Bm25Params = Bm25Params { k1: 1.2, b: 0.75, idf: IdfForm::Fts5 };

/// Lower bound of the ideal score in nats for Lucene's idf: if every query term occurs nearly
/// everywhere, no text gets a high share.
const MIN_IDEAL: f64 = 1.0;

/// Statistics of the admitted memories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CorpusStats {
    /// Number of memories.
    pub count: usize,
    /// Mean length of their texts in words.
    pub mean_length: f64,
}

/// BM25 of one query term.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TermScorer {
    params: Bm25Params,
    weight: f64,
    mean_length: f64,
}

impl TermScorer {
    /// A term with this weight: its idf, or a share of it.
    pub fn new(params: Bm25Params, weight: f64, corpus: CorpusStats) -> Self {
        Self { params, weight, mean_length: corpus.mean_length }
    }

    /// The score of a text of `length` words in which the term occurs `term_freq` times.
    pub fn score(&self, term_freq: u32, length: u32) -> f64 {
        self.weight * self.params.saturated(term_freq, length, self.mean_length)
    }
}

impl Bm25Params {
    /// Inverse document frequency of a term that `doc_freq` of `count` memories contain.
    pub(crate) fn idf(self, count: usize, doc_freq: usize) -> f64 {
        let odds = |count: f64, doc_freq: f64| (count - doc_freq + 0.5) / (doc_freq + 0.5);
        match self.idf {
            IdfForm::Lucene => (1.0 + odds(count as f64, (doc_freq as f64).min(count as f64))).ln(),
            IdfForm::Fts5 => odds(count as f64, doc_freq as f64).ln().max(1e-6),
        }
    }

    /// Saturated term frequency: each further occurrence adds less, and so does one in a longer
    /// text.
    fn saturated(self, term_freq: u32, length: u32, mean_length: f64) -> f64 {
        let (term_freq, length) = (f64::from(term_freq), f64::from(length));
        let norm = self.k1 * (1.0 - self.b + self.b * length / mean_length);
        term_freq * (self.k1 + 1.0) / (term_freq + norm)
    }

    /// The BM25 score of each admitted memory, and the ideal: the sum of the idf of all terms that
    /// occur.
    pub fn scores(self, terms: &[Postings], corpus: CorpusStats) -> (Vec<f64>, f64) {
        let (mut scores, mut ideal) = (vec![0.0; corpus.count], 0.0);
        for postings in terms.iter().filter(|postings| !postings.is_empty()) {
            let idf = self.idf(corpus.count, postings.len());
            ideal += idf;
            let term = TermScorer::new(self, idf, corpus);
            for Posting { at, term_freq, length } in postings {
                scores[*at] += term.score(*term_freq, *length);
            }
        }
        (scores, ideal)
    }

    /// The score that counts as a share of 1, given the ideal score of the query.
    pub(crate) fn normaliser(self, ideal: f64) -> f64 {
        if self.idf == IdfForm::Lucene { ideal.max(MIN_IDEAL) } else { ideal.max(1e-9) }
    }

    /// BM25 of each admitted memory as a share of the ideal, 0 to 1; 0 without a query term.
    pub fn shares(self, terms: &[Postings], corpus: CorpusStats) -> Vec<f64> {
        let (scores, ideal) = self.scores(terms, corpus);
        let normaliser = self.normaliser(ideal);
        scores.into_iter().map(|score: f64| (score / normaliser).min(1.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(count: usize) -> CorpusStats {
        CorpusStats { count, mean_length: 10.0 }
    }

    fn posting(at: usize, term_freq: u32, length: u32) -> Posting {
        Posting { at, term_freq, length }
    }

    #[test]
    fn a_rare_term_counts_more_than_a_frequent_one() {
        let frequent: Postings = (0..9).map(|at| posting(at, 1, 10)).collect();
        let shares = FUSION_PARAMS.shares(&[frequent, vec![posting(9, 1, 10)]], corpus(10));
        assert!(shares[9] > 3.0 * shares[0] && shares[0] > 0.0);
    }

    #[test]
    fn a_term_of_every_memory_has_a_share_near_0() {
        let everywhere: Postings = (0..50).map(|at| posting(at, 9, 10)).collect();
        let shares = FUSION_PARAMS.shares(&[everywhere], corpus(50));
        assert!(shares.iter().all(|share| *share < 0.05));
    }

    #[test]
    fn a_perfect_text_has_a_share_of_1_and_no_more() {
        for params in [FUSION_PARAMS, LATE_INTERACTION_PARAMS] {
            let terms = [vec![posting(0, 9, 10), posting(1, 1, 10)], vec![posting(0, 9, 10)]];
            let shares = params.shares(&terms, corpus(1000));
            assert!(
                (shares[0] - 1.0).abs() < 1e-9 && shares[1] > 0.3 && shares[1] < 0.6,
                "{shares:?}"
            );
        }
    }

    #[test]
    fn a_long_text_loses_less_in_the_late_interaction_ranking() {
        let terms = [vec![posting(0, 1, 5), posting(1, 1, 50)]];
        let ratio = |params: Bm25Params| {
            let (scores, _) = params.scores(&terms, corpus(100));
            scores[0] / scores[1]
        };
        assert!(ratio(FUSION_PARAMS) > ratio(LATE_INTERACTION_PARAMS));
        assert!(ratio(LATE_INTERACTION_PARAMS) > 1.0);
    }
}
