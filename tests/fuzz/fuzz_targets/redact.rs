//! The libFuzzer target `redact`. The checks are in `invariants/redact.rs`.

#![no_main]

#[path = "../invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::redact::check(bytes));
