//! A stand-in for the model, for fault and soak runs only: vectors from hashed words, or NaN.
//!
//! Built with the feature `fault-embedder` and chosen by `LOCI_FAULT_EMBEDDER=hash|nan`. Not in any build that people get.

use crate::embedding::chunk::{OVERLAP, PIECE_TOKENS, Piece, Use};
use crate::embedding::model_files::{Fingerprint, LoadError};
use crate::embedding::onnx::Run;
use crate::embedding::worker::{Encoder, Opened, Source};
use loci_engine::model::encoding::DIMENSIONS;

/// Numbers that one word changes.
const MARKS: u64 = 16;

/// Which stand-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StandIn {
    /// Texts with the same words have near vectors.
    Hash,
    /// Every vector is NaN, so that every store fails.
    Nan,
}

impl StandIn {
    /// What `LOCI_FAULT_EMBEDDER` asks for.
    #[cfg(feature = "fault-embedder")]
    pub fn of_process() -> Option<Self> {
        match std::env::var("LOCI_FAULT_EMBEDDER").ok()?.as_str() {
            "hash" => Some(Self::Hash),
            "nan" => Some(Self::Nan),
            _ => None,
        }
    }
}

impl Source for StandIn {
    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    fn open(&self) -> Result<Opened, LoadError> {
        let warning = "LOCI_FAULT_EMBEDDER is set: vectors are made up".to_owned();
        Ok(Opened {
            encoder: Box::new(*self),
            sha256: "fault-embedder".to_owned(),
            warnings: vec![warning],
        })
    }
}

impl Encoder for StandIn {
    fn pieces(&self, text: &str, _: Use) -> Result<Vec<Piece>, String> {
        // Its words have no codes: a memory without words is complete.
        let piece = |ids: Vec<u32>| Piece { ids, words: Vec::new() };
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut ids: Vec<u32> = words.map(|word| hash(word.to_lowercase().as_bytes())).collect();
        // A text without words has a direction too.
        ids.push(0);
        let own = PIECE_TOKENS - 2;
        if ids.len() <= own {
            return Ok(vec![piece(ids)]);
        }
        let starts = (0..ids.len() - OVERLAP).step_by(own - OVERLAP);
        Ok(starts.map(|start| piece(ids[start..ids.len().min(start + own)].to_vec())).collect())
    }

    fn run(&mut self, batch: &[&Piece]) -> Result<Vec<Run>, String> {
        let vector = |piece: &Piece| match self {
            Self::Nan => vec![f32::NAN; DIMENSIONS],
            Self::Hash => bag(&piece.ids),
        };
        Ok(batch.iter().map(|piece| Run { vector: vector(piece), codes: Vec::new() }).collect())
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

fn bag(ids: &[u32]) -> Vec<f32> {
    let mut vector = vec![0.0; DIMENSIONS];
    for id in ids {
        for mark in 0..MARKS {
            let bits = mix(u64::from(*id) << 8 | mark);
            let place = usize::try_from(bits >> 1).unwrap_or(0) % DIMENSIONS;
            vector[place] += if bits & 1 == 0 { 1.0 } else { -1.0 };
        }
    }
    vector
}

/// The finisher of splitmix64.
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
        let pieces = StandIn::Hash.pieces(text, Use::Document).expect("has pieces");
        let runs = StandIn::Hash.run(&[&pieces[0]]).expect("runs");
        Embedding::new(runs.into_iter().next().expect("one vector").vector)
            .expect("has a direction")
    }

    #[test]
    fn texts_that_share_words_are_near() {
        let near =
            embed("deploy the billing service").cosine(&embed("The billing service: deploy!"));
        let far = embed("deploy the billing service").cosine(&embed("cats sleep all day"));
        assert!(near > 0.99 && far < 0.5, "{near} {far}");
    }

    #[test]
    fn a_long_text_has_windows() {
        let text = "word ".repeat(600);
        assert_eq!(StandIn::Hash.pieces(&text, Use::Document).expect("has pieces").len(), 3);
    }
}
