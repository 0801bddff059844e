//! Spherical k-means: each point belongs to the centroid with the highest cosine, and a centroid is the
//! direction of the sum of its points.
//!
//! The first centroids are chosen by k-means++ with a fixed seed. Not here: which points there are.

use loci_base::model::encoding::{DIMENSIONS, Embedding};

/// Maximum number of iterations.
pub(crate) const MAX_ITERATIONS: usize = 1_000;
/// Maximum number of groups that [`groups_of`] chooses: more do not fit a screen.
const MAX_GROUPS: usize = 24;
/// Number of points that take part in the iterations at most; of more, some that are evenly spaced.
pub const MAX_SAMPLE: usize = 20_000;
/// The seed of the first centroids.
const SEED: u64 = 0x6c6f_6369;

/// Groups of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// The group of each point.
    pub assigned: Vec<usize>,
    /// The centroid of each group.
    pub centroids: Vec<Embedding>,
}

/// Returns how many groups a number of points is divided into: the square root of half of them, at
/// least 1 and at most [`MAX_GROUPS`]. The usual rule of thumb: 5 points give 2 groups, 50 give 5, 200
/// give 10, from 1,105 on there are 24.
pub fn groups_of(points: usize) -> usize {
    let root = (points as f64 / 2.0).sqrt().round();
    (1..=MAX_GROUPS).rev().find(|count| *count as f64 <= root).unwrap_or(1)
}

/// Divides points into at most `count` groups; fewer if there are fewer different points.
pub fn k_means(points: &[Embedding], count: usize) -> Clusters {
    let mut centroids = first_centroids(points, count);
    let mut assigned: Vec<usize> = Vec::new();
    for _ in 0..MAX_ITERATIONS {
        let next = points.iter().map(|point| nearest(&centroids, point).0).collect();
        if next == assigned {
            break;
        }
        assigned = next;
        centroids = moved(points, &assigned, centroids);
    }
    let assigned = points.iter().map(|point| nearest(&centroids, point).0).collect();
    Clusters { assigned, centroids }
}

/// Returns the centroid with the highest cosine, and the cosine; of equal ones the first.
pub fn nearest(centroids: &[Embedding], point: &Embedding) -> (usize, f32) {
    let mut best = (0, f32::MIN);
    for (number, centroid) in centroids.iter().enumerate() {
        let cosine = centroid.cosine(point);
        if cosine > best.1 {
            best = (number, cosine);
        }
    }
    best
}

/// k-means++: the next centroid is a point, the likelier the further it is from those chosen.
fn first_centroids(points: &[Embedding], count: usize) -> Vec<Embedding> {
    let mut random = SplitMix(SEED);
    let Some(first) = points.get(random.below(points.len())) else { return Vec::new() };
    let mut centroids = vec![first.clone()];
    let mut distances: Vec<f64> = points.iter().map(|point| distance(first, point)).collect();
    while centroids.len() < count {
        let total: f64 = distances.iter().sum();
        if total <= 0.0 {
            break;
        }
        let mut left = random.unit() * total;
        let chosen = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        // Rounding may leave a rest beyond the last point.
        let chosen = chosen.or_else(|| distances.iter().rposition(|distance| *distance > 0.0));
        let Some(centroid) = chosen.map(|at| &points[at]) else { break };
        for (distance_to_nearest, point) in distances.iter_mut().zip(points) {
            *distance_to_nearest = distance_to_nearest.min(distance(centroid, point));
        }
        centroids.push(centroid.clone());
    }
    centroids
}

/// Returns the square of a distance; nothing for equal points, whatever the rounding.
fn distance(one: &Embedding, other: &Embedding) -> f64 {
    let distance = 1.0 - f64::from(one.cosine(other));
    if distance < 1e-6 { 0.0 } else { distance }
}

/// Moves each centroid to the direction of its points. A centroid without points stays.
fn moved(points: &[Embedding], assigned: &[usize], centroids: Vec<Embedding>) -> Vec<Embedding> {
    let mut sums = vec![vec![0.0_f32; DIMENSIONS]; centroids.len()];
    for (point, group) in points.iter().zip(assigned) {
        sums[*group].iter_mut().zip(point.as_slice()).for_each(|(sum, number)| *sum += number);
    }
    sums.into_iter().zip(centroids).map(|(sum, old)| Embedding::new(sum).unwrap_or(old)).collect()
}

/// A pseudo-random generator: splitmix64.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to but not including 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A position in a list of this length; 0 for an empty one.
    fn below(&mut self, length: usize) -> usize {
        let bound = u64::try_from(length).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_testkit::{axis, between_axes};
    use proptest::prelude::*;

    #[test]
    fn points_around_three_directions_are_three_groups() {
        let points: Vec<Embedding> = (0..30).map(|i| between_axes(i % 3, 10 + i, 0.9)).collect();
        let Clusters { assigned, centroids } = k_means(&points, 3);
        assert_eq!(centroids.len(), 3);
        for (number, group) in assigned.iter().enumerate() {
            assert_eq!(*group, assigned[number % 3], "{assigned:?}");
        }
        assert_eq!(assigned[..3].iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
    }

    #[test]
    fn there_are_no_more_groups_than_different_points() {
        let points = vec![axis(0), axis(1), axis(0), axis(1)];
        assert_eq!(k_means(&points, 4).centroids.len(), 2);
        assert_eq!(k_means(&[], 3), Clusters { assigned: Vec::new(), centroids: Vec::new() });
    }

    #[test]
    fn the_number_of_groups_follows_the_rule() {
        let counts = [0, 1, 2, 5, 20, 50, 200, 1_104, 1_105, 100_000].map(groups_of);
        assert_eq!(counts, [1, 1, 1, 2, 3, 5, 10, 23, 24, 24]);
    }

    proptest! {
        /// No point is nearer to another centroid, and the result is always the same.
        #[test]
        fn every_point_is_in_the_group_of_its_nearest_centroid(
            kinds in prop::collection::vec((0_usize..9, 0.2_f32..0.99), 1..80),
            count in 1_usize..12,
        ) {
            let points: Vec<Embedding> = kinds.iter().enumerate().map(|(i, (kind, cosine))| between_axes(*kind, 20 + i, *cosine)).collect();
            let clusters = k_means(&points, count);
            prop_assert!((1..=count).contains(&clusters.centroids.len()));
            for (point, group) in points.iter().zip(&clusters.assigned) {
                let own = clusters.centroids[*group].cosine(point);
                prop_assert!(clusters.centroids.iter().all(|centroid| centroid.cosine(point) <= own));
            }
            prop_assert_eq!(k_means(&points, count), clusters);
        }
    }
}
