//! The FTS5 index of the database: the durable keyword index.
//!
//! A recall reads it only until the in-memory index (`index`) is loaded. Tests and `doctor` check
//! that both agree.

use crate::db::memories;
use crate::db::memory_row::{ENTRY, SCOPE_OF_M, intact_entry};
use crate::error::Result;
use crate::model::entry::Entry;
use crate::model::visibility::Visibility;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension};

/// Passes the index entries of memories that contain one of these words to `visit`, best BM25 score
/// first, until it returns false. Only visible memories that are neither superseded nor forgotten.
pub(crate) fn matching(
    conn: &Connection,
    words: &[String],
    visibility: &Visibility,
    mut visit: impl FnMut(Entry) -> bool,
) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let groups = visibility.groups();
    // The condition admits more than `Visibility::admits`, which decides below.
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {ENTRY} FROM memories_fts CROSS JOIN memories m ON m.seq = memories_fts.rowid
         WHERE memories_fts MATCH ?1 AND ({SCOPE_OF_M} = 'global' OR m.source_group IN (?2, ?3)) AND m.status NOT IN ('superseded', 'forgotten')
         ORDER BY memories_fts.rank"
    ))?;
    let mut rows = statement.query((quoted.join(" OR "), groups.first(), groups.last()))?;
    while let Some(row) = rows.next()? {
        let entry = intact_entry(conn, row)?.filter(|entry| visibility.admits(entry.audience()));
        if entry.is_some_and(|entry| !visit(entry)) {
            break;
        }
    }
    Ok(())
}

/// Deleting one text from FTS5 takes as long as indexing this many texts: FTS5 looks up each word
/// and overwrites it in place.
const DELETE_COST: usize = 20;

/// At most this many texts are deleted one by one, however small the store is.
const MIN_REBUILD: usize = 500;

/// Returns whether a change of this many texts is faster with a rebuild of FTS5.
pub(crate) fn is_rebuild_cheaper(conn: &Connection, texts: usize) -> Result<bool> {
    Ok(texts > MIN_REBUILD && texts * DELETE_COST > memories::count(conn)?)
}

/// Runs work that changes many texts, then rebuilds FTS5 once instead of updating it for every
/// text.
pub(crate) fn with_rebuild<T>(conn: &Connection, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let triggers_off = TriggersOff::begin(conn)?;
    let outcome = work()?;
    drop(triggers_off);
    conn.execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')", [])?;
    Ok(outcome)
}

/// Turns off the triggers that update FTS5, until it is dropped: FTS5 flushes after every statement
/// with a trigger. Temporary triggers stay on.
pub(crate) struct TriggersOff<'a>(&'a Connection);

impl<'a> TriggersOff<'a> {
    pub(crate) fn begin(conn: &'a Connection) -> Result<Self> {
        let triggers_off = Self(conn);
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        Ok(triggers_off)
    }
}

impl Drop for TriggersOff<'_> {
    fn drop(&mut self) {
        // It cannot fail on an open connection.
        let _ = self.0.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true);
    }
}

/// Deletes every text from the index.
pub(crate) fn delete_all(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO memories_fts(memories_fts) VALUES ('delete-all')", [])?;
    Ok(())
}

/// Returns the newest memory with its text.
pub(crate) fn newest_text(conn: &Connection) -> Result<Option<(i64, String)>> {
    let newest = "SELECT seq, content FROM memories ORDER BY seq DESC LIMIT 1";
    Ok(conn.query_row(newest, [], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Returns whether a memory is found by a word.
pub(crate) fn matches_word(conn: &Connection, seq: i64, word: &str) -> Result<bool> {
    let mut statement =
        conn.prepare("SELECT 1 FROM memories_fts WHERE memories_fts MATCH ?1 AND rowid = ?2")?;
    Ok(statement.exists((format!("\"{word}\""), seq))?)
}

/// Returns the sequence number and the BM25 score (k1 1.2, b 0.75) of every memory with a word,
/// whatever its status.
#[cfg(test)]
pub(crate) fn search(conn: &Connection, word: &str) -> Result<Vec<(i64, f64)>> {
    let mut statement =
        conn.prepare_cached("SELECT rowid, -bm25(memories_fts) FROM memories_fts WHERE memories_fts MATCH ?1 ORDER BY rowid")?;
    let rows =
        statement.query_map([format!("\"{word}\"")], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns the terms of a text as FTS5 tokenises it, in order.
#[cfg(test)]
pub(crate) fn terms(conn: &Connection, text: &str) -> Result<Vec<String>> {
    conn.execute_batch(
        "CREATE VIRTUAL TABLE temp.texts USING fts5(content, tokenize = 'porter unicode61 remove_diacritics 2');
         CREATE VIRTUAL TABLE temp.terms USING fts5vocab(texts, instance);",
    )?;
    conn.execute("INSERT INTO temp.texts(content) VALUES (?1)", [text])?;
    let mut statement = conn.prepare("SELECT term FROM temp.terms ORDER BY offset")?;
    let rows = statement.query_map([], |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
