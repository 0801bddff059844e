//! The files that a memory speaks of, with the ids of their contents when it was stored (`files` of
//! its metadata), and how many of them have changed since. Reading files is the daemon's.

use serde_json::{Map, Value};
use std::fmt::Debug;

/// The field of metadata: a list of paths in a request, an object of paths and ids in the store.
pub const FILES: &str = "files";
/// Files that are recorded of one memory.
const MAX_FILES: usize = 8;
/// Longest path, in bytes.
const MAX_PATH_BYTES: usize = 300;

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The id that git gives to it.
    Blob(String),
    /// There is no such file.
    Missing,
    /// It was not read: it is too large, or there was no time.
    Unknown,
}

/// Reads the files of the asking project.
pub trait ProjectFiles: Debug + Sync {
    /// Returns the content of a file by its path within the project.
    fn content(&self, path: &str) -> Content;
}

/// Paths that a memory names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// The request lists them.
    Listed(Vec<String>),
    /// The text has words that may be paths.
    InText(Vec<String>),
}

impl Named {
    /// Returns the paths.
    pub fn paths(&self) -> &[String] {
        let (Self::Listed(paths) | Self::InText(paths)) = self;
        paths
    }
}

/// Returns the paths that a new memory names.
pub fn named(content: &str, metadata: &Map<String, Value>) -> Named {
    match metadata.get(FILES) {
        Some(Value::Array(paths)) => {
            let paths = paths.iter().filter_map(Value::as_str).filter(|path| is_relative(path));
            Named::Listed(paths.take(MAX_FILES).map(str::to_owned).collect())
        }
        Some(_) => Named::Listed(Vec::new()),
        None => Named::InText(in_text(content)),
    }
}

/// Records the files of a new memory. Of those in the text only existing ones are files.
pub fn record(content: &str, metadata: &mut Map<String, Value>, files: &dyn ProjectFiles) {
    let named = named(content, metadata);
    let is_listed = matches!(named, Named::Listed(_));
    let mut recorded = Map::new();
    for path in named.paths() {
        match files.content(path) {
            Content::Blob(id) => recorded.insert(path.clone(), Value::String(id)),
            Content::Missing if is_listed => recorded.insert(path.clone(), Value::Null),
            Content::Missing | Content::Unknown => None,
        };
    }
    if !recorded.is_empty() {
        metadata.insert(FILES.to_owned(), Value::Object(recorded));
    }
}

/// Returns how many of the recorded files have changed, as `2 of 3 files changed since`; `None` if
/// none has.
pub fn stale(metadata: &Map<String, Value>, files: &dyn ProjectFiles) -> Option<String> {
    let recorded = metadata.get(FILES)?.as_object()?;
    let is_changed = |(path, id): (&String, &Value)| match (files.content(path), id.as_str()) {
        (Content::Unknown, _) | (Content::Missing, None) => false,
        (Content::Blob(now), Some(then)) => now != then,
        (Content::Blob(_), None) | (Content::Missing, Some(_)) => true,
    };
    let known = recorded.iter().filter(|(path, _)| is_relative(path)).take(MAX_FILES);
    let changed = known.filter(|file| is_changed(*file)).count();
    let of = recorded.len().min(MAX_FILES);
    let files = if of == 1 { "file" } else { "files" };
    (changed > 0).then(|| format!("{changed} of {of} {files} changed since"))
}

/// Returns the words of a text that may be paths within a project.
fn in_text(content: &str) -> Vec<String> {
    let is_edge = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let mut paths: Vec<String> = Vec::new();
    for word in content.split(|c: char| c.is_whitespace() || "`'\"()[],;:".contains(c)) {
        let word = word.trim_start_matches("./").trim_end_matches(is_edge);
        let name = word.rsplit('/').next().unwrap_or(word);
        let has_extension = name.rsplit_once('.').is_some_and(|(stem, end)| {
            let is_plain = end.bytes().all(|byte| byte.is_ascii_alphanumeric());
            !stem.is_empty() && (1..=5).contains(&end.len()) && is_plain
        });
        if has_extension && is_relative(word) && !paths.iter().any(|known| known == word) {
            paths.push(word.to_owned());
        }
        if paths.len() == MAX_FILES {
            break;
        }
    }
    paths
}

/// Returns whether a path stays within the project.
fn is_relative(path: &str) -> bool {
    let parts = || path.split('/');
    !path.is_empty()
        && path.len() <= MAX_PATH_BYTES
        && !path.contains(|c: char| c.is_control() || c == '\\')
        && parts().all(|part| !matches!(part, "" | "." | ".." | ".git"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[derive(Debug, Default)]
    struct Files(BTreeMap<&'static str, &'static str>);

    impl ProjectFiles for Files {
        fn content(&self, path: &str) -> Content {
            self.0.get(path).map_or(Content::Missing, |id| Content::Blob((*id).to_owned()))
        }
    }

    fn metadata(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn paths_of_a_text_are_files_only_if_they_exist() {
        let files = Files(BTreeMap::from([("src/main.rs", "a1"), ("README.md", "b2")]));
        let mut found = Map::new();
        let text = "See ./src/main.rs:12, `README.md` and example.com; version 1.2. Not ../x.rs or /etc/a.conf.";
        record(text, &mut found, &files);
        assert_eq!(found["files"], json!({"README.md": "b2", "src/main.rs": "a1"}));
    }

    #[test]
    fn changed_added_and_removed_files_are_counted() {
        let before = Files(BTreeMap::from([("a.rs", "1"), ("b.rs", "2")]));
        let mut stored = metadata(&json!({"files": ["a.rs", "b.rs", "c.rs", "../d.rs"]}));
        record("", &mut stored, &before);
        assert_eq!(stored["files"], json!({"a.rs": "1", "b.rs": "2", "c.rs": null}));
        assert_eq!(stale(&stored, &before), None);
        let after = Files(BTreeMap::from([("a.rs", "9"), ("c.rs", "3")]));
        assert_eq!(stale(&stored, &after).as_deref(), Some("3 of 3 files changed since"));
    }

    #[test]
    fn a_memory_without_files_is_never_stale() {
        assert_eq!(stale(&Map::new(), &Files::default()), None);
        assert_eq!(stale(&metadata(&json!({"files": "src"})), &Files::default()), None);
    }
}
