//! Converts an export that is one JSON document to lines. Reads its records one by one, whatever
//! its white space and order of fields.

use crate::error::Result;
use crate::transfer::line_reader::read_error;
use crate::transfer::record::Header;
use loci_proto::error::{Code, Failure};
use loci_proto::limits::LINE_BYTES;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::rc::Rc;

/// Maximum number of bytes from one record to the next: twice the limit of a line, to allow for
/// white space.
const RECORD_BYTES: usize = 2 * LINE_BYTES;
const BYTE_ORDER_MARK: &[u8] = "\u{FEFF}".as_bytes();

/// Returns true if a file begins as one JSON document and not as lines: the first line is the
/// beginning of an object, or an object with the records.
#[must_use]
pub fn is_document(beginning: &[u8]) -> bool {
    let beginning = beginning.strip_prefix(BYTE_ORDER_MARK).unwrap_or(beginning);
    if beginning.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return false;
    }
    let first_line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<Map<String, Value>>(first_line) {
        Ok(object) => object.contains_key("records"),
        Err(error) => error.is_eof() && serde_json::from_slice::<Header>(first_line).is_err(),
    }
}

/// Converts a document to lines: the header, then one line for each record, so that record N is
/// line N + 1.
///
/// # Errors
/// `invalid` if it is not an export document; `storage_failed` if reading or writing fails.
pub fn document_to_lines(document: &mut (impl Read + Seek), lines: &mut dyn Write) -> Result<()> {
    let mut header = Map::new();
    visit_document(document, Pass::Header(&mut header))?;
    document.rewind().map_err(read_error)?;
    writeln!(lines, "{}", Value::Object(header)).map_err(read_error)?;
    visit_document(document, Pass::Records(lines))?;
    lines.flush().map_err(read_error)
}

/// The part of the document that a pass extracts: the first pass the header fields, the second the
/// records.
enum Pass<'a> {
    Header(&'a mut Map<String, Value>),
    Records(&'a mut dyn Write),
}

fn visit_document(document: &mut impl Read, pass: Pass<'_>) -> Result<()> {
    let record_bytes = Rc::new(Cell::new(0));
    let mut inner = BufReader::new(document);
    if inner.fill_buf().map_err(read_error)?.starts_with(BYTE_ORDER_MARK) {
        inner.consume(BYTE_ORDER_MARK.len());
    }
    let limits_records = matches!(pass, Pass::Records(_));
    let mut reader = serde_json::Deserializer::from_reader(BoundedReader {
        inner,
        record_bytes: Rc::clone(&record_bytes),
        limits_records,
    });
    let outcome =
        DocumentVisitor { pass, record_bytes }.deserialize(&mut reader).and_then(|()| reader.end());
    Ok(outcome.map_err(|error| {
        Failure::new(Code::Invalid, format!("the document cannot be read: {error}"))
    })?)
}

/// Fails on a record that is too long before all of it is in memory. Counts the bytes read from the
/// file since the last record.
struct BoundedReader<R> {
    inner: R,
    record_bytes: Rc<Cell<usize>>,
    limits_records: bool,
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.record_bytes.set(self.record_bytes.get() + read);
        if self.limits_records && self.record_bytes.get() > RECORD_BYTES {
            return Err(io::Error::other(format!("a record is longer than {RECORD_BYTES} bytes")));
        }
        Ok(read)
    }
}

/// Visits the fields of the document.
struct DocumentVisitor<'a> {
    pass: Pass<'a>,
    record_bytes: Rc<Cell<usize>>,
}

impl<'de> DeserializeSeed<'de> for DocumentVisitor<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<(), D::Error> {
        document.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the records of an export")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let mut has_records = false;
        while let Some(name) = fields.next_key::<String>()? {
            match &mut self.pass {
                Pass::Records(lines) if name == "records" => {
                    fields.next_value_seed(RecordsVisitor {
                        lines: &mut **lines,
                        record_bytes: Rc::clone(&self.record_bytes),
                    })?;
                    has_records = true;
                }
                Pass::Header(header) if name != "records" => {
                    header.insert(name, fields.next_value()?);
                }
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        match self.pass {
            Pass::Records(_) if !has_records => Err(A::Error::custom("it has no records")),
            _ => Ok(()),
        }
    }
}

/// Writes each record as a line.
struct RecordsVisitor<'a> {
    lines: &'a mut dyn Write,
    record_bytes: Rc<Cell<usize>>,
}

impl<'de> DeserializeSeed<'de> for RecordsVisitor<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, records: D) -> Result<(), D::Error> {
        records.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RecordsVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut records: A) -> Result<(), A::Error> {
        self.record_bytes.set(0);
        while let Some(record) = records.next_element::<Value>()? {
            writeln!(self.lines, "{record}").map_err(A::Error::custom)?;
            self.record_bytes.set(0);
        }
        Ok(())
    }
}
