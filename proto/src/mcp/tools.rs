//! The tools as agents see them: names, titles, descriptions, schemas, annotations, and the instructions of the server.
//!
//! Models read these texts, and every session pays for them in tokens (characters of the compact JSON, divided by four): at most 2,200 for
//! all tools with the instructions, and 900 for the two tools that are always loaded. A test checks both limits. The sentences that teach
//! are in `guidance`.

use crate::mcp::guidance;
use crate::requests::compact::CompactRequest;
use crate::requests::forget::ForgetRequest;
use crate::requests::inspect::InspectRequest;
use crate::requests::recall::RecallRequest;
use crate::requests::relate::RelateRequest;
use crate::requests::restore::RestoreRequest;
use crate::requests::stats::StatsRequest;
use crate::requests::store::StoreRequest;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// The server's instructions, sent once per session: what loci is, and when an agent should use the tools.
pub static INSTRUCTIONS: LazyLock<String> = LazyLock::new(|| {
    [guidance::WHAT_LOCI_IS, guidance::UNASKED, guidance::IF_DEFERRED, guidance::NOTES].join(" ")
});

/// The icon of the server, an image in a URI.
pub const ICON: &str = "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%208%208'%3E%3Ccircle%20cx='4'%20cy='4'%20r='3'/%3E%3C/svg%3E";

/// The type of [`ICON`].
pub const ICON_TYPE: &str = "image/svg+xml";
/// The key of a tool's metadata with which a server asks Claude Code to load it even where it defers tools.
pub const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// The keyword of arguments that are accepted and not listed: no model needs them, and each session would pay for them.
const UNLISTED: &str = "x-unlisted";

/// One tool.
#[derive(Debug, Clone)]
pub struct Tool {
    /// Name in `tools/call`.
    pub name: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// What it does and when to use it.
    pub description: String,
    /// Schema of its arguments, without fields that cost tokens and carry no information.
    pub input: Map<String, Value>,
    /// Clients that defer tools should load it at once all the same.
    pub is_always_loaded: bool,
    /// MCP annotation `readOnlyHint`: true if the tool changes nothing but usage counts.
    pub read_only: bool,
    /// MCP annotation `destructiveHint`: true if the tool can remove something.
    pub destructive: bool,
    /// MCP annotation `idempotentHint`: true if a repeated call has no further effect.
    pub idempotent: bool,
}

impl Tool {
    /// Returns whether a call must have the argument.
    #[must_use]
    pub fn requires(&self, argument: &str) -> bool {
        let required = self.input.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|name| name == argument))
    }
}

/// Returns every tool, in the order of the list.
#[must_use]
pub fn all() -> &'static [Tool] {
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(build);
    &TOOLS
}

/// Effect of a call on the store; determines the annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Changes only usage counts.
    Read,
    /// Each call adds something.
    Add,
    /// Adds something; a repeated call has no further effect.
    AddIdempotent,
    /// Can remove something.
    Remove,
}

fn build() -> Vec<Tool> {
    let store =
        [guidance::STORE_ONE, guidance::STORE, guidance::DO_NOT_STORE, guidance::ONE_STATEMENT];
    let recall = [
        "Search what earlier sessions stored, or get memories by ids.",
        guidance::RECALL,
        guidance::DO_NOT_RECALL,
    ];
    let tools = [
        tool::<StoreRequest>("store_memory", "Store a memory", &store.join("\n"), Effect::Add),
        tool::<RecallRequest>("recall_memory", "Recall memories", &recall.join("\n"), Effect::Read),
        tool::<ForgetRequest>(
            "forget_memory",
            "Forget a memory",
            "Hide a memory that the user wants gone or that is wrong. For a changed fact use supersedes of store_memory instead.",
            Effect::Remove,
        ),
        tool::<StatsRequest>(
            "memory_stats",
            "Count memories",
            "Count memories by type and scope.",
            Effect::Read,
        ),
        tool::<InspectRequest>(
            "memory_inspect",
            "Inspect a memory",
            "Get one memory with everything about it: who stored it and when, versions, relations, mentions.",
            Effect::Read,
        ),
        tool::<RelateRequest>(
            "store_relation",
            "Relate two entities",
            "Relate two stored entities (people, systems, companies), such as Vera works_at Acme.",
            Effect::AddIdempotent,
        ),
        tool::<RestoreRequest>(
            "restore_memory",
            "Restore a memory",
            "Make a forgotten, superseded, compacted or rejected memory active again.",
            Effect::AddIdempotent,
        ),
        tool::<CompactRequest>(
            "compact_memories",
            "Summarise old episodes",
            "Without arguments: get old episodes that are due for a summary. With cluster and summary: store it in their place.",
            Effect::AddIdempotent,
        ),
    ];
    tools.into()
}

fn tool<T: JsonSchema>(
    name: &'static str,
    title: &'static str,
    description: &str,
    effect: Effect,
) -> Tool {
    Tool {
        name,
        title,
        description: description.to_owned(),
        input: schema::<T>(),
        is_always_loaded: matches!(name, "store_memory" | "recall_memory"),
        read_only: effect == Effect::Read,
        destructive: effect == Effect::Remove,
        idempotent: effect != Effect::Add,
    }
}

/// Returns the schema of a request, inlined and stripped: without `$schema`, `title`, `format`, `default`, unlisted arguments,
/// `additionalProperties`, the minimum of whole numbers, and `null` as an alternative to a type. Each object has `properties` and
/// `required`, without which strict clients refuse the tool.
fn schema<T: JsonSchema>() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.inline_subschemas = true;
        s.meta_schema = None;
    });
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    if let Some(Value::Object(arguments)) = schema.get_mut("properties") {
        arguments.retain(|_, argument| argument.get(UNLISTED).is_none());
    }
    strip(&mut schema);
    match schema {
        Value::Object(mut object) => {
            object.remove("description");
            object
        }
        _ => Map::new(),
    }
}

/// Removes keywords that cost tokens and carry no information. The daemon itself refuses unknown arguments and numbers below the minimum,
/// with the remedy.
fn strip(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            for keyword in ["title", "format", "default"] {
                object.remove(keyword);
            }
            if let Some(Value::Array(kinds)) = object.get_mut("type") {
                kinds.retain(|kind| kind != "null");
                if let [only] = kinds.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(values)) = object.get_mut("enum") {
                values.retain(|value| !value.is_null());
            }
            unwrap_optional(object);
            object.retain(|key, value| key != "additionalProperties" || !value.is_boolean());
            match object.get("type").and_then(Value::as_str) {
                Some("integer") => {
                    object.remove("minimum");
                }
                Some("object") => {
                    object.entry("properties").or_insert_with(|| json!({}));
                    object.entry("required").or_insert_with(|| json!([]));
                }
                _ => {}
            }
            for (keyword, value) in object.iter_mut() {
                match (keyword.as_str(), value) {
                    // The names of arguments are no keywords.
                    ("properties", Value::Object(arguments)) => {
                        arguments.values_mut().for_each(strip);
                    }
                    (_, value) => strip(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

/// Replaces `anyOf: [X, null]`, which the derive generates for an optional argument, by `X`. `required` already tells which arguments are
/// optional.
fn unwrap_optional(object: &mut Map<String, Value>) {
    let Some(Value::Array(branches)) = object.get_mut("anyOf") else { return };
    branches.retain(|branch| branch.get("type") != Some(&Value::String("null".to_owned())));
    if let [Value::Object(only)] = branches.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        for (key, value) in only {
            object.entry(key).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_has_no_redundant_keywords() {
        let store = Value::Object(schema::<StoreRequest>());
        assert_eq!(store["required"], serde_json::json!(["content", "type"]));
        assert_eq!(store["properties"]["scope"]["enum"], serde_json::json!(["global", "group"]));
        let text = store.to_string();
        for keyword in [
            "additionalProperties",
            "null",
            "$schema",
            "\"title\"",
            "\"format\"",
            "anyOf",
            "$ref",
            "\"\"",
        ] {
            assert!(!text.contains(keyword), "{keyword} in {text}");
        }
    }

    #[test]
    fn instructions_and_descriptions_are_shorter_than_the_limit_of_clients() {
        assert!(INSTRUCTIONS.len() < 2048);
        assert!(all().iter().all(|tool| tool.description.len() < 2048));
    }

    /// Keywords that the functions of both large APIs of models accept; each refuses a tool with others.
    const ACCEPTED: [&str; 8] =
        ["type", "description", "properties", "required", "items", "enum", "minimum", "maximum"];

    /// Checks a schema as a strict client does.
    fn check(schema: &Value, place: &str) {
        let object = schema.as_object().unwrap_or_else(|| panic!("{place} is no schema"));
        for keyword in object.keys() {
            assert!(ACCEPTED.contains(&keyword.as_str()), "{place} has the keyword {keyword}");
        }
        let kind = object.get("type").and_then(Value::as_str);
        match kind.unwrap_or_else(|| panic!("{place} has not one type")) {
            "object" => {
                let properties =
                    object["properties"].as_object().expect("an object has properties");
                let required =
                    object["required"].as_array().expect("an object has a list required");
                for name in required {
                    let name = name.as_str().expect("a name is a text");
                    assert!(properties.contains_key(name), "{place} requires the unknown {name}");
                }
                for (name, property) in properties {
                    let place = format!("{place}.{name}");
                    check(property, &place);
                    let described =
                        property["description"].as_str().is_some_and(|text| !text.is_empty());
                    assert!(described, "{place} has no description");
                }
            }
            "array" => check(&object["items"], &format!("{place}[]")),
            "string" => {
                let values = object.get("enum").and_then(Value::as_array).into_iter().flatten();
                assert!(values.into_iter().all(Value::is_string), "{place} has another value");
            }
            "integer" | "number" | "boolean" => {}
            other => panic!("{place} has the type {other}"),
        }
    }

    #[test]
    fn every_schema_is_one_that_strict_clients_accept() {
        for tool in all() {
            check(&Value::Object(tool.input.clone()), tool.name);
        }
    }

    #[test]
    fn an_argument_that_is_not_listed_is_accepted() {
        let recall = &all()[1].input["properties"];
        let given = json!({"query": "x", "token_budget": 100, "scope": "group", "as_of": "3d", "type": "entity"});
        for name in ["token_budget", "scope", "as_of", "type"] {
            assert!(recall.get(name).is_none(), "{name} is listed");
        }
        let Value::Object(given) = given else { unreachable!() };
        crate::mcp::arguments::parse::<RecallRequest>(given).expect("the arguments are accepted");
    }
}
