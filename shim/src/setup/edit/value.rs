//! Values that are put into configuration files. A table keeps the order of its keys, so that an entry always looks the same.
//!
//! Not here: where a value is put.

use serde_json::Value as Json;

/// A value of a configuration file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    Text(String),
    /// A whole number.
    Number(i64),
    /// True or false.
    Flag(bool),
    /// An array.
    List(Vec<Value>),
    /// An object with its keys in order.
    Table(Vec<(String, Value)>),
    /// A fraction or null, which setup itself never writes.
    Other(Json),
}

impl Value {
    /// Creates a table.
    #[must_use]
    pub fn table<const N: usize>(members: [(&str, Value); N]) -> Self {
        Self::Table(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }

    /// Creates an array of strings.
    #[must_use]
    pub fn texts(texts: &[&str]) -> Self {
        Self::List(texts.iter().map(|text| (*text).into()).collect())
    }

    /// Returns the value for comparisons: without an order of keys.
    #[must_use]
    pub fn to_json(&self) -> Json {
        match self {
            Self::Text(text) => Json::from(text.as_str()),
            Self::Number(number) => Json::from(*number),
            Self::Flag(flag) => Json::from(*flag),
            Self::Other(value) => value.clone(),
            Self::List(items) => items.iter().map(Self::to_json).collect(),
            Self::Table(members) => {
                Json::Object(members.iter().map(|(key, v)| (key.clone(), v.to_json())).collect())
            }
        }
    }

    /// Returns the value as JSON of several lines. The first line has no indentation; the others begin with `indent`.
    #[must_use]
    pub fn to_lines(&self, indent: &str, unit: &str, newline: &str) -> String {
        let inner = format!("{indent}{unit}");
        let lines: Vec<String> = match self {
            Self::List(items) if !items.is_empty() => {
                items.iter().map(|item| item.to_lines(&inner, unit, newline)).collect()
            }
            Self::Table(members) if !members.is_empty() => members
                .iter()
                .map(|(key, v)| format!("{}: {}", quoted(key), v.to_lines(&inner, unit, newline)))
                .collect(),
            _ => return self.to_line(true),
        };
        let (open, close) = self.brackets();
        let separator = format!(",{newline}{inner}");
        format!("{open}{newline}{inner}{}{newline}{indent}{close}", lines.join(&separator))
    }

    /// Returns the value as JSON on one line, `spaced` with a space after colons and commas.
    #[must_use]
    pub fn to_line(&self, spaced: bool) -> String {
        let space = if spaced { " " } else { "" };
        let parts: Vec<String> = match self {
            Self::Text(text) => return quoted(text),
            Self::Number(number) => return number.to_string(),
            Self::Flag(flag) => return flag.to_string(),
            Self::Other(value) => return value.to_string(),
            Self::List(items) => items.iter().map(|item| item.to_line(spaced)).collect(),
            Self::Table(members) => members
                .iter()
                .map(|(key, v)| format!("{}:{space}{}", quoted(key), v.to_line(spaced)))
                .collect(),
        };
        let (open, close) = self.brackets();
        format!("{open}{}{close}", parts.join(&format!(",{space}")))
    }

    fn brackets(&self) -> (char, char) {
        if matches!(self, Self::List(_)) { ('[', ']') } else { ('{', '}') }
    }
}

impl From<&Json> for Value {
    fn from(value: &Json) -> Self {
        match value {
            Json::String(text) => Self::Text(text.clone()),
            Json::Bool(flag) => Self::Flag(*flag),
            Json::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Json::Object(members) => {
                Self::Table(members.iter().map(|(key, v)| (key.clone(), v.into())).collect())
            }
            Json::Number(_) | Json::Null => {
                value.as_i64().map_or_else(|| Self::Other(value.clone()), Self::Number)
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

/// Returns a JSON string with its quotation marks.
#[must_use]
pub fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_keeps_its_order_on_one_line_and_on_several() {
        let value = Value::table([("b", "x\"y".into()), ("a", Value::List(vec![1.into()]))]);
        assert_eq!(value.to_line(true), r#"{"b": "x\"y", "a": [1]}"#);
        assert_eq!(value.to_line(false), r#"{"b":"x\"y","a":[1]}"#);
        let lines = "{\n    \"b\": \"x\\\"y\",\n    \"a\": [\n      1\n    ]\n  }";
        assert_eq!(value.to_lines("  ", "  ", "\n"), lines);
        assert_eq!(Value::table([]).to_lines("", "  ", "\n"), "{}");
    }

    #[test]
    fn every_value_of_a_file_keeps_its_meaning() {
        let text = r#"{"a": [1, -2.5, null, true, "x"], "b": {"c": {}}}"#;
        let value: Json = serde_json::from_str(text).expect("valid JSON");
        assert_eq!(Value::from(&value).to_json(), value);
        let line = Value::from(&value).to_line(true);
        assert_eq!(serde_json::from_str::<Json>(&line).expect("valid JSON"), value);
    }
}
