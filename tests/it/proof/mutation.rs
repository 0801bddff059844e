//! The corpora of the fuzz targets, and random changes of their inputs. Not here: any target.

use crate::proof::random::Random;
use std::path::Path;

/// The most bytes of a changed input.
const MAX_BYTES: usize = 8192;

/// An input with its name.
pub type Input = (String, Vec<u8>);

/// Returns the inputs of a corpus, in the order of their names.
pub fn corpus(name: &str) -> Vec<Input> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut inputs: Vec<Input> = std::fs::read_dir(&folder)
        .expect("the folder can be listed")
        .map(|entry| {
            let entry = entry.expect("the entry can be read");
            let bytes = std::fs::read(entry.path()).expect("the file can be read");
            (entry.file_name().to_string_lossy().into_owned(), bytes)
        })
        .collect();
    inputs.sort();
    inputs
}

/// Changes one of the inputs: bytes, ranges, or a part of another input.
pub fn mutated(random: &mut Random, inputs: &[Input]) -> Vec<u8> {
    let mut bytes = inputs[random.below(inputs.len())].1.clone();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(32)).min(bytes.len());
        match random.below(6) {
            0 => bytes.insert(at, random.next().to_le_bytes()[0]),
            1 => drop(bytes.drain(at..end)),
            2 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            3 => {
                let part = bytes[at..end].repeat(1 + random.below(20));
                bytes.splice(at..at, part).for_each(drop);
            }
            4 => {
                let other = &inputs[random.below(inputs.len())].1;
                let from = random.below(other.len() + 1);
                bytes.splice(at..end, other[from..].iter().copied()).for_each(drop);
            }
            _ => {
                let special = ["\"", "{", "]", "\\u0000", "-1", "1e999", "null", "\n", "\u{202e}"];
                let part = special[random.below(special.len())].bytes();
                bytes.splice(at..end, part).for_each(drop);
            }
        }
    }
    bytes.truncate(MAX_BYTES);
    bytes
}
