//! The first bytes of an encrypted file: [`MAGIC`] and the id of the key.
//!
//! `SQLCipher` keeps its salt there, and loci sets the salt. A missing key is recognised by these
//! bytes before the file is opened, and is not mistaken for damage. Not here: the keys (`keys`).

use std::fmt;
use std::path::Path;

/// Bytes that `SQLCipher` writes in the place of SQLite's own first bytes.
pub(crate) const HEADER_BYTES: usize = 16;
/// The first bytes of a file that loci has encrypted.
pub(crate) const MAGIC: &[u8; 8] = b"loci enc";

/// The page size of an encrypted file. Its header, which has it, is encrypted.
pub(crate) const PAGE_BYTES: u32 = 4096;

/// The id of a key: the first bytes of a hash of it, which tell nothing of the key.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId(pub(crate) [u8; 8]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the key with which a file was encrypted, from its first bytes; `None` if it is not
/// encrypted.
pub(crate) fn key_id_in(first: &[u8]) -> Option<KeyId> {
    let id = first.get(..HEADER_BYTES)?.strip_prefix(MAGIC)?;
    id.try_into().ok().map(KeyId)
}

/// Returns the key with which a file was encrypted; `None` if it is not encrypted or cannot be read.
///
/// Opens and closes the file, which releases SQLite's locks of this process on it: not for a
/// database that is open.
#[must_use]
pub fn key_id_of(path: &Path) -> Option<KeyId> {
    use std::io::Read;
    let mut first = [0; HEADER_BYTES];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first)).ok()?;
    key_id_in(&first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encrypted_file_names_its_key() {
        let id = key_id_in(b"loci enc\x01\x02\x03\x04\x05\x06\x07\x08rest").expect("is encrypted");
        assert_eq!(id.to_string(), "0102030405060708");
        assert_eq!(key_id_in(b"SQLite format 3\0"), None);
        assert_eq!(key_id_in(b"loci enc"), None);
    }
}
