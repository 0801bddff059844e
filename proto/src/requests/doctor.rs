//! `doctor`: checks the store, the index and the model (`loci doctor`).
//!
//! Request:
//! ```json
//! {"dismiss": true}
//! ```
//! Reply:
//! ```json
//! {"findings": [{"part": "model", "verdict": "warn", "found": "all-MiniLM-L6-v2 is being loaded", "next_step": "Try again in a moment"}]}
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `doctor`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoctorRequest {
    /// Remove the lasting notices instead of checking anything.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dismiss: bool,
    /// Build again what is derived from the memories, and keep damaged pages as they are; then check.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fix: bool,
    /// Read every row, vector, sign code and backup.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deep: bool,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No problem.
    Ok,
    /// Works, but needs attention.
    Warn,
    /// Does not work.
    Fail,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The part that was checked: `daemon`, `socket`, `config`, `model`, `network`, `storage`, `database`,
    /// `index`, `disk`; `repair` for what `fix` has done.
    pub part: String,
    /// Its severity.
    pub verdict: Verdict,
    /// The result, one sentence.
    pub found: String,
    /// The next step for the user; absent if there is no problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

impl Finding {
    /// Creates a finding without a problem.
    #[must_use]
    pub fn ok(part: &str, found: impl Into<String>) -> Self {
        Self { part: part.to_owned(), verdict: Verdict::Ok, found: found.into(), next_step: None }
    }

    /// Creates a finding of a part that works, but needs attention.
    #[must_use]
    pub fn warn(part: &str, found: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, next_step: Some(next_step.into()), ..Self::ok(part, found) }
    }

    /// Creates a finding of a part that does not work.
    #[must_use]
    pub fn fail(part: &str, found: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(part, found, next_step) }
    }
}

/// Reply of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorReply {
    /// Number of notices that `dismiss` removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dismissed: Option<usize>,
    /// The findings, in the order of the checks.
    pub findings: Vec<Finding>,
}
