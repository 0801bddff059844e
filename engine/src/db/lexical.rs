//! The keyword leg: BM25 of SQLite's FTS5.
//!
//! Not here: which words are asked for (`query`), what the scores are worth (`rank`).

use crate::error::Result;
use rusqlite::Connection;

/// Scores of a keyword search.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Hits {
    /// Sequence number and BM25 of every memory that has a word of the query; higher is better.
    pub rows: Vec<(i64, f64)>,
    /// What a short memory with each word once would score: makes BM25 comparable between queries. 0 when no word is known.
    pub ideal: f64,
}

/// Every memory that has one of the words, with its BM25 (k1 1.2, b .75), whatever its status: the caller applies the mask.
///
/// `words` hold letters and digits alone, so quoting them cannot fail.
pub(crate) fn search(conn: &Connection, words: &[String]) -> Result<Hits> {
    let mut hits = Hits::default();
    if words.is_empty() {
        return Ok(hits);
    }
    let expression = words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
    let mut statement = conn.prepare_cached("SELECT rowid, -bm25(memories_fts) FROM memories_fts WHERE memories_fts MATCH ?1")?;
    let rows = statement.query_map([&expression], |row| Ok((row.get(0)?, row.get(1)?)))?;
    hits.rows = rows.collect::<Result<_, _>>()?;
    hits.ideal = ideal(conn, words)?;
    Ok(hits)
}

/// Sum over the known words of FTS5's idf, `ln((N - n + .5) / (n + .5))`, not below 1e-6: BM25 of a text of average length with each once.
fn ideal(conn: &Connection, words: &[String]) -> Result<f64> {
    let total: i64 = conn.prepare_cached("SELECT count(*) FROM memories_fts_docsize")?.query_row([], |row| row.get(0))?;
    let mut statement = conn.prepare_cached("SELECT count(*) FROM memories_fts WHERE memories_fts MATCH ?1")?;
    let mut sum = 0.0;
    for word in words {
        let having: i64 = statement.query_row([format!("\"{word}\"")], |row| row.get(0))?;
        if having > 0 {
            sum += (((total - having) as f64 + 0.5) / (having as f64 + 0.5)).ln().max(1e-6);
        }
    }
    Ok(sum)
}
