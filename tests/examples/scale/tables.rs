//! Fills the tables of the store in bulk, and searches them with SQL only: the nearest vectors of
//! `vec0` and the best texts of FTS5.

use crate::made_up::{Asking, MODEL, Notes};
use crate::{Anything, NOW, RESULTS};
use loci_proto::group::Group;
use rusqlite::Connection;
use std::collections::HashSet;
use std::path::Path;

/// Maximum number of results of each of the two queries.
const NEAREST: i64 = 50;

pub fn open(path: &Path) -> Result<Connection, Anything> {
    Ok(Connection::open(path)?)
}

/// Stores notes as `store` does, without the duplicate gate.
pub fn fill(path: &Path, notes: &Notes) -> Result<(), Anything> {
    let conn = open(path)?;
    // The table of vectors stays as loci makes it: another one would be built again.
    conn.execute_batch("PRAGMA synchronous = OFF; BEGIN")?;
    {
        let mut memory = conn.prepare(
            "INSERT INTO memories(seq, id, type, content, scope, confidence_at, created_at, updated_at, content_hash, status_at)
             VALUES (?1, ?2, 'episodic', ?3, 'group', ?4, ?4, ?4, ?5, ?4)",
        )?;
        let mut chunk = conn.prepare(
            "INSERT INTO memory_pieces(id, memory, piece, model) VALUES (?1, ?1, 0, ?2)",
        )?;
        let mut vector =
            conn.prepare("INSERT INTO memories_vec(rowid, embedding) VALUES (?1, ?2)")?;
        let mut codes =
            conn.prepare("INSERT INTO word_codes(memory, model, codes) VALUES (?1, ?2, ?3)")?;
        for number in 0..notes.len() {
            let (seq, note) = (i64::try_from(number)? + 1, notes.note(number));
            let id = format!("00000000-0000-7000-8000-{seq:012x}");
            let hash = loci_engine::duplicate::content_hash::hash(&note.text);
            memory.execute((seq, id, &note.text, NOW.0 - 86_400_000, hash))?;
            chunk.execute((seq, MODEL))?;
            vector.execute((
                seq,
                note.vector.as_slice().iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>(),
            ))?;
            codes.execute((
                seq,
                MODEL,
                note.codes
                    .iter()
                    .flat_map(loci_engine::model::encoding::SignCode::bytes)
                    .collect::<Vec<u8>>(),
            ))?;
        }
    }
    Ok(conn.execute_batch("COMMIT")?)
}

/// Assigns `percent` % of the notes, evenly spaced, to a project and the rest to another.
pub fn assign_notes(path: &Path, group: &Group, percent: usize) -> Result<(), Anything> {
    let conn = open(path)?;
    for id in [group.id.as_str(), "others"] {
        conn.execute(
            "INSERT OR IGNORE INTO groups(id, name, created_at) VALUES (?1, ?1, 0)",
            [id],
        )?;
    }
    let sql =
        "UPDATE memories SET source_group = CASE WHEN (seq - 1) % ?2 = 0 THEN ?1 ELSE 'others' END";
    conn.execute(sql, (&group.id, i64::try_from(100 / percent)?))?;
    Ok(conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?)
}

/// Searches as is usual with SQLite: 50 results of each query, of which 20 rows are read. Without a
/// filter, which would take longer, or find nothing where few memories are eligible.
pub fn search(conn: &Connection, asking: &Asking) -> Result<usize, Anything> {
    let bytes: Vec<u8> =
        asking.encoding.vector.as_slice().iter().flat_map(|v| v.to_le_bytes()).collect();
    let words: Vec<String> = asking
        .text
        .split([' ', '?'])
        .filter(|word| !word.is_empty())
        .map(|word| format!("\"{word}\""))
        .collect();
    let seqs = |sql: &str, query: &dyn rusqlite::ToSql| -> Result<Vec<i64>, Anything> {
        let mut statement = conn.prepare_cached(sql)?;
        let rows = statement.query_map((query, NEAREST), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    };
    let by_vector = seqs(
        "SELECT rowid FROM memories_vec WHERE embedding MATCH ?1 AND k = ?2 ORDER BY distance",
        &bytes,
    )?;
    let sql = "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?1 ORDER BY bm25(memories_fts) LIMIT ?2";
    let by_keyword = seqs(sql, &words.join(" OR "))?;
    let mut seen = HashSet::new();
    let merged = by_vector
        .iter()
        .zip(&by_keyword)
        .flat_map(|(a, b)| [*a, *b])
        .filter(|seq| seen.insert(*seq))
        .take(RESULTS);
    let mut row =
        conn.prepare_cached("SELECT id, type, content, scope, status, confidence, created_at, metadata FROM memories WHERE seq = ?1")?;
    let mut length = 0;
    for seq in merged {
        length += row.query_row([seq], |row| row.get::<_, String>(2))?.len();
    }
    Ok(length)
}
