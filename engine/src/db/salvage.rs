//! Reads what is left of a damaged database: every row that can be decoded and whose text matches
//! its hash.
//!
//! Memories are looked up one by one, because a scan ends at the first damaged page. The other
//! tables are read until a page fails. Nothing is changed. Not here: what is done with the rows.

use crate::db::damage::{self, DamagedRow, DamagedRows};
use crate::db::{cipher, connection, export_rows, health};
use crate::error::Result;
use crate::transfer::Record;
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;

/// Row numbers that are tried beyond the last known one without success before the search ends.
const MAX_GAP: i64 = 10_000;

/// What a salvage has found.
#[derive(Debug, Default)]
pub struct Salvage {
    /// The good rows as lines of an export, in its order.
    pub(crate) records: Vec<Record>,
    /// The number of memories among them.
    pub memories: usize,
    /// The row numbers of the memories.
    pub(crate) rows: Vec<i64>,
    /// The last row number that was given to a memory, 0 if it cannot be read.
    pub(crate) last_row: i64,
    /// The rows that cannot be used.
    pub damaged: Vec<DamagedRow>,
    /// The tables that could not be read to their end, with the reason.
    pub unread: Vec<String>,
}

/// Reads every good row of a database file, without its write-ahead log and without a lock.
///
/// # Errors
/// `Database` if not even the schema can be read.
pub fn salvage(path: &Path) -> Result<Salvage> {
    read(&mut connection::immutable(path)?, &|| connection::immutable(path).ok())
}

/// A damaged file that is read.
struct Source<'a> {
    conn: &'a mut Connection,
    reopen: &'a dyn Fn() -> Option<Connection>,
    damaged: Arc<DamagedRows>,
}

impl Source<'_> {
    /// Opens the connection again if the file is encrypted: `SQLCipher` reads nothing more through a
    /// connection that has met a page that cannot be decrypted.
    fn renew(&mut self) -> Result<()> {
        if cipher::key_of(self.conn).is_some()
            && let Some(conn) = (self.reopen)()
        {
            damage::record_into(&conn, &self.damaged)?;
            *self.conn = conn;
        }
        Ok(())
    }
}

/// Reads every good row that a connection sees; `reopen` opens another one to the same file.
///
/// # Errors
/// `Database` if rows cannot be recorded.
pub(crate) fn read(
    conn: &mut Connection,
    reopen: &dyn Fn() -> Option<Connection>,
) -> Result<Salvage> {
    let mut source = Source { conn, reopen, damaged: Arc::default() };
    damage::record_into(source.conn, &source.damaged)?;
    source.renew()?;
    let mut found = Salvage::default();
    found.read_table(&mut source, "projects", |conn, records| {
        export_rows::groups(conn, |line| {
            records.push(Record::Group(line));
            Ok(())
        })
    })?;
    found.read_memories(&mut source)?;
    found.read_table(&mut source, "variants", |conn, records| {
        export_rows::variants(conn, |line| {
            records.push(Record::Variant(line));
            Ok(())
        })
    })?;
    found.read_table(&mut source, "sources", |conn, records| {
        export_rows::sources(conn, |line| {
            records.push(Record::Source(line));
            Ok(())
        })
    })?;
    found.read_table(&mut source, "relations", |conn, records| {
        export_rows::relations(conn, |line| {
            records.push(Record::Relation(line));
            Ok(())
        })
    })?;
    found.read_table(&mut source, "the log", |conn, records| {
        export_rows::log(conn, |line| {
            records.push(Record::Log(line));
            Ok(())
        })
    })?;
    found.read_table(&mut source, "tombstones", |conn, records| {
        export_rows::tombstones(conn, |line| {
            records.push(Record::Tombstone(line));
            Ok(())
        })
    })?;
    found.read_table(&mut source, "clusters", |conn, records| {
        export_rows::clusters(conn, |line| {
            records.push(Record::Cluster(line));
            Ok(())
        })
    })?;
    found.damaged = source.damaged.all();
    Ok(found)
}

impl Salvage {
    fn read_table(
        &mut self,
        source: &mut Source<'_>,
        name: &str,
        read: impl FnOnce(&Connection, &mut Vec<Record>) -> Result<()>,
    ) -> Result<()> {
        if let Err(fault) = read(source.conn, &mut self.records) {
            self.unread.push(format!("{name}: {fault}"));
            source.renew()?;
        }
        Ok(())
    }

    /// Looks up each row number up to the last that was given, and beyond it as long as there are
    /// rows.
    fn read_memories(&mut self, source: &mut Source<'_>) -> Result<()> {
        let last = health::last_row(source.conn, "memories").unwrap_or(0);
        self.last_row = last;
        let (mut seq, mut end) = (1, last.max(MAX_GAP));
        while seq <= end {
            match export_rows::memory_line(source.conn, seq) {
                Ok(Some(line)) => {
                    self.records.push(Record::Memory(Box::new(line)));
                    self.memories += 1;
                    self.rows.push(seq);
                    end = end.max(seq + MAX_GAP);
                }
                Ok(None)
                | Err(crate::error::Error::Database(rusqlite::Error::QueryReturnedNoRows)) => {}
                Err(fault) => {
                    source.damaged.note(DamagedRow {
                        place: DamagedRow::MEMORY.to_owned(),
                        row: seq,
                        id: "without id".to_owned(),
                        reason: format!("its page cannot be read: {fault}"),
                    });
                    source.renew()?;
                }
            }
            seq += 1;
        }
        Ok(())
    }
}
