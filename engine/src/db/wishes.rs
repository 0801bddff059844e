//! Rows of `wishes`: what agents asked to do to a memory and only a person may do.
//!
//! A wish ends when the memory is as wished, or changes its status or its project. Not here: who may do what (`operations`).

use crate::error::Result;
use crate::model::actor::Actor;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use loci_proto::memory::MemoryId;
use loci_proto::wish::{Wish, WishKind};
use rusqlite::{Connection, Row};
use std::collections::BTreeMap;

/// The wishes `w` that have not ended, with their memories `m`.
const OPEN: &str = "FROM wishes w JOIN memories m ON m.seq = w.memory
    WHERE m.status_at <= w.wished_at AND m.source_group IS w.from_group
    AND CASE w.kind
        WHEN 'forget' THEN m.status <> 'forgotten'
        WHEN 'restore' THEN m.status NOT IN ('active', 'candidate')
        WHEN 'confirm' THEN m.trust <> 'person'
        WHEN 'move' THEN w.to_group IS NOT w.from_group
        ELSE TRUE END";

/// Records a wish; the same wish for the same memory is recorded once.
pub(crate) fn insert(
    conn: &Connection,
    memory: &Memory,
    (kind, to): (WishKind, Option<&str>),
    (actor, now): (&Actor, Timestamp),
) -> Result<()> {
    conn.prepare_cached(
        "INSERT INTO wishes(memory, kind, from_group, to_group, client, wished_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET from_group = ?3, to_group = ?4, client = ?5, wished_at = ?6",
    )?
    .execute((memory.seq, kind.as_str(), &memory.group, to, &actor.client, now.0))?;
    Ok(())
}

/// Deletes the wishes that have ended; returns how many are open.
pub(crate) fn delete_ended(conn: &Connection) -> Result<usize> {
    let sql =
        format!("DELETE FROM wishes WHERE (memory, kind) NOT IN (SELECT w.memory, w.kind {OPEN})");
    conn.prepare_cached(&sql)?.execute(())?;
    let count: i64 = conn.query_row("SELECT count(*) FROM wishes", (), |row| row.get(0))?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Deletes the wishes for a memory; returns how many there were.
pub(crate) fn delete(conn: &Connection, seq: i64) -> Result<usize> {
    Ok(conn.prepare_cached("DELETE FROM wishes WHERE memory = ?1")?.execute((seq,))?)
}

/// Returns the open wishes by the sequence number of their memory.
pub(crate) fn open(conn: &Connection) -> Result<BTreeMap<i64, Vec<Wish>>> {
    let sql = format!(
        "SELECT w.memory, w.kind, m.id, w.to_group, w.client, w.wished_at {OPEN} ORDER BY w.wished_at"
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
    let to: Option<String> = row.get(3)?;
    let (client, at): (Option<String>, i64) = (row.get(4)?, row.get(5)?);
    let wish = WishKind::parse(&kind).zip(id.parse::<MemoryId>().ok()).map(|(kind, id)| {
        let command = kind.command(&id, to.as_deref());
        Wish { kind, to, command, client, at: Timestamp(at).iso() }
    });
    Ok((row.get(0)?, wish))
}
