//! The keyword index of the file, SQLite's FTS5: the durable truth that the warm index has to agree with.
//!
//! Recall reads the warm index (`index`) once it stands; tests and checks compare it with this one.

use crate::db::memories;
use crate::db::memories::{ENTRY, read_entry};
use crate::error::Result;
use crate::model::entry::Entry;
use crate::model::visibility::Visibility;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

/// Memories that a project sees, in use or below a summary, that have one of these words: what the index needs of each, the best by their
/// words first, for as long as more are wanted.
pub(crate) fn matching(
    conn: &Connection,
    words: &[String],
    visibility: &Visibility,
    mut more: impl FnMut(Entry) -> bool,
) -> Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let any: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    let groups = visibility.groups();
    // `Visibility::admits` in SQL.
    let mut statement = conn.prepare_cached(&format!(
        "SELECT {ENTRY} FROM memories_fts CROSS JOIN memories m ON m.seq = memories_fts.rowid
         WHERE memories_fts MATCH ?1 AND (m.scope = 'global' OR m.source_group IN (?2, ?3)) AND m.status IN ('active', 'compacted')
         ORDER BY memories_fts.rank"
    ))?;
    let mut rows = statement.query((any.join(" OR "), groups.first(), groups.last()))?;
    while let Some(row) = rows.next()? {
        if !more(read_entry(row)?) {
            break;
        }
    }
    Ok(())
}

/// Texts that are taken out of the index one by one for as long as all others take to be read anew: FTS5 looks for each of their words and
/// overwrites it in its place.
const LIKE_ONE: usize = 20;

/// Fewer texts than these go one by one however small the store is.
const A_FEW: usize = 500;

/// Whether a change of so many texts is better made with the index made anew.
pub(crate) fn is_much(conn: &Connection, texts: usize) -> Result<bool> {
    Ok(texts > A_FEW && texts * LIKE_ONE > memories::count(conn)?)
}

/// Does a work that changes many texts, and makes the index anew at the end of it instead of at every text.
pub(crate) fn made_anew<T>(conn: &Connection, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let aside = Aside::begin(conn)?;
    let done = work()?;
    drop(aside);
    conn.execute("INSERT INTO memories_fts(memories_fts) VALUES ('rebuild')", [])?;
    Ok(done)
}

/// As long as it lives, the triggers that keep the index in step with the texts do nothing. After every statement with a trigger FTS5
/// writes down what it has. Those of temporary tables go on.
pub(crate) struct Aside<'a>(&'a Connection);

impl<'a> Aside<'a> {
    pub(crate) fn begin(conn: &'a Connection) -> Result<Self> {
        let aside = Self(conn);
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
        Ok(aside)
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        // It has no way to fail for an open connection.
        let _ = self.0.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, true);
    }
}

/// Takes every text out of the index, whatever the texts are.
pub(crate) fn empty(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO memories_fts(memories_fts) VALUES ('delete-all')", [])?;
    Ok(())
}

/// Every memory that has one word, whatever its status: sequence number and `-bm25()` of FTS5 (k1 1.2, b .75).
#[cfg(test)]
pub(crate) fn search(conn: &Connection, word: &str) -> Result<Vec<(i64, f64)>> {
    let mut statement =
        conn.prepare_cached("SELECT rowid, -bm25(memories_fts) FROM memories_fts WHERE memories_fts MATCH ?1 ORDER BY rowid")?;
    let rows =
        statement.query_map([format!("\"{word}\"")], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// What FTS5 makes of a text, in order.
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
