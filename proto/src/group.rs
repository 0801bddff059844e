//! Groups: the project that a session works in, and the stable id of a project.
//!
//! The shim examines its environment and sends a [`GroupHint`]; the daemon resolves it to a [`Group`]. Not here: the examination (shim).

use crate::limits;
use crate::sanitize;
use crate::sanitize::Removed;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::str::FromStr;

/// Checks the name of a new project. Every source of names uses this one rule.
///
/// A name must be a valid file name: 1 to 128 characters and at most 200 bytes, no `/`, no control or hidden characters, not only dots.
/// Projects that an earlier version stored under a name that is refused now can still be addressed: [`GroupName`] accepts such names.
///
/// # Errors
/// The fault, as the rest of a sentence that begins with the field's name.
pub fn check_name(name: &str) -> Result<(), String> {
    check_base_rules(name)?;
    if name.len() > limits::GROUP_BYTES {
        return Err(format!("must have at most {} bytes, not {}", limits::GROUP_BYTES, name.len()));
    }
    if name.contains('/') {
        return Err(format!("must not contain /, as {name} does"));
    }
    if sanitize::text(name) != name {
        let mut removed = Removed::default();
        let _ = sanitize::text_of("", name, &mut removed);
        let hidden = removed.into_list().join(", ");
        return Err(format!("must not contain hidden characters, as {hidden}"));
    }
    if name.bytes().all(|byte| byte == b'.') {
        return Err(format!("must not be only dots, as {name} is"));
    }
    Ok(())
}

/// Hint for a name that [`check_name`] refuses.
pub const NAME_HINT: &str =
    "Choose a name that a file could have, of at most 200 bytes, for example my-project";

/// Maximum number of characters of the original name in a cleaned name; the other 9 are a hyphen and 8 digits.
const MAX_KEPT_CHARS: usize = limits::GROUP_CHARS - 9;
/// The same limit in bytes.
const MAX_KEPT_BYTES: usize = limits::GROUP_BYTES - 9;

/// Returns the name if [`check_name`] accepts it, otherwise a valid name derived from it. For names that cannot be refused, such as the
/// name of a folder.
///
/// Hidden characters are removed, `/` becomes `_`, a long name is cut, and 8 hexadecimal digits of the SHA-256 of the name are appended, so that
/// different names stay different. The result depends only on the name.
#[must_use]
pub fn clean_name(name: &str) -> Cow<'_, str> {
    let trimmed = name.trim();
    if trimmed == name && check_name(name).is_ok() {
        return Cow::Borrowed(name);
    }
    let mut kept = String::new();
    let visible = sanitize::text(trimmed);
    for c in visible.chars().take(MAX_KEPT_CHARS) {
        let c = if c == '/' || c.is_control() { '_' } else { c };
        if kept.len() + c.len_utf8() > MAX_KEPT_BYTES {
            break;
        }
        kept.push(c);
    }
    let id = hashed_id(name);
    let digits = &id[2..10];
    // The cut may have taken the character that a joiner needs.
    let kept = sanitize::text(&kept);
    Cow::Owned(format!("{kept}-{digits}"))
}

/// Checks the rules that hold for the names of every version: not empty, not too long, no control characters.
fn check_base_rules(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("must not be empty".to_owned());
    }
    if name.chars().count() > limits::GROUP_CHARS {
        return Err(format!("must have at most {} characters", limits::GROUP_CHARS));
    }
    if name.chars().any(char::is_control) {
        return Err("must not contain control characters".to_owned());
    }
    Ok(())
}

/// The name of a group as a person or an agent writes it: 1 to 128 characters, no control characters.
///
/// Accepts names that [`check_name`] refuses, because a store of an earlier version may have them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct GroupName(String);

impl GroupName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GroupName {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim();
        check_base_rules(name)?;
        Ok(Self(name.to_owned()))
    }
}

impl<'de> Deserialize<'de> for GroupName {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(d)? {
            serde_json::Value::String(text) => text.parse().map_err(D::Error::custom),
            _ => Err(D::Error::custom("must be a string")),
        }
    }
}

impl JsonSchema for GroupName {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "GroupName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string"})
    }
}

/// How the shim identifies its project; an earlier variant takes precedence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum GroupHint {
    /// A name given by the user in `LOCI_GROUP`.
    Named(GroupName),
    /// A name given by the project in `.loci.toml`; valid only together with the project's folder.
    ProjectNamed {
        /// The same folder as in [`GroupHint::Folder`].
        folder: String,
        /// The name in the file.
        name: GroupName,
    },
    /// The canonical folder that identifies the project: its git common directory, otherwise the folder itself.
    Folder(String),
    /// No project was found: the daemon uses `storage.default_group`.
    #[default]
    Default,
}

/// A stored group: an id that never changes, and a display name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The name given by the user, or `g_` and 16 hexadecimal digits (see [`Group::of_folder`], [`Group::of_named_project`]).
    pub id: String,
    /// Display name.
    pub name: String,
}

impl Group {
    /// Returns the group with the given name; the name is also its id.
    #[must_use]
    pub fn named(name: &GroupName) -> Self {
        Self { id: name.0.clone(), name: name.0.clone() }
    }

    /// Returns whether a text has the form of the id of a folder or of a project with a file.
    #[must_use]
    pub fn is_folder_id(text: &str) -> bool {
        text.strip_prefix("g_").is_some_and(|digits| {
            digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    }

    /// Returns the group of a folder. Its id is `g_` and the first 16 hexadecimal digits of the SHA-256 of the canonical path; its name is
    /// that of the project's folder.
    #[must_use]
    pub fn of_folder(path: &str) -> Self {
        let project = path.trim_end_matches('/').trim_end_matches("/.git");
        let name = project.rsplit('/').next().filter(|n| !n.is_empty()).unwrap_or(project);
        Self { id: hashed_id(path), name: clean_name(name).into_owned() }
    }

    /// Returns the group of a project that has a name in `.loci.toml`. Its id is `g_` and the first 16 hexadecimal digits of the SHA-256
    /// of the canonical path, a line break and the name. The path is included so that a project file cannot select the group of another
    /// project.
    #[must_use]
    pub fn of_named_project(path: &str, name: &GroupName) -> Self {
        Self { id: hashed_id(&format!("{path}\n{}", name.0)), name: name.0.clone() }
    }

    /// Returns the group of a folder at the path of another one that was moved away and goes on as `self` there. `identity` says which
    /// folder it is; no name of a project contains the separator.
    #[must_use]
    pub fn of_successor(&self, identity: &str) -> Self {
        Self { id: hashed_id(&format!("{}\u{1f}{identity}", self.id)), name: self.name.clone() }
    }
}

/// Returns 16 hexadecimal digits of the SHA-256 of a line of a repository, by which a copy of it is suspected.
#[must_use]
pub fn trace_of(line: &[u8]) -> String {
    Sha256::digest(line)[..8].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns `g_` and the first 16 hexadecimal digits of the SHA-256 of a text.
fn hashed_id(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest[..8].iter().fold("g_".to_owned(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names that no new project may have.
    const REFUSED: [&str; 11] = [
        "",
        "/",
        "../..",
        "a/b",
        ".",
        "..",
        "...",
        "line\nbreak",
        "escape\u{1b}[0m",
        "al\u{202e}pha",
        "al\u{200b}pha",
    ];

    #[test]
    fn a_name_must_be_a_valid_file_name() {
        for name in
            ["my shop", "проект", "買い物リスト", "Æther 🦀", ".dotfiles", "..a", "a.b", "x\\y"]
        {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        for name in REFUSED {
            assert!(check_name(name).is_err(), "{name:?}");
        }
        assert_eq!(check_name(&"x".repeat(128)), Ok(()));
        assert!(check_name(&"x".repeat(129)).is_err());
        assert_eq!(check_name(&"買".repeat(66)), Ok(()));
        assert!(
            check_name(&"買".repeat(67)).is_err_and(|reason| reason.contains("200 bytes, not 201"))
        );
    }

    #[test]
    fn a_cleaned_name_is_valid_and_different_names_stay_different() {
        assert_eq!(clean_name("買い物"), "買い物");
        let long = "買".repeat(300);
        let family = "👩\u{200d}👧".repeat(60);
        let names: Vec<String> = REFUSED
            .iter()
            .chain(["a_b", &long, "a\0b", &family].iter())
            .map(|name| clean_name(name).into_owned())
            .collect();
        for (index, name) in names.iter().enumerate() {
            assert_eq!(check_name(name), Ok(()), "{name}");
            assert_eq!(clean_name(name), name.as_str(), "a cleaned name is not changed again");
            assert!(!names[..index].contains(name), "{name}");
        }
        assert!(clean_name("a/b").starts_with("a_b-"));
    }

    #[test]
    fn a_project_is_named_after_its_folder() {
        assert_eq!(Group::of_folder("/home/x/.dotfiles/.git").name, ".dotfiles");
        let long = Group::of_folder(&format!("/home/{}", "x".repeat(255))).name;
        assert_eq!(check_name(&long), Ok(()));
        assert_eq!(check_name(&Group::of_folder("/").name), Ok(()));
    }
}
