//! Chooses the part of a text that a row shows: the passage with the searched words, or the beginning. Also finds those words, so that they
//! can be marked.
//!
//! Not here: how memories are found; a memory found by meaning may contain none of the words, and then shows its beginning.

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Words that say nothing about a text.
const STOP_WORDS: [&str; 54] = [
    "about", "all", "and", "any", "are", "ask", "but", "can", "did", "do", "does", "for", "from",
    "get", "had", "has", "have", "her", "his", "how", "into", "its", "just", "list", "may", "not",
    "off", "our", "out", "she", "should", "that", "the", "their", "them", "there", "they", "this",
    "use", "was", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would",
    "you", "your", "is", "it",
];
/// Shortest beginning by which two words count as the same, as `deploy` and `deployed`.
const MIN_STEM_CHARS: usize = 4;

/// The words of a query.
#[derive(Debug, Clone, Default)]
pub struct Terms(Vec<String>);

impl Terms {
    /// Returns the words of a query that say something.
    #[must_use]
    pub fn of_query(query: &str) -> Self {
        let words = query.unicode_words().map(str::to_lowercase);
        let says_something = |word: &String| {
            (word.chars().count() > 1 || !word.is_ascii()) && !STOP_WORDS.contains(&word.as_str())
        };
        Self(words.filter(says_something).collect())
    }

    /// Returns the words of `text` that match, in order: the byte range and the number of the term.
    fn matches(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut found = Vec::new();
        for (at, word) in text.unicode_word_indices() {
            let folded = word.to_lowercase();
            let matching = self.0.iter().position(|term| is_same_word(term, &folded));
            found.extend(matching.map(|term| (at..at + word.len(), term)));
        }
        found
    }

    /// Returns the byte ranges of the words of `text` that match.
    #[must_use]
    pub fn ranges(&self, text: &str) -> Vec<Range<usize>> {
        self.matches(text).into_iter().map(|(range, _)| range).collect()
    }
}

fn is_same_word(term: &str, word: &str) -> bool {
    if term == word {
        return true;
    }
    let (short, long) = if term.len() < word.len() { (term, word) } else { (word, term) };
    let stem = short.strip_suffix(['e', 's', 'y']).unwrap_or(short);
    let rest = long.chars().count() - stem.chars().count().min(long.chars().count());
    stem.chars().count() >= MIN_STEM_CHARS && long.starts_with(stem) && rest <= 4
}

/// Returns at most `width` columns of a text without line breaks: the part in which most of the searched words are, else the beginning. `…`
/// marks where it was cut.
#[must_use]
pub fn passage(text: &str, terms: &Terms, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let start = best_start(text, terms, width);
    let lead = if start > 0 { "… " } else { "" };
    let room = width.saturating_sub(lead.width() + 2);
    let mut end = start;
    for (at, word) in text[start..].split_word_bound_indices() {
        let next = start + at + word.len();
        if text[start..next].trim_end().width() > room {
            break;
        }
        end = next;
    }
    if end == start {
        // One word that is wider than the room.
        let mut graphemes = text[start..].grapheme_indices(true);
        end = graphemes
            .find(|(at, _)| text[start..start + at].width() >= room)
            .map_or(text.len(), |(at, _)| start + at);
    }
    let tail = if end < text.len() { " …" } else { "" };
    format!("{lead}{}{tail}", text[start..end].trim_end())
}

/// Returns where the passage begins: a little before the words that are found, at the beginning of a sentence if one is near.
fn best_start(text: &str, terms: &Terms, width: usize) -> usize {
    let matches = terms.matches(text);
    let room = width * 2 / 3;
    let weight_from = |first: usize| {
        let from = matches[first].0.start;
        let mut seen: Vec<usize> = Vec::new();
        let within =
            matches[first..].iter().take_while(|(at, _)| text[from..at.end].width() <= room);
        within.for_each(|(_, term)| {
            if !seen.contains(term) {
                seen.push(*term);
            }
        });
        seen.iter().map(|term| terms.0[*term].chars().count()).sum::<usize>()
    };
    let mut best: Option<(usize, usize)> = None;
    // A text of 32 KiB may contain a word thousands of times; its first hundreds tell enough.
    for first in 0..matches.len().min(500) {
        let weight = weight_from(first);
        if best.is_none_or(|(highest, _)| weight > highest) {
            best = Some((weight, first));
        }
    }
    let Some((_, first)) = best else { return 0 };
    let anchor = matches[first].0.start;
    if text[..matches[first].0.end].width() <= room {
        return 0;
    }
    start_before(text, anchor, width / 3)
}

/// Returns the beginning of the sentence of `anchor` if it is at most `columns` away, else that of a word.
fn start_before(text: &str, anchor: usize, columns: usize) -> usize {
    let sentence = text[..anchor].rfind(['.', '!', '?', ';', '。']).map(|at| {
        let after = at + text[at..].chars().next().map_or(1, char::len_utf8);
        after + (text[after..].len() - text[after..].trim_start().len())
    });
    let is_near = |start: &usize| *start <= anchor && text[*start..anchor].width() <= columns;
    if let Some(start) = sentence.filter(is_near) {
        return start;
    }
    let words =
        text[..anchor].split_word_bound_indices().filter(|(_, word)| !word.trim().is_empty());
    words.map(|(at, _)| at).find(|at| text[*at..anchor].width() <= columns / 2).unwrap_or(anchor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_passage_contains_the_searched_words() {
        let text = "First something else entirely is said here, at some length, about nothing. Then the staging server is called heron. And the end is long too, and goes on.";
        let shown = passage(text, &Terms::of_query("what is the staging server called?"), 60);
        assert_eq!(shown, "… Then the staging server is called heron. And the end is …");
        assert_eq!(passage("Short heron", &Terms::of_query("heron"), 60), "Short heron");
        let head = passage(text, &Terms::of_query("zebra"), 40);
        assert_eq!(head, "First something else entirely is said …");
    }

    #[test]
    fn a_passage_is_never_too_wide() {
        let texts = [
            "日本語のメモは長いので切らなければならない。そしてまだ続く、ずっと続く。",
            "https://example.org/an/address/that/does/not/end/and/has/no/space/in/it/at/all",
            "plain words and 👩‍👧 family, e\u{301}tude, then more words that go on and on",
        ];
        for text in texts {
            for query in ["続く", "space", "words family", ""] {
                for width in 10..90 {
                    let shown = passage(text, &Terms::of_query(query), width);
                    assert!(shown.width() <= width, "{width} {query}: {shown}");
                }
            }
        }
    }

    #[test]
    fn a_word_matches_its_other_forms_and_no_stop_word() {
        let terms = Terms::of_query("How is the shop deployed?");
        let text = "To deploy the shops, use the deployment page";
        let marked: Vec<&str> = terms.ranges(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(marked, ["deploy", "shops"]);
    }
}
