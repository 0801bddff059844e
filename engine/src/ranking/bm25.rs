//! BM25 over what a search may find. Pure.
//!
//! How rare a word is, and how long a text usually is, counts among the admitted memories alone: other projects and replaced versions
//! neither move an answer nor show through it. Not here: how often a word stands in a text (`index::postings`).

/// The admitted memories that have one word of the query: their numbers, how often, and how many words the text has.
pub(crate) type Having = Vec<(usize, u32, u32)>;

/// How fast repetition stops counting (`k1`), how much long texts are held back (`b`), and which measure of rarity goes with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Form {
    k1: f64,
    b: f64,
    rarity: Rarity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rarity {
    /// `ln(1 + (N - n + .5) / (n + .5))`: never negative, so that a word of a small store still counts (Lucene's form).
    Lucene,
    /// `ln((N - n + .5) / (n + .5))`, at least 1e-6 (SQLite's form, and that of Robertson and Spärck Jones).
    Fts5,
}

/// The form of the weighted and the reciprocal fusion: FTS5's k1 and b.
pub(crate) const PLAIN: Form = Form { k1: 1.2, b: 0.75, rarity: Rarity::Lucene };
/// The form of the soft ranking: docs/retrieval.md, row "low5".
pub(crate) const SHORT: Form = Form { k1: 0.9, b: 0.3, rarity: Rarity::Fts5 };
/// What FTS5 itself computes, for comparing with it.
#[cfg(test)]
pub(crate) const FTS5: Form = Form { k1: 1.2, b: 0.75, rarity: Rarity::Fts5 };

/// Least of what a perfect text must score to be the measure, in nats: words that stand nearly everywhere tell nothing apart.
const LEAST_IDEAL: f64 = 1.0;

/// The memories that a search may find, as far as BM25 asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Admitted {
    /// How many there are.
    pub count: usize,
    /// How many words their texts have on average.
    pub mean_length: f64,
}

impl Form {
    /// How rare a word is that so many of all memories have.
    pub(crate) fn idf(self, all: usize, having: usize) -> f64 {
        let odds = |all: f64, having: f64| (all - having + 0.5) / (having + 0.5);
        match self.rarity {
            Rarity::Lucene => (1.0 + odds(all as f64, (having as f64).min(all as f64))).ln(),
            Rarity::Fts5 => odds(all as f64, having as f64).ln().max(1e-6),
        }
    }

    /// What standing in a text so often counts: more the second time, and hardly more the tenth.
    pub(crate) fn saturated(self, times: u32, length: u32, mean_length: f64) -> f64 {
        let (times, length) = (f64::from(times), f64::from(length));
        let norm = self.k1 * (1.0 - self.b + self.b * length / mean_length);
        times * (self.k1 + 1.0) / (times + norm)
    }

    /// For each memory the sum over the words of rarity times saturated frequency, and what a short text with each word once would have.
    pub(crate) fn scores(self, words: &[Having], among: Admitted) -> (Vec<f64>, f64) {
        let (mut scores, mut ideal) = (vec![0.0; among.count], 0.0);
        for having in words.iter().filter(|having| !having.is_empty()) {
            let idf = self.idf(among.count, having.len());
            ideal += idf;
            for (slot, times, length) in having {
                scores[*slot] += idf * self.saturated(*times, *length, among.mean_length);
            }
        }
        (scores, ideal)
    }

    /// What a score is a share of.
    pub(crate) fn measure(self, ideal: f64) -> f64 {
        if self.rarity == Rarity::Lucene { ideal.max(LEAST_IDEAL) } else { ideal.max(1e-9) }
    }

    /// For each memory, BM25 as a share of what a short text with each known word once would score, 0 to 1; 0 without a word.
    pub(crate) fn shares(self, words: &[Having], among: Admitted) -> Vec<f64> {
        let (scores, ideal) = self.scores(words, among);
        let measure = self.measure(ideal);
        scores.into_iter().map(|score: f64| (score / measure).min(1.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn among(count: usize) -> Admitted {
        Admitted { count, mean_length: 10.0 }
    }

    #[test]
    fn a_rare_word_counts_more_than_a_frequent_one() {
        let frequent: Having = (0..9).map(|slot| (slot, 1, 10)).collect();
        let shares = PLAIN.shares(&[frequent, vec![(9, 1, 10)]], among(10));
        assert!(shares[9] > 3.0 * shares[0] && shares[0] > 0.0);
    }

    #[test]
    fn a_word_that_stands_everywhere_tells_nothing_apart() {
        let everywhere: Having = (0..50).map(|slot| (slot, 9, 10)).collect();
        assert!(PLAIN.shares(&[everywhere], among(50)).iter().all(|share| *share < 0.05));
    }

    #[test]
    fn a_perfect_text_has_the_whole_share_and_nothing_more() {
        for form in [PLAIN, SHORT] {
            let shares =
                form.shares(&[vec![(0, 9, 10), (1, 1, 10)], vec![(0, 9, 10)]], among(1000));
            assert!(
                (shares[0] - 1.0).abs() < 1e-9 && shares[1] > 0.3 && shares[1] < 0.6,
                "{shares:?}"
            );
        }
    }

    #[test]
    fn a_long_text_is_held_back_less_in_the_short_form() {
        let words = [vec![(0, 1, 5), (1, 1, 50)]];
        let drop = |form: Form| {
            let (scores, _) = form.scores(&words, among(100));
            scores[0] / scores[1]
        };
        assert!(drop(PLAIN) > drop(SHORT) && drop(SHORT) > 1.0);
    }
}
