//! Groups: which project a session works in, and how a project is named for good.
//!
//! The shim looks at its surroundings and sends a [`Hint`]; the daemon turns it into a [`Group`]. Not here: the looking.

use crate::limits;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::str::FromStr;

/// A group as a person or an agent writes it: 1 to 128 characters, none of them a control character.
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
        if name.is_empty() {
            return Err("must not be empty".to_owned());
        }
        if name.chars().count() > limits::GROUP_CHARS {
            return Err(format!("must have at most {} characters", limits::GROUP_CHARS));
        }
        if name.chars().any(char::is_control) {
            return Err("must not hold control characters".to_owned());
        }
        Ok(Self(name.to_owned()))
    }
}

impl<'de> Deserialize<'de> for GroupName {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(d)? {
            serde_json::Value::String(text) => text.parse().map_err(D::Error::custom),
            _ => Err(D::Error::custom("must be a name in quotes")),
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

/// What the shim found out about its project, strongest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(rename_all = "snake_case")]
pub enum Hint {
    /// A name that the person gave: `LOCI_GROUP`.
    Named(GroupName),
    /// A name that the project gave itself in `.loci.toml`: it counts only beside the project's folder.
    ProjectNamed {
        /// What [`Hint::Folder`] would have said.
        folder: String,
        /// The name in the file.
        name: GroupName,
    },
    /// The canonical folder that stands for the project: its git common directory, else the folder itself.
    Folder(String),
    /// Nothing that could stand for a project: the daemon's `storage.default_group` is used.
    #[default]
    Default,
}

/// A group as it is stored: an id that never changes, and the name that people see.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// The name that a person gave, or `g_` and 16 hexadecimal digits of the folder's path (and of the name that the project gave itself).
    pub id: String,
    /// What lists and tables show.
    pub name: String,
}

impl Group {
    /// The group of a given name; the name is its id.
    #[must_use]
    pub fn named(name: &GroupName) -> Self {
        Self { id: name.0.clone(), name: name.0.clone() }
    }

    /// The group of a folder: `g_` and the first 16 hexadecimal digits of SHA-256 of its canonical path; named after the project's folder.
    #[must_use]
    pub fn of_folder(path: &str) -> Self {
        let project = path.trim_end_matches('/').trim_end_matches("/.git");
        let name = project.rsplit('/').next().filter(|n| !n.is_empty()).unwrap_or(project);
        Self { id: id_of(path), name: name.to_owned() }
    }

    /// The group of a project that names itself in a file of its own: `g_` and the first 16 hexadecimal digits of SHA-256 of its
    /// canonical path, a line break and the name. So whatever the file says, it never reaches the group of another project.
    #[must_use]
    pub fn of_named_project(path: &str, name: &GroupName) -> Self {
        Self { id: id_of(&format!("{path}\n{}", name.0)), name: name.0.clone() }
    }
}

fn id_of(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    digest[..8].iter().fold("g_".to_owned(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}
