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

pub(crate) use types::{Bytes, Coarse, Eight, Signs};

use crate::model::sign_code::SignCode;
use std::sync::LazyLock;

/// Bytes of a cache line.
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
        let (foundation, products) = (
            std::arch::is_x86_feature_detected!("avx512f"),
            std::arch::is_x86_feature_detected!("avx512vnni"),
        );
        if foundation && products && std::arch::is_x86_feature_detected!("avx512vpopcntdq") {
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
    ($(#[$doc:meta])* $visible:vis fn $name:ident / $at:ident = $portable:path, $avx2:path, $avx512:path;
        ($($given:ident: $of:ty),*) -> $gives:ty) => {
        $(#[$doc])*
        $visible fn $name($($given: $of),*) -> $gives {
            $at(*LEVEL, $($given),*)
        }

        fn $at(level: Level, $($given: $of),*) -> $gives {
            match level {
                Level::Portable => $portable($($given),*),
                // SAFETY: a level is used only if the processor was found to support it.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { $avx2($($given),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { $avx512($($given),*) },
            }
        }
    };
}

kernel! {
    /// The dot product, summed in 16 lanes so that the compiler can keep them in vector registers.
    ///
    /// The order of additions is the same on every machine, so the result is, too.
    pub fn dot / dot_at = dot_portable, dot_by_avx2, dot_by_avx512; (a: &[f32], b: &[f32]) -> f32
}

kernel! {
    /// The dot products of a row of bytes with four others.
    pub(crate) fn products / products_at = products_portable, avx2::products, avx512::products; (asked: &Bytes, rows: [&Bytes; 4]) -> [i32; 4]
}

kernel! {
    /// The dot products of a query with four rows, all in two bytes a number. Numbers are at most
    /// 2^15 - 128, so a sum fits into 64 bits.
    pub(crate) fn whole_products / whole_products_at = whole_products_portable, avx2::whole_products, avx512::whole_products;
        (asked: [&Bytes; 2], rows: [(&Bytes, &Bytes); 4]) -> [[i32; 4]; 2]
}

kernel! {
    /// For each of the first `count` of eight codes, the Hamming distance to the nearest of
    /// `codes`; `u64::MAX` if `codes` is empty. The values beyond `count` are undefined.
    pub(crate) fn nearest / nearest_at = nearest_portable, avx2::nearest, avx512::nearest;
        (asked: &Eight, count: usize, codes: &[SignCode]) -> [u64; 8]
}

kernel! {
    /// For each of 64 vectors given by their sign bits, the sum of the query's numbers at the
    /// positions of positive signs.
    pub(crate) fn sums / sums_at = sums_portable, avx2::sums, avx2::sums; (asked: &Coarse, signs: &Signs) -> [i16; 64]
}

kernel! {
    /// Converts 64 sums into estimated cosines: `(2 * sum - zero) * factor * step`.
    pub(crate) fn scaled / scaled_at = scaled_portable, scaled_by_avx2, scaled_by_avx512;
        (sums: &[i16; 64], factors: &[f32; 64], step: f32, zero: i16) -> [f32; 64]
}

kernel! {
    /// The weighted sum of 64 pairs: the first number clamped to at least 0, the second to at most
    /// 1, each times its weight.
    pub(crate) fn weighed / weighed_at = weighed_portable, weighed_by_avx2, weighed_by_avx512;
        (first: &[f32; 64], second: &[f32; 64], weights: [f32; 2]) -> [f32; 64]
}

kernel! {
    /// One bit for each of 64 numbers: set if the number is above `least`.
    pub(crate) fn above / above_at = above_portable, avx2::above, avx512::above; (numbers: &[f32; 64], least: f32) -> u64
}

kernel! {
    /// Divides numbers by `step` and rounds them, halves away from 0, clamped to `-most..=most`.
    pub(crate) fn steps / steps_at = steps_portable, steps_by_avx2, steps_by_avx512;
        (numbers: &[f32], step: f32, most: f32, into: &mut [i16]) -> ()
}

/// Prefetches a slice into the processor's cache.
pub(crate) fn bring<T>(soon: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..size_of_val(soon)).step_by(LINE) {
        // SAFETY: a prefetch reads nothing, and every x86-64 processor supports it.
        unsafe {
            std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(
                soon.as_ptr().cast::<i8>().wrapping_add(line),
            );
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
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
    ($portable:ident, $avx2:ident, $avx512:ident; ($($given:ident: $of:ty),*) -> $gives:ty) => {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $avx2($($given: $of),*) -> $gives {
            $portable($($given),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx512f")]
        fn $avx512($($given: $of),*) -> $gives {
            $portable($($given),*)
        }
    };
}

compiled!(dot_portable, dot_by_avx2, dot_by_avx512; (a: &[f32], b: &[f32]) -> f32);
compiled!(scaled_portable, scaled_by_avx2, scaled_by_avx512; (sums: &[i16; 64], factors: &[f32; 64], step: f32, zero: i16) -> [f32; 64]);
compiled!(weighed_portable, weighed_by_avx2, weighed_by_avx512;
    (first: &[f32; 64], second: &[f32; 64], weights: [f32; 2]) -> [f32; 64]);
compiled!(steps_portable, steps_by_avx2, steps_by_avx512; (numbers: &[f32], step: f32, most: f32, into: &mut [i16]) -> ());

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
fn weighed_portable(first: &[f32; 64], second: &[f32; 64], weights: [f32; 2]) -> [f32; 64] {
    let mut weighed = [0.0; 64];
    for ((weighed, first), second) in weighed.iter_mut().zip(first).zip(second) {
        *weighed = weights[0] * first.max(0.0) + weights[1] * second.min(1.0);
    }
    weighed
}

#[expect(clippy::inline_always, reason = "each kernel compiles it for its own instructions")]
#[inline(always)]
fn steps_portable(numbers: &[f32], step: f32, most: f32, into: &mut [i16]) {
    for (into, number) in into.iter_mut().zip(numbers) {
        #[expect(clippy::cast_possible_truncation, reason = "no more than `most`")]
        let steps = (number / step).round().clamp(-most, most) as i16;
        *into = steps;
    }
}

fn above_portable(numbers: &[f32; 64], least: f32) -> u64 {
    numbers.iter().enumerate().fold(0, |bits, (at, number)| bits | u64::from(*number > least) << at)
}

fn products_portable(asked: &Bytes, rows: [&Bytes; 4]) -> [i32; 4] {
    rows.map(|row| asked.iter().zip(row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum())
}

fn whole_products_portable(asked: [&Bytes; 2], rows: [(&Bytes, &Bytes); 4]) -> [[i32; 4]; 2] {
    let whole = |(first, second): (&i8, &i8)| i32::from(*first) * 256 + i32::from(*second);
    asked.map(|asked| {
        rows.map(|(first, second)| {
            first
                .iter()
                .zip(second)
                .map(whole)
                .zip(asked)
                .map(|(number, asked)| number * i32::from(*asked))
                .sum()
        })
    })
}

fn nearest_portable(asked: &Eight, _: usize, codes: &[SignCode]) -> [u64; 8] {
    let mut best = [u64::MAX; 8];
    for code in codes {
        let mut far = [0; 8];
        for (of_asked, own) in asked.iter().zip(code.lanes()) {
            for word in 0..8 {
                far[word] += u64::from((of_asked[word] ^ own).count_ones());
            }
        }
        for word in 0..8 {
            best[word] = best[word].min(far[word]);
        }
    }
    best
}

fn sums_portable(asked: &Coarse, signs: &Signs) -> [i16; 64] {
    let mut sums = [0_i16; 64];
    for (signs, numbers) in signs.as_chunks::<2>().0.iter().zip(asked.numbers.as_chunks::<16>().0) {
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

    fn eight(seed: u64) -> Eight {
        std::array::from_fn(|lane| {
            std::array::from_fn(|at| bits(seed.wrapping_add((lane * 8 + at) as u64)))
        })
    }

    fn code(seed: u64) -> SignCode {
        let bytes: Vec<u8> = (0..LANES as u64)
            .flat_map(|lane| bits(seed.wrapping_mul(31).wrapping_add(lane)).to_le_bytes())
            .collect();
        SignCode::from_bytes(&bytes.try_into().expect("is a code"))
    }

    #[test]
    fn dot_counts_the_remainder() {
        let ones = vec![1.0; 35];
        assert!((dot(&ones, &ones) - 35.0).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn all_variants_of_a_kernel_multiply_equally(length in 0..100_usize, seed in any::<u32>()) {
            let number = |at: usize| ((bits(u64::from(seed) + at as u64) % 2000) as f32 - 1000.0) / 313.0;
            let vector = |turn: usize| (0..length).map(|at| number(at + turn * 1000)).collect::<Vec<f32>>();
            let (query, row) = (vector(0), vector(1));
            for level in levels() {
                prop_assert_eq!(dot_at(level, &query, &row).to_bits(), dot_portable(&query, &row).to_bits());
            }
        }

        #[test]
        fn all_variants_of_a_kernel_multiply_bytes_equally(seed in any::<u32>(), extreme in any::<bool>()) {
            // Only high bytes are never -128.
            let least = |row: usize| if row < 4 { -127 } else { i8::MIN };
            let byte = |row: usize, at: usize| match bits(u64::from(seed) + (row * 1000 + at) as u64).to_le_bytes()[0].cast_signed() {
                byte if extreme => if byte < 0 { least(row) } else { i8::MAX },
                byte => byte.max(least(row)),
            };
            let rows: [Bytes; 10] = std::array::from_fn(|row| std::array::from_fn(|at| byte(row, at)));
            let asked = [rows[8], rows[9]];
            let sum = |asked: &Bytes, row: usize| asked.iter().zip(rows[row]).map(|(a, b)| i64::from(*a) * i64::from(b)).sum::<i64>();
            let whole = |asked: &Bytes, row: usize| sum(asked, row) * 256 + sum(asked, row + 4);
            for level in levels() {
                let found = products_at(level, &asked[0], std::array::from_fn(|row| &rows[row]));
                prop_assert_eq!(found.map(i64::from), std::array::from_fn(|row| sum(&asked[0], row)));
                let found = whole_products_at(level, [&asked[0], &asked[1]], std::array::from_fn(|row| (&rows[row], &rows[row + 4])));
                for (found, asked) in found.iter().zip(&asked) {
                    prop_assert_eq!(found.map(i64::from), std::array::from_fn(|row| whole(asked, row)));
                }
            }
        }

        #[test]
        fn all_variants_of_a_kernel_weigh_and_compare_equally(seed in any::<u64>(), least in -1.0..1.0_f32) {
            let number = |at: u64| (bits(seed.wrapping_add(at)) % 4000) as f32 / 1000.0 - 2.0;
            let numbers = |from: u64| std::array::from_fn(|at| number(from + at as u64));
            let (first, second): ([f32; 64], [f32; 64]) = (numbers(0), numbers(1000));
            let sums: [i16; 64] = std::array::from_fn(|at| i16::from(bits(seed.wrapping_sub(at as u64)).to_le_bytes()[3]) * 7 - 800);
            let (plain, kept) = (weighed_portable(&first, &second, [0.4, 0.2]), above_portable(&first, least));
            prop_assert!((plain[7] - 0.4 * first[7].max(0.0) - 0.2 * second[7].min(1.0)).abs() < 1e-6);
            prop_assert!((0..64).all(|at| (kept >> at & 1 == 1) == (first[at] > least)), "{kept:064b}");
            for level in levels() {
                let found = weighed_at(level, &first, &second, [0.4, 0.2]);
                prop_assert_eq!(found.map(f32::to_bits), plain.map(f32::to_bits));
                prop_assert_eq!(above_at(level, &first, least), kept);
                let found = scaled_at(level, &sums, &first, 0.1, 7);
                prop_assert_eq!(found.map(f32::to_bits), scaled_portable(&sums, &first, 0.1, 7).map(f32::to_bits));
            }
        }

        #[test]
        fn all_variants_of_a_kernel_round_equally(seed in any::<u64>(), length in 0..100_usize) {
            // Includes halves, and numbers beyond the clamp.
            let numbers: Vec<f32> = (0..length).map(|at| ((bits(seed.wrapping_add(at as u64)) % 4001) as f32 - 2000.0) / 20.0).collect();
            let mut expected = vec![0; length];
            steps_portable(&numbers, 0.1, 900.0, &mut expected);
            for (number, steps) in numbers.iter().zip(&expected) {
                prop_assert!((number.clamp(-90.0, 90.0) - f32::from(*steps) * 0.1).abs() < 0.0501, "{number} is not {steps} steps");
            }
            for level in levels() {
                let mut found = vec![0; length];
                steps_at(level, &numbers, 0.1, 900.0, &mut found);
                prop_assert_eq!(&found, &expected);
            }
        }

        #[test]
        fn all_variants_of_a_kernel_find_the_nearest_code(seed in any::<u64>(), seeds in prop::collection::vec(any::<u64>(), 0..40)) {
            let (asked, codes): (Eight, Vec<SignCode>) = (eight(seed), seeds.into_iter().map(code).collect());
            let far = |word: usize, other: &SignCode| {
                asked.iter().zip(other.lanes()).map(|(of_asked, own)| u64::from((of_asked[word] ^ own).count_ones())).sum::<u64>()
            };
            let expected: [u64; 8] = std::array::from_fn(|word| codes.iter().map(|other| far(word, other)).min().unwrap_or(u64::MAX));
            for level in levels() {
                for count in 0..=8 {
                    prop_assert_eq!(&nearest_at(level, &asked, count, &codes)[..count], &expected[..count]);
                }
            }
        }

        #[test]
        fn all_variants_of_a_kernel_sum_the_same_numbers(seed in any::<u64>(), numbers in prop::collection::vec(-7..=7_i8, DIMENSIONS), extreme in any::<bool>()) {
            let extremes = |at: usize| if at % 32 < 16 { 7 } else { -7 };
            let numbers: [i8; DIMENSIONS] = std::array::from_fn(|at| if extreme { extremes(at) } else { numbers[at] });
            let byte = |of: usize, row: usize| match bits(seed.wrapping_add((of * 64 + row) as u64)).to_le_bytes()[0] {
                byte if extreme && row < 32 => if row < 8 { u8::MAX } else { byte & if extremes(of * 8) > 0 { u8::MAX } else { 0 } },
                byte => byte,
            };
            let signs: Signs = std::array::from_fn(|of| std::array::from_fn(|row| byte(of, row)));
            let positive = |at: usize, row: usize| signs[at / 8][row] >> (at % 8) & 1 == 1;
            let sum = |row: usize| (0..DIMENSIONS).filter(|at| positive(*at, row)).map(|at| i16::from(numbers[at])).sum::<i16>();
            let (asked, expected): (Coarse, [i16; 64]) = (Coarse::new(&numbers), std::array::from_fn(sum));
            prop_assert_eq!(asked.sum(), numbers.iter().map(|number| i16::from(*number)).sum::<i16>());
            for level in levels() {
                prop_assert_eq!(sums_at(level, &asked, &signs), expected);
            }
        }
    }
}
