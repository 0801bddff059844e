//! Parses the arguments of a call into a request. The only place where the types of outside input are checked.
//!
//! Every error names the argument. Not here: the meaning of the values (the engine checks it).

use crate::error::Failure;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Parses the arguments of a call; an argument that is null counts as not given.
///
/// # Errors
/// `invalid` with the name of the argument: unknown (with the most similar known one), missing, of the wrong type, or out of bounds.
pub fn parse<T: DeserializeOwned + JsonSchema + 'static>(
    arguments: Map<String, Value>,
) -> Result<T, Failure> {
    let known = argument_names::<T>();
    if let Some(unknown) = arguments.keys().find(|name| !known.contains(name)) {
        return Err(unknown_argument(unknown, known));
    }
    // Some clients send null for an argument that is not given.
    let given: Map<String, Value> =
        arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|fault| type_error(&fault))
}

/// Returns the names of the arguments of a request, from its schema; computed once per type.
fn argument_names<T: JsonSchema + 'static>() -> &'static [String] {
    static NAMES: Mutex<BTreeMap<TypeId, &'static [String]>> = Mutex::new(BTreeMap::new());
    let mut names_by_type = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    names_by_type.entry(TypeId::of::<T>()).or_insert_with(|| {
        let schema = schemars::schema_for!(T);
        let properties =
            schema.as_object().and_then(|o| o.get("properties")).and_then(Value::as_object);
        // Leaks once per request type.
        Vec::leak(properties.map(|p| p.keys().cloned().collect()).unwrap_or_default())
    })
}

fn unknown_argument(unknown: &str, known: &[String]) -> Failure {
    let nearest = known.iter().max_by(|a, b| {
        strsim::jaro_winkler(a, unknown).total_cmp(&strsim::jaro_winkler(b, unknown))
    });
    let failure = Failure::invalid(unknown, "is not an argument of this tool");
    match nearest {
        Some(name) if strsim::jaro_winkler(name, unknown) > 0.8 => {
            failure.hint(format!("Did you mean {name}?"))
        }
        _ => failure.hint(format!("Known arguments: {}", known.join(", "))),
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
        Some((got, expected)) => format!("must be {}, not {got}", json_type_name(expected)),
        None => message,
    };
    Failure::invalid(fault.path().to_string(), message)
}

fn json_type_name(expected: &str) -> &str {
    match expected {
        "a map" => "an object",
        "a sequence" => "an array",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requests::recall::RecallRequest;
    use crate::requests::store::StoreRequest;
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
        for wrong in [json!(0), json!(-1), json!(21), json!(1e9), json!(2.5), json!("5")] {
            let message = refusal_of::<RecallRequest>(json!({"query": "x", "max_results": wrong}));
            assert_eq!(message, "invalid: max_results must be a whole number in 1..20");
        }
    }

    #[test]
    fn min_confidence_is_a_number_from_0_to_1() {
        for wrong in [json!(-1), json!(2), json!("0.5")] {
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
        assert_eq!(message, "invalid: metadata must be an object, not sequence");
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
}
