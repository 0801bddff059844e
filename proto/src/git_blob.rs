//! The id that git gives to the content of a file.

use sha1::{Digest, Sha1};
use std::fmt::Write as _;

/// Returns the id of a content: the SHA-1 of its header and its bytes, in hexadecimal digits.
#[must_use]
pub fn id_of(content: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", content.len()));
    hash.update(content);
    hash.finalize().iter().fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_that_of_git() {
        assert_eq!(id_of(b"hello\n"), "ce013625030ba8dba906f756967f9e9ca394464a");
    }
}
