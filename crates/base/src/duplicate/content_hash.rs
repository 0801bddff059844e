//! The hash of a memory's text: finds equal texts, and texts that a disk has changed.
//!
//! It is stored with each memory, so it must never change: every stored text would look damaged.

use crate::duplicate::normalised;

/// Bytes of the hash.
pub const HASH_BYTES: usize = 16;

/// Returns the BLAKE3 hash of the normalised text, cut to 128 bits.
pub fn hash(content: &str) -> [u8; HASH_BYTES] {
    let digest = blake3::hash(normalised(content).as_bytes());
    let mut short = [0; HASH_BYTES];
    short.copy_from_slice(&digest.as_bytes()[..HASH_BYTES]);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_text_never_changes() {
        let number = |text| u128::from_be_bytes(hash(text));
        assert_eq!(number(" The  kettle\nis hot. "), number("The kettle is hot"));
        assert_eq!(number("The kettle is hot"), 0xc949_a8e2_a0d8_d0ff_c3c3_75c5_8dd1_701e);
    }
}
