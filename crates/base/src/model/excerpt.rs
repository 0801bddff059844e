//! Which part of each text a list returns: its beginning, or the part around a text that was searched.

use crate::Result;
use loci_proto::error::Failure;
use loci_proto::requests::list::ListRequest;

/// Maximum characters of one text.
const MAX_TEXT_CHARS: usize = 40_000;
/// Maximum characters of the texts of a page: the command line reads replies of at most 16 MiB.
const MAX_PAGE_CHARS: usize = 2_000_000;

/// Which part of each text a list returns.
pub struct Excerpt {
    /// Maximum number of characters; `None` for no text.
    chars: Option<usize>,
    /// The text that was searched, in lower case; the excerpt contains its first occurrence.
    around: Option<String>,
}

impl Excerpt {
    /// Checks the request; a page has at most as many characters as a reply may have.
    pub fn of(request: &ListRequest, limit: usize) -> Result<Self> {
        let Some(chars) = request.text_chars else { return Ok(Self { chars: None, around: None }) };
        if !(1..=MAX_TEXT_CHARS).contains(&chars) {
            let message = format!("must be a whole number in 1..{MAX_TEXT_CHARS}");
            return Err(Failure::invalid("text_chars", message));
        }
        let rows = request.ids.as_ref().map_or(limit, Vec::len).max(1);
        Ok(Self {
            chars: Some(chars.min(MAX_PAGE_CHARS / rows)),
            around: request.text.as_deref().map(str::to_lowercase),
        })
    }

    /// Returns the part of a text; `None` if no text is wanted.
    pub fn from(&self, content: &str) -> Option<String> {
        let chars = self.chars?;
        if content.chars().count() <= chars {
            return Some(content.to_owned());
        }
        let match_at = self.around.as_deref().and_then(|text| content.to_lowercase().find(text));
        // Lower case may have another length; the number of characters is near enough for a passage.
        let before = match_at.map_or(0, |at| content.to_lowercase()[..at].chars().count());
        let start = if before < chars { 0 } else { before - chars / 4 };
        Some(content.chars().skip(start).take(chars).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_contains_what_was_searched() {
        let request = |text: Option<&str>| ListRequest {
            text: text.map(str::to_owned),
            text_chars: Some(20),
            ..ListRequest::default()
        };
        let long = format!("{} HERON {}", "a".repeat(50), "b".repeat(50));
        let of =
            |text| Excerpt::of(&request(text), 50).ok().and_then(|excerpt| excerpt.from(&long));
        assert_eq!(of(None), Some("a".repeat(20)));
        assert!(of(Some("heron")).is_some_and(|part| part.contains("HERON")));
        let none = ListRequest { text_chars: Some(0), ..ListRequest::default() };
        assert!(Excerpt::of(&none, 50).is_err());
    }
}
