//! Parsing of argument values that need more than the parser: ids, texts from standard input, and the expression of `--where`.

pub mod memory_id;
pub(crate) mod text;
pub(crate) mod where_expression;
