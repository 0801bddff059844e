//! Argument values that clap cannot parse alone: parts of ids, texts from standard input, and the expression of `--where`.

pub mod memory_id;
pub(crate) mod text;
pub(crate) mod where_expression;
