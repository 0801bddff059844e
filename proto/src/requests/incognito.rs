//! `incognito`: makes a running session incognito, or ends that (`loci ctl incognito`).
//!
//! Request:
//! ```json
//! {"session": "0199c2aa", "off": false}
//! ```
//! Reply:
//! ```json
//! {"sessions": ["0199c2aa-7c1e-7000-8000-0123456789ab"], "incognito": true}
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Arguments of `incognito`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncognitoRequest {
    /// The session: the beginning of its id as `loci ctl status --json` shows it, or the process id of its shim.
    pub session: String,
    /// End that it is incognito.
    #[serde(default)]
    pub off: bool,
}

/// Reply of `incognito`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IncognitoReply {
    /// The ids of the session: that of its shim, and the agent's own if there is one.
    pub sessions: Vec<String>,
    /// Whether it is incognito now.
    pub incognito: bool,
}
