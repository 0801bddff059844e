//! Kernels in AVX2, which counts bits by looking half bytes up (Mula, 2008). What they compute is said by their portable forms.

use super::{Eight, Planes};
use crate::embedding::Code;
use std::arch::x86_64::{
    __m256, __m256i, _mm256_add_epi8, _mm256_add_epi64, _mm256_add_ps, _mm256_and_si256, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_mul_ps, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setzero_ps, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_slli_epi64, _mm256_srli_epi16, _mm256_storeu_ps, _mm256_storeu_si256, _mm256_sub_epi64, _mm256_xor_si256,
};

#[target_feature(enable = "avx2")]
fn load(words: &[u64; 8], half: usize) -> __m256i {
    let four: &[u64] = &words[4 * half..4 * half + 4];
    // SAFETY: the four words are there to be read, wherever they stand.
    unsafe { _mm256_loadu_si256(four.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn numbers(halves: [__m256i; 2]) -> [u64; 8] {
    let mut numbers = [0_u64; 8];
    for (four, half) in numbers.chunks_exact_mut(4).zip(halves) {
        // SAFETY: there is room for four words.
        unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), half) };
    }
    numbers
}

#[target_feature(enable = "avx2")]
fn everywhere(word: u64) -> __m256i {
    _mm256_set1_epi64x(word.cast_signed())
}

/// How many bits each byte has.
#[target_feature(enable = "avx2")]
fn bits(of: __m256i) -> __m256i {
    let counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    let half = _mm256_set1_epi8(15);
    let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(of, half));
    let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(of), half));
    _mm256_add_epi8(low, high)
}

#[target_feature(enable = "avx2")]
fn load_floats(floats: &[f32; 16]) -> [__m256; 2] {
    // SAFETY: the sixteen numbers are there to be read, wherever they stand.
    unsafe { [_mm256_loadu_ps(floats.as_ptr()), _mm256_loadu_ps(floats[8..].as_ptr())] }
}

/// Multiplied and then added, not at once: that would round otherwise than the portable form.
#[target_feature(enable = "avx2")]
pub(super) fn dots(query: &[f32], rows: [&[f32]; 4]) -> [f32; 4] {
    let (asked, rest) = query.as_chunks::<16>();
    let chunks = rows.map(|row| row.as_chunks::<16>());
    let mut lanes = [[_mm256_setzero_ps(); 2]; 4];
    for (at, asked) in asked.iter().enumerate() {
        let asked = load_floats(asked);
        for (lanes, (chunk, _)) in lanes.iter_mut().zip(&chunks) {
            let own = load_floats(&chunk[at]);
            for half in 0..2 {
                lanes[half] = _mm256_add_ps(lanes[half], _mm256_mul_ps(own[half], asked[half]));
            }
        }
    }
    std::array::from_fn(|row| {
        let mut sums = [0.0_f32; 16];
        for (eight, lanes) in sums.chunks_exact_mut(8).zip(lanes[row]) {
            // SAFETY: there is room for eight numbers.
            unsafe { _mm256_storeu_ps(eight.as_mut_ptr(), lanes) };
        }
        sums.iter().sum::<f32>() + chunks[row].1.iter().zip(rest).map(|(x, y)| x * y).sum::<f32>()
    })
}

#[target_feature(enable = "avx2")]
pub(super) fn nearest(asked: &Eight, codes: &[Code]) -> [u64; 8] {
    let mut best = [u64::MAX; 8];
    for code in codes {
        let mut far = [_mm256_setzero_si256(); 2];
        for (lane, own) in code.lanes().iter().enumerate() {
            for (half, far) in far.iter_mut().enumerate() {
                // Six times eight bits at most fit a byte.
                *far = _mm256_add_epi8(*far, bits(_mm256_xor_si256(load(&asked[lane], half), everywhere(*own))));
            }
        }
        let far = numbers(far.map(|far| _mm256_sad_epu8(far, _mm256_setzero_si256())));
        best.iter_mut().zip(far).for_each(|(best, far)| *best = (*best).min(far));
    }
    best
}

#[target_feature(enable = "avx2")]
pub(super) fn sums(planes: &Planes, signs: &[Eight], into: &mut [[i32; 8]]) {
    for (signs, sums) in signs.iter().zip(into) {
        *sums = numbers([half_of_sums(planes, signs, 0), half_of_sums(planes, signs, 1)]).map(narrow);
    }
}

/// A sum of 384 numbers of four bits fits 32 bits, and so does the two's complement of a negative one.
#[expect(clippy::cast_possible_truncation, reason = "what is cut off repeats the sign")]
fn narrow(sum: u64) -> i32 {
    sum as i32
}

#[target_feature(enable = "avx2")]
fn half_of_sums(planes: &Planes, signs: &Eight, half: usize) -> __m256i {
    let zero = _mm256_setzero_si256();
    let mut counts = [zero; 4];
    for (lane, of_lane) in signs.iter().enumerate() {
        let own = load(of_lane, half);
        for (plane, count) in counts.iter_mut().enumerate() {
            *count = _mm256_add_epi8(*count, bits(_mm256_and_si256(own, everywhere(planes[plane][lane]))));
        }
    }
    let counts = counts.map(|count| _mm256_sad_epu8(count, zero));
    let low = _mm256_add_epi64(counts[0], _mm256_slli_epi64::<1>(counts[1]));
    _mm256_add_epi64(low, _mm256_sub_epi64(_mm256_slli_epi64::<2>(counts[2]), _mm256_slli_epi64::<3>(counts[3])))
}
