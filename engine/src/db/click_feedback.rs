//! Rows of `known_answers`: queries, and the memories that were read in full after them.
//!
//! Not here: their evaluation (`eval`).

use crate::db::damage::{self, Source};
use crate::db::groups;
use crate::error::Result;
use loci_proto::group::{Group, GroupName};
use rusqlite::{Connection, Row};

/// A query and a memory that answered it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FeedbackRow {
    pub query: String,
    pub seq: i64,
    pub group: Group,
}

/// Stores an answer as the newest, even if it was stored before. Does nothing if the memory was
/// deleted meanwhile.
pub(crate) fn keep(conn: &Connection, query: &str, seq: i64, group: &str) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO known_answers(query, memory, group_id) SELECT ?1, seq, ?3 FROM memories WHERE seq = ?2";
    conn.prepare_cached(sql)?.execute((query, seq, group))?;
    Ok(())
}

/// Deletes the oldest answers, so that at most `limit` remain.
pub(crate) fn bound(conn: &Connection, limit: i64) -> Result<()> {
    let sql = "DELETE FROM known_answers WHERE id IN (SELECT id FROM known_answers ORDER BY id DESC LIMIT -1 OFFSET ?1)";
    conn.prepare_cached(sql)?.execute([limit])?;
    Ok(())
}

/// Deletes every query that a memory answered, with all answers of that query.
pub(crate) fn redact(conn: &Connection, seq: i64) -> Result<()> {
    conn.execute("DELETE FROM known_answers WHERE query IN (SELECT query FROM known_answers WHERE memory = ?1)", [seq])?;
    Ok(())
}

/// Returns every answer, newest first. The group of an answer is the one that it was merged into.
pub(crate) fn all(conn: &Connection) -> Result<Vec<FeedbackRow>> {
    let mut statement = conn
        .prepare_cached("SELECT id, query, memory, group_id FROM known_answers ORDER BY id DESC")?;
    let read = |row: &Row<'_>| Ok((row.get(1)?, row.get(2)?, row.get::<_, String>(3)?));
    let (source, mut answers) = (Source::numbered("query"), Vec::new());
    damage::reading(conn, source).each(&mut statement, [], read, |(query, seq, id)| {
        answers.push(FeedbackRow { query, seq, group: group(conn, &id)? });
        Ok(())
    })?;
    Ok(answers)
}

/// Returns the group with this id, or the group it was merged into.
pub(crate) fn group(conn: &Connection, id: &str) -> Result<Group> {
    let stored = groups::name(conn, id)?.map(|name| Group { id: id.to_owned(), name });
    match (stored, id.parse::<GroupName>()) {
        (Some(group), _) => Ok(group),
        (None, Ok(name)) => Ok(groups::find(conn, &name)?.unwrap_or_else(|| Group::named(&name))),
        (None, Err(_)) => Ok(Group { id: id.to_owned(), name: id.to_owned() }),
    }
}
