//! Lines of an import are screened: every text of every kind of line, and the vectors of a changed
//! text are dropped.

use super::export;
use crate::privacy::{Policy, SecretMode};
use crate::tests::fixture::{TestStore, axis};
use crate::transfer::LineScreen;
use serde_json::{Value, json};

fn token() -> String {
    ["gh", "p_", "q7Rk2Zp0vL9sXc4TmN8bYw3HdJ6fGa", "1eUoKi"].concat()
}

fn policy(mode: SecretMode) -> Policy {
    Policy::new(mode, Vec::new(), &[], true).expect("is a policy")
}

/// An export with a secret in each text, one line for each.
fn lines_with(secret: &str) -> Vec<(&'static str, String)> {
    let id = "01953a2b-7c1e-7000-8000-0123456789ab";
    let memory = |field: &str, value: Value| {
        let mut line = json!({"kind": "memory", "id": id, "type": "semantic", "scope": "global", "status": "active", "status_at": 1, "confidence": 1.0, "confidence_at": 1, "created_at": 1, "updated_at": 1, "content": "x"});
        line[field] = value;
        line.to_string()
    };
    vec![
        ("content", memory("content", json!(format!("is {secret}")))),
        ("metadata.note", memory("metadata", json!({"note": secret}))),
        ("forgotten_reason", memory("forgotten_reason", json!(secret))),
        ("content", json!({"kind": "variant", "memory": id, "created_at": 1, "content": secret}).to_string()),
        ("predicate", json!({"kind": "relation", "id": id, "subject": id, "predicate": secret, "object": id, "confidence": 1.0, "created_at": 1}).to_string()),
        ("metadata.reason", json!({"kind": "log", "operation": "forget", "memory": id, "at": 1, "details": json!({"reason": secret}).to_string()}).to_string()),
        ("client", json!({"kind": "log", "operation": "forget", "memory": id, "at": 1, "client": secret}).to_string()),
        ("the line", format!("{{\"kind\":\"new\",\"text\":\"{secret}\"}}")),
    ]
}

#[test]
fn a_secret_in_any_text_of_a_line_refuses_it_or_is_redacted() {
    let secret = token();
    for (field, line) in lines_with(&secret) {
        let refuse = policy(SecretMode::Refuse);
        let refused = LineScreen::new(&refuse).screen(line.as_bytes()).expect_err(field);
        assert_eq!(refused.code.as_str(), "secret_detected", "{field}: {refused}");
        assert!(refused.field.as_deref().is_some_and(|at| at.ends_with(field)), "{refused}");
        assert!(!refused.to_string().contains(&secret[4..]), "{field}");
        let redact = policy(SecretMode::Redact);
        let (changed, redacted) =
            LineScreen::new(&redact).screen(line.as_bytes()).expect("is redacted");
        let changed = String::from_utf8(changed.expect("changes")).expect("is UTF-8");
        assert!(changed.contains("[SECRET:github-token]") && !changed.contains(&secret), "{field}");
        assert_eq!(redacted.len(), 1, "{field}: {redacted:?}");
    }
}

#[test]
fn the_name_of_a_group_with_a_secret_is_refused() {
    let line = json!({"kind": "group", "id": "g", "name": token(), "created_at": 1}).to_string();
    for mode in [SecretMode::Refuse, SecretMode::Redact] {
        let policy = policy(mode);
        assert!(LineScreen::new(&policy).screen(line.as_bytes()).is_err());
    }
}

#[test]
fn an_export_without_secrets_passes_unchanged_and_old_vectors_go_with_a_secret() {
    let mut test_store = TestStore::new();
    let content = json!({"content": "Anna prefers tabs", "type": "semantic"});
    test_store.store("g", content, Some(&axis(1)));
    let file = export(&test_store, true);
    let refuse = policy(SecretMode::Refuse);
    let mut screen = LineScreen::new(&refuse);
    for line in file.lines() {
        assert_eq!(screen.screen(line.as_bytes()), Ok((None, Vec::new())), "{line}");
    }
    let planted = file.replace("prefers tabs", &token());
    let redact = policy(SecretMode::Redact);
    let mut screen = LineScreen::new(&redact);
    let mut vectors = 0;
    for line in planted.lines() {
        let (changed, _) = screen.screen(line.as_bytes()).expect("is redacted");
        if line.starts_with(r#"{"kind":"vector""#) {
            vectors += 1;
            let changed = String::from_utf8(changed.expect("changes")).expect("is UTF-8");
            assert!(changed.contains(r#""numbers":"""#), "{changed}");
        }
    }
    assert_eq!(vectors, 1);
}
