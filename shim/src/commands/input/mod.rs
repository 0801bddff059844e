//! What a person gives: parts of ids, texts from standard input or an editor, and the expression of `--where`.

pub(crate) mod editor;
pub mod memory_id;
pub(crate) mod text;
pub(crate) mod where_expression;

use crate::output::Problem;
use loci_proto::error::Failure;

/// Returns an argument of a verb, or which one is refused and why.
///
/// # Errors
/// The reason.
pub fn argument<T>(name: &str, value: Result<T, String>) -> Result<T, Problem> {
    value.map_err(|reason| Failure::invalid(name, reason).into())
}
