//! Groups: the project that a session works in, and the stable id of a project.
//!
//! The shim examines its environment and sends a [`GroupHint`]; the daemon resolves it to a [`Group`]. Not here: the examination (shim).

use crate::limits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::str::FromStr;

/// A group name as a user or an agent gives it: 1 to 128 characters, no control characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct GroupName(String);

impl GroupName {
    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for GroupName {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let name = text.trim();
        if name.is_empty() {
            return Err("must not be empty".to_owned());
        }
        if name.chars().count() > limits::GROUP_CHARS {
            return Err(format!("must have at most {} characters", limits::GROUP_CHARS));
        }
        if name.chars().any(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
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

    /// Returns the group of a folder. Its id is `g_` and the first 16 hexadecimal digits of the SHA-256 of the canonical path; its name is that
    /// of the project's folder.
    #[must_use]
    pub fn of_folder(path: &str) -> Self {
        let project = path.trim_end_matches('/').trim_end_matches("/.git");
        let name = project.rsplit('/').next().filter(|n| !n.is_empty()).unwrap_or(project);
        Self { id: hashed_id(path), name: name.to_owned() }
    }

    /// Returns the group of a project that has a name in `.loci.toml`. Its id is `g_` and the first 16 hexadecimal digits of the SHA-256 of the
    /// canonical path, a line break and the name. The path is included so that a project file cannot select the group of another project.
    #[must_use]
    pub fn of_named_project(path: &str, name: &GroupName) -> Self {
        Self { id: hashed_id(&format!("{path}\n{}", name.0)), name: name.0.clone() }
    }
}

fn hashed_id(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest[..8].iter().fold("g_".to_owned(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}
