//! Measures what a search compares for each memory: the Hamming distance of two codes, and the first stage of a large store.
//!
//!     cargo run --release --example distances
//!
//! Prints one line for each figure: its name, a tab, nanoseconds of one comparison. Not here: whether the kernels are right (their tests).

use loci_base::kernels::{CoarseQuery, EightCodes, Signs};
use loci_base::model::sign_code::{DIMENSIONS, SIGN_CODE_BYTES, SignCode};
use std::hint::black_box;
use std::time::Instant;

/// Codes, or vectors, that are compared in one round. Their 192 KiB of sign bits stay in the processor's cache.
const COUNT: usize = 4096;
/// Rounds; the median counts.
const ROUNDS: usize = 101;

fn main() {
    let codes: Vec<SignCode> = (0..COUNT as u64).map(code).collect();
    let own = code(1 << 40);
    measure("one by one", COUNT, || {
        black_box(&codes).iter().map(|other| u64::from(own.distance(other))).sum::<u64>()
    });
    let query: EightCodes = std::array::from_fn(|lane| {
        std::array::from_fn(|at| bits((1 << 50) + (lane * 8 + at) as u64))
    });
    measure("eight at once", 8 * COUNT, || {
        loci_base::kernels::nearest(black_box(&query), 8, black_box(&codes))
    });
    let numbers: [i8; DIMENSIONS] =
        std::array::from_fn(|at| i8::try_from(bits(at as u64) % 15).unwrap_or(0) - 7);
    let coarse = CoarseQuery::new(&numbers);
    let signs: Vec<Signs> = (0..COUNT / 64).map(signs).collect();
    let factors = [0.5; 64];
    measure("first stage", COUNT, || {
        for signs in black_box(&signs) {
            let sums = loci_base::kernels::sums(black_box(&coarse), signs);
            black_box(loci_base::kernels::scaled(&sums, black_box(&factors), 0.1, coarse.sum()));
        }
    });
}

/// Prints the median time of one of `count` comparisons.
fn measure<T>(name: &str, count: usize, mut work: impl FnMut() -> T) {
    let mut round = || {
        let start = Instant::now();
        black_box(work());
        start.elapsed().as_nanos() as f64 / count as f64
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    times.sort_by(f64::total_cmp);
    println!("{name}\t{:.2}", times[ROUNDS / 2]);
}

/// The sign bits of 64 vectors.
fn signs(block: usize) -> Signs {
    std::array::from_fn(|of| {
        std::array::from_fn(|row| bits(((block * 48 + of) * 64 + row) as u64).to_le_bytes()[0])
    })
}

fn code(seed: u64) -> SignCode {
    let mut bytes = [0; SIGN_CODE_BYTES];
    for (lane, eight) in (0..).zip(bytes.chunks_exact_mut(8)) {
        eight.copy_from_slice(&bits(seed * 31 + lane).to_le_bytes());
    }
    SignCode::from_bytes(&bytes)
}

/// Mixes the bits of a number.
fn bits(seed: u64) -> u64 {
    let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}
