//! The invariants of each fuzz target, for any bytes. Shared by the targets and by
//! `tests/it/fuzz_corpus.rs`.

pub mod arguments;
pub mod damage;
pub mod import;
pub mod lines;
pub mod query;
pub mod redact;
mod store;

/// A target: its name, which is that of its corpus, and its check.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 6] = [
    ("lines", lines::check),
    ("arguments", arguments::check),
    ("import", import::check),
    ("query", query::check),
    ("redact", redact::check),
    ("damage", damage::check),
];
