//! Rows of `vector_sets`, and the model that a person has declined.
//!
//! Not here: the vectors of a set (`vectors`, `codes`).

use crate::db::damage::{self, Source};
use crate::db::{health, vectors};
use crate::error::Result;
use crate::model::time::Timestamp;
use crate::model::vector_set::{KeptSet, SetState, VectorSet, VectorSets};
use rusqlite::{Connection, OptionalExtension, Row};

/// The key in `meta` of the model that is not taken into use by itself.
const DECLINED: &str = "declined_model";
/// Sets with the name in the first column.
const SOURCE: Source = Source::named("vector set");

/// Returns the sets in use. If no memory has a vector of the active set, a new set of `model` takes
/// its place.
pub(crate) fn open(conn: &Connection, model: &str, now: Timestamp) -> Result<VectorSets> {
    let sets = in_use(conn)?;
    let has_other_model = sets.active.model != model && sets.filling.is_none();
    if model.is_empty() || !has_other_model || !vectors::is_empty(conn, &sets.active.name)? {
        return Ok(sets);
    }
    let tx = conn.unchecked_transaction()?;
    let set = VectorSet { name: model.to_owned(), model: model.to_owned(), ..VectorSet::default() };
    let is_taken = exists(&tx, &set.name)?;
    if !is_taken {
        replace_empty(&tx, &sets.active, &set, now)?;
    }
    tx.commit()?;
    if is_taken { Ok(sets) } else { in_use(conn) }
}

/// Replaces the active set, which has no vectors, by a new one.
pub(crate) fn replace_empty(
    conn: &Connection,
    active: &VectorSet,
    by: &VectorSet,
    now: Timestamp,
) -> Result<()> {
    delete(conn, &active.name)?;
    insert(conn, by, SetState::Active, now)
}

/// Returns the sets in use.
pub(crate) fn in_use(conn: &Connection) -> Result<VectorSets> {
    Ok(VectorSets {
        active: in_state(conn, SetState::Active)?.unwrap_or_default(),
        filling: in_state(conn, SetState::Filling)?,
    })
}

fn in_state(conn: &Connection, state: SetState) -> Result<Option<VectorSet>> {
    let sql = "SELECT name, model, source FROM vector_sets WHERE state = ?1";
    let mut found = None;
    let mut statement = conn.prepare_cached(sql)?;
    damage::reading(conn, SOURCE).each(&mut statement, [state.as_str()], read_set, |set| {
        found = Some(set);
        Ok(())
    })?;
    Ok(found)
}

/// Returns whether the table must be derived again ([`derive`]): a row cannot be read, or no set is
/// active and has vectors while vectors exist that are of no set.
pub(crate) fn is_damaged(conn: &Connection) -> Result<bool> {
    let rows: i64 = conn.query_row("SELECT count(*) FROM vector_sets", [], |row| row.get(0))?;
    let sets = in_use(conn)?;
    let read = sets.in_use().count() + kept(conn)?.len();
    if i64::try_from(read) != Ok(rows) {
        return Ok(true);
    }
    let sql = "SELECT 1 FROM memory_pieces WHERE model NOT IN (SELECT name FROM vector_sets)";
    Ok(vectors::is_empty(conn, &sets.active.name)? && conn.prepare(sql)?.exists([])?)
}

/// Writes the table again, from the sets that the vectors name: the largest is the active one. The
/// name of a set begins with the id of its model.
pub(crate) fn derive(conn: &Connection) -> Result<()> {
    conn.execute("DELETE FROM vector_sets", [])?;
    let mut statement =
        conn.prepare("SELECT model FROM memory_pieces GROUP BY model ORDER BY count(*) DESC")?;
    let mut names = Vec::new();
    damage::reading(conn, SOURCE).each(
        &mut statement,
        [],
        |row| row.get(0),
        |name: String| {
            names.push(name);
            Ok(())
        },
    )?;
    for (number, name) in names.into_iter().enumerate() {
        let model = name.split_once('#').map_or(&*name, |(model, _)| model).to_owned();
        let state = if number == 0 { SetState::Active } else { SetState::Retired };
        insert(conn, &VectorSet { name, model, ..VectorSet::default() }, state, Timestamp(0))?;
    }
    Ok(())
}

fn read_set(row: &Row<'_>) -> rusqlite::Result<VectorSet> {
    Ok(VectorSet { name: row.get(0)?, model: row.get(1)?, source: row.get(2)? })
}

/// Returns the sets that are not in use, the latest first.
pub(crate) fn kept(conn: &Connection) -> Result<Vec<KeptSet>> {
    let mut statement = conn.prepare_cached(
        "SELECT name, model, source, changed_at, state = 'retired' FROM vector_sets
         WHERE state IN ('retired', 'abandoned') ORDER BY changed_at DESC, name DESC",
    )?;
    let read = |row: &Row<'_>| {
        let since = Timestamp(row.get(3)?);
        Ok(KeptSet { set: read_set(row)?, since, was_active: row.get(4)? })
    };
    let mut kept = Vec::new();
    damage::reading(conn, SOURCE).each(&mut statement, [], read, |set| {
        kept.push(set);
        Ok(())
    })?;
    Ok(kept)
}

/// Returns whether a set has this name.
pub(crate) fn exists(conn: &Connection, name: &str) -> Result<bool> {
    Ok(conn.prepare_cached("SELECT 1 FROM vector_sets WHERE name = ?1")?.exists([name])?)
}

/// Inserts a set.
pub(crate) fn insert(
    conn: &Connection,
    set: &VectorSet,
    state: SetState,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO vector_sets(name, model, source, state, changed_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute((&set.name, &set.model, &set.source, state.as_str(), now.0))?;
    Ok(())
}

/// Changes the state of a set; its cursor begins again.
pub(crate) fn set_state(
    conn: &Connection,
    name: &str,
    state: SetState,
    now: Timestamp,
) -> Result<()> {
    conn.prepare_cached(
        "UPDATE vector_sets SET state = ?2, cursor = 0, changed_at = ?3 WHERE name = ?1",
    )?
    .execute((name, state.as_str(), now.0))?;
    Ok(())
}

/// Records where the files of the model of a set are.
pub(crate) fn set_source(conn: &Connection, name: &str, source: &str) -> Result<()> {
    conn.prepare_cached("UPDATE vector_sets SET source = ?2 WHERE name = ?1")?
        .execute((name, source))?;
    Ok(())
}

/// Returns the last memory that the filling or the deletion of a set has dealt with.
pub(crate) fn cursor(conn: &Connection, name: &str) -> Result<i64> {
    let cursor = conn
        .prepare_cached("SELECT cursor FROM vector_sets WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    Ok(cursor.unwrap_or(0))
}

/// Moves the cursor of a set.
pub(crate) fn set_cursor(conn: &Connection, name: &str, memory: i64) -> Result<()> {
    conn.prepare_cached("UPDATE vector_sets SET cursor = ?2 WHERE name = ?1")?
        .execute((name, memory))?;
    Ok(())
}

/// Deletes the row of a set.
pub(crate) fn delete(conn: &Connection, name: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM vector_sets WHERE name = ?1")?.execute([name])?;
    Ok(())
}

/// Returns the model that is not taken into use by itself.
pub(crate) fn declined(conn: &Connection) -> Result<Option<String>> {
    health::meta(conn, DECLINED)
}

/// Sets or clears the model that is not taken into use by itself.
pub(crate) fn set_declined(conn: &Connection, model: Option<&str>) -> Result<()> {
    match model {
        Some(model) => health::set_meta(conn, DECLINED, model),
        None => health::remove_meta(conn, DECLINED),
    }
}

/// Statements that lose or damage the table, while the set `test` is active.
#[cfg(test)]
pub(crate) const DAMAGES: [&str; 5] = [
    "DROP TABLE vector_sets",
    "DELETE FROM vector_sets",
    "UPDATE vector_sets SET name = CAST(x'ff' AS TEXT) WHERE name = 'test'",
    "UPDATE vector_sets SET name = 'tess' WHERE name = 'test'",
    "UPDATE vector_sets SET state = 'actine' WHERE name = 'test'",
];

/// Runs a statement of [`DAMAGES`].
#[cfg(test)]
pub(crate) fn spoil(conn: &Connection, sql: &str) {
    let sql = format!(
        "PRAGMA ignore_check_constraints = ON; {sql}; PRAGMA ignore_check_constraints = OFF;"
    );
    conn.execute_batch(&sql).expect("the table is damaged");
}
