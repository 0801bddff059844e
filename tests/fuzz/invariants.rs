//! What holds for any bytes that an agent sends as a line, whatever they are: the relay's reading, refusing and stamping.
//!
//! Shared by the fuzz target and by `tests/it/fuzz_corpus.rs`. Not here: reading lines out of a stream, and what becomes of them.

use loci::relay::idempotency_key::stamp;
use loci::relay::line_reader::Excerpt;
use loci::relay::message;
use loci::relay::message::{FromDaemon, Message, Request};
use loci_proto::mcp::idempotency::META_KEY;
use serde_json::Value;
use serde_json::value::RawValue;

/// The key that is stamped here; it has what must be escaped in JSON, which no real key has.
const KEY: &str = "s\"\\:1";

/// Panics when the relay would treat this line wrongly.
///
/// # Panics
/// That is its only answer.
pub fn hold(line: &[u8]) {
    let from_daemon = message::read_answer(line);
    let read = message::read(line);
    match &read {
        Ok(Message::Request(request)) => {
            assert_eq!(from_daemon, FromDaemon::Other, "a request counts as one whoever sends it");
            let text = std::str::from_utf8(line).expect("what was read is text");
            excerpts(line, request);
            if let Some(params) = request.params {
                stamped(text, request, params);
            }
        }
        Ok(Message::Notification(notification)) => {
            assert_eq!(from_daemon, FromDaemon::Other);
            let _ = notification.cancels();
        }
        Ok(Message::Answer) => assert_ne!(from_daemon, FromDaemon::Other),
        Err(refusal) => {
            assert!(!refusal.why.is_empty(), "a refusal says why");
            assert!(
                refusal.id.is_none() || refusal.code == message::INVALID_REQUEST,
                "what is not JSON has no id"
            );
            let _ = message::id_of_excerpt(&Excerpt { head: line.to_vec(), tail: line.to_vec() });
        }
    }
}

/// Of a line that is cut anywhere either its own id is found, or none; of the whole line, its own.
fn excerpts(line: &[u8], request: &Request) {
    let cut = |head: usize, tail: usize| Excerpt {
        head: line[..head].to_vec(),
        tail: line[line.len() - tail..].to_vec(),
    };
    assert_eq!(
        message::id_of_excerpt(&cut(line.len(), 0)).as_ref(),
        Some(&request.id),
        "the whole line shows its id"
    );
    for kept in [line.len() / 4, line.len() / 2, line.len() * 3 / 4, line.len().saturating_sub(1)] {
        for excerpt in [cut(kept, 0), cut(0, kept), cut(kept, line.len() - kept)] {
            let found = message::id_of_excerpt(&excerpt);
            assert!(
                found.is_none() || found.as_ref() == Some(&request.id),
                "an id that the request does not have: {found:?}"
            );
        }
    }
}

/// A request that takes a key stays the same request; nothing changes but the key.
fn stamped(text: &str, request: &Request, params: &RawValue) {
    let Ok(stamped) = stamp(text, params, KEY) else { return refused_rightly(params) };
    if !params.get().starts_with('{') {
        assert_eq!(stamped, text, "parameters that are no object pass as they are");
        return;
    }
    let at = params.get().as_ptr() as usize - text.as_ptr() as usize;
    let (head, tail) = (&text[..at], &text[at + params.get().len()..]);
    assert!(
        stamped.starts_with(head) && stamped.ends_with(tail),
        "what is around the parameters was changed: {stamped}"
    );

    let Ok(Message::Request(again)) = message::read(stamped.as_bytes()) else {
        panic!("is no request any more: {stamped}")
    };
    assert_eq!((&again.id, &again.method), (&request.id, &request.method), "{stamped}");
    let again = again.params.expect("has parameters");
    assert_eq!(
        stamp(&stamped, again, KEY).as_deref(),
        Ok(stamped.as_str()),
        "stamped twice is stamped once"
    );
    // A number that no float holds has no value to compare.
    if let (Ok(before), Ok(after)) =
        (serde_json::from_str(params.get()), serde_json::from_str(again.get()))
    {
        same_but_for_the_key(before, after);
    }
}

fn same_but_for_the_key(mut before: Value, mut after: Value) {
    let key = after["_meta"].as_object_mut().expect("has _meta").remove(META_KEY);
    assert_eq!(key, Some(Value::from(KEY)), "does not carry the key: {after}");
    match before.get_mut("_meta") {
        Some(Value::Object(meta)) => drop(meta.remove(META_KEY)),
        _ => before["_meta"] = Value::Object(serde_json::Map::new()),
    }
    assert_eq!(before, after, "more than the key was changed");
}

/// A key is refused only to parameters with a `_meta` that cannot hold one.
fn refused_rightly(params: &RawValue) {
    let Ok(value) = serde_json::from_str::<Value>(params.get()) else { return };
    let meta = value.get("_meta").expect("there is a _meta that cannot hold a key");
    // Of two, the last has a value here, and that one may be an object.
    assert!(
        !(meta.is_object() || meta.is_null())
            || params.get().matches("meta").count() + params.get().matches("\\u").count() > 1
    );
}
