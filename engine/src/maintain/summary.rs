//! The extractive summary: chooses the sentences of a cluster that cover most of it without
//! repetition. Pure.
//!
//! Sentences are taken whole, with their dates; left-out memories are counted, and their text stays
//! in the originals. Not here: where sentences and vectors come from (`compact`).

use crate::model::encoding::Embedding;
use crate::model::time::{Timestamp, moment_of};
use unicode_segmentation::UnicodeSegmentation;

/// Longest summary in characters: one chunk of the model in nearly every language, so that one
/// vector represents all of it.
pub(crate) const MAX_SUMMARY_CHARS: usize = 1000;
/// Longest sentence in characters that is quoted whole; a longer one is cut at a word, and used
/// only if its memory has no shorter one.
const MAX_SENTENCE_CHARS: usize = 280;
/// Maximum candidate sentences of one cluster.
pub(crate) const MAX_SENTENCES: usize = 256;
/// Above this cosine the second of two sentences is left out as a repetition.
const MAX_SENTENCE_COSINE: f32 = 0.85;
/// Weight of centrality against difference from the chosen sentences.
const CENTRALITY_WEIGHT: f32 = 0.7;

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

/// Splits a text into trimmed sentences; at most `most`, evenly spread.
pub(crate) fn sentences(text: &str, most: usize) -> Vec<String> {
    let lines = text.lines().flat_map(UnicodeSegmentation::unicode_sentences);
    let all: Vec<String> = lines
        .map(|sentence| sentence.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|s| !s.is_empty())
        .collect();
    if all.len() <= most {
        return all;
    }
    (0..most).map(|i| all[i * all.len() / most].clone()).collect()
}

/// The text of a summary, and the members it quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SummaryText {
    pub text: String,
    /// For each line the index of the quoted member.
    pub quoted: Vec<usize>,
}

/// Parses the date and text of a line of an extractive summary; `None` for its closing line.
pub(crate) fn parse_line(line: &str) -> Option<(Timestamp, &str)> {
    let (date, said) = line.split_once(": ")?;
    Some((moment_of(date)?, said))
}

/// Writes the summary of a cluster.
pub(crate) fn write(members: Members, sentences: &[Sentence]) -> SummaryText {
    let mut chosen = choose(members, sentences);
    chosen.sort_by_key(|i| (sentences[*i].at, sentences[*i].member, *i));
    let lines: Vec<String> = chosen.iter().map(|i| line(&sentences[*i])).collect();
    let quoted: Vec<usize> = chosen.iter().map(|i| sentences[*i].member).collect();
    let mut heard = quoted.clone();
    heard.sort_unstable();
    heard.dedup();
    SummaryText {
        text: format!("{}\n{}", lines.join("\n"), members.ending(members.count - heard.len())),
        quoted,
    }
}

/// The members of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Members {
    /// Their number.
    pub count: usize,
    /// `memories` or `summaries`.
    pub named: &'static str,
}

impl Members {
    fn ending(self, left_out: usize) -> String {
        let Self { count, named } = self;
        match left_out {
            0 => format!("(From {count} {named}; source_ids names them.)"),
            left => format!(
                "(From {count} {named}; {left} of them are not quoted. source_ids names all.)"
            ),
        }
    }
}

fn line(sentence: &Sentence) -> String {
    format!("{}: {}", sentence.at.date(), cut(&sentence.text))
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
    let word = head.rfind(' ').filter(|at| *at > head.len() / 2).unwrap_or(head.len());
    format!("{} …", &head[..word])
}

/// Maximal marginal relevance: first the most central sentence, then central ones that differ from
/// all chosen, while they fit.
fn choose(members: Members, sentences: &[Sentence]) -> Vec<usize> {
    let directions: Vec<Option<Embedding>> =
        sentences.iter().map(|sentence| sentence.vector.clone()).collect();
    let known = directions.iter().flatten().count();
    let centre = super::topics::centre(&directions, &(0..directions.len()).collect::<Vec<_>>());
    let centrality: Vec<f32> = directions
        .iter()
        .enumerate()
        .map(|(i, direction)| match (direction, &centre) {
            (Some(direction), Some(centre)) => direction.cosine(centre),
            // Without vectors the first sentence of each memory comes first.
            _ if known == 0 => {
                -(sentences[..i].iter().filter(|s| s.member == sentences[i].member).count() as f32)
            }
            _ => 0.0,
        })
        .collect();
    let mut room = MAX_SUMMARY_CHARS - members.ending(members.count).chars().count();
    let mut nearest = vec![-1.0_f32; sentences.len()];
    let mut open: Vec<usize> = (0..sentences.len()).collect();
    let mut chosen: Vec<usize> = Vec::new();
    loop {
        open.retain(|i| {
            let again = chosen.iter().any(|c| sentences[*c].text == sentences[*i].text);
            nearest[*i] <= MAX_SENTENCE_COSINE
                && !again
                && line(&sentences[*i]).chars().count() < room
        });
        // A second sentence of a memory waits until every memory with other content has had one.
        let said = |i: usize| chosen.iter().any(|c| sentences[*c].member == sentences[i].member);
        let worth = |i: usize| {
            CENTRALITY_WEIGHT * centrality[i]
                - (1.0 - CENTRALITY_WEIGHT) * nearest[i].max(0.0)
                - if said(i) { 0.2 } else { 0.0 }
        };
        let long = |i: usize| sentences[i].text.chars().count() > MAX_SENTENCE_CHARS;
        let best = open.iter().copied().max_by(|a, b| {
            long(*b).cmp(&long(*a)).then(worth(*a).total_cmp(&worth(*b))).then(b.cmp(a))
        });
        let Some(best) = best else { return chosen };
        room -= line(&sentences[best]).chars().count() + 1;
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
    use crate::tests::fixture::{T0, axis, leaning};
    use proptest::prelude::*;

    /// A sentence of a member; member `n` was stored `n` days after the first.
    fn sentence(member: usize, text: &str, vector: Option<Embedding>) -> Sentence {
        Sentence {
            member,
            at: T0.plus(i64::try_from(member).expect("are few") * DAY),
            text: text.to_owned(),
            vector,
        }
    }

    fn of(count: usize) -> Members {
        Members { count, named: "memories" }
    }

    #[test]
    fn the_most_central_sentences_that_differ_are_quoted_with_their_dates() {
        let all = [
            sentence(0, "The mail gateway was slow.", Some(leaning(0, 1, 0.9))),
            sentence(1, "The mail gateway has been slow.", Some(leaning(0, 1, 0.91))),
            sentence(2, "Bruno found a full disk behind it.", Some(leaning(0, 2, 0.7))),
        ];
        let written = write(of(3), &all);
        let expected = "2026-02-02: The mail gateway has been slow.\n2026-02-03: Bruno found a full disk behind it.\n\
                        (From 3 memories; 1 of them are not quoted. source_ids names all.)";
        assert_eq!(written, SummaryText { text: expected.to_owned(), quoted: vec![1, 2] });
    }

    #[test]
    fn without_vectors_the_first_sentences_are_quoted() {
        let written = write(
            of(2),
            &[sentence(0, "One.", None), sentence(0, "Two.", None), sentence(1, "Three.", None)],
        );
        assert!(
            written.text.starts_with("2026-02-01: One.\n2026-02-01: Two.\n2026-02-02: Three.\n"),
            "{}",
            written.text
        );
    }

    #[test]
    fn a_very_long_sentence_is_cut_at_a_word_and_says_so() {
        let long = "word ".repeat(200);
        let text = write(of(1), &[sentence(0, long.trim(), Some(axis(0)))]).text;
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
        /// Whatever the input, the summary is bounded, quotes something, and never quotes a line
        /// twice.
        #[test]
        fn a_summary_is_bounded(lengths in proptest::collection::vec(1_usize..600, 1..60)) {
            let all: Vec<Sentence> =
                lengths.iter().enumerate().map(|(i, n)| sentence(i, &format!("{i} {}", "é".repeat(*n)), Some(leaning(0, 1 + i, 0.6)))).collect();
            let written = write(of(lengths.len()), &all);
            prop_assert!(written.text.chars().count() <= MAX_SUMMARY_CHARS, "{}", written.text.chars().count());
            prop_assert!(!written.quoted.is_empty());
            let mut once = written.quoted.clone();
            once.dedup();
            prop_assert_eq!(once, written.quoted);
        }
    }
}
