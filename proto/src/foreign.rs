//! Memories of other programs as `locid read` prints them for `loci import --from`.
//!
//! One line of JSON: a [`Reading`]. Not here: the formats of the programs (`loci_import`), and what is imported of it (shim).

use crate::group::GroupHint;
use crate::memory::{Confidence, MemoryId, MemoryType, Scope, string_enum};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::str::FromStr;

/// Maximum number of texts left out that are listed with their place; the others are counted.
pub const MAX_SKIPPED: usize = 1000;
/// Maximum number of reasons by which they are counted, without [`OTHER_REASONS`].
const MAX_REASONS: usize = 20;
/// Maximum number of doubts that are listed.
pub const MAX_NOTICES: usize = 100;
/// Where those with a further reason are counted.
const OTHER_REASONS: &str = "other reasons";

/// The metadata field that says where an imported memory is from.
pub const IMPORTED: &str = "imported";

string_enum! {
    /// A format that loci can read memories from.
    Format {
        /// Claude Code's memory: `~/.claude/projects/*/memory`.
        ClaudeMemory = "claude-memory",
        /// `CLAUDE.md` and the files beside it that Claude Code reads.
        ClaudeMd = "claude-md",
        /// `AGENTS.md`.
        AgentsMd = "agents-md",
        /// Codex's memory: `~/.codex/memories`.
        CodexMemory = "codex-memory",
        /// The knowledge graph of the reference server `server-memory`.
        ServerMemory = "server-memory",
        /// The database of mcp-memory-service.
        McpMemoryService = "mcp-memory-service",
        /// The notes of basic-memory.
        BasicMemory = "basic-memory",
        /// The database of engram, or its JSON export.
        Engram = "engram",
        /// A JSON export of mem0, or its history database.
        Mem0 = "mem0",
        /// The database of loci-mcp.
        LociMcp = "loci-mcp",
        /// The chunks of loomem as JSON.
        Loomem = "loomem",
        /// Any Markdown files, also those of `loci export --format markdown`.
        Markdown = "markdown",
    } "the name of a format, see loci import --help"
}

string_enum! {
    /// A client that leaves transcripts of its sessions.
    Client {
        /// Claude Code.
        Claude = "claude",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
        /// `OpenCode`.
        Opencode = "opencode",
    } "claude, codex, gemini or opencode"
}

/// What an import reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportSource {
    /// The memories of a program.
    Memories(Format),
    /// The transcripts of clients.
    Transcripts,
}

impl FromStr for ImportSource {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "history" { Ok(Self::Transcripts) } else { text.parse().map(Self::Memories) }
    }
}

impl fmt::Display for ImportSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memories(format) => f.write_str(format.as_str()),
            Self::Transcripts => f.write_str("history"),
        }
    }
}

/// A line of the body of an import from another program: first the files and projects, then the memories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ForeignLine {
    /// A file that was read.
    File {
        /// Its path, as [`ForeignMemory::path`] names it.
        path: String,
    },
    /// What a project of the source is on this machine.
    Project(LocalProject),
    /// A memory.
    Memory(Box<ForeignMemory>),
}

/// What a project of the source is on this machine, where it has a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalProject {
    /// The project as the source names it.
    pub project: ForeignProject,
    /// The project of a session in its folder.
    pub hint: GroupHint,
    /// Its `.loci.toml` switches loci off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
    /// It has a `.loci.toml`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opted_in: bool,
    /// It keeps its memories to itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub isolated: bool,
}

/// Where a finding was learned: it is stored as a candidate, under an id that is the same in every reading.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Learned {
    /// The id of the memory.
    pub id: MemoryId,
    /// The client that wrote the transcript.
    pub client: String,
    /// The client's id of the session.
    pub session: String,
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// The files that were read, as [`ForeignMemory::path`] names them.
    pub files: Vec<String>,
    /// The memories, in the order of their files.
    pub memories: Vec<ForeignMemory>,
    /// What was left out, at most [`MAX_SKIPPED`]. [`Reading::skip`] adds to it.
    pub skipped: Vec<SkippedText>,
    /// How many others were left out, by reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped_more: BTreeMap<String, usize>,
    /// Doubts that the person should know, such as a project that is not sure; at most [`MAX_NOTICES`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
    /// What the projects of the memories are on this machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<LocalProject>,
    /// Records that loci itself has written, as lines of an export without header and end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<Value>,
}

impl Reading {
    /// Notes what was left out.
    pub fn skip(&mut self, text: SkippedText) {
        if self.skipped.len() < MAX_SKIPPED {
            return self.skipped.push(text);
        }
        let is_listed =
            self.skipped_more.len() < MAX_REASONS || self.skipped_more.contains_key(&text.reason);
        let reason = if is_listed { text.reason } else { OTHER_REASONS.to_owned() };
        *self.skipped_more.entry(reason).or_default() += 1;
    }

    /// Notes a doubt, once.
    pub fn notice(&mut self, text: String) {
        if self.notices.len() < MAX_NOTICES && !self.notices.contains(&text) {
            self.notices.push(text);
        }
    }
}

/// A memory of another program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForeignMemory {
    /// The file, with `~` for the home folder.
    pub path: String,
    /// The folder that was named, below which the file is found again if the folder is renamed; absent where the place of files is fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Where in the file: the headings above a statement, or the id that the program gave it.
    pub place: String,
    /// The id that the program gave it, which stays when its text changes; absent for a statement of a Markdown file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_id: Option<String>,
    /// Where it was learned, if a transcript taught it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<Learned>,
    /// The type.
    #[serde(rename = "type")]
    pub kind: MemoryType,
    /// Who may see it.
    pub scope: Scope,
    /// The project that it belongs to; absent if the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ForeignProject>,
    /// The person wrote the file, and nobody else's tools or repositories did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_person: bool,
    /// It does not fade.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// When it was created, in milliseconds since 1970.
    pub created_at: i64,
    /// When it was last changed.
    pub updated_at: i64,
    /// The confidence, where the program has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Metadata: an event date, tags, the name of an entity.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Relations to other entities, by [`ForeignMemory::own_id`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<ForeignRelation>,
    /// The text.
    pub content: String,
}

/// Where an imported memory is from. The import and the bridge give a statement of a file the same one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportOrigin {
    /// The format.
    pub from: String,
    /// The file.
    pub path: String,
    /// The folder that was named, if the file may move with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Where in the file.
    pub place: String,
    /// The id that the program gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Beginning of the SHA-256 of the text that was read.
    pub text: String,
}

impl ImportOrigin {
    /// Returns the path of the file.
    #[must_use]
    pub fn whole_path(&self) -> &str {
        &self.path
    }

    /// Returns the path of the file below the folder that was named, or the whole path.
    #[must_use]
    pub fn path_in_root(&self) -> &str {
        let below = self.root.as_deref().and_then(|root| self.path.strip_prefix(root));
        below.map_or(self.path.as_str(), |path| path.trim_start_matches('/'))
    }

    /// Returns the id of the memory, which depends only on the source; `number` tells equal statements of a file apart.
    #[must_use]
    pub fn memory_id(&self, number: u32) -> MemoryId {
        let text = if self.id.is_some() { "" } else { self.text.as_str() };
        let parts = [&self.from, self.path_in_root(), self.id.as_deref().unwrap_or_default(), text];
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        hash.update(number.to_be_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&hash.finalize()[..16]);
        MemoryId::from(uuid::Builder::from_custom_bytes(bytes).into_uuid())
    }
}

/// Returns the beginning of the SHA-256 of a text in hexadecimal digits.
#[must_use]
pub fn text_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())[..8].iter().fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}

/// Returns a statement without the headings above it, with which its text begins.
#[must_use]
pub fn without_place<'a>(content: &'a str, place: &str) -> &'a str {
    let rest = content.strip_prefix(place).and_then(|rest| rest.strip_prefix(": "));
    rest.filter(|_| !place.is_empty()).unwrap_or(content)
}

/// The project of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForeignProject {
    /// A folder.
    Folder(String),
    /// The repository that a folder is in; outside any, the project of the working directory.
    RepositoryOf(String),
    /// A name that the program gave it.
    Named(String),
    /// One of several folders, or one that is not here; [`Reading::notices`] says it.
    Unsure(Vec<String>),
}

/// A relation of two entities.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignRelation {
    /// What relates them.
    pub predicate: String,
    /// The own id of the other entity.
    pub to: String,
    /// The file of the other entity, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl ForeignRelation {
    /// Returns the id of the relation, which depends only on what it relates and how.
    #[must_use]
    pub fn id(&self, subject: &MemoryId, object: &MemoryId) -> String {
        let text = format!("{subject} {} {object}", self.predicate);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
        uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
    }
}

/// A text that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedText {
    /// The file, as [`ForeignMemory::path`] names it.
    pub path: String,
    /// Where in the file; empty for the whole file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub place: String,
    /// Why.
    pub reason: String,
}
