//! Fake encoder for tests, fault injection and soak runs: vectors of hashed words, or of NaN.
//!
//! Compiled only for tests and with the feature `fault-embedder`, where `LOCI_FAULT_EMBEDDER=hash|nan` selects it. Not in release builds.

use crate::embedding::chunk::{CHUNK_TOKENS, Chunk, ChunkOutput, OVERLAP, TextKind};
use crate::embedding::encoder::{Encoder, EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{Fingerprint, LoadError};
use crate::embedding::pinned_files::MODEL_ID;
use loci_engine::model::encoding::DIMENSIONS;
use std::sync::Arc;

/// Number of dimensions that one word changes.
const DIMENSIONS_PER_WORD: u64 = 16;

/// The vectors that the encoder returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FakeEncoder {
    /// Texts with the same words have similar vectors.
    Hash,
    /// Every vector is NaN, so every store fails.
    Nan,
}

impl FakeEncoder {
    /// Returns the encoder that `LOCI_FAULT_EMBEDDER` selects.
    #[cfg(feature = "fault-embedder")]
    pub fn from_environment() -> Option<Self> {
        match std::env::var("LOCI_FAULT_EMBEDDER").ok()?.as_str() {
            "hash" => Some(Self::Hash),
            "nan" => Some(Self::Nan),
            _ => None,
        }
    }
}

impl EncoderSource for FakeEncoder {
    fn id(&self) -> Option<Arc<str>> {
        Some(MODEL_ID.into())
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    fn load(&self) -> Result<LoadedEncoder, LoadError> {
        let warning = "LOCI_FAULT_EMBEDDER is set: vectors are fake".to_owned();
        Ok(LoadedEncoder {
            encoder: Box::new(*self),
            sha256: "fault-embedder".to_owned(),
            warnings: vec![warning],
        })
    }
}

impl Encoder for FakeEncoder {
    fn id(&self) -> Arc<str> {
        MODEL_ID.into()
    }

    fn chunks(&self, text: &str, _: TextKind) -> Result<Vec<Chunk>, String> {
        // No word gets a token sketch; a memory without sketches is valid.
        let chunk = |ids: Vec<u32>| Chunk { ids, words: Vec::new() };
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut ids: Vec<u32> = words.map(|word| hash(word.to_lowercase().as_bytes())).collect();
        // A text without words must not get a zero vector.
        ids.push(0);
        let window = CHUNK_TOKENS - 2;
        if ids.len() <= window {
            return Ok(vec![chunk(ids)]);
        }
        let starts = (0..ids.len() - OVERLAP).step_by(window - OVERLAP);
        Ok(starts.map(|start| chunk(ids[start..ids.len().min(start + window)].to_vec())).collect())
    }

    fn encode(&mut self, batch: &[&Chunk]) -> Result<Vec<ChunkOutput>, String> {
        let vector = |chunk: &Chunk| match self {
            Self::Nan => vec![f32::NAN; DIMENSIONS],
            Self::Hash => hashed_bag_of_words(&chunk.ids),
        };
        Ok(batch
            .iter()
            .map(|chunk| ChunkOutput { vector: vector(chunk), codes: Vec::new() })
            .collect())
    }
}

/// FNV-1a, 32 bits.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// Adds ±1 to some dimensions for each word, chosen by the word's hash.
fn hashed_bag_of_words(ids: &[u32]) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    for id in ids {
        for number in 0..DIMENSIONS_PER_WORD {
            let bits = mix(u64::from(*id) << 8 | number);
            let dimension = usize::try_from(bits >> 1).unwrap_or(0) % DIMENSIONS;
            vector[dimension] += if bits & 1 == 0 { 1.0 } else { -1.0 };
        }
    }
    vector
}

/// The finaliser of splitmix64.
fn mix(seed: u64) -> u64 {
    let mut bits = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_engine::model::encoding::Embedding;

    fn embed(text: &str) -> Embedding {
        let chunks =
            FakeEncoder::Hash.chunks(text, TextKind::Document).expect("the text has chunks");
        let outputs = FakeEncoder::Hash.encode(&[&chunks[0]]).expect("the chunk is encoded");
        Embedding::new(outputs.into_iter().next().expect("the batch has one vector").vector)
            .expect("the vector is valid")
    }

    #[test]
    fn texts_that_share_words_have_similar_vectors() {
        let similar =
            embed("deploy the billing service").cosine(&embed("The billing service: deploy!"));
        let unrelated = embed("deploy the billing service").cosine(&embed("cats sleep all day"));
        assert!(similar > 0.99 && unrelated < 0.5, "{similar} {unrelated}");
    }

    #[test]
    fn a_long_text_is_split_into_overlapping_chunks() {
        let text = "word ".repeat(600);
        assert_eq!(
            FakeEncoder::Hash.chunks(&text, TextKind::Document).expect("the text has chunks").len(),
            3
        );
    }
}
