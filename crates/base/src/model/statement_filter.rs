//! Selects memories by what kind of statement they are (`category`) and what they are about (`subject`),
//! as their metadata say. Pure.
//!
//! A statement of a transcript has its category in `kind`. Not here: reading metadata (`db`).

use crate::Result;
use crate::text::same_letters;
use loci_proto::error::Failure;
use serde_json::{Map, Value};

/// The fields of metadata that the filter reads.
pub const FIELDS: [&str; 3] = ["category", "kind", "subject"];

/// The category and the subject that a call asks for, folded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementFilter {
    category: Option<String>,
    subject: Option<String>,
}

impl StatementFilter {
    /// Returns the filter of a call; `None` if it names neither.
    ///
    /// # Errors
    /// `invalid` for an empty category or subject.
    pub fn new(category: Option<&str>, subject: Option<&str>) -> Result<Option<Self>> {
        let part = |field: &str, value: Option<&str>| -> Result<Option<String>> {
            let Some(value) = value else { return Ok(None) };
            let folded = fold(value);
            if folded.is_empty() {
                let failure = Failure::invalid(field, "is empty");
                return Err(failure.hint("Leave it out, or give a value of the metadata"));
            }
            Ok(Some(folded))
        };
        let (category, subject) = (part("category", category)?, part("subject", subject)?);
        let is_open = category.is_none() && subject.is_none();
        Ok((!is_open).then_some(Self { category, subject }))
    }

    /// Returns whether metadata have the category and the subject, ignoring case.
    pub fn admits(&self, metadata: &Map<String, Value>) -> bool {
        let is = |field: &str, wanted: &str| {
            metadata.get(field).and_then(Value::as_str).is_some_and(|value| fold(value) == wanted)
        };
        let has_category = |wanted: &String| {
            is(if metadata.contains_key("category") { "category" } else { "kind" }, wanted)
        };
        self.category.as_ref().is_none_or(has_category)
            && self.subject.as_ref().is_none_or(|wanted| is("subject", wanted))
    }
}

/// Lower case, with one underscore for spaces and hyphens: `Project state` is `project_state`.
fn fold(value: &str) -> String {
    let value = same_letters::composed(value);
    let words = value.split(|c: char| c.is_whitespace() || c == '-' || c == '_');
    words.filter(|word| !word.is_empty()).map(same_letters::folded).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn admits(category: Option<&str>, subject: Option<&str>, metadata: &Value) -> bool {
        let filter = StatementFilter::new(category, subject).expect("the filter is valid");
        let metadata = metadata.as_object().expect("the metadata are an object").clone();
        filter.expect("it names a value").admits(&metadata)
    }

    #[test]
    fn category_and_subject_are_compared_without_case_and_hyphens() {
        let metadata = json!({"category": "project_state", "subject": "Anna Kowalska"});
        assert!(admits(Some("Project-State"), None, &metadata));
        assert!(admits(Some("project state"), Some("anna kowalska"), &metadata));
        assert!(!admits(Some("fact"), None, &metadata));
        let (one, two) = ("Caf\u{e9}", "Cafe\u{301}");
        assert!(admits(None, Some(one), &json!({"subject": two})));
        assert!(admits(Some(two), None, &json!({"category": one})));
        assert!(!admits(Some("project_state"), Some("Anna"), &metadata));
        assert!(!admits(None, Some("Anna"), &json!({})));
    }

    #[test]
    fn the_kind_of_a_statement_from_a_transcript_is_its_category() {
        assert!(admits(Some("decision"), None, &json!({"kind": "decision"})));
        assert!(!admits(Some("decision"), None, &json!({"kind": "decision", "category": "fact"})));
    }

    #[test]
    fn an_empty_value_is_refused_with_its_field() {
        let error = StatementFilter::new(None, Some(" ")).expect_err("it is refused");
        assert!(error.to_string().starts_with("invalid: subject"), "{error}");
        assert_eq!(StatementFilter::new(None, None).expect("it is open"), None);
    }
}
