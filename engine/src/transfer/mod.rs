//! Export and import: the whole store as lines of JSON, and back. `docs/format.md` describes the
//! format.
//!
//! `record` defines the lines, `line_reader` reads a file line by line, `parse` parses a line, and
//! `document` converts a single JSON document to lines. `export`, `dump`, `markdown_files` and `import` are the operations.
//! An import first checks the whole file (`check`), then applies it line by line (`apply_line`,
//! `merge`); both happen in one transaction. `foreign` makes lines of what was read of other programs. Not here: SQL (`db::export_rows`, `db::import_rows`),
//! files and sockets.

mod apply_line;
mod backup_lines;
mod check;
mod document;
mod dump;
mod export;
mod foreign;
mod import;
mod line_reader;
mod markdown_files;
mod merge;
mod parse;
mod previewed;
mod provenance;
mod record;
mod screen;
#[cfg(test)]
mod tests;
mod written_line;

pub use backup_lines::backup_to_lines;
pub use document::{document_to_lines, is_document};
pub(crate) use export::LineWriter;
pub use foreign::ForeignContext;
pub(crate) use foreign::import_statements;
pub(crate) use record::{
    Base64Bytes, ClusterLine, GroupLine, LogLine, MemoryLine, Record, RelationLine, SourceLine,
    TombstoneLine, VariantLine, VectorLine,
};
pub use screen::LineScreen;
