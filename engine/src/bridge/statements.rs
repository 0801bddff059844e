//! What a memory file of a client states, for the bridge. [`statements`] is the one entry point.
//!
//! The files are read as `loci import` reads them (`loci_import::memory_files`). Not here: which files a client has (the daemon).

use crate::duplicate::content_hash::hash;
use loci_import::memory_files::{self, Note, NoteFields};
use loci_proto::group::Group;
use loci_proto::limits;
use loci_proto::memory::MemoryType;
use loci_proto::requests::bridge::BridgeClient;
use std::ops::Range;

/// Maximum statements of one file.
const MAX_STATEMENTS: usize = 1000;
/// Minimum words of a statement: a single word states nothing.
const MIN_WORDS: usize = 2;
/// The file of Codex whose statements are imported; the others are what it was made from.
const CODEX_HANDBOOK: &str = "MEMORY.md";
/// What replaces a statement that was erased.
pub(crate) const ERASED: &str = "[FORGOTTEN]";

/// Returns the name of a file without its folders.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// One statement of a memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its text, with the headings above it.
    pub text: String,
    /// Its text alone, by which earlier versions imported it.
    pub bare: String,
    /// A fact, or how to do something.
    pub kind: MemoryType,
    /// The headings above it, or the name of a file that is one statement.
    pub place: String,
    /// The name of a file that is one statement.
    pub own_id: Option<String>,
    /// What the fields of its file say.
    pub(crate) fields: NoteFields,
    /// The folder of the project that it is about, if the file names one.
    pub folder: Option<String>,
    /// Its project, if it is not that of the file.
    pub group: Option<Group>,
    /// Its bytes in the file.
    pub bytes: Range<usize>,
}

impl Statement {
    /// Returns the hash of the text, as memories have it.
    #[must_use]
    pub fn hash(&self) -> [u8; 16] {
        hash(&self.text)
    }

    /// Returns the hash of the text alone.
    #[must_use]
    pub fn bare_hash(&self) -> [u8; 16] {
        hash(&self.bare)
    }

    /// Returns both hashes, by one of which its memory is known.
    #[must_use]
    pub fn hashes(&self) -> [[u8; 16]; 2] {
        [self.hash(), self.bare_hash()]
    }
}

/// Returns the statements of a file; `name` is its name without folders.
#[must_use]
pub fn statements(client: BridgeClient, name: &str, text: &str) -> Vec<Statement> {
    let text = memory_files::normalized(text);
    let mut found: Vec<Statement> = match client {
        BridgeClient::Codex if name != CODEX_HANDBOOK => Vec::new(),
        BridgeClient::Codex => {
            memory_files::of_codex_handbook(&text).into_iter().map(statement).collect()
        }
        BridgeClient::Claude => {
            let stem = name.strip_suffix(".md").unwrap_or(name);
            let read = memory_files::of_claude(stem, &text);
            let fields = read.fields;
            let with_fields = |note| Statement { fields: fields.clone(), ..statement(note) };
            read.notes.into_iter().map(with_fields).collect()
        }
    };
    found.retain(|statement| {
        statement.text.split_whitespace().nth(MIN_WORDS - 1).is_some()
            && statement.text.len() <= limits::CONTENT_BYTES
            && !statement.text.contains('\0')
    });
    found.truncate(MAX_STATEMENTS);
    found
}

fn statement(note: Note) -> Statement {
    let Note { content, bare, place, own_id, kind, folder, bytes } = note;
    Statement {
        text: content,
        bare,
        kind,
        place,
        own_id,
        fields: NoteFields::default(),
        folder,
        group: None,
        bytes,
    }
}

/// Replaces the statements whose hash `is_erased` names; returns the text and how many there were.
#[must_use]
pub fn without(
    client: BridgeClient,
    name: &str,
    text: &str,
    is_erased: impl Fn(&[u8; 16]) -> bool,
) -> Option<(String, u32)> {
    let mut erased = statements(client, name, text);
    erased.retain(|one| is_erased(&one.hash()) || is_erased(&one.bare_hash()));
    if erased.is_empty() {
        return None;
    }
    let text = memory_files::normalized(text);
    let (mut kept, mut at) = (String::new(), 0);
    for Statement { bytes, .. } in &erased {
        // The sentence that introduces a list is of several statements.
        if bytes.end > at {
            kept.push_str(&text[at..bytes.start.max(at)]);
            kept.push_str(ERASED);
            at = bytes.end;
        }
    }
    kept.push_str(&text[at..]);
    Some((kept, u32::try_from(erased.len()).unwrap_or(u32::MAX)))
}

/// Replaces a text wherever it is in a file as it is; returns the file and how often.
#[must_use]
pub fn without_text(text: &str, erased: &str) -> Option<(String, u32)> {
    let count = text.matches(erased).count();
    let is_text = erased.split_whitespace().nth(MIN_WORDS - 1).is_some();
    (count > 0 && is_text)
        .then(|| (text.replace(erased, ERASED), u32::try_from(count).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_handbook_of_codex_is_read_and_a_single_word_is_no_statement() {
        let text = "# Task Group: shop\napplies_to: cwd=/home/anna/shop\n\n- Deploys go through just ship\n";
        let found = statements(BridgeClient::Codex, "MEMORY.md", text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].folder.as_deref(), Some("/home/anna/shop"));
        assert!(statements(BridgeClient::Codex, "raw_memories.md", text).is_empty());
        assert!(statements(BridgeClient::Claude, "MEMORY.md", "- Tea\n").is_empty());
    }

    #[test]
    fn an_erased_statement_leaves_a_mark_and_the_rest_of_the_file() {
        let text = "# A\n- One two\n  nested\n- Three four\n";
        let gone = hash("A: One two\nnested");
        let kept = without(BridgeClient::Claude, "MEMORY.md", text, |hash| *hash == gone);
        assert_eq!(kept, Some(("# A\n[FORGOTTEN]\n- Three four\n".to_owned(), 1)));
        // An earlier version imported the text alone.
        let gone = hash("Three four");
        let kept = without(BridgeClient::Claude, "MEMORY.md", text, |hash| *hash == gone);
        assert_eq!(kept, Some(("# A\n- One two\n  nested\n[FORGOTTEN]\n".to_owned(), 1)));
        assert_eq!(without(BridgeClient::Claude, "MEMORY.md", text, |_| false), None);
        let fields = "---\nname: a\ndescription: What it is\n---\n\nOne two three\n";
        let gone = hash("What it is\n\nOne two three");
        let kept = without(BridgeClient::Claude, "a.md", fields, |hash| *hash == gone);
        let kept = kept.expect("it is found").0;
        assert!(!kept.contains("One two") && !kept.contains("What it is"), "{kept}");
    }
}
