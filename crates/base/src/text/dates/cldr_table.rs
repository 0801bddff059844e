//! The phrases for times in Unicode's CLDR, and where a text has them. Pure.
//!
//! `data/cldr_times.txt` is made by `data/cldr_times.py`, which says what a row is. A phrase is
//! found as whole words, with or without its diacritics; one of a script without spaces anywhere.
//! Not here: which of them count, and what they mean (`cldr`).

use crate::text::tokenize::{is_unspaced, unmarked};
use foldhash::{HashMap, HashMapExt};
use snowball_stemmers_rs::{Algorithm, Stemmer};
use std::iter::once;
use std::ops::Range;
use std::sync::LazyLock;

const ROWS: &str = include_str!("data/cldr_times.txt");
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
/// Languages that inflect the names of months, of which the table has only two forms.
const INFLECTED: [(&str, Algorithm); 2] = [("pl", Algorithm::Polish), ("ru", Algorithm::Russian)];

/// What a phrase names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    /// "week", "month" or "year".
    Period(&'static str),
    /// The nearest weekday, from Monday 0: "last Monday".
    Weekday(i32),
    /// A weekday of a week: "Monday of last week".
    WeekdayOfWeek(i32),
    /// A month, by its name alone.
    MonthName,
    /// A month, by the form of its name that stands next to a day.
    MonthForm,
    /// A month, by an abbreviation.
    MonthShort,
}

/// A phrase and what it means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Row {
    /// Codes of the languages.
    languages: &'static str,
    pub unit: Unit,
    /// The distance from the present day or period, or the number of the month.
    pub number: i32,
    /// In lower case.
    pub phrase: &'static str,
}

impl Row {
    fn parse(line: &'static str) -> Option<Self> {
        let mut cells = line.split('\t');
        let (languages, unit) = (cells.next()?, cells.next()?);
        let weekday = |name| {
            let place = WEEKDAYS.iter().position(|weekday| *weekday == name)?;
            i32::try_from(place).ok()
        };
        let unit = match unit {
            "day" => Unit::Day,
            "week" | "month" | "year" => Unit::Period(unit),
            "name" => Unit::MonthName,
            "form" => Unit::MonthForm,
            "short" => Unit::MonthShort,
            _ => match unit.strip_suffix("-of-week") {
                Some(name) => Unit::WeekdayOfWeek(weekday(name)?),
                None => Unit::Weekday(weekday(unit)?),
            },
        };
        Some(Self { languages, unit, number: cells.next()?.parse().ok()?, phrase: cells.next()? })
    }

    pub fn languages(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.languages.split(',')
    }

    pub fn is_month(&self) -> bool {
        matches!(self.unit, Unit::MonthName | Unit::MonthForm | Unit::MonthShort)
    }

    /// Whether its script has no spaces between words.
    pub fn is_unspaced(&self) -> bool {
        self.phrase.ends_with(is_unspaced)
    }
}

struct Table {
    /// The rows of each phrase without diacritics.
    rows: HashMap<String, Vec<Row>>,
    /// The months of an inflected language, by the stem of their names without diacritics.
    stems: HashMap<(&'static str, String), Row>,
    /// Bytes of the longest phrase.
    longest: usize,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { rows: HashMap::new(), stems: HashMap::new(), longest: 0 };
    for row in ROWS.lines().filter(|line| !line.starts_with('#')).filter_map(Row::parse) {
        let phrase = Folded::new(row.phrase).text;
        table.longest = table.longest.max(phrase.len());
        table.rows.entry(phrase).or_default().push(row);
        let is_name = matches!(row.unit, Unit::MonthName | Unit::MonthForm);
        for (language, algorithm) in INFLECTED {
            if is_name && row.languages == language {
                let form = Row { unit: Unit::MonthForm, ..row };
                table.stems.insert((language, stem(algorithm, row.phrase)), form);
            }
        }
    }
    table
});

fn stem(algorithm: Algorithm, word: &str) -> String {
    unmarked(&Stemmer::create(algorithm).stem(word))
}

/// A text without diacritics.
pub(super) struct Folded {
    pub text: String,
    /// The place of each byte in the text that it was made of, and of the end.
    places: Vec<usize>,
}

impl Folded {
    /// Folds a text in lower case.
    pub fn new(lower: &str) -> Self {
        let mut folded = Self { text: String::with_capacity(lower.len()), places: Vec::new() };
        let mut buffer = [0; 4];
        for (place, c) in lower.char_indices() {
            match c {
                '’' => folded.text.push('\''),
                _ if c.is_ascii() => folded.text.push(c),
                _ => folded.text.push_str(&unmarked(c.encode_utf8(&mut buffer))),
            }
            folded.places.resize(folded.text.len(), place);
        }
        folded.places.push(lower.len());
        folded
    }

    /// The range of the text that it was made of.
    pub fn unfolded(&self, range: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.places.get(at).copied().unwrap_or_default();
        place(range.start)..place(range.end)
    }

    /// The phrases in the text, with their ranges. They may overlap.
    pub fn phrases(&self) -> Vec<(Range<usize>, &'static [Row])> {
        let bounds = self.bounds();
        let mut found = Vec::new();
        for (number, start) in bounds.iter().copied().enumerate() {
            let ends = bounds.iter().skip(number + 1).copied();
            for end in ends.take_while(|end| end - start <= TABLE.longest) {
                if let Some(rows) = TABLE.rows.get(&self.text[start..end]) {
                    found.push((start..end, rows.as_slice()));
                }
            }
        }
        found
    }

    /// The words, with their ranges.
    pub fn words(&self) -> impl Iterator<Item = (Range<usize>, &str)> {
        let bounds = self.bounds();
        let ranges: Vec<_> = bounds.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let words = ranges.into_iter().map(|range| (range.clone(), &self.text[range]));
        words.filter(|(_, word)| word.starts_with(is_part_of_word))
    }

    /// Where a word may begin or end.
    fn bounds(&self) -> Vec<usize> {
        let befores = once(None).chain(self.text.chars().map(Some));
        let afters = self.text.char_indices().map(|(at, c)| (at, Some(c)));
        let inside = |c: Option<char>| c.is_some_and(is_part_of_word);
        afters
            .chain(once((self.text.len(), None)))
            .zip(befores)
            .filter(|((_, after), before)| !(inside(*before) && inside(*after)))
            .map(|((at, _), _)| at)
            .collect()
    }
}

/// The month that a word in lower case is an inflected name of.
pub(super) fn inflected_month(language: &str, word: &str) -> Option<Row> {
    let (language, algorithm) = INFLECTED.into_iter().find(|(code, _)| *code == language)?;
    TABLE.stems.get(&(language, stem(algorithm, word))).copied()
}

/// Whether a word goes on at a character: not at one of a script without spaces.
fn is_part_of_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_' || c == '-') && !is_unspaced(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_has_one_meaning() {
        let lines = || ROWS.lines().filter(|line| !line.starts_with('#'));
        assert!(lines().all(|line| Row::parse(line).is_some()) && lines().is_sorted());
        for (phrase, rows) in &TABLE.rows {
            let same = |row: &Row| row.number == rows[0].number;
            assert!(rows.iter().all(same), "{phrase}: {rows:?}");
        }
        assert_eq!(TABLE.stems.values().filter(|row| row.languages == "ru").count(), 12);
    }

    #[test]
    fn a_phrase_is_found_as_whole_words_in_the_text_as_it_was() {
        let found = |text: &str| -> Vec<String> {
            let folded = Folded::new(text);
            folded.phrases().iter().map(|(at, _)| text[folded.unfolded(at)].to_owned()).collect()
        };
        assert_eq!(found("übermorgen, geçen ay"), ["übermorgen", "geçen ay"]);
        assert_eq!(found("l’anne\u{301}e dernie\u{300}re!"), ["anne\u{301}e dernie\u{300}re"]);
        assert_eq!(found("我上周一来"), ["上周", "上周一"]);
        assert_eq!(found("15月"), [""; 0], "not a month");
        assert_eq!(found("gestern_x vorgesterns avant-hier"), ["avant-hier"]);
    }
}
