//! `export`: writes every record of the store in a fixed order, in one read transaction.
//!
//! Two exports of one store are equal byte for byte. An empty store that imports a file exports the
//! same file.

use crate::db::damage::{self, DamagedRows};
use crate::db::export_rows as rows;
use crate::db::vector_sets;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::time::{Timestamp, past_moment};
use crate::transfer::record::{EndLine, Header, Record};
use crate::transfer::written_line::{to_json, write_error};
use crate::transfer::{dump, markdown_files};
use loci_proto::error::Failure;
use loci_proto::requests::export::{ExportRequest, FORMAT_VERSION, Layout};
use rusqlite::Connection;
use std::io::Write;
use std::sync::Arc;

impl Reader {
    /// Opens another read connection to the same store, for long operations.
    ///
    /// # Errors
    /// `Database` if it cannot be opened.
    pub fn try_clone(&self) -> Result<Self> {
        Self::new(&self.shared)
    }

    /// Writes the whole store to `sink`, except damaged rows, which the last line counts.
    ///
    /// # Errors
    /// `Database`, or `storage_failed` if `sink` fails.
    pub fn export(&self, request: &ExportRequest, sink: &mut dyn Write) -> Result<()> {
        // Damaged rows are counted apart from those that were known before.
        let (conn, damaged) = (self.fresh_connection()?, Arc::new(DamagedRows::default()));
        damage::record_into(&conn, &damaged)?;
        let tx = rows::snapshot(&conn)?;
        write_store(&tx, request, &damaged, sink)?;
        damaged.all().into_iter().for_each(|row| self.shared.damaged.note(row));
        Ok(())
    }

    /// Like [`Reader::export`]; with `as_of` the store as it was known then.
    ///
    /// # Errors
    /// Also `invalid` for `as_of`, or for vectors with it.
    pub fn export_at(
        &self,
        request: &ExportRequest,
        now: Timestamp,
        sink: &mut dyn Write,
    ) -> Result<()> {
        let Some(text) = &request.as_of else { return self.export(request, sink) };
        self.check_export(request, now)?;
        let (past, _) = self.as_of(text, now)?;
        let damaged = Arc::new(DamagedRows::default());
        damage::record_into(&past.conn, &damaged)?;
        write_store(&past.conn, request, &damaged, sink)
    }

    /// Checks a request before its reply begins.
    ///
    /// # Errors
    /// As [`Reader::export_at`].
    pub fn check_export(&self, request: &ExportRequest, now: Timestamp) -> Result<()> {
        let Some(text) = &request.as_of else { return Ok(()) };
        past_moment(text, "as_of", now)?;
        if request.vectors {
            let failure = Failure::invalid("vectors", "are only known of the present texts");
            return Err(failure.hint("Leave out vectors, or leave out as_of").into());
        }
        Ok(())
    }
}

/// Writes the store that a connection sees in one read transaction.
fn write_store(
    conn: &Connection,
    request: &ExportRequest,
    damaged: &DamagedRows,
    sink: &mut dyn Write,
) -> Result<()> {
    if request.layout == Layout::Dump {
        return dump::write(conn, sink);
    }
    if request.layout == Layout::Markdown {
        return markdown_files::write(conn, sink);
    }
    let set = request.vectors.then(|| vector_sets::in_use(conn)).transpose()?;
    let set = set.map(|sets| sets.active);
    let mut out = ExportWriter { sink, layout: request.layout, line_count: 0 };
    out.write_header(&Header {
        loci: "export".to_owned(),
        version: FORMAT_VERSION,
        vectors: set.as_ref().map(|set| set.model.clone()),
    })?;
    rows::groups(conn, |line| out.write_record(&Record::Group(line)))?;
    rows::memories(conn, |line| out.write_record(&Record::Memory(Box::new(line.with_derived()))))?;
    rows::variants(conn, |line| out.write_record(&Record::Variant(line)))?;
    rows::sources(conn, |line| out.write_record(&Record::Source(line)))?;
    if let Some(set) = set {
        rows::vectors(conn, &set.name, |line| out.write_record(&Record::Vector(line)))?;
    }
    rows::relations(conn, |line| out.write_record(&Record::Relation(line)))?;
    rows::log(conn, |line| out.write_record(&Record::Log(line)))?;
    rows::tombstones(conn, |line| out.write_record(&Record::Tombstone(line)))?;
    rows::clusters(conn, |line| out.write_record(&Record::Cluster(line)))?;
    out.finish(damaged.all().len())
}

/// Writes records as the lines of an import.
pub(crate) struct LineWriter<'a>(ExportWriter<'a>);

impl<'a> LineWriter<'a> {
    /// Writes the header of a file without vectors.
    ///
    /// # Errors
    /// `storage_failed` if it cannot be written.
    pub fn begin(sink: &'a mut dyn Write) -> Result<Self> {
        let mut out = ExportWriter { sink, layout: Layout::Lines, line_count: 0 };
        out.write_header(&Header {
            loci: "export".to_owned(),
            version: FORMAT_VERSION,
            vectors: None,
        })?;
        Ok(Self(out))
    }

    /// Writes a record.
    ///
    /// # Errors
    /// As [`LineWriter::begin`].
    pub fn write(&mut self, record: &Record) -> Result<()> {
        self.0.write_record(record)
    }

    /// Writes the last line.
    ///
    /// # Errors
    /// As [`LineWriter::begin`].
    pub fn finish(mut self) -> Result<()> {
        self.0.finish(0)
    }
}

/// Writes records as lines, or as one document.
struct ExportWriter<'a> {
    sink: &'a mut dyn Write,
    layout: Layout,
    line_count: usize,
}

impl ExportWriter<'_> {
    fn write_header(&mut self, header: &Header) -> Result<()> {
        let mut text = to_json(header)?;
        if self.layout == Layout::Document {
            text.pop();
            text.push_str(",\"records\":[");
        }
        self.write_line(&text)
    }

    fn write_record(&mut self, record: &Record) -> Result<()> {
        let mut text = to_json(record)?;
        if self.layout == Layout::Document {
            text.push(',');
        }
        self.write_line(&text)
    }

    fn finish(&mut self, left_out: usize) -> Result<()> {
        let mut text = to_json(&Record::End(EndLine { lines: self.line_count, left_out }))?;
        if self.layout == Layout::Document {
            text.push_str("\n]}");
        }
        self.write_line(&text)?;
        self.sink.flush().map_err(write_error)
    }

    fn write_line(&mut self, text: &str) -> Result<()> {
        self.line_count += 1;
        self.sink
            .write_all(text.as_bytes())
            .and_then(|()| self.sink.write_all(b"\n"))
            .map_err(write_error)
    }
}
