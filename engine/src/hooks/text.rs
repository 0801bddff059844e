//! One memory as one line of a text for a model: neutralised, with its date and its source. Pure.

use crate::flags::safe_name;
use crate::model::memory::Memory;
use loci_proto::gate::ModelText;
use unicode_segmentation::UnicodeSegmentation;

/// Quarters of a token in a token.
pub(crate) const QUARTERS: usize = 4;

/// Characters of a short id.
const SHORT_ID: usize = 8;

/// A line, and whether it holds the whole text of its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub text: ModelText,
    pub is_whole: bool,
}

/// Names the project of a memory.
pub(crate) fn project(name: &str) -> ModelText {
    ModelText::own("project ").and(&safe_name(name))
}

/// Says how many other memories state the same; nothing for none.
pub(crate) fn folded(others: usize) -> Option<ModelText> {
    (others > 0).then(|| ModelText::default().and_count(others).and_own(" more in other words"))
}

/// What a line says after the text of its memory, besides notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum About {
    /// Its date and its source.
    Source,
    /// Nothing: a rule has no date.
    Nothing,
    /// The id by which the whole text is found.
    Id,
}

/// Formats a memory in one line; of a text of more than `max` quarters of a token the beginning and the id of the memory.
pub(crate) fn line(memory: &Memory, max: usize, about: About, notes: Vec<ModelText>) -> Line {
    let content = ModelText::unasked(&memory.content);
    let cut = content.beginning(cut(&content, max).len());
    let is_whole = cut.len() == content.len();
    let id = ModelText::unasked(short_id(memory.id.as_str()));
    let mut said = match about {
        About::Source => {
            let date = [ModelText::unasked(&memory.created_at.date())];
            let source = memory.provenance.source();
            date.into_iter().chain(source.as_deref().map(safe_name)).collect()
        }
        About::Nothing => Vec::new(),
        About::Id => vec![id.clone()],
    };
    said.extend(notes);
    let rest = match about {
        _ if is_whole => ModelText::default(),
        About::Id => ModelText::own(" …"),
        _ => ModelText::own("… [cut; id ").and(&id).and_own("]"),
    };
    let mut text = ModelText::own("- ").and(&cut).and(&rest);
    if !said.is_empty() {
        text = text.and_own(" (").and(&ModelText::joined(&said, ", ")).and_own(")");
    }
    Line { text: text.and_own("\n"), is_whole }
}

/// Returns the end of an id, by which every call finds its memory.
fn short_id(id: &str) -> &str {
    id.len().checked_sub(SHORT_ID).and_then(|start| id.get(start..)).unwrap_or(id)
}

/// Returns the beginning of a text, cut at a grapheme boundary.
fn cut(text: &str, max: usize) -> &str {
    if quarters(text) <= max {
        return text;
    }
    let (mut left, mut end) = (max, 0);
    for (start, grapheme) in text.grapheme_indices(true) {
        let size = quarters(grapheme);
        if size > left {
            break;
        }
        left -= size;
        end = start + grapheme.len();
    }
    text[..end].trim_end()
}

/// Returns the size of a text in tokens, as an upper estimate for the tokenizers of today: four Latin characters are one, two of another
/// alphabet, one of any other script, and an emoji is two.
#[must_use]
pub fn tokens(text: &str) -> usize {
    quarters(text).div_ceil(QUARTERS)
}

/// Returns the size of a text in quarters of a token.
pub(crate) fn quarters(text: &str) -> usize {
    text.chars().map(quarters_of).sum()
}

fn quarters_of(character: char) -> usize {
    match u32::from(character) {
        // Latin with its accents, and general punctuation.
        0..0x0300 | 0x1E00..0x1F00 | 0x2000..0x2070 => 1,
        // Combining marks, Greek, Cyrillic, Armenian, Hebrew, Arabic.
        0x0300..0x0700 | 0x1F00..0x2000 => 2,
        0x0700..0x1E00 | 0x2070..0x1_0000 | 0x2_0000..0x4_0000 => QUARTERS,
        _ => 2 * QUARTERS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_text_depends_on_its_script() {
        for (text, expected) in [
            ("", 0),
            ("four", 1),
            ("Grüße, “quoted”", 4),
            ("сервер", 3),
            ("サーバーは東京にあります。", 13),
            ("한국어", 3),
            ("ภาษาไทย", 7),
            ("🦀", 2),
        ] {
            assert_eq!(tokens(text), expected, "{text}");
        }
    }

    #[test]
    fn a_text_is_cut_by_its_size_between_graphemes() {
        assert_eq!(cut("abcdef", 4), "abcd");
        assert_eq!(cut("東京都庁", 10), "東京");
        assert_eq!(cut("a👨‍👩‍👧b", 12), "a");
        assert_eq!(cut("東京", 8), "東京");
    }
}
