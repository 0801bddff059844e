//! The store as it was known at an earlier time: temporary views of one connection that hide the
//! tables of the same names.
//!
//! A view is the present rows, except those that an act after the time has changed; these are taken
//! back, newest act first, from the images of the journal. Rows whose acts are not in the journal,
//! which are plain stores, have the time of storing. Deleted permanently stays deleted. Not here:
//! what is asked of the views (`operations::as_of`).

use crate::db::journal::{self, RowChange, RowEffect};
use crate::db::rows::{self, Image, Row};
use crate::db::{connection, tombstones};
use crate::error::Result;
use crate::model::document;
use crate::model::past::ChangedMemory;
use crate::model::time::Timestamp;
use loci_proto::group::Group;
use rusqlite::{Connection, params_from_iter};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::HashMap;

/// What the present says about the past: a merged project is the one it was merged into, and what
/// isolated projects have now is theirs.
pub(crate) struct Present<'a> {
    /// The groups that merged ones redirect to, by id.
    pub redirects: &'a HashMap<String, Group>,
    /// Whether a group is isolated.
    pub is_isolated: &'a dyn Fn(&str) -> bool,
}

/// A row that a later act has changed.
struct Past {
    /// The row then; `None` if there was none.
    image: Option<Image>,
    /// A change at the time or before was met: earlier entries of the journal are older.
    is_settled: bool,
}

/// A table with its key, and the condition that its other rows meet.
struct Table {
    name: &'static str,
    key: &'static [&'static str],
    known: &'static str,
}

/// `:at` stands for the time, `t` for the row.
const TABLES: [Table; 5] = [
    Table {
        name: "memories",
        key: &["seq"],
        known: "t.created_at <= :at OR EXISTS (SELECT 1 FROM main.memory_log l
                  WHERE l.memory_id = t.id AND l.operation = 'import' AND l.created_at <= :at)",
    },
    Table {
        name: "memory_variants",
        key: &["memory", "content"],
        known: "EXISTS (SELECT 1 FROM memories m WHERE m.seq = t.memory)",
    },
    Table { name: "memory_sources", key: &["memory", "source"], known: "1" },
    Table {
        name: "entity_relations",
        key: &["id"],
        known: "EXISTS (SELECT 1 FROM memories m WHERE m.id = t.subject_id)
                AND EXISTS (SELECT 1 FROM memories m WHERE m.id = t.object_id)",
    },
    Table { name: "relation_evidence", key: &["relation_id", "memory_id"], known: "1" },
];

/// Lays the views over the tables of a read-only connection that nothing else uses. The connection
/// keeps one read transaction from then on. Returns the memories that differ from the present, those
/// first that were changed last before the time.
pub(crate) fn lay_over(
    conn: &Connection,
    at: Timestamp,
    present: &Present<'_>,
) -> Result<Vec<ChangedMemory>> {
    connection::begin_temporary(conn)?;
    let mut past: HashMap<Row, Past> = HashMap::new();
    journal::changes_after(conn, at, |time, changes| {
        changes.into_iter().try_for_each(|change| take_back(conn, &mut past, change, time <= at))
    })?;
    for table in &TABLES {
        create(conn, table)?;
    }
    let mut changed = Vec::new();
    for (row, Past { image, .. }) in &past {
        let Some(table) = TABLES.iter().find(|table| table.name == row.table()) else { continue };
        let (_, key) = row.key();
        let marks = vec!["?"; table.key.len()].join(", ");
        let sql = format!("INSERT INTO temp.changed_{} VALUES ({marks})", table.name);
        conn.prepare_cached(&sql)?.execute(params_from_iter(key))?;
        let Some(image) = image else { continue };
        let image = match row {
            Row::Memory(seq) => {
                let current = rows::image(conn, row)?;
                let has_present_text =
                    current.as_ref().is_some_and(|current| has_same_text(image, current));
                let updated = image.get("updated_at").and_then(Value::as_i64).unwrap_or_default();
                changed.push((updated, ChangedMemory { seq: *seq, has_present_text }));
                as_seen_now(image.clone(), current, present)
            }
            _ => image.clone(),
        };
        rows::insert_into(conn, &format!("temp.past_{}", table.name), &image)?;
    }
    for table in &TABLES {
        create_view(conn, table, at)?;
    }
    conn.execute_batch(&format!(
        "CREATE TEMP VIEW memory_log AS SELECT * FROM main.memory_log WHERE created_at <= {};",
        at.0
    ))?;
    connection::end_temporary(conn)?;
    changed.sort_unstable_by_key(|(updated, memory)| Reverse((*updated, memory.seq)));
    Ok(changed.into_iter().map(|(_, memory)| memory).collect())
}

/// Takes one change of a row back, unless a later change of it was at the time or before.
fn take_back(
    conn: &Connection,
    past: &mut HashMap<Row, Past>,
    change: RowChange,
    is_known: bool,
) -> Result<()> {
    let RowChange { row, effect } = change;
    if TABLES.iter().all(|table| table.name != row.table()) {
        return Ok(());
    }
    if is_known {
        if let Some(past) = past.get_mut(&row) {
            past.is_settled = true;
        } else {
            let image = rows::image(conn, &row)?;
            past.insert(row, Past { image, is_settled: true });
        }
        return Ok(());
    }
    if past.get(&row).is_some_and(|past| past.is_settled) {
        return Ok(());
    }
    let image = match effect {
        RowEffect::Inserted(_) => None,
        RowEffect::Deleted(before) => Some(before).filter(|before| !is_erased(conn, &row, before)),
        RowEffect::Set { before, .. } => {
            let image = match past.remove(&row) {
                Some(past) => past.image,
                None => rows::image(conn, &row)?,
            };
            image.map(|mut image| {
                image.extend(before);
                image
            })
        }
    };
    past.insert(row, Past { image, is_settled: false });
    Ok(())
}

/// Returns whether a memory was deleted permanently, after its import was undone for example.
fn is_erased(conn: &Connection, row: &Row, image: &Image) -> bool {
    let id = image.get("id").and_then(Value::as_str).and_then(|id| id.parse().ok());
    matches!(row, Row::Memory(_)) && id.is_some_and(|id| tombstones::has(conn, &id).unwrap_or(true))
}

/// Returns a memory of the past in the projects of today, and as little visible as its text is now.
fn as_seen_now(mut image: Image, current: Option<Image>, present: &Present<'_>) -> Image {
    let group =
        |image: &Image| image.get("source_group").and_then(Value::as_str).map(str::to_owned);
    if let Some(into) = group(&image).and_then(|group| present.redirects.get(&group)) {
        image.insert("source_group".to_owned(), into.id.clone().into());
    }
    let Some(current) = current else { return image };
    let take = |image: &mut Image, name: &str| {
        let value = current.get(name).cloned();
        image.extend(value.map(|value| (name.to_owned(), value)));
    };
    if group(&current).is_some_and(|group| (present.is_isolated)(&group)) {
        take(&mut image, "source_group");
        take(&mut image, "scope");
    }
    if image.get("content") == current.get("content") && image.get("flags") == Some(&Value::Null) {
        take(&mut image, "flags");
    }
    image
}

/// Returns whether two images have the same searched texts.
fn has_same_text(one: &Image, other: &Image) -> bool {
    let questions = |image: &Image| {
        let metadata = image.get("metadata").and_then(Value::as_str);
        let metadata = metadata.and_then(|text| serde_json::from_str(text).ok());
        document::questions(&metadata.unwrap_or_default())
    };
    one.get("content") == other.get("content") && questions(one) == questions(other)
}

/// Returns the sequence numbers of the memories that may differ from the present, in order: those that
/// have changed, and those that were stored since. The connection has the views.
pub(crate) fn may_differ(conn: &Connection) -> Result<Vec<i64>> {
    let mut statement = conn.prepare(
        "SELECT seq FROM temp.changed_memories UNION
         SELECT seq FROM main.memories m WHERE NOT EXISTS (SELECT 1 FROM memories t WHERE t.seq = m.seq)
         ORDER BY seq",
    )?;
    let seqs = statement.query_map([], |row| row.get(0))?;
    Ok(seqs.collect::<std::result::Result<_, _>>()?)
}

/// Returns the sequence numbers of the memories that are as they were, in order. The connection has
/// the views.
pub(crate) fn unchanged(conn: &Connection) -> Result<Vec<i64>> {
    let mut statement = conn.prepare(
        "SELECT seq FROM memories EXCEPT SELECT seq FROM temp.changed_memories ORDER BY seq",
    )?;
    let seqs = statement.query_map([], |row| row.get(0))?;
    Ok(seqs.collect::<std::result::Result<_, _>>()?)
}

/// Creates the tables of the keys and of the images of the changed rows.
fn create(conn: &Connection, table: &Table) -> Result<()> {
    let Table { name, key, .. } = table;
    let key = key.join(", ");
    // With defaults: an image of an earlier schema lacks columns.
    let columns: String = conn.query_row(
        "SELECT group_concat(name || ' ' || type || coalesce(' DEFAULT ' || dflt_value, ''), ', ')
         FROM pragma_table_info(?1, 'main')",
        [name],
        |row| row.get(0),
    )?;
    conn.execute_batch(&format!(
        "CREATE TEMP TABLE changed_{name} AS SELECT {key} FROM main.{name} WHERE 0;
         CREATE UNIQUE INDEX temp.changed_{name}_key ON changed_{name}({key});
         CREATE TEMP TABLE past_{name}({columns});
         CREATE UNIQUE INDEX temp.past_{name}_key ON past_{name}({key});"
    ))?;
    if *name == "memories" {
        conn.execute_batch("CREATE UNIQUE INDEX temp.past_memories_id ON past_memories(id);")?;
    }
    Ok(())
}

fn create_view(conn: &Connection, table: &Table, at: Timestamp) -> Result<()> {
    let Table { name, key, known } = table;
    let known = known.replace(":at", &at.0.to_string());
    let same_key: Vec<String> =
        key.iter().map(|column| format!("c.{column} = t.{column}")).collect();
    let same_key = same_key.join(" AND ");
    let is_changed = format!("EXISTS (SELECT 1 FROM temp.changed_{name} c WHERE {same_key})");
    Ok(conn.execute_batch(&format!(
        "CREATE TEMP VIEW {name} AS SELECT * FROM main.{name} t WHERE ({known}) AND NOT {is_changed}
         UNION ALL SELECT * FROM temp.past_{name} t WHERE {known};"
    ))?)
}
