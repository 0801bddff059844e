//! Row images for the journal: the columns of a row as JSON. A blob becomes `{"hex": …}`; text,
//! numbers and null keep their JSON type.
//!
//! Not here: which rows an act records (`crate::transaction`), how they are restored (`journal`).

use crate::error::Result;
use loci_proto::error::{Code, Failure};
use rusqlite::types::{Value as Sql, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A row that an act may change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Row {
    /// By sequence number.
    Memory(i64),
    /// A variant: memory and text.
    Variant(i64, String),
    /// A source: memory and source.
    Source(i64, i64),
    /// By id.
    Relation(String),
    /// Relation and memory.
    Evidence(String, String),
    /// By id.
    Group(String),
    /// By alias.
    Alias(String),
    /// By the id of the deleted memory.
    Tombstone(String),
    /// An entry of the journal, by its number: undoing a session marks its acts as undone.
    Act(i64),
}

/// A row's columns and values.
pub(crate) type Image = Map<String, Value>;

impl Row {
    /// Returns the name of its table.
    pub(crate) fn table(&self) -> &'static str {
        match self {
            Self::Memory(_) => "memories",
            Self::Variant(..) => "memory_variants",
            Self::Source(..) => "memory_sources",
            Self::Relation(_) => "entity_relations",
            Self::Evidence(..) => "relation_evidence",
            Self::Group(_) => "groups",
            Self::Alias(_) => "group_aliases",
            Self::Tombstone(_) => "tombstones",
            Self::Act(_) => "journal",
        }
    }

    /// Returns the row's key: a condition with numbered parameters, and their values.
    pub(crate) fn key(&self) -> (&'static str, Vec<Sql>) {
        match self {
            Self::Memory(seq) => ("seq = ?1", vec![(*seq).into()]),
            Self::Variant(memory, text) => {
                ("memory = ?1 AND content = ?2", vec![(*memory).into(), text.clone().into()])
            }
            Self::Source(memory, source) => {
                ("memory = ?1 AND source = ?2", vec![(*memory).into(), (*source).into()])
            }
            Self::Relation(id) | Self::Group(id) | Self::Tombstone(id) => {
                ("id = ?1", vec![id.clone().into()])
            }
            Self::Evidence(relation, memory) => (
                "relation_id = ?1 AND memory_id = ?2",
                vec![relation.clone().into(), memory.clone().into()],
            ),
            Self::Alias(alias) => ("alias = ?1", vec![alias.clone().into()]),
            Self::Act(id) => ("id = ?1", vec![(*id).into()]),
        }
    }
}

/// Returns the image of a row; `None` if there is no such row.
pub(crate) fn image(conn: &Connection, row: &Row) -> Result<Option<Image>> {
    let (condition, key) = row.key();
    let mut statement =
        conn.prepare_cached(&format!("SELECT * FROM {} WHERE {condition}", row.table()))?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let read = |values: &rusqlite::Row<'_>| {
        names
            .iter()
            .enumerate()
            .map(|(i, name)| Ok((name.clone(), to_json(values.get_ref(i)?))))
            .collect::<rusqlite::Result<Image>>()
    };
    Ok(statement.query_row(params_from_iter(key), read).optional()?)
}

/// Writes the images of many new rows as JSON text: an array of `[column, value]` pairs, ordered by
/// column. Builds no JSON tree, and looks up the columns of a table once.
pub(crate) struct ImageWriter<'a> {
    conn: &'a Connection,
    is_omitted: fn(&str) -> bool,
    tables: HashMap<&'static str, Table<'a>>,
}

/// Initial capacity of an image; enough for most.
const IMAGE_BYTES: usize = 1024;

struct Table<'a> {
    by_key: CachedStatement<'a>,
    /// Column names as JSON with their positions, ordered by name.
    columns: Vec<(String, usize)>,
}

impl<'a> ImageWriter<'a> {
    /// Creates a writer that omits the columns for which `is_omitted` returns true.
    pub(crate) fn new(conn: &'a Connection, is_omitted: fn(&str) -> bool) -> Self {
        Self { conn, is_omitted, tables: HashMap::new() }
    }

    /// Returns the image of a row as JSON; `None` if there is no such row.
    pub(crate) fn write(&mut self, row: &Row) -> Result<Option<Vec<u8>>> {
        let (condition, key) = row.key();
        let Table { by_key, columns } = match self.tables.entry(row.table()) {
            Entry::Occupied(table) => table.into_mut(),
            Entry::Vacant(place) => {
                place.insert(Table::new(self.conn, row.table(), condition, self.is_omitted)?)
            }
        };
        let read = |values: &rusqlite::Row<'_>| {
            let mut json = Vec::with_capacity(IMAGE_BYTES);
            json.push(b'[');
            for (name, position) in columns {
                json.extend_from_slice(if json.len() > 1 { b",[" } else { b"[" });
                json.extend_from_slice(name.as_bytes());
                json.push(b',');
                // Writing into memory cannot fail.
                let _ = match values.get_ref(*position)? {
                    ValueRef::Text(text) => {
                        serde_json::to_writer(&mut json, &String::from_utf8_lossy(text))
                    }
                    other => serde_json::to_writer(&mut json, &to_json(other)),
                };
                json.push(b']');
            }
            json.push(b']');
            Ok(json)
        };
        Ok(by_key.query_row(params_from_iter(key), read).optional()?)
    }
}

impl<'a> Table<'a> {
    fn new(
        conn: &'a Connection,
        table: &str,
        condition: &str,
        is_omitted: fn(&str) -> bool,
    ) -> Result<Self> {
        let by_key = conn.prepare_cached(&format!("SELECT * FROM {table} WHERE {condition}"))?;
        let names = by_key.column_names().enumerate().filter(|(_, name)| !is_omitted(name));
        let mut columns: Vec<(String, usize)> =
            names.map(|(position, name)| (format!("{name:?}"), position)).collect();
        columns.sort_unstable();
        Ok(Self { by_key, columns })
    }
}

/// Inserts a row with the columns of its image.
pub(crate) fn insert(conn: &Connection, row: &Row, image: &Image) -> Result<()> {
    insert_into(conn, row.table(), image)
}

/// Inserts a row with the columns of an image into a table.
pub(crate) fn insert_into(conn: &Connection, table: &str, image: &Image) -> Result<()> {
    let names: Vec<&str> = image.keys().map(String::as_str).collect();
    let parameters: Vec<String> = (1..=names.len()).map(|n| format!("?{n}")).collect();
    let (names, parameters) = (names.join(", "), parameters.join(", "));
    let sql = format!("INSERT INTO {table}({names}) VALUES ({parameters})");
    let values: Vec<Sql> = image.values().map(to_sql).collect::<Result<_>>()?;
    conn.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}

/// Sets the given columns of a row.
pub(crate) fn update(conn: &Connection, row: &Row, columns: &Image) -> Result<()> {
    let (condition, mut values) = row.key();
    let first = values.len() + 1;
    let assignments: Vec<String> =
        columns.keys().enumerate().map(|(i, name)| format!("{name} = ?{}", first + i)).collect();
    values.extend(columns.values().map(to_sql).collect::<Result<Vec<_>>>()?);
    let sql = format!("UPDATE {} SET {} WHERE {condition}", row.table(), assignments.join(", "));
    conn.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}

/// Deletes a row.
pub(crate) fn delete(conn: &Connection, row: &Row) -> Result<()> {
    let (condition, key) = row.key();
    conn.prepare_cached(&format!("DELETE FROM {} WHERE {condition}", row.table()))?
        .execute(params_from_iter(key))?;
    Ok(())
}

/// Returns a blob in the form of an image.
pub(crate) fn blob(bytes: &[u8]) -> Value {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    let hex: String = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    json!({"hex": hex})
}

fn to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => n.into(),
        ValueRef::Real(n) => n.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => blob(bytes),
    }
}

fn to_sql(value: &Value) -> Result<Sql> {
    Ok(match value {
        Value::Null => Sql::Null,
        Value::Bool(b) => Sql::Integer(i64::from(*b)),
        Value::Number(n) => {
            n.as_i64().map_or_else(|| Sql::Real(n.as_f64().unwrap_or_default()), Sql::Integer)
        }
        Value::String(text) => Sql::Text(text.clone()),
        Value::Array(_) | Value::Object(_) => Sql::Blob(from_hex(value["hex"].as_str())?),
    })
}

/// Returns the bytes of hexadecimal digits; a digit that is none would shorten them.
fn from_hex(text: Option<&str>) -> Result<Vec<u8>> {
    let byte = |pair: &[u8]| -> Option<u8> {
        let is_byte = pair.len() == 2 && pair.iter().all(u8::is_ascii_hexdigit);
        let digits = std::str::from_utf8(pair).ok().filter(|_| is_byte)?;
        u8::from_str_radix(digits, 16).ok()
    };
    let bytes: Option<Vec<u8>> =
        text.and_then(|text| text.as_bytes().chunks(2).map(byte).collect());
    bytes.ok_or_else(|| {
        let message = "a value in the journal is damaged on the disk; nothing was changed";
        Failure::new(Code::StorageFailed, message).hint("Run loci doctor").into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_digit_is_refused() {
        assert_eq!(to_sql(&blob(b"\x00\xff")).expect("whole"), Sql::Blob(vec![0, 255]));
        for hex in ["0", "0g", "00f", "zz00", " 00", "+0"] {
            let refused = to_sql(&json!({"hex": hex})).expect_err("damaged");
            assert!(refused.to_string().contains("nothing was changed"), "{hex}: {refused}");
        }
        assert!(to_sql(&json!({"hax": "00"})).is_err());
    }
}
