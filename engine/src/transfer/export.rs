//! `export`: every record of the store, from one state of it, in an order that does not change.
//!
//! Two exports of one store are equal byte for byte, and so is the export of a store into which one was imported while it was empty.

use crate::db::connection;
use crate::db::export_rows as rows;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::transfer::record::{End, Header, Record};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::export::{ExportRequest, FORMAT_VERSION, Layout};
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;

impl Reader {
    /// One more connection for reading the same store, for work that takes long.
    ///
    /// # Errors
    /// `Database` when it cannot be opened.
    pub fn another(&self) -> Result<Self> {
        Ok(Self { conn: connection::reader(&self.shared.path)?, shared: Arc::clone(&self.shared) })
    }

    /// Writes the whole store down.
    ///
    /// # Errors
    /// `Database`, or what `sink` refuses.
    pub fn export(&self, request: &ExportRequest, sink: &mut dyn Write) -> Result<()> {
        let snapshot = rows::snapshot(&self.conn)?;
        let mut out = Out { sink, layout: request.layout, lines: 0 };
        let model = request.vectors.then(|| self.shared.settings().model.clone());
        out.begin(&Header {
            loci: "export".to_owned(),
            version: FORMAT_VERSION,
            vectors: model.clone(),
        })?;
        rows::groups(&snapshot, |line| out.put(&Record::Group(line)))?;
        rows::memories(&snapshot, |line| out.put(&Record::Memory(Box::new(line))))?;
        rows::variants(&snapshot, |line| out.put(&Record::Variant(line)))?;
        rows::sources(&snapshot, |line| out.put(&Record::Source(line)))?;
        if let Some(model) = model {
            rows::vectors(&snapshot, &model, |line| out.put(&Record::Vector(line)))?;
        }
        rows::relations(&snapshot, |line| out.put(&Record::Relation(line)))?;
        rows::log(&snapshot, |line| out.put(&Record::Log(line)))?;
        rows::tombstones(&snapshot, |line| out.put(&Record::Tombstone(line)))?;
        rows::clusters(&snapshot, |line| out.put(&Record::Cluster(line)))?;
        out.end()
    }
}

struct Out<'a> {
    sink: &'a mut dyn Write,
    layout: Layout,
    lines: usize,
}

impl Out<'_> {
    fn begin(&mut self, header: &Header) -> Result<()> {
        let mut text = json(header)?;
        if self.layout == Layout::Document {
            text.pop();
            text.push_str(",\"records\":[");
        }
        self.line(&text)
    }

    fn put(&mut self, record: &Record) -> Result<()> {
        let mut text = json(record)?;
        if self.layout == Layout::Document {
            text.push(',');
        }
        self.line(&text)
    }

    fn end(&mut self) -> Result<()> {
        let mut text = json(&Record::End(End { lines: self.lines }))?;
        if self.layout == Layout::Document {
            text.push_str("\n]}");
        }
        self.line(&text)?;
        self.sink.flush().map_err(unwritten)
    }

    fn line(&mut self, text: &str) -> Result<()> {
        self.lines += 1;
        self.sink
            .write_all(text.as_bytes())
            .and_then(|()| self.sink.write_all(b"\n"))
            .map_err(unwritten)
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value).map_err(|e| Failure::new(Code::Internal, e.to_string()))?)
}

#[expect(clippy::needless_pass_by_value, reason = "handed to map_err")]
fn unwritten(error: std::io::Error) -> crate::error::Error {
    Failure::new(Code::StorageFailed, format!("the export could not be written on: {error}")).into()
}
