//! Sign codes: the signs of a word's vector in the model, one bit per dimension.

/// Number of values of one embedding.
pub const DIMENSIONS: usize = 384;

/// 64-bit words of one code.
pub(crate) const LANES: usize = DIMENSIONS / 64;

/// The signs of a word's vector in the last layer of the model, one bit per dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SignCode([u64; LANES]);

/// Bytes of a code in the database.
pub const SIGN_CODE_BYTES: usize = DIMENSIONS / 8;

impl SignCode {
    /// Returns the signs of [`DIMENSIONS`] numbers; zero counts as positive.
    #[must_use]
    pub fn of(vector: &[f32]) -> Self {
        let mut lanes = [0; LANES];
        for (dimension, value) in vector.iter().take(DIMENSIONS).enumerate() {
            lanes[dimension / 64] |= u64::from(*value >= 0.0) << (dimension % 64);
        }
        Self(lanes)
    }

    /// Returns the Hamming distance of two codes, 0 to 384.
    #[must_use]
    pub fn distance(&self, other: &Self) -> u32 {
        self.0.iter().zip(other.0).map(|(own, other)| (own ^ other).count_ones()).sum()
    }

    /// Returns the bits, 64 at a time.
    pub fn lanes(&self) -> &[u64; LANES] {
        &self.0
    }

    /// Returns the stored form.
    pub fn bytes(&self) -> [u8; SIGN_CODE_BYTES] {
        let mut bytes = [0; SIGN_CODE_BYTES];
        for (lane, eight) in self.0.iter().zip(bytes.chunks_exact_mut(8)) {
            eight.copy_from_slice(&lane.to_le_bytes());
        }
        bytes
    }

    /// Reads the stored form.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; SIGN_CODE_BYTES]) -> Self {
        let mut lanes = [0; LANES];
        for (lane, eight) in lanes.iter_mut().zip(bytes.chunks_exact(8)) {
            *lane = eight.iter().rev().fold(0, |lane, byte| lane << 8 | u64::from(*byte));
        }
        Self(lanes)
    }
}
