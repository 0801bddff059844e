//! [`Finding`]: a secret in a text, as the rules report it.

use std::ops::Range;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// For example `github-token`.
    pub kind: &'static str,
    /// Bytes of the text.
    pub range: Range<usize>,
}
