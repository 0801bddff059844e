//! What a client loads of its own memory at the start of a session, so that a hook does not give it again. Pure.

use loci_proto::memory::MemoryId;
use loci_proto::requests::bridge::{LOADED_BYTES, LOADED_LINES};
use std::collections::HashSet;

/// Minimum words of a text that is looked for: fewer are in a file by chance.
const MIN_WORDS: usize = 3;

/// The loaded part of the memory files of one project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadedMemory {
    /// Its words, each with a blank on both sides.
    words: String,
    /// The memories that were imported from it and are still in it.
    imported: HashSet<MemoryId>,
}

impl LoadedMemory {
    /// Adds a file.
    pub fn add(&mut self, text: &str, imported: impl IntoIterator<Item = MemoryId>) {
        self.words.push_str(&words(loaded_part(text)));
        self.imported.extend(imported);
    }

    /// Returns whether the client has a memory in its own file.
    #[must_use]
    pub fn has(&self, id: &MemoryId, content: &str) -> bool {
        if self.imported.contains(id) {
            return true;
        }
        let searched = words(content);
        searched.split_whitespace().nth(MIN_WORDS - 1).is_some() && self.words.contains(&searched)
    }
}

/// Returns the part of a file that is loaded: the first lines, up to a number of bytes.
fn loaded_part(text: &str) -> &str {
    let lines = text.split_inclusive('\n').take(LOADED_LINES).map(str::len).sum::<usize>();
    let mut end = lines.min(LOADED_BYTES).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the words of a text in lower case, with a blank before and after each.
fn words(text: &str) -> String {
    let mut words = " ".to_owned();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        words.extend(word.chars().flat_map(char::to_lowercase));
        words.push(' ');
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u128) -> MemoryId {
        MemoryId::from(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn a_text_of_the_loaded_part_is_held_and_a_single_word_is_not() {
        let mut loaded = LoadedMemory::default();
        let rest = "x\n".repeat(LOADED_LINES);
        loaded.add(
            &format!("- **Deploy** with `just ship`.\n{rest}- Tea at four o'clock\n"),
            [id(7)],
        );
        assert!(loaded.has(&id(1), "deploy with just ship"));
        assert!(!loaded.has(&id(1), "deploy with just ships"));
        assert!(!loaded.has(&id(1), "Deploy"));
        assert!(!loaded.has(&id(1), "Tea at four"), "it is below the part that is loaded");
        assert!(loaded.has(&id(7), "another text"));
    }
}
