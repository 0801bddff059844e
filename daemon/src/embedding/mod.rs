//! Text embedding: turns a text into validated vectors and token sketches with a model that the daemon owns.
//!
//! [`Embedder`] is the entry point. It can be cloned and called from any task, and it never waits for a model that is not installed.
//! One thread owns the model, because a forward pass needs it exclusively. It serves queries before stores, and stores before bulk work.
//!
//! Reading order, each file depending only on earlier ones: [`pinned_files`] (which files), [`model_files`] (where they are), [`profile`]
//! (how a model is used), `q4_file` and `unigram` (a model in 4 bits with its vocabulary), `tokenizer` (text to tokens), [`chunk`] (tokens to
//! chunks), `pooling` (states to a vector), [`blocks`] (the weights in blocks), [`pinned_models`] (a row for each model with pinned files),
//! `encoder` (the model's interface), [`onnx`] (running one), [`pinned_source`] (where its files are), [`named_models`] and `recorded_files`
//! (models whose files are not pinned), [`custom_model`] (a model in a folder), [`model_source`] (which of them), `queue` (the bounded priority queue),
//! `batch` (which chunks are encoded together), `worker` (the thread), `embedder` (the callers' side), [`fetch`] (how the files are
//! downloaded, in a process of its own), [`api`] (embeddings by the API of a provider, also in a process of its own). Not here: network
//! access; the serving daemon has none.

pub mod api;
pub mod auto_fetch;
mod batch;
pub mod blocks;
pub(crate) mod bounded_file;
pub mod chunk;
pub mod custom_model;
mod embedder;
pub(crate) mod encoder;
pub mod fetch;
#[cfg(any(test, feature = "fault-embedder"))]
mod hash_encoder;
pub mod model_files;
pub mod model_source;
#[cfg(test)]
mod model_tests;
pub(crate) mod model_thread;
pub mod named_models;
pub mod onnx;
#[cfg(test)]
#[path = "../../../tests/it/onnx_model.rs"]
pub(crate) mod onnx_model;
pub mod pinned_files;
pub mod pinned_models;
pub mod pinned_source;
mod pooling;
pub mod profile;
pub(crate) mod q4_file;
mod query_cache;
mod queue;
mod recorded_files;
pub(crate) mod resident_memory;
pub(crate) mod run_limit;
#[cfg(target_os = "linux")]
mod smaps;
mod state;
#[cfg(test)]
pub(crate) mod test_encoder;
#[cfg(test)]
mod tests;
pub mod tokenizer;
mod unigram;
mod worker;

pub use embedder::Embedder;
pub use model_files::ModelConfig;
pub use model_source::ModelSource;
pub use pinned_files::MODEL_ID;
pub use queue::Priority;
pub use state::{EmbedError, ModelState};
