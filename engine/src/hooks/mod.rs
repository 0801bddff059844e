//! What a hook adds to a conversation: which part of a prompt is a question, which memories belong to it, and their text. Pure.
//!
//! Not here: finding memories (`operations::hook`), the record of deliveries (`operations::deliveries`).

pub(crate) mod brief;
pub mod decisions;
pub mod prompts;
pub mod receipt;
pub mod selection;
pub mod text;
