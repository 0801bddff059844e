//! Generated notes and questions: clustered vectors, words by Zipf's law, sign codes that vary
//! slightly by position.
//!
//! Equal numbers of notes give equal notes.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers that are made up to be small"
)]

use loci_engine::model::encoding::{DIMENSIONS, Embedding, QueryEncoding, QueryWord, SignCode};

pub const MODEL: &str = "made-up";

const TOPICS: u64 = 200;
const SUBTOPICS: u64 = 25;
/// Average number of consecutive notes on one subtopic.
const RUN_LENGTH: u64 = 10;
const VOCABULARY: u64 = 60_000;
const STOP_WORDS: [&str; 12] =
    ["the", "of", "and", "to", "in", "is", "for", "that", "was", "on", "with", "it"];

/// A pseudo-random generator: splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to but not including `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number from 0 up to but not including 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number below `bound`, approximately by Zipf's law with exponent 1.
    fn zipf(&mut self, bound: u64) -> u64 {
        ((bound as f64).powf(self.unit()) as u64).saturating_sub(1)
    }

    /// An approximately normal number.
    fn normal(&mut self) -> f32 {
        let (a, b) = (self.next(), self.next());
        let sum: u32 = (0..4)
            .map(|i| ((a >> (16 * i)) & 0xffff) as u32 + ((b >> (16 * i)) & 0xffff) as u32)
            .sum();
        (f64::from(sum) / 65_536.0 - 4.0) as f32 / 0.816_5
    }
}

/// Returns a vector of about length 1 in a random direction.
fn direction(seed: u64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..DIMENSIONS).map(|_| random.normal() / (DIMENSIONS as f32).sqrt()).collect()
}

/// Returns the weighted sum of vectors, normalised.
fn mix(parts: &[(f32, &[f32])]) -> Embedding {
    let sum = (0..DIMENSIONS)
        .map(|i| parts.iter().map(|(weight, part)| weight * part[i]).sum())
        .collect();
    Embedding::new(sum).expect("the vector is not zero")
}

pub struct Note {
    pub text: String,
    pub vector: Embedding,
    pub codes: Vec<SignCode>,
}

/// A question that a note answers.
pub struct Asking {
    pub text: String,
    pub encoding: QueryEncoding,
}

/// A set of notes, each generated on demand.
pub struct Notes {
    /// The subtopic of each note.
    subtopics: Vec<u64>,
    /// The vector that all notes have in common.
    common: Vec<f32>,
    topic_vectors: Vec<Vec<f32>>,
    subtopic_vectors: Vec<Vec<f32>>,
}

impl Notes {
    pub fn new(count: usize) -> Self {
        let mut random = Random::new(count as u64);
        let mut subtopic = 0;
        let subtopics = (0..count)
            .map(|_| {
                if random.below(RUN_LENGTH) == 0 {
                    subtopic = random.zipf(TOPICS) * SUBTOPICS + random.below(SUBTOPICS);
                }
                subtopic
            })
            .collect();
        Self {
            subtopics,
            common: direction(1),
            topic_vectors: (0..TOPICS).map(|topic| direction(1_000 + topic)).collect(),
            subtopic_vectors: (0..TOPICS * SUBTOPICS)
                .map(|subtopic| direction(1_000_000 + subtopic))
                .collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.subtopics.len()
    }

    pub fn note(&self, number: usize) -> Note {
        let mut random = Random::new(0x0a11_0000_0000 + number as u64);
        let subtopic = self.subtopics[number];
        let words = words(subtopic, &mut random);
        let own = direction(0x0b22_0000_0000 + number as u64);
        let vector = mix(&[
            (0.42, &self.common),
            (0.45, &self.topic_vectors[(subtopic / SUBTOPICS) as usize]),
            (0.45, &self.subtopic_vectors[subtopic as usize]),
            (0.65, &own),
        ]);
        let codes = words
            .iter()
            .filter_map(|word| word.strip_prefix('w')?.parse().ok())
            .map(|word| code(word, &mut random))
            .collect();
        Note { text: format!("{}.", words.join(" ")), vector, codes }
    }

    /// Returns questions about the notes that `tables::assign_notes` assigns with this percentage.
    pub fn questions(&self, count: usize, percent: usize) -> Vec<Asking> {
        let mut random = Random::new(7);
        let eligible = (self.len() * percent / 100).max(1) as u64;
        (0..count)
            .map(|_| {
                self.question((random.below(eligible) as usize) * (100 / percent), random.next())
            })
            .collect()
    }

    /// Returns a question of five words of the note and three frequent words, with a nearby vector.
    fn question(&self, number: usize, seed: u64) -> Asking {
        let mut random = Random::new(seed);
        let note = self.note(number.min(self.len() - 1));
        let own: Vec<&str> = note
            .text
            .split([' ', '.'])
            .filter(|word| word.starts_with('w') && word.len() > 3)
            .take(5)
            .collect();
        let mut words: Vec<String> = own.iter().map(|word| (*word).to_owned()).collect();
        for i in 0..3 {
            words.insert(2 * i, STOP_WORDS[random.below(12) as usize].to_owned());
        }
        let noise = direction(seed);
        let vector = mix(&[(1.0, note.vector.as_slice()), (0.6, &noise)]);
        let coded = own.iter().filter_map(|word| {
            let code = code(word.strip_prefix('w')?.parse().ok()?, &mut random);
            Some(QueryWord { text: (*word).to_owned(), code, legibility: 1.0 })
        });
        let coded = coded.collect();
        Asking {
            text: format!("{}?", words.join(" ")),
            encoding: QueryEncoding {
                model: MODEL.into(),
                vector,
                words: coded,
                has_sign_codes: true,
            },
        }
    }
}

/// Returns about twenty words: a third are frequent words, a third words of the subtopic.
fn words(subtopic: u64, random: &mut Random) -> Vec<String> {
    let count = 12 + random.below(17);
    let word = |random: &mut Random| match random.below(6) {
        0 | 1 => STOP_WORDS[random.zipf(12) as usize].to_owned(),
        2 | 3 => format!("w{}", 100 + subtopic * 40 + random.below(40)),
        _ => format!("w{}", 100 + random.zipf(VOCABULARY)),
    };
    (0..count).map(|_| word(random)).collect()
}

/// Returns the sign code of a word in a context: every eighth sign on average differs from the
/// usual code of the word.
fn code(word: u64, random: &mut Random) -> SignCode {
    let mut usual = Random::new(0x0c33_0000_0000 + word);
    let mut bytes = [0_u8; DIMENSIONS / 8];
    for eight in bytes.chunks_exact_mut(8) {
        let flipped = random.next() & random.next() & random.next();
        eight.copy_from_slice(&(usual.next() ^ flipped).to_le_bytes());
    }
    SignCode::from_bytes(&bytes)
}
