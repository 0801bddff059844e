//! Groups the memories of one period by topic. Pure: vectors in, groups of positions out.
//!
//! Average linkage: two groups are merged while the mean cosine of their pairs is at least
//! [`TopicRules::similarity`]. Not here: texts, dates, the store.

use crate::model::encoding::Embedding;

/// Minimum mean cosine within a topic. With the model, notes on different subjects have cosines
/// around 0.1, notes about one system or person 0.4 to 0.6; 0.35 separates them and gives a handful
/// of topics per week.
pub(crate) const SAME_TOPIC: f64 = 0.35;
/// Memories of one block; only those of the same block are compared pairwise, so that the time
/// grows linearly with the size of the period.
const BLOCK_SIZE: usize = 512;
/// Maximum memories of one topic by default, and so of one summary.
pub(crate) const MAX_TOPIC: usize = 40;

/// What makes a topic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TopicRules {
    /// Minimum memories of a topic.
    pub min_size: usize,
    /// Maximum memories of a topic; a larger one is split by time.
    pub max_size: usize,
    /// Minimum mean cosine within a topic.
    pub similarity: f64,
}

/// Groups positions into topics, each sorted. Memories without a vector form one topic. Empty if
/// there are fewer memories than the smallest topic has.
pub(crate) fn group_by_topic(
    directions: &[Option<Embedding>],
    rules: TopicRules,
) -> Vec<Vec<usize>> {
    let TopicRules { min_size, max_size, similarity } = rules;
    if directions.len() < min_size {
        return Vec::new();
    }
    let with_vector: Vec<usize> =
        (0..directions.len()).filter(|i| directions[*i].is_some()).collect();
    let mut topics: Vec<Vec<usize>> = split_evenly(&with_vector, BLOCK_SIZE)
        .flat_map(|block| average_linkage(directions, block, similarity))
        .collect();
    topics.push((0..directions.len()).filter(|i| directions[*i].is_none()).collect());
    topics.retain(|topic| !topic.is_empty());
    let mut topics: Vec<Vec<usize>> = join_small_topics(directions, topics, min_size);
    for topic in &mut topics {
        topic.sort_unstable();
    }
    topics.sort();
    topics.iter().flat_map(|topic| split_evenly(topic, max_size).map(<[usize]>::to_vec)).collect()
}

/// Splits items into parts of nearly equal length, none longer than `max_len`.
fn split_evenly(items: &[usize], max_len: usize) -> impl Iterator<Item = &[usize]> {
    let parts = items.len().div_ceil(max_len).max(1);
    items.chunks(items.len().div_ceil(parts).max(1))
}

/// Average linkage by nearest-neighbour chains. The mean cosine of a merged group to a third group
/// is never above the greater of the two cosines before the merge, so a group whose nearest
/// neighbour is too far away is final.
fn average_linkage(
    directions: &[Option<Embedding>],
    members: &[usize],
    similarity: f64,
) -> Vec<Vec<usize>> {
    let size = members.len();
    let mut similar = vec![f32::MIN; size * size];
    for a in 0..size {
        for b in 0..a {
            if let (Some(x), Some(y)) = (&directions[members[a]], &directions[members[b]]) {
                (similar[a * size + b], similar[b * size + a]) = (x.cosine(y), x.cosine(y));
            }
        }
    }
    let mut groups: Vec<Vec<usize>> = members.iter().map(|member| vec![*member]).collect();
    let mut open = vec![true; size];
    let mut chain: Vec<usize> = Vec::new();
    while let Some(top) = chain.last().copied().or_else(|| open.iter().position(|open| *open)) {
        if chain.is_empty() {
            chain.push(top);
        }
        let previous = chain.len().checked_sub(2).map(|i| chain[i]);
        let others = (0..size).filter(|other| open[*other] && *other != top);
        let best = others.max_by(|a, b| {
            let (x, y) = (similar[top * size + a], similar[top * size + b]);
            x.total_cmp(&y).then((Some(*a) == previous).cmp(&(Some(*b) == previous))).then(b.cmp(a))
        });
        match best {
            Some(best) if f64::from(similar[top * size + best]) < similarity => {
                // This group is final. The groups before it in the chain look for another nearest
                // neighbour.
                open[top] = false;
                chain.pop();
            }
            Some(best) if Some(best) == previous => {
                chain.truncate(chain.len() - 2);
                merge(&mut similar, &mut groups, &open, best, top);
                open[top] = false;
            }
            Some(best) => chain.push(best),
            None => {
                open[top] = false;
                chain.pop();
            }
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Merges group `b` into group `a`. The similarity of another group to the result is the mean over
/// all pairs.
fn merge(similar: &mut [f32], groups: &mut [Vec<usize>], open: &[bool], a: usize, b: usize) {
    let size = open.len();
    let (size_a, size_b) = (groups[a].len() as f32, groups[b].len() as f32);
    for other in (0..size).filter(|other| open[*other] && *other != a && *other != b) {
        let mean = (size_a * similar[a * size + other] + size_b * similar[b * size + other])
            / (size_a + size_b);
        (similar[a * size + other], similar[other * size + a]) = (mean, mean);
    }
    let members = std::mem::take(&mut groups[b]);
    groups[a].extend(members);
}

/// Adds the members of topics smaller than `min_size` to the nearest large topic; if no topic is
/// large enough, all memories form one topic.
fn join_small_topics(
    directions: &[Option<Embedding>],
    topics: Vec<Vec<usize>>,
    min_size: usize,
) -> Vec<Vec<usize>> {
    let (mut large, small): (Vec<_>, Vec<_>) =
        topics.into_iter().partition(|topic| topic.len() >= min_size);
    if large.is_empty() {
        return vec![small.into_iter().flatten().collect()];
    }
    let centroids: Vec<Option<Embedding>> =
        large.iter().map(|topic| centre(directions, topic)).collect();
    for topic in small {
        let own = centre(directions, &topic);
        let cosine = |i: &usize| match (&own, &centroids[*i]) {
            (Some(own), Some(centre)) => own.cosine(centre),
            _ => -1.0,
        };
        let nearest = (0..large.len())
            .max_by(|a, b| cosine(a).total_cmp(&cosine(b)).then(b.cmp(a)))
            .unwrap_or(0);
        large[nearest].extend(topic);
    }
    large
}

/// Returns the mean direction of several memories.
pub(crate) fn centre(directions: &[Option<Embedding>], members: &[usize]) -> Option<Embedding> {
    let mut sum = vec![0.0; crate::model::encoding::DIMENSIONS];
    for direction in members.iter().filter_map(|member| directions[*member].as_ref()) {
        sum.iter_mut().zip(direction.as_slice()).for_each(|(s, v)| *s += v);
    }
    Embedding::new(sum).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::{axis, between_axes};
    use proptest::prelude::*;

    const RULES: TopicRules =
        TopicRules { min_size: 3, max_size: MAX_TOPIC, similarity: SAME_TOPIC };

    fn all_present(directions: Vec<Embedding>) -> Vec<Option<Embedding>> {
        directions.into_iter().map(Some).collect()
    }

    #[test]
    fn similar_memories_are_one_topic() {
        let all = all_present((0..8).map(|i| between_axes(i % 2, 10 + i, 0.9)).collect());
        assert_eq!(group_by_topic(&all, RULES), [vec![0, 2, 4, 6], vec![1, 3, 5, 7]]);
    }

    #[test]
    fn a_topic_of_one_or_two_memories_is_added_to_the_nearest_topic() {
        let mut all: Vec<Embedding> = (0..6).map(|i| between_axes(i / 3, 10 + i, 0.9)).collect();
        all.push(between_axes(1, 50, 0.3));
        assert_eq!(group_by_topic(&all_present(all), RULES), [vec![0, 1, 2], vec![3, 4, 5, 6]]);
        let apart = all_present((0..5).map(axis).collect());
        assert_eq!(
            group_by_topic(&apart, RULES),
            [vec![0, 1, 2, 3, 4]],
            "all memories are one topic if none has three members"
        );
    }

    #[test]
    fn memories_without_a_vector_are_one_topic() {
        let mut all = all_present((0..3).map(|i| between_axes(0, 10 + i, 0.9)).collect());
        all.extend([None, None, None]);
        assert_eq!(group_by_topic(&all, RULES), [vec![0, 1, 2], vec![3, 4, 5]]);
        assert_eq!(group_by_topic(&[None, None, None, None, None], RULES), [vec![0, 1, 2, 3, 4]]);
        assert_eq!(group_by_topic(&[None, None], RULES), Vec::<Vec<usize>>::new());
    }

    #[test]
    fn twenty_thousand_memories_are_grouped_into_bounded_topics() {
        let all =
            all_present((0..20_000).map(|i| between_axes(i % 7, 20 + i % 300, 0.8)).collect());
        let topics = group_by_topic(&all, RULES);
        assert_eq!(topics.iter().map(Vec::len).sum::<usize>(), all.len());
        assert!(topics.iter().all(|topic| (3..=MAX_TOPIC).contains(&topic.len())));
    }

    proptest! {
        /// Every memory is in one topic, and no topic is too small or too large.
        #[test]
        fn topics_partition_the_memories(kinds in proptest::collection::vec(0_usize..12, 3..700)) {
            let all = all_present(kinds.iter().enumerate().map(|(i, kind)| between_axes(*kind, 20 + i % 300, 0.8)).collect());
            let topics = group_by_topic(&all, RULES);
            let mut seen: Vec<usize> = topics.iter().flatten().copied().collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..all.len()).collect::<Vec<_>>());
            prop_assert!(topics.iter().all(|topic| (3..=MAX_TOPIC).contains(&topic.len())));
        }

        /// Within a block, the topics equal those of repeatedly joining the nearest pair.
        #[test]
        fn nearest_neighbour_chains_equal_joining_the_nearest_pairs(lean in proptest::collection::vec((0_usize..5, 0.3_f32..0.95), 2..24)) {
            let all = all_present(lean.iter().enumerate().map(|(i, (kind, cosine))| between_axes(*kind, 20 + i, *cosine)).collect());
            let members: Vec<usize> = (0..all.len()).collect();
            let mut fast = average_linkage(&all, &members, SAME_TOPIC);
            for group in &mut fast { group.sort_unstable(); }
            fast.sort();
            prop_assert_eq!(fast, join_nearest_pairs(&all));
        }
    }

    fn join_nearest_pairs(all: &[Option<Embedding>]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = (0..all.len()).map(|i| vec![i]).collect();
        let mean = |a: &[usize], b: &[usize]| {
            let pairs = a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
            let sum: f32 = pairs
                .map(|(x, y)| {
                    all[*x]
                        .as_ref()
                        .expect("every memory has a vector")
                        .cosine(all[*y].as_ref().expect("every memory has a vector"))
                })
                .sum();
            sum / (a.len() * b.len()) as f32
        };
        loop {
            let pairs = (0..groups.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
            let best = pairs.max_by(|x, y| {
                mean(&groups[x.0], &groups[x.1]).total_cmp(&mean(&groups[y.0], &groups[y.1]))
            });
            match best {
                Some((a, b)) if f64::from(mean(&groups[a], &groups[b])) >= SAME_TOPIC => {
                    let members = groups.remove(b);
                    groups[a].extend(members);
                }
                _ => break,
            }
        }
        for group in &mut groups {
            group.sort_unstable();
        }
        groups.sort();
        groups
    }
}
