//! The handshake as the daemon answers it, so that a shim can answer when there is no daemon yet.
//!
//! `initialize`, `server/discover`, `ping` and the lists of tools, prompts and resources depend on nothing but the version of loci and the revision of MCP that is
//! asked for. `handshake.json` holds the daemon's answers; a test asks the daemon and fails where they differ.
//! Not here: any other request, and requests that are not well formed; the daemon answers those.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::LazyLock;

const SNAPSHOT: &str = include_str!("handshake.json");
/// The revision that replaced the handshake by metadata in each request.
const STATELESS: &str = "2026-07-28";
const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_KEYS: [&str; 2] =
    ["io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities"];

/// What the daemon says to the requests of the handshake.
#[derive(Debug, Deserialize)]
struct Snapshot {
    /// The revisions of MCP that are served, oldest first.
    versions: Vec<String>,
    /// The result of `initialize` but for its `protocolVersion`.
    initialize: Map<String, Value>,
    /// The result of `server/discover`.
    discover: Value,
    /// The lists, by their method.
    lists: BTreeMap<String, List>,
}

/// A list of what is offered.
#[derive(Debug, Deserialize)]
struct List {
    /// The result for a revision with a handshake.
    plain: Map<String, Value>,
    /// What it carries beside that in a stateless revision.
    stateless: Map<String, Value>,
}

/// An answer: the `result`, or the `error` of JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Goes under `result`.
    Result(Value),
    /// Goes under `error`.
    Error(Value),
}

/// The lists whose answer is here.
pub const LISTS: [&str; 4] =
    ["tools/list", "prompts/list", "resources/list", "resources/templates/list"];

/// True for the requests that have an answer here.
#[must_use]
pub fn is_handshake(method: &str) -> bool {
    matches!(method, "initialize" | "server/discover" | "ping") || LISTS.contains(&method)
}

/// The daemon's answer to a request of the handshake; none when it is not well formed, or no such request.
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
        let List { plain, stateless: beside } = self.lists.remove(method)?;
        match (stateless, complete) {
            (false, _) => Some(Answer::Result(plain.into())),
            (true, true) => Some(Answer::Result(beside.into_iter().chain(plain).collect())),
            (true, false) => None,
        }
    }

    fn initialize(mut self, params: &Value) -> Option<Answer> {
        let asked = params["protocolVersion"].as_str()?;
        if !params["clientInfo"].is_object() || !params["capabilities"].is_object() {
            return None;
        }
        let served = |version: &&String| version.as_str() < STATELESS;
        let agreed = self
            .versions
            .iter()
            .filter(served)
            .find(|known| *known == asked)
            .or_else(|| self.versions.iter().rfind(served))?;
        self.initialize.insert("protocolVersion".to_owned(), json!(agreed));
        Some(Answer::Result(self.initialize.into()))
    }
}

/// A short name of a list of tools: 16 hexadecimal digits that differ when the tools differ.
#[must_use]
pub fn fingerprint(tools: &Value) -> String {
    let digest = Sha256::digest(tools.to_string().as_bytes());
    digest[..8].iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The fingerprint of the tools that this build lists.
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
    fn a_known_revision_is_agreed_to_and_any_other_gets_the_newest_with_a_handshake() {
        assert_eq!(initialize("2025-06-18")["protocolVersion"], "2025-06-18");
        for other in ["2026-07-28", "2099-01-01", "nonsense"] {
            assert_eq!(initialize(other)["protocolVersion"], "2025-11-25");
        }
    }

    #[test]
    fn what_is_not_well_formed_is_left_to_the_daemon() {
        assert_eq!(answer("initialize", &json!({})), None);
        assert_eq!(answer("server/discover", &json!({})), None);
        assert_eq!(answer("tools/call", &json!({})), None);
    }

    #[test]
    fn the_snapshot_lists_the_tools_of_this_build() {
        let Some(Answer::Result(listed)) = answer("tools/list", &Value::Null) else {
            panic!("is listed")
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
