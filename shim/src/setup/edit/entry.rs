//! Entries of configuration files, how they are found again, and why a text is not edited.
//!
//! Not here: edits.

use super::value::Value;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// JSON without comments.
    Json,
    /// JSON with comments and trailing commas.
    Jsonc,
    /// TOML.
    Toml,
}

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// The value of the key at the path.
    Key,
    /// An element of the array at the path.
    Element,
}

/// An entry that is to be in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The names that lead to it.
    pub path: Vec<String>,
    /// Whether it is a key or an element.
    pub kind: EntryKind,
    /// Its value.
    pub value: Value,
}

impl Entry {
    /// Creates the value of a key.
    #[must_use]
    pub fn key(path: &[&str], value: Value) -> Self {
        let path = path.iter().map(|name| (*name).to_owned()).collect();
        Self { path, kind: EntryKind::Key, value }
    }

    /// Creates an element of an array.
    #[must_use]
    pub fn element(path: &[&str], value: Value) -> Self {
        Self { kind: EntryKind::Element, ..Self::key(path, value) }
    }

    /// Returns how the entry is found again.
    #[must_use]
    pub fn target(&self) -> Target {
        Target { path: self.path.clone(), kind: self.kind, value: self.value.to_json() }
    }
}

/// How an entry is found in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The names that lead to it.
    pub path: Vec<String>,
    /// Whether it is a key or an element.
    pub kind: EntryKind,
    /// Its value.
    pub value: Json,
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path.join("."))
    }
}

/// What was found in the place of an entry.
#[derive(Debug, Clone, PartialEq)]
pub enum Found {
    /// Nothing.
    Absent,
    /// The entry.
    Same,
    /// The key has another value.
    Different(Json),
}

/// What insertions added besides the entries, so that removals can take it away.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// The objects and arrays that were created, as JSON pointers.
    #[serde(default)]
    pub created: BTreeSet<String>,
    /// The text that was between the brackets of an empty object or array, by its JSON pointer; in TOML, the text before a table.
    #[serde(default)]
    pub gaps: BTreeMap<String, String>,
}

impl Ledger {
    /// Returns whether the object or array at the path was created.
    #[must_use]
    pub fn is_created(&self, path: &[String]) -> bool {
        self.created.contains(&pointer(path))
    }

    /// Counts the objects and arrays as created that have nothing but the entries, so that they go with the last of them. The document
    /// itself stays.
    pub fn claim(&mut self, document: &Json, entries: &[Target]) {
        for name in document.as_object().into_iter().flat_map(serde_json::Map::keys) {
            self.claim_at(&document[name], &mut vec![name.clone()], entries);
        }
    }

    /// Returns whether a value has nothing but entries.
    fn claim_at(&mut self, value: &Json, path: &mut Vec<String>, entries: &[Target]) -> bool {
        let is_key = |path: &[String]| {
            entries.iter().any(|entry| entry.kind == EntryKind::Key && entry.path == path)
        };
        if is_key(path) {
            return true;
        }
        let has_only_entries = match value {
            Json::Array(items) => {
                let is_element = |item: &Json| {
                    let mut here = entries.iter().filter(|entry| entry.path == *path);
                    here.any(|entry| entry.kind == EntryKind::Element && entry.value == *item)
                };
                !items.is_empty() && items.iter().all(is_element)
            }
            Json::Object(members) => {
                let mut has_only_entries = !members.is_empty();
                for (name, member) in members {
                    path.push(name.clone());
                    has_only_entries &= self.claim_at(member, path, entries);
                    path.pop();
                }
                has_only_entries
            }
            _ => false,
        };
        if has_only_entries {
            self.created.insert(pointer(path));
        }
        has_only_entries
    }

    /// Returns the text that was in the place of what was added at the path.
    #[must_use]
    pub fn gap(&self, path: &[String]) -> Option<&str> {
        self.gaps.get(&pointer(path)).map(String::as_str)
    }
}

/// Returns the JSON pointer of a path.
#[must_use]
pub fn pointer(path: &[String]) -> String {
    path.iter().fold(String::new(), |pointer, name| {
        pointer + "/" + &name.replace('~', "~0").replace('/', "~1")
    })
}

/// Why a text was not edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EditError {
    /// The text is not valid.
    Syntax {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// The reason.
        reason: String,
    },
    /// A value that must be an object or an array is something else.
    Shape {
        /// The names that lead to it.
        path: String,
        /// What it must be.
        expected: &'static str,
    },
    /// The edit would break the text, or change something else in it.
    Unsafe {
        /// The names that lead to the entry.
        path: String,
    },
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { line, column, reason } => {
                write!(f, "line {line}, column {column}: {reason}")
            }
            Self::Shape { path, expected } if path.is_empty() => {
                write!(f, "the file is not {expected}")
            }
            Self::Shape { path, expected } => write!(f, "{path} is not {expected}"),
            Self::Unsafe { path } => {
                write!(f, "the way it is written, {path} cannot be edited without changing more")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_containers_without_anything_else_are_claimed() {
        let element = |path: [&str; 2], value: Json| {
            let path = path.map(str::to_owned).to_vec();
            Target { path, kind: EntryKind::Element, value }
        };
        let (stop, start) =
            (element(["hooks", "Stop"], json!(1)), element(["hooks", "Start"], json!(2)));
        let allow = element(["permissions", "allow"], json!("mcp__loci"));
        let document = json!({"hooks": {"Stop": [1], "Start": [2]}, "permissions": {"allow": ["mcp__loci"], "deny": []}, "x": {}});
        let mut ledger = Ledger::default();
        ledger.claim(&document, &[stop.clone(), start.clone(), allow]);
        let claimed: Vec<&str> = ledger.created.iter().map(String::as_str).collect();
        assert_eq!(claimed, ["/hooks", "/hooks/Start", "/hooks/Stop", "/permissions/allow"]);
        let mut ledger = Ledger::default();
        ledger.claim(&json!({"hooks": {"Stop": [1, 3], "Start": [2]}}), &[stop, start]);
        assert_eq!(ledger.created.len(), 1, "{ledger:?}");
    }
}
