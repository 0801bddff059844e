//! What is stored already, as far as an import compares with it.

use crate::bridge::origin::clear_text;
use crate::db::{export_rows, import_rows, memories, tombstones};
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::model::status::Status;
use crate::transfer::record::MemoryLine;
use loci_proto::foreign::{ForeignMemory, IMPORTED, ImportOrigin, text_hash, without_place};
use loci_proto::memory::{MemoryId, Trust};
use rusqlite::Connection;
use serde::Deserialize;
use std::cell::RefCell;
use std::collections::HashMap;

/// A memory that an earlier import has stored.
#[derive(Debug, Clone)]
pub(super) struct Earlier {
    pub origin: ImportOrigin,
    pub line: MemoryLine,
}

impl Earlier {
    /// Returns whether it was not changed here since.
    pub fn is_unedited(&self) -> bool {
        self.origin.text == text_hash(&self.line.content)
    }

    pub fn is_active(&self) -> bool {
        self.line.status == Status::Active.as_str()
    }

    /// Returns whether it has the trust of a person.
    pub fn is_confirmed(&self) -> bool {
        self.line.trust.as_deref() == Some(Trust::Person.as_str())
    }
}

/// What the store has.
pub(super) struct Stored<'a> {
    conn: &'a Connection,
    /// The memories of earlier imports.
    pub earlier: Vec<Earlier>,
    /// Statements of files, with their project.
    pub statements: Statements,
    /// The forgotten statements of the projects that were asked for, by their text without headings.
    forgotten: RefCell<HashMap<String, HashMap<String, MemoryId>>>,
}

impl<'a> Stored<'a> {
    fn empty(conn: &'a Connection) -> Self {
        let (statements, forgotten) = (Statements::default(), RefCell::default());
        Self { conn, earlier: Vec::new(), statements, forgotten }
    }

    /// Reads the memories of earlier imports.
    pub fn load(conn: &'a Connection) -> Result<Self> {
        let mut stored = Self::empty(conn);
        for seq in import_rows::with_metadata(conn, IMPORTED)? {
            let Some(earlier) = earlier(conn, seq)? else { continue };
            if earlier.is_active() && earlier.origin.id.is_none() {
                let Earlier { origin, line } = &earlier;
                let group = line.group.as_deref().unwrap_or_default();
                stored.statements.add(group, &line.content, &origin.path, &origin.place);
            }
            stored.earlier.push(earlier);
        }
        Ok(stored)
    }

    /// Reads the memories of the same texts of the same files, without what these files stated otherwise.
    pub fn of_origins(conn: &'a Connection, origins: &[ImportOrigin]) -> Result<Self> {
        let mut stored = Self::empty(conn);
        for origin in origins {
            for number in 0.. {
                let found = import_rows::find(conn, &origin.memory_id(number))?;
                let Some((seq, _)) = found else { break };
                let Some(same) = earlier(conn, seq)? else { continue };
                if same.origin.path == origin.path && same.origin.text == origin.text {
                    stored.earlier.push(same);
                    break;
                }
            }
        }
        Ok(stored)
    }

    /// Returns the status of a memory, if there is one with this id.
    pub fn status(&self, id: &MemoryId) -> Result<Option<Status>> {
        Ok(memories::by_id(self.conn, id)?.map(|memory| memory.status))
    }

    /// Returns whether there is a memory with this id.
    pub fn has(&self, id: &MemoryId) -> Result<bool> {
        Ok(import_rows::find(self.conn, id)?.is_some())
    }

    /// Returns whether a memory was erased here.
    pub fn was_erased(&self, id: &MemoryId) -> Result<bool> {
        tombstones::has(self.conn, id)
    }

    /// Returns the active memory of a project that has exactly this text.
    pub fn with_text(&self, group: &str, text: &str) -> Result<Option<MemoryId>> {
        let equal = memories::by_hash(self.conn, &hash(text))?.into_iter();
        let mut of_group =
            equal.filter(|memory| memory.group.as_deref() == Some(group) && memory.content == text);
        Ok(of_group.next().map(|memory| memory.id))
    }

    /// Returns the forgotten memory of a project that has this text, or states it under other headings.
    pub fn forgotten(&self, group: &str, memory: &ForeignMemory) -> Result<Option<MemoryId>> {
        let ForeignMemory { content, place, .. } = memory;
        let same = import_rows::forgotten(self.conn, group, content, &hash(content))?;
        let Some(text) = clear_text(content, place) else { return Ok(same) };
        let mut known = self.forgotten.borrow_mut();
        if !known.contains_key(group) {
            let mut texts = HashMap::new();
            for seq in import_rows::forgotten_imports(self.conn, group, IMPORTED)? {
                let Some(Earlier { origin, line }) = earlier(self.conn, seq)? else { continue };
                if let Some(text) = clear_text(&line.content, &origin.place) {
                    texts.insert(text_hash(text), line.id.clone());
                }
            }
            known.insert(group.to_owned(), texts);
        }
        let under_other = known.get(group).and_then(|texts| texts.get(&text_hash(text)));
        Ok(same.or_else(|| under_other.cloned()))
    }
}

/// Returns a memory with where an import had it from; `None` for any other.
fn earlier(conn: &Connection, seq: i64) -> Result<Option<Earlier>> {
    let Some(line) = export_rows::memory_line(conn, seq)? else { return Ok(None) };
    let origin = line.metadata.get(IMPORTED).map(ImportOrigin::deserialize);
    Ok(origin.and_then(std::result::Result::ok).map(|origin| Earlier { origin, line }))
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
        let is_clear = clear_text(&memory.content, &memory.place).is_some();
        let heading = |place: &str| place.rsplit(" > ").next().unwrap_or_default().to_lowercase();
        let places = self.0.get(&(group.to_owned(), text_hash(text)))?;
        let mut others = places.iter().filter(|(path, place)| {
            *path != memory.path && (is_clear || heading(place) == heading(&memory.place))
        });
        others.next().map(|(path, _)| path.as_str())
    }
}
