//! Replies that the relay writes itself: the handshake, refusals of invalid lines, and failures of requests.
//!
//! A failed `tools/call` is a tool result with `isError`, because the model can act on it. Every other failure is a JSON-RPC error.

use crate::relay::in_flight::{PendingRequest, RequestKind};
use crate::relay::message::{Id, Refusal};
use loci_proto::gate::ModelText;
use loci_proto::mcp::handshake;
use loci_proto::mcp::handshake::Answer;
use serde::Deserialize;
use serde_json::{Value, json};

/// Error code if the daemon cannot be reached; JSON-RPC leaves this range to servers.
const UNREACHABLE: i32 = -32000;

/// Returns the error reply to a line that is not forwarded.
#[must_use]
pub fn refusal(refusal: &Refusal) -> Vec<u8> {
    error(refusal.id.as_ref(), refusal.code, &ModelText::reply(&refusal.reason))
}

/// Returns the reply to a request that failed. `message` and `next_step` are whole sentences.
#[must_use]
pub fn failure(request: &PendingRequest, message: &str, next_step: &str) -> Vec<u8> {
    let warning = if request.attempts > 0 { "This call may have taken effect. " } else { "" };
    let text = ModelText::reply(&format!("loci: {message} {warning}{next_step}"));
    match request.kind {
        RequestKind::Call => {
            let result = json!({"content": [{"type": "text", "text": *text}], "isError": true, "resultType": "complete"});
            reply_line(Some(&request.id), &format!("\"result\":{result}"))
        }
        RequestKind::Subscription | RequestKind::Handshake | RequestKind::Other => {
            error(Some(&request.id), UNREACHABLE, &text)
        }
    }
}

/// Returns the answer that the daemon would give to a handshake request; `None` if the request is malformed.
#[must_use]
pub fn handshake(request: &PendingRequest) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct HandshakeRequest {
        method: String,
        #[serde(default)]
        params: Value,
    }
    let parsed: HandshakeRequest = serde_json::from_slice(&request.line).ok()?;
    let member = match handshake::answer(&parsed.method, &parsed.params)? {
        Answer::Result(result) => format!("\"result\":{result}"),
        Answer::Error(error) => format!("\"error\":{error}"),
    };
    Some(reply_line(Some(&request.id), &member))
}

/// The notification that the tool list has changed.
pub const TOOLS_CHANGED: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n";

/// Returns a JSON-RPC error reply; an unknown id becomes `null`.
#[must_use]
pub fn error(id: Option<&Id>, code: i32, message: &ModelText) -> Vec<u8> {
    reply_line(id, &format!("\"error\":{}", json!({"code": code, "message": **message})))
}

/// Returns a reply line; `member` is its `result` or `error` as JSON.
fn reply_line(id: Option<&Id>, member: &str) -> Vec<u8> {
    let id = id.map_or("null", Id::as_json);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{member}}}\n").into_bytes()
}
