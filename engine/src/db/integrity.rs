//! Checks of the database for faults: pages, foreign keys, the keyword index.

use crate::error::Result;
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;

/// Part of SQLite's message about a virtual table that cannot be opened.
pub(crate) const CONSTRUCTOR_FAILED: &str = "vtable constructor failed";
/// Maximum number of faults that a check returns.
const MAX_FAULTS: i64 = 100;

/// What a full check of the structure found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Structure {
    /// Faults of pages and tables: data may be lost.
    pub pages: Vec<String>,
    /// Indexes that differ from their tables. They can be built again.
    pub indexes: Vec<String>,
    /// Faults of the keyword index. It can be built again.
    pub keywords: Vec<String>,
    /// Rows that break a constraint of their table.
    pub rows: Vec<String>,
}

impl Structure {
    /// Returns all faults, the worst first.
    pub(crate) fn faults(&self) -> impl Iterator<Item = &String> {
        [&self.pages, &self.rows, &self.indexes, &self.keywords].into_iter().flatten()
    }

    fn add(&mut self, fault: &str) {
        let has = |words: &[&str]| words.iter().any(|word| fault.contains(word));
        let faults = if has(&["FTS5", "memories_fts"]) {
            &mut self.keywords
        } else if has(&["missing from index", "entries in index", "non-unique entry in index"]) {
            &mut self.indexes
        } else if has(&["CHECK constraint failed", " value in "]) {
            &mut self.rows
        } else {
            &mut self.pages
        };
        faults.push(fault.to_owned());
    }
}

/// Checks every page, every index against its table, and the constraints of every row. Needs a new
/// connection, see [`crate::Reader::fresh_connection`].
pub(crate) fn structure(conn: &Connection) -> Result<Structure> {
    let mut found = Structure::default();
    let mut statement = conn.prepare(&format!("PRAGMA integrity_check({MAX_FAULTS})"))?;
    let rows = statement.query_map([], |row| row.get::<_, String>(0));
    let texts = rows.and_then(Iterator::collect::<rusqlite::Result<Vec<_>>>);
    match texts {
        Ok(texts) => texts
            .iter()
            .flat_map(|text| text.lines())
            .filter(|line| *line != "ok" && !line.starts_with("***"))
            .for_each(|fault| found.add(fault)),
        Err(fault) if is_corrupt(&fault) => found.pages.push(fault.to_string()),
        // The message names the virtual table whose shadow tables are damaged.
        Err(fault) if fault.to_string().contains(CONSTRUCTOR_FAILED) => {
            found.add(&fault.to_string());
        }
        Err(fault) => return Err(fault.into()),
    }
    Ok(found)
}

/// Returns whether SQLite has found damage.
pub(crate) fn is_corrupt(fault: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(fault.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

/// Builds all indexes again.
pub(crate) fn rebuild_indexes(conn: &Connection) -> Result<()> {
    Ok(conn.execute_batch("REINDEX")?)
}

/// Returns the memories whose id in the index of ids is not that of the row.
pub(crate) fn differing_ids(conn: &Connection) -> Result<Vec<(i64, String)>> {
    // Ordered by id, SQLite reads the index alone.
    let mut by_index = conn.prepare("SELECT seq, id FROM memories ORDER BY id")?;
    let mut by_row = conn.prepare("SELECT id FROM memories NOT INDEXED WHERE seq = ?1")?;
    let mut rows = by_index.query([])?;
    let mut differing = Vec::new();
    while let Some(row) = rows.next()? {
        let (seq, id) = (row.get::<_, i64>(0)?, row.get_ref(1)?);
        let is_equal = by_row.query_row([seq], |row| Ok(row.get_ref(0)? == id)).optional()?;
        if is_equal == Some(false) {
            let id = String::from_utf8_lossy(id.as_bytes().unwrap_or_default()).into_owned();
            differing.push((seq, id));
        }
    }
    Ok(differing)
}

/// Returns the table or index of each of these pages that is in use; free pages are left out.
pub(crate) fn owners(conn: &Connection, pages: &[u32]) -> Result<BTreeMap<u32, String>> {
    let mut statement = conn.prepare("SELECT pageno, name FROM dbstat")?;
    let mut rows = statement.query([])?;
    let mut owners = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let page = row.get(0)?;
        if pages.contains(&page) {
            owners.insert(page, row.get(1)?);
        }
    }
    Ok(owners)
}

/// Returns the distance between the pages that map all others to their parents; the first is page 2.
/// `None` if the file has none.
pub(crate) fn page_maps(conn: &Connection) -> Result<Option<u32>> {
    let number =
        |name: &str| -> Result<u32> { Ok(conn.pragma_query_value(None, name, |row| row.get(0))?) };
    // Each map has 5 bytes for each page that follows it.
    Ok((number("auto_vacuum")? > 0).then_some(number("page_size")? / 5 + 1))
}

/// Counts rows that refer to missing rows.
pub(crate) fn dangling(conn: &Connection) -> Result<usize> {
    let mut statement = conn.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    let mut count = 0;
    while rows.next()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Fails if the keyword index differs from the texts. Needs the writing connection, and writes
/// nothing.
pub(crate) fn words(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO memories_fts(memories_fts, rank) VALUES ('integrity-check', 1)", [])?;
    Ok(())
}

/// Returns the version of the schema.
pub(crate) fn schema(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Returns the size of the database in bytes as SQLite counts it.
pub(crate) fn size(conn: &Connection) -> Result<i64> {
    Ok(conn.query_row(
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
        [],
        |row| row.get(0),
    )?)
}

/// Damages the keyword index for a test: removes a text from it but keeps the row.
#[cfg(test)]
pub(crate) fn spoil_words(conn: &Connection) -> Result<()> {
    conn.execute("INSERT INTO memories_fts(memories_fts, rowid, content) SELECT 'delete', seq, content FROM memories LIMIT 1", [])?;
    Ok(())
}

/// Damages a memory for a test: sets a column to an SQL expression that its constraints forbid.
#[cfg(test)]
pub(crate) fn spoil_row(conn: &Connection, seq: i64, column: &str, expression: &str) {
    let sql = format!(
        "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF;
         UPDATE memories SET {column} = {expression} WHERE seq = {seq};
         PRAGMA ignore_check_constraints = OFF; PRAGMA foreign_keys = ON;"
    );
    conn.execute_batch(&sql).expect("the row is damaged");
}

/// Damages the vector of a memory for a test.
#[cfg(test)]
pub(crate) fn spoil_vector(conn: &Connection, memory: i64, vector: &[u8]) {
    let sql = "UPDATE memories_vec SET embedding = ?2 WHERE rowid = (SELECT id FROM memory_pieces WHERE memory = ?1)";
    assert_eq!(conn.execute(sql, (memory, vector)).expect("the vector is damaged"), 1);
}
