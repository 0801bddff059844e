//! The libFuzzer target: any bytes as one line of an agent. The checks are in `invariants.rs`.

#![no_main]

#[path = "../invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|line: &[u8]| invariants::check(line));
