//! The configuration as the daemon tells it: `loci config show` and `loci ctl reload`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Nothing has to be said to have the configuration told.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigRequest {}

/// What a running daemon goes by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConfigReply {
    /// The configuration file.
    pub file: String,
    /// False while there is none: every key has its default.
    pub exists: bool,
    /// Every key, in the order of their names.
    pub keys: Vec<Key>,
}

/// One key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// For example `retrieval.fusion`.
    pub key: String,
    /// What the daemon goes by; null where nothing is set and there is no default.
    pub value: Value,
    /// `default`, `config.toml:12`, or the variable that wins, for example `LOCI_DB`.
    pub from: String,
    /// What the file says since it was read again, and what takes a restart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<Value>,
}

/// The file was read again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReloadReply {
    /// The configuration file.
    pub file: String,
    /// The keys that the file gives another value than the daemon went by.
    pub changed: Vec<Changed>,
}

/// A key with another value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Changed {
    /// For example `retrieval.fusion`.
    pub key: String,
    /// What the daemon went by.
    pub was: Value,
    /// What the file says.
    pub is: Value,
    /// The daemon goes on by the old value until it is started again.
    pub waits: bool,
}
