//! `Profile`: how a model is used. What is put in front of a text, how the states of its tokens become one vector, and the longest chunk.
//!
//! The default is that of the pinned model. A folder of the user's own may have another one in `loci-profile.toml`. Not here: the profiles
//! that have a name (`named_models`), computing the vector (`pooling`).

use loci_engine::model::encoding::DIMENSIONS;
use serde::Deserialize;
use std::ops::RangeInclusive;

/// Maximum tokens of one chunk of the pinned model, `[CLS]` and `[SEP]` included. It was trained on up to 256.
pub const CHUNK_TOKENS: usize = 256;

/// Tokens that two neighbouring windows of a long text share.
pub const OVERLAP: usize = 32;

/// What a text is to the model, and how its content words are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// A query: all content words.
    Query,
    /// A memory: at most `MAX_SIGN_CODES` words, and none of the date and speaker in front of a dated line.
    Document,
}

/// The file of the profile in the folder of a model of the user's own.
pub const PROFILE_FILE: &str = "loci-profile.toml";
/// Allowed values of `max_tokens`.
const MAX_TOKENS: RangeInclusive<usize> = 2 * OVERLAP..=512;
/// Allowed values of `dimensions`.
const KEPT_DIMENSIONS: RangeInclusive<usize> = 64..=DIMENSIONS;
/// Maximum number of bytes of a prefix.
const MAX_PREFIX: usize = 100;

/// How the states of the tokens become the vector of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The mean of all tokens.
    #[default]
    Mean,
    /// The first token.
    Cls,
}

/// How a model is used.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Profile {
    /// Put in front of a query, with any space between them.
    pub query_prefix: String,
    /// Put in front of a text to store, and of each of its chunks.
    pub passage_prefix: String,
    /// How the states of the tokens become the vector.
    pub pooling: Pooling,
    /// Maximum tokens of one chunk, with the prefix and the two special tokens.
    pub max_tokens: usize,
    /// True if the vector is normalised to mean 0 and variance 1 before it is cut.
    pub layer_norm: bool,
    /// How many of the model's dimensions are kept; `None`: all. Only for a model that was trained for it (Matryoshka).
    pub dimensions: Option<usize>,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            query_prefix: String::new(),
            passage_prefix: String::new(),
            pooling: Pooling::Mean,
            max_tokens: CHUNK_TOKENS,
            layer_norm: false,
            dimensions: None,
        }
    }
}

impl Profile {
    /// Parses the text of a `loci-profile.toml`.
    ///
    /// # Errors
    /// The reason, which names the key.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        let profile: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().map_or("", |span| text.get(..span.start).unwrap_or(text));
            let line = before.matches('\n').count() + 1;
            format!("line {line}: {}", error.message())
        })?;
        profile.check()?;
        Ok(profile)
    }

    fn check(&self) -> Result<(), String> {
        let prefixes =
            [("query_prefix", &self.query_prefix), ("passage_prefix", &self.passage_prefix)];
        for (key, prefix) in prefixes {
            if prefix.len() > MAX_PREFIX || prefix.chars().any(char::is_control) {
                return Err(format!(
                    "{key} must have at most {MAX_PREFIX} bytes and no control characters"
                ));
            }
        }
        check_range("max_tokens", self.max_tokens, MAX_TOKENS)?;
        check_range("dimensions", self.dimensions.unwrap_or(DIMENSIONS), KEPT_DIMENSIONS)
    }

    /// Returns what is put in front of a text.
    #[must_use]
    pub fn prefix(&self, kind: TextKind) -> &str {
        match kind {
            TextKind::Query => &self.query_prefix,
            TextKind::Document => &self.passage_prefix,
        }
    }

    /// Returns how many dimensions of a model with `width` of them are kept.
    ///
    /// # Errors
    /// The reason if the model has too few dimensions, or too many to keep all.
    pub fn kept_of(&self, width: usize) -> Result<usize, String> {
        match self.dimensions {
            Some(kept) if kept > width => {
                Err(format!("the model has {width} dimensions, and dimensions = {kept} is more"))
            }
            Some(kept) => Ok(kept),
            None if KEPT_DIMENSIONS.contains(&width) => Ok(width),
            None if width < *KEPT_DIMENSIONS.start() => Err(format!(
                "the model has {width} dimensions; a model needs at least {}",
                KEPT_DIMENSIONS.start()
            )),
            None => Err(format!(
                "the model has {width} dimensions, and loci keeps at most {DIMENSIONS}; if the model was trained for shorter vectors \
                 (Matryoshka), set dimensions in {PROFILE_FILE}"
            )),
        }
    }

    /// Returns a text that differs for profiles that give other vectors; empty for the default.
    #[must_use]
    pub fn canonical(&self) -> String {
        if *self == Self::default() { String::new() } else { format!("{self:?}") }
    }
}

fn check_range(key: &str, value: usize, range: RangeInclusive<usize>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("{key} must be from {} to {}, not {value}", range.start(), range.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_has_the_defaults_of_the_pinned_model() {
        assert_eq!(Profile::from_toml(""), Ok(Profile::default()));
        let text = "query_prefix = \"query: \"\npooling = \"cls\"\ndimensions = 256\n";
        let profile = Profile::from_toml(text).expect("the profile is valid");
        assert_eq!((profile.prefix(TextKind::Query), profile.pooling), ("query: ", Pooling::Cls));
        assert_eq!((profile.max_tokens, profile.kept_of(768)), (CHUNK_TOKENS, Ok(256)));
    }

    #[test]
    fn a_wrong_profile_is_refused_with_its_key() {
        for (text, reason) in [
            ("\nprefix = \"x\"", "line 2: unknown field `prefix`"),
            ("pooling = \"max\"", "unknown variant `max`"),
            ("max_tokens = 30", "max_tokens must be from 64 to 512, not 30"),
            ("dimensions = 768", "dimensions must be from 64 to 384, not 768"),
            ("query_prefix = \"\\u0007\"", "query_prefix"),
        ] {
            let refusal = Profile::from_toml(text).expect_err("the profile is refused");
            assert!(refusal.contains(reason), "{refusal}");
        }
    }

    #[test]
    fn a_model_with_too_many_dimensions_needs_to_say_how_many_are_kept() {
        assert_eq!(Profile::default().kept_of(384), Ok(384));
        assert_eq!(Profile::default().kept_of(256), Ok(256));
        for width in [32, 768] {
            let refusal = Profile::default().kept_of(width).expect_err("the model is refused");
            assert!(refusal.contains(&format!("{width} dimensions")), "{refusal}");
        }
        let kept = Profile { dimensions: Some(384), ..Profile::default() };
        assert!(kept.kept_of(256).is_err());
    }
}
