//! Bodies of the admin route that opens the viewer.
//!
//! `POST /view/open` with `{"session": {"id": "…", "pid": 7}}` returns one line, an [`Opened`]; the viewer closes when that reply's
//! connection closes.

use crate::hello::Session;
use serde::{Deserialize, Serialize};

/// Body of `POST /view/open`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenRequest {
    /// The command and its project.
    pub session: Session,
    /// The port; a free one by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// The first line of the reply of `POST /view/open`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opened {
    /// The link, which opens the viewer once.
    pub link: String,
}
