//! `config` and the reply of `reload`: the configuration in force (`loci config show`, `loci ctl reload`).
//!
//! Request of `config`:
//! ```json
//! {}
//! ```
//! Reply of `config`:
//! ```json
//! {"file": "/home/anna/.loci/config.toml", "exists": true, "keys": [{"key": "retrieval.fusion", "value": "soft", "from": "default"}]}
//! ```
//! Reply of `reload`, which is `POST /reload` with an empty body:
//! ```json
//! {"file": "/home/anna/.loci/config.toml", "changed": [{"key": "retrieval.fusion", "was": "soft", "is": "rrf", "waits": false}]}
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Arguments of `config`: none.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigRequest {}

/// Reply of `config`: the configuration of the running daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigReply {
    /// Path of the configuration file.
    pub file: String,
    /// False if the file does not exist; every key then has its default.
    pub exists: bool,
    /// All keys, sorted by name.
    pub keys: Vec<ConfigKey>,
}

/// One key of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigKey {
    /// For example `retrieval.fusion`.
    pub key: String,
    /// The value in force; null if it is not set and has no default.
    pub value: Value,
    /// Where the value comes from: `default`, `config.toml:12`, or a variable such as `LOCI_DB`.
    pub from: String,
    /// The value in the file, if it takes effect only after a restart of the daemon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Value>,
}

/// Reply of `POST /reload`: the file was read again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReloadReply {
    /// Path of the configuration file.
    pub file: String,
    /// The keys whose value in the file differs from the value in force before.
    pub changed: Vec<ChangedKey>,
}

/// A key whose value has changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChangedKey {
    /// For example `retrieval.fusion`.
    pub key: String,
    /// The value in force before.
    pub was: Value,
    /// The value in the file.
    pub is: Value,
    /// True if the new value takes effect only after a restart of the daemon.
    pub waits: bool,
}
