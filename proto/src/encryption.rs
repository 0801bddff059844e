//! The replies of `loci encrypt`, `loci decrypt` and `loci rekey`, which a short-lived `locid` prints.

use serde::{Deserialize, Serialize};

/// What an encryption, decryption or change of the key did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncryptionReply {
    /// The id of the key; absent if the store is not encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Path of the key file.
    pub key_file: String,
    /// Number of memories of the store.
    pub memories: usize,
    /// Whether the database was converted now; false if it had this key.
    pub database_converted: bool,
    /// Number of backups that were converted now.
    pub backups_converted: usize,
    /// Files and folders that were left as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<LeftFile>,
}

/// A file or folder that was left as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftFile {
    /// Its path.
    pub path: String,
    /// The reason.
    pub reason: String,
}

/// The text of the key file, to be kept elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyReply {
    /// Path of the key file.
    pub key_file: String,
    /// Its text.
    pub text: String,
}
