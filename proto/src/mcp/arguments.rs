//! From a tool's arguments to a request: the one place where the shape of outside input is checked.
//!
//! Every refusal names the argument. Not here: what the values mean (the engine checks that).

use crate::error::Failure;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Reads a request out of a tool's arguments.
///
/// # Errors
/// `invalid` naming the argument: unknown (with the nearest known one), missing, of the wrong kind, or out of bounds.
pub fn parse<T: DeserializeOwned + JsonSchema + 'static>(
    arguments: Map<String, Value>,
) -> Result<T, Failure> {
    let known = names::<T>();
    if let Some(unknown) = arguments.keys().find(|name| !known.contains(name)) {
        return Err(unknown_name(unknown, known));
    }
    // A client that sends null for "not given" means just that.
    let given: Map<String, Value> =
        arguments.into_iter().filter(|(_, value)| !value.is_null()).collect();
    serde_path_to_error::deserialize(Value::Object(given)).map_err(|fault| in_words(&fault))
}

/// The arguments that a request knows, from its schema; worked out once for each kind of request.
fn names<T: JsonSchema + 'static>() -> &'static [String] {
    static KNOWN: Mutex<BTreeMap<TypeId, &'static [String]>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(TypeId::of::<T>()).or_insert_with(|| {
        let schema = schemars::schema_for!(T);
        let properties =
            schema.as_object().and_then(|o| o.get("properties")).and_then(Value::as_object);
        // There are as many of these as there are tools.
        Vec::leak(properties.map(|p| p.keys().cloned().collect()).unwrap_or_default())
    })
}

fn unknown_name(unknown: &str, known: &[String]) -> Failure {
    let nearest = known.iter().max_by(|a, b| {
        strsim::jaro_winkler(a, unknown).total_cmp(&strsim::jaro_winkler(b, unknown))
    });
    let failure = Failure::invalid(unknown, "is not an argument of this tool");
    match nearest {
        Some(name) if strsim::jaro_winkler(name, unknown) > 0.8 => {
            failure.hint(format!("Did you mean {name}?"))
        }
        _ => failure.hint(format!("It takes {}", known.join(", "))),
    }
}

fn in_words(fault: &serde_path_to_error::Error<serde_json::Error>) -> Failure {
    let message = fault.inner().to_string();
    if let Some(rest) = message.strip_prefix("missing field `") {
        let field = rest.split('`').next().unwrap_or(rest);
        return Failure::invalid(field, "is missing");
    }
    let expected = message.strip_prefix("invalid type: ").and_then(|m| m.split_once(", expected "));
    let message = match expected {
        Some((got, expected)) => format!("must be {}, not {got}", expected_in_words(expected)),
        None => message,
    };
    Failure::invalid(fault.path().to_string(), message)
}

fn expected_in_words(expected: &str) -> &str {
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

    fn refused<T: DeserializeOwned + JsonSchema + 'static>(arguments: Value) -> String {
        let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
        match parse::<T>(arguments) {
            Ok(_) => panic!("was accepted"),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn an_unknown_argument_is_refused_with_the_nearest_known_one() {
        let said = refused::<StoreRequest>(json!({"contnet": "x", "type": "semantic"}));
        assert_eq!(said, "invalid: contnet is not an argument of this tool. Did you mean content?");
    }

    #[test]
    fn a_type_outside_the_four_is_refused_by_name() {
        let said = refused::<StoreRequest>(json!({"content": "x", "type": "fact"}));
        assert_eq!(said, "invalid: type must be episodic, semantic, procedural or entity");
    }

    #[test]
    fn a_scope_in_capitals_is_not_folded_but_suggested() {
        let said =
            refused::<StoreRequest>(json!({"content": "x", "type": "semantic", "scope": "GLOBAL"}));
        assert_eq!(said, "invalid: scope must be global or group; did you mean global?");
    }

    #[test]
    fn max_results_is_a_whole_number_from_1_to_20() {
        for wrong in [json!(0), json!(-1), json!(21), json!(1e9), json!(2.5), json!("5")] {
            let said = refused::<RecallRequest>(json!({"query": "x", "max_results": wrong}));
            assert_eq!(said, "invalid: max_results must be a whole number in 1..20");
        }
    }

    #[test]
    fn min_confidence_is_a_number_from_0_to_1() {
        for wrong in [json!(-1), json!(2), json!("0.5")] {
            let said = refused::<RecallRequest>(json!({"query": "x", "min_confidence": wrong}));
            assert_eq!(said, "invalid: min_confidence must be a number from 0 to 1");
        }
    }

    #[test]
    fn a_bad_id_in_a_list_is_named_by_its_place() {
        let said = refused::<RecallRequest>(json!({"ids": ["'; drop table memories"]}));
        assert!(said.starts_with("invalid: ids[0] is not a memory id"), "{said}");
    }

    #[test]
    fn metadata_must_be_an_object_and_missing_arguments_are_named() {
        let said =
            refused::<StoreRequest>(json!({"content": "x", "type": "semantic", "metadata": [1]}));
        assert_eq!(said, "invalid: metadata must be an object, not sequence");
        assert_eq!(
            refused::<StoreRequest>(json!({"type": "semantic"})),
            "invalid: content is missing"
        );
    }

    #[test]
    fn null_means_not_given() {
        let request: StoreRequest = match json!({"content": "x", "type": "entity", "scope": null, "metadata": null})
        {
            Value::Object(arguments) => parse(arguments).expect("null is not given"),
            _ => unreachable!(),
        };
        assert!(request.scope.is_none() && request.metadata.is_empty());
    }
}
