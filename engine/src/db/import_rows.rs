//! Writes lines of an import as rows, with the times, ids and counts of the line.
//!
//! Not here: merging a line with an existing row (`crate::transfer`).

use crate::db::lexical::TriggersOff;
use crate::db::memory_row::parsed;
use crate::db::{log, vectors};
use crate::error::Result;
use crate::model::importance::Importance;
use crate::transfer::{ClusterLine, GroupLine, LogLine, MemoryLine, RelationLine, TombstoneLine};
use loci_proto::memory::{MemoryId, MemoryType, Trust};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

/// Which tables had rows before an import.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExistingRows {
    pub has_memories: bool,
    pub has_tombstones: bool,
    pub has_log: bool,
}

/// Returns which tables have rows.
pub(crate) fn existing(conn: &Connection) -> Result<ExistingRows> {
    let sql = "SELECT EXISTS(SELECT 1 FROM memories), EXISTS(SELECT 1 FROM tombstones), EXISTS(SELECT 1 FROM memory_log)";
    Ok(conn.query_row(sql, [], |row| {
        Ok(ExistingRows {
            has_memories: row.get(0)?,
            has_tombstones: row.get(1)?,
            has_log: row.get(2)?,
        })
    })?)
}

/// Returns the sequence number and type of a memory.
pub(crate) fn find(conn: &Connection, id: &MemoryId) -> Result<Option<(i64, MemoryType)>> {
    let row = conn
        .prepare_cached("SELECT seq, type FROM memories WHERE id = ?1")?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    Ok(row.and_then(|(seq, kind)| Some((seq, kind.parse().ok()?))))
}

/// Returns the memory that replaced this one, whatever its status.
pub(crate) fn replacement(conn: &Connection, seq: i64) -> Result<Option<i64>> {
    let sql =
        "SELECT b.seq FROM memories a JOIN memories b ON b.id = a.superseded_by WHERE a.seq = ?1";
    Ok(conn.prepare_cached(sql)?.query_row([seq], |row| row.get(0)).optional()?)
}

/// Returns the group with this id, or the group with this alias.
pub(crate) fn group(conn: &Connection, id: &str) -> Result<Option<String>> {
    let sql = "SELECT id FROM groups WHERE id = ?1 UNION ALL SELECT group_id FROM group_aliases WHERE alias = ?1 LIMIT 1";
    Ok(conn.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?)
}

/// Inserts a group.
pub(crate) fn add_group(conn: &Connection, line: &GroupLine) -> Result<()> {
    conn.prepare_cached("INSERT INTO groups(id, name, created_at) VALUES (?1, ?2, ?3)")?
        .execute((&line.id, &line.name, line.created_at))?;
    Ok(())
}

/// Deletes a group that nothing belongs to.
pub(crate) fn remove_group(conn: &Connection, group: &str) -> Result<()> {
    conn.execute("DELETE FROM isolated_groups WHERE group_id = ?1", [group])?;
    conn.execute("DELETE FROM groups WHERE id = ?1", [group])?;
    Ok(())
}

/// Inserts an alias of a group.
pub(crate) fn add_alias(conn: &Connection, alias: &str, group: &str) -> Result<()> {
    conn.prepare_cached("INSERT INTO group_aliases(alias, group_id) VALUES (?1, ?2)")?
        .execute((alias, group))?;
    Ok(())
}

/// Writes the most frequent lines. Its prepared statements are looked up once for the whole import.
pub(crate) struct RowWriter<'a> {
    conn: &'a Connection,
    memory: CachedStatement<'a>,
    keyword_index: CachedStatement<'a>,
    log_line: CachedStatement<'a>,
    /// Writes vectors and codes.
    pub vectors: vectors::VectorWriter<'a>,
    /// Writes the log lines of the import itself.
    pub import_log: CachedStatement<'a>,
}

impl<'a> RowWriter<'a> {
    pub(crate) fn new(conn: &'a Connection) -> Result<Self> {
        let memory = "INSERT INTO memories(id, type, content, source_group, scope, status, confidence, confidence_at, pinned, access_count,
                        last_accessed, boosted_at, created_at, updated_at, expires_at, superseded_by, metadata, content_hash, status_at,
                        forgotten_reason, origin, client, session, trust, flags, echo, branch, commit_id, importance)
                      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
                        ?24, ?25, ?26, ?27, ?28, ?29)";
        let log_line = "INSERT INTO memory_log(memory_id, operation, created_at, client, session, group_id, details)
                        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        Ok(Self {
            conn,
            memory: conn.prepare_cached(memory)?,
            keyword_index: conn
                .prepare_cached("INSERT INTO memories_fts(rowid, content) VALUES (?1, ?2)")?,
            log_line: conn.prepare_cached(log_line)?,
            vectors: vectors::VectorWriter::new(conn)?,
            import_log: log::statement(conn)?,
        })
    }

    /// Inserts the row of a memory, under [`BulkWrite`]; returns its sequence number.
    pub(crate) fn insert_memory(&mut self, line: &MemoryLine, hash: &[u8]) -> Result<i64> {
        write_columns(&mut self.memory, line, hash)?;
        let seq = self.conn.last_insert_rowid();
        self.keyword_index.execute((seq, &line.content))?;
        Ok(seq)
    }

    /// Inserts a line of the audit log.
    pub(crate) fn insert_log_line(&mut self, line: &LogLine) -> Result<()> {
        let columns = (
            &line.memory,
            &line.operation,
            line.at,
            &line.client,
            &line.session,
            &line.group,
            &line.details,
        );
        self.log_line.execute(columns)?;
        Ok(())
    }
}

/// Sets every column of a memory, under [`BulkWrite`].
pub(crate) fn update(conn: &Connection, line: &MemoryLine, hash: &[u8]) -> Result<()> {
    let remove_terms = "INSERT INTO memories_fts(memories_fts, rowid, content) SELECT 'delete', seq, content FROM memories WHERE id = ?1";
    conn.prepare_cached(remove_terms)?.execute([line.id.as_str()])?;
    let sql =
        "UPDATE memories SET type = ?2, content = ?3, source_group = ?4, scope = ?5, status = ?6, confidence = ?7, confidence_at = ?8,
                 pinned = ?9, access_count = ?10, last_accessed = ?11, boosted_at = ?12, created_at = ?13, updated_at = ?14,
                 expires_at = ?15, superseded_by = ?16, metadata = ?17, content_hash = ?18, status_at = ?19, forgotten_reason = ?20,
                 origin = ?21, client = ?22, session = ?23, trust = ?24, flags = ?25, echo = ?26, branch = ?27, commit_id = ?28, importance = ?29
               WHERE id = ?1";
    write_columns(&mut conn.prepare_cached(sql)?, line, hash)?;
    let add_terms =
        "INSERT INTO memories_fts(rowid, content) SELECT seq, content FROM memories WHERE id = ?1";
    conn.prepare_cached(add_terms)?.execute([line.id.as_str()])?;
    Ok(())
}

/// Turns triggers and CHECK constraints off until it is dropped.
///
/// Triggers ([`TriggersOff`]): [`RowWriter::insert_memory`] and [`update`] write to the keyword
/// index themselves, at a fraction of the cost.
///
/// CHECK constraints: for every `IN (…)` SQLite builds a table again for each row, a quarter of the
/// cost of an import. The first pass over the file validates the values by the same rules, and
/// `doctor` compares the rows with the constraints.
pub(crate) struct BulkWrite<'a> {
    conn: &'a Connection,
    _triggers_off: TriggersOff<'a>,
}

impl<'a> BulkWrite<'a> {
    pub(crate) fn begin(conn: &'a Connection) -> Result<Self> {
        let bulk_write = Self { conn, _triggers_off: TriggersOff::begin(conn)? };
        conn.execute_batch("PRAGMA ignore_check_constraints = ON")?;
        Ok(bulk_write)
    }
}

impl Drop for BulkWrite<'_> {
    fn drop(&mut self) {
        // It cannot fail on an open connection.
        let _ = self.conn.execute_batch("PRAGMA ignore_check_constraints = OFF");
    }
}

/// Executes a statement whose parameters are the columns of a memory.
fn write_columns(
    statement: &mut CachedStatement<'_>,
    line: &MemoryLine,
    hash: &[u8],
) -> Result<()> {
    statement.execute(params![
        line.id.as_str(),
        line.kind.as_str(),
        line.content,
        line.group,
        line.scope.as_str(),
        line.status,
        line.confidence.get(),
        line.confidence_at,
        line.pinned,
        line.access_count,
        line.last_accessed,
        line.boosted_at,
        line.created_at,
        line.updated_at,
        line.expires_at,
        line.superseded_by.as_ref().map(MemoryId::as_str),
        serde_json::to_string(&line.metadata).unwrap_or_default(),
        hash,
        line.status_at,
        line.forgotten_reason,
        line.origin,
        line.client,
        line.session,
        line.trust.as_deref().unwrap_or(Trust::Import.as_str()),
        (!line.flags.is_empty()).then(|| line.flags.join(",")),
        line.echo,
        line.branch,
        line.commit,
        line.importance.map(Importance::get),
    ])?;
    Ok(())
}

/// Returns true for a memory that a person stored or confirmed.
pub(crate) fn is_of_person(conn: &Connection, seq: i64) -> Result<bool> {
    Ok(conn
        .prepare_cached("SELECT 1 FROM memories WHERE seq = ?1 AND trust = 'person'")?
        .exists([seq])?)
}

/// Returns the sequence numbers of the memories that have a field of metadata.
pub(crate) fn with_metadata(conn: &Connection, field: &str) -> Result<Vec<i64>> {
    let mut statement = conn.prepare_cached(
        "SELECT seq FROM memories WHERE instr(metadata, json_quote(?1) || ':') > 0 ORDER BY id",
    )?;
    let rows = statement.query_map([field], |row| row.get(0))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns a forgotten memory of a project with exactly this text.
pub(crate) fn forgotten(
    conn: &Connection,
    group: &str,
    content: &str,
    hash: &[u8],
) -> Result<Option<MemoryId>> {
    let sql = "SELECT id FROM memories WHERE content_hash = ?1 AND status = 'forgotten' AND source_group = ?2 AND content = ?3";
    let mut statement = conn.prepare_cached(sql)?;
    Ok(statement.query_row(params![hash, group, content], |row| parsed(row, 0)).optional()?)
}

/// Returns the row numbers of the forgotten memories of a project whose metadata has a key.
pub(crate) fn forgotten_imports(conn: &Connection, group: &str, key: &str) -> Result<Vec<i64>> {
    let sql = "SELECT seq FROM memories WHERE status = 'forgotten' AND source_group = ?1 AND instr(metadata, json_quote(?2) || ':') > 0";
    let mut statement = conn.prepare_cached(sql)?;
    let seqs = statement.query_map([group, key], |row| row.get(0))?;
    Ok(seqs.collect::<rusqlite::Result<_>>()?)
}

/// Inserts a variant; returns false if it exists already.
pub(crate) fn add_variant(conn: &Connection, memory: i64, content: &str, at: i64) -> Result<bool> {
    let sql = "INSERT INTO memory_variants(memory, content, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    Ok(conn.prepare_cached(sql)?.execute((memory, content, at))? > 0)
}

/// Records that one memory was made from another; returns false if it is recorded already.
pub(crate) fn add_source(conn: &Connection, memory: i64, source: i64) -> Result<bool> {
    let sql = "INSERT INTO memory_sources(memory, source) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    Ok(conn.prepare_cached(sql)?.execute((memory, source))? > 0)
}

/// Returns id and confidence of the relation with the same id, else of the one with the same
/// triple.
pub(crate) fn relation(conn: &Connection, line: &RelationLine) -> Result<Option<(String, f64)>> {
    let sql = "SELECT id, confidence FROM entity_relations WHERE id = ?1 OR (subject_id = ?2 AND predicate = ?3 AND object_id = ?4)
               ORDER BY id <> ?1 LIMIT 1";
    let key = (&line.id, line.subject.as_str(), &line.predicate, line.object.as_str());
    Ok(conn.prepare_cached(sql)?.query_row(key, |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Inserts the row of a relation.
pub(crate) fn add_relation(conn: &Connection, line: &RelationLine) -> Result<()> {
    let sql = "INSERT INTO entity_relations(id, subject_id, predicate, object_id, confidence, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let (subject, object) = (line.subject.as_str(), line.object.as_str());
    conn.prepare_cached(sql)?.execute((
        &line.id,
        subject,
        &line.predicate,
        object,
        line.confidence.get(),
        line.created_at,
    ))?;
    Ok(())
}

/// Counts the equal lines of the audit log.
pub(crate) fn equal_log_lines(conn: &Connection, line: &LogLine) -> Result<u32> {
    let sql = "SELECT count(*) FROM memory_log WHERE memory_id = ?1 AND operation = ?2 AND created_at = ?3 AND client IS ?4
               AND session IS ?5 AND group_id IS ?6 AND details IS ?7";
    let key = (
        &line.memory,
        &line.operation,
        line.at,
        &line.client,
        &line.session,
        &line.group,
        &line.details,
    );
    Ok(conn.prepare_cached(sql)?.query_row(key, |row| row.get(0))?)
}

/// Records a hard-deleted memory; returns false if it is recorded already.
pub(crate) fn add_tombstone(conn: &Connection, line: &TombstoneLine) -> Result<bool> {
    let sql = "INSERT INTO tombstones(id, created_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    Ok(conn.prepare_cached(sql)?.execute((line.id.as_str(), line.created_at))? > 0)
}

/// Records a processed cluster; returns false if it is recorded already.
pub(crate) fn add_cluster(conn: &Connection, line: &ClusterLine) -> Result<bool> {
    let sql = "INSERT INTO clusters(key, kind, made_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    Ok(conn.prepare_cached(sql)?.execute((&line.key, &line.purpose, line.made_at))? > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::TestStore;
    use rusqlite::config::DbConfig;
    use serde_json::json;

    #[test]
    fn check_constraints_are_active_again_after_a_bulk_write() {
        let mut test_store = TestStore::new();
        test_store.store(
            "shop",
            json!({"content": "The shop opens at nine", "type": "semantic"}),
            None,
        );
        let conn = &test_store.writer.conn;
        // The transaction is rolled back when it is dropped.
        let set_invalid_status = || {
            let transaction = conn.unchecked_transaction().expect("the transaction begins");
            transaction
                .execute("UPDATE memories SET status = 'gone'", [])
                .map_err(|error| error.to_string())
        };
        let bulk_write = BulkWrite::begin(conn).expect("the bulk write begins");
        assert_eq!(set_invalid_status(), Ok(1), "the constraint is off");
        drop(bulk_write);
        assert!(set_invalid_status().is_err_and(|error| error.contains("CHECK constraint failed")));
        assert!(
            conn.db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER)
                .expect("the option is readable"),
            "triggers are on again too"
        );
    }
}
