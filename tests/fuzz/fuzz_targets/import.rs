//! The libFuzzer target `import`. The checks are in `invariants/import.rs`.

#![no_main]

#[path = "../invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::import::check(bytes));
