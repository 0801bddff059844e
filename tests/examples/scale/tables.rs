//! The tables of the store, filled in bulk and queried with SQL only: the nearest vectors of `vec0`
//! and the best texts of FTS5.

use crate::made_up::{Asking, MODEL, Notes};
use crate::{Anything, NOW, RESULTS};
use loci_proto::group::Group;
use rusqlite::Connection;
use std::collections::HashSet;
use std::path::Path;

/// Results of each of the two queries.
const NEAREST: i64 = 50;

pub fn open(path: &Path) -> Result<Connection, Anything> {
    Ok(Connection::open(path)?)
}

/// Stores notes as `store` does, without the duplicate gate.
pub fn fill(path: &Path, notes: &Notes) -> Result<(), Anything> {
    let conn = open(path)?;
    // With the default chunk size of `vec0`: the usual setup is measured, not ours.
    let usual =
        "CREATE VIRTUAL TABLE memories_vec USING vec0(embedding float[384] distance_metric=cosine)";
    conn.execute_batch(&format!(
        "PRAGMA synchronous = OFF; BEGIN; DROP TABLE memories_vec; {usual}"
    ))?;
    {
        let mut memory = conn.prepare(
            "INSERT INTO memories(seq, id, type, content, scope, confidence_at, created_at, updated_at, content_hash, status_at)
             VALUES (?1, ?2, 'episodic', ?3, 'group', ?4, ?4, ?4, ?5, ?4)",
        )?;
        let mut piece = conn.prepare(
            "INSERT INTO memory_pieces(id, memory, piece, model) VALUES (?1, ?1, 0, ?2)",
        )?;
        let mut vector =
            conn.prepare("INSERT INTO memories_vec(rowid, embedding) VALUES (?1, ?2)")?;
        let mut codes =
            conn.prepare("INSERT INTO word_codes(memory, model, codes) VALUES (?1, ?2, ?3)")?;
        for number in 0..notes.len() {
            let (seq, note) = (i64::try_from(number)? + 1, notes.note(number));
            let id = format!("00000000-0000-7000-8000-{seq:012x}");
            let hash = [seq.to_le_bytes(), seq.to_be_bytes()].concat();
            memory.execute((seq, id, &note.text, NOW.0 - 86_400_000, hash))?;
            piece.execute((seq, MODEL))?;
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

/// Assigns every n-th note to one project and the rest to another.
pub fn divide(path: &Path, group: &Group, share: usize) -> Result<(), Anything> {
    let conn = open(path)?;
    for id in [group.id.as_str(), "others"] {
        conn.execute(
            "INSERT OR IGNORE INTO groups(id, name, created_at) VALUES (?1, ?1, 0)",
            [id],
        )?;
    }
    let sql =
        "UPDATE memories SET source_group = CASE WHEN (seq - 1) % ?2 = 0 THEN ?1 ELSE 'others' END";
    conn.execute(sql, (&group.id, i64::try_from(100 / share)?))?;
    Ok(conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)")?)
}

/// The usual way with SQLite: 50 results of each, 20 rows read. It runs without a filter, which is
/// only faster: a filter takes longer, or finds nothing where few memories are admitted.
pub fn ask(conn: &Connection, asking: &Asking) -> Result<usize, Anything> {
    let bytes: Vec<u8> =
        asking.asked.vector.as_slice().iter().flat_map(|v| v.to_le_bytes()).collect();
    let words: Vec<String> = asking
        .text
        .split([' ', '?'])
        .filter(|word| !word.is_empty())
        .map(|word| format!("\"{word}\""))
        .collect();
    let seqs = |sql: &str, what: &dyn rusqlite::ToSql| -> Result<Vec<i64>, Anything> {
        let mut statement = conn.prepare_cached(sql)?;
        let rows = statement.query_map((what, NEAREST), |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    };
    let near = seqs(
        "SELECT rowid FROM memories_vec WHERE embedding MATCH ?1 AND k = ?2 ORDER BY distance",
        &bytes,
    )?;
    let best = "SELECT rowid FROM memories_fts WHERE memories_fts MATCH ?1 ORDER BY bm25(memories_fts) LIMIT ?2";
    let best = seqs(best, &words.join(" OR "))?;
    let mut seen = HashSet::new();
    let chosen = near
        .iter()
        .zip(&best)
        .flat_map(|(a, b)| [*a, *b])
        .filter(|seq| seen.insert(*seq))
        .take(RESULTS);
    let mut row =
        conn.prepare_cached("SELECT id, type, content, scope, status, confidence, created_at, metadata FROM memories WHERE seq = ?1")?;
    let mut length = 0;
    for seq in chosen {
        length += row.query_row([seq], |row| row.get::<_, String>(2))?.len();
    }
    Ok(length)
}
