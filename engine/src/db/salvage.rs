//! Reads what is left of a damaged database: every row that can be decoded and whose text matches
//! its hash.
//!
//! Memories are looked up one by one, because a scan ends at the first damaged page. The other
//! tables are read until a page fails. Nothing is changed. Not here: what is done with the rows.

use crate::db::damage::{self, DamagedRow, DamagedRows};
use crate::db::{connection, export_rows, health};
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
    read(&connection::immutable(path)?)
}

/// Reads every good row that a connection sees.
///
/// # Errors
/// `Database` if rows cannot be recorded.
pub(crate) fn read(conn: &Connection) -> Result<Salvage> {
    let damaged = Arc::new(DamagedRows::default());
    damage::record_into(conn, &damaged)?;
    let mut found = Salvage::default();
    found.read_table("projects", |records| {
        export_rows::groups(conn, |line| {
            records.push(Record::Group(line));
            Ok(())
        })
    });
    found.read_memories(conn, &damaged);
    found.read_table("variants", |records| {
        export_rows::variants(conn, |line| {
            records.push(Record::Variant(line));
            Ok(())
        })
    });
    found.read_table("sources", |records| {
        export_rows::sources(conn, |line| {
            records.push(Record::Source(line));
            Ok(())
        })
    });
    found.read_table("relations", |records| {
        export_rows::relations(conn, |line| {
            records.push(Record::Relation(line));
            Ok(())
        })
    });
    found.read_table("the log", |records| {
        export_rows::log(conn, |line| {
            records.push(Record::Log(line));
            Ok(())
        })
    });
    found.read_table("tombstones", |records| {
        export_rows::tombstones(conn, |line| {
            records.push(Record::Tombstone(line));
            Ok(())
        })
    });
    found.read_table("clusters", |records| {
        export_rows::clusters(conn, |line| {
            records.push(Record::Cluster(line));
            Ok(())
        })
    });
    found.damaged = damaged.all();
    Ok(found)
}

impl Salvage {
    fn read_table(&mut self, name: &str, read: impl FnOnce(&mut Vec<Record>) -> Result<()>) {
        if let Err(fault) = read(&mut self.records) {
            self.unread.push(format!("{name}: {fault}"));
        }
    }

    /// Looks up each row number up to the last that was given, and beyond it as long as there are
    /// rows.
    fn read_memories(&mut self, conn: &Connection, damaged: &DamagedRows) {
        let last = health::last_row(conn, "memories").unwrap_or(0);
        self.last_row = last;
        let (mut seq, mut end) = (1, last.max(MAX_GAP));
        while seq <= end {
            match export_rows::memory_line(conn, seq) {
                Ok(Some(line)) => {
                    self.records.push(Record::Memory(Box::new(line)));
                    self.memories += 1;
                    self.rows.push(seq);
                    end = end.max(seq + MAX_GAP);
                }
                Ok(None)
                | Err(crate::error::Error::Database(rusqlite::Error::QueryReturnedNoRows)) => {}
                Err(fault) => damaged.note(DamagedRow {
                    place: DamagedRow::MEMORY.to_owned(),
                    row: seq,
                    id: "without id".to_owned(),
                    reason: format!("its page cannot be read: {fault}"),
                }),
            }
            seq += 1;
        }
    }
}
