//! Parses the arguments of a call into a request. The only place where the types of outside input are checked.
//!
//! Every error names the argument. Not here: the meaning of the values (the engine checks it).

use crate::error::Failure;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Parses the arguments of a call; an argument that is null counts as not given, and one in the form of a text as what the text says
/// ([`Argument::accept`]).
///
/// # Errors
/// `invalid` with the name of the argument: unknown (with the most similar known one), missing, of the wrong type, or out of bounds.
pub fn parse<T: DeserializeOwned + JsonSchema + 'static>(
    arguments: Map<String, Value>,
) -> Result<T, Failure> {
    let given = read_values::<T>(arguments)?;
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|fault| type_error(&fault))
}

/// Returns the arguments that are given, with values in place of the texts that stand for them.
///
/// # Errors
/// `invalid` with the name of an unknown argument.
pub fn read_values<T: JsonSchema + 'static>(
    arguments: Map<String, Value>,
) -> Result<Map<String, Value>, Failure> {
    let known = arguments_of::<T>();
    let mut given = Map::new();
    for (name, value) in arguments {
        let Some(argument) = known.iter().find(|argument| argument.name == name) else {
            return Err(unknown_argument(&name, known));
        };
        // Some clients send null for an argument that is not given.
        if !value.is_null() {
            given.insert(name, argument.accept(value));
        }
    }
    Ok(given)
}

/// An argument of a request, as its schema declares it.
struct Argument {
    name: String,
    /// The types of JSON that it may have, for example `integer`.
    types: Vec<String>,
}

impl Argument {
    fn new((name, schema): (&String, &Value)) -> Self {
        let mut types = Vec::new();
        collect_types(schema, &mut types);
        Self { name: name.clone(), types }
    }

    fn is(&self, kind: &str) -> bool {
        self.types.iter().any(|known| known == kind)
    }

    /// Returns the value in the type of the argument, as far as nothing is guessed: models send `"5"`, `5.0`, and objects and lists as the
    /// text of their JSON. Any other value is returned as it is, and refused later.
    fn accept(&self, value: Value) -> Value {
        let value = match value {
            Value::String(text) if !self.is("string") => self.read(text),
            value => value,
        };
        match value.as_f64() {
            Some(number) if self.is("integer") && value.as_i64().is_none() => {
                whole(number).map_or(value, Value::from)
            }
            _ => value,
        }
    }

    /// Reads a text that stands for a value of another type.
    fn read(&self, text: String) -> Value {
        let parsed: Option<Value> = serde_json::from_str(text.trim()).ok();
        let fits = parsed.filter(|parsed| match parsed {
            Value::Number(_) => self.is("integer") || self.is("number"),
            Value::Bool(_) => self.is("boolean"),
            Value::Object(_) => self.is("object"),
            Value::Array(_) => self.is("array"),
            Value::String(_) | Value::Null => false,
        });
        match fits {
            Some(value) => value,
            // One text in place of a list of one.
            None if self.is("array") && !text.trim_start().starts_with('[') => {
                Value::from(vec![text])
            }
            None => Value::String(text),
        }
    }
}

/// Returns the whole number that a float is, if it is one; the largest of the type for one beyond it.
fn whole(number: f64) -> Option<i64> {
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    (number.fract() == 0.0).then_some(number as i64)
}

/// Adds the types that a schema, or one of its alternatives, names.
fn collect_types(schema: &Value, types: &mut Vec<String>) {
    match &schema["type"] {
        Value::String(kind) => types.push(kind.clone()),
        Value::Array(kinds) => {
            types.extend(kinds.iter().filter_map(Value::as_str).map(str::to_owned));
        }
        _ => {}
    }
    for alternative in schema["anyOf"].as_array().into_iter().flatten() {
        collect_types(alternative, types);
    }
}

/// Returns the arguments of a request, from its schema; computed once per type.
fn arguments_of<T: JsonSchema + 'static>() -> &'static [Argument] {
    static KNOWN: Mutex<BTreeMap<TypeId, &'static [Argument]>> = Mutex::new(BTreeMap::new());
    let mut known_by_type = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known_by_type.entry(TypeId::of::<T>()).or_insert_with(|| {
        let settings = SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true);
        let schema = settings.into_generator().into_root_schema_for::<T>();
        let properties = schema.get("properties").and_then(Value::as_object);
        // Leaks once per request type.
        Vec::leak(properties.map(|p| p.iter().map(Argument::new).collect()).unwrap_or_default())
    })
}

fn unknown_argument(unknown: &str, known: &[Argument]) -> Failure {
    let names: Vec<&str> = known.iter().map(|argument| argument.name.as_str()).collect();
    let nearest = names.iter().max_by(|a, b| {
        strsim::jaro_winkler(a, unknown).total_cmp(&strsim::jaro_winkler(b, unknown))
    });
    let failure = Failure::invalid(unknown, "is not an argument of this tool");
    match nearest {
        Some(name) if strsim::jaro_winkler(name, unknown) > 0.8 => {
            failure.hint(format!("Did you mean {name}?"))
        }
        _ => failure.hint(format!("Known arguments: {}", names.join(", "))),
    }
}

fn type_error(fault: &serde_path_to_error::Error<serde_json::Error>) -> Failure {
    let message = fault.inner().to_string();
    if let Some(rest) = message.strip_prefix("missing field `") {
        let field = rest.split('`').next().unwrap_or(rest);
        return Failure::invalid(field, "is missing");
    }
    let expected = message.strip_prefix("invalid type: ").and_then(|m| m.split_once(", expected "));
    let message = match expected {
        Some((got, expected)) => {
            format!("must be {}, not {}", json_type_name(expected), json_type_name(got))
        }
        None => message,
    };
    Failure::invalid(fault.path().to_string(), message)
}

fn json_type_name(expected: &str) -> &str {
    match expected {
        "a map" | "map" => "an object",
        "a sequence" | "sequence" => "an array",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::recall::RecallRequest;
    use crate::requests::store::StoreRequest;
    use proptest::prelude::*;
    use serde_json::json;

    /// Returns the error text for arguments that must be refused.
    fn refusal_of<T: DeserializeOwned + JsonSchema + 'static>(arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        match parse::<T>(arguments) {
            Ok(_) => panic!("invalid arguments were accepted"),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn an_unknown_argument_is_refused_with_the_nearest_known_one() {
        let message = refusal_of::<StoreRequest>(json!({"contnet": "x", "type": "semantic"}));
        assert_eq!(
            message,
            "invalid: contnet is not an argument of this tool. Did you mean content?"
        );
    }

    #[test]
    fn an_unknown_memory_type_is_refused() {
        let message = refusal_of::<StoreRequest>(json!({"content": "x", "type": "fact"}));
        assert_eq!(message, "invalid: type must be episodic, semantic, procedural or entity");
    }

    #[test]
    fn a_scope_in_capitals_is_refused_with_a_suggestion() {
        let message = refusal_of::<StoreRequest>(
            json!({"content": "x", "type": "semantic", "scope": "GLOBAL"}),
        );
        assert_eq!(message, "invalid: scope must be global or group; did you mean global?");
    }

    #[test]
    fn max_results_is_a_whole_number_from_1_to_20() {
        for wrong in [
            json!(0),
            json!(-1),
            json!(21),
            json!(1e9),
            json!(2.5),
            json!("five"),
            json!("2.5"),
            json!([5]),
        ] {
            let message = refusal_of::<RecallRequest>(json!({"query": "x", "max_results": wrong}));
            assert_eq!(message, "invalid: max_results must be a whole number in 1..20");
        }
    }

    #[test]
    fn min_confidence_is_a_number_from_0_to_1() {
        for wrong in [json!(-1), json!(2), json!("half"), json!(true)] {
            let message =
                refusal_of::<RecallRequest>(json!({"query": "x", "min_confidence": wrong}));
            assert_eq!(message, "invalid: min_confidence must be a number from 0 to 1");
        }
    }

    #[test]
    fn a_bad_id_in_a_list_is_named_with_its_position() {
        let message = refusal_of::<RecallRequest>(json!({"ids": ["'; drop table memories"]}));
        assert!(message.starts_with("invalid: ids[0] is not a memory id"), "{message}");
    }

    #[test]
    fn metadata_must_be_an_object_and_missing_arguments_are_named() {
        let message = refusal_of::<StoreRequest>(
            json!({"content": "x", "type": "semantic", "metadata": [1]}),
        );
        assert_eq!(message, "invalid: metadata must be an object, not an array");
        assert_eq!(
            refusal_of::<StoreRequest>(json!({"type": "semantic"})),
            "invalid: content is missing"
        );
    }

    #[test]
    fn null_counts_as_not_given() {
        let request: StoreRequest = match json!({"content": "x", "type": "entity", "scope": null, "metadata": null})
        {
            Value::Object(arguments) => parse(arguments).expect("null counts as not given"),
            _ => unreachable!(),
        };
        assert!(request.scope.is_none() && request.metadata.is_empty());
    }

    /// Parses arguments and returns the request as JSON, so that two requests can be compared.
    fn parsed<T: DeserializeOwned + JsonSchema + serde::Serialize + 'static>(
        arguments: Value,
    ) -> Value {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        let request = parse::<T>(arguments).unwrap_or_else(|failure| panic!("{failure}"));
        serde_json::to_value(request).expect("a request is JSON")
    }

    /// The ways in which models and clients write a value.
    fn spellings(value: &Value) -> Vec<Value> {
        let text = Value::String(value.to_string());
        match value {
            Value::Number(number) if number.is_i64() => {
                let float = number.as_i64().map(|whole| whole as f64);
                let with_point = format!("{number}.0");
                vec![
                    text,
                    json!(float),
                    Value::String(with_point),
                    Value::String(format!(" {number} ")),
                ]
            }
            Value::Array(items) => match items.as_slice() {
                [only @ Value::String(_)] => vec![text, only.clone()],
                _ => vec![text],
            },
            _ => vec![text],
        }
    }

    proptest! {
        #[test]
        fn a_value_and_its_text_are_the_same_argument(
            results in 1_i64..=20,
            budget in 0_i64..1_000_000,
            confidence in 0.0_f64..=1.0,
            summary in any::<bool>(),
            questions in prop::collection::vec("[a-zäж ?\"]{1,12}", 1..4),
            keys in prop::collection::btree_map("[a-z]{1,6}", "[a-z0-9 {}\\[\\]\"]{0,8}", 0..4),
        ) {
            let recall = json!({"query": "x", "max_results": results, "token_budget": budget, "min_confidence": confidence, "summary_only": summary});
            let store = json!({"content": "x", "type": "semantic", "questions": questions, "metadata": keys, "confidence": confidence});
            for (name, value) in recall.as_object().expect("an object").iter().filter(|(name, _)| *name != "query") {
                for spelling in spellings(value) {
                    let mut other = recall.clone();
                    other[name] = spelling.clone();
                    prop_assert_eq!(parsed::<RecallRequest>(other), parsed::<RecallRequest>(recall.clone()), "{}: {}", name, spelling);
                }
            }
            for name in ["questions", "metadata", "confidence"] {
                for spelling in spellings(&store[name]) {
                    let mut other = store.clone();
                    other[name] = spelling.clone();
                    prop_assert_eq!(parsed::<StoreRequest>(other), parsed::<StoreRequest>(store.clone()), "{}: {}", name, spelling);
                }
            }
        }

        #[test]
        fn a_text_argument_is_never_read_as_something_else(text in "[0-9]{1,4}|true|null|\\{\\}|\\[1\\]|\"x\"") {
            let request = parsed::<StoreRequest>(json!({"content": text.clone(), "type": "semantic"}));
            prop_assert_eq!(&request["content"], &json!(text));
        }
    }
}
