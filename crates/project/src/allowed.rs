//! Which project files a person has allowed, by their contents: a repository can write a `.loci.toml`, so by itself it can only tighten.
//!
//! `allowed-files` in the data folder: a line `allow HASH PATH` or `decline HASH PATH` for each answer. A line that cannot be read allows
//! nothing. Not here: what a file asks for (`project_file`), who is a person (the shim).

use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The name of the file.
const FILE_NAME: &str = "allowed-files";

/// The answer of a person to what a project file asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It does what it says.
    Allowed,
    /// It only tightens, and does not ask again.
    Declined,
}

/// A project file about which a person has given no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskingFile {
    /// Where it is.
    pub path: PathBuf,
    /// The same file in every worktree of its repository: by the path, and by what its folder is whatever its path.
    pub places: Vec<PathBuf>,
    /// Its contents.
    pub text: Vec<u8>,
}

/// The answers of a person.
#[derive(Debug, Clone, Default)]
pub struct AllowedFiles(HashMap<String, Answer>);

impl AllowedFiles {
    /// Reads the answers in a data folder; without a readable file there are none.
    #[must_use]
    pub fn read(home: &Path) -> Self {
        let bytes = std::fs::read(home.join(FILE_NAME)).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n');
        // The last answer about a file counts.
        Self(lines.filter_map(|line| answer(std::str::from_utf8(line).ok()?)).collect())
    }

    /// Returns whether there is a file of answers.
    #[must_use]
    pub fn exists(home: &Path) -> bool {
        home.join(FILE_NAME).exists()
    }

    /// Returns the answer about a file with these contents at one of these places.
    #[must_use]
    pub fn answer(&self, places: &[PathBuf], text: &[u8]) -> Option<Answer> {
        places.iter().find_map(|place| self.0.get(&key(place, text)).copied())
    }

    /// Adds answers about files with their contents to the file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add<'a>(
        home: &Path,
        answer: Answer,
        files: impl IntoIterator<Item = &'a AskingFile>,
    ) -> io::Result<()> {
        let word = match answer {
            Answer::Allowed => "allow",
            Answer::Declined => "decline",
        };
        // A line that was cut before does not swallow the next one.
        let mut lines = String::from("\n");
        for AskingFile { places, text, .. } in files {
            for place in places {
                let _ = writeln!(lines, "{word} {}", key(place, text));
            }
        }
        let mut options = OpenOptions::new();
        let mut file = options.append(true).create(true).mode(0o600).open(home.join(FILE_NAME))?;
        file.write_all(lines.as_bytes())?;
        file.sync_all()
    }
}

fn answer(line: &str) -> Option<(String, Answer)> {
    match line.split_once(' ')? {
        ("allow", key) => Some((key.to_owned(), Answer::Allowed)),
        ("decline", key) => Some((key.to_owned(), Answer::Declined)),
        _ => None,
    }
}

/// The hash of the contents, and the place without line breaks.
fn key(place: &Path, text: &[u8]) -> String {
    let mut key = String::new();
    for byte in Sha256::digest(text) {
        let _ = write!(key, "{byte:02x}");
    }
    let _ = write!(key, " {}", place.as_os_str().as_encoded_bytes().escape_ascii());
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(place: &Path) -> Vec<PathBuf> {
        vec![place.to_owned()]
    }

    fn asking(place: &Path) -> AskingFile {
        AskingFile { path: place.to_owned(), places: at(place), text: b"x".to_vec() }
    }

    #[test]
    fn an_answer_is_that_about_one_file_with_its_contents_and_the_last_counts() {
        let home = tempfile::tempdir().expect("a folder");
        let (file, other) = (Path::new("/a b/.loci.toml"), Path::new("/c/.loci.toml"));
        assert_eq!(AllowedFiles::read(home.path()).answer(&at(file), b"x"), None);
        let add = |answer| AllowedFiles::add(home.path(), answer, [&asking(file)]);
        add(Answer::Declined).expect("it is written");
        assert_eq!(AllowedFiles::read(home.path()).answer(&at(file), b"x"), Some(Answer::Declined));
        add(Answer::Allowed).expect("it is written");
        let read = AllowedFiles::read(home.path());
        assert_eq!(read.answer(&at(file), b"x"), Some(Answer::Allowed));
        assert_eq!((read.answer(&at(file), b"y"), read.answer(&at(other), b"x")), (None, None));
    }

    #[test]
    fn no_cut_or_changed_byte_allows_another_file() {
        let home = tempfile::tempdir().expect("a folder");
        let (file, other) = (Path::new("/a/.loci.toml"), Path::new("/b/.loci.toml"));
        AllowedFiles::add(home.path(), Answer::Allowed, [&asking(file)]).expect("written");
        let path = home.path().join(FILE_NAME);
        let whole = std::fs::read(&path).expect("it is there");
        for cut in 0..whole.len() {
            for change in
                [whole[..cut].to_vec(), [&whole[..cut], b"\xff", &whole[cut + 1..]].concat()]
            {
                std::fs::write(&path, change).expect("it is written");
                let read = AllowedFiles::read(home.path());
                assert_eq!(
                    (read.answer(&at(file), b"y"), read.answer(&at(other), b"x")),
                    (None, None)
                );
            }
        }
    }
}
