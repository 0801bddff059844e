//! Bodies of the admin routes about the HTTP server for clients: whether it is open, and its tokens.
//!
//! `POST /http/open` with `{"port": 7433}` returns one line, an [`Opened`]; the server closes when that reply's connection closes.
//! `GET /http/tokens`, `POST /http/tokens/add` and `POST /http/tokens/remove` return [`TokensReply`].

use crate::group::GroupName;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The header in which an HTTP client names its project.
pub const GROUP_HEADER: &str = "loci-group";

/// Where the HTTP server listens, and what opened it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HttpStatus {
    /// The URL for clients.
    pub url: String,
    /// What opened it.
    pub opened_by: OpenedBy,
}

/// What opened the HTTP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpenedBy {
    /// `server.transport = "http"`.
    Config,
    /// `loci serve --http`, which also closes it.
    Command,
}

/// Body of `POST /http/open`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OpenRequest {
    /// The port; default: `server.http_port`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
}

/// The first line of the reply of `POST /http/open`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opened {
    /// The URL for clients.
    pub url: String,
    /// The file of the tokens.
    pub token_file: PathBuf,
    /// Name of the first token.
    pub token: String,
}

/// A token of the HTTP server, without its secret unless that was requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenEntry {
    /// Its name.
    pub name: String,
    /// The only project that it may use; absent if it may use every project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<GroupName>,
    /// What the client sends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// The tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TokensReply {
    /// Their file.
    pub file: PathBuf,
    /// The tokens, in the order of the file.
    pub tokens: Vec<TokenEntry>,
}

/// Body of `POST /http/tokens/add`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddTokenRequest {
    /// The name of the new token.
    pub name: String,
    /// The only project that it may use: its id, an alias or its display name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<GroupName>,
}

/// Body of `POST /http/tokens/show` and `POST /http/tokens/remove`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenName {
    /// The name of the token.
    pub name: String,
}
