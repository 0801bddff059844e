//! The daemon's answers to the MCP handshake, so that a shim can give them while no daemon runs.
//!
//! `initialize`, `server/discover`, `ping` and the lists of tools, prompts and resources depend only on the version of loci and on the
//! requested revision of MCP. `handshake.json` is a snapshot of the daemon's answers. The test
//! `tests/it/handshake.rs` compares it with a running daemon. After a change of a tool, prompt, resource or description regenerate it, once
//! the daemon compiles:
//!
//! ```sh
//! cargo build --release && LOCI_BLESS=1 cargo test --release -p loci-tests --test it the_handshake_snapshot && cargo build --release
//! ```
//!
//! Daemon, shim and test contain the file, so they must be built again before the tests pass.
//!
//! Not here: other requests, and malformed requests; only the daemon answers those.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

const SNAPSHOT: &str = include_str!("handshake.json");
/// The first revision without a handshake: each request carries metadata instead.
const FIRST_STATELESS: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_KEYS: [&str; 2] =
    ["io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities"];

/// The daemon's answers, in the daemon's order of keys; the file has white space that the daemon does not send ([`compact`]).
#[derive(Debug, Deserialize)]
struct Snapshot<'a> {
    /// The supported revisions of MCP, oldest first.
    versions: Vec<String>,
    /// The result of `initialize` for the newest revision with a handshake.
    #[serde(borrow)]
    initialize: &'a RawValue,
    /// The result of `server/discover`.
    #[serde(borrow)]
    discover: &'a RawValue,
    /// The lists by method, for example `tools/list`.
    #[serde(borrow)]
    lists: BTreeMap<String, List<'a>>,
}

/// The results of one list.
#[derive(Debug, Deserialize)]
struct List<'a> {
    /// For revisions with a handshake.
    #[serde(borrow)]
    plain: &'a RawValue,
    /// For revisions without a handshake.
    #[serde(borrow)]
    stateless: &'a RawValue,
}

/// An answer: the `result`, or the `error` of JSON-RPC, as JSON text that equals the daemon's byte for byte.
///
/// Clients cache prompts by their bytes, so the order of keys counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The value of `result`.
    Result(String),
    /// The value of `error`.
    Error(String),
}

/// The list methods that the snapshot answers.
pub const LISTS: [&str; 4] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// Returns true for methods that [`answer`] can answer.
#[must_use]
pub fn is_handshake(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover" | "ping") || LISTS.contains(&method)
}

/// Returns the daemon's answer to a request of the handshake; `None` for other requests and malformed ones.
#[must_use]
pub fn answer(method: &str, params: &Value) -> Option<Answer> {
    let snapshot: Snapshot<'_> = serde_json::from_str(SNAPSHOT).ok()?;
    if method == "initialize" {
        return snapshot.initialize(params);
    }
    let requested = params["_meta"][VERSION_KEY].as_str();
    if let Some(version) = requested
        && !snapshot.versions.iter().any(|known| known == version)
    {
        let data = json!({"requested": version, "supported": snapshot.versions});
        return Some(Answer::Error(format!(
            r#"{{"code":-32022,"message":"Unsupported protocol version","data":{data}}}"#
        )));
    }
    let stateless = requested.is_some_and(|version| version >= FIRST_STATELESS);
    let has_client_keys = CLIENT_KEYS.iter().all(|key| params["_meta"][*key].is_object());
    match method {
        "server/discover" if requested.is_some() && has_client_keys => {
            Some(Answer::Result(compact(snapshot.discover)))
        }
        "ping" if !stateless => Some(Answer::Result("{}".to_owned())),
        _ => snapshot.list(method, stateless, has_client_keys),
    }
}

impl Snapshot<'_> {
    /// Returns a list; `None` for a stateless request without the client's keys, which only the daemon answers.
    fn list(&self, method: &str, stateless: bool, has_client_keys: bool) -> Option<Answer> {
        let list = self.lists.get(method)?;
        match (stateless, has_client_keys) {
            (false, _) => Some(Answer::Result(compact(list.plain))),
            (true, true) => Some(Answer::Result(compact(list.stateless))),
            (true, false) => None,
        }
    }

    fn initialize(&self, params: &Value) -> Option<Answer> {
        let requested = params["protocolVersion"].as_str()?;
        if !params["clientInfo"].is_object() || !params["capabilities"].is_object() {
            return None;
        }
        let has_handshake = |version: &&String| version.as_str() < FIRST_STATELESS;
        let newest = self.versions.iter().rfind(has_handshake)?;
        let agreed = self.versions.iter().filter(has_handshake).find(|known| *known == requested);
        let version = |version: &str| format!("\"protocolVersion\":\"{version}\"");
        let newest_result = compact(self.initialize);
        Some(Answer::Result(newest_result.replacen(
            &version(newest),
            &version(agreed.unwrap_or(newest)),
            1,
        )))
    }
}

/// Returns the JSON without white space between its tokens; the keys keep their order.
fn compact(json: &RawValue) -> String {
    let mut compacted = String::new();
    let (mut in_string, mut is_escaped) = (false, false);
    for c in json.get().chars() {
        if in_string || !c.is_ascii_whitespace() {
            compacted.push(c);
        }
        if c == '"' && !is_escaped {
            in_string = !in_string;
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    compacted
}

/// Returns a fingerprint of a list of tools: the first 16 hexadecimal digits of the SHA-256 of its JSON.
#[must_use]
pub fn fingerprint(tools: &Value) -> String {
    let digest = Sha256::digest(tools.to_string().as_bytes());
    digest[..8].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns the fingerprint of the tools of this build.
#[must_use]
pub fn own_fingerprint() -> &'static str {
    static OWN: LazyLock<String> = LazyLock::new(|| {
        let snapshot: Option<Snapshot<'_>> = serde_json::from_str(SNAPSHOT).ok();
        let tools = snapshot.and_then(|snapshot| {
            let listed = snapshot.lists.get("tools/list")?.plain.get();
            serde_json::from_str::<Value>(listed).ok()?.get("tools").map(fingerprint)
        });
        tools.unwrap_or_default()
    });
    &OWN
}

#[cfg(test)]
mod tests {
    use super::*;

    fn initialize(version: &str) -> Value {
        match answer(
            "initialize",
            &json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
        ) {
            Some(Answer::Result(result)) => {
                serde_json::from_str(&result).expect("the result is JSON")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_known_revision_is_accepted_and_any_other_gets_the_newest_with_a_handshake() {
        assert_eq!(initialize("2025-06-18")["protocolVersion"], "2025-06-18");
        for other in ["2026-07-28", "2099-01-01", "nonsense"] {
            assert_eq!(initialize(other)["protocolVersion"], "2025-11-25");
        }
    }

    #[test]
    fn a_malformed_request_is_not_answered_from_the_snapshot() {
        assert_eq!(answer("initialize", &json!({})), None);
        assert_eq!(answer("server/discover", &json!({})), None);
        assert_eq!(answer("tools/call", &json!({})), None);
    }

    #[test]
    fn compacting_removes_only_white_space_between_tokens() {
        let pretty = r#"{ "b" : [ 1, "a \" b\\" ],
            "a": " x " }"#;
        let raw: &RawValue = serde_json::from_str(pretty).expect("the text is JSON");
        assert_eq!(compact(raw), r#"{"b":[1,"a \" b\\"],"a":" x "}"#);
    }

    #[test]
    fn the_snapshot_lists_the_tools_of_this_build() {
        let Some(Answer::Result(listed)) = answer("tools/list", &Value::Null) else {
            panic!("tools/list has no answer")
        };
        let listed: Value = serde_json::from_str(&listed).expect("the answer is JSON");
        let names: Vec<&str> = listed["tools"]
            .as_array()
            .expect("the answer has a list of tools")
            .iter()
            .filter_map(|t| t["name"].as_str())
            .collect();
        let own: Vec<&str> = crate::mcp::tools::all().iter().map(|tool| tool.name).collect();
        assert_eq!(names, own, "regenerate handshake.json: the top of this file says how");
    }
}
