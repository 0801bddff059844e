//! `scan`: what is stored before the rules knew it is found everywhere, and a redaction leaves no
//! copy.

use crate::db::{click_feedback, dump};
use crate::model::encoding::TextEncodings;
use crate::privacy::{Policy, SecretMode};
use crate::tests::fixture::{TestStore, axis, parse};
use loci_proto::memory::MemoryId;
use loci_proto::requests::scan::ScanReply;
use serde_json::json;
use std::collections::BTreeSet;

fn token() -> String {
    ["gh", "p_", "q7Rk2Zp0vL9sXc4TmN8bYw3HdJ6fGa", "1eUoKi"].concat()
}

fn policy() -> Policy {
    Policy::new(SecretMode::Refuse, Vec::new(), &[], true).expect("is a policy")
}

/// A store with the same secret in every place that can hold one. The engine stores what it is
/// given: the policy is applied before it is called.
fn leaking() -> (TestStore, MemoryId) {
    let secret = token();
    let mut test_store = TestStore::new();
    let text = format!("Deploy with {secret}");
    let stored = test_store.store("g", json!({"content": text, "type": "semantic", "metadata": {"note": secret, "password": "Tr0ub4dor&3"}}), Some(&axis(1)));
    // The same fact in other letters is a variant.
    let variant = format!("deploy with {secret}.");
    test_store.store("g", json!({"content": variant, "type": "semantic"}), Some(&axis(1)));
    let call = test_store.call("g", Some("s:1"));
    let edit =
        json!({"memory_id": stored.id, "content": format!("Deploy on Friday with {secret}")});
    test_store.writer.edit(&call, &parse(edit), &TextEncodings::default()).expect("is edited");
    let other = test_store.store("g", json!({"content": "The fridge", "type": "episodic"}), None);
    let reason = json!({"memory_id": other.id, "reason": format!("see {secret}")});
    test_store.writer.forget(&call_of(&test_store), &parse(reason)).expect("is forgotten");
    click_feedback::keep(&test_store.writer.conn, &format!("who uses {secret}"), 1, "g")
        .expect("is kept");
    (test_store, stored.id)
}

fn call_of(test_store: &TestStore) -> crate::transaction::change::CallContext {
    test_store.call("g", None)
}

fn places(reply: &ScanReply) -> BTreeSet<&str> {
    reply.findings.iter().map(|finding| finding.place.as_str()).collect()
}

#[test]
fn a_scan_lists_every_place_and_no_value_and_changes_nothing() {
    let (test_store, id) = leaking();
    let before = test_store.dump();
    let reply = test_store.reader.scan(&policy()).expect("scans");
    let expected = ["content", "journal", "log", "metadata", "query", "reason"];
    assert!(expected.iter().all(|place| places(&reply).contains(place)), "{:?}", places(&reply));
    assert_eq!(reply.found, reply.findings.len());
    let content = reply.findings.iter().find(|finding| finding.place == "content");
    let content = content.expect("is found");
    assert_eq!((content.id.as_str(), content.kind.as_str()), (id.as_str(), "github-token"));
    assert_eq!((content.start, content.end), (22, 62));
    let printed = serde_json::to_string(&reply).expect("is JSON");
    assert!(!printed.contains(&token()[4..]) && !printed.contains("Tr0ub4dor"), "{printed}");
    assert_eq!(test_store.dump(), before);
}

#[test]
fn a_redaction_leaves_the_value_in_no_file_and_cannot_be_undone() {
    let (mut test_store, id) = leaking();
    let path = test_store.folder.path().join("memory.db");
    assert!(dump::file_contains(&path, &token()));
    let call = test_store.call("g", None);
    let reply = test_store.writer.redact_secrets(&call, &policy()).expect("is redacted");
    assert!(reply.redacted >= 6, "{reply:?}");
    for value in [token(), token().to_lowercase(), "Tr0ub4dor&3".to_owned()] {
        assert!(!dump::file_contains(&path, &value), "{}", &value[..4]);
    }
    let memory = test_store.inspect("g", json!({"memory_id": id, "include_log": true}));
    let memory = memory.expect("the memory stays");
    assert_eq!(memory.memory.content, "Deploy on Friday with [SECRET:github-token]");
    let log = serde_json::to_string(&memory.log).expect("is JSON");
    assert!(log.contains("\"redact\"") && log.contains("github-token"), "{log}");
    let again = test_store.reader.scan(&policy()).expect("scans");
    assert_eq!((again.found, again.findings.len()), (0, 0), "{again:?}");
    let hits = test_store.found("g", json!({"query": "deploy friday"}), None);
    assert_eq!(hits, ["Deploy on Friday with [SECRET:github-token]"]);
    while test_store.undo_last().is_ok() {}
    assert!(!test_store.dump().contains(&token()), "no undo brings it back");
    assert_eq!(test_store.reader.scan(&policy()).expect("scans").found, 0);
}

#[test]
fn a_redacted_memory_is_encoded_again() {
    let (mut test_store, _) = leaking();
    let vectors = |test_store: &TestStore| {
        test_store.dump().lines().filter(|line| line.starts_with("memory_pieces")).count()
    };
    let call = test_store.call("g", None);
    test_store.writer.redact_secrets(&call, &policy()).expect("is redacted");
    assert_eq!(vectors(&test_store), 0);
    let missing = test_store.writer.reader().expect("opens");
    let stats =
        missing.stats(&parse(json!({})), &crate::tests::fixture::named("g"), test_store.now);
    assert!(stats.expect("counts").without_vector >= 1);
}
