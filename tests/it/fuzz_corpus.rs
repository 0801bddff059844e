//! Replays the corpora of the fuzz targets: every input in them is handled correctly.
//!
//! With `LOCI_FUZZ_SECONDS`, each corpus is also mutated for so long. Not here: the guided search
//! for new inputs (`tests/fuzz`).

#[path = "../fuzz/invariants/mod.rs"]
mod invariants;

use crate::proof::mutation::{corpus, mutated};
use crate::proof::random::Random;
use crate::proof::setting;
use invariants::{TARGETS, Target};
use nix::time::ClockId;
use std::time::{Duration, Instant};

/// Checks one input; a failure names it.
fn check((name, target): Target, input: &str, bytes: &[u8]) {
    if let Err(panic) = std::panic::catch_unwind(|| target(bytes)) {
        eprintln!("{name} failed on {input}: {:?}", String::from_utf8_lossy(bytes));
        std::panic::resume_unwind(panic);
    }
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
        for (name, bytes) in &inputs {
            check(target, name, bytes);
        }
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

/// Returns the time of the processor that this thread has used.
fn used() -> Duration {
    nix::time::clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)
        .expect("the clock is readable")
        .into()
}

/// Returns the shortest of three times for the screening of a text.
fn time_to_screen(text: &str) -> Duration {
    let run = || {
        let start = used();
        invariants::redact::check(text.as_bytes());
        used().saturating_sub(start)
    };
    (0..3).map(|_| run()).min().expect("it ran")
}

#[test]
fn screening_takes_time_in_proportion_to_the_text() {
    let floor = Duration::from_millis(2);
    for part in ["<private>", "a@b.", "password: ", "\"'`", "4111 ", "-----BEGIN ", "<p", "eyJ."] {
        let (short, long) = (part.repeat(4096 / part.len()), part.repeat(32768 / part.len()));
        let (short, long) = (time_to_screen(&short).max(floor), time_to_screen(&long));
        println!("{part:?}: {short:?} for 4 KiB, {long:?} for 32 KiB");
        // Eight times the text; a square would be sixty-four times.
        assert!(long < short * 32, "{part:?}: {short:?} for 4 KiB, {long:?} for 32 KiB");
    }
}
