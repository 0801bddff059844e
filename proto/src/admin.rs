//! What `loci ctl` and the daemon say over the admin socket, as JSON over HTTP.

use serde::{Deserialize, Serialize};

/// `GET /status`: the daemon in one answer; `loci ctl status --json` prints it as it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// The daemon's version.
    pub version: String,
    /// The daemon's process.
    pub pid: u32,
    /// Seconds since it started.
    pub uptime_s: u64,
    /// The database it owns.
    pub database: String,
    /// The model it embeds with.
    pub model: Model,
    /// Active memories.
    pub memories: u64,
    /// What recalls search in; none while the store is being opened.
    #[serde(default)]
    pub index: Option<Index>,
    /// Connected agents.
    pub sessions: Vec<SessionStatus>,
    /// Jobs waiting now.
    pub queues: Queues,
    /// Parts that are out, for example `embedding`.
    pub degraded: Vec<String>,
    /// What a person should know, in sentences.
    pub warnings: Vec<String>,
}

/// The embedding model.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Model {
    /// For example `all-MiniLM-L6-v2`.
    pub id: String,
    /// Of the weights, in hexadecimal; empty until they were read.
    pub sha256: String,
    /// `loading`, `ready`, `missing` or `failed`.
    pub state: String,
}

/// The index that recalls search in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// `loading` or `ready`; while it is being loaded, recalls find by words alone.
    pub state: String,
    /// Memories that were read so far.
    pub read: usize,
    /// Memories that there were at the start.
    pub of: usize,
    /// Where it came from; none while it is being loaded.
    #[serde(default)]
    pub from: Option<String>,
}

/// One connected agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionStatus {
    /// What the agent calls itself, once it has said so.
    pub client: Option<String>,
    /// The project's display name.
    pub group: String,
    /// The shim's process.
    pub pid: u32,
    /// Tool calls so far.
    pub calls: u64,
    /// When it connected, ISO 8601, UTC.
    pub since: String,
    /// Seconds since then.
    #[serde(default)]
    pub age_s: u64,
}

/// Jobs that wait for a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Queues {
    /// For the one writer.
    pub writer: usize,
    /// For a reader.
    pub readers: usize,
    /// For the model.
    pub embedding: usize,
}

/// `POST /verbs/NAME`: a verb asked for from the command line. The answer is the verb's reply, or a [`crate::error::Failure`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Who asks, and from which project.
    pub session: crate::hello::Session,
    /// The verb's arguments.
    #[serde(default)]
    pub arguments: serde_json::Map<String, serde_json::Value>,
}

/// Any request that was done and has nothing else to say.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Done {
    /// What was done, a sentence.
    pub done: String,
}
