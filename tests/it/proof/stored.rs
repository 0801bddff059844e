//! Reads what a database has, and checks its structure. Not here: what it should have (`effect`).

use crate::proof::effect::{DELETED, MemoryState, State, Triple};
use rusqlite::Connection;
use std::collections::HashMap;
use std::path::Path;

/// The content of a database.
#[derive(Debug)]
pub struct Stored {
    pub state: State,
    /// Ids by text.
    pub ids: HashMap<String, String>,
}

impl Stored {
    /// Reads a database that no daemon has open.
    ///
    /// # Errors
    /// When SQLite finds a fault, a keyword index or a vector does not fit its memory, or a text is
    /// stored twice.
    pub fn read(database: &Path) -> Result<Self, String> {
        let conn = Connection::open(database).map_err(|error| error.to_string())?;
        let stored = Self::of(&conn).map_err(|error| error.to_string())?;
        check_structure(&conn)?;
        let memories: usize = count(&conn, "SELECT count(*) FROM memories")?;
        if memories == stored.state.memories.len() {
            Ok(stored)
        } else {
            Err(format!("{memories} memories, but {} texts", stored.state.memories.len()))
        }
    }

    fn of(conn: &Connection) -> rusqlite::Result<Self> {
        let mut by_id = HashMap::new();
        let mut rows = Vec::new();
        let mut statement =
            conn.prepare("SELECT id, content, status, superseded_by FROM memories")?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            let (id, text): (String, String) = (row.get(0)?, row.get(1)?);
            by_id.insert(id, text.clone());
            rows.push((text, row.get::<_, String>(2)?, row.get::<_, Option<String>>(3)?));
        }
        let text_of = |id: &String| by_id.get(id).cloned().unwrap_or_else(|| DELETED.to_owned());
        let mut state = State::default();
        for (text, status, by) in rows {
            let replaced_by = by.as_ref().map(text_of);
            state.memories.insert(text, MemoryState { status, replaced_by });
        }
        let mut statement =
            conn.prepare("SELECT subject_id, predicate, object_id FROM entity_relations")?;
        let mut found = statement.query([])?;
        while let Some(row) = found.next()? {
            state.relations.insert(Triple {
                subject: text_of(&row.get(0)?),
                predicate: row.get(1)?,
                object: text_of(&row.get(2)?),
            });
        }
        let ids = by_id.into_iter().map(|(id, text)| (text, id)).collect();
        Ok(Self { state, ids })
    }
}

/// Checks pages, foreign keys, and the keyword index against the texts.
fn check_structure(conn: &Connection) -> Result<(), String> {
    let said: String = conn
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .map_err(|error| error.to_string())?;
    if said != "ok" {
        return Err(said);
    }
    let dangling = count(conn, "SELECT count(*) FROM pragma_foreign_key_check")?;
    if dangling > 0 {
        return Err(format!("{dangling} rows refer to missing rows"));
    }
    let words = "INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)";
    conn.execute(words, []).map_err(|error| format!("keyword index: {error}"))?;
    Ok(())
}

fn count(conn: &Connection, sql: &str) -> Result<usize, String> {
    let count: i64 =
        conn.query_row(sql, [], |row| row.get(0)).map_err(|error| error.to_string())?;
    usize::try_from(count).map_err(|error| error.to_string())
}
