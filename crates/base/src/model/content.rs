//! Validates and cleans what a memory may contain: its text, and metadata by type. Pure.
//!
//! Not here: parsing arguments (`loci_proto::mcp::arguments`), comparing texts (`duplicate`).

use crate::Result;
use crate::model::document::QUESTIONS;
use crate::model::time::is_date;
use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use loci_proto::memory::MemoryType;
use loci_proto::sanitize;
use loci_proto::sanitize::Removed;
use serde_json::{Map, Value};

/// Refuses a text that is empty, too large, or contains U+0000.
///
/// # Errors
/// `invalid` or `too_large`, for `content`.
pub fn check_text(content: &str) -> Result<()> {
    if content.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
        && !content.contains('\0')
    {
        return Err(Failure::invalid("content", "is empty").hint("Say what to remember"));
    }
    if content.len() > limits::CONTENT_BYTES {
        let message = format!(
            "has {} bytes; at most {} are allowed in one memory",
            content.len(),
            limits::CONTENT_BYTES
        );
        return Err(Failure::new(Code::TooLarge, message)
            .at("content")
            .hint("Store it as several memories, or as a summary"));
    }
    match content.chars().position(|c| c == '\0') {
        Some(position) => {
            Err(Failure::invalid("content", format!("contains U+0000 at character {position}"))
                .hint("Remove it"))
        }
        None => Ok(()),
    }
}

/// Checks a text as [`check_text`] does, and returns it without its hidden characters.
///
/// # Errors
/// As [`check_text`]; `invalid` also if nothing else is left.
pub fn clean_text(content: &str, removed: &mut Removed) -> Result<String> {
    check_text(content)?;
    let clean = sanitize::text_of("", content, removed);
    check_text(&clean)?;
    Ok(clean)
}

/// Moves the questions of a store to its metadata, where they are kept.
///
/// # Errors
/// `invalid` if both are given.
pub fn move_questions(
    questions: Option<Vec<String>>,
    metadata: &mut Map<String, Value>,
) -> Result<()> {
    let Some(questions) = questions.filter(|questions| !questions.is_empty()) else {
        return Ok(());
    };
    if metadata.contains_key(QUESTIONS) {
        return Err(Failure::invalid(QUESTIONS, "is given twice, also in metadata")
            .hint("Leave out metadata.questions"));
    }
    metadata.insert(QUESTIONS.to_owned(), Value::from(questions));
    Ok(())
}

/// Refuses too many or too long questions, and one without a word.
fn check_questions(metadata: &Map<String, Value>) -> Result<()> {
    let questions = metadata.get(QUESTIONS).and_then(Value::as_array);
    let questions: Vec<&str> = questions.into_iter().flatten().filter_map(Value::as_str).collect();
    if questions.len() > limits::QUESTIONS {
        let message =
            format!("has {} questions; at most {} are allowed", questions.len(), limits::QUESTIONS);
        return Err(Failure::new(Code::TooLarge, message).at(QUESTIONS));
    }
    for (number, question) in questions.iter().enumerate() {
        let field = format!("{QUESTIONS}[{number}]");
        let characters = question.chars().count();
        if characters > limits::QUESTION_CHARS {
            let message = format!(
                "has {characters} characters; at most {} are allowed",
                limits::QUESTION_CHARS
            );
            return Err(Failure::new(Code::TooLarge, message).at(field));
        }
        if !question.chars().any(char::is_alphanumeric) {
            return Err(Failure::invalid(field, "has no word").hint("Leave it out"));
        }
        if question.chars().any(char::is_control) {
            return Err(Failure::invalid(field, "contains a control character")
                .hint("Write each question in one line"));
        }
    }
    Ok(())
}

/// Removes the hidden characters of the keys and strings of metadata.
///
/// # Errors
/// `invalid` if two keys differ only by hidden characters.
pub fn clean_metadata(metadata: &mut Map<String, Value>, removed: &mut Removed) -> Result<()> {
    sanitize::fields("metadata", metadata, removed).map_err(|key| {
        Failure::invalid(key, "is given twice, with and without hidden characters")
            .hint("Give it once")
    })
}

/// Refuses a reason for forgetting that is too long or contains control characters.
///
/// # Errors
/// `too_large` or `invalid`, for `reason`.
pub fn check_reason(reason: Option<&str>) -> Result<()> {
    let Some(reason) = reason else { return Ok(()) };
    let characters = reason.chars().count();
    if characters > limits::REASON_CHARS {
        let message =
            format!("has {characters} characters; at most {} are allowed", limits::REASON_CHARS);
        return Err(Failure::new(Code::TooLarge, message).at("reason"));
    }
    if reason.chars().any(char::is_control) {
        return Err(Failure::invalid("reason", "contains a control character")
            .hint("Write the reason in one line"));
    }
    Ok(())
}

/// Invisible characters: zero-width and filler characters, direction marks, variation selectors,
/// tags, the blanks of Braille and Hangul.
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{2800}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Refuses metadata that is too large, too deep, or has the wrong kind of value in a documented
/// field.
///
/// # Errors
/// `too_large`, `too_deep`, or `invalid` naming the field.
pub fn check_metadata(kind: MemoryType, metadata: &Map<String, Value>) -> Result<()> {
    let size = Value::Object(metadata.clone()).to_string().len();
    if size > limits::METADATA_BYTES {
        let message =
            format!("has {size} bytes as JSON; at most {} are allowed", limits::METADATA_BYTES);
        return Err(Failure::new(Code::TooLarge, message).at("metadata"));
    }
    let levels = 1 + metadata.values().map(depth).max().unwrap_or(0);
    if levels > limits::METADATA_DEPTH {
        let message = format!(
            "is nested {levels} levels deep; at most {} are allowed",
            limits::METADATA_DEPTH
        );
        return Err(Failure::new(Code::TooDeep, message).at("metadata"));
    }
    for (name, expected) in fields(kind).iter().chain(&[(QUESTIONS, Expected::Texts)]) {
        if metadata.get(*name).is_some_and(|value| !expected.admits(value)) {
            let message = format!("must be {}", expected.in_words());
            return Err(Failure::invalid(format!("metadata.{name}"), message));
        }
    }
    check_questions(metadata)
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The kind of value of a documented metadata field. Other fields may have any value.
#[derive(Clone, Copy)]
enum Expected {
    Text,
    Texts,
    Date,
    Flag,
    Whole,
    Object,
}

impl Expected {
    fn admits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Self::Date => value.as_str().is_some_and(is_date),
            Self::Flag => value.is_boolean(),
            Self::Whole => value.as_u64().is_some(),
            Self::Object => value.is_object(),
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Texts => "an array of texts",
            Self::Date => "a date such as 2026-02-21, or with a time such as 2026-02-21T10:00:00Z",
            Self::Flag => "true or false",
            Self::Whole => "a whole number, 0 or more",
            Self::Object => "an object",
        }
    }
}

/// The day of an event; loci gives it to memories of any type.
const EVENT_DATE: &str = "event_date";

/// Refuses an `event_date` that is none, also where the type does not document the field. An import of an earlier export is not refused.
///
/// # Errors
/// `invalid` at `metadata.event_date`.
pub fn check_event_date(metadata: &Map<String, Value>) -> Result<()> {
    if metadata.get(EVENT_DATE).is_some_and(|value| !Expected::Date.admits(value)) {
        let message = format!("must be {}", Expected::Date.in_words());
        return Err(Failure::invalid(format!("metadata.{EVENT_DATE}"), message));
    }
    Ok(())
}

/// The documented fields of each type.
fn fields(kind: MemoryType) -> &'static [(&'static str, Expected)] {
    use Expected::{Date, Flag, Object, Text, Texts, Whole};
    match kind {
        MemoryType::Episodic => &[(EVENT_DATE, Date), ("session_id", Text), ("summary", Flag)],
        MemoryType::Semantic => &[("category", Text), ("subject", Text)],
        MemoryType::Procedural => &[("trigger", Text), ("steps", Texts), ("version", Whole)],
        MemoryType::Entity => {
            &[("entity_type", Text), ("name", Text), ("aliases", Texts), ("properties", Object)]
        }
    }
}

/// Metadata fields that identify the subject of a memory: if they differ, equal texts state
/// different facts.
const SUBJECT_FIELDS: [&str; 3] = [EVENT_DATE, "entity_type", "name"];

/// Returns false if both memories have a subject field and its values differ.
pub fn same_thing(existing: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    SUBJECT_FIELDS.iter().all(|field| match (existing.get(*field), new.get(*field)) {
        (Some(existing), Some(new)) => existing == new,
        _ => true,
    })
}

/// Returns true if a plain value of existing metadata differs from the new one, so that a merge would lose it. A category is kept anyway.
pub fn contradicts(existing: &Map<String, Value>, new: &Map<String, Value>) -> bool {
    let is_plain = |value: &Value| !value.is_array() && !value.is_object();
    new.iter().filter(|(key, value)| *key != "category" && is_plain(value)).any(|(key, value)| {
        existing.get(key).is_some_and(|known| is_plain(known) && known != value)
    })
}

/// Merges new metadata into existing metadata: new values replace old ones, lists of aliases are
/// united, objects are merged by field, existing questions stay.
///
/// Keeps the existing metadata if the result would exceed the limits of a memory.
pub fn merge_metadata(existing: &mut Map<String, Value>, new: &Map<String, Value>) {
    let mut merged = existing.clone();
    for (key, value) in new {
        merge_field(&mut merged, key, value);
    }
    if Value::Object(merged.clone()).to_string().len() <= limits::METADATA_BYTES {
        *existing = merged;
    }
}

fn merge_field(fields: &mut Map<String, Value>, key: &str, value: &Value) {
    match (fields.get_mut(key), value) {
        (Some(Value::Array(old)), Value::Array(new)) if key == "aliases" => {
            old.extend(new.iter().filter(|item| !old.contains(item)).cloned().collect::<Vec<_>>());
        }
        // Those of the memory stay, since they are encoded.
        (Some(Value::Array(_)), Value::Array(_)) if key == QUESTIONS => {}
        (Some(Value::Object(old)), Value::Object(new)) => {
            new.iter().for_each(|(key, value)| merge_field(old, key, value));
        }
        _ => {
            fields.insert(key.to_owned(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => unreachable!("tests pass objects"),
        }
    }

    fn refusal(result: Result<()>) -> String {
        result.expect_err("the check refuses it").to_string()
    }

    #[test]
    fn a_text_without_a_visible_character_is_empty() {
        for text in [
            "",
            "   \n\t",
            "\u{200B}",
            "\u{FEFF} \u{200D}",
            "\u{3164}",
            "\u{2800}\u{180E}",
            "\u{E0041}",
        ] {
            assert!(refusal(check_text(text)).starts_with("invalid: content is empty"), "{text:?}");
        }
    }

    #[test]
    fn a_text_over_32_kib_is_refused_with_both_sizes() {
        assert!(check_text(&"x".repeat(32 * 1024)).is_ok());
        let message = refusal(check_text(&"x".repeat(32 * 1024 + 1)));
        assert!(
            message.starts_with("too_large: content has 32769 bytes; at most 32768"),
            "{message}"
        );
    }

    #[test]
    fn a_nul_character_is_refused_with_its_position() {
        assert!(refusal(check_text("ab\0cd")).contains("U+0000 at character 2"));
        assert!(refusal(check_text("\0")).contains("U+0000 at character 0"));
    }

    #[test]
    fn documented_metadata_fields_are_checked_by_type() {
        let message = |kind, value| refusal(check_metadata(kind, &object(value)));
        assert!(
            message(MemoryType::Episodic, json!({"event_date": "last week"}))
                .contains("metadata.event_date must be a date")
        );
        assert!(
            message(MemoryType::Procedural, json!({"steps": "build"}))
                .contains("metadata.steps must be an array of texts")
        );
        assert!(message(MemoryType::Entity, json!({"aliases": [1]})).contains("metadata.aliases"));
        assert!(
            check_metadata(
                MemoryType::Semantic,
                &object(json!({"steps": "free here", "anything": [1, {"a": null}]}))
            )
            .is_ok()
        );
    }

    #[test]
    fn metadata_is_bounded_in_size_and_depth() {
        assert!(
            refusal(check_metadata(
                MemoryType::Semantic,
                &object(json!({"a": "x".repeat(17 * 1024)}))
            ))
            .starts_with("too_large: metadata")
        );
        let eight = json!({"2": {"3": {"4": {"5": {"6": {"7": {"8": {}}}}}}}});
        assert!(check_metadata(MemoryType::Semantic, &object(eight.clone())).is_ok());
        assert!(
            refusal(check_metadata(MemoryType::Semantic, &object(json!({"1": eight}))))
                .starts_with("too_deep: metadata is nested 9")
        );
    }

    #[test]
    fn merged_metadata_has_all_aliases_and_the_newer_values() {
        let mut existing =
            object(json!({"aliases": ["JS"], "name": "John", "properties": {"team": "a"}}));
        merge_metadata(
            &mut existing,
            &object(json!({"aliases": ["JS", "Johnny"], "properties": {"team": "b"}})),
        );
        assert_eq!(
            Value::Object(existing),
            json!({"aliases": ["JS", "Johnny"], "name": "John", "properties": {"team": "b"}})
        );
        let mut deep = object(json!({"properties": {"team": "a", "city": "Gdynia"}}));
        merge_metadata(&mut deep, &object(json!({"properties": {"team": "b"}})));
        assert_eq!(Value::Object(deep), json!({"properties": {"team": "b", "city": "Gdynia"}}));
    }

    #[test]
    fn metadata_is_not_merged_if_the_result_would_be_too_large() {
        let mut existing = object(json!({"a": "x".repeat(10_000)}));
        merge_metadata(&mut existing, &object(json!({"b": "y".repeat(10_000)})));
        assert_eq!(existing.keys().collect::<Vec<_>>(), ["a"]);
    }

    #[test]
    fn memories_with_different_event_dates_have_different_subjects() {
        let same = |a: Value, b: Value| same_thing(&object(a), &object(b));
        assert!(!same(json!({"event_date": "2026-01-01"}), json!({"event_date": "2026-02-01"})));
        assert!(same(json!({"event_date": "2026-01-01"}), json!({"session_id": "s"})));
    }
}
