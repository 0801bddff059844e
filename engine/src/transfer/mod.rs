//! Export and import: the whole store as lines of JSON, and back. `docs/format.md` tells the format.
//!
//! `record` is what a line holds, `lines` how a file is read line by line, `document` makes lines of one document; `export` and `import`
//! are the verbs. An import first has the whole file checked (`check`), then brings it in (`merge`, `parts`), all in one transaction.
//! Not here: SQL (`db::transfer`, `db::incoming`), files and sockets.

mod apply_line;
mod check;
mod document;
mod export;
#[cfg(test)]
mod gone_tests;
mod import;
mod lines;
mod merge;
#[cfg(test)]
mod read_tests;
mod record;
#[cfg(test)]
mod tests;

pub use document::{is_document, unfold};
pub(crate) use record::{
    AliasOf, ClusterLine, GroupLine, LogLine, MemoryLine, Packed, RelationLine, SourceLine,
    TombstoneLine, VariantLine, VectorLine,
};
