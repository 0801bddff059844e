//! The dump: the records of an export as sorted lines that change as little as possible, so that a
//! repository of git shows what was learnt.
//!
//! Left out are the log, vectors, and what changes when a memory is only used. A memory that another
//! machine erased, and that is only forgotten here, is left out with all that belongs to it; its
//! tombstone is written. The last line does not count the others, so that git can merge two dumps.

use crate::db::export_rows as rows;
use crate::error::Result;
use crate::transfer::record::{MemoryLine, Record};
use crate::transfer::written_line::{to_json, write_error};
use loci_proto::memory::MemoryId;
use loci_proto::requests::export::DUMP_VERSION;
use rusqlite::Connection;
use serde_json::json;
use std::collections::{BTreeSet, HashSet};
use std::io::Write;

/// The last line.
pub(crate) const END: &str = r#"{"kind":"end"}"#;

/// Writes the dump of a store.
pub(crate) fn write(conn: &Connection, sink: &mut dyn Write) -> Result<()> {
    let erased = erased(conn)?;
    let mut out = DumpWriter { sink };
    out.line(&json!({"loci": "dump", "version": DUMP_VERSION}).to_string())?;
    rows::groups(conn, |mut line| {
        line.aliases.sort();
        out.record(&Record::Group(line))
    })?;
    let mut alive = HashSet::new();
    rows::memories_by_id(conn, |line| {
        if erased.contains(&line.id) {
            return Ok(());
        }
        alive.insert(line.id.clone());
        out.record(&Record::Memory(Box::new(without_usage(line))))
    })?;
    rows::variants(conn, |line| {
        let is_alive = alive.contains(&line.memory);
        out.record_if(is_alive, &Record::Variant(line))
    })?;
    rows::sources(conn, |line| {
        let is_alive = alive.contains(&line.memory) && alive.contains(&line.source);
        out.record_if(is_alive, &Record::Source(line))
    })?;
    let mut relations = BTreeSet::new();
    rows::relations(conn, |mut line| {
        if alive.contains(&line.subject) && alive.contains(&line.object) {
            line.evidence.retain(|memory| alive.contains(memory));
            line.evidence.sort();
            relations.insert((line.id.clone(), to_json(&Record::Relation(line))?));
        }
        Ok(())
    })?;
    for (_, line) in relations {
        out.line(&line)?;
    }
    rows::tombstones(conn, |line| {
        let is_erased = !alive.contains(&line.id);
        out.record_if(is_erased, &Record::Tombstone(line))
    })?;
    rows::clusters(conn, |line| out.record(&Record::Cluster(line)))?;
    out.line(END)?;
    out.sink.flush().map_err(write_error)
}

/// Returns the memories that are forgotten here and erased elsewhere.
fn erased(conn: &Connection) -> Result<HashSet<MemoryId>> {
    let mut tombstones = HashSet::new();
    rows::tombstones(conn, |line| {
        tombstones.insert(line.id);
        Ok(())
    })?;
    let mut erased = HashSet::new();
    if tombstones.is_empty() {
        return Ok(erased);
    }
    rows::memories_by_id(conn, |line| {
        if line.status == "forgotten" && tombstones.contains(&line.id) {
            erased.insert(line.id);
        }
        Ok(())
    })?;
    Ok(erased)
}

/// Returns a line without what changes when a memory is only used.
fn without_usage(line: MemoryLine) -> MemoryLine {
    MemoryLine { access_count: 0, last_accessed: None, boosted_at: None, importance: None, ..line }
}

/// Writes lines.
struct DumpWriter<'a> {
    sink: &'a mut dyn Write,
}

impl DumpWriter<'_> {
    fn record(&mut self, record: &Record) -> Result<()> {
        self.line(&to_json(record)?)
    }

    fn record_if(&mut self, condition: bool, record: &Record) -> Result<()> {
        if condition { self.record(record) } else { Ok(()) }
    }

    fn line(&mut self, text: &str) -> Result<()> {
        let sink = &mut self.sink;
        sink.write_all(text.as_bytes()).and_then(|()| sink.write_all(b"\n")).map_err(write_error)
    }
}
