//! What is sent of a text: without private parts, with secrets and personal data replaced, and in chunks. PURE.
//!
//! Not here: the rules (`engine::privacy`), sending.

use crate::embedding::profile::TextKind;
use loci_engine::privacy::Policy;

/// Maximum number of bytes of a chunk, about 500 tokens of English: a vector of a longer text says little about each of its parts.
pub const CHUNK_BYTES: usize = 2000;
/// Bytes that two neighbouring chunks share.
const OVERLAP_BYTES: usize = 200;
/// Sent for a text of which nothing is left, because no provider takes an empty one.
const NOTHING_LEFT: &str = "[PRIVATE]";

/// Returns the chunks of a text as they are sent, at least one. Of a query there is only the first.
#[must_use]
pub fn chunks(policy: &Policy, text: &str, kind: TextKind) -> Vec<String> {
    // The whole text is screened before it is cut: a secret that is cut in two is not recognised.
    let screened = policy.outgoing(text);
    let text = match screened.trim() {
        "" => NOTHING_LEFT,
        text => text,
    };
    let mut chunks = split(text);
    if kind == TextKind::Query {
        chunks.truncate(1);
    }
    chunks
}

/// Returns about how many tokens a text has: rather too many than too few, as the daily limit is checked with it.
#[must_use]
pub fn estimate_tokens(text: &str) -> u64 {
    tokens_of_bytes(text.len() as u64)
}

/// The same by the size of texts.
#[must_use]
pub fn tokens_of_bytes(bytes: u64) -> u64 {
    bytes / 3 + 1
}

fn split(text: &str) -> Vec<String> {
    let (mut chunks, mut start) = (Vec::new(), 0);
    while text.len() - start > CHUNK_BYTES {
        let end = boundary(text, start + CHUNK_BYTES);
        chunks.push(text[start..end].trim().to_owned());
        start = boundary(text, end - OVERLAP_BYTES);
    }
    chunks.push(text[start..].trim().to_owned());
    chunks
}

/// Returns the last end of a word within 100 bytes before a position, else the last end of a character.
fn boundary(text: &str, at: usize) -> usize {
    let at = (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let near = (at.saturating_sub(100)..at).find(|near| text.is_char_boundary(*near)).unwrap_or(at);
    text[near..at].rfind(char::is_whitespace).map_or(at, |space| near + space)
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_engine::privacy::{PersonalData, SecretMode};

    #[test]
    fn secrets_personal_data_and_private_parts_stay_here_whatever_the_mode() {
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let text = format!(
            "Deploy with {token}, ask anna@example.org <private>about the raise</private> first"
        );
        for mode in [SecretMode::Refuse, SecretMode::Redact, SecretMode::Allow] {
            let policy = Policy::new(mode, vec![PersonalData::Email], &["first".to_owned()], true);
            let policy = policy.expect("the policy is valid");
            let sent = chunks(&policy, &text, TextKind::Document);
            assert_eq!(
                sent,
                ["Deploy with [SECRET:github-token], ask [EMAIL]  [REDACTED]"],
                "{mode:?}"
            );
        }
        let policy = Policy::default();
        assert_eq!(chunks(&policy, "<private>all</private>", TextKind::Query), [NOTHING_LEFT]);
        assert_eq!(chunks(&policy, &"x ".repeat(40_000), TextKind::Document), [NOTHING_LEFT]);
    }

    #[test]
    fn a_long_text_is_split_at_words_and_no_part_is_lost() {
        let words: Vec<String> = (0..900).map(|number| format!("wörd{number}")).collect();
        let text = words.join(" ");
        let sent = chunks(&Policy::default(), &text, TextKind::Document);
        assert!(sent.len() > 3 && sent.iter().all(|chunk| chunk.len() <= CHUNK_BYTES));
        for word in &words {
            assert!(sent.iter().any(|chunk| chunk.split(' ').any(|own| own == word)), "{word}");
        }
        assert_eq!(chunks(&Policy::default(), &text, TextKind::Query), sent[..1]);
        let dense = "ż".repeat(3000);
        assert!(
            chunks(&Policy::default(), &dense, TextKind::Document).concat().len() >= dense.len()
        );
    }

    #[test]
    fn the_estimate_is_above_the_tokens_of_a_text() {
        // 4 bytes are a token in English, 2 to 3 in other languages.
        assert_eq!([estimate_tokens(""), estimate_tokens("The spare keys")], [1, 5]);
    }
}
