//! The record of what setup wrote, `setup.json` in the data folder: by it, files come back as they were.
//!
//! For each file: whether it existed, the hash after the last write, the part that was replaced, and the entries. Not here: removal.

use super::client::{Client, Part, Scope};
use super::edit::{EntryKind, Format, Ledger, Target};
use super::files;
use crate::output::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Name of the file in the data folder.
pub const FILE: &str = "setup.json";
/// The version of the format.
const VERSION: u32 = 1;

/// Everything that setup wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    version: u32,
    /// The files, in the order in which they were first written.
    pub files: Vec<WrittenFile>,
}

/// What setup wrote to one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrittenFile {
    /// The client that reads it.
    pub client: Client,
    /// Whether it is of the user or of a project.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
    /// How entries are found in it; `None` for a file that is written as a whole.
    pub format: Option<Format>,
    /// Whether it existed before.
    pub existed: bool,
    /// The folders that were created for it, outermost first.
    #[serde(default)]
    pub folders: Vec<PathBuf>,
    /// SHA-256 of the file after the last write.
    pub hash: String,
    /// What turns that file into the one before setup.
    pub reverse: Reverse,
    /// What was added besides the entries.
    #[serde(default)]
    pub ledger: Ledger,
    /// The entries.
    pub entries: Vec<WrittenEntry>,
}

/// An entry as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WrittenEntry {
    /// What it is for.
    pub part: Part,
    /// How it is found.
    #[serde(flatten)]
    pub target: Target,
    /// The text of the value that it replaced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}

/// One replacement: the bytes from `start`, `length` long, were `was`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reverse {
    start: usize,
    length: usize,
    was: String,
    /// SHA-256 of the result.
    hash: String,
}

impl Reverse {
    /// Finds the replacement that turns `after` into `before`.
    #[must_use]
    pub fn between(before: &str, after: &str) -> Self {
        let pairs = before.bytes().zip(after.bytes());
        let mut start = pairs.take_while(|(a, b)| a == b).count();
        while !before.is_char_boundary(start) || !after.is_char_boundary(start) {
            start -= 1;
        }
        let (old, new) = (&before[start..], &after[start..]);
        let pairs = old.bytes().rev().zip(new.bytes().rev());
        let mut same = pairs.take_while(|(a, b)| a == b).count();
        while !old.is_char_boundary(old.len() - same) || !new.is_char_boundary(new.len() - same) {
            same -= 1;
        }
        Self {
            start,
            length: new.len() - same,
            was: old[..old.len() - same].to_owned(),
            hash: files::hash(before),
        }
    }

    /// Returns the text before; `None` if `after` is not the text that was written.
    #[must_use]
    pub fn apply(&self, after: &str) -> Option<String> {
        let head = after.get(..self.start)?;
        let tail = after.get(self.start.checked_add(self.length)?..)?;
        let before = format!("{head}{}{tail}", self.was);
        (files::hash(&before) == self.hash).then_some(before)
    }
}

impl WrittenFile {
    /// Creates the record of a file that is written as a whole; `original` is `None` if it did not exist before.
    #[must_use]
    pub fn whole(
        (client, scope): (Client, Scope),
        path: &Path,
        text: &str,
        original: Option<&str>,
    ) -> Self {
        let target = Target { path: Vec::new(), kind: EntryKind::Key, value: Json::Null };
        Self {
            client,
            scope,
            path: path.to_path_buf(),
            format: None,
            existed: original.is_some(),
            folders: Vec::new(),
            hash: files::hash(text),
            reverse: Reverse::between(original.unwrap_or_default(), text),
            ledger: Ledger::default(),
            entries: vec![WrittenEntry { part: Part::Hook, target, previous: None }],
        }
    }

    /// Returns the file before setup, byte for byte; `None` if somebody has changed it since.
    #[must_use]
    pub fn original(&self, text: &str) -> Option<String> {
        (files::hash(text) == self.hash).then(|| self.reverse.apply(text)).flatten()
    }
}

impl Manifest {
    /// Reads the manifest of a data folder; an empty one if there is none.
    ///
    /// # Errors
    /// The file cannot be read or is damaged.
    pub fn read(home: &Path) -> Result<Self, Problem> {
        let path = home.join(FILE);
        let Some(text) = files::read(&path)? else {
            return Ok(Self { version: VERSION, files: Vec::new() });
        };
        let refused = |cause: &dyn ToString| {
            Problem::new(format!("{} cannot be parsed", path.display()))
                .because(&cause.to_string())
                .hint("Move it away, then run the command again: what setup would write is found without it")
        };
        let manifest: Self = serde_json::from_str(&text).map_err(|error| refused(&error))?;
        if manifest.version > VERSION {
            return Err(refused(&"a newer version of loci has written it"));
        }
        Ok(manifest)
    }

    /// Writes the manifest, with mode 0600 because parts of configurations may be in it; deletes an empty one, and the
    /// data folder if nothing else is in it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, home: &Path) -> Result<(), Problem> {
        let path = home.join(FILE);
        if self.files.is_empty() {
            return files::delete(&path, &[home.to_path_buf()]);
        }
        crate::spawn::folders::create(home)?;
        let text = serde_json::to_string_pretty(self).map_err(std::io::Error::from)?;
        files::write(&path, &format!("{text}\n"))?;
        Ok(())
    }

    /// Returns the record of a file.
    #[must_use]
    pub fn file(&self, path: &Path) -> Option<&WrittenFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Adds a record or replaces that of the same file; removes one without entries.
    pub fn put(&mut self, file: WrittenFile) {
        let position = self.files.iter().position(|known| known.path == file.path);
        match (position, file.entries.is_empty()) {
            (Some(at), true) => {
                self.files.remove(at);
            }
            (Some(at), false) => self.files[at] = file,
            (None, true) => {}
            (None, false) => self.files.push(file),
        }
    }

    /// Removes the record of a file.
    pub fn forget(&mut self, path: &Path) {
        self.files.retain(|file| file.path != path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_reverse_of_any_change_gives_the_text_before(before in "[a-cé\n]{0,12}", after in "[a-cé\n]{0,12}") {
            let reverse = Reverse::between(&before, &after);
            prop_assert_eq!(reverse.apply(&after), Some(before));
        }
    }

    #[test]
    fn another_text_is_not_reversed() {
        let reverse = Reverse::between("{}\n", "{\"a\": 1}\n");
        assert_eq!(reverse.apply("{\"b\": 1}\n").as_deref(), Some("{}\n"), "the same bytes go");
        assert_eq!(reverse.apply("{\"a\": 1}\n\n"), None);
        assert_eq!(reverse.apply(""), None);
    }
}
