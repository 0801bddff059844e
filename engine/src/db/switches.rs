//! Rows of `group_switches` and `incognito_sessions`: where a person has switched loci off.
//!
//! Not here: what off means (the daemon).

use crate::db::damage::{self, Source};
use crate::error::Result;
use crate::model::switch_set::SwitchSet;
use crate::model::time::Timestamp;
use rusqlite::{Connection, Row};

/// For how long a session stays incognito at least, in milliseconds: no session lasts longer.
const INCOGNITO_MS: i64 = 90 * 24 * 3_600_000;

/// The state of a project that is off.
pub(crate) const OFF: &str = "off";
/// The state of a project that was switched on.
pub(crate) const ON: &str = "on";

/// Returns all switches.
pub(crate) fn all(conn: &Connection) -> Result<SwitchSet> {
    Ok(SwitchSet { off: groups(conn, OFF)?, on: groups(conn, ON)?, incognito: incognito(conn)? })
}

/// Returns the ids of the projects with this switch.
fn groups(conn: &Connection, state: &str) -> Result<Vec<String>> {
    let sql = "SELECT group_id FROM group_switches WHERE state = ?1 ORDER BY group_id";
    texts(conn, sql, [state], Source::named("switch of a project"))
}

/// Returns the sessions that became incognito.
fn incognito(conn: &Connection) -> Result<Vec<String>> {
    let sql = "SELECT session FROM incognito_sessions ORDER BY session";
    texts(conn, sql, [], Source::named("incognito session"))
}

/// Returns the ids of the projects that are off, also for a database of an earlier schema, which has none.
pub(crate) fn off_of_any_schema(conn: &Connection) -> Result<Vec<String>> {
    let exists = "SELECT 1 FROM sqlite_schema WHERE name = 'group_switches'";
    if conn.prepare(exists)?.exists([])? { groups(conn, OFF) } else { Ok(Vec::new()) }
}

/// Sets the switch of a project.
pub(crate) fn set_group(conn: &Connection, group: &str, state: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO group_switches(group_id, state, since) VALUES (?1, ?2, ?3)
         ON CONFLICT(group_id) DO UPDATE SET state = excluded.state, since = excluded.since",
    )?
    .execute((group, state, now.0))?;
    Ok(())
}

/// Makes a session incognito, and drops those that ended long ago.
pub(crate) fn set_incognito(conn: &Connection, session: &str, now: Timestamp) -> Result<()> {
    conn.prepare_cached("DELETE FROM incognito_sessions WHERE since < ?1")?
        .execute([now.0 - INCOGNITO_MS])?;
    conn.prepare_cached(
        "INSERT INTO incognito_sessions(session, since) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
    )?
    .execute((session, now.0))?;
    Ok(())
}

/// Ends that a session is incognito.
pub(crate) fn end_incognito(conn: &Connection, session: &str) -> Result<()> {
    conn.prepare_cached("DELETE FROM incognito_sessions WHERE session = ?1")?.execute([session])?;
    Ok(())
}

fn texts(
    conn: &Connection,
    sql: &str,
    params: impl rusqlite::Params,
    source: Source,
) -> Result<Vec<String>> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut found = Vec::new();
    let read = |row: &Row<'_>| row.get::<_, String>(0);
    damage::reading(conn, source).each(&mut statement, params, read, |text| {
        found.push(text);
        Ok(())
    })?;
    Ok(found)
}
