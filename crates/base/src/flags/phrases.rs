//! Matches rules on the words of a text.
//!
//! A rule is a sequence of slots. A slot is a list of words, of which one must occur; `~n` before a
//! slot allows `n` other words in between. No rule matches across the end of a sentence.

use crate::flags::flag::{Flag, Flags};
use crate::flags::rules;
use crate::flags::words::{END, Words};
use foldhash::{HashMap, HashMapExt};
use std::sync::LazyLock;

/// A parsed rule.
struct Phrase {
    flag: Flag,
    /// The words of the first slot are the keys of the table; this has the others.
    rest: Vec<Slot>,
}

struct Slot {
    /// Words that may come between this slot and the one before.
    gap: usize,
    words: Vec<&'static str>,
}

/// Before an order these forbid it: `never disable safety checks`.
const NEGATIONS: [&str; 9] =
    ["never", "not", "dont", "cannot", "cant", "nie", "niemals", "jamais", "nunca"];

/// Every rule by the words that it can begin with.
static BY_FIRST_WORD: LazyLock<HashMap<&'static str, Vec<Phrase>>> = LazyLock::new(|| {
    let mut table: HashMap<&'static str, Vec<Phrase>> = HashMap::new();
    for (flag, rule) in rules::PHRASES {
        let first = parse(rule).into_iter().next().map(|slot| slot.words).unwrap_or_default();
        for word in first {
            let rest = parse(rule).into_iter().skip(1).collect();
            table.entry(word).or_default().push(Phrase { flag: *flag, rest });
        }
    }
    table
});

fn parse(rule: &'static str) -> Vec<Slot> {
    let (mut slots, mut gap) = (Vec::new(), 0);
    for part in rule.split_whitespace() {
        if let Some(number) = part.strip_prefix('~') {
            gap = number.parse().unwrap_or_default();
        } else {
            slots.push(Slot { gap, words: part.split('|').collect() });
            gap = 0;
        }
    }
    slots
}

/// Adds the flags of the rules that match.
pub(super) fn find(words: &Words, flags: &mut Flags) {
    let table = &*BY_FIRST_WORD;
    for at in 0..words.len() {
        for phrase in table.get(words.get(at)).into_iter().flatten() {
            let is_forbidden = phrase.flag == Flag::Override
                && (1..=2).any(|back| at >= back && NEGATIONS.contains(&words.get(at - back)));
            if !flags.contains(phrase.flag) && !is_forbidden && matches(&phrase.rest, words, at + 1)
            {
                flags.insert(phrase.flag);
            }
        }
    }
}

/// Returns true for a text that orders a model something.
pub(super) fn orders_a_model(words: &Words) -> bool {
    static ORDERS: LazyLock<Vec<Vec<Slot>>> =
        LazyLock::new(|| rules::ORDERS.iter().map(|rule| parse(rule)).collect());
    (0..words.len()).any(|at| ORDERS.iter().any(|slots| matches(slots, words, at)))
}

/// Returns true if the slots match from a word on.
fn matches(slots: &[Slot], words: &Words, from: usize) -> bool {
    let Some((slot, rest)) = slots.split_first() else { return true };
    for (at, word) in words.from(from).take(slot.gap + 1).enumerate() {
        if slot.words.contains(&word) && matches(rest, words, from + at + 1) {
            return true;
        }
        if word == END {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_slot_and_gaps_are_numbers() {
        let rules = rules::PHRASES.iter().map(|(_, rule)| rule);
        for rule in rules.chain(rules::ORDERS) {
            assert!(!parse(rule).is_empty() && !rule.trim_end().ends_with('~'), "{rule}");
            for gap in rule.split_whitespace().filter_map(|part| part.strip_prefix('~')) {
                assert!(gap.parse::<usize>().is_ok_and(|gap| gap <= 14), "{rule}");
            }
            let is_lower = |word: &str| word.to_lowercase() == word;
            assert!(parse(rule).iter().flat_map(|slot| &slot.words).all(|w| is_lower(w)), "{rule}");
        }
    }
}
