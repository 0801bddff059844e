//! The libFuzzer target `lines`: any bytes as one line of an agent. The checks are in `invariants/lines.rs`.

#![no_main]

#[path = "../invariants/mod.rs"]
mod invariants;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| invariants::lines::check(bytes));
