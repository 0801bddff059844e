//! What tests of several crates need: a moment, vectors with chosen cosines, encodings, poisoned texts, and
//! the record of skipped tests.
//!
//! Not here: stores (`tests::fixture` of the engine), programs (`tests/it`).

pub mod red_team_texts;
pub mod skipped;

use loci_base::model::encoding::{
    DIMENSIONS, Embedding, QueryEncoding, QueryWord, SIGN_CODE_BYTES, SignCode,
};
use loci_base::model::time::Timestamp;

/// A moment for tests: 2026-02-01T00:00:00Z.
pub const T0: Timestamp = Timestamp(1_769_904_000_000);

/// Returns the unit vector along one axis.
pub fn axis(number: usize) -> Embedding {
    between_axes(number, number, 1.0)
}

/// Returns the unit vector in the plane of the axes `a` and `b` that has this cosine to axis `a`.
pub fn between_axes(a: usize, b: usize, cosine: f32) -> Embedding {
    let mut values = vec![0.0; DIMENSIONS];
    values[b] = (1.0 - cosine * cosine).max(0.0).sqrt();
    values[a] += cosine;
    Embedding::new(values).expect("the vector is not zero")
}

/// Returns a unit vector in which every number differs, and which is far from that of other seeds.
pub fn seeded_vector(seed: u64) -> Embedding {
    let mut bytes = [0; DIMENSIONS * 2];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    let number = |pair: &[u8]| f32::from(i16::from_le_bytes([pair[0], pair[1]])) + 0.5;
    Embedding::new(bytes.chunks_exact(2).map(number).collect()).expect("the vector is not zero")
}

/// Returns the sign code of a word: a hash, so that about half of the signs of two words differ.
pub fn code(word: &str) -> SignCode {
    let mut hash = blake3::Hasher::new().update(word.as_bytes()).finalize_xof();
    let mut bytes = [0; SIGN_CODE_BYTES];
    hash.fill(&mut bytes);
    SignCode::from_bytes(&bytes)
}

/// Returns the encoding of a query: the given vector, and all words with their sign codes.
pub fn query_encoding(text: &str, vector: Embedding) -> QueryEncoding {
    QueryEncoding {
        model: "test".into(),
        vector,
        words: text
            .split(' ')
            .map(|word| QueryWord {
                text: word.to_lowercase(),
                code: code(&word.to_lowercase()),
                legibility: 1.0,
            })
            .collect(),
        has_sign_codes: true,
    }
}
