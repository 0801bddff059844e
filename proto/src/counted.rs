//! Writes a number with its noun: `1 line`, `2 lines`.

use std::fmt::Display;

/// Returns a number with its noun in the singular or plural.
#[must_use]
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(
    count: N,
    one: &str,
    many: &str,
) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_every_other_number_plural() {
        assert_eq!(counted(1_usize, "memory", "memories"), "1 memory");
        assert_eq!(counted(0_u64, "memory", "memories"), "0 memories");
        assert_eq!(counted(2_usize, "line", "lines"), "2 lines");
    }
}
