//! Finds which new statements of a file are other wordings of statements that left it. Pure.
//!
//! Not here: what becomes of the older wording (`operations::bridge`).

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Share of common words from which a new statement is the new wording of one that left the file.
const SAME_STATEMENT: f64 = 0.5;

/// How many words are still compared at one look. Statements beyond it are taken for new ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparisonBudget(u64);

impl Default for ComparisonBudget {
    /// 1,000 statements of ten words with 1,000 others, in about 30 ms.
    fn default() -> Self {
        Self(20_000_000)
    }
}

impl ComparisonBudget {
    /// For an import, which a person waits for: about half a second.
    #[must_use]
    pub fn of_import() -> Self {
        Self(400_000_000)
    }

    /// Returns whether nothing more is compared.
    pub(crate) fn is_spent(self) -> bool {
        self.0 == 0
    }

    fn take(&mut self, words: usize) -> bool {
        let left = self.0.checked_sub(words as u64);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// The words of a statement as sorted hashes, each once.
struct Words(Vec<u64>);

impl Words {
    fn of(text: &str) -> Self {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let hashes: HashSet<u64> = words.map(hash).collect();
        let mut hashes: Vec<u64> = hashes.into_iter().collect();
        hashes.sort_unstable();
        Self(hashes)
    }

    /// Returns whether the numbers of words alone rule out that both are one statement.
    fn is_too_different(&self, other: &Self) -> bool {
        let (one, other) = (self.0.len() as f64, other.0.len() as f64);
        one.min(other) < SAME_STATEMENT * one.max(other)
    }

    /// Returns the share of words that both have in common.
    fn common(&self, other: &Self) -> f64 {
        let (mut at, mut common) = (0, 0_usize);
        for word in &self.0 {
            while other.0.get(at).is_some_and(|other| other < word) {
                at += 1;
            }
            common += usize::from(other.0.get(at) == Some(word));
        }
        let all = self.0.len() + other.0.len() - common;
        common as f64 / (all as f64).max(1.0)
    }
}

fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.chars().flat_map(char::to_lowercase).for_each(|c| c.hash(&mut hasher));
    hasher.finish()
}

/// Pairs new statements with the older wordings among those that left: their positions, each at most once.
pub(crate) fn rewordings(
    new: &[&str],
    left: &[&str],
    budget: &mut ComparisonBudget,
) -> Vec<(usize, usize)> {
    let mut left: Vec<(usize, Words)> =
        left.iter().enumerate().map(|(at, text)| (at, Words::of(text))).collect();
    let mut pairs = Vec::new();
    for (number, text) in new.iter().enumerate() {
        let words = Words::of(text);
        let mut best: Option<(usize, f64)> = None;
        for (at, (_, other)) in left.iter().enumerate() {
            if words.is_too_different(other) {
                continue;
            }
            if !budget.take(words.0.len() + other.0.len()) {
                return pairs;
            }
            let share = words.common(other);
            if share >= SAME_STATEMENT && best.is_none_or(|(_, most)| share > most) {
                best = Some((at, share));
            }
        }
        if let Some((at, _)) = best {
            pairs.push((number, left.swap_remove(at).0));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_wording_finds_the_nearest_older_one_and_each_is_used_once() {
        let left = ["Use pnpm in this repository", "The pond is green", "Use npm in this shop"];
        let new = ["use PNPM 9 in this repository", "Deploys go through just ship"];
        let mut budget = ComparisonBudget::default();
        assert_eq!(rewordings(&new, &left, &mut budget), [(0, 0)]);
        let twice = [new[0], new[0]];
        assert_eq!(rewordings(&twice, &left[..2], &mut budget), [(0, 0)]);
    }

    #[test]
    fn the_words_that_are_compared_are_bounded() {
        let texts: Vec<String> = (0..20).map(|n| format!("statement number {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        // Six words for each pair, and one older wording less to compare with for each pair found.
        let mut budget = ComparisonBudget(6 * (20 + 19));
        assert_eq!(rewordings(&texts, &texts, &mut budget).len(), 2);
        assert!(rewordings(&texts, &texts, &mut budget).is_empty());
    }
}
