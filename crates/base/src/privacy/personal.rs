//! Finds personal data, where the configuration asks for it: e-mail addresses, phone numbers, cards,
//! IBAN, PESEL.
//!
//! Not here: which of them are replaced (`policy`), the user's own words (`words`).

use crate::privacy::card;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// A kind of personal data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PersonalData {
    /// E-mail addresses.
    Email,
    /// Phone numbers.
    Phone,
    /// Payment cards.
    Card,
    /// International bank account numbers.
    Iban,
    /// Polish personal identification numbers.
    Pesel,
}

impl PersonalData {
    /// All kinds.
    pub const ALL: [Self; 5] = [Self::Email, Self::Phone, Self::Card, Self::Iban, Self::Pesel];

    /// Returns the name in the configuration, for example `email`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Phone => "phone",
            Self::Card => "card",
            Self::Iban => "iban",
            Self::Pesel => "pesel",
        }
    }

    /// Returns what stands in place of the data.
    pub fn mark(self) -> &'static str {
        match self {
            Self::Email => "[EMAIL]",
            Self::Phone => "[PHONE]",
            Self::Card | Self::Iban | Self::Pesel => "[ID]",
        }
    }
}

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("compiles")
}

static EMAIL: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"[\p{L}\p{N}][\p{L}\p{N}._%+-]*@[\p{L}\p{N}][\p{L}\p{N}.-]*\.\p{L}{2,24}")
});
/// International numbers, and national ones in groups with a separator.
static PHONE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?:\+|\b00)[1-9]\d{0,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}|\(\d{2,4}\)[ .-]?\d{3,4}(?:[ .-]?\d{2,4}){1,2}|\b\d{3}[ -]\d{3}[ -]\d{3,4}\b|\b0\d{1,4}[ /-]\d{3,8}(?:[ -]\d{2,4}){0,3}\b",
    )
});
/// A number without a separator counts after a word for a phone.
static CALLED: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(?:phone|tel|telephone|mobile|cell|call|fax|whatsapp|signal|telefon|tel\.|kom\.|komórka|handy)(?: number| numer| nr)?(?: is| to)?[ :.]{1,3}(\d{7,12})\b",
    )
});
static IBAN: LazyLock<Regex> =
    LazyLock::new(|| compile(r"\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b"));
static PESEL: LazyLock<Regex> = LazyLock::new(|| compile(r"\d{11}"));

/// Returns the byte ranges of one kind of personal data.
pub fn find(kind: PersonalData, text: &str) -> Vec<Range<usize>> {
    let ranges = |pattern: &Regex| -> Vec<Range<usize>> {
        pattern.find_iter(text).map(|found| found.range()).collect()
    };
    match kind {
        PersonalData::Email => ranges(&EMAIL),
        PersonalData::Phone => {
            let mut found = ranges(&PHONE);
            found.retain(|range| is_phone(text, range));
            found.extend(
                CALLED
                    .captures_iter(text)
                    .filter_map(|called| called.get(1))
                    .map(|number| number.range()),
            );
            found
        }
        PersonalData::Card => card::find(text),
        PersonalData::Iban => {
            ranges(&IBAN).into_iter().filter_map(|range| iban(text, &range)).collect()
        }
        PersonalData::Pesel => ranges(&PESEL)
            .into_iter()
            .filter(|range| is_alone(text, range) && is_pesel(&text[range.clone()]))
            .collect(),
    }
}

fn is_alone(text: &str, range: &Range<usize>) -> bool {
    let joins = |c: char| c.is_alphanumeric() || matches!(c, '_' | '+');
    let decimal = |mut after: std::str::Chars<'_>| {
        matches!(after.next(), Some('.' | '-')) && after.next().is_some_and(|c| c.is_ascii_digit())
    };
    let before = text[..range.start].chars().next_back();
    !before.is_some_and(|c| joins(c) || matches!(c, '.' | '-'))
        && !text[range.end..].chars().next().is_some_and(joins)
        && !decimal(text[range.end..].chars())
}

fn is_phone(text: &str, range: &Range<usize>) -> bool {
    let found = &text[range.clone()];
    let digits = found.bytes().filter(u8::is_ascii_digit).count();
    (7..=15).contains(&digits) && found.matches('.').count() < 4 && is_alone(text, range)
}

/// PESEL: a date of birth and the check digit.
fn is_pesel(found: &str) -> bool {
    let digits: Vec<u32> = found.bytes().map(|b| u32::from(b - b'0')).collect();
    let [_, _, m1, m2, d1, d2, ..] = digits[..] else { return false };
    let (month, day) = ((m1 * 10 + m2) % 20, d1 * 10 + d2);
    let weights = [1, 3, 7, 9, 1, 3, 7, 9, 1, 3];
    let sum: u32 = digits.iter().zip(weights).map(|(digit, weight)| digit * weight).sum();
    (1..=12).contains(&month) && (1..=31).contains(&day) && (10 - sum % 10) % 10 == digits[10]
}

/// Returns the longest beginning of the text that is an IBAN: what follows may be a word.
fn iban(text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let ends = (range.start + 15..=range.end).rev().filter(|end| {
        text.as_bytes()[end - 1].is_ascii_alphanumeric()
            && !text[*end..].chars().next().is_some_and(|c| c.is_ascii_alphanumeric())
    });
    ends.map(|end| range.start..end).find(|range| is_iban(&text[range.clone()]))
}

/// IBAN: 15 to 34 characters whose number modulo 97 is 1.
fn is_iban(found: &str) -> bool {
    let plain: Vec<u8> = found.bytes().filter(u8::is_ascii_alphanumeric).collect();
    if !(15..=34).contains(&plain.len()) {
        return false;
    }
    let rotated = plain[4..].iter().chain(&plain[..4]);
    let remainder = rotated.fold(0_u32, |remainder, byte| {
        if byte.is_ascii_digit() {
            (remainder * 10 + u32::from(byte - b'0')) % 97
        } else {
            (remainder * 100 + u32::from(byte - b'A') + 10) % 97
        }
    });
    remainder == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found_by_its_form_and_check_digits() {
        for (kind, text, found) in [
            (
                PersonalData::Email,
                "write to anna.k+x@mail.example.org.",
                "anna.k+x@mail.example.org",
            ),
            (PersonalData::Phone, "call +48 601 234 567 now", "+48 601 234 567"),
            (PersonalData::Phone, "(555) 123-4567", "(555) 123-4567"),
            (PersonalData::Phone, "phone: 601234567", "601234567"),
            (
                PersonalData::Iban,
                "IBAN PL61 1090 1014 0000 0712 1981 2874 is",
                "PL61 1090 1014 0000 0712 1981 2874",
            ),
            (PersonalData::Iban, "GB82WEST12345698765432", "GB82WEST12345698765432"),
            (PersonalData::Pesel, "PESEL 44051401359.", "44051401359"),
            (PersonalData::Card, "4539578763621486", "4539578763621486"),
        ] {
            let ranges = find(kind, text);
            let values: Vec<&str> = ranges.iter().map(|range| &text[range.clone()]).collect();
            assert_eq!(values, [found], "{text}");
        }
    }

    #[test]
    fn versions_times_and_numbers_that_fail_their_check_stay() {
        for (kind, text) in [
            (PersonalData::Phone, "version 1.2.3.4 of 2026-02-21 10:00:00"),
            (PersonalData::Phone, "192.168.10.20 took 1735689600 ms"),
            (PersonalData::Iban, "PL61 1090 1014 0000 0712 1981 2875"),
            (PersonalData::Pesel, "44051401358 and 17356896001"),
            (PersonalData::Email, "git@github and @anna"),
        ] {
            assert!(find(kind, text).is_empty(), "{text}: {:?}", find(kind, text));
        }
    }
}
