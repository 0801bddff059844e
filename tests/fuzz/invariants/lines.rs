//! Invariants of the relay for any bytes that an agent sends as a line: parsing, refusing, and adding the idempotency key.
//!
//! Shared by the fuzz target and by `tests/it/fuzz_corpus.rs`. Not here: splitting a stream into lines, and forwarding them.

use loci::relay::idempotency_key::{CallMeta, inject_key};
use loci::relay::line_reader::Excerpt;
use loci::relay::message;
use loci::relay::message::{FromDaemon, Message, Request};
use loci_proto::mcp::idempotency::META_KEY;
use serde_json::Value;
use serde_json::value::RawValue;

/// The key used here. It contains characters that JSON escapes; real keys do not.
const KEY: &str = "s\"\\:1";

/// Checks all invariants for one line.
///
/// # Panics
/// When an invariant is violated.
pub fn check(line: &[u8]) {
    let from_daemon = message::read_answer(line);
    let read = message::read(line);
    match &read {
        Ok(Message::Request(request)) => {
            assert_eq!(from_daemon, FromDaemon::Other, "a request is a request from either side");
            let text = std::str::from_utf8(line).expect("a parsed line is UTF-8");
            check_excerpts(line, request);
            if let Some(params) = request.params {
                check_keyed(text, request, params);
            }
        }
        Ok(Message::Notification(notification)) => {
            assert_eq!(from_daemon, FromDaemon::Other);
            let _ = notification.cancelled_request();
        }
        Ok(Message::Answer) => assert_ne!(from_daemon, FromDaemon::Other),
        Err(refusal) => {
            assert!(!refusal.reason.is_empty(), "a refusal has a reason");
            assert!(
                refusal.id.is_none() || refusal.code == message::INVALID_REQUEST,
                "a line that is not JSON has no id"
            );
            let _ = message::id_of_excerpt(&Excerpt { head: line.to_vec(), tail: line.to_vec() });
        }
    }
}

/// Checks that an excerpt yields the id of its line or none, and that the whole line yields its id.
fn check_excerpts(line: &[u8], request: &Request) {
    let cut = |head: usize, tail: usize| Excerpt {
        head: line[..head].to_vec(),
        tail: line[line.len() - tail..].to_vec(),
    };
    assert_eq!(
        message::id_of_excerpt(&cut(line.len(), 0)).as_ref(),
        Some(&request.id),
        "the whole line contains its id"
    );
    for kept in [line.len() / 4, line.len() / 2, line.len() * 3 / 4, line.len().saturating_sub(1)] {
        for excerpt in [cut(kept, 0), cut(0, kept), cut(kept, line.len() - kept)] {
            let found = message::id_of_excerpt(&excerpt);
            assert!(found.is_none() || found.as_ref() == Some(&request.id), "wrong id: {found:?}");
        }
    }
}

/// Checks that adding a key keeps the request and changes nothing but the key.
fn check_keyed(text: &str, request: &Request, params: &RawValue) {
    let Ok(keyed) = inject_key(text, params, &CallMeta::of_key(KEY)) else {
        return check_refusal(params);
    };
    if !params.get().starts_with('{') {
        assert_eq!(keyed, text, "parameters that are not an object stay unchanged");
        return;
    }
    let at = params.get().as_ptr() as usize - text.as_ptr() as usize;
    let (head, tail) = (&text[..at], &text[at + params.get().len()..]);
    assert!(
        keyed.starts_with(head) && keyed.ends_with(tail),
        "text around the parameters changed: {keyed}"
    );

    let Ok(Message::Request(again)) = message::read(keyed.as_bytes()) else {
        panic!("no longer a request: {keyed}")
    };
    assert_eq!((&again.id, &again.method), (&request.id, &request.method), "{keyed}");
    let again = again.params.expect("has parameters");
    assert_eq!(
        inject_key(&keyed, again, &CallMeta::of_key(KEY)).as_deref(),
        Ok(keyed.as_str()),
        "adding the key is idempotent"
    );
    // A number outside the range of f64 has no value to compare.
    if let (Ok(before), Ok(after)) =
        (serde_json::from_str(params.get()), serde_json::from_str(again.get()))
    {
        check_only_the_key_changed(before, after);
    }
}

fn check_only_the_key_changed(mut before: Value, mut after: Value) {
    let key = after["_meta"].as_object_mut().expect("has _meta").remove(META_KEY);
    assert_eq!(key, Some(Value::from(KEY)), "the key is missing: {after}");
    match before.get_mut("_meta") {
        Some(Value::Object(meta)) => drop(meta.remove(META_KEY)),
        _ => before["_meta"] = Value::Object(serde_json::Map::new()),
    }
    assert_eq!(before, after, "more than the key changed");
}

/// Checks that a key is refused only if `_meta` cannot contain one.
fn check_refusal(params: &RawValue) {
    let Ok(value) = serde_json::from_str::<Value>(params.get()) else { return };
    let meta = value.get("_meta").expect("only a _meta can make a key impossible");
    // If `_meta` occurs twice, serde_json keeps the last one, which may be an object.
    assert!(
        !(meta.is_object() || meta.is_null())
            || params.get().matches("meta").count() + params.get().matches("\\u").count() > 1
    );
}
