//! Replays the corpora of the fuzz targets: every input in them is handled correctly.
//!
//! With `LOCI_FUZZ_SECONDS`, each corpus is also mutated for so long. Not here: the guided search
//! for new inputs (`tests/fuzz`).

#[path = "../fuzz/invariants/mod.rs"]
mod invariants;

use crate::proof::random::Random;
use crate::proof::setting;
use invariants::{TARGETS, Target};
use std::path::Path;
use std::time::{Duration, Instant};

/// The most that a mutated input may have of bytes.
const MAX_BYTES: usize = 8192;

/// Returns the inputs of a corpus with their names.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut inputs: Vec<(String, Vec<u8>)> = std::fs::read_dir(&folder)
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

/// Checks one input; a failure names it.
fn check((name, target): Target, input: &str, bytes: &[u8]) {
    if let Err(panic) = std::panic::catch_unwind(|| target(bytes)) {
        eprintln!("{name} failed on {input}: {:?}", String::from_utf8_lossy(bytes));
        std::panic::resume_unwind(panic);
    }
}

/// Changes an input: bytes, ranges, or a part of another input.
fn mutated(random: &mut Random, inputs: &[(String, Vec<u8>)]) -> Vec<u8> {
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

fn mutate(target: Target, seconds: usize) {
    let inputs = corpus(target.0);
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(1, |time| u64::from(time.subsec_nanos()));
    let (mut random, start) = (Random::new(seed), Instant::now());
    let mut tried = 0;
    while start.elapsed() < Duration::from_secs(seconds as u64) {
        let input = mutated(&mut random, &inputs);
        check(target, &format!("seed {seed}, input {tried}"), &input);
        tried += 1;
    }
    println!("{}: {tried} inputs in {seconds} s, seed {seed}", target.0);
}

#[test]
fn every_input_of_the_corpora_keeps_the_invariants() {
    for target in TARGETS {
        let inputs = corpus(target.0);
        assert!(inputs.len() >= 20, "only {} inputs for {}", inputs.len(), target.0);
        inputs.iter().for_each(|(name, bytes)| check(target, name, bytes));
    }
}

#[test]
fn mutated_inputs_keep_the_invariants() {
    // A short run checks the mutation itself; a long one searches.
    let seconds = setting("LOCI_FUZZ_SECONDS", 1);
    std::thread::scope(|scope| {
        for target in TARGETS {
            scope.spawn(move || mutate(target, seconds));
        }
    });
}

/// Returns the shortest of three times for the screening of a text.
fn time_to_screen(text: &str) -> Duration {
    let run = || {
        let start = Instant::now();
        invariants::redact::check(text.as_bytes());
        start.elapsed()
    };
    (0..3).map(|_| run()).min().expect("it ran")
}

#[test]
fn screening_takes_time_in_proportion_to_the_text() {
    let floor = Duration::from_millis(2);
    for part in ["<private>", "a@b.", "password: ", "\"'`", "4111 ", "-----BEGIN ", "<p", "eyJ."] {
        let (short, long) = (part.repeat(4096 / part.len()), part.repeat(32768 / part.len()));
        let (short, long) = (time_to_screen(&short).max(floor), time_to_screen(&long));
        // Eight times the text; a square would be sixty-four times.
        assert!(long < short * 32, "{part:?}: {short:?} for 4 KiB, {long:?} for 32 KiB");
    }
}
