//! Finds payment card numbers: the lengths and first digits of the networks, and Luhn's check
//! digit.

use crate::privacy::checks::luhn;
use regex::Regex;
use std::sync::LazyLock;

/// 13 to 19 digits, together or in groups.
#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
static DIGITS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\d{13,19}|\d{4}([ -])\d{4}[ -]\d{4}[ -]\d{1,4}(?:[ -]\d{1,3})?|\d{4}[ -]\d{6}[ -]\d{4,5}")
        .expect("compiles")
});

/// Returns the byte ranges of the card numbers of a text.
pub(crate) fn find(text: &str) -> Vec<(usize, usize)> {
    DIGITS
        .find_iter(text)
        .filter(|found| is_free(text, found.start(), found.end()))
        .filter(|found| is_card(found.as_str()))
        .map(|found| (found.start(), found.end()))
        .collect()
}

/// Returns true if the digits are not a part of a longer number or name.
fn is_free(text: &str, start: usize, end: usize) -> bool {
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/' | '#' | '+' | '=');
    let before = text[..start].chars().next_back();
    let mut after = text[end..].chars();
    let next = after.next();
    let ends = match next {
        // A full stop ends a sentence; before a digit it is a decimal point.
        Some('.' | '-' | '/') => !after.next().is_some_and(char::is_alphanumeric),
        Some(c) => !(c.is_alphanumeric() || c == '_'),
        None => true,
    };
    let starts = before.is_none_or(|c| !joins(c) || c == '=' || c == '#');
    starts && ends
}

fn is_card(found: &str) -> bool {
    let digits: Vec<u8> = found.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
    let prefix = |length: usize| {
        digits[..length].iter().fold(0_u32, |number, digit| number * 10 + u32::from(*digit))
    };
    let of_network = match digits.len() {
        14 => matches!(prefix(3), 300..=305 | 309 | 360..=369 | 380..=399),
        15 => matches!(prefix(2), 34 | 37),
        13 => digits[0] == 4,
        16 | 19 => {
            digits[0] == 4
                || matches!(prefix(2), 51..=55 | 62 | 65)
                || matches!(prefix(4), 2221..=2720 | 3528..=3589 | 6011 | 6440..=6499)
        }
        17 | 18 => prefix(2) == 62,
        _ => false,
    };
    let differing = digits.iter().collect::<std::collections::HashSet<_>>().len();
    of_network && differing > 1 && luhn(&digits)
}

#[cfg(test)]
mod tests {
    use super::find;

    #[test]
    fn cards_are_found_in_digits_and_groups_and_other_numbers_are_not() {
        for text in [
            "4539578763621486",
            "card 4539 5787 6362 1486.",
            "4539-5787-6362-1486,",
            "3714 496353 98431",
            "378282246310005",
            "card=5425233430109903",
        ] {
            assert_eq!(find(text).len(), 1, "{text}");
        }
        for text in [
            "4539578763621487",
            "1735689600000000",
            "0000 0000 0000 0000",
            "1.4539578763621486",
            "v4539578763621486",
            "45395787636214860000",
            "id-4539578763621486",
            "4539578763621486.5",
        ] {
            assert!(find(text).is_empty(), "{text}");
        }
    }
}
