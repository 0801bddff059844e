//! Names of entities, and whether a text contains one. Pure.
//!
//! A name is a sequence of words (letters and digits), compared without case and width. So `JS` is
//! found in "ask JS.", but not in "JSON". In scripts without spaces each character counts as a
//! word, so a name is found inside a sentence.

use crate::text::tokenize;
use crate::text::tokenize::Grams;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Maximum words of a name; longer names are ignored.
const MAX_WORDS: usize = 6;
/// Maximum searched names of one entity.
const MAX_NAMES: usize = 32;

/// The searched names of an entity, each as lower-case words joined by one space.
///
/// An alias counts in the entity's own project alone. In others the entity has one name: aliases
/// cost nothing, and with thirty common words for aliases it would be in every recall of every project.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EntityNames {
    /// `name` of its metadata.
    pub own: Option<String>,
    /// `aliases` of its metadata.
    pub aliases: Vec<String>,
}

impl EntityNames {
    /// Returns the names of an entity.
    pub fn of(metadata: &Map<String, Value>) -> Self {
        let searched = |value: &Value| {
            value
                .as_str()
                .map(words)
                .filter(|words| is_searchable(words))
                .map(|name| name.join(" "))
        };
        let own = metadata.get("name").and_then(searched);
        let aliases = metadata.get("aliases").and_then(Value::as_array).into_iter().flatten();
        let mut aliases: Vec<String> = aliases.filter_map(searched).take(MAX_NAMES - 1).collect();
        aliases.sort_unstable();
        aliases.dedup();
        aliases.retain(|alias| Some(alias) != own.as_ref());
        Self { own, aliases }
    }

    /// Returns all names, the own one first.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.own.iter().chain(&self.aliases)
    }

    /// Returns the names that count in a text of its own project, or of another one.
    pub fn counting(&self, is_own_project: bool) -> impl Iterator<Item = &String> {
        self.own.iter().chain(self.aliases.iter().filter(move |_| is_own_project))
    }

    /// Returns whether it has none.
    pub fn is_empty(&self) -> bool {
        self.own.is_none() && self.aliases.is_empty()
    }
}

/// Returns true if the words can be searched as a name: not a single letter, and not only digits.
fn is_searchable(words: &[String]) -> bool {
    let letters = words.iter().flat_map(|word| word.chars()).filter(|c| c.is_alphabetic()).count();
    (1..=MAX_WORDS).contains(&words.len())
        && letters >= 1
        && words.iter().map(|word| word.chars().count()).sum::<usize>() >= 2
}

/// Returns every possible name in a text: each sequence of up to six words.
pub fn candidates(text: &str) -> HashSet<String> {
    let words = words(text);
    let spans = (0..words.len()).flat_map(|start| {
        (start + 1..=(start + MAX_WORDS).min(words.len())).map(move |end| (start, end))
    });
    spans.map(|(start, end)| words[start..end].join(" ")).collect()
}

/// Returns the leading words of a name that are in a script without spaces, joined as they occur in
/// a text; `None` if there are none.
pub fn unspaced_prefix(name: &str) -> Option<String> {
    let characters: Vec<&str> =
        name.split(' ').take_while(|word| word.starts_with(tokenize::is_unspaced)).collect();
    (!characters.is_empty()).then(|| characters.concat())
}

/// Returns whether a text contains the words of a name in sequence.
pub fn contains_name(text: &str, name: &str) -> bool {
    let (words, name): (_, Vec<&str>) = (words(text), name.split(' ').collect());
    words.windows(name.len()).any(|window| window.iter().zip(&name).all(|(a, b)| a == b))
}

fn words(text: &str) -> Vec<String> {
    tokenize::words(text, Grams::Singles)
        .into_iter()
        .map(|word| tokenize::lower(&text[word]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(metadata: &Value) -> Vec<String> {
        let metadata = metadata.as_object().expect("the metadata is an object");
        EntityNames::of(metadata).all().cloned().collect()
    }

    #[test]
    fn names_and_aliases_ignore_case_and_diacritics() {
        assert_eq!(
            names(&json!({"name": "John  Smith", "aliases": ["JS", "john-smith", "7", "x"]})),
            ["john smith", "js"]
        );
        assert!(names(&json!({"name": 3, "aliases": "no list"})).is_empty());
    }

    #[test]
    fn a_name_is_found_as_whole_words_only() {
        assert!(
            contains_name("Ask JS. He knows", "js")
                && contains_name("said John\nSmith", "john smith")
        );
        assert!(
            !contains_name("a JSON file", "js") && !contains_name("John and Smith", "john smith")
        );
        assert!(
            contains_name("会議室で田中さんに聞く", "田 中")
                && contains_name("Ｌｏｃｉ is here", "loci")
        );
        assert!(candidates("met John Smith today").contains("john smith"));
    }
}
