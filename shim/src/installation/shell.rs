//! Words of a shell command as a person can paste them.

use std::path::Path;

/// Returns the word, in quotes if the shell would read it otherwise.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns a path as [`quoted`] does.
#[must_use]
pub fn quoted_path(path: &Path) -> String {
    quoted(&path.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_shell_would_change_is_quoted() {
        assert_eq!(quoted("/home/anna/.local/bin/loci"), "/home/anna/.local/bin/loci");
        assert_eq!(quoted("/Users/Anna K"), "'/Users/Anna K'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted("$HOME"), "'$HOME'");
        assert_eq!(quoted(""), "''");
    }
}
