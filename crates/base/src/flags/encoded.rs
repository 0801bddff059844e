//! Decodes base64, hexadecimal and percent-encoded parts of a text that contain a sentence.
//!
//! Hashes, keys and images do not decode to a sentence, so they are not found.

use base64_simd::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Minimum characters of an encoded part.
const MIN_ENCODED: usize = 24;
/// Maximum parts that are decoded.
const MAX_PARTS: usize = 64;

/// A sentence that an encoded part contains.
pub(super) struct Decoded {
    pub text: String,
    /// False for the percent encoding, which addresses need.
    pub is_suspicious: bool,
}

/// Returns the sentences that the encoded parts of a text contain.
pub(super) fn decoded_texts(text: &str) -> Vec<Decoded> {
    let mut found = Vec::new();
    let is_code = |c: char| c.is_ascii_alphanumeric() || "+/-_=%".contains(c);
    let parts = text.split(|c| !is_code(c)).filter(|part| part.len() >= MIN_ENCODED);
    for part in parts.take(MAX_PARTS) {
        let part = part.trim_matches('=');
        let decoded = [(hexadecimal(part), true), (percent(part), false), (base64(part), true)];
        let sentences = decoded
            .into_iter()
            .filter_map(|(text, is_suspicious)| text.map(|text| Decoded { text, is_suspicious }))
            .filter(|decoded| is_sentence(&decoded.text));
        found.extend(sentences.take(1));
    }
    found
}

fn base64(part: &str) -> Option<String> {
    // One of the last characters may belong to the text around it.
    (0..=1).find_map(|cut| {
        let part = part.get(..part.len() - cut)?.as_bytes();
        let bytes =
            STANDARD_NO_PAD.decode_to_vec(part).or_else(|_| URL_SAFE_NO_PAD.decode_to_vec(part));
        String::from_utf8(bytes.ok()?).ok()
    })
}

fn hexadecimal(part: &str) -> Option<String> {
    if !part.len().is_multiple_of(2) || !part.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = part.as_bytes().chunks_exact(2).map(byte).collect();
    String::from_utf8(bytes?).ok()
}

fn percent(part: &str) -> Option<String> {
    if part.matches('%').count() < 3 {
        return None;
    }
    let mut pieces = part.split('%');
    let mut bytes = pieces.next()?.as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(piece.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(piece.get(2..)?.as_bytes());
    }
    String::from_utf8(bytes).ok()
}

/// Returns true for words with spaces between them.
fn is_sentence(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic()).count();
    let spaces = text.matches(' ').count();
    spaces >= 2 && (letters + spaces) * 10 >= text.chars().count() * 8
}
