//! Coherence of a storage order: whether memories stored one after the other are related.
//!
//! The order of a conversation is coherent, that of unrelated notes is not. The amount of every
//! context step is multiplied by the coherence. Source: `link` of the reference. Not here: which
//! memories form one order (`index::context_windows`), caching (`index::coherence_cache`).

use crate::ranking::late_interaction::weights::FULL_COHERENCE;

/// Error margin of the mean neighbour cosine for a sample of one memory; it falls with the square
/// root of the sample size.
const ERROR_MARGIN: f64 = 0.15;

/// Neighbours from this cosine on repeat each other and do not count. Otherwise three repeated log
/// lines would make a dialogue of a small project of unrelated notes.
const REPEATED_COSINE: f64 = 0.93;

/// The memories of one project in storage order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OrderedBlock {
    /// Number of memories.
    pub len: usize,
    /// Coherence of the project's order, 0 to 1.
    pub coherence: f64,
}

/// Running sums over the unit vectors of an order. The mean cosine of all pairs is computed from
/// the sum of the vectors, without visiting the pairs.
#[derive(Debug)]
pub(crate) struct CoherenceStats {
    vector_sum: Vec<f64>,
    /// Sum of the cosines of neighbours that do not repeat each other.
    neighbour_cosines: f64,
    /// Number of neighbours that repeat each other.
    repeated: usize,
    count: usize,
}

impl CoherenceStats {
    /// Empty sums for vectors of this many dimensions.
    pub fn new(dimensions: usize) -> Self {
        Self { vector_sum: vec![0.0; dimensions], neighbour_cosines: 0.0, repeated: 0, count: 0 }
    }

    /// Appends a vector. `neighbour_cosine` is its cosine to the previous vector; 0 for the first.
    pub fn add(&mut self, vector: &[f32], neighbour_cosine: f64) {
        self.vector_sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += f64::from(*value));
        if neighbour_cosine < REPEATED_COSINE {
            self.neighbour_cosines += neighbour_cosine;
        } else {
            self.repeated += 1;
        }
        self.count += 1;
    }

    /// Removes the first vector. `neighbour_cosine` is its cosine to the next vector.
    pub fn remove(&mut self, vector: &[f32], neighbour_cosine: f64) {
        self.vector_sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum -= f64::from(*value));
        if neighbour_cosine < REPEATED_COSINE {
            self.neighbour_cosines -= neighbour_cosine;
        } else {
            self.repeated -= 1;
        }
        self.count -= 1;
    }

    /// Coherence, 0 to 1: how much more alike neighbours are than random pairs, less an error
    /// margin, as a share of [`FULL_COHERENCE`].
    pub fn coherence(&self) -> f64 {
        let neighbours = self.count.saturating_sub(1 + self.repeated);
        if neighbours == 0 {
            return 0.0;
        }
        let n = self.count as f64;
        let random_cosine =
            (self.vector_sum.iter().map(|sum| sum * sum).sum::<f64>() - n) / (n * n - n);
        ((self.neighbour_cosines / neighbours as f64 - random_cosine - ERROR_MARGIN / n.sqrt())
            / FULL_COHERENCE)
            .clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(angle: f32) -> Vec<f32> {
        vec![angle.cos(), angle.sin()]
    }

    fn coherence(vectors: &[Vec<f32>]) -> f64 {
        let mut stats = CoherenceStats::new(2);
        for (at, vector) in vectors.iter().enumerate() {
            let cosine = at.checked_sub(1).map_or(0.0, |before| {
                f64::from(loci_base::model::encoding::dot(&vectors[before], vector))
            });
            stats.add(vector, cosine);
        }
        stats.coherence()
    }

    #[test]
    fn a_drifting_order_is_coherent_and_a_shuffled_one_is_not() {
        let drifting: Vec<Vec<f32>> = (0..400).map(|i| unit(i as f32 * 0.7)).collect();
        let shuffled: Vec<Vec<f32>> =
            (0..400).map(|i| unit((i * 149 % 400) as f32 * 0.7)).collect();
        let (ordered, random) = (coherence(&drifting), coherence(&shuffled));
        assert!((ordered - 1.0).abs() < 1e-9 && random < 1e-9, "{ordered} {random}");
        assert!(coherence(&drifting[..1]).abs() < 1e-9);
    }

    #[test]
    fn repeated_log_lines_make_no_dialogue_of_unrelated_notes() {
        let unrelated = |number: usize| {
            let mut vector = vec![0.0; 14];
            vector[number] = 1.0;
            vector
        };
        let mut notes: Vec<Vec<f32>> = (0..14).map(unrelated).collect();
        notes.extend(vec![unrelated(13); 2]);
        let mut stats = CoherenceStats::new(14);
        stats.add(&notes[0], 0.0);
        for pair in notes.windows(2) {
            let cosine = f64::from(loci_base::model::encoding::dot(&pair[0], &pair[1]));
            stats.add(&pair[1], cosine);
        }
        assert!(stats.coherence() < 1e-9, "{}", stats.coherence());
    }
}
