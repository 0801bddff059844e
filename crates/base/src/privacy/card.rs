//! Numbers of payment cards: prefix and length of a brand, groups as printed, Luhn's check digit.

use crate::privacy::checks::luhn;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("compiles")
}

static CANDIDATE: LazyLock<Regex> = LazyLock::new(|| compile(r"(?-u)\b\d(?:[ .-]?\d){12,18}\b"));
/// Words before a number that make it no card, and words that make it one.
static NO_CARD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?:\bid|\border|\btracking|\bsnowflake|\bimei|\bticket|\binvoice|\bbuild|\bserial|\bisbn|\bean|\bsku|\bpid|\boffset|\bseq(?:uence)?|\btimestamp|\bhash|[#_:/=&])[ \w]{0,12}[:=#]?[ \t]*$",
    )
});
static CARD: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)card|visa|mastercard|amex|american express|discover|credit|debit|\bpan\b|\bcc\b|karta|karty|kart",
    )
});
/// Bytes before a number in which such words count.
const REACH: usize = 60;

/// Finds card numbers.
pub fn find(text: &str) -> Vec<Range<usize>> {
    let fits = |found: &regex::Match<'_>| {
        is_card(found.as_str()) && !is_part_of_word(text, found.start(), found.end()) && {
            let from = text.floor_char_boundary(found.start().saturating_sub(REACH));
            let before = &text[from..found.start()];
            let line = before.rsplit('\n').next().unwrap_or_default();
            CARD.is_match(line) || !NO_CARD.is_match(line)
        }
    };
    CANDIDATE.find_iter(text).filter(fits).map(|found| found.range()).collect()
}

fn is_part_of_word(text: &str, start: usize, end: usize) -> bool {
    let before = text[..start].chars().next_back();
    let after = text[end..].chars();
    let mut after = after.take(2);
    before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '/'))
        || match (after.next(), after.next()) {
            (Some('.' | '-'), Some(next)) => next.is_alphanumeric(),
            (Some(c), _) => c.is_alphanumeric() || c == '_',
            (None, _) => false,
        }
}

fn is_card(text: &str) -> bool {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    let separators: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_digit()).collect();
    let groups: Vec<usize> = text.split([' ', '.', '-']).map(str::len).collect();
    let prefix = |length: usize| digits[..length].iter().fold(0_u32, |n, d| n * 10 + u32::from(*d));
    let brand = match digits.len() {
        16 => {
            digits[0] == 4
                || (51..=55).contains(&prefix(2))
                || (2221..=2720).contains(&prefix(4))
                || prefix(4) == 6011
                || prefix(2) == 65
                || (644..=649).contains(&prefix(3))
                || (3528..=3589).contains(&prefix(4))
                || prefix(2) == 62
        }
        15 => [34, 37].contains(&prefix(2)),
        14 => [36, 38].contains(&prefix(2)) || (300..=305).contains(&prefix(3)),
        _ => false,
    };
    let printed = separators.is_empty()
        || (separators.iter().all(|b| *b == separators[0])
            && [vec![4, 4, 4, 4], vec![4, 6, 5], vec![4, 6, 4]].contains(&groups));
    let varied = digits.iter().collect::<std::collections::HashSet<_>>().len() > 1;
    brand && printed && varied && luhn(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        find(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn cards_of_every_brand_are_found_as_printed() {
        assert_eq!(found("pay with 4111 1111 1111 1111, please"), ["4111 1111 1111 1111"]);
        assert_eq!(found("amex 3782-822463-10005"), ["3782-822463-10005"]);
        assert_eq!(found("5555555555554444"), ["5555555555554444"]);
    }

    #[test]
    fn other_numbers_are_no_cards() {
        for text in [
            "4111 1111 1111 1112",
            "order 4111111111111111",
            "id=4111111111111111",
            "4111 111111 111111",
            "1700000000000 ms",
            "v4.111111111111111",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
        assert_eq!(found("card id: 4111111111111111").len(), 1);
    }
}
