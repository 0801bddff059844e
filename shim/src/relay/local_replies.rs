//! What the relay says itself, when the daemon cannot: the handshake, refusals of lines that are no messages, failures of calls.
//!
//! A failed `tools/call` is a result with `isError`, because a model can do something about it; anything else is a JSON-RPC error.

use crate::relay::in_flight::{Entry, Kind};
use crate::relay::message::{Id, Refusal};
use loci_proto::mcp::handshake;
use loci_proto::mcp::handshake::Answer;
use serde::Deserialize;
use serde_json::{Value, json};

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
        Kind::Subscription | Kind::Handshake | Kind::Other => {
            error(Some(&entry.id), UNREACHABLE, &text)
        }
    }
}

/// The daemon's own answer to a request of the handshake; none when the request is not well formed.
#[must_use]
pub fn handshake(entry: &Entry) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Asked {
        method: String,
        #[serde(default)]
        params: Value,
    }
    let asked: Asked = serde_json::from_slice(&entry.line).ok()?;
    let rest = match handshake::answer(&asked.method, &asked.params)? {
        Answer::Result(result) => format!("\"result\":{result}"),
        Answer::Error(error) => format!("\"error\":{error}"),
    };
    Some(line(Some(&entry.id), &rest))
}

/// Tells an agent that the list of tools it knows is out of date.
pub const TOOLS_CHANGED: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// A JSON-RPC error; an id that could not be read is `null`.
#[must_use]
pub fn error(id: Option<&Id>, code: i32, message: &str) -> Vec<u8> {
    line(id, &format!("\"error\":{}", json!({"code": code, "message": message})))
}

fn line(id: Option<&Id>, rest: &str) -> Vec<u8> {
    let id = id.map_or("null", Id::as_json);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{rest}}}\n").into_bytes()
}
