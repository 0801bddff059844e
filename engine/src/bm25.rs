//! BM25 over what a search may find. Pure.
//!
//! How rare a word is counts among the admitted memories alone: other projects and replaced versions neither move an answer nor show
//! through it. Not here: how often a word stands in a text (`db::lexical`).

/// Least of what a perfect text must score to be the measure, in nats: words that stand nearly everywhere tell nothing apart.
const LEAST_IDEAL: f64 = 1.0;

/// The admitted memories that have one word of the query: slot, and the word's weight in that text (saturated frequency, 0 to 2.2).
pub(crate) type Having = Vec<(usize, f64)>;

/// For each slot, BM25 as a share of what a short text with each known word once would score, 0 to 1; 0 without a word.
///
/// `admitted` is the number of memories that the search may find, `slots` the number of all.
pub(crate) fn shares(words: &[Having], admitted: usize, slots: usize) -> Vec<f64> {
    let mut scores = vec![0.0; slots];
    let mut ideal = 0.0;
    for having in words.iter().filter(|having| !having.is_empty()) {
        let idf = idf(admitted, having.len());
        ideal += idf;
        for (slot, weight) in having {
            scores[*slot] += idf * weight;
        }
    }
    let measure = ideal.max(LEAST_IDEAL);
    scores.into_iter().map(|score: f64| (score / measure).min(1.0)).collect()
}

/// `ln(1 + (N - n + .5) / (n + .5))`: never negative, so that a word of a small store still counts (Lucene's form).
fn idf(all: usize, having: usize) -> f64 {
    let (all, having) = (all as f64, having as f64);
    (1.0 + (all - having + 0.5).max(0.0) / (having + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rare_word_counts_more_than_a_frequent_one() {
        let frequent: Having = (0..9).map(|slot| (slot, 1.0)).collect();
        let shares = shares(&[frequent, vec![(9, 1.0)]], 10, 10);
        assert!(shares[9] > 3.0 * shares[0] && shares[0] > 0.0);
    }

    #[test]
    fn a_word_that_stands_everywhere_tells_nothing_apart() {
        let everywhere: Having = (0..50).map(|slot| (slot, 2.0)).collect();
        assert!(shares(&[everywhere], 50, 50).iter().all(|share| *share < 0.05));
    }

    #[test]
    fn a_perfect_text_has_the_whole_share_and_nothing_more() {
        let shares = shares(&[vec![(0, 2.2), (1, 1.0)], vec![(0, 2.2)]], 1000, 1000);
        assert!((shares[0] - 1.0).abs() < 1e-9 && shares[1] > 0.3 && shares[1] < 0.6);
    }
}
