//! The hot loops of a recall, each compiled for the instruction sets of this processor.
//!
//! Every kernel is one safe function over a portable loop and variants for AVX2 and AVX-512. All
//! variants return the same bits. On aarch64 the compiler compiles the portable loop for NEON,
//! which every such processor has. Not here: the meaning of the numbers (`model::encoding`,
//! `ranking`, `index`).

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod types;

pub use types::{CoarseQuery, EightCodes, Signs, VectorBytes};

use crate::model::sign_code::SignCode;
use std::sync::LazyLock;

/// Size of a cache line in bytes.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// The instruction sets that a kernel can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

static LEVEL: LazyLock<Level> = LazyLock::new(level);

fn level() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let (has_foundation, has_vnni) = (
            std::arch::is_x86_feature_detected!("avx512f"),
            std::arch::is_x86_feature_detected!("avx512vnni"),
        );
        if has_foundation && has_vnni && std::arch::is_x86_feature_detected!("avx512vpopcntdq") {
            return Level::Avx512;
        }
        if std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("popcnt")
        {
            return Level::Avx2;
        }
    }
    Level::Portable
}

/// Defines one kernel: the safe function, and one with an explicit level for the tests.
macro_rules! kernel {
    ($(#[$doc:meta])* $visibility:vis fn $name:ident / $at_level:ident = $portable:path, $avx2:path, $avx512:path;
        ($($argument:ident: $type:ty),*) -> $returns:ty) => {
        $(#[$doc])*
        $visibility fn $name($($argument: $type),*) -> $returns {
            $at_level(*LEVEL, $($argument),*)
        }

        fn $at_level(level: Level, $($argument: $type),*) -> $returns {
            match level {
                Level::Portable => $portable($($argument),*),
                // SAFETY: a level is used only if the processor was found to support it.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { $avx2($($argument),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { $avx512($($argument),*) },
            }
        }
    };
}

kernel! {
    /// The dot product, summed in 16 lanes so that the compiler can keep them in vector registers.
    ///
    /// The order of additions is the same on every machine, and so is the result.
    pub fn dot / dot_at = dot_portable, dot_by_avx2, dot_by_avx512; (a: &[f32], b: &[f32]) -> f32
}

kernel! {
    /// The dot products of the query's bytes with those of four rows.
    pub fn products / products_at = products_portable, avx2::products, avx512::products;
        (query: &VectorBytes, rows: [&VectorBytes; 4]) -> [i32; 4]
}

kernel! {
    /// The dot products of a query with four rows, all with two bytes (high, low) a number: one
    /// sum with the high and one with the low bytes of the query.
    pub fn whole_products / whole_products_at =
        whole_products_portable, avx2::whole_products, avx512::whole_products;
        (query: [&VectorBytes; 2], rows: [(&VectorBytes, &VectorBytes); 4]) -> [[i32; 4]; 2]
}

kernel! {
    /// For each of the first `count` of the query's codes, the Hamming distance to the nearest of
    /// `codes`; `u64::MAX` if `codes` is empty. The values beyond `count` are undefined.
    pub fn nearest / nearest_at = nearest_portable, avx2::nearest, avx512::nearest;
        (query: &EightCodes, count: usize, codes: &[SignCode]) -> [u64; 8]
}

kernel! {
    /// For each of 64 vectors given by their sign bits, the sum of the query's numbers at the
    /// positions of positive signs.
    pub fn sums / sums_at = sums_portable, avx2::sums, avx2::sums;
        (query: &CoarseQuery, signs: &Signs) -> [i16; 64]
}

kernel! {
    /// Converts 64 sums into estimated cosines: `(2 * sum - zero) * factor * step`.
    pub fn scaled / scaled_at = scaled_portable, scaled_by_avx2, scaled_by_avx512;
        (sums: &[i16; 64], factors: &[f32; 64], step: f32, zero: i16) -> [f32; 64]
}

kernel! {
    /// The weighted sum of 64 pairs: the first number clamped to at least 0, the second to at most
    /// 1, each times its weight.
    pub fn weighted_sums / weighted_sums_at =
        weighted_sums_portable, weighted_sums_by_avx2, weighted_sums_by_avx512;
        (first: &[f32; 64], second: &[f32; 64], weights: [f32; 2]) -> [f32; 64]
}

kernel! {
    /// One bit for each of 64 numbers: set if the number is above `threshold`.
    pub fn above / above_at = above_portable, avx2::above, avx512::above;
        (numbers: &[f32; 64], threshold: f32) -> u64
}

kernel! {
    /// Divides numbers by `step` and rounds them, halves away from 0, clamped to `-max..=max`.
    pub fn quantise / quantise_at = quantise_portable, quantise_by_avx2, quantise_by_avx512;
        (numbers: &[f32], step: f32, max: f32, into: &mut [i16]) -> ()
}

/// Prefetches a slice into the processor's cache.
pub fn prefetch<T>(slice: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of_val(slice)).step_by(LINE) {
        // SAFETY: a prefetch reads nothing, and every x86-64 processor supports it.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
                slice.as_ptr().cast::<i8>().wrapping_add(line),
            );
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = slice;
}

#[expect(clippy::inline_always, reason = "each kernel compiles it for its own instructions")]
#[inline(always)]
fn dot_portable(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    let (a, b) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a.zip(b) {
        for lane in 0..16 {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Defines the variants of a portable loop that the compiler vectorises for AVX2 and AVX-512.
macro_rules! compiled {
    ($portable:ident, $avx2:ident, $avx512:ident; ($($argument:ident: $type:ty),*) -> $returns:ty) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $avx2($($argument: $type),*) -> $returns {
            $portable($($argument),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        fn $avx512($($argument: $type),*) -> $returns {
            $portable($($argument),*)
        }
    };
}

compiled!(dot_portable, dot_by_avx2, dot_by_avx512; (a: &[f32], b: &[f32]) -> f32);
compiled!(scaled_portable, scaled_by_avx2, scaled_by_avx512;
    (sums: &[i16; 64], factors: &[f32; 64], step: f32, zero: i16) -> [f32; 64]);
compiled!(weighted_sums_portable, weighted_sums_by_avx2, weighted_sums_by_avx512;
    (first: &[f32; 64], second: &[f32; 64], weights: [f32; 2]) -> [f32; 64]);
compiled!(quantise_portable, quantise_by_avx2, quantise_by_avx512;
    (numbers: &[f32], step: f32, max: f32, into: &mut [i16]) -> ());

#[expect(clippy::inline_always, reason = "each kernel compiles it for its own instructions")]
#[inline(always)]
fn scaled_portable(sums: &[i16; 64], factors: &[f32; 64], step: f32, zero: i16) -> [f32; 64] {
    let mut scaled = [0.0; 64];
    for ((scaled, factor), sum) in scaled.iter_mut().zip(factors).zip(sums) {
        *scaled = factor * step * f32::from(2 * sum - zero);
    }
    scaled
}

#[expect(clippy::inline_always, reason = "each kernel compiles it for its own instructions")]
#[inline(always)]
fn weighted_sums_portable(first: &[f32; 64], second: &[f32; 64], weights: [f32; 2]) -> [f32; 64] {
    let mut sums = [0.0; 64];
    for ((sum, first), second) in sums.iter_mut().zip(first).zip(second) {
        *sum = weights[0] * first.max(0.0) + weights[1] * second.min(1.0);
    }
    sums
}

#[expect(clippy::inline_always, reason = "each kernel compiles it for its own instructions")]
#[inline(always)]
fn quantise_portable(numbers: &[f32], step: f32, max: f32, into: &mut [i16]) {
    for (into, number) in into.iter_mut().zip(numbers) {
        #[expect(clippy::cast_possible_truncation, reason = "at most `max`")]
        let steps = (number / step).round().clamp(-max, max) as i16;
        *into = steps;
    }
}

fn above_portable(numbers: &[f32; 64], threshold: f32) -> u64 {
    numbers
        .iter()
        .enumerate()
        .fold(0, |bits, (at, number)| bits | u64::from(*number > threshold) << at)
}

fn products_portable(query: &VectorBytes, rows: [&VectorBytes; 4]) -> [i32; 4] {
    rows.map(|row| query.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum())
}

fn whole_products_portable(
    query: [&VectorBytes; 2],
    rows: [(&VectorBytes, &VectorBytes); 4],
) -> [[i32; 4]; 2] {
    let whole = |(high, low): (&i8, &i8)| i32::from(*high) * 256 + i32::from(*low);
    query.map(|query| {
        rows.map(|(high, low)| {
            high.iter()
                .zip(low)
                .map(whole)
                .zip(query)
                .map(|(number, query)| number * i32::from(*query))
                .sum()
        })
    })
}

fn nearest_portable(query: &EightCodes, _: usize, codes: &[SignCode]) -> [u64; 8] {
    let mut best = [u64::MAX; 8];
    for code in codes {
        let mut distances = [0; 8];
        for (of_query, own) in query.iter().zip(code.lanes()) {
            for word in 0..8 {
                distances[word] += u64::from((of_query[word] ^ own).count_ones());
            }
        }
        for word in 0..8 {
            best[word] = best[word].min(distances[word]);
        }
    }
    best
}

fn sums_portable(query: &CoarseQuery, signs: &Signs) -> [i16; 64] {
    let mut sums = [0_i16; 64];
    for (signs, numbers) in signs.as_chunks::<2>().0.iter().zip(query.numbers.as_chunks::<16>().0) {
        // Sixteen numbers of at most 7 fit into a byte.
        let mut part = [0_i8; 64];
        for (signs, numbers) in signs.iter().zip(numbers.as_chunks::<8>().0) {
            for (bit, number) in numbers.iter().enumerate() {
                part.iter_mut()
                    .zip(signs)
                    .for_each(|(part, signs)| *part += (signs >> bit & 1).cast_signed() * number);
            }
        }
        sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += i16::from(part));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::sign_code::{DIMENSIONS, LANES};
    use proptest::prelude::*;

    /// The levels that this machine supports.
    fn levels() -> Vec<Level> {
        let mut levels = vec![Level::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend((level() != Level::Portable).then_some(Level::Avx2));
            levels.extend((level() == Level::Avx512).then_some(Level::Avx512));
        }
        levels
    }

    fn bits(seed: u64) -> u64 {
        let mixed = (seed ^ (seed >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    fn eight(seed: u64) -> EightCodes {
        std::array::from_fn(|lane| {
            std::array::from_fn(|at| bits(seed.wrapping_add((lane * 8 + at) as u64)))
        })
    }

    fn code(seed: u64) -> SignCode {
        let bytes: Vec<u8> = (0..LANES as u64)
            .flat_map(|lane| bits(seed.wrapping_mul(31).wrapping_add(lane)).to_le_bytes())
            .collect();
        SignCode::from_bytes(&bytes.try_into().expect("a code has this many bytes"))
    }

    #[test]
    fn the_dot_product_includes_the_remainder() {
        let ones = vec![1.0; 35];
        assert!((dot(&ones, &ones) - 35.0).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn all_variants_give_the_same_dot_product(length in 0..100_usize, seed in any::<u32>()) {
            let number = |at: usize| ((bits(u64::from(seed) + at as u64) % 2000) as f32 - 1000.0) / 313.0;
            let vector = |turn: usize| (0..length).map(|at| number(at + turn * 1000)).collect::<Vec<f32>>();
            let (query, row) = (vector(0), vector(1));
            for level in levels() {
                prop_assert_eq!(dot_at(level, &query, &row).to_bits(), dot_portable(&query, &row).to_bits());
            }
        }

        #[test]
        fn all_variants_give_the_same_products_of_bytes(seed in any::<u32>(), extreme in any::<bool>()) {
            // Only high bytes are never -128.
            let min_byte = |row: usize| if row < 4 { -127 } else { i8::MIN };
            let byte = |row: usize, at: usize| match bits(u64::from(seed) + (row * 1000 + at) as u64).to_le_bytes()[0].cast_signed() {
                byte if extreme => if byte < 0 { min_byte(row) } else { i8::MAX },
                byte => byte.max(min_byte(row)),
            };
            let rows: [VectorBytes; 10] = std::array::from_fn(|row| std::array::from_fn(|at| byte(row, at)));
            let query = [rows[8], rows[9]];
            let sum = |query: &VectorBytes, row: usize| query.iter().zip(rows[row]).map(|(a, b)| i64::from(*a) * i64::from(b)).sum::<i64>();
            let whole = |query: &VectorBytes, row: usize| sum(query, row) * 256 + sum(query, row + 4);
            for level in levels() {
                let found = products_at(level, &query[0], std::array::from_fn(|row| &rows[row]));
                prop_assert_eq!(found.map(i64::from), std::array::from_fn(|row| sum(&query[0], row)));
                let found = whole_products_at(level, [&query[0], &query[1]], std::array::from_fn(|row| (&rows[row], &rows[row + 4])));
                for (found, query) in found.iter().zip(&query) {
                    prop_assert_eq!(found.map(i64::from), std::array::from_fn(|row| whole(query, row)));
                }
            }
        }

        #[test]
        fn all_variants_weigh_and_compare_alike(seed in any::<u64>(), threshold in -1.0..1.0_f32) {
            let number = |at: u64| (bits(seed.wrapping_add(at)) % 4000) as f32 / 1000.0 - 2.0;
            let numbers = |from: u64| std::array::from_fn(|at| number(from + at as u64));
            let (first, second): ([f32; 64], [f32; 64]) = (numbers(0), numbers(1000));
            let sums: [i16; 64] = std::array::from_fn(|at| i16::from(bits(seed.wrapping_sub(at as u64)).to_le_bytes()[3]) * 7 - 800);
            let (expected_sums, expected_bits) = (weighted_sums_portable(&first, &second, [0.4, 0.2]), above_portable(&first, threshold));
            prop_assert!((expected_sums[7] - 0.4 * first[7].max(0.0) - 0.2 * second[7].min(1.0)).abs() < 1e-6);
            prop_assert!((0..64).all(|at| (expected_bits >> at & 1 == 1) == (first[at] > threshold)), "{expected_bits:064b}");
            for level in levels() {
                let found = weighted_sums_at(level, &first, &second, [0.4, 0.2]);
                prop_assert_eq!(found.map(f32::to_bits), expected_sums.map(f32::to_bits));
                prop_assert_eq!(above_at(level, &first, threshold), expected_bits);
                let found = scaled_at(level, &sums, &first, 0.1, 7);
                prop_assert_eq!(found.map(f32::to_bits), scaled_portable(&sums, &first, 0.1, 7).map(f32::to_bits));
            }
        }

        #[test]
        fn all_variants_quantise_alike(seed in any::<u64>(), length in 0..100_usize) {
            // Includes halves, and numbers beyond the clamp.
            let numbers: Vec<f32> = (0..length).map(|at| ((bits(seed.wrapping_add(at as u64)) % 4001) as f32 - 2000.0) / 20.0).collect();
            let mut expected = vec![0; length];
            quantise_portable(&numbers, 0.1, 900.0, &mut expected);
            for (number, steps) in numbers.iter().zip(&expected) {
                prop_assert!((number.clamp(-90.0, 90.0) - f32::from(*steps) * 0.1).abs() < 0.0501, "{number} is not {steps} steps");
            }
            for level in levels() {
                let mut found = vec![0; length];
                quantise_at(level, &numbers, 0.1, 900.0, &mut found);
                prop_assert_eq!(&found, &expected);
            }
        }

        #[test]
        fn all_variants_find_the_same_nearest_code(seed in any::<u64>(), seeds in prop::collection::vec(any::<u64>(), 0..40)) {
            let (query, codes): (EightCodes, Vec<SignCode>) = (eight(seed), seeds.into_iter().map(code).collect());
            let distance = |word: usize, other: &SignCode| {
                query.iter().zip(other.lanes()).map(|(of_query, own)| u64::from((of_query[word] ^ own).count_ones())).sum::<u64>()
            };
            let expected: [u64; 8] = std::array::from_fn(|word| codes.iter().map(|other| distance(word, other)).min().unwrap_or(u64::MAX));
            for level in levels() {
                for count in 0..=8 {
                    prop_assert_eq!(&nearest_at(level, &query, count, &codes)[..count], &expected[..count]);
                }
            }
        }

        #[test]
        fn all_variants_give_the_same_sums(seed in any::<u64>(), numbers in prop::collection::vec(-7..=7_i8, DIMENSIONS), extreme in any::<bool>()) {
            let extremes = |at: usize| if at % 32 < 16 { 7 } else { -7 };
            let numbers: [i8; DIMENSIONS] = std::array::from_fn(|at| if extreme { extremes(at) } else { numbers[at] });
            let byte = |of: usize, row: usize| match bits(seed.wrapping_add((of * 64 + row) as u64)).to_le_bytes()[0] {
                byte if extreme && row < 32 => if row < 8 { u8::MAX } else { byte & if extremes(of * 8) > 0 { u8::MAX } else { 0 } },
                byte => byte,
            };
            let signs: Signs = std::array::from_fn(|of| std::array::from_fn(|row| byte(of, row)));
            let positive = |at: usize, row: usize| signs[at / 8][row] >> (at % 8) & 1 == 1;
            let sum = |row: usize| (0..DIMENSIONS).filter(|at| positive(*at, row)).map(|at| i16::from(numbers[at])).sum::<i16>();
            let (query, expected): (CoarseQuery, [i16; 64]) = (CoarseQuery::new(&numbers), std::array::from_fn(sum));
            prop_assert_eq!(query.sum(), numbers.iter().map(|number| i16::from(*number)).sum::<i16>());
            for level in levels() {
                prop_assert_eq!(sums_at(level, &query, &signs), expected);
            }
        }
    }
}
