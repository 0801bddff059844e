//! Parses one line of an export. Not here: whether its values are valid (`check`).

use crate::transfer::record::Record;
use loci_proto::error::{Code, Failure};

/// The beginning of a line with a vector.
pub(crate) const VECTOR_PREFIX: &[u8] = br#"{"kind":"vector","#;
const MEMORY_PREFIX: &[u8] = br#"{"kind":"memory","#;
const LOG_PREFIX: &[u8] = br#"{"kind":"log","#;

/// Parses one line. Overwrites some of its bytes.
///
/// # Errors
/// `invalid` if it is not JSON, or not a record.
pub(crate) fn parse(line: &mut [u8]) -> Result<Record, Failure> {
    deserialize(line).map_err(|error| {
        let problem = if error.is_eof() { "ends too early" } else { "cannot be read" };
        let message = error.to_string();
        // Without the position that serde_json appends: its line number would always be 1.
        let message = message.split(" at line ").next().unwrap_or(&message);
        Failure::new(Code::Invalid, format!("{problem}: {message}"))
    })
}

/// Deserialises a line. Most lines are of three kinds and begin with their kind: deserialising
/// those directly takes a third of the time of the tagged enum.
fn deserialize(line: &mut [u8]) -> serde_json::Result<Record> {
    if let Some(object) = strip_kind(line, VECTOR_PREFIX) {
        serde_json::from_slice(object).map(Record::Vector)
    } else if let Some(object) = strip_kind(line, MEMORY_PREFIX) {
        serde_json::from_slice(object).map(|memory| Record::Memory(Box::new(memory)))
    } else if let Some(object) = strip_kind(line, LOG_PREFIX) {
        serde_json::from_slice(object).map(Record::Log)
    } else {
        serde_json::from_slice(line)
    }
}

/// Returns the object without its kind if the line has this prefix: the comma that ends the prefix
/// is overwritten with a brace.
fn strip_kind<'a>(line: &'a mut [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    if !line.starts_with(prefix) {
        return None;
    }
    let object = &mut line[prefix.len() - 1..];
    object[0] = b'{';
    Some(object)
}
