//! Rows of `memory_pieces` and `memories_vec`: the durable vectors, stored together with the sign
//! codes. The column `model` has the name of the vector set.
//!
//! Not here: searching them (`index`, in memory), the rows of the codes (`codes`) and of the sets
//! (`vector_sets`).

use crate::db::damage::{self, DamagedRow, Source};
use crate::db::memory_row::{check_hash, column_error, metadata};
use crate::db::{SeqRange, codes};
use crate::error::Result;
use crate::failpoint::failpoint;
use crate::model::document;
use crate::model::document::Document;
use crate::model::encoding::{DIMENSIONS, DocumentEncoding, Embedding};
use crate::model::withheld::Withheld;
use rusqlite::{CachedStatement, Connection, Row, Rows};

/// Stores the vectors of a memory in a set, one for each chunk of its text, and its sign codes.
pub(crate) fn insert(
    conn: &Connection,
    memory: i64,
    set: &str,
    encoding: &DocumentEncoding,
) -> Result<()> {
    VectorWriter::new(conn)?.insert(memory, set, encoding)
}

/// Stores vectors and sign codes of many memories. Its prepared statements are looked up once.
pub(crate) struct VectorWriter<'a> {
    chunk: CachedStatement<'a>,
    vector: CachedStatement<'a>,
    codes: CachedStatement<'a>,
}

impl<'a> VectorWriter<'a> {
    pub(crate) fn new(conn: &'a Connection) -> Result<Self> {
        Ok(Self {
            chunk: conn.prepare_cached(
                "INSERT INTO memory_pieces(memory, piece, model) VALUES (?1, ?2, ?3)",
            )?,
            vector: conn
                .prepare_cached("INSERT INTO memories_vec(rowid, embedding) VALUES (?1, ?2)")?,
            codes: codes::statement(conn)?,
        })
    }

    pub(crate) fn insert(
        &mut self,
        memory: i64,
        set: &str,
        encoding: &DocumentEncoding,
    ) -> Result<()> {
        for (number, vector) in encoding.vectors.iter().enumerate() {
            let number = i64::try_from(number).unwrap_or(i64::MAX);
            let id = self.chunk.insert((memory, number, set))?;
            self.vector.execute((id, to_bytes(vector)))?;
        }
        failpoint!("after the vectors of a memory");
        encoding
            .words
            .as_ref()
            .map_or(Ok(()), |words| codes::put(&mut self.codes, memory, set, words))
    }
}

/// Deletes the vectors and codes of a memory, in every set.
pub(crate) fn delete(conn: &Connection, memory: i64) -> Result<()> {
    let mut delete_chunks =
        conn.prepare_cached("DELETE FROM memory_pieces WHERE memory = ?1 RETURNING id")?;
    let chunks: Vec<i64> =
        delete_chunks.query_map([memory], |row| row.get(0))?.collect::<Result<_, _>>()?;
    delete_rows(conn, &chunks)?;
    codes::delete(conn, memory)
}

/// Deletes the vectors and codes of a memory in one set.
pub(crate) fn delete_in(conn: &Connection, memory: i64, set: &str) -> Result<()> {
    let mut delete_chunks = conn.prepare_cached(
        "DELETE FROM memory_pieces WHERE memory = ?1 AND model = ?2 RETURNING id",
    )?;
    let chunks: Vec<i64> =
        delete_chunks.query_map((memory, set), |row| row.get(0))?.collect::<Result<_, _>>()?;
    delete_rows(conn, &chunks)?;
    codes::delete_in(conn, memory, set)
}

/// Deletes vectors one by one: with `IN`, vec0 scans all vectors.
fn delete_rows(conn: &Connection, chunks: &[i64]) -> Result<()> {
    let mut delete_vector = conn.prepare_cached("DELETE FROM memories_vec WHERE rowid = ?1")?;
    for chunk in chunks {
        delete_vector.execute([chunk])?;
    }
    failpoint!("after the deletion of vectors");
    Ok(())
}

/// Returns whether a set has no vectors.
pub(crate) fn is_empty(conn: &Connection, set: &str) -> Result<bool> {
    Ok(!conn.prepare_cached("SELECT 1 FROM memory_pieces WHERE model = ?1")?.exists([set])?)
}

/// Returns at most `limit` memories after `after` that have vectors in a set, oldest first.
pub(crate) fn memories_in(
    conn: &Connection,
    set: &str,
    after: i64,
    limit: usize,
) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(
        "SELECT DISTINCT memory FROM memory_pieces WHERE memory > ?2 AND model = ?1
         ORDER BY memory LIMIT ?3",
    )?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((set, after, limit), |row| row.get(0))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Number of memories that a recall may find, and how many of them are in a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EncodedCount {
    pub encoded: u64,
    pub all: u64,
}

/// Condition of a memory `m` that is not withheld: ?2 has the projects, ?3 the time.
macro_rules! not_withheld {
    () => {
        "coalesce(m.source_group, '') NOT IN (SELECT value FROM json_each(?2))
         AND (?3 IS NULL OR m.expires_at IS NULL OR m.expires_at > ?3)"
    };
}

/// Counts the memories that a recall may find and that are not withheld, and those of them that have
/// vectors in a set.
pub(crate) fn count(conn: &Connection, set: &str, withheld: &Withheld) -> Result<EncodedCount> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT count(*), count(p.id) FROM memories m
         LEFT JOIN memory_pieces p ON p.memory = m.seq AND p.model = ?1 AND p.piece = 0
         WHERE m.status NOT IN ('superseded', 'forgotten') AND ",
        not_withheld!()
    ))?;
    let read = |row: &Row<'_>| {
        let count = |index| row.get::<_, i64>(index).map(i64::cast_unsigned);
        Ok(EncodedCount { all: count(0)?, encoded: count(1)? })
    };
    let (groups, expired_at) = withheld.parameters();
    Ok(statement.query_row((set, groups, expired_at), read)?)
}

/// Returns the size of the texts of the memories that [`count`] counts and that have no vector in a set, in bytes.
pub(crate) fn missing_bytes(conn: &Connection, set: &str, withheld: &Withheld) -> Result<u64> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT coalesce(sum(octet_length(m.content) + coalesce(octet_length(m.metadata ->> '$.questions'), 0)), 0)
         FROM memories m
         LEFT JOIN memory_pieces p ON p.memory = m.seq AND p.model = ?1 AND p.piece = 0
         WHERE m.status NOT IN ('superseded', 'forgotten') AND p.id IS NULL AND ",
        not_withheld!()
    ))?;
    let (groups, expired_at) = withheld.parameters();
    let bytes: i64 = statement.query_row((set, groups, expired_at), |row| row.get(0))?;
    Ok(bytes.cast_unsigned())
}

/// Deletes all vectors by recreating the table. vec0 would delete row by row, and write a block of
/// vectors for each.
pub(crate) fn delete_all(conn: &Connection) -> Result<()> {
    let create_table: String =
        conn.query_row("SELECT sql FROM sqlite_schema WHERE name = 'memories_vec'", [], |row| {
            row.get(0)
        })?;
    Ok(conn.execute_batch(&format!("DROP TABLE memories_vec; {create_table}"))?)
}

/// Passes the vectors of these memories in a set to `each`, ordered by memory and chunk.
pub(crate) fn load(
    conn: &Connection,
    set: &str,
    seqs: &SeqRange,
    mut each: impl FnMut(i64, &[f32]) -> Result<()>,
) -> Result<()> {
    let mut statement = conn.prepare_cached(
        "SELECT p.memory, v.embedding FROM memory_pieces p JOIN memories_vec v ON v.rowid = p.id
         WHERE p.model = ?1 AND p.memory BETWEEN ?2 AND ?3 ORDER BY p.memory, p.piece",
    )?;
    let rows = statement.query((set, seqs.start(), seqs.end()))?;
    each_vector(conn, rows, &mut each)
}

/// Reads the vectors of every set, so that damaged ones are recorded.
pub(crate) fn check_all(conn: &Connection) -> Result<()> {
    let mut statement = conn.prepare_cached(
        "SELECT p.memory, v.embedding FROM memory_pieces p JOIN memories_vec v ON v.rowid = p.id",
    )?;
    each_vector(conn, statement.query([])?, &mut |_, _| Ok(()))
}

fn each_vector(
    conn: &Connection,
    mut rows: Rows<'_>,
    each: &mut impl FnMut(i64, &[f32]) -> Result<()>,
) -> Result<()> {
    let mut vector = Vec::with_capacity(DIMENSIONS);
    while let Some(row) = rows.next()? {
        let read = |row: &Row<'_>| {
            read_vector(row, 1, &mut vector)?;
            row.get(0)
        };
        if let Some(memory) = damage::reading(conn, SOURCE).row(row, read)? {
            each(memory, &vector)?;
        }
    }
    Ok(())
}

/// Vectors with the memory's number in the first column.
const SOURCE: Source = Source::numbered(DamagedRow::VECTOR);

/// The most by which the length of a stored vector, squared, may differ from 1.
const MAX_LENGTH_ERROR: f32 = 0.01;

/// Reads a vector of the dimension of the model and of length 1.
fn read_vector(row: &Row<'_>, column: usize, vector: &mut Vec<f32>) -> rusqlite::Result<()> {
    let bytes = row.get_ref(column)?.as_blob().unwrap_or_default();
    vector.clear();
    vector.extend(to_floats(bytes));
    let length: f32 = vector.iter().map(|value| value * value).sum();
    if bytes.len() != DIMENSIONS * 4 {
        return Err(column_error(column, format!("has {} bytes", bytes.len())));
    }
    // Also false for a value that is not a number.
    if (length - 1.0).abs() <= MAX_LENGTH_ERROR {
        Ok(())
    } else {
        Err(column_error(column, "is no vector of length 1"))
    }
}

/// Returns the vectors of one memory; none if one of them is not a valid embedding.
fn of(conn: &Connection, memory: i64, set: &str) -> Result<Vec<Embedding>> {
    let mut statement = conn.prepare_cached(
        "SELECT v.embedding FROM memory_pieces p JOIN memories_vec v ON v.rowid = p.id WHERE p.memory = ?1 AND p.model = ?2 ORDER BY p.piece",
    )?;
    let rows = statement.query_map((memory, set), |row| {
        Ok(to_floats(row.get_ref(0)?.as_blob().unwrap_or_default()).collect())
    })?;
    let rows: Vec<Vec<f32>> = rows.collect::<Result<_, _>>()?;
    Ok(rows.into_iter().map(Embedding::kept).collect::<Result<_, _>>().unwrap_or_default())
}

/// Returns the encoding of one memory in a set.
pub(crate) fn encoding(conn: &Connection, memory: i64, set: &str) -> Result<DocumentEncoding> {
    Ok(DocumentEncoding { vectors: of(conn, memory, set)?, words: codes::of(conn, memory, set)? })
}

/// Returns whether a memory has vectors in a set.
pub(crate) fn has(conn: &Connection, memory: i64, set: &str) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM memory_pieces WHERE memory = ?1 AND model = ?2")?
        .exists((memory, set))?)
}

/// Returns sequence number and texts of at most `limit` memories after `after` that a recall may
/// find, that are not withheld and that have no vector or no codes in a set, oldest first.
pub(crate) fn without(
    conn: &Connection,
    set: &str,
    after: i64,
    limit: usize,
    withheld: &Withheld,
) -> Result<Vec<(i64, Document)>> {
    let mut statement = conn.prepare_cached(concat!(
        "SELECT m.seq, m.id, m.content, m.content_hash, m.metadata FROM memories m
         WHERE m.seq > ?4 AND m.status NOT IN ('superseded', 'forgotten')
           AND NOT (EXISTS (SELECT 1 FROM memory_pieces p WHERE p.memory = m.seq AND p.model = ?1)
                    AND EXISTS (SELECT 1 FROM word_codes c WHERE c.memory = m.seq AND c.model = ?1))
           AND ",
        not_withheld!(),
        " ORDER BY m.seq"
    ))?;
    let read = |row: &Row<'_>| {
        check_hash(row, 2, 3)?;
        let questions = document::questions(&metadata(row, 4)?);
        Ok((row.get(0)?, Document { content: row.get(2)?, questions }))
    };
    let reading = damage::reading(conn, Source::memories(0, 1));
    let (groups, expired_at) = withheld.parameters();
    let (mut rows, mut found) = (statement.query((set, groups, expired_at, after))?, Vec::new());
    // Damaged memories are passed over, however many there are: an empty result is the end.
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        found.extend(reading.row(row, read)?);
    }
    Ok(found)
}

fn to_bytes(embedding: &Embedding) -> Vec<u8> {
    embedding.as_slice().iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>().into_flattened()
}

fn to_floats(bytes: &[u8]) -> impl Iterator<Item = f32> + '_ {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

/// What is stored of vectors: for tests.
#[cfg(test)]
pub(crate) mod stored {
    use super::*;
    use crate::model::time::Timestamp;

    /// Number of vectors in `memories_vec`, of chunks, and of rows of codes; of one memory, or all.
    pub(crate) fn rows(conn: &Connection, memory: Option<i64>) -> [i64; 3] {
        let count = |sql: &str| {
            conn.query_row(sql, [memory], |row| row.get(0)).expect("the rows are counted")
        };
        [
            count(
                "SELECT count(*) FROM memories_vec v WHERE ?1 IS NULL OR v.rowid IN (SELECT id FROM memory_pieces WHERE memory = ?1)",
            ),
            count("SELECT count(*) FROM memory_pieces WHERE ?1 IS NULL OR memory = ?1"),
            count("SELECT count(*) FROM word_codes WHERE ?1 IS NULL OR memory = ?1"),
        ]
    }

    /// Changes a number of the vector of a memory in a set.
    pub(crate) fn spoil(conn: &Connection, memory: i64, set: &str) {
        let sql = "UPDATE memories_vec SET embedding = ?3
                   WHERE rowid = (SELECT id FROM memory_pieces WHERE memory = ?1 AND model = ?2)";
        let mut vector = of(conn, memory, set).expect("the vector is read")[0].as_slice().to_vec();
        vector[7] += 2.0;
        let bytes: Vec<u8> = vector.into_iter().flat_map(f32::to_le_bytes).collect();
        assert_eq!(conn.execute(sql, (memory, set, bytes)).expect("it is changed"), 1);
    }

    /// Takes a memory out of its project.
    pub(crate) fn take_out_of_projects(conn: &Connection, memory: i64) {
        let sql = "UPDATE memories SET source_group = NULL WHERE seq = ?1";
        assert_eq!(conn.execute(sql, [memory]).expect("it is changed"), 1);
    }

    /// Has the memories after one expire at a time.
    pub(crate) fn expire_after(conn: &Connection, memory: i64, at: Timestamp) {
        let sql = "UPDATE memories SET expires_at = ?2 WHERE seq > ?1";
        conn.execute(sql, (memory, at.0)).expect("they are changed");
    }

    /// Replaces the table of vectors by one of another dimension, with a vector for each chunk.
    pub(crate) fn set_dimension(conn: &Connection, dimension: usize) {
        conn.execute_batch(&format!(
            "DROP TABLE memories_vec; CREATE VIRTUAL TABLE memories_vec USING vec0(embedding float[{dimension}]);
             INSERT INTO memories_vec(rowid, embedding) SELECT id, zeroblob({}) FROM memory_pieces;",
            dimension * 4
        ))
        .expect("the table is replaced");
    }
}
