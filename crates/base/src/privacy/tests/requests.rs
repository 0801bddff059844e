//! Requests: every text of every verb that writes is screened.

use super::{github_token, policy, strict};
use crate::privacy::request::{check_group, kept_query, screen};
use crate::privacy::{Policy, SecretMode};
use loci_proto::requests::Request;
use serde_json::{Value, json};

const ID: &str = "01953a2b-7c1e-7000-8000-0123456789ab";

fn request(name: &str, arguments: Value) -> Request {
    let Value::Object(arguments) = arguments else { panic!("tests pass objects") };
    Request::parse(name, arguments).expect("is a request")
}

/// Every field that is written, with a text in it.
fn writing(text: &str) -> Vec<(&'static str, Value, &'static str)> {
    let store = |metadata: Value| json!({"content": "x", "type": "semantic", "metadata": metadata});
    vec![
        ("store_memory", json!({"content": text, "type": "semantic"}), "content"),
        ("store_memory", store(json!({"note": text})), "metadata.note"),
        ("store_memory", store(json!({"a": [{"b": text}]})), "metadata.a[0].b"),
        ("store_memory", store(json!({text: 1})), "metadata (name 1)"),
        ("edit", json!({"memory_id": ID, "content": text}), "content"),
        ("edit", json!({"memory_id": ID, "metadata": {"note": text}}), "metadata.note"),
        (
            "store_relation",
            json!({"subject_id": ID, "predicate": text, "object_id": ID}),
            "predicate",
        ),
        ("forget_memory", json!({"memory_id": ID, "reason": text}), "reason"),
        ("forget_many", json!({"memory_ids": [ID], "reason": text}), "reason"),
        ("compact_memories", json!({"cluster": "c", "summary": text}), "summary"),
    ]
}

#[test]
fn every_written_field_is_refused_by_its_name() {
    let token = github_token();
    for (verb, arguments, field) in writing(&token) {
        let mut request = request(verb, arguments);
        let refused = screen(&policy(SecretMode::Refuse), &mut request).expect_err(field);
        assert_eq!(refused.code.as_str(), "secret_detected", "{verb} {field}");
        assert_eq!(refused.field.as_deref(), Some(field), "{verb}");
        assert!(!refused.to_string().contains(&token[4..]), "{verb}: {refused}");
    }
}

#[test]
fn every_written_field_is_redacted_and_listed() {
    let token = github_token();
    for (verb, arguments, field) in writing(&token) {
        let mut request = request(verb, arguments);
        let redacted = screen(&policy(SecretMode::Redact), &mut request).expect(field);
        assert_eq!(redacted.len(), 1, "{verb} {field}: {redacted:?}");
        let left = format!("{request:?}");
        assert!(!left.contains(&token) && left.contains("[SECRET:github-token]"), "{verb} {field}");
    }
}

#[test]
fn the_name_of_a_metadata_field_says_that_its_value_is_a_secret() {
    for (name, value) in [("password", "hunter2x"), ("api_key", "9f8a7b6c5d4e3f2a1b0c")] {
        let arguments = json!({"content": "x", "type": "semantic", "metadata": {name: value}});
        let mut request = request("store_memory", arguments);
        let refused = screen(&policy(SecretMode::Refuse), &mut request).expect_err(name);
        assert!(refused.to_string().contains(&format!("metadata.{name}")), "{refused}");
    }
    let harmless = json!({"content": "x", "type": "semantic", "metadata": {"password": "required", "token_limit": 4096, "card": 4_111_111_111_111_112_u64}});
    let mut request = request("store_memory", harmless);
    assert_eq!(screen(&policy(SecretMode::Refuse), &mut request), Ok(Vec::new()));
}

#[test]
fn names_that_become_the_same_keep_their_values() {
    let policy = Policy::new(SecretMode::Refuse, Vec::new(), &["Anna".into()], true);
    let policy = policy.expect("is a policy");
    let metadata = json!({"ANNA": 1, "Anna": {"anna": 2, "An\u{200b}na": 3}, "[REDACTED]": 4, "anna": 5, "x": 6});
    let kept = json!({
        "[REDACTED]": 4, "[REDACTED] 2": 1, "[REDACTED] 3": {"[REDACTED]": 3, "[REDACTED] 2": 2}, "[REDACTED] 4": 5, "x": 6
    });
    let arguments = json!({"content": "x", "type": "semantic", "metadata": metadata});
    let mut request = request("store_memory", arguments);
    screen(&policy, &mut request).expect("is redacted");
    let Request::Store(store) = request else { panic!("is a store") };
    assert_eq!(Value::Object(store.metadata), kept);
    assert_eq!(policy.redact_json(metadata).expect("is redacted").value, kept);
}

#[test]
fn names_of_groups_are_refused_and_never_redacted() {
    let token = github_token();
    for mode in [SecretMode::Refuse, SecretMode::Redact] {
        assert!(check_group(&policy(mode), "group", &token).is_err());
        for (verb, arguments) in [
            ("store_memory", json!({"content": "x", "type": "semantic", "group": token})),
            ("groups_rename", json!({"group": "a", "to": token})),
            ("groups_alias", json!({"group": "a", "alias": token})),
        ] {
            assert!(screen(&policy(mode), &mut request(verb, arguments)).is_err(), "{verb}");
        }
    }
    assert!(check_group(&policy(SecretMode::Allow), "group", &token).is_ok());
}

#[test]
fn a_text_that_is_only_private_is_refused_as_empty() {
    let arguments = json!({"content": "<private>all of it", "type": "semantic"});
    let mut request = request("store_memory", arguments);
    let refused = screen(&policy(SecretMode::Allow), &mut request).expect_err("is refused");
    assert!(refused.to_string().starts_with("invalid: content is empty"), "{refused}");
    assert!(refused.to_string().contains("<private>"), "{refused}");
}

#[test]
fn a_query_with_a_secret_is_not_kept() {
    let query = format!("where is {} used", github_token());
    assert_eq!(kept_query(&policy(SecretMode::Refuse), &query), None);
    assert_eq!(
        kept_query(&policy(SecretMode::Redact), &query).as_deref(),
        Some("where is [SECRET:github-token] used")
    );
    assert_eq!(kept_query(&strict(), "who is a@b.pl").as_deref(), Some("who is [EMAIL]"));
}
