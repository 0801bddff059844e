//! Kernels in AVX-512, whose `vpopcntq` counts the bits of eight words at once. What they compute is said by their portable forms.

use super::{Eight, Planes};
use crate::embedding::{Code, LANES};
use std::arch::x86_64::{
    __m512, __m512i, _mm256_storeu_si256, _mm512_add_epi64, _mm512_add_ps, _mm512_and_si512, _mm512_cvtepi64_epi32, _mm512_loadu_ps,
    _mm512_loadu_si512, _mm512_min_epu64, _mm512_mul_ps, _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_setzero_ps, _mm512_setzero_si512,
    _mm512_slli_epi64, _mm512_storeu_ps, _mm512_storeu_si512, _mm512_sub_epi64, _mm512_xor_si512,
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

#[target_feature(enable = "avx512f")]
fn load_floats(floats: &[f32; 16]) -> __m512 {
    // SAFETY: the sixteen numbers are there to be read, wherever they stand.
    unsafe { _mm512_loadu_ps(floats.as_ptr()) }
}

/// Multiplied and then added, not at once: that would round otherwise than the portable form.
#[target_feature(enable = "avx512f")]
pub(super) fn dots(query: &[f32], rows: [&[f32]; 4]) -> [f32; 4] {
    let (asked, rest) = query.as_chunks::<16>();
    let chunks = rows.map(|row| row.as_chunks::<16>());
    let mut lanes = [_mm512_setzero_ps(); 4];
    for (at, asked) in asked.iter().enumerate() {
        let asked = load_floats(asked);
        for (lanes, (chunk, _)) in lanes.iter_mut().zip(&chunks) {
            *lanes = _mm512_add_ps(*lanes, _mm512_mul_ps(load_floats(&chunk[at]), asked));
        }
    }
    std::array::from_fn(|row| {
        let mut sums = [0.0_f32; 16];
        // SAFETY: there is room for sixteen numbers.
        unsafe { _mm512_storeu_ps(sums.as_mut_ptr(), lanes[row]) };
        sums.iter().sum::<f32>() + chunks[row].1.iter().zip(rest).map(|(x, y)| x * y).sum::<f32>()
    })
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
