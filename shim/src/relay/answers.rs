//! What the relay says itself, when the daemon cannot: refusals of lines that are no messages, and failures of calls.
//!
//! A failed `tools/call` is a result with `isError`, because a model can do something about it; anything else is a JSON-RPC error.

use super::flight::{Entry, Kind};
use super::message::{Id, Refusal};
use serde_json::json;

/// JSON-RPC leaves this number to servers: the daemon cannot be reached.
const UNREACHABLE: i32 = -32000;

/// The answer to a line that is not passed on.
#[must_use]
pub fn refusal(refusal: &Refusal) -> Vec<u8> {
    error(refusal.id.as_ref(), refusal.code, &refusal.why)
}

/// The answer to a request that cannot be served: `what` went wrong, and the `next` step, both in whole sentences.
#[must_use]
pub fn failure(entry: &Entry, what: &str, next: &str) -> Vec<u8> {
    let doubt = if entry.sent > 0 { "This call may have taken effect. " } else { "" };
    let text = format!("loci: {what} {doubt}{next}");
    match entry.kind {
        Kind::Call => {
            let result = json!({"content": [{"type": "text", "text": text}], "isError": true, "resultType": "complete"});
            line(Some(&entry.id), &format!("\"result\":{result}"))
        }
        Kind::Subscription | Kind::Other => error(Some(&entry.id), UNREACHABLE, &text),
    }
}

/// A JSON-RPC error; an id that could not be read is `null`.
#[must_use]
pub fn error(id: Option<&Id>, code: i32, message: &str) -> Vec<u8> {
    line(id, &format!("\"error\":{}", json!({"code": code, "message": message})))
}

fn line(id: Option<&Id>, rest: &str) -> Vec<u8> {
    let id = id.map_or("null", Id::as_json);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}\n").into_bytes()
}
