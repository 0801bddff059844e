//! The daemon's answers to the MCP handshake, so that a shim can answer while no daemon runs.
//!
//! `initialize`, `server/discover`, `ping` and the lists of tools, prompts and resources depend only on the version of loci and on the
//! requested revision of MCP. `handshake.json` is a snapshot of the daemon's answers. The test
//! `tests/it/handshake.rs` compares it with a running daemon; after a change of a tool, prompt, resource or description regenerate it:
//!
//! ```sh
//! cargo build --release && LOCI_BLESS=1 cargo test --release -p loci-tests --test it handshake && cargo build --release
//! ```
//!
//! Not here: other requests, and malformed requests; only the daemon answers those.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

const SNAPSHOT: &str = include_str!("handshake.json");
/// The first revision without a handshake: each request carries metadata instead.
const STATELESS: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_KEYS: [&str; 2] =
    ["io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities"];

/// The daemon's answers to the requests of the handshake.
#[derive(Debug, Deserialize)]
struct Snapshot {
    /// The supported revisions of MCP, oldest first.
    versions: Vec<String>,
    /// The result of `initialize`, without `protocolVersion`.
    initialize: Map<String, Value>,
    /// The result of `server/discover`.
    discover: Value,
    /// The lists by method, for example `tools/list`.
    lists: BTreeMap<String, List>,
}

/// The result of a list request.
#[derive(Debug, Deserialize)]
struct List {
    /// The result for revisions with a handshake.
    plain: Map<String, Value>,
    /// Additional fields of the result for revisions without a handshake.
    stateless: Map<String, Value>,
}

/// An answer: the `result`, or the `error` of JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The value of `result`.
    Result(Value),
    /// The value of `error`.
    Error(Value),
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
    let mut snapshot: Snapshot = serde_json::from_str(SNAPSHOT).ok()?;
    if method == "initialize" {
        return snapshot.initialize(params);
    }
    let named = params["_meta"][VERSION_KEY].as_str();
    if let Some(version) = named
        && !snapshot.versions.iter().any(|known| known == version)
    {
        let data = json!({"requested": version, "supported": snapshot.versions});
        return Some(Answer::Error(
            json!({"code": -32022, "message": "Unsupported protocol version", "data": data}),
        ));
    }
    let stateless = named.is_some_and(|version| version >= STATELESS);
    let complete = CLIENT_KEYS.iter().all(|key| params["_meta"][*key].is_object());
    match method {
        "server/discover" if named.is_some() && complete => Some(Answer::Result(snapshot.discover)),
        "ping" if !stateless => Some(Answer::Result(json!({}))),
        _ => snapshot.list(method, stateless, complete),
    }
}

impl Snapshot {
    fn list(&mut self, method: &str, stateless: bool, complete: bool) -> Option<Answer> {
        let List { plain, stateless: additional } = self.lists.remove(method)?;
        match (stateless, complete) {
            (false, _) => Some(Answer::Result(plain.into())),
            (true, true) => Some(Answer::Result(additional.into_iter().chain(plain).collect())),
            (true, false) => None,
        }
    }

    fn initialize(mut self, params: &Value) -> Option<Answer> {
        let requested = params["protocolVersion"].as_str()?;
        if !params["clientInfo"].is_object() || !params["capabilities"].is_object() {
            return None;
        }
        let has_handshake = |version: &&String| version.as_str() < STATELESS;
        let version = self
            .versions
            .iter()
            .filter(has_handshake)
            .find(|known| *known == requested)
            .or_else(|| self.versions.iter().rfind(has_handshake))?;
        self.initialize.insert("protocolVersion".to_owned(), json!(version));
        Some(Answer::Result(self.initialize.into()))
    }
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
        let snapshot: Option<Snapshot> = serde_json::from_str(SNAPSHOT).ok();
        snapshot
            .and_then(|s| s.lists.get("tools/list")?.plain.get("tools").map(fingerprint))
            .unwrap_or_default()
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
            Some(Answer::Result(result)) => result,
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
    fn a_malformed_request_has_no_answer_here() {
        assert_eq!(answer("initialize", &json!({})), None);
        assert_eq!(answer("server/discover", &json!({})), None);
        assert_eq!(answer("tools/call", &json!({})), None);
    }

    #[test]
    fn the_snapshot_lists_the_tools_of_this_build() {
        let Some(Answer::Result(listed)) = answer("tools/list", &Value::Null) else {
            panic!("has an answer")
        };
        let names: Vec<&str> = listed["tools"]
            .as_array()
            .expect("is a list")
            .iter()
            .filter_map(|t| t["name"].as_str())
            .collect();
        let own: Vec<&str> = crate::mcp::tools::all().iter().map(|tool| tool.name).collect();
        assert_eq!(names, own);
    }
}
