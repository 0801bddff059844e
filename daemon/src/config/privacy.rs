//! `[privacy]`: which texts are refused, and what is replaced in the others. Not here: how secrets and personal data are recognised
//! (`engine::privacy`).

use crate::config::allowed::check_one_of;
use loci_engine::privacy::{PersonalData, Policy, SecretMode};
use loci_proto::error::Failure;
use serde::{Deserialize, Serialize};

/// Maximum number of own words.
const MAX_WORDS: usize = 200;
/// Maximum length of an own word, in characters.
const MAX_WORD_CHARS: usize = 100;

/// `[privacy]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Privacy {
    /// A text with a secret: `refuse`, `redact` or `allow`.
    pub secrets: String,
    /// Personal data that is replaced: `email`, `phone`, `card`, `iban`, `pesel`.
    pub redact: Vec<String>,
    /// Own words that are replaced.
    pub words: Vec<String>,
    /// Reduce a text that is HTML to its text.
    pub strip_html: bool,
}

impl Default for Privacy {
    fn default() -> Self {
        Self {
            secrets: "refuse".to_owned(),
            redact: Vec::new(),
            words: Vec::new(),
            strip_html: true,
        }
    }
}

impl Privacy {
    /// Returns the policy of the engine.
    ///
    /// # Errors
    /// `invalid`, naming the key; an own word is not repeated.
    pub fn policy(&self) -> Result<Policy, Failure> {
        check_one_of("privacy.secrets", &self.secrets, &["refuse", "redact", "allow"])?;
        let mode = match self.secrets.as_str() {
            "redact" => SecretMode::Redact,
            "allow" => SecretMode::Allow,
            _ => SecretMode::Refuse,
        };
        let names = PersonalData::ALL.map(PersonalData::as_str);
        let mut personal = Vec::new();
        for name in &self.redact {
            check_one_of("privacy.redact", name, &names)?;
            personal.extend(PersonalData::ALL.into_iter().find(|kind| kind.as_str() == name));
        }
        let invalid = |why: String| Failure::invalid("privacy.words", why);
        if self.words.len() > MAX_WORDS {
            return Err(invalid(format!("must have at most {MAX_WORDS} words")));
        }
        if self.words.iter().any(|word| word.chars().count() > MAX_WORD_CHARS) {
            return Err(invalid(format!("must have words of at most {MAX_WORD_CHARS} characters")));
        }
        Policy::new(mode, personal, &self.words, self.strip_html).map_err(invalid)
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use std::path::Path;

    fn refused(text: &str) -> String {
        let path = Path::new("/x/config.toml");
        Config::from_text(text, path).expect_err("is refused").to_string()
    }

    #[test]
    fn values_of_privacy_are_checked() {
        assert!(refused("[privacy]\nsecrets = \"no\"").contains("privacy.secrets must be one of"));
        assert!(
            refused("[privacy]\nredact = [\"name\"]").contains("privacy.redact must be one of")
        );
        let word = refused("[privacy]\nwords = [\"x\"]");
        assert!(word.contains("privacy.words must not contain a word of less than 2"), "{word}");
    }
}
