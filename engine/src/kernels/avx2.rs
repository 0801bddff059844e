//! Kernels in AVX2, which counts bits by looking half bytes up (Mula, 2008). What they compute is said by their portable forms.

use super::{Bytes, Eight, Planes};
use crate::embedding::Code;
use std::arch::x86_64::{
    __m256i, _CMP_GT_OQ, _mm_add_epi32, _mm_loadu_si128, _mm_storeu_si128, _mm256_add_epi8, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_add_epi64, _mm256_and_si256, _mm256_castsi256_si128, _mm256_cmp_ps, _mm256_cvtepi8_epi16, _mm256_extracti128_si256,
    _mm256_hadd_epi32, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_movemask_ps, _mm256_sad_epu8, _mm256_set1_epi8,
    _mm256_set1_epi64x, _mm256_set1_ps, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi16, _mm256_slli_epi64,
    _mm256_srli_epi16, _mm256_storeu_si256, _mm256_sub_epi64, _mm256_xor_si256,
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

/// Sixteen bytes, in the room of two each.
#[target_feature(enable = "avx2")]
fn bytes(bytes: &[i8; 16]) -> __m256i {
    // SAFETY: the bytes are there to be read, wherever they stand.
    _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

/// What each of four vectors of eight numbers sums up to.
#[target_feature(enable = "avx2")]
pub(super) fn totals([a, b, c, d]: [__m256i; 4]) -> [i32; 4] {
    let sums = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    let mut totals = [0; 4];
    let both = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    // SAFETY: there is room for four numbers.
    unsafe { _mm_storeu_si128(totals.as_mut_ptr().cast(), both) };
    totals
}

#[target_feature(enable = "avx2")]
pub(super) fn products(asked: &Bytes, rows: [&Bytes; 4]) -> [i32; 4] {
    let [a, b, c, d] = rows.map(|row| row.as_chunks().0);
    let mut sums = [_mm256_setzero_si256(); 4];
    for ((((asked, a), b), c), d) in asked.as_chunks().0.iter().zip(a).zip(b).zip(c).zip(d) {
        let asked = bytes(asked);
        for (sum, row) in sums.iter_mut().zip([a, b, c, d]) {
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(asked, bytes(row)));
        }
    }
    totals(sums)
}

#[target_feature(enable = "avx2")]
pub(super) fn whole_products(asked: [&Bytes; 2], rows: [(&Bytes, &Bytes); 4]) -> [[i32; 4]; 2] {
    let [first, second] = asked.map(|asked| asked.as_chunks().0);
    let mut sums = [[_mm256_setzero_si256(); 4]; 2];
    for (row, (high, low)) in rows.iter().enumerate() {
        for (((first, second), high), low) in first.iter().zip(second).zip(high.as_chunks().0).zip(low.as_chunks().0) {
            let whole = _mm256_add_epi16(_mm256_slli_epi16::<8>(bytes(high)), bytes(low));
            sums[0][row] = _mm256_add_epi32(sums[0][row], _mm256_madd_epi16(bytes(first), whole));
            sums[1][row] = _mm256_add_epi32(sums[1][row], _mm256_madd_epi16(bytes(second), whole));
        }
    }
    sums.map(|sums| totals(sums))
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

#[target_feature(enable = "avx2")]
pub(super) fn above(numbers: &[f32; 64], least: f32) -> u64 {
    let least = _mm256_set1_ps(least);
    let mut above = 0;
    for (part, numbers) in numbers.as_chunks::<8>().0.iter().enumerate() {
        // SAFETY: the eight numbers are there to be read, wherever they stand.
        let numbers = unsafe { _mm256_loadu_ps(numbers.as_ptr()) };
        let eight = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(numbers, least));
        above |= u64::from(eight.cast_unsigned()) << (8 * part);
    }
    above
}
