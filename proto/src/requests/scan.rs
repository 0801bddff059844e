//! `scan`: finds secrets in the whole store, and replaces them if asked to (`loci scan`). Never
//! returns a value.
//!
//! Request:
//! ```json
//! {"redact": false}
//! ```
//! Reply:
//! ```json
//! {"texts": 310, "found": 1, "findings": [{"place": "content", "id": "01953a2b-7c1e-7000-8000-0123456789ab",
//!  "kind": "github-token", "start": 17, "end": 57}], "redacted": 0}
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Maximum number of findings that a reply lists; `found` counts all.
pub const MAX_FINDINGS: usize = 1000;

/// Arguments of `scan`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScanRequest {
    /// Replace what is found; cannot be undone.
    #[serde(default)]
    pub redact: bool,
}

/// A secret, or personal data that the configuration names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanFinding {
    /// `content`, `variant`, `metadata`, `reason`, `predicate`, `log`, `journal`, `answer` (kept for repeated calls), `query` (kept for
    /// evaluation) or `group`.
    pub place: String,
    /// The id of the memory or relation, the number of the line or journal entry, or the id of the group; empty where that would repeat
    /// the secret.
    pub id: String,
    /// The kind of secret, for example `github-token`.
    pub kind: String,
    /// The first character; of metadata, log, journal and answers in the text of one field.
    pub start: usize,
    /// The character behind the last.
    pub end: usize,
}

/// Reply of `scan`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanReply {
    /// Number of texts that were searched.
    pub texts: usize,
    /// Number of findings.
    pub found: usize,
    /// The findings, at most [`MAX_FINDINGS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ScanFinding>,
    /// Number of texts that were changed or deleted.
    #[serde(default)]
    pub redacted: usize,
    /// What remains, and what to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
