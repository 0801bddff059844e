//! Parses the expression of `--where`: `text:WORDS type:TYPE scope:SCOPE status:STATUS group:NAME older:90d confidence:<0.1`.
//!
//! A memory must meet all conditions. Not here: the search itself; the daemon's verb `list` does it.

use crate::cli::values::{parse_confidence, parse_past};
use loci_proto::requests::list::ListRequest;

const KEYS: &str = "text, type, scope, status, group, older or confidence";

/// Parses an expression.
///
/// # Errors
/// One sentence: an unknown or repeated key, an invalid value, or an empty expression.
pub fn parse(expression: &str) -> Result<ListRequest, String> {
    let mut request = ListRequest::default();
    let mut seen = Vec::new();
    for Condition { key, value } in split(expression)? {
        if seen.contains(&key) {
            return Err(format!("{key}: occurs twice"));
        }
        apply(&mut request, &key, &value).map_err(|reason| format!("{key}: {reason}"))?;
        seen.push(key);
    }
    if seen.is_empty() {
        Err(format!("it is empty; use {KEYS}, for example type:episodic older:90d"))
    } else {
        Ok(request)
    }
}

fn apply(request: &mut ListRequest, key: &str, value: &str) -> Result<(), String> {
    if value.is_empty() {
        return Err("has no value".to_owned());
    }
    match key {
        "text" => request.text = Some(value.to_owned()),
        "type" => request.kind = Some(value.parse()?),
        "scope" => request.scope = Some(value.parse()?),
        "status" => request.status = Some(value.to_owned()),
        "group" => (request.group, request.from_group) = (Some(value.parse()?), true),
        "older" => request.older_than_seconds = Some(parse_past(value)?),
        "confidence" => {
            let limit = value.strip_prefix('<').ok_or("must be written as confidence:<0.1")?;
            request.confidence_below = Some(parse_confidence(limit)?);
        }
        _ => return Err(format!("is an unknown key; use {KEYS}")),
    }
    Ok(())
}

/// One `key:value` of an expression.
struct Condition {
    key: String,
    value: String,
}

/// Splits an expression into conditions; a value with spaces is in double quotes.
fn split(expression: &str) -> Result<Vec<Condition>, String> {
    let mut conditions = Vec::new();
    let mut rest = expression.trim_start();
    while !rest.is_empty() {
        let word = rest.split_whitespace().next().unwrap_or(rest);
        if word.starts_with('"') {
            let message = "a condition must not begin with a quote";
            return Err(format!("{message}; write text:\"two words\""));
        }
        let (key, after) = word.split_once(':').map(|(key, _)| rest.split_at(key.len())).ok_or_else(|| {
            format!("{word} has no key; write text:{word}, or quote a value with spaces, for example text:\"two words\"")
        })?;
        let after = &after[1..];
        let (value, remaining) = match after.strip_prefix('"') {
            Some(quoted) => {
                let (value, remaining) = quoted
                    .split_once('"')
                    .ok_or_else(|| format!("{key}: the quotes are not closed"))?;
                if !remaining.is_empty() && !remaining.starts_with(char::is_whitespace) {
                    return Err(format!("{key}: a space must follow the closing quote"));
                }
                (value, remaining)
            }
            None => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
        };
        // A quote within a value that does not begin with one: the shell has taken the other, or it is misplaced.
        if !after.starts_with('"') && value.matches('"').count() > 0 {
            let message = "the quotes are not balanced; put the whole value in quotes";
            return Err(format!("{key}: {message}, for example {key}:\"two words\""));
        }
        conditions.push(Condition { key: key.to_owned(), value: value.to_owned() });
        rest = remaining.trim_start();
    }
    Ok(conditions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::memory::MemoryType;

    #[test]
    fn all_keys_can_be_combined() {
        let request =
            parse(r#" text:"old server" type:episodic group:shop older:90d confidence:<0.1"#)
                .expect("the expression is valid");
        assert_eq!(
            (request.text.as_deref(), request.kind),
            (Some("old server"), Some(MemoryType::Episodic))
        );
        assert_eq!((request.older_than_seconds, request.from_group), (Some(7_776_000), true));
        assert!(request.confidence_below.is_some_and(|limit| (limit.get() - 0.1).abs() < 1e-9));
        assert_eq!(
            parse("text:a:b").expect("the expression is valid").text.as_deref(),
            Some("a:b")
        );
    }

    #[test]
    fn an_invalid_or_empty_expression_is_refused() {
        let expected = [
            ("", "it is empty"),
            ("   ", "it is empty"),
            ("server", "write text:server"),
            ("text:", "has no value"),
            ("text:\"old server", "not closed"),
            ("text:old\" type:episodic", "not balanced"),
            ("text:\"old\"server", "a space must follow"),
            ("text:old server\"", "write text:server"),
            ("\"text:old server\"", "must not begin with a quote"),
            ("txt:server", "an unknown key"),
            ("type:fact", "must be episodic"),
            ("older:90", "is not a time"),
            ("confidence:0.1", "confidence:<0.1"),
            ("confidence:<2", "from 0 to 1"),
            ("text:a text:b", "twice"),
        ];
        for (expression, message) in expected {
            let reason = parse(expression).expect_err(expression);
            assert!(reason.contains(message), "{expression}: {reason}");
        }
    }
}
