//! The keyword leg: which memories have a word, as SQLite's FTS5 knows it.
//!
//! Not here: which words are asked for (`query`), how rare they are among what a search may find (`bm25`).

use crate::error::Result;
use rusqlite::Connection;

/// Every memory that has one word, whatever its status: sequence number and weight, the word's saturated frequency in the text.
pub(crate) type Having = Vec<(i64, f64)>;

/// What FTS5 knows of each word, in order: which memories have it and how much they are about it (k1 1.2, b .75).
///
/// FTS5 gives the product of that weight and its own idf, which counts every row of the table; its idf is divided out again.
/// Words hold letters and digits alone, so quoting them cannot fail.
pub(crate) fn search(conn: &Connection, words: &[String]) -> Result<Vec<Having>> {
    let total: i64 = conn.prepare_cached("SELECT count(*) FROM memories_fts_docsize")?.query_row([], |row| row.get(0))?;
    let mut statement = conn.prepare_cached("SELECT rowid, -bm25(memories_fts) FROM memories_fts WHERE memories_fts MATCH ?1")?;
    let mut found = Vec::with_capacity(words.len());
    for word in words {
        let rows = statement.query_map([format!("\"{word}\"")], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let having = rows.collect::<Result<Having, _>>()?;
        let n = having.len() as f64;
        let idf = ((total as f64 - n + 0.5) / (n + 0.5)).ln().max(1e-6);
        found.push(having.into_iter().map(|(seq, score)| (seq, score / idf)).collect());
    }
    Ok(found)
}
