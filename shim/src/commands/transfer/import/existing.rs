//! What is stored already, as far as an import compares with it. Read from a dump of the store.

use crate::client::call::VerbClient;
use crate::output::Problem;
use loci_proto::foreign::{ForeignMemory, IMPORTED, ImportOrigin, text_hash, without_place};
use loci_proto::memory::MemoryId;
use loci_proto::requests::export::{ExportRequest, Layout};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Words from which a statement of a file is understood without the headings above it.
const MIN_CLEAR_WORDS: usize = 5;

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
    /// The same of forgotten memories.
    pub forgotten: HashSet<(String, String)>,
    /// Statements of files, with their project.
    pub statements: Statements,
}

/// Where statements are stated, by project and by their text without headings.
#[derive(Debug, Default)]
pub(super) struct Statements(HashMap<(String, String), Vec<(String, String)>>);

impl Statements {
    /// Adds a statement.
    pub fn add(&mut self, group: &str, content: &str, path: &str, place: &str) {
        let text = text_hash(without_place(content, place));
        let places = self.0.entry((group.to_owned(), text)).or_default();
        places.push((path.to_owned(), place.to_owned()));
    }

    /// Returns another file of the project that has the same statement. Under another heading it is the same from a number of words on:
    /// shorter ones need their heading to be understood.
    pub fn other_file(&self, group: &str, memory: &ForeignMemory) -> Option<&str> {
        let text = without_place(&memory.content, &memory.place);
        let is_clear = text.split_whitespace().nth(MIN_CLEAR_WORDS - 1).is_some();
        let heading = |place: &str| place.rsplit(" > ").next().unwrap_or_default().to_lowercase();
        let places = self.0.get(&(group.to_owned(), text_hash(text)))?;
        let mut others = places.iter().filter(|(path, place)| {
            *path != memory.path && (is_clear || heading(place) == heading(&memory.place))
        });
        others.next().map(|(path, _)| path.as_str())
    }
}

impl Existing {
    /// Reads the store.
    ///
    /// # Errors
    /// The daemon cannot be reached, or the store cannot be read.
    pub async fn load(client: &VerbClient) -> Result<Self, Problem> {
        let mut existing = Self::default();
        for_each_line(client, |line| existing.add(line)).await?;
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
                let texts = match text("status") {
                    "active" => Some(&mut self.texts),
                    "forgotten" => Some(&mut self.forgotten),
                    _ => None,
                };
                texts.map(|texts| texts.insert((text("group").to_owned(), hash.clone())));
                let origin = fields.get("metadata").and_then(|metadata| metadata.get(IMPORTED));
                if let Some(origin) = origin
                    && let Ok(origin) = ImportOrigin::deserialize(origin)
                {
                    let is_unedited = origin.text == hash;
                    if is_active && origin.id.is_none() {
                        let (group, content) = (text("group"), text("content"));
                        self.statements.add(group, content, &origin.path, &origin.place);
                    }
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

/// Calls a function with each line of a dump of the store.
///
/// # Errors
/// The daemon cannot be reached, or the store cannot be read.
pub(super) async fn for_each_line(
    client: &VerbClient,
    mut use_line: impl FnMut(&[u8]),
) -> Result<(), Problem> {
    let request = ExportRequest { layout: Layout::Dump, ..ExportRequest::default() };
    let mut answer = client.call_streamed("/export", &request).await?;
    let mut rest = Vec::new();
    while let Some(chunk) = answer.next_chunk().await? {
        rest.extend_from_slice(&chunk);
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
        let complete: Vec<u8> = rest.drain(..=end).collect();
        complete.split(|byte| *byte == b'\n').for_each(&mut use_line);
    }
    Ok(())
}
