//! The files of a checkout that a finding speaks of, with the ids that git gives to their contents: recalls then say what changed since.
//!
//! A transcript does not keep the contents, so these are the contents at the time of the import.

use crate::transcripts::findings::{Finding, Found};
use loci_proto::git_blob;
use serde_json::{Map, Value};
use std::path::{Component, Path, PathBuf};

/// Files that are recorded of one finding.
const MAX_FILES: usize = 8;
/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Returns the files of a finding below `top`, by their paths there.
pub fn of(found: &Found, top: &Path) -> Map<String, Value> {
    let folder = Path::new(&found.folder).canonicalize().unwrap_or_default();
    let text = found.finding.text();
    let changed = match &found.finding {
        Finding::Fix(fix) => fix.files.as_slice(),
        _ => &[],
    };
    let named = words(&text).map(Path::new).filter(|path| path.extension().is_some());
    let mut files = Map::new();
    for path in changed.iter().map(Path::new).chain(named) {
        let full = folder.join(path);
        if let Some((path, id)) = recorded(&full, top).or_else(|| recorded(&top.join(path), top)) {
            files.insert(path, Value::String(id));
        }
        if files.len() == MAX_FILES {
            break;
        }
    }
    files
}

/// Returns the words of a text that may be paths.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !c.is_alphanumeric() && c != '_';
    text.split(|c: char| c.is_whitespace() || "`'\"()[],;:".contains(c))
        .map(move |word| word.trim_end_matches(is_end))
        .filter(|word| !word.is_empty())
}

/// Returns the path of a regular file below `top`, and the id of its content.
fn recorded(file: &Path, top: &Path) -> Option<(String, String)> {
    let plain: PathBuf = file.components().filter(|part| *part != Component::CurDir).collect();
    let path = plain.strip_prefix(top).ok()?;
    let is_plain =
        path.components().all(|part| matches!(part, Component::Normal(name) if name != ".git"));
    let real = plain.canonicalize().ok()?;
    let size = real.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
    if !is_plain || !real.starts_with(top) || size > MAX_BYTES {
        return None;
    }
    Some((path.to_str()?.to_owned(), git_blob::id_of(&std::fs::read(real).ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_that_of_git_and_only_files_below_the_checkout_are_read() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let top = folder.path().canonicalize().expect("the folder exists").join("shop");
        std::fs::create_dir(&top).expect("the folder is created");
        std::fs::write(top.join("a.rs"), "hello\n").expect("the file is written");
        std::fs::write(folder.path().join("b.rs"), "x").expect("the file is written");
        std::fs::write(top.join("large.rs"), vec![0; 2 << 20]).expect("the file is written");
        let id = "ce013625030ba8dba906f756967f9e9ca394464a".to_owned();
        assert_eq!(recorded(&top.join("./a.rs"), &top), Some(("a.rs".to_owned(), id)));
        for path in ["../b.rs", "c.rs", "large.rs", "."] {
            assert_eq!(recorded(&top.join(path), &top), None, "{path}");
        }
    }
}
