//! What a client has in its own memory files, so that it is not given again. Pure.

use crate::bridge::origin;
use crate::bridge::statements::{self, file_name};
use crate::duplicate::content_hash::{HASH_BYTES, hash};
use crate::model::memory::Memory;
use loci_proto::memory::MemoryId;
use loci_proto::requests::bridge::{BridgeClient, LOADED_BYTES, LOADED_LINES};
use std::collections::HashSet;

/// Minimum words of a text that is looked for: fewer are in a file by chance.
const MIN_WORDS: usize = 3;

/// The memory files of one project, or the part of them that the client loads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadedMemory {
    /// Their words, each with a blank on both sides.
    words: String,
    /// The hashes of their statements.
    statements: HashSet<[u8; HASH_BYTES]>,
    /// The memories that were imported from them and are still in them.
    imported: HashSet<MemoryId>,
    /// The memories that say in other words what they state.
    reworded: HashSet<MemoryId>,
}

impl LoadedMemory {
    /// Adds the part of a file that the client loads.
    pub fn add(&mut self, text: &str, imported: impl IntoIterator<Item = MemoryId>) {
        self.words.push_str(&words(loaded_part(text)));
        self.imported.extend(imported);
    }

    /// Adds a whole file, with the texts of its statements: in those, what names a cell of a table stands beside it.
    pub(crate) fn add_whole(
        &mut self,
        client: BridgeClient,
        (path, text): (&str, &str),
        imported: impl IntoIterator<Item = MemoryId>,
    ) {
        self.words.push_str(&words(text));
        self.imported.extend(imported);
        for statement in statements::statements(client, file_name(path), text) {
            self.statements.extend(statement.hashes());
            self.words.push_str(&words(&statement.text));
        }
    }

    /// Adds memories that say in other words what the files state.
    pub(crate) fn add_reworded(&mut self, memories: impl IntoIterator<Item = MemoryId>) {
        self.reworded.extend(memories);
    }

    /// Returns the memories that were imported from the files.
    pub(crate) fn imported(&self) -> impl Iterator<Item = &MemoryId> {
        self.imported.iter()
    }

    /// Returns whether the client has a memory in its own files, or each line of it.
    #[must_use]
    pub fn has(&self, memory: &Memory) -> bool {
        // What a person has made of a statement is not in the file.
        if self.imported.contains(&memory.id) && origin::follows_file(memory)
            || self.reworded.contains(&memory.id)
        {
            return true;
        }
        self.has_text(&memory.content) || self.has_text(origin::bare(memory))
    }

    fn has_text(&self, text: &str) -> bool {
        self.statements.contains(&hash(text))
            || has_words(text)
                && (self.words.contains(&words(text))
                    || text.lines().all(|line| self.words.contains(&words(line))))
    }
}

fn has_words(text: &str) -> bool {
    words(text).split_whitespace().nth(MIN_WORDS - 1).is_some()
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

    #[test]
    fn a_text_of_the_loaded_part_is_held_and_a_single_word_is_not() {
        let mut loaded = LoadedMemory::default();
        let rest = "x\n".repeat(LOADED_LINES);
        let text = format!("- **Deploy** with `just ship`.\n{rest}- Tea at four o'clock\n");
        loaded.add(&text, []);
        assert!(loaded.has_text("deploy with just ship"));
        assert!(!loaded.has_text("deploy with just ships"));
        assert!(!loaded.has_text("Deploy"));
        assert!(!loaded.has_text("Tea at four"), "it is below the part that is loaded");
        loaded.add_whole(BridgeClient::Claude, ("/a/b.md", &text), []);
        assert!(loaded.has_text("Tea at four"));
        assert!(loaded.has_text("Tea at four o'clock\nDeploy with just ship"), "line by line");
        assert!(!loaded.has_text("Tea at four o'clock deploy with just ship"));
    }
}
