//! Reads what can still be read of a damaged database, row by row, as lines of an import: groups,
//! memories with their variants and sources, relations.
//!
//! A row whose page is damaged is skipped and counted; a text whose hash differs is not taken. The
//! database is a copy, which SQLite may change. Not here: what the lines do (`transfer::import`).

use crate::db::{connection, export_rows, health, import_rows};
use crate::error::Result;
use crate::operations::store::hash;
use crate::transfer::{
    GroupLine, LineWriter, MemoryLine, Record, RelationLine, SourceLine, VariantLine,
};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Row numbers above this are not tried if the database does not say how many rows it has.
const MAX_ROWS: i64 = 10_000_000;
/// Bytes of a page of every database of loci.
const PAGE_BYTES: usize = 4096;
/// Where a header has the number of pages.
const PAGES_AT: std::ops::Range<usize> = 28..32;

/// A damaged database and what is known of it.
pub(crate) struct Source<'a> {
    /// A copy of the damaged database, with its write-ahead log beside it.
    pub damaged: &'a Path,
    /// A whole backup of it.
    pub backup: Option<&'a Path>,
    /// The last change that was acknowledged; 0 if unknown.
    pub last_change: i64,
}

/// How much could be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Salvage {
    /// Rows that are newer than the restored store and cannot be read.
    pub unreadable: usize,
    /// The last change in the damaged database, if that can be read.
    pub last_change: Option<i64>,
}

/// Writes the lines of everything that the restored store does not have in the same state.
///
/// # Errors
/// The lines cannot be written, or the restored store cannot be read. A database of which nothing
/// can be read has no lines.
pub(crate) fn write_lines(
    source: &Source<'_>,
    restored: &Connection,
    sink: &mut dyn Write,
) -> Result<Salvage> {
    let mut lines = LineWriter::begin(sink)?;
    let mut salvage = Salvage::default();
    if let Some(conn) = open(source) {
        salvage.last_change = health::last_change(&conn).ok().filter(|last| *last > 0);
        let known = sequence(restored, "memories").unwrap_or(0);
        let memories = changed_memories(&conn, restored, source, &mut |seq| {
            salvage.unreadable += usize::from(seq > known);
        })?;
        write_groups(&conn, &memories, &mut lines)?;
        for memory in &memories {
            lines.write(&Record::Memory(Box::new(memory.line.clone())))?;
        }
        for Salvaged { seq, line } in &memories {
            write_variants(&conn, *seq, line, &mut lines)?;
        }
        for Salvaged { seq, line } in &memories {
            write_sources(&conn, *seq, line, &mut lines)?;
        }
        salvage.unreadable += write_relations(&conn, &mut lines)?;
    }
    lines.finish()?;
    Ok(salvage)
}

/// A memory that was read.
struct Salvaged {
    seq: i64,
    line: MemoryLine,
}

/// Opens the damaged database: as it is, then without its log, then with the first page of the
/// backup.
fn open(source: &Source<'_>) -> Option<Connection> {
    open_readable(source.damaged).or_else(|| {
        let _ = std::fs::remove_file(crate::database_files::wal_path(source.damaged));
        open_readable(source.damaged).or_else(|| {
            replace_first_page(source).ok()?;
            open_readable(source.damaged)
        })
    })
}

fn open_readable(path: &Path) -> Option<Connection> {
    connection::configure_sqlite();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = Connection::open_with_flags(path, flags).ok()?;
    // A database that was cut is opened only with a writable schema.
    conn.execute_batch("PRAGMA writable_schema = ON; PRAGMA trusted_schema = OFF;").ok()?;
    let tables = conn.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('memories', 'groups')",
        [],
        |row| row.get::<_, i64>(0),
    );
    (tables.ok()? == 2).then_some(conn)
}

/// Writes the first page of the backup, which has the same tables at the same places, over the
/// damaged one.
fn replace_first_page(source: &Source<'_>) -> std::io::Result<()> {
    let Some(backup) = source.backup else { return Err(std::io::ErrorKind::NotFound.into()) };
    let mut page = vec![0; PAGE_BYTES];
    std::fs::File::open(backup)?.read_exact_at(&mut page, 0)?;
    let file = std::fs::OpenOptions::new().write(true).open(source.damaged)?;
    let pages = u32::try_from(file.metadata()?.len() / PAGE_BYTES as u64).unwrap_or(u32::MAX);
    page[PAGES_AT].copy_from_slice(&pages.to_be_bytes());
    file.write_all_at(&page, 0)
}

/// Returns the highest row number that a table ever had.
fn sequence(conn: &Connection, table: &str) -> Result<i64> {
    let number = conn
        .query_row("SELECT seq FROM sqlite_sequence WHERE name = ?1", [table], |row| row.get(0))
        .optional()?;
    Ok(number.unwrap_or(0))
}

/// Returns the memories that the restored store does not have in the same state, in storage order.
fn changed_memories(
    conn: &Connection,
    restored: &Connection,
    source: &Source<'_>,
    count_unreadable: &mut dyn FnMut(i64),
) -> Result<Vec<Salvaged>> {
    let last = sequence(conn, "memories").ok().filter(|last| *last > 0);
    let last = last.unwrap_or(source.last_change).min(MAX_ROWS);
    let mut salvaged = Vec::new();
    for seq in 1..=last {
        match read_memory(conn, seq) {
            Ok(None) => {}
            Ok(Some(line)) => {
                let is_known = match import_rows::find(restored, &line.id)? {
                    Some((known, _)) => export_rows::memory_line(restored, known)? == line,
                    None => false,
                };
                if !is_known {
                    salvaged.push(Salvaged { seq, line });
                }
            }
            Err(_) => count_unreadable(seq),
        }
    }
    Ok(salvaged)
}

/// Reads one memory; `None` if there is none. Fails if its text is not the one that was stored.
pub(crate) fn read_memory(conn: &Connection, seq: i64) -> Result<Option<MemoryLine>> {
    let stored: Option<Vec<u8>> = conn
        .prepare_cached("SELECT content_hash FROM memories WHERE seq = ?1")?
        .query_row([seq], |row| row.get(0))
        .optional()?;
    let Some(stored) = stored else { return Ok(None) };
    let line = export_rows::memory_line(conn, seq)?;
    if stored == hash(&line.content) {
        Ok(Some(line))
    } else {
        Err(rusqlite::Error::IntegralValueOutOfRange(0, seq).into())
    }
}

/// Writes the groups that can be read, and those of the memories under their ids.
fn write_groups(
    conn: &Connection,
    memories: &[Salvaged],
    lines: &mut LineWriter<'_>,
) -> Result<()> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    let mut groups: Vec<GroupLine> = Vec::new();
    // What was read before a fault is used.
    let _ = export_rows::groups(conn, |line| {
        groups.push(line);
        Ok(())
    });
    for line in groups {
        known.insert(line.id.clone());
        lines.write(&Record::Group(line))?;
    }
    for Salvaged { line, .. } in memories {
        if let Some(group) = &line.group
            && known.insert(group.clone())
        {
            let line = GroupLine {
                id: group.clone(),
                name: group.clone(),
                created_at: line.created_at,
                aliases: Vec::new(),
            };
            lines.write(&Record::Group(line))?;
        }
    }
    Ok(())
}

fn write_variants(
    conn: &Connection,
    seq: i64,
    memory: &MemoryLine,
    lines: &mut LineWriter<'_>,
) -> Result<()> {
    let read = || -> Result<Vec<VariantLine>> {
        let mut statement = conn
            .prepare_cached("SELECT content, created_at FROM memory_variants WHERE memory = ?1")?;
        let rows = statement.query_map([seq], |row| {
            Ok(VariantLine {
                memory: memory.id.clone(),
                content: row.get(0)?,
                created_at: row.get(1)?,
            })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    for line in read().unwrap_or_default() {
        lines.write(&Record::Variant(line))?;
    }
    Ok(())
}

fn write_sources(
    conn: &Connection,
    seq: i64,
    memory: &MemoryLine,
    lines: &mut LineWriter<'_>,
) -> Result<()> {
    let read = || -> Result<Vec<SourceLine>> {
        let mut statement = conn.prepare_cached(
            "SELECT s.id FROM memory_sources x JOIN memories s ON s.seq = x.source WHERE x.memory = ?1",
        )?;
        let rows = statement.query_map([seq], |row| {
            let source = crate::db::memories::parsed(row, 0)?;
            Ok(SourceLine { memory: memory.id.clone(), source })
        })?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    };
    for line in read().unwrap_or_default() {
        lines.write(&Record::Source(line))?;
    }
    Ok(())
}

/// Writes the relations; returns how many cannot be read.
fn write_relations(conn: &Connection, lines: &mut LineWriter<'_>) -> Result<usize> {
    let last = conn.query_row("SELECT max(rowid) FROM entity_relations", [], |row| {
        row.get::<_, Option<i64>>(0)
    });
    let last = last.ok().flatten().unwrap_or(0).min(MAX_ROWS);
    let mut unreadable = 0;
    for rowid in 1..=last {
        match read_relation(conn, rowid) {
            Ok(Some(line)) => lines.write(&Record::Relation(line))?,
            Ok(None) => {}
            Err(_) => unreadable += 1,
        }
    }
    Ok(unreadable)
}

fn read_relation(conn: &Connection, rowid: i64) -> Result<Option<RelationLine>> {
    let id: Option<String> = conn
        .prepare_cached("SELECT id FROM entity_relations WHERE rowid = ?1")?
        .query_row([rowid], |row| row.get(0))
        .optional()?;
    id.map(|id| export_rows::relation_line(conn, &id)).transpose()
}
