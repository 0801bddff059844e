//! The libFuzzer target `query`. The checks are in `invariants/query.rs`.

#![no_main]

#[path = "../invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::query::check(bytes));
