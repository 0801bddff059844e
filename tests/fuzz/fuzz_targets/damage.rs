//! The libFuzzer target `damage`. The checks are in `invariants/damage.rs`.

#![no_main]

#[path = "../invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::damage::check(bytes));
