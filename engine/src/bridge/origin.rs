//! Whether a memory is what a client's file stated, and whether the file still states it. Pure.
//!
//! Not here: what becomes of it when the file changes (`operations::bridge`).

use crate::model::memory::Memory;
use loci_proto::foreign::{IMPORTED, ImportOrigin, text_hash, without_place};
use loci_proto::memory::{MemoryId, Trust};
use serde::Deserialize;

/// The key of metadata with the file that a memory is from.
pub(crate) const SOURCE: &str = "source_file";
/// The key with the day on which the statement had left its file.
pub(crate) const GONE: &str = "source_gone";

/// Returns where an imported memory is from.
pub(crate) fn origin(memory: &Memory) -> Option<ImportOrigin> {
    ImportOrigin::deserialize(memory.metadata.get(IMPORTED)?).ok()
}

/// Returns whether a memory follows its file: it was read there, and no person has written another text since. To confirm a text is not to
/// write it.
pub(crate) fn follows_file(memory: &Memory) -> bool {
    let is_read = [SOURCE, IMPORTED].iter().any(|name| memory.metadata.contains_key(*name));
    let is_as_read = || origin(memory).is_some_and(|from| from.text == text_hash(&memory.content));
    is_read && (memory.provenance.trust == Trust::Import || is_as_read())
}

/// Returns whether no file states a memory any more that follows its file: it is not given unasked.
pub(crate) fn has_left_file(memory: &Memory) -> bool {
    memory.metadata.contains_key(GONE) && follows_file(memory)
}

/// Words from which a statement of a file is understood without the headings above it.
pub(crate) const MIN_CLEAR_WORDS: usize = 5;

/// Returns a statement without the headings above it, if it is understood without them: under other headings it is the same.
pub(crate) fn clear_text<'a>(content: &'a str, place: &str) -> Option<&'a str> {
    let text = without_place(content, place);
    text.split_whitespace().nth(MIN_CLEAR_WORDS - 1).map(|_| text)
}

/// Returns the id of the tombstone of a text that was deleted permanently in a project, whatever file and heading it was under.
pub(crate) fn erased_text_id(group: &str, text: &str) -> MemoryId {
    let (from, path, place) = ("erased".to_owned(), group.to_owned(), String::new());
    ImportOrigin { from, path, root: None, place, id: None, text: text_hash(text) }.memory_id(0)
}

/// Returns the text of a memory without the headings that were above it in its file.
pub(crate) fn bare(memory: &Memory) -> &str {
    let place = origin(memory).map(|from| from.place).unwrap_or_default();
    without_place(&memory.content, &place)
}
