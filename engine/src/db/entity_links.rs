//! The links between memories that the index needs: which memories mention an entity, and which
//! entities are related.
//!
//! Rows of `mentions` and `entity_relations` change in many ways (a store, an undo, an import, a
//! cascading delete), so temporary triggers of the writing connection record the changes of a
//! transaction in a temporary table. Not here: the use of the links (`crate::search::graph_boost`).

use crate::db::damage::{self, Source};
use crate::error::Result;
use crate::model::entity_link::{EntityLink, LinkKind};
use rusqlite::{Connection, Row};

/// Starts recording the links that this connection adds and removes.
pub(crate) fn record_changes(conn: &Connection) -> Result<()> {
    conn.execute_batch(
        "CREATE TEMP TABLE changed_links (entity, other, relation INTEGER, added INTEGER);
         CREATE TEMP TRIGGER mention_made AFTER INSERT ON main.mentions BEGIN
           INSERT INTO changed_links VALUES (new.entity, new.memory, 0, 1);
         END;
         CREATE TEMP TRIGGER mention_gone AFTER DELETE ON main.mentions BEGIN
           INSERT INTO changed_links VALUES (old.entity, old.memory, 0, 0);
         END;
         CREATE TEMP TRIGGER relation_made AFTER INSERT ON main.entity_relations BEGIN
           INSERT INTO changed_links VALUES (new.subject_id, new.object_id, 1, 1);
         END;
         CREATE TEMP TRIGGER relation_gone AFTER DELETE ON main.entity_relations BEGIN
           INSERT INTO changed_links VALUES (old.subject_id, old.object_id, 1, 0);
         END;",
    )?;
    Ok(())
}

/// Returns the links that changed since the last call, in order, and clears the record.
///
/// Omits a relation that was deleted with one of its entities. Sequence numbers are looked up only
/// here, since an entity may be restored after its relation.
pub(crate) fn take_changed(conn: &Connection) -> Result<Vec<EntityLink>> {
    let changed = links(
        conn,
        "SELECT entity, other, relation, added, rowid FROM changed_links WHERE relation = 0
         UNION ALL SELECT s.seq, o.seq, c.relation, c.added, c.rowid FROM changed_links c
           JOIN memories s ON s.id = c.entity JOIN memories o ON o.id = c.other WHERE c.relation = 1
         ORDER BY 5",
    )?;
    conn.prepare_cached("DELETE FROM changed_links")?.execute([])?;
    Ok(changed)
}

/// Returns every link of the store.
pub(crate) fn all(conn: &Connection) -> Result<Vec<EntityLink>> {
    let mut all = links(conn, "SELECT entity, memory, 0, 1 FROM mentions ORDER BY entity, memory")?;
    all.extend(links(
        conn,
        "SELECT s.seq, o.seq, 1, 1 FROM entity_relations r JOIN memories s ON s.id = r.subject_id JOIN memories o ON o.id = r.object_id
         ORDER BY r.created_at, r.id",
    )?);
    Ok(all)
}

fn links(conn: &Connection, sql: &str) -> Result<Vec<EntityLink>> {
    let mut statement = conn.prepare_cached(sql)?;
    let read = |row: &Row<'_>| {
        let kind = if row.get(2)? { LinkKind::Relation } else { LinkKind::Mention };
        Ok(EntityLink { entity: row.get(0)?, other: row.get(1)?, kind, exists: row.get(3)? })
    };
    let mut found = Vec::new();
    damage::reading(conn, Source::numbered("mention")).each(&mut statement, [], read, |link| {
        found.push(link);
        Ok(())
    })?;
    Ok(found)
}
