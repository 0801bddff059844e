//! The kernels in AVX-512, whose `vpopcntq` counts the bits of eight words at once. Each computes
//! the same as its portable form in `kernels`.

use crate::kernels::avx2;
use crate::kernels::types::{EightCodes, VectorBytes};
use crate::model::sign_code::{LANES, SignCode};
use std::arch::x86_64::{
    __m512i, _CMP_GT_OQ, _mm256_add_epi32, _mm512_add_epi32, _mm512_add_epi64,
    _mm512_castsi512_si256, _mm512_cmp_ps_mask, _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64,
    _mm512_loadu_ps, _mm512_loadu_si512, _mm512_min_epu64, _mm512_popcnt_epi64, _mm512_set1_epi64,
    _mm512_set1_ps, _mm512_setzero_si512, _mm512_slli_epi32, _mm512_storeu_si512, _mm512_sub_epi32,
    _mm512_xor_si512,
};

#[target_feature(enable = "avx512f")]
fn load(words: &[u64; 8]) -> __m512i {
    // SAFETY: eight words are readable through the reference; the load is unaligned.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn store(vector: __m512i) -> [u64; 8] {
    let mut numbers = [0; 8];
    // SAFETY: the array holds eight words; the store is unaligned.
    unsafe { _mm512_storeu_si512(numbers.as_mut_ptr().cast(), vector) };
    numbers
}

#[target_feature(enable = "avx512f")]
fn broadcast(word: u64) -> __m512i {
    _mm512_set1_epi64(word.cast_signed())
}

/// Loads 64 bytes.
#[target_feature(enable = "avx512f")]
fn load_bytes(bytes: &[i8; 64]) -> __m512i {
    // SAFETY: the bytes are readable through the reference; the load is unaligned.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Returns the sum of each of four vectors.
#[target_feature(enable = "avx512f,avx2")]
fn totals(of: [__m512i; 4]) -> [i32; 4] {
    let [a, b, c, d] = of.map(|one| {
        _mm256_add_epi32(_mm512_castsi512_si256(one), _mm512_extracti64x4_epi64::<1>(one))
    });
    avx2::totals([a, b, c, d])
}

/// Multiplies the query with rows, each product summed in sixteen parts. The instruction multiplies
/// signed with unsigned bytes: 128 is added to the row's bytes, and 128 times the sum of the
/// query's bytes is subtracted beforehand.
#[target_feature(enable = "avx512f,avx512vnni")]
fn parts<const ROWS: usize>(query: &VectorBytes, rows: [&VectorBytes; ROWS]) -> [__m512i; ROWS] {
    let bias = broadcast(0x8080_8080_8080_8080);
    let query: [__m512i; LANES] =
        std::array::from_fn(|lane| load_bytes(&query.as_chunks().0[lane]));
    let excess = query
        .iter()
        .fold(_mm512_setzero_si512(), |sum, query| _mm512_dpbusd_epi32(sum, bias, *query));
    rows.map(|row| {
        let start = _mm512_sub_epi32(_mm512_setzero_si512(), excess);
        let rows = row.as_chunks().0.iter();
        rows.zip(query).fold(start, |sum, (row, query)| {
            _mm512_dpbusd_epi32(sum, _mm512_xor_si512(load_bytes(row), bias), query)
        })
    })
}

#[target_feature(enable = "avx512f,avx512vnni")]
pub fn products(query: &VectorBytes, rows: [&VectorBytes; 4]) -> [i32; 4] {
    totals(parts(query, rows))
}

#[target_feature(enable = "avx512f,avx512vnni")]
pub fn whole_products(
    query: [&VectorBytes; 2],
    rows: [(&VectorBytes, &VectorBytes); 4],
) -> [[i32; 4]; 2] {
    query.map(|query| {
        let (high, low) =
            (parts(query, rows.map(|(high, _)| high)), parts(query, rows.map(|(_, low)| low)));
        totals(std::array::from_fn(|row| {
            _mm512_add_epi32(_mm512_slli_epi32::<8>(high[row]), low[row])
        }))
    })
}

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
pub fn nearest(query: &EightCodes, _: usize, codes: &[SignCode]) -> [u64; 8] {
    let query: [__m512i; LANES] = std::array::from_fn(|lane| load(&query[lane]));
    let mut best = broadcast(u64::MAX);
    for code in codes {
        let mut distances = [_mm512_setzero_si512(); 2];
        for (lane, own) in code.lanes().iter().enumerate() {
            let differing = _mm512_popcnt_epi64(_mm512_xor_si512(query[lane], broadcast(*own)));
            distances[lane % 2] = _mm512_add_epi64(distances[lane % 2], differing);
        }
        best = _mm512_min_epu64(best, _mm512_add_epi64(distances[0], distances[1]));
    }
    store(best)
}

#[target_feature(enable = "avx512f")]
pub fn above(numbers: &[f32; 64], threshold: f32) -> u64 {
    let threshold = _mm512_set1_ps(threshold);
    let mut above = 0;
    for (part, numbers) in numbers.as_chunks::<16>().0.iter().enumerate() {
        // SAFETY: sixteen numbers are readable through the reference; the load is unaligned.
        let numbers = unsafe { _mm512_loadu_ps(numbers.as_ptr()) };
        above |= u64::from(_mm512_cmp_ps_mask::<_CMP_GT_OQ>(numbers, threshold)) << (16 * part);
    }
    above
}
