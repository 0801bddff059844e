//! Rows of `wishes`: what agents asked to do to a memory and only a person may do.
//!
//! A wish ends when the memory is as wished, or has another status, text or project since. Not here: who may do what (`operations`).

use crate::error::Result;
use crate::flags::safe_name;
use crate::model::actor::Actor;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use loci_proto::memory::MemoryId;
use loci_proto::wish::{Wish, WishKind};
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::BTreeMap;

/// The wishes `w` that have not ended, with their memories `m`.
const NOT_ENDED: &str = "FROM wishes w JOIN memories m ON m.seq = w.memory
    WHERE m.status_at <= w.wished_at AND m.content_hash = w.content_hash AND m.source_group IS w.from_group
    AND CASE w.kind
        WHEN 'forget' THEN m.status <> 'forgotten'
        WHEN 'restore' THEN m.status NOT IN ('active', 'candidate')
        WHEN 'confirm' THEN m.trust <> 'person'
        ELSE TRUE END";

/// Records a wish; the same wish for the same memory is recorded once.
pub(crate) fn insert(
    conn: &Connection,
    memory: &Memory,
    (kind, to): (WishKind, Option<&str>),
    (actor, now): (&Actor, Timestamp),
) -> Result<()> {
    // The agent chose it, and the person reads it.
    let client = actor.client.as_deref().map(|name| safe_name(name).to_string());
    conn.prepare_cached(
        "INSERT INTO wishes(memory, kind, content_hash, from_group, to_group, client, wished_at)
         SELECT seq, ?2, content_hash, source_group, ?3, ?4, ?5 FROM memories WHERE seq = ?1
         ON CONFLICT DO NOTHING",
    )?
    .execute((memory.seq, kind.as_str(), to, client, now.0))?;
    Ok(())
}

/// Deletes the wishes that have ended; returns how many wait.
pub(crate) fn delete_ended(conn: &Connection) -> Result<usize> {
    let sql = format!(
        "DELETE FROM wishes WHERE (memory, kind) NOT IN (SELECT w.memory, w.kind {NOT_ENDED})"
    );
    conn.prepare_cached(&sql)?.execute(())?;
    let sql = "SELECT count(*) FROM wishes WHERE NOT declined";
    let count: i64 = conn.query_row(sql, (), |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Returns whether a person has declined a wish; `None` if there is none.
pub(crate) fn is_declined(conn: &Connection, seq: i64, kind: WishKind) -> Result<Option<bool>> {
    let sql = "SELECT declined FROM wishes WHERE memory = ?1 AND kind = ?2";
    Ok(conn.prepare_cached(sql)?.query_row((seq, kind.as_str()), |row| row.get(0)).optional()?)
}

/// Declines the wishes for a memory, or the one of a kind; returns how many waited.
pub(crate) fn decline(conn: &Connection, seq: i64, kind: Option<WishKind>) -> Result<usize> {
    let sql = "UPDATE wishes SET declined = 1 WHERE memory = ?1 AND NOT declined AND (?2 IS NULL OR kind = ?2)";
    Ok(conn.prepare_cached(sql)?.execute((seq, kind.map(WishKind::as_str)))?)
}

/// Returns the wishes that wait, by the sequence number of their memory; what cannot be undone comes last.
pub(crate) fn open(conn: &Connection) -> Result<BTreeMap<i64, Vec<Wish>>> {
    let sql = format!(
        "SELECT w.memory, w.kind, m.id, w.to_group, w.client, w.wished_at,
           (SELECT name FROM groups WHERE id = w.to_group) {NOT_ENDED} AND NOT w.declined
         ORDER BY w.kind = 'delete', w.wished_at"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let mut open: BTreeMap<i64, Vec<Wish>> = BTreeMap::new();
    for row in statement.query_map((), wish)? {
        let (seq, wish) = row?;
        open.entry(seq).or_default().extend(wish);
    }
    Ok(open)
}

/// Reads a wish; `None` for a kind of a later version.
fn wish(row: &Row<'_>) -> rusqlite::Result<(i64, Option<Wish>)> {
    let kind: String = row.get(1)?;
    let id: String = row.get(2)?;
    let to_id: Option<String> = row.get(3)?;
    let to = row.get::<_, Option<String>>(6)?.or_else(|| to_id.clone());
    let (client, at): (Option<String>, i64) = (row.get(4)?, row.get(5)?);
    let wish = WishKind::parse(&kind).zip(id.parse::<MemoryId>().ok()).map(|(kind, id)| {
        let command = kind.command(&id, to.as_deref());
        Wish { kind, to, to_id, command, client, at: Timestamp(at).iso() }
    });
    Ok((row.get(0)?, wish))
}
