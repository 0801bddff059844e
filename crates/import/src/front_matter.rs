//! The fields between `---` lines at the top of a Markdown file.
//!
//! They are YAML; fields that are not valid YAML (other programs write texts with colons) are read
//! line by line as `name: value`.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Number, Value};

/// Maximum depth of nested fields.
const MAX_DEPTH: usize = 8;

/// Splits a text into its fields and the rest. Without front matter there are no fields.
pub(crate) fn split(text: &str) -> (Map<String, Value>, &str) {
    let Some(rest) = text.strip_prefix("---\n") else { return (Map::new(), text) };
    let end = rest.match_indices("\n---").find(|(at, _)| {
        let after = &rest[at + 4..];
        after.is_empty() || after.starts_with('\n')
    });
    let Some((end, _)) = end else { return (Map::new(), text) };
    let body = rest[end + 4..].trim_start_matches('\n');
    (fields(&rest[..end]), body)
}

/// Returns the fields of a block.
pub(crate) fn fields(block: &str) -> Map<String, Value> {
    let loaded = Yaml::load_from_str(block).ok().and_then(|documents| documents.into_iter().next());
    match loaded.and_then(|yaml| to_json(&yaml, 0)) {
        Some(Value::Object(fields)) => fields,
        _ => lines(block),
    }
}

fn lines(block: &str) -> Map<String, Value> {
    let pairs = block.lines().filter_map(|line| line.trim().split_once(": "));
    pairs.map(|(name, value)| (name.trim().to_owned(), Value::from(value.trim()))).collect()
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
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
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
    }
}
