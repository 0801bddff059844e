//! What is stored already, as far as an import compares with it. Read from a dump of the store.

use crate::client::call::VerbClient;
use crate::output::Problem;
use loci_proto::memory::MemoryId;
use loci_proto::requests::export::{ExportRequest, Layout};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The metadata field that says where an imported memory is from.
pub(super) const IMPORTED: &str = "imported";

/// A memory that an earlier import has stored.
#[derive(Debug, Clone)]
pub(super) struct ImportedMemory {
    pub id: MemoryId,
    pub origin: ImportOrigin,
    /// It was not changed here since.
    pub is_unedited: bool,
    pub is_active: bool,
    /// It has the trust of a person.
    pub is_confirmed: bool,
    /// The line of the memory.
    pub line: Map<String, Value>,
}

/// Where an imported memory is from.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, Deserialize)]
pub(super) struct ImportOrigin {
    /// The format.
    pub from: String,
    /// The file.
    pub path: String,
    /// Where in the file.
    pub place: String,
    /// The id that the program gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Beginning of the SHA-256 of the text that was read.
    pub text: String,
}

/// A project of the store.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct StoredGroup {
    pub id: String,
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
}

/// What the store has.
#[derive(Debug, Default)]
pub(super) struct Existing {
    pub imported: Vec<ImportedMemory>,
    pub groups: Vec<StoredGroup>,
    /// Ids of all memories, and of those that were erased.
    pub ids: HashSet<String>,
    pub erased: HashSet<String>,
    /// Hashes of the texts of active memories, with their project.
    pub texts: HashSet<(String, String)>,
}

impl Existing {
    /// Reads the store.
    ///
    /// # Errors
    /// The daemon cannot be reached, or the store cannot be read.
    pub async fn load(client: &VerbClient) -> Result<Self, Problem> {
        let request = ExportRequest { layout: Layout::Dump, vectors: false };
        let mut answer = client.call_streamed("/export", &request).await?;
        let (mut existing, mut rest) = (Self::default(), Vec::new());
        while let Some(chunk) = answer.next_chunk().await? {
            rest.extend_from_slice(&chunk);
            let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
            let complete: Vec<u8> = rest.drain(..=end).collect();
            complete.split(|byte| *byte == b'\n').for_each(|line| existing.add(line));
        }
        Ok(existing)
    }

    /// Adds one line of a dump.
    pub fn add(&mut self, line: &[u8]) {
        let Ok(fields) = serde_json::from_slice::<Map<String, Value>>(line) else { return };
        let text = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
        match text("kind") {
            "group" => self.groups.extend(serde_json::from_slice(line).ok()),
            "tombstone" => drop(self.erased.insert(text("id").to_owned())),
            "memory" => {
                let Ok(id) = text("id").parse::<MemoryId>() else { return };
                self.ids.insert(id.to_string());
                let hash = text_hash(text("content"));
                let is_confirmed = text("trust") == "person";
                let is_active = text("status") == "active";
                if is_active {
                    self.texts.insert((text("group").to_owned(), hash.clone()));
                }
                let origin = fields.get("metadata").and_then(|metadata| metadata.get(IMPORTED));
                if let Some(origin) = origin
                    && let Ok(origin) = ImportOrigin::deserialize(origin)
                {
                    let is_unedited = origin.text == hash;
                    let line = fields.clone();
                    self.imported.push(ImportedMemory {
                        id,
                        origin,
                        is_unedited,
                        is_active,
                        is_confirmed,
                        line,
                    });
                }
            }
            _ => {}
        }
    }
}

/// Returns the beginning of the SHA-256 of a text in hexadecimal digits.
pub(super) fn text_hash(text: &str) -> String {
    use sha2::{Digest, Sha256};
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes())[..8].iter().fold(String::new(), |mut hash, byte| {
        let _ = write!(hash, "{byte:02x}");
        hash
    })
}
