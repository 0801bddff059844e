//! How a summary was made: `metadata.method`.

use serde_json::{Map, Value};

/// Sentences of the sources, word for word; the number is that of the way in which they are chosen.
pub const EXTRACTIVE: &str = "extractive/1";
/// The same, as written before methods had a number.
const EXTRACTIVE_WITHOUT_NUMBER: &str = "extractive";

/// Returns whether metadata says that a summary consists of sentences of its sources.
pub fn is_extractive(metadata: &Map<String, Value>) -> bool {
    let method = metadata.get("method").and_then(Value::as_str);
    method.is_some_and(|method| [EXTRACTIVE, EXTRACTIVE_WITHOUT_NUMBER].contains(&method))
}
