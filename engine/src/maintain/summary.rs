//! The extractive summary: chooses the sentences of a cluster that cover most of it without
//! repetition. Pure.
//!
//! Sentences are quoted whole, each date is written once; the closing line counts the memories that
//! are not quoted. Not here: reading sentences and vectors (`compact`).

use crate::maintain::salience;
use crate::model::encoding::Embedding;
use crate::model::time::{Timestamp, moment_of};
use unicode_segmentation::UnicodeSegmentation;

/// Maximum length of a summary in characters: one chunk of the model in nearly every language, so
/// that one vector represents the whole text.
pub(crate) const MAX_SUMMARY_CHARS: usize = 1000;
/// Maximum length of a quoted sentence in characters. A longer one is cut at a word, and is chosen
/// only if no shorter one is left.
const MAX_SENTENCE_CHARS: usize = 280;
/// Maximum candidate sentences of one cluster.
pub(crate) const MAX_SENTENCES: usize = 256;
/// Above this cosine the second of two sentences is left out as a repetition.
const MAX_SENTENCE_COSINE: f32 = 0.85;
/// Weight of centrality against difference from the chosen sentences.
const CENTRALITY_WEIGHT: f32 = 0.7;
/// Subtracted from the score of a sentence whose memory is already quoted.
const QUOTED_MEMBER_PENALTY: f32 = 0.2;

/// A sentence of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Sentence {
    /// Index of its memory in the cluster.
    pub(crate) member: usize,
    /// Time of its memory.
    pub(crate) at: Timestamp,
    /// Its text.
    pub text: String,
    /// Its vector; `None` while it is not computed, or without a model.
    pub vector: Option<Embedding>,
}

/// Splits a text into trimmed sentences. Returns at most `limit` of them, evenly spread.
pub(crate) fn sentences(text: &str, limit: usize) -> Vec<String> {
    let lines = text.lines().flat_map(UnicodeSegmentation::unicode_sentences);
    let all: Vec<String> = lines
        .map(|sentence| sentence.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|s| !s.is_empty())
        .collect();
    if all.len() <= limit {
        return all;
    }
    (0..limit).map(|i| all[i * all.len() / limit].clone()).collect()
}

/// The text of a summary, and the members it quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SummaryText {
    pub text: String,
    /// For each line the index of the quoted member.
    pub quoted: Vec<usize>,
}

/// A quoted sentence of an extractive summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Quote {
    /// The number of its line.
    pub number: usize,
    /// Its date.
    pub at: Timestamp,
    /// The sentence.
    pub text: String,
}

impl Quote {
    /// Returns whether two lines quote the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.at == other.at && self.text == other.text
    }
}

/// Begins a line that has the date of the line before it.
const SAME_DATE: &str = "- ";

/// Parses the lines of an extractive summary, without its closing line. A line without a date has
/// that of the line before it.
pub(crate) fn parse_quotes(content: &str) -> Vec<Quote> {
    let (mut quotes, mut last) = (Vec::new(), None);
    for (number, line) in content.lines().enumerate() {
        let dated = line.split_once(": ").and_then(|(date, text)| Some((moment_of(date)?, text)));
        let same_date = || Some((last?, line.strip_prefix(SAME_DATE)?));
        if let Some((at, text)) = dated.or_else(same_date) {
            last = Some(at);
            quotes.push(Quote { number, at, text: text.to_owned() });
        }
    }
    quotes
}

/// Writes lines with their dates; a date that several lines have is written once.
pub(crate) fn lines<'a>(quotes: impl Iterator<Item = (Timestamp, &'a str)>) -> Vec<String> {
    let mut last = None;
    let line = |(at, text): (Timestamp, &str)| {
        let date = at.date();
        let is_same = last.as_ref() == Some(&date);
        let line = if is_same { format!("{SAME_DATE}{text}") } else { format!("{date}: {text}") };
        last = Some(date);
        line
    };
    quotes.map(line).collect()
}

/// Writes the summary of a cluster.
pub(crate) fn write(members: Members, sentences: &[Sentence]) -> SummaryText {
    let mut chosen = choose(members, sentences);
    chosen.sort_by_key(|i| (sentences[*i].at, sentences[*i].member, *i));
    let texts: Vec<String> = chosen.iter().map(|i| cut(&sentences[*i].text)).collect();
    let lines = lines(chosen.iter().zip(&texts).map(|(i, text)| (sentences[*i].at, text.as_str())));
    let quoted: Vec<usize> = chosen.iter().map(|i| sentences[*i].member).collect();
    let mut quoted_members = quoted.clone();
    quoted_members.sort_unstable();
    quoted_members.dedup();
    SummaryText {
        text: format!(
            "{}\n{}",
            lines.join("\n"),
            members.closing_line(members.count - quoted_members.len())
        ),
        quoted,
    }
}

/// The members of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Members {
    /// Their number.
    pub count: usize,
    /// `memories` or `summaries`.
    pub noun: &'static str,
}

impl Members {
    /// Returns the last line of a summary that does not quote `unquoted` of its members.
    fn closing_line(self, unquoted: usize) -> String {
        let Self { count, noun } = self;
        match unquoted {
            0 => format!("(From {count} {noun}.)"),
            unquoted => format!("(From {count} {noun}; {unquoted} not quoted.)"),
        }
    }
}

/// Returns the number of characters that a sentence takes in a summary that has the chosen ones.
fn line_chars(sentences: &[Sentence], chosen: &[usize], i: usize) -> usize {
    let date = sentences[i].at.date();
    let has_date = chosen.iter().any(|c| sentences[*c].at.date() == date);
    let before = if has_date { SAME_DATE.len() } else { date.len() + 2 };
    before + cut(&sentences[i].text).chars().count()
}

/// Returns a sentence of at most [`MAX_SENTENCE_CHARS`] characters, cut at a word if needed.
fn cut(text: &str) -> String {
    if text.chars().count() <= MAX_SENTENCE_CHARS {
        return text.to_owned();
    }
    let mut end = 0;
    let mut chars = 0;
    for (start, grapheme) in text.grapheme_indices(true) {
        chars += grapheme.chars().count();
        if chars > MAX_SENTENCE_CHARS - 2 {
            break;
        }
        end = start + grapheme.len();
    }
    let head = &text[..end];
    let word_end = head.rfind(' ').filter(|at| *at > head.len() / 2).unwrap_or(head.len());
    format!("{} …", &head[..word_end])
}

/// Chooses sentences by maximal marginal relevance: first the most central one, then central ones
/// that differ from all chosen ones, while they fit. Decisions, causes, fixes and changed values
/// come before all others. Returns their indices.
fn choose(members: Members, sentences: &[Sentence]) -> Vec<usize> {
    let directions: Vec<Option<Embedding>> =
        sentences.iter().map(|sentence| sentence.vector.clone()).collect();
    let with_vector = directions.iter().flatten().count();
    let centre = super::topics::centre(&directions, &(0..directions.len()).collect::<Vec<_>>());
    let centrality: Vec<f32> = directions
        .iter()
        .enumerate()
        .map(|(i, direction)| match (direction, &centre) {
            (Some(direction), Some(centre)) => direction.cosine(centre),
            // Without vectors the first sentence of each memory comes first.
            _ if with_vector == 0 => {
                -(sentences[..i].iter().filter(|s| s.member == sentences[i].member).count() as f32)
            }
            _ => 0.0,
        })
        .collect();
    let is_salient: Vec<bool> =
        sentences.iter().map(|sentence| salience::is_salient(&sentence.text)).collect();
    let mut remaining_chars =
        MAX_SUMMARY_CHARS - members.closing_line(members.count).chars().count();
    let mut nearest = vec![-1.0_f32; sentences.len()];
    let mut open: Vec<usize> = (0..sentences.len()).collect();
    let mut chosen: Vec<usize> = Vec::new();
    loop {
        open.retain(|i| {
            let is_repeated = chosen.iter().any(|c| sentences[*c].text == sentences[*i].text);
            nearest[*i] <= MAX_SENTENCE_COSINE
                && !is_repeated
                && line_chars(sentences, &chosen, *i) < remaining_chars
        });
        // A second sentence of a memory must be better than those of unquoted memories by the
        // penalty.
        let is_quoted =
            |i: usize| chosen.iter().any(|c| sentences[*c].member == sentences[i].member);
        let score = |i: usize| {
            CENTRALITY_WEIGHT * centrality[i]
                - (1.0 - CENTRALITY_WEIGHT) * nearest[i].max(0.0)
                - if is_quoted(i) { QUOTED_MEMBER_PENALTY } else { 0.0 }
        };
        let is_long = |i: usize| sentences[i].text.chars().count() > MAX_SENTENCE_CHARS;
        let best = open.iter().copied().max_by(|a, b| {
            is_long(*b)
                .cmp(&is_long(*a))
                .then(is_salient[*a].cmp(&is_salient[*b]))
                .then(score(*a).total_cmp(&score(*b)))
                .then(b.cmp(a))
        });
        let Some(best) = best else { return chosen };
        remaining_chars -= line_chars(sentences, &chosen, best) + 1;
        chosen.push(best);
        open.retain(|i| *i != best);
        for i in &open {
            if let (Some(x), Some(y)) = (&directions[*i], &directions[best]) {
                nearest[*i] = nearest[*i].max(x.cosine(y));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::DAY;
    use crate::tests::fixture::{T0, axis, between_axes};
    use proptest::prelude::*;

    /// A sentence of a member; member `n` was stored `n` days after the first.
    fn sentence(member: usize, text: &str, vector: Option<Embedding>) -> Sentence {
        Sentence {
            member,
            at: T0.plus(i64::try_from(member).expect("the number of members is small") * DAY),
            text: text.to_owned(),
            vector,
        }
    }

    fn memories(count: usize) -> Members {
        Members { count, noun: "memories" }
    }

    #[test]
    fn the_most_central_sentences_that_differ_are_quoted_with_their_dates() {
        let all = [
            sentence(0, "The mail gateway was slow.", Some(between_axes(0, 1, 0.9))),
            sentence(1, "The mail gateway has been slow.", Some(between_axes(0, 1, 0.91))),
            sentence(2, "Bruno found a full disk behind it.", Some(between_axes(0, 2, 0.7))),
        ];
        let written = write(memories(3), &all);
        let expected = "2026-02-02: The mail gateway has been slow.\n2026-02-03: Bruno found a full disk behind it.\n\
                        (From 3 memories; 1 not quoted.)";
        assert_eq!(written, SummaryText { text: expected.to_owned(), quoted: vec![1, 2] });
    }

    #[test]
    fn without_vectors_the_first_sentences_are_quoted() {
        let written = write(
            memories(2),
            &[sentence(0, "One.", None), sentence(0, "Two.", None), sentence(1, "Three.", None)],
        );
        assert!(
            written.text.starts_with("2026-02-01: One.\n- Two.\n2026-02-02: Three.\n"),
            "{}",
            written.text
        );
    }

    #[test]
    fn decisions_causes_and_fixes_come_before_routine() {
        let mut all = vec![sentence(0, "We decided to keep Postgres.", Some(axis(9)))];
        for member in 1..30 {
            let text =
                format!("Number {member} had the daily meeting and wrote down what comes next.");
            all.push(sentence(member, &text, Some(between_axes(0, member, 0.8))));
        }
        all.push(sentence(30, "The outage was caused by a full disk.", Some(axis(8))));
        all.push(sentence(31, "The limit was raised from 100 to 250.", Some(axis(7))));
        let text = write(memories(32), &all).text;
        for kept in ["decided to keep", "caused by a full disk", "from 100 to 250"] {
            assert!(text.contains(kept), "{kept}: {text}");
        }
        assert!(text.contains("Number"), "routine fills the rest: {text}");
    }

    #[test]
    fn a_date_is_written_once_and_parsed_for_every_line() {
        let day = T0.plus(DAY);
        let written = lines([(T0, "One: a."), (T0, "Two."), (day, "- Three.")].into_iter());
        assert_eq!(written, ["2026-02-01: One: a.", "- Two.", "2026-02-02: - Three."]);
        let content = format!("{}\n(From 3 memories.)", written.join("\n"));
        let quote = |number: usize, at, text: &str| Quote { number, at, text: text.to_owned() };
        assert_eq!(
            parse_quotes(&content),
            [quote(0, T0, "One: a."), quote(1, T0, "Two."), quote(2, day, "- Three.")]
        );
        let earlier =
            "2026-02-01: One.\n2026-02-01: Two.\n(From 2 memories; source_ids names them.)";
        assert_eq!(parse_quotes(earlier), [quote(0, T0, "One."), quote(1, T0, "Two.")]);
    }

    #[test]
    fn a_very_long_sentence_is_cut_at_a_word_and_ends_with_an_ellipsis() {
        let long = "word ".repeat(200);
        let text = write(memories(1), &[sentence(0, long.trim(), Some(axis(0)))]).text;
        assert!(
            text.lines()
                .next()
                .is_some_and(|line| line.ends_with("word …") && line.chars().count() <= 292),
            "{text}"
        );
    }

    #[test]
    fn a_text_is_split_into_sentences() {
        assert_eq!(
            sentences("It broke. We mended it!\n\nThen   lunch", 9),
            ["It broke.", "We mended it!", "Then lunch"]
        );
        assert_eq!(sentences("A. B. C. D. E. F.", 3).len(), 3);
    }

    proptest! {
        /// For any input, the summary has a bounded length, quotes at least one line, and quotes no
        /// line twice.
        #[test]
        fn a_summary_is_bounded(lengths in proptest::collection::vec(1_usize..600, 1..60)) {
            let all: Vec<Sentence> =
                lengths.iter().enumerate().map(|(i, n)| sentence(i, &format!("{i} {}", "é".repeat(*n)), Some(between_axes(0, 1 + i, 0.6)))).collect();
            let written = write(memories(lengths.len()), &all);
            prop_assert!(written.text.chars().count() <= MAX_SUMMARY_CHARS, "{}", written.text.chars().count());
            prop_assert!(!written.quoted.is_empty());
            let mut distinct = written.quoted.clone();
            distinct.dedup();
            prop_assert_eq!(distinct, written.quoted);
        }
    }
}
