//! libFuzzer's way in: any bytes as one line of an agent. What must hold is in `invariants.rs`.

#![no_main]

#[path = "../invariants.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|line: &[u8]| invariants::hold(line));
