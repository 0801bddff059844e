//! Generated notes and questions: clustered vectors, words by Zipf's law, sign codes that vary
//! slightly by position.
//!
//! The same number of notes always gives the same notes.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers that are made up to be small"
)]

use loci_engine::model::encoding::{DIMENSIONS, Embedding, QueryEncoding, SignCode};

pub const MODEL: &str = "made-up";

const TOPICS: u64 = 200;
const SUBTOPICS: u64 = 25;
/// Average number of consecutive notes on one subtopic.
const RUN: u64 = 10;
const VOCABULARY: u64 = 60_000;
const STOP_WORDS: [&str; 12] =
    ["the", "of", "and", "to", "in", "is", "for", "that", "was", "on", "with", "it"];

/// Splitmix64, a small generator of sufficient quality.
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Small numbers are more likely, approximately by Zipf's law with exponent 1.
    fn zipf(&mut self, bound: u64) -> u64 {
        ((bound as f64).powf(self.share()) as u64).saturating_sub(1)
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

fn direction(seed: u64) -> Vec<f32> {
    let mut chance = Chance::new(seed);
    (0..DIMENSIONS).map(|_| chance.normal() / (DIMENSIONS as f32).sqrt()).collect()
}

fn mix(parts: &[(f32, &[f32])]) -> Embedding {
    let sum = (0..DIMENSIONS)
        .map(|i| parts.iter().map(|(weight, part)| weight * part[i]).sum())
        .collect();
    Embedding::new(sum).expect("has a direction")
}

/// A note.
pub struct Note {
    pub text: String,
    pub vector: Embedding,
    pub codes: Vec<SignCode>,
}

/// A question that a note answers.
pub struct Asking {
    pub text: String,
    pub asked: QueryEncoding,
}

/// An iterator of notes, each generated on demand.
pub struct Notes {
    topics: Vec<u64>,
    all: Vec<f32>,
    of_topic: Vec<Vec<f32>>,
    of_subtopic: Vec<Vec<f32>>,
}

impl Notes {
    pub fn new(count: usize) -> Self {
        let mut chance = Chance::new(count as u64);
        let mut topic = 0;
        let topics = (0..count)
            .map(|_| {
                if chance.below(RUN) == 0 {
                    topic = chance.zipf(TOPICS) * SUBTOPICS + chance.below(SUBTOPICS);
                }
                topic
            })
            .collect();
        Self {
            topics,
            all: direction(1),
            of_topic: (0..TOPICS).map(|topic| direction(1_000 + topic)).collect(),
            of_subtopic: (0..TOPICS * SUBTOPICS)
                .map(|subtopic| direction(1_000_000 + subtopic))
                .collect(),
        }
    }

    pub fn len(&self) -> usize {
        self.topics.len()
    }

    pub fn note(&self, number: usize) -> Note {
        let mut chance = Chance::new(0x0a11_0000_0000 + number as u64);
        let topic = self.topics[number];
        let words = words(topic, &mut chance);
        let own = direction(0x0b22_0000_0000 + number as u64);
        let vector = mix(&[
            (0.42, &self.all),
            (0.45, &self.of_topic[(topic / SUBTOPICS) as usize]),
            (0.45, &self.of_subtopic[topic as usize]),
            (0.65, &own),
        ]);
        let codes = words
            .iter()
            .filter_map(|word| word.strip_prefix('w')?.parse().ok())
            .map(|word| code(word, &mut chance))
            .collect();
        Note { text: format!("{}.", words.join(" ")), vector, codes }
    }

    /// Questions about notes within this percentage of all.
    pub fn questions(&self, count: usize, share: usize) -> Vec<Asking> {
        let mut chance = Chance::new(7);
        let among = (self.len() * share / 100).max(1) as u64;
        (0..count)
            .map(|_| self.question((chance.below(among) as usize) * (100 / share), chance.next()))
            .collect()
    }

    /// Five words of the note, three frequent words, and a nearby vector.
    fn question(&self, number: usize, seed: u64) -> Asking {
        let mut chance = Chance::new(seed);
        let note = self.note(number.min(self.len() - 1));
        let own: Vec<&str> = note
            .text
            .split([' ', '.'])
            .filter(|word| word.starts_with('w') && word.len() > 3)
            .take(5)
            .collect();
        let mut words: Vec<String> = own.iter().map(|word| (*word).to_owned()).collect();
        for at in 0..3 {
            words.insert(2 * at, STOP_WORDS[chance.below(12) as usize].to_owned());
        }
        let noise = direction(seed);
        let vector = mix(&[(1.0, note.vector.as_slice()), (0.6, &noise)]);
        let coded = own.iter().filter_map(|word| {
            Some(((*word).to_owned(), code(word.strip_prefix('w')?.parse().ok()?, &mut chance)))
        });
        let coded = coded.collect();
        Asking {
            text: format!("{}?", words.join(" ")),
            asked: QueryEncoding { vector, words: coded },
        }
    }
}

/// About twenty words: a third frequent words, and of the rest every second one of the topic.
fn words(topic: u64, chance: &mut Chance) -> Vec<String> {
    let count = 12 + chance.below(17);
    let word = |chance: &mut Chance| match chance.below(6) {
        0 | 1 => STOP_WORDS[chance.zipf(12) as usize].to_owned(),
        2 | 3 => format!("w{}", 100 + topic * 40 + chance.below(40)),
        _ => format!("w{}", 100 + chance.zipf(VOCABULARY)),
    };
    (0..count).map(|_| word(chance)).collect()
}

/// The sign code of a word in context: every eighth sign differs from the word's own.
fn code(word: u64, chance: &mut Chance) -> SignCode {
    let mut usual = Chance::new(0x0c33_0000_0000 + word);
    let mut bytes = [0_u8; DIMENSIONS / 8];
    for eight in bytes.chunks_exact_mut(8) {
        let turned = chance.next() & chance.next() & chance.next();
        eight.copy_from_slice(&(usual.next() ^ turned).to_le_bytes());
    }
    SignCode::from_bytes(&bytes)
}
