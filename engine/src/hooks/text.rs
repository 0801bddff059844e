//! One memory as one line of a text for a model: neutralised, with its date and its source. Pure.

use crate::model::memory::Memory;
use loci_proto::sanitize;
use unicode_segmentation::UnicodeSegmentation;

/// Characters per token.
pub(crate) const CHARS_PER_TOKEN: usize = 4;

/// A line, and whether it holds the whole text of its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    pub text: String,
    pub is_whole: bool,
}

/// Formats a memory in one line; a text of more than `max_chars` is cut and followed by the id of the memory.
pub(crate) fn line(memory: &Memory, project: Option<&str>, max_chars: usize) -> Line {
    let clean = sanitize::for_model(&memory.content);
    let words: Vec<&str> = clean.split_whitespace().collect();
    let content = words.join(" ");
    let cut = cut(&content, max_chars);
    let is_whole = cut.len() == content.len();
    let mut about = vec![memory.created_at.date()];
    about.extend(memory.provenance.source());
    about.extend(project.map(|name| format!("project {}", sanitize::for_model(name))));
    let rest = if is_whole { String::new() } else { format!("… [cut; id {}]", memory.id) };
    Line { text: format!("- {cut}{rest} ({})\n", about.join(", ")), is_whole }
}

/// Returns the beginning of a text, cut at a grapheme boundary.
fn cut(text: &str, max_chars: usize) -> &str {
    if text.chars().count() <= max_chars {
        return text;
    }
    let (mut left, mut end) = (max_chars, 0);
    for (start, grapheme) in text.grapheme_indices(true) {
        let size = grapheme.chars().count();
        if size > left {
            break;
        }
        left -= size;
        end = start + grapheme.len();
    }
    text[..end].trim_end()
}

/// Returns the size of a text in tokens.
pub(crate) fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(CHARS_PER_TOKEN)
}
