//! The fields at the top of a Markdown file: YAML between lines of `---`, or TOML between lines of `+++`.
//!
//! A block that is not valid YAML (other programs write texts with colons) is read field by field, and a field that is not, as a text.

use crate::markup::LeftOut;
use crate::times;
use loci_proto::foreign::ForeignMemory;
use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Number, Value};

/// Maximum depth of nested fields.
const MAX_DEPTH: usize = 8;
/// Fields that say when a note was written.
const CREATED: [&str; 4] = ["created", "created_at", "date", "day"];
/// Fields that say when it was changed.
const CHANGED: [&str; 4] = ["modified", "updated", "updated_at", "lastmod"];
/// What fields are that no memory has.
pub(crate) const FIELDS: &str = "fields at the top";

/// A text with its fields.
pub(crate) struct FrontMatter {
    pub fields: Map<String, Value>,
    /// Where the rest of the text begins.
    pub body: usize,
    /// Where the block of fields ends.
    end: usize,
}

impl FrontMatter {
    /// Returns the fields as left out, if there are any but dates and `used`.
    pub fn left_out(&self, used: &[&str]) -> Option<LeftOut> {
        let is_date = |name: &str| {
            let is_named = CREATED.contains(&name) || CHANGED.contains(&name);
            is_named && text(&self.fields, name).and_then(|text| times::of_text(&text)).is_some()
        };
        let is_unused = |name: &&str| !used.contains(name) && !is_date(name);
        let mut unused = self.fields.keys().map(String::as_str).filter(is_unused).peekable();
        unused.peek()?;
        let names = unused.collect::<Vec<_>>().join(", ");
        Some(LeftOut { bytes: 0..self.end, reason: format!("{FIELDS} ({names})").into() })
    }
}

/// Gives a memory the times that fields state; one that was created later than the file was changed was changed then.
pub(crate) fn date(fields: &Map<String, Value>, memory: &mut ForeignMemory) {
    let at = |names: &[&str]| names.iter().find_map(|name| times::of_text(&text(fields, name)?));
    memory.created_at = at(&CREATED).unwrap_or(memory.created_at);
    memory.updated_at = at(&CHANGED).unwrap_or(memory.updated_at).max(memory.created_at);
}

/// Splits a text into its fields and the rest. Without front matter there are no fields.
pub(crate) fn split(text: &str) -> FrontMatter {
    let none = FrontMatter { fields: Map::new(), body: 0, end: 0 };
    let mark = ["---", "+++"].into_iter().find(|mark| {
        text.strip_prefix(mark).is_some_and(|rest| rest.trim_start_matches(' ').starts_with('\n'))
    });
    let Some((mark, start)) = mark.zip(text.find('\n')) else { return none };
    let mut at = start + 1;
    for line in text[at..].split_inclusive('\n') {
        if line.trim_end() != mark {
            at += line.len();
            continue;
        }
        let block = text.get(start + 1..at).unwrap_or_default();
        let fields = if mark == "+++" { toml_fields(block) } else { fields(block) };
        let end = at + line.len();
        // Without a field it is a text between two rules.
        if fields.is_empty() && block.chars().any(char::is_alphanumeric) {
            return none;
        }
        let body = text.len() - text[end..].trim_start_matches('\n').len();
        return FrontMatter { fields, body, end };
    }
    none
}

/// Returns the fields of a block.
pub(crate) fn fields(block: &str) -> Map<String, Value> {
    let fields = yaml(block);
    if fields.is_empty() { one_by_one(block) } else { fields }
}

fn yaml(block: &str) -> Map<String, Value> {
    let loaded = Yaml::load_from_str(block).ok().and_then(|documents| documents.into_iter().next());
    match loaded.and_then(|yaml| to_json(&yaml, 0)) {
        Some(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

/// Reads each field with the lines that are indented below it.
fn one_by_one(block: &str) -> Map<String, Value> {
    let begins = |line: &str| {
        let name = line.split_once(':').map(|(name, _)| name);
        name.is_some_and(|name| {
            !name.is_empty()
                && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
        })
    };
    let mut found = Map::new();
    let mut field = String::new();
    let mut add = |field: &str| {
        let Some((name, value)) = field.split_once(':') else { return };
        match yaml(field).remove(name) {
            Some(value) => found.insert(name.to_owned(), value),
            None => found.insert(name.to_owned(), Value::from(value.trim())),
        };
    };
    for line in block.split_inclusive('\n') {
        if begins(line) {
            add(&field);
            field.clear();
        }
        field.push_str(line);
    }
    add(&field);
    found
}

fn toml_fields(block: &str) -> Map<String, Value> {
    fn json(value: toml::Value) -> Value {
        match value {
            toml::Value::String(text) => Value::from(text),
            toml::Value::Integer(number) => Value::from(number),
            toml::Value::Float(number) => Number::from_f64(number).map_or(Value::Null, Value::from),
            toml::Value::Boolean(value) => Value::from(value),
            toml::Value::Datetime(at) => Value::from(at.to_string()),
            toml::Value::Array(items) => items.into_iter().map(json).collect(),
            toml::Value::Table(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (name, json(value))).collect())
            }
        }
    }
    match block.parse::<toml::Table>().map(|table| json(toml::Value::Table(table))) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

fn to_json(yaml: &Yaml<'_>, depth: usize) -> Option<Value> {
    if depth > MAX_DEPTH {
        return None;
    }
    match yaml {
        Yaml::Value(Scalar::Null) => Some(Value::Null),
        Yaml::Value(Scalar::Boolean(value)) => Some(Value::Bool(*value)),
        Yaml::Value(Scalar::Integer(value)) => Some(Value::from(*value)),
        Yaml::Value(Scalar::FloatingPoint(value)) => {
            Number::from_f64(value.into_inner()).map(Value::Number)
        }
        Yaml::Value(Scalar::String(value)) => Some(Value::from(value.as_ref())),
        Yaml::Sequence(items) => {
            Some(Value::Array(items.iter().filter_map(|item| to_json(item, depth + 1)).collect()))
        }
        Yaml::Mapping(fields) => {
            let pair = |(name, value): (&Yaml<'_>, &Yaml<'_>)| {
                let name = match to_json(name, depth + 1)? {
                    Value::String(name) => name,
                    other => other.to_string(),
                };
                Some((name, to_json(value, depth + 1)?))
            };
            Some(Value::Object(fields.iter().filter_map(pair).collect()))
        }
        _ => None,
    }
}

/// Returns a field as text; `None` if it is absent, empty or not a text, number or date.
pub(crate) fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    let value = match fields.get(name)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!value.is_empty()).then_some(value)
}

/// Returns a field that is a list of texts, or a text with commas.
pub(crate) fn texts(fields: &Map<String, Value>, name: &str) -> Vec<String> {
    match fields.get(name) {
        Some(Value::Array(items)) => {
            let text = |item: &Value| match item {
                Value::String(text) => Some(text.clone()),
                Value::Null => None,
                other => Some(other.to_string()),
            };
            items.iter().filter_map(text).collect()
        }
        Some(Value::String(text)) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            items.map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_yaml_or_lines() {
        let split = |text: &'static str| {
            let found = split(text);
            (found.fields, &text[found.body..])
        };
        let (fields, body) =
            split("---\nname: kiln\ntags: [a, b]\nmeta:\n  type: user\n---\n\nThe text\n---\nmore");
        assert_eq!(
            Value::Object(fields),
            json!({"name": "kiln", "tags": ["a", "b"], "meta": {"type": "user"}})
        );
        assert_eq!(body, "The text\n---\nmore");
        let (fields, _) = split("---\nname: kiln\ndescription: a rule: never at night\n---\nx");
        assert_eq!(text(&fields, "description").as_deref(), Some("a rule: never at night"));
        let (fields, body) = split("No fields\n---\n");
        assert!(fields.is_empty() && body == "No fields\n---\n");
        let (fields, body) = split("---\nnot closed");
        assert!(fields.is_empty() && body == "---\nnot closed");
        let (fields, body) =
            split("---\ntitle: Deploy: how\ntags:\n  - a\n  - b\nbad: [x\n---\nThe text");
        assert_eq!(
            Value::Object(fields),
            json!({"title": "Deploy: how", "tags": ["a", "b"], "bad": "[x"})
        );
        assert_eq!(body, "The text");
        let (fields, body) = split("+++\ntitle = \"Kiln\"\ndate = 2026-03-04\n+++\nThe text");
        assert_eq!(Value::Object(fields), json!({"title": "Kiln", "date": "2026-03-04"}));
        assert_eq!(body, "The text");
        let (fields, body) = split("---\nA text between rules\n---\nmore");
        assert!(fields.is_empty() && body.starts_with("---\nA text"));
    }
}
