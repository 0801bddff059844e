//! Kernels in AVX-512, whose `vpopcntq` counts the bits of eight words at once. What they compute is said by their portable forms.

use super::{Bytes, Eight, Planes, Shorts, avx2};
use crate::embedding::{Code, LANES};
use std::arch::x86_64::{
    __m512i, _CMP_GT_OQ, _mm256_add_epi32, _mm256_loadu_si256, _mm256_storeu_si256, _mm512_add_epi16, _mm512_add_epi32, _mm512_add_epi64,
    _mm512_and_si512, _mm512_castsi512_si256, _mm512_cmp_ps_mask, _mm512_cvtepi8_epi16, _mm512_cvtepi64_epi32, _mm512_extracti64x4_epi64,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_madd_epi16, _mm512_min_epu64, _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_set1_ps,
    _mm512_setzero_si512, _mm512_slli_epi16, _mm512_slli_epi64, _mm512_storeu_si512, _mm512_sub_epi64, _mm512_xor_si512,
};

#[target_feature(enable = "avx512f")]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: the eight words are there to be read, wherever they stand.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn numbers(vector: __m512i) -> [u64; 8] {
    let mut numbers = [0; 8];
    // SAFETY: there is room for eight words.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), vector) };
    numbers
}

#[target_feature(enable = "avx512f")]
fn everywhere(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}

/// Thirty-two numbers.
#[target_feature(enable = "avx512f")]
fn shorts(numbers: &[i16; 32]) -> __m512i {
    // SAFETY: the numbers are there to be read, wherever they stand.
    unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
}

/// Thirty-two bytes, in the room of two each.
#[target_feature(enable = "avx512f,avx512bw")]
fn bytes(bytes: &[i8; 32]) -> __m512i {
    // SAFETY: the bytes are there to be read, wherever they stand.
    _mm512_cvtepi8_epi16(unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) })
}

/// What each of four vectors sums up to.
#[target_feature(enable = "avx512f,avx2")]
fn totals(of: [__m512i; 4]) -> [i32; 4] {
    let [a, b, c, d] = of.map(|one| _mm256_add_epi32(_mm512_castsi512_si256(one), _mm512_extracti64x4_epi64::<1>(one)));
    avx2::totals([a, b, c, d])
}

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn products(asked: &Shorts, rows: [&Bytes; 4]) -> [i32; 4] {
    let [a, b, c, d] = rows.map(|row| row.as_chunks().0);
    let mut sums = [_mm512_setzero_si512(); 4];
    for ((((asked, a), b), c), d) in asked.as_chunks().0.iter().zip(a).zip(b).zip(c).zip(d) {
        let asked = shorts(asked);
        for (sum, row) in sums.iter_mut().zip([a, b, c, d]) {
            *sum = _mm512_add_epi32(*sum, _mm512_madd_epi16(asked, bytes(row)));
        }
    }
    totals(sums)
}

#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn whole_products(asked: [&Shorts; 2], rows: [(&Bytes, &Bytes); 4]) -> [[i32; 4]; 2] {
    let [first, second] = asked.map(|asked| asked.as_chunks().0);
    let mut sums = [[_mm512_setzero_si512(); 4]; 2];
    for (row, (high, low)) in rows.iter().enumerate() {
        for (((first, second), high), low) in first.iter().zip(second).zip(high.as_chunks().0).zip(low.as_chunks().0) {
            let whole = _mm512_add_epi16(_mm512_slli_epi16::<8>(bytes(high)), bytes(low));
            sums[0][row] = _mm512_add_epi32(sums[0][row], _mm512_madd_epi16(shorts(first), whole));
            sums[1][row] = _mm512_add_epi32(sums[1][row], _mm512_madd_epi16(shorts(second), whole));
        }
    }
    sums.map(|sums| totals(sums))
}

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn nearest(asked: &Eight, codes: &[Code]) -> [u64; 8] {
    let asked: [__m512i; LANES] = std::array::from_fn(|lane| load(&asked[lane]));
    let mut best = everywhere(u64::MAX);
    for code in codes {
        let mut far = [_mm512_setzero_si512(); 2];
        for (lane, own) in code.lanes().iter().enumerate() {
            let differing = _mm512_popcnt_epi64(_mm512_xor_si512(asked[lane], everywhere(*own)));
            far[lane % 2] = _mm512_add_epi64(far[lane % 2], differing);
        }
        best = _mm512_min_epu64(best, _mm512_add_epi64(far[0], far[1]));
    }
    numbers(best)
}

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub(super) fn sums(planes: &Planes, signs: &[Eight], into: &mut [[i32; 8]]) {
    for (signs, sums) in signs.iter().zip(into) {
        let mut counts = [_mm512_setzero_si512(); 4];
        for (lane, of_lane) in signs.iter().enumerate() {
            let own = load(of_lane);
            for (plane, count) in counts.iter_mut().enumerate() {
                let both = _mm512_and_si512(own, everywhere(planes[plane][lane]));
                *count = _mm512_add_epi64(*count, _mm512_popcnt_epi64(both));
            }
        }
        let low = _mm512_add_epi64(counts[0], _mm512_slli_epi64::<1>(counts[1]));
        let high = _mm512_sub_epi64(_mm512_slli_epi64::<2>(counts[2]), _mm512_slli_epi64::<3>(counts[3]));
        // SAFETY: there is room for eight numbers of 32 bits.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(_mm512_add_epi64(low, high))) };
    }
}

#[target_feature(enable = "avx512f")]
pub(super) fn above(numbers: &[f32; 64], least: f32) -> u64 {
    let least = _mm512_set1_ps(least);
    let mut above = 0;
    for (part, numbers) in numbers.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: the sixteen numbers are there to be read, wherever they stand.
        let numbers = unsafe { _mm512_loadu_ps(numbers.as_ptr()) };
        above |= u64::from(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(numbers, least)) << (16 * part);
    }
    above
}
