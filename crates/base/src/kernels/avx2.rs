//! The kernels in AVX2, which counts bits by looking up half bytes (Muła, 2008). Each computes the
//! same as its portable form in `kernels`.

use crate::kernels::types::{CoarseQuery, EightCodes, Signs, VectorBytes};
use crate::model::sign_code::{DIMENSIONS, LANES, SignCode};
use std::arch::x86_64::{
    __m256i, _CMP_GT_OQ, _mm_add_epi32, _mm_loadu_si128, _mm_storeu_si128, _mm256_abs_epi8,
    _mm256_add_epi8, _mm256_add_epi16, _mm256_add_epi32, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_cmp_ps, _mm256_cmpgt_epi8,
    _mm256_extracti128_si256, _mm256_hadd_epi32, _mm256_loadu_ps, _mm256_loadu_si256,
    _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_min_epu32, _mm256_movemask_ps, _mm256_or_si256,
    _mm256_permute2x128_si256, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_set1_epi64x, _mm256_set1_ps, _mm256_setr_epi8, _mm256_setzero_si256,
    _mm256_shuffle_epi8, _mm256_sign_epi8, _mm256_srli_epi16, _mm256_storeu_si256,
    _mm256_unpackhi_epi8, _mm256_unpackhi_epi16, _mm256_unpacklo_epi8, _mm256_unpacklo_epi16,
    _mm256_xor_si256,
};

#[target_feature(enable = "avx2")]
fn load(words: &[u64; 8], half: usize) -> __m256i {
    let four: &[u64] = &words[4 * half..4 * half + 4];
    // SAFETY: four words are readable through the reference; the load is unaligned.
    unsafe { _mm256_loadu_si256(four.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn store(halves: [__m256i; 2]) -> [u64; 8] {
    let mut numbers = [0; 8];
    for (four, half) in numbers.as_chunks_mut::<4>().0.iter_mut().zip(halves) {
        // SAFETY: the array holds four words; the store is unaligned.
        unsafe { _mm256_storeu_si256(four.as_mut_ptr().cast(), half) };
    }
    numbers
}

#[target_feature(enable = "avx2")]
fn broadcast(word: u64) -> __m256i {
    _mm256_set1_epi64x(word.cast_signed())
}

/// Returns the sum of the eight numbers of each of four vectors.
#[target_feature(enable = "avx2")]
pub(crate) fn totals([a, b, c, d]: [__m256i; 4]) -> [i32; 4] {
    let sums = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    let mut totals = [0; 4];
    let both = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums));
    // SAFETY: the array holds four numbers; the store is unaligned.
    unsafe { _mm_storeu_si128(totals.as_mut_ptr().cast(), both) };
    totals
}

/// Multiplies bytes with an instruction that needs one unsigned factor: the sign of the query's
/// byte moves to the row's, which is never -128.
#[target_feature(enable = "avx2")]
pub fn products(query: &VectorBytes, rows: [&VectorBytes; 4]) -> [i32; 4] {
    let (mut sums, one) = ([_mm256_setzero_si256(); 4], _mm256_set1_epi16(1));
    for lane in 0..DIMENSIONS / 32 {
        let query = load_32_bytes(query, lane);
        let magnitude = _mm256_abs_epi8(query);
        for (sum, row) in sums.iter_mut().zip(rows) {
            let pairs =
                _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(load_32_bytes(row, lane), query));
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, one));
        }
    }
    totals(sums)
}

#[target_feature(enable = "avx2")]
pub fn whole_products(
    query: [&VectorBytes; 2],
    rows: [(&VectorBytes, &VectorBytes); 4],
) -> [[i32; 4]; 2] {
    let zero = _mm256_setzero_si256();
    let (mut of_high, mut of_low) = ([zero; 4], [zero; 4]);
    for lane in 0..DIMENSIONS / 32 {
        let (query_high, query_low) =
            (load_32_bytes(query[0], lane), load_32_bytes(query[1], lane));
        let query_high = interleave(query_high, _mm256_cmpgt_epi8(zero, query_high));
        let query_low = interleave(query_low, _mm256_cmpgt_epi8(zero, query_low));
        for (row, (high, low)) in rows.iter().enumerate() {
            let (high, low) = (load_32_bytes(high, lane), load_32_bytes(low, lane));
            // The low byte is used unsigned, so it is 256 too large where it is negative.
            let [lower, upper] =
                interleave(low, _mm256_add_epi8(high, _mm256_cmpgt_epi8(zero, low)));
            of_high[row] = _mm256_add_epi32(of_high[row], _mm256_madd_epi16(lower, query_high[0]));
            of_high[row] = _mm256_add_epi32(of_high[row], _mm256_madd_epi16(upper, query_high[1]));
            of_low[row] = _mm256_add_epi32(of_low[row], _mm256_madd_epi16(lower, query_low[0]));
            of_low[row] = _mm256_add_epi32(of_low[row], _mm256_madd_epi16(upper, query_low[1]));
        }
    }
    [totals(of_high), totals(of_low)]
}

/// Interleaves the low and the high bytes of 32 numbers to 16-bit numbers: first the lower eight
/// numbers of each half register, then the upper eight.
#[target_feature(enable = "avx2")]
fn interleave(lower: __m256i, upper: __m256i) -> [__m256i; 2] {
    [_mm256_unpacklo_epi8(lower, upper), _mm256_unpackhi_epi8(lower, upper)]
}

#[target_feature(enable = "avx2")]
fn load_32_bytes(of: &VectorBytes, lane: usize) -> __m256i {
    let bytes: &[i8; 32] = &of.as_chunks().0[lane];
    // SAFETY: the bytes are readable through the reference; the load is unaligned.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2,popcnt")]
pub fn nearest(query: &EightCodes, count: usize, codes: &[SignCode]) -> [u64; 8] {
    match count {
        0..=4 => nearest_of_four_and::<0>(query, codes),
        5 => nearest_of_four_and::<1>(query, codes),
        6 => nearest_of_four_and::<2>(query, codes),
        _ => nearest_of_eight(query, codes),
    }
}

#[target_feature(enable = "avx2")]
fn nearest_of_eight(query: &EightCodes, codes: &[SignCode]) -> [u64; 8] {
    let mut best = [broadcast(u64::MAX); 2];
    for code in codes {
        best[0] = _mm256_min_epu32(best[0], distances(query, code, 0));
        best[1] = _mm256_min_epu32(best[1], distances(query, code, 1));
    }
    store(best)
}

/// Compares the first four codes of the query and `MORE` further ones. The further ones are counted
/// one by one with `popcnt`, which uses execution units that are otherwise idle.
#[target_feature(enable = "avx2,popcnt")]
fn nearest_of_four_and<const MORE: usize>(query: &EightCodes, codes: &[SignCode]) -> [u64; 8] {
    let (mut best, mut of_more) = (broadcast(u64::MAX), [u64::MAX; MORE]);
    for code in codes {
        best = _mm256_min_epu32(best, distances(query, code, 0));
        for (more, best) in of_more.iter_mut().enumerate() {
            // Hides the load: the compiler would otherwise move each lane between register kinds.
            let own = std::hint::black_box(code).lanes();
            let mut distance = 0;
            for (query, own) in query.iter().zip(own) {
                distance += ones(query[4 + more] ^ own);
            }
            *best = (*best).min(distance);
        }
    }
    let mut nearest = store([best; 2]);
    nearest[4..4 + MORE].copy_from_slice(&of_more);
    nearest
}

/// Counts the bits of a word. In assembly, because the compiler would count several words in one
/// register, which takes longer.
#[expect(clippy::inline_always, reason = "one instruction")]
#[inline(always)]
fn ones(of: u64) -> u64 {
    let mut ones = of;
    // SAFETY: every caller has the target feature `popcnt`.
    unsafe { std::arch::asm!("popcnt {0}, {0}", inout(reg) ones, options(pure, nomem, nostack)) };
    ones
}

/// Returns the Hamming distance of a code to each of four. Lanes are added bitwise first, so that
/// half as many are looked up (Muła, Kurz and Lemire, "Faster population counts using AVX2
/// instructions", 2018).
#[target_feature(enable = "avx2")]
fn distances(query: &EightCodes, code: &SignCode, half: usize) -> __m256i {
    let mut differing = [_mm256_setzero_si256(); LANES];
    for ((differing, query), own) in differing.iter_mut().zip(query).zip(code.lanes()) {
        *differing = _mm256_xor_si256(load(query, half), broadcast(*own));
    }
    let [[first, twos], [second, more_twos]] = [
        carry_save_add(differing[0], differing[1], differing[2]),
        carry_save_add(differing[3], differing[4], differing[5]),
    ];
    let (ones, still_more) = (_mm256_xor_si256(first, second), _mm256_and_si256(first, second));
    let [twos, fours] = carry_save_add(twos, more_twos, still_more);
    // At most 8, 16 and 32 differing bits: each fits into a byte.
    let one = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let two = _mm256_add_epi8(one, one);
    let sum = _mm256_add_epi8(
        _mm256_add_epi8(bits(ones, one), bits(twos, two)),
        bits(fours, _mm256_add_epi8(two, two)),
    );
    _mm256_sad_epu8(sum, _mm256_setzero_si256())
}

/// Adds three bits at every position: returns the sum bits (ones) and the carry bits (twos).
#[target_feature(enable = "avx2")]
fn carry_save_add(a: __m256i, b: __m256i, c: __m256i) -> [__m256i; 2] {
    let differ = _mm256_xor_si256(a, b);
    [
        _mm256_xor_si256(differ, c),
        _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(differ, c)),
    ]
}

/// Counts the bits of each byte by looking up both half bytes.
#[target_feature(enable = "avx2")]
fn bits(of: __m256i, counts: __m256i) -> __m256i {
    let half = _mm256_set1_epi8(15);
    let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(of, half));
    let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(of), half));
    _mm256_add_epi8(low, high)
}

/// Looks up the sums of fours for 32 vectors at once (André, Kermarrec and Le Scouarnec, "Cache
/// locality is not enough", 2015).
#[target_feature(enable = "avx2")]
pub fn sums(query: &CoarseQuery, signs: &Signs) -> [i16; 64] {
    let (zero, low, even) = (_mm256_setzero_si256(), _mm256_set1_epi8(15), _mm256_set1_epi16(255));
    // Accumulators of the even and of the odd vectors.
    let mut sums = [[_mm256_set1_epi16(query.smallest); 2], [_mm256_set1_epi16(query.smallest); 2]];
    // Eight sums of at most 28 fit into a byte.
    for (signs, fours) in signs.as_chunks::<4>().0.iter().zip(query.fours.as_chunks::<8>().0) {
        let mut parts = [zero; 2];
        for (signs, [first, second]) in signs.iter().zip(fours.as_chunks().0) {
            let (first, second) = (table(first), table(second));
            for (part, signs) in parts.iter_mut().zip(signs.as_chunks().0) {
                let signs = load_unsigned(signs);
                let of_first = _mm256_shuffle_epi8(first, _mm256_and_si256(signs, low));
                let of_second = _mm256_shuffle_epi8(
                    second,
                    _mm256_and_si256(_mm256_srli_epi16::<4>(signs), low),
                );
                *part = _mm256_add_epi8(*part, _mm256_add_epi8(of_first, of_second));
            }
        }
        for (sums, part) in sums.iter_mut().zip(parts) {
            sums[0] = _mm256_add_epi16(sums[0], _mm256_and_si256(part, even));
            sums[1] = _mm256_add_epi16(sums[1], _mm256_srli_epi16::<8>(part));
        }
    }
    let mut in_order = [0; 64];
    for (in_order, [even, odd]) in in_order.as_chunks_mut::<32>().0.iter_mut().zip(sums) {
        let (first, second) = (_mm256_unpacklo_epi16(even, odd), _mm256_unpackhi_epi16(even, odd));
        let halves = [
            _mm256_permute2x128_si256::<0x20>(first, second),
            _mm256_permute2x128_si256::<0x31>(first, second),
        ];
        for (in_order, half) in in_order.as_chunks_mut::<16>().0.iter_mut().zip(halves) {
            // SAFETY: the slice holds sixteen numbers; the store is unaligned.
            unsafe { _mm256_storeu_si256(in_order.as_mut_ptr().cast(), half) };
        }
    }
    in_order
}

/// Loads sixteen bytes into both halves of a register, as a shuffle needs them.
#[target_feature(enable = "avx2")]
fn table(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: the bytes are readable through the reference; the load is unaligned.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
fn load_unsigned(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the bytes are readable through the reference; the load is unaligned.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
pub fn above(numbers: &[f32; 64], threshold: f32) -> u64 {
    let threshold = _mm256_set1_ps(threshold);
    let mut above = 0;
    for (part, numbers) in numbers.as_chunks::<8>().0.iter().enumerate() {
        // SAFETY: eight numbers are readable through the reference; the load is unaligned.
        let numbers = unsafe { _mm256_loadu_ps(numbers.as_ptr()) };
        let eight = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(numbers, threshold));
        above |= u64::from(eight.cast_unsigned()) << (8 * part);
    }
    above
}
