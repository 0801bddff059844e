//! One JSON document made into lines: its records are read one by one, however it is laid out.

use crate::error::Result;
use crate::transfer::lines::unread;
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

/// Most bytes from one record to the next: a record in lines has at most half of it, the rest is for blanks.
const RECORD_BYTES: usize = 2 * LINE_BYTES;
const MARK: &[u8] = "\u{FEFF}".as_bytes();

/// True when a file begins as one JSON document rather than as lines: an object begins, and the first line is no whole one or holds
/// the records.
#[must_use]
pub fn is_document(beginning: &[u8]) -> bool {
    let beginning = beginning.strip_prefix(MARK).unwrap_or(beginning);
    if beginning.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
        return false;
    }
    let first = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    match serde_json::from_slice::<Map<String, Value>>(first) {
        Ok(object) => object.contains_key("records"),
        Err(error) => error.is_eof() && serde_json::from_slice::<Header>(first).is_err(),
    }
}

/// Makes lines of a document: the header first, then one line for each record, so that line N + 1 is record N.
///
/// # Errors
/// `invalid` where it is no such document.
pub fn unfold(document: &mut (impl Read + Seek), lines: &mut dyn Write) -> Result<()> {
    let mut header = Map::new();
    walk(document, Pass::Header(&mut header))?;
    document.rewind().map_err(unread)?;
    writeln!(lines, "{}", Value::Object(header)).map_err(unread)?;
    walk(document, Pass::Records(lines))?;
    lines.flush().map_err(unread)
}

/// One way through a document: first for what stands beside the records, then for the records.
enum Pass<'a> {
    Header(&'a mut Map<String, Value>),
    Records(&'a mut dyn Write),
}

fn walk(document: &mut impl Read, pass: Pass<'_>) -> Result<()> {
    let since = Rc::new(Cell::new(0));
    let mut inner = BufReader::new(document);
    if inner.fill_buf().map_err(unread)?.starts_with(MARK) {
        inner.consume(MARK.len());
    }
    let bounded = matches!(pass, Pass::Records(_));
    let mut reader =
        serde_json::Deserializer::from_reader(Counted { inner, since: Rc::clone(&since), bounded });
    let read = Walk { pass, since }.deserialize(&mut reader).and_then(|()| reader.end());
    Ok(read.map_err(|error| {
        Failure::new(Code::Invalid, format!("the document cannot be read: {error}"))
    })?)
}

/// Stops a record that has no end before it fills the memory.
struct Counted<R> {
    inner: R,
    since: Rc<Cell<usize>>,
    bounded: bool,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.since.set(self.since.get() + read);
        if self.bounded && self.since.get() > RECORD_BYTES {
            return Err(io::Error::other(format!("a record is longer than {RECORD_BYTES} bytes")));
        }
        Ok(read)
    }
}

struct Walk<'a> {
    pass: Pass<'a>,
    since: Rc<Cell<usize>>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, document: D) -> Result<(), D::Error> {
        document.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with the records of an export")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        let mut seen = false;
        while let Some(name) = fields.next_key::<String>()? {
            match &mut self.pass {
                Pass::Records(lines) if name == "records" => {
                    fields.next_value_seed(Records {
                        lines: &mut **lines,
                        since: Rc::clone(&self.since),
                    })?;
                    seen = true;
                }
                Pass::Header(header) if name != "records" => {
                    header.insert(name, fields.next_value()?);
                }
                _ => drop(fields.next_value::<IgnoredAny>()?),
            }
        }
        match self.pass {
            Pass::Records(_) if !seen => Err(A::Error::custom("it has no records")),
            _ => Ok(()),
        }
    }
}

struct Records<'a> {
    lines: &'a mut dyn Write,
    since: Rc<Cell<usize>>,
}

impl<'de> DeserializeSeed<'de> for Records<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, records: D) -> Result<(), D::Error> {
        records.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Records<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut records: A) -> Result<(), A::Error> {
        self.since.set(0);
        while let Some(record) = records.next_element::<Value>()? {
            writeln!(self.lines, "{record}").map_err(A::Error::custom)?;
            self.since.set(0);
        }
        Ok(())
    }
}
