//! Decodes a row of `memories`, and compares its text with its hash.
//!
//! A row that fails is damaged: `damage` records it, and the reads go on without it. Not here: the
//! queries (`memories` and others).

use crate::db::damage::{self, Source};
use crate::duplicate::content_hash;
use crate::error::Result;
use crate::flags::Flags;
use crate::model::decay::Anchor;
use crate::model::document;
use crate::model::entry::Entry;
use crate::model::error_key;
use crate::model::importance::Importance;
use crate::model::memory::Memory;
use crate::model::method;
use crate::model::names::EntityNames;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::text::features;
use loci_proto::memory::{Confidence, MemoryId, MemoryType, Scope};
use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Params, Row, Statement};
use serde_json::{Map, Value};
use std::str::FromStr;

/// The scope in force, with the columns of `memories` after a prefix: a gated memory is not global
/// ([`Provenance::is_gated`] in SQL).
macro_rules! scope_in_force {
    ($prefix:literal) => {
        concat!(
            "CASE WHEN ",
            $prefix,
            "trust = 'import' OR ",
            $prefix,
            "flags IS NOT NULL THEN 'group' ELSE ",
            $prefix,
            "scope END"
        )
    };
}

/// The scope in force; the table has no alias.
pub(crate) const SCOPE: &str = scope_in_force!("");
/// The scope in force; the table is aliased `m`.
pub(crate) const SCOPE_OF_M: &str = scope_in_force!("m.");

/// The columns that [`read_memory`] reads, in its order.
pub(crate) const COLUMNS: &str = concat!(
    "seq, id, type, content, source_group, ",
    scope_in_force!(""),
    " AS scope, status, confidence, confidence_at, pinned, created_at, expires_at, superseded_by, metadata, \
     updated_at, forgotten_reason, access_count, last_accessed, content_hash, origin, client, session, trust, flags, echo, branch, commit_id, importance"
);

/// The columns that [`read_entry`] reads, in its order; the table is aliased `m`.
pub(crate) const ENTRY: &str = concat!(
    "m.seq, m.id, m.type, m.source_group, ",
    scope_in_force!("m."),
    " AS scope, m.status, m.confidence, m.confidence_at, m.pinned, m.expires_at, m.metadata,
     m.content, m.content_hash, m.created_at,
     CASE WHEN m.status = 'compacted' THEN (SELECT s.seq FROM memories s WHERE s.id = m.superseded_by) END, m.branch,
     m.access_count, m.importance"
);

/// Number and id are the first columns of [`COLUMNS`] and of [`ENTRY`].
pub(crate) const SOURCE: Source = Source::memories(0, 1);

/// Returns the memory of a row; `None` after the row was recorded as damaged.
pub(crate) fn intact_memory(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<Option<Memory>> {
    damage::reading(conn, SOURCE).row(row, read_memory)
}

/// Returns the memories of a query that selects [`COLUMNS`], without the damaged ones.
pub(crate) fn intact_memories(
    conn: &Connection,
    statement: &mut Statement<'_>,
    params: impl Params,
) -> Result<Vec<Memory>> {
    let mut found = Vec::new();
    damage::reading(conn, SOURCE).each(statement, params, read_memory, |memory| {
        found.push(memory);
        Ok(())
    })?;
    Ok(found)
}

/// Returns the entry of a row; `None` after the row was recorded as damaged.
pub(crate) fn intact_entry(conn: &Connection, row: &Row<'_>) -> rusqlite::Result<Option<Entry>> {
    damage::reading(conn, SOURCE).row(row, read_entry)
}

/// Decodes a row, and compares the text with its hash.
pub(crate) fn read_memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    check_hash(row, 3, 18)?;
    Ok(Memory {
        seq: row.get(0)?,
        id: parsed(row, 1)?,
        kind: parsed(row, 2)?,
        content: row.get(3)?,
        group: row.get(4)?,
        scope: parsed(row, 5)?,
        status: status(row, 6)?,
        anchor: anchor(row, 7, [16, 27])?,
        created_at: Timestamp(row.get(10)?),
        expires_at: row.get::<_, Option<i64>>(11)?.map(Timestamp),
        superseded_by: row.get(12)?,
        updated_at: Timestamp(row.get(14)?),
        forgotten_reason: row.get(15)?,
        access_count: row.get(16)?,
        last_accessed: row.get::<_, Option<i64>>(17)?.map(Timestamp),
        provenance: provenance(row, 19)?,
        metadata: metadata(row, 13)?,
    })
}

/// Decodes a row as far as possible, for a person who repairs or removes it. What cannot be decoded
/// gets a value that shows the memory to nobody else.
pub(crate) fn read_damaged(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let lossy = |column| {
        let value = row.get_ref(column).ok()?;
        value.as_bytes().ok().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let number = |column| row.get::<_, i64>(column).ok();
    let zero = Confidence::new(0.0).unwrap_or(Confidence::FULL);
    let no_confidence = Anchor::new(zero, Timestamp(0));
    Ok(Memory {
        seq: row.get(0)?,
        id: parsed(row, 1)?,
        kind: parsed(row, 2).unwrap_or(MemoryType::Episodic),
        content: lossy(3).unwrap_or_default(),
        group: lossy(4),
        scope: parsed(row, 5).unwrap_or(Scope::Group),
        status: status(row, 6).unwrap_or(Status::Active),
        anchor: anchor(row, 7, [16, 27]).unwrap_or(no_confidence),
        created_at: Timestamp(number(10).unwrap_or_default()),
        expires_at: number(11).map(Timestamp),
        superseded_by: lossy(12),
        updated_at: Timestamp(number(14).unwrap_or_default()),
        forgotten_reason: lossy(15),
        access_count: number(16).unwrap_or_default(),
        last_accessed: number(17).map(Timestamp),
        provenance: provenance(row, 19).unwrap_or_else(|_| Provenance::unknown()),
        metadata: metadata(row, 13).unwrap_or_default(),
    })
}

pub(crate) fn read_entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    check_hash(row, 11, 12)?;
    parsed::<MemoryId>(row, 1)?;
    let (kind, metadata) = (parsed(row, 2)?, metadata(row, 10)?);
    let is_entity = kind == MemoryType::Entity;
    Ok(Entry {
        seq: row.get(0)?,
        kind,
        group: row.get(3)?,
        scope: parsed(row, 4)?,
        status: status(row, 5)?,
        anchor: anchor(row, 6, [16, 17])?,
        expires_at: row.get::<_, Option<i64>>(9)?.map(Timestamp),
        names: if is_entity { EntityNames::of(&metadata) } else { EntityNames::default() },
        content: row.get(11)?,
        questions: document::questions(&metadata),
        created_day: Timestamp(row.get(13)?).day(),
        event_day: metadata.get("event_date").and_then(Value::as_str).and_then(features::day),
        summary: row.get(14)?,
        extractive: is_true(&metadata, "summary")
            && method::is_extractive(&metadata)
            && metadata.get("cluster").is_some_and(|cluster| !cluster.is_null()),
        branch: row.get(15)?,
        error: error_key::of_metadata(&metadata),
    })
}

/// Reads origin, client, session, trust, flags, echo, branch and commit from eight consecutive columns.
fn provenance(row: &Row<'_>, first: usize) -> rusqlite::Result<Provenance> {
    Ok(Provenance {
        origin: match row.get_ref(first)? {
            ValueRef::Null => None,
            _ => Some(parsed(row, first)?),
        },
        client: row.get(first + 1)?,
        session: row.get(first + 2)?,
        trust: parsed(row, first + 3)?,
        flags: flags(row, first + 4)?,
        is_echo: row.get(first + 5)?,
        branch: row.get(first + 6)?,
        commit: row.get(first + 7)?,
    })
}

/// Reads the names of flags; null is none.
pub(crate) fn flags(row: &Row<'_>, column: usize) -> rusqlite::Result<Flags> {
    if row.get_ref(column)? == ValueRef::Null {
        return Ok(Flags::default());
    }
    let names = text(row, column)?;
    let flags = Flags::of_names(names.split(','));
    let is_known = names.split(',').all(Flags::knows);
    if is_known { Ok(flags) } else { Err(column_error(column, "has an unknown flag")) }
}

/// Returns whether a field of metadata is `true` or 1.
pub(crate) fn is_true(metadata: &Map<String, Value>, name: &str) -> bool {
    metadata.get(name).is_some_and(|value| *value == Value::Bool(true) || value.as_i64() == Some(1))
}

/// Fails if a text does not match its hash.
pub(crate) fn check_hash(row: &Row<'_>, content: usize, hash: usize) -> rusqlite::Result<()> {
    let stored = row.get_ref(hash)?.as_blob().map_err(|_| column_error(hash, "is no hash"))?;
    if content_hash::hash(text(row, content)?) == *stored {
        Ok(())
    } else {
        Err(column_error(content, "does not match its hash"))
    }
}

/// Reads metadata: a JSON object.
pub(crate) fn metadata(row: &Row<'_>, column: usize) -> rusqlite::Result<Map<String, Value>> {
    match text(row, column)? {
        "{}" => Ok(Map::new()),
        json => serde_json::from_str(json)
            .map_err(|fault| column_error(column, format!("is no JSON object: {fault}"))),
    }
}

/// Reads the status.
pub(crate) fn status(row: &Row<'_>, column: usize) -> rusqlite::Result<Status> {
    let known = Status::parse(text(row, column)?);
    known.ok_or_else(|| column_error(column, "is not a known status"))
}

/// Reads confidence, its time and `pinned` from three consecutive columns, and the number of accesses
/// and the importance from two others.
pub(crate) fn anchor(
    row: &Row<'_>,
    first: usize,
    [accesses, importance]: [usize; 2],
) -> rusqlite::Result<Anchor> {
    let count: i64 = row.get(accesses)?;
    let known: Option<f64> = row.get(importance)?;
    let read =
        |number| Importance::try_from(number).map_err(|reason| column_error(importance, reason));
    Ok(Anchor {
        confidence: confidence(row, first)?,
        at: Timestamp(row.get(first + 1)?),
        pinned: row.get(first + 2)?,
        accesses: u16::try_from(count.max(0)).unwrap_or(u16::MAX),
        importance: known.map(read).transpose()?,
    })
}

/// Reads a confidence.
pub(crate) fn confidence(row: &Row<'_>, column: usize) -> rusqlite::Result<Confidence> {
    Confidence::new(row.get(column)?).map_err(|_| column_error(column, "is no confidence"))
}

/// Parses the text of a column.
pub(crate) fn parsed<T: FromStr<Err = String>>(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<T> {
    text(row, column)?.parse().map_err(|_| column_error(column, "has an invalid value"))
}

/// Reads a text without copying it.
fn text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a str> {
    use rusqlite::types::FromSqlError;
    let value = row.get_ref(column)?;
    value.as_str().map_err(|fault| match fault {
        FromSqlError::Utf8Error(fault) => rusqlite::Error::Utf8Error(column, fault),
        _ => rusqlite::Error::InvalidColumnType(column, String::new(), value.data_type()),
    })
}

/// Returns the error for a column with an invalid value. The reason continues a sentence that begins
/// with the name of the column.
pub(crate) fn column_error(column: usize, reason: impl Into<String>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, reason.into().into())
}
