//! `loci doctor`: what was looked at, how it was found, and the next step where it is not well.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Look at the store, the index and the model.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DoctorRequest {}

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// Works, but somebody should look at it.
    Warn,
    /// Does not work.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What: `daemon`, `socket`, `config`, `model`, `database`, `index`, `disk`.
    pub part: String,
    /// How it was found.
    pub verdict: Verdict,
    /// What was found, in one sentence.
    pub found: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<String>,
}

impl Finding {
    /// Something that is as it should be.
    #[must_use]
    pub fn ok(part: &str, found: impl Into<String>) -> Self {
        Self { part: part.to_owned(), verdict: Verdict::Ok, found: found.into(), next_step: None }
    }

    /// Something that works and should be looked at.
    #[must_use]
    pub fn warn(part: &str, found: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { verdict: Verdict::Warn, next_step: Some(next_step.into()), ..Self::ok(part, found) }
    }

    /// Something that does not work.
    #[must_use]
    pub fn fail(part: &str, found: impl Into<String>, next_step: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(part, found, next_step) }
    }
}

/// Everything that was looked at, in this order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DoctorReply {
    /// The findings.
    pub findings: Vec<Finding>,
}
