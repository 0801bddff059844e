//! Finds faults of a line before it is parsed into values: serde keeps the last of two equal keys and cannot represent 1e999.
//!
//! Not here: the answer to a faulty line (`transport`).

use loci_proto::error::{Code, Failure};
use rmcp::model::RequestId;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

/// Maximum nesting depth of an argument.
const MAX_DEPTH: usize = 64;

/// A fault of a line, by the kind of answer that it needs.
pub(crate) enum Fault {
    /// The line is not JSON, so it has no id to answer to.
    NotJson(String),
    /// The line is JSON, but not a JSON-RPC request.
    NotARequest(Option<RequestId>, String),
    /// An argument of a tool is invalid; the model can correct it.
    Argument(RequestId, Failure),
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// Returns the first fault of a line, if there is one.
pub(crate) fn find(line: &[u8]) -> Option<Fault> {
    let Ok(text) = std::str::from_utf8(line) else {
        return Some(Fault::NotJson("the line is not UTF-8".to_owned()));
    };
    let envelope: Envelope<'_> = match serde_json::from_str(text) {
        Ok(envelope) => envelope,
        Err(fault) if fault.is_data() => {
            return Some(Fault::NotARequest(None, "a message is one JSON object".to_owned()));
        }
        Err(fault) => return Some(Fault::NotJson(fault.to_string())),
    };
    let id = match envelope.id.map(|raw| serde_json::from_str::<RequestId>(raw.get())) {
        Some(Ok(id)) => Some(id),
        Some(Err(_)) => {
            return Some(Fault::NotARequest(
                None,
                "an id is a string or a whole number".to_owned(),
            ));
        }
        None => None,
    };
    let is_call = envelope.method.is_some_and(|method| method == "tools/call");
    let (true, Some(id), Some(params)) = (is_call, id, envelope.params) else { return None };
    let arguments = serde_json::from_str::<Params<'_>>(params.get()).ok()?.arguments?;
    match check_argument(arguments.get(), &mut Vec::new()) {
        Ok(()) => None,
        Err(ArgumentFault::Value(failure)) => Some(Fault::Argument(id, *failure)),
        // A lone surrogate means that the whole line is not JSON.
        Err(ArgumentFault::NotJson(reason)) => Some(Fault::NotJson(reason)),
    }
}

/// Returns the id of a line, if the line is an object with one.
pub(crate) fn id_of(line: &[u8]) -> Option<RequestId> {
    let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
    serde_json::from_str(envelope.id?.get()).ok()
}

/// Returns the id of a line from its beginning, if that contains the whole id.
pub(crate) fn id_of_excerpt(excerpt: &[u8]) -> Option<RequestId> {
    let mut id = None;
    // The result is always an error, because the excerpt ends within the object.
    let _ = ExcerptId(&mut id).deserialize(&mut serde_json::Deserializer::from_slice(excerpt));
    id
}

/// Reads an object up to the end of the excerpt, and keeps its `id`.
struct ExcerptId<'a>(&'a mut Option<RequestId>);

impl<'de> DeserializeSeed<'de> for ExcerptId<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, d: D) -> Result<(), D::Error> {
        d.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ExcerptId<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut key = map.next_key::<Cow<'_, str>>()?;
        while let Some(name) = key {
            let id = if name == "id" {
                Some(map.next_value()?)
            } else {
                map.next_value::<IgnoredAny>().map(|_| None)?
            };
            // Only a following key shows that the value is complete: a number that is cut off is a different number.
            key = map.next_key()?;
            *self.0 = id.or(self.0.take());
        }
        Ok(())
    }
}

/// A fault in the arguments of a call.
enum ArgumentFault {
    /// A value is not allowed.
    Value(Box<Failure>),
    /// The arguments are not JSON.
    NotJson(String),
}

/// Checks an argument and everything nested in it. `path` is its path from the arguments object.
fn check_argument(raw: &str, path: &mut Vec<String>) -> Result<(), ArgumentFault> {
    let refuse =
        |failure: Failure| Err(ArgumentFault::Value(Box::new(failure.at(dotted_path(path)))));
    if path.len() > MAX_DEPTH {
        return refuse(Failure::new(
            Code::TooDeep,
            format!("is nested more than {MAX_DEPTH} levels deep"),
        ));
    }
    match raw.trim_start().as_bytes().first() {
        Some(b'{') => {
            let fields: Fields<'_> =
                serde_json::from_str(raw).map_err(|e| ArgumentFault::NotJson(e.to_string()))?;
            let mut seen = HashSet::new();
            for (key, value) in fields.0 {
                path.push(key.clone());
                if !seen.insert(key) {
                    let failure = Failure::new(Code::Invalid, "is given twice")
                        .at(dotted_path(path))
                        .hint("Give it once");
                    return Err(ArgumentFault::Value(Box::new(failure)));
                }
                check_argument(value.get(), path)?;
                path.pop();
            }
            Ok(())
        }
        Some(b'[') => {
            let items: Items<'_> =
                serde_json::from_str(raw).map_err(|e| ArgumentFault::NotJson(e.to_string()))?;
            for (number, item) in items.0.into_iter().enumerate() {
                path.push(format!("[{number}]"));
                check_argument(item.get(), path)?;
                path.pop();
            }
            Ok(())
        }
        Some(b'"') => serde_json::from_str::<String>(raw)
            .map(drop)
            .map_err(|e| ArgumentFault::NotJson(e.to_string())),
        Some(b'-' | b'0'..=b'9') if serde_json::from_str::<serde_json::Number>(raw).is_err() => {
            refuse(Failure::new(Code::Invalid, "is a number that is too large"))
        }
        _ => Ok(()),
    }
}

fn dotted_path(path: &[String]) -> String {
    path.iter().fold(String::new(), |mut text, part| {
        if !text.is_empty() && !part.starts_with('[') {
            text.push('.');
        }
        text.push_str(part);
        text
    })
}

/// The fields of an object in their order, equal keys included.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Fields<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        d.deserialize_map(Collect)
    }
}

/// The items of an array, unparsed.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Items<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Items(items))
            }
        }
        d.deserialize_seq(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault_of_call(arguments: &str) -> Option<String> {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"x","arguments":{arguments}}}}}"#
        );
        find(line.as_bytes()).map(|fault| match fault {
            Fault::NotJson(reason) => format!("-32700 {reason}"),
            Fault::NotARequest(_, reason) => format!("-32600 {reason}"),
            Fault::Argument(id, failure) => format!("{id} {failure}"),
        })
    }

    #[test]
    fn a_duplicate_key_is_named_at_any_depth() {
        let fault = fault_of_call(r#"{"metadata":{"a":1,"b":[{"c":1,"c":2}]}}"#)
            .expect("the call has a fault");
        assert_eq!(fault, "7 invalid: metadata.b[0].c is given twice. Give it once");
        assert_eq!(
            fault_of_call(r#"{"metadata":{"a":1,"b":{"a":1}}}"#),
            None,
            "the same key in two objects is allowed"
        );
    }

    #[test]
    fn a_number_that_no_float_can_hold_is_named() {
        let fault = fault_of_call(r#"{"min_confidence":1e999}"#).expect("the call has a fault");
        assert_eq!(fault, "7 invalid: min_confidence is a number that is too large");
    }

    #[test]
    fn a_lone_surrogate_is_not_json() {
        assert!(
            fault_of_call(r#"{"content":"\ud800"}"#)
                .expect("the call has a fault")
                .starts_with("-32700")
        );
        assert_eq!(
            fault_of_call(r#"{"content":"\ud83e\udd80"}"#),
            None,
            "a surrogate pair is valid"
        );
    }

    #[test]
    fn the_id_of_a_cut_line_is_found_if_the_excerpt_contains_it() {
        let id = |beginning: &str| id_of_excerpt(beginning.as_bytes()).map(|id| id.to_string());
        assert_eq!(
            id(r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"id":8,"a":"yy"#).as_deref(),
            Some("7")
        );
        assert_eq!(id(r#"{"params":{"id":8},"id":"a","x":"#).as_deref(), Some("a"));
        for beginning in [
            r#"{"params":{"id":8,"a":"yy"#,
            r#"{"a":"\"id\":7"#,
            r#"{"id":7"#,
            r#"{"id":{},"x":1"#,
            "yyyy",
            "[[[[",
        ] {
            assert_eq!(id(beginning), None, "{beginning}");
        }
    }

    #[test]
    fn a_line_that_is_not_an_object_or_has_a_malformed_id_is_not_a_request() {
        let kind_of_fault = |line: &[u8]| match find(line) {
            Some(Fault::NotJson(_)) => "parse",
            Some(Fault::NotARequest(..)) => "request",
            Some(Fault::Argument(..)) => "argument",
            None => "no fault",
        };
        assert_eq!(kind_of_fault(b"[1,2]"), "request");
        assert_eq!(kind_of_fault(br#"{"id":{},"method":"x"}"#), "request");
        assert_eq!(kind_of_fault(b"{\"id\":1,"), "parse");
        assert_eq!(kind_of_fault(b"\xff\xfe{}"), "parse");
        assert_eq!(kind_of_fault(br#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#), "no fault");
    }
}
