//! The libFuzzer target `arguments`. The checks are in `invariants/arguments.rs`.

#![no_main]

#[path = "../invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::arguments::check(bytes));
