//! Input.

pub mod memory_id;
pub(crate) mod text;
pub(crate) mod where_expression;
