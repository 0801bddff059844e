//! What a person gives: parts of ids, texts from standard input or an editor, and the expression of `--where`.

pub(crate) mod editor;
pub mod memory_id;
pub(crate) mod text;
pub(crate) mod where_expression;
