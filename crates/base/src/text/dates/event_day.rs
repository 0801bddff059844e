//! The day of the event that a stored text names: "2026-04-24: …", "Incident 22 April 2026: …". Pure.
//!
//! English and ISO dates with a year. A deadline, a birthday, the end of a validity and a date in a file name are not the
//! day of an event, nor is one in code. Not here: dates in a query (`calendar`), a day without a year alone.

use crate::text::dates::calendar;
use crate::text::dates::calendar::CalendarDate;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// The first letters of the months.
const MONTHS: &str = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
/// A date at the beginning of a text or of a line, as in a log: "2026-04-24: …", "- 24 April 2026 – …".
static LINE_DATE: LazyLock<Regex> = LazyLock::new(|| {
    let iso = r"20\d\d-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?z?)?";
    let day = r"\d{1,2}(?:st|nd|rd|th)?";
    let written = format!(
        r"{day}(?: of)? (?:{MONTHS})[a-z]*\.?,? 20\d\d|(?:{MONTHS})[a-z]*\.? {day},? 20\d\d"
    );
    Regex::new(&format!(r"(?m)^[\s*#>\[(_-]*({iso}|{written})[\])*_]*(?::| [–—-] |\] )"))
        .expect("the pattern compiles")
});
/// Words right before a date that is not the day of an event.
static OTHER_ROLE_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    let words =
        "by|until|till|til|before|after|since|from|to|through|than|between|starting|version|v";
    Regex::new(&format!(r"\b(?:{words})(?: (?:the|on|about|end of))*[ :(]*$"))
        .expect("the pattern compiles")
});
/// Names of a date that is not the day of an event, some words before it.
const OTHER_ROLES: &str =
    "deadline|due|valid|validity|born|effective|scheduled|planned|end|ends|ending|delivery";
/// Beginnings of such names: "expires", "birthday", "renewal", "targeted".
const OTHER_ROLE_STEMS: &str = "expire|expira|expiri|expiry|birth|renew|target";
/// Maximum number of words between the name and the date.
const MAX_WORDS_BETWEEN: usize = 6;
/// Words after a date that is not the day of an event, and the second date of a range.
static OTHER_ROLE_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    let date =
        format!(r"(?:20\d\d-\d\d|\d{{1,2}}(?:st|nd|rd|th)? (?:{MONTHS})|(?:{MONTHS})[a-z]*\.? \d)");
    Regex::new(&format!(
        r"^[\])*_]*,? ?(?:(?:is|was|as) (?:the |a |her |his |their |our |\w+'s )?(?:new |final )?(?:deadline|due|birthday|birth date|last day|expiry)|deadline|due\b|(?:to|until|till|through|[–—-]|\.\.\.?) ?{date})"
    ))
    .expect("the pattern compiles")
});
/// The beginning of a range or a list before its last date: "3 to 7 May 2026", "3 and 7 May 2026".
static RANGE_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\d(?:st|nd|rd|th)?(?: (?:to|and|or|until|through)|,|[ ]?[–—-]|\.\.\.?)[ ]?$")
        .expect("the pattern compiles")
});

/// Returns the day of the event that a text names, in days since 0001-01-01 (day 1). A date at the
/// beginning of a line decides; otherwise the only day that the text names as that of an event.
pub fn of(text: &str) -> Option<i32> {
    if !has_year(text) {
        return None;
    }
    let text = separate_time(text.to_ascii_lowercase());
    let dates = calendar::parse(&text);
    let at_line_start: Vec<Range<usize>> =
        LINE_DATE.captures_iter(&text).filter_map(|found| Some(found.get(1)?.range())).collect();
    let in_header = |range: &Range<usize>| {
        at_line_start.iter().any(|line| line.start <= range.start && range.end <= line.end)
    };
    let (headers, others): (Vec<_>, Vec<_>) =
        dates.into_iter().partition(|(range, _)| in_header(range));
    // Only a text that begins with a date is an entry of a log.
    let starts_with_date = at_line_start.first().is_some_and(|range| {
        !text[..range.start].contains(char::is_alphanumeric)
            && !OTHER_ROLE_AFTER.is_match(&text[range.end..])
    });
    if starts_with_date {
        return only_day(headers.iter().map(|(_, date)| *date));
    }
    let is_event = |(range, _): &&(Range<usize>, CalendarDate)| is_event_date(&text, range);
    only_day(headers.iter().chain(&others).filter(is_event).map(|(_, date)| *date))
}

/// Returns a text without the date at its beginning, if that is this day.
pub fn without_date(text: &str, day: i32) -> &str {
    let lower = separate_time(text.to_ascii_lowercase());
    let Some(found) = LINE_DATE.captures(&lower) else { return text };
    let (whole, date) = (found.get(0).map_or(0..0, |whole| whole.range()), &found[1]);
    let is_leading = !lower[..whole.start].contains(|c: char| !c.is_whitespace());
    let is_this_day =
        only_day(calendar::parse(date).into_iter().map(|(_, date)| date)) == Some(day);
    let rest = text[whole.end..].trim_start_matches([' ', '*', ':']);
    if is_leading && is_this_day && !rest.is_empty() { rest } else { text }
}

/// Replaces the "t" between a date and a time (RFC 3339) with a space.
fn separate_time(mut text: String) -> String {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let is_separator = |at: &usize| {
        let bytes = text.as_bytes();
        is_digit(at.checked_sub(1).and_then(|before| bytes.get(before)))
            && is_digit(bytes.get(at + 1))
            && bytes.get(at + 3) == Some(&b':')
    };
    let found: Vec<usize> =
        text.match_indices('t').map(|(at, _)| at).filter(is_separator).collect();
    for at in found {
        text.replace_range(at..=at, " ");
    }
    text
}

/// Returns whether a text has four digits that begin with 20: a cheap test that most texts fail.
fn has_year(text: &str) -> bool {
    text.as_bytes()
        .windows(4)
        .any(|four| four.starts_with(b"20") && four[2].is_ascii_digit() && four[3].is_ascii_digit())
}

/// Returns the day if all dates with a day are that one, and at least one has a year.
fn only_day(dates: impl Iterator<Item = CalendarDate>) -> Option<i32> {
    let dates: Vec<CalendarDate> = dates.filter(|date| date.has_day()).collect();
    let year = dates.iter().find_map(|date| date.year)?;
    let mut days = dates.iter().map(|date| date.in_year(date.year.unwrap_or(year)));
    let first = days.next()??;
    days.all(|day| day == Some(first)).then_some(first.first)
}

/// Returns whether a date in the middle of a text may be that of its event.
fn is_event_date(text: &str, range: &Range<usize>) -> bool {
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let is_part_of_name = before.ends_with(|c: char| c.is_alphanumeric() || "-_/.=@".contains(c))
        || after.starts_with(['-', '_', '/'])
        || after.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    let sentence = before.rfind(['.', ';', '!', '?', '\n']).map_or(before, |at| &before[at + 1..]);
    !is_part_of_name
        && !is_in_code(before, after)
        && !OTHER_ROLE_BEFORE.is_match(sentence)
        && !names_other_role(sentence)
        && !RANGE_BEFORE.is_match(sentence)
        && !OTHER_ROLE_AFTER.is_match(after)
}

/// Returns whether a text before a date names another role of it, as in "the deadline for the report is". A pattern of this repeats the
/// hundreds of ranges of `\w`, and took two thirds of the CPU of a start.
fn names_other_role(before: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let ends_in_role = |word: &&str| {
        let name = word.rsplit(|c| !is_word(c)).next().unwrap_or(word);
        OTHER_ROLES.split('|').any(|role| name == role)
            || OTHER_ROLE_STEMS.split('|').any(|stem| name.starts_with(stem))
    };
    let is_plain = |word: &&str| word.chars().all(|c| is_word(c) || c == '\'');
    let words = before.trim_end_matches([' ', ':', '(']).rsplit([' ', ':']);
    let mut nearest = words.filter(|word| !word.is_empty()).take(MAX_WORDS_BETWEEN + 1);
    nearest.find(|word| ends_in_role(word) || !is_plain(word)).is_some_and(|it| ends_in_role(&it))
}

/// Returns whether a date is between two backticks of a line, or the value of an option as in "--day 2026-11-02".
fn is_in_code(before: &str, after: &str) -> bool {
    let line = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
    let rest = after.find('\n').map_or(after, |at| &after[..at]);
    let is_span = line.matches('`').count() % 2 == 1 && rest.contains('`');
    let mut words = line.split_whitespace().rev();
    let is_value = line.ends_with(' ')
        && words.next().is_some_and(|word| {
            word.strip_prefix('-').is_some_and(|name| name.contains(char::is_alphabetic))
        });
    is_span || is_value
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::{Datelike, NaiveDate};
    use proptest::prelude::*;

    fn day(text: &str) -> Option<String> {
        let date = NaiveDate::from_num_days_from_ce_opt(of(text)?)?;
        Some(format!("{}-{:02}-{:02}", date.year(), date.month(), date.day()))
    }

    #[test]
    fn the_day_of_an_event_is_found() {
        for (text, expected) in [
            ("2026-04-24: rolled back release 12", "2026-04-24"),
            (
                "2026-04-24 09:30: rolled back release 12, the retry is due on 2026-04-27",
                "2026-04-24",
            ),
            ("- **2026-04-24** – moved the deadline to 3 May 2026", "2026-04-24"),
            ("[2026-04-24] moved the deadline to 3 May", "2026-04-24"),
            ("24 April 2026: the cache was full", "2026-04-24"),
            ("Incident 22 April 2026: the queue stopped", "2026-04-22"),
            ("Incident of April 22nd, 2026: the queue stopped", "2026-04-22"),
            ("Decision (2026-04-22): keep Postgres", "2026-04-22"),
            ("on 14 October 2026 we extended the deadline", "2026-10-14"),
            (
                "On 14 October 2026 we moved the office, and the party was on 14 October too",
                "2026-10-14",
            ),
            ("We met Rosa on 14 Oct 2026.", "2026-10-14"),
            ("2026-05-03 - 3 servers failed", "2026-05-03"),
            ("The backup was validated on 3 May 2026", "2026-05-03"),
            ("The audit took place on 2026-03-05. The report is due by 2026-04-01.", "2026-03-05"),
            ("On 2026-03-05 `make load` failed and `make seed` mended it", "2026-03-05"),
            ("Incident - 2026-03-05: the disk was full", "2026-03-05"),
            ("Postmortem 2026-03-05T10:00: the disk was full", "2026-03-05"),
        ] {
            assert_eq!(day(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn the_date_at_the_beginning_is_removed_if_it_is_the_day() {
        let day = of("2026-04-24: x").expect("the text names a day");
        for text in [
            "2026-04-24: It broke.",
            "[2026-04-24 10:00] It broke.",
            "- **24 April 2026** – It broke.",
        ] {
            assert_eq!(without_date(text, day), "It broke.");
            assert_eq!(without_date(text, day + 1), text);
        }
        assert_eq!(without_date("It broke on 2026-04-24.", day), "It broke on 2026-04-24.");
    }

    #[test]
    fn another_date_is_not_the_day_of_an_event() {
        for text in [
            "Send the report by 3 May 2026",
            "The report is due on 3 May 2026",
            "Deadline: 3 May 2026",
            "The deadline for the tax report is 3 May 2026",
            "The deadline for Zoë's résumé is 3 May 2026",
            "Termin: birthday für Jürgen 3 May 2026",
            "3 May 2026 is the deadline of the grant",
            "The pass is valid from 1 May 2026 to 3 June 2026",
            "The licence is valid until 2026-05-03",
            "The certificate expires on 2026-05-03",
            "Anna was born on 3 May 2006",
            "Anna's birthday is 3 May 2006",
            "The conference runs from 3 to 7 May 2026",
            "The conference is on 3-7 May 2026",
            "2026-05-03 - 2026-05-07: conference",
            "The launch is planned for 14 October 2026",
            "Moved from 3 May 2026 to 5 May 2026",
            "We met on 2026-05-03 and on 2026-05-08",
            "2026-05-03: released\n2026-05-08: rolled back",
            "On 3 May 2026 it broke, on 4 May it was repaired",
            "Restored from backup-2026-05-03.db",
            "See https://example.org/2026-05-03/report",
            "Since 2026-05-03 the office is in Ghent",
            "We pin API version 2024-06-01",
            "In May 2026 we moved",
            "Backfill: `run --range 2026-01-01...2026-01-31`",
            "Backfill 2026-02-01..2026-02-28 again",
            "On 3 May we moved",
            "On 31 February 2026 nothing happened",
            "Port 2049 is open, 2026 too",
            "`go run ./cmd/load --day 2026-11-02` failed with: no such table",
            "Load one day again: go run ./cmd/load --day 2026-11-02",
            "`seed 3 May 2026` fills the table",
            "",
        ] {
            assert_eq!(day(text), None, "{text}");
        }
    }

    /// The whole rule as a pattern.
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
        let names = r"deadline|due|expir\w+|expiry|valid|validity|birth\w*|born|effective|scheduled|planned|renew\w*|ends?|ending|target\w*|delivery";
        Regex::new(&format!(r"\b(?:{names})(?:[ :]+[\w']+){{0,6}}[ :(]*$"))
            .expect("the pattern compiles")
    });

    /// Words that name another role, parts of them, and what stands between words.
    const WORDS: &str = "deadline due expir expires expiry birthday birth born renewal target end ends redeadline re-due due- it's der \
        für “due” (due due) 5 x_y 中 , –";

    proptest! {
        #[test]
        fn another_role_is_named_where_the_pattern_says_so(
            words in prop::collection::vec(prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>()), 0..10),
            gaps in prop::collection::vec("[ :(]{1,2}", 10),
        ) {
            let text: String = words.iter().zip(&gaps).flat_map(|(word, gap)| [*word, gap]).collect();
            prop_assert_eq!(names_other_role(&text), PATTERN.is_match(&text), "{:?}", text);
        }
    }
}
