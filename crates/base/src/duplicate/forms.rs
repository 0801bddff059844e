//! Word forms: whether two words are forms of one word, or synonyms.
//!
//! Handles the endings of English. This is not a stemmer: words are compared in pairs, and only
//! words without a counterpart, so that `plan` and `plane`, or `party` and `part`, are rarely
//! compared.

use crate::duplicate::lexicon::{IRREGULAR, IRREGULAR_PLURALS, SYNONYMS};

/// Returns the possible base forms of a word, itself first: `running` gives `running`, `runn`,
/// `runne`, `run`.
pub(crate) fn bases(word: &str) -> Vec<String> {
    let mut bases = vec![word.to_owned()];
    bases.extend(IRREGULAR.get(word).or_else(|| IRREGULAR_PLURALS.get(word)).map(str::to_owned));
    for stem in ["ing", "ed"]
        .iter()
        .filter_map(|ending| stem(word, ending))
        .filter(|stem| !stem.ends_with('e'))
    {
        bases.extend([stem.to_owned(), format!("{stem}e")]);
        bases.extend(undoubled(stem));
    }
    bases.extend(
        ["ies", "ied"]
            .iter()
            .filter_map(|ending| word.strip_suffix(ending))
            .map(|stem| format!("{stem}y")),
    );
    if let Some(stem) = stem(word, "s").filter(|s| !s.ends_with(['s', 'u', 'i']) && word != "news")
    {
        bases.push(stem.to_owned());
        bases.extend(
            stem.strip_suffix('e')
                .filter(|s| s.ends_with(['s', 'x', 'z', 'h', 'o']))
                .map(str::to_owned),
        );
    }
    bases
}

/// Returns the words that stand for the meanings of base forms.
pub(crate) fn meanings(bases: &[String]) -> Vec<&str> {
    let synonyms = bases.iter().filter_map(|base| SYNONYMS.get(base));
    bases.iter().map(String::as_str).chain(synonyms).collect()
}

/// Removes an ending if the rest can be a word.
fn stem<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    word.strip_suffix(ending)
        .filter(|stem| stem.len() > 2 && stem.contains(['a', 'e', 'i', 'o', 'u', 'y']))
}

/// Removes one of two equal last letters: `run` from `runn`.
fn undoubled(stem: &str) -> Option<String> {
    let mut reversed = stem.chars().rev();
    let (final_char, before) = (reversed.next()?, reversed.next()?);
    (final_char == before).then(|| stem[..stem.len() - final_char.len_utf8()].to_owned())
}

/// Returns true for irregular forms, such as `ran`.
pub(crate) fn is_irregular(word: &str) -> bool {
    IRREGULAR.get(word).is_some() || is_irregular_plural(word)
}

/// Returns true for irregular plurals, such as `children`.
pub(crate) fn is_irregular_plural(word: &str) -> bool {
    IRREGULAR_PLURALS.get(word).is_some()
}

/// The possible base forms of a word, and their synonyms.
pub(crate) struct WordForms {
    bases: Vec<String>,
    synonyms: Vec<&'static str>,
}

impl WordForms {
    /// Computes the forms of a word in lower case.
    pub fn of(word: &str) -> Self {
        let bases = bases(word);
        let synonyms = bases.iter().filter_map(|base| SYNONYMS.get(base)).collect();
        Self { bases, synonyms }
    }

    /// Returns true if two words are forms of one word, synonyms, or derived from each other.
    pub(crate) fn is_related(&self, other: &Self) -> bool {
        let mut meanings =
            self.bases.iter().map(String::as_str).chain(self.synonyms.iter().copied());
        meanings.any(|word| other.means(word))
            || self.is_derived_from(other)
            || other.is_derived_from(self)
    }

    /// Returns true if the word is a base form or a synonym of this one.
    fn means(&self, word: &str) -> bool {
        self.synonyms.contains(&word) || self.bases.iter().any(|base| base == word)
    }

    /// Returns true for derivations: `snowy` from `snow`, `wooden` from `wood`, `player` from
    /// `plays`, `driver` from `driving`, `editor` from `editing`, `protective` from `protection`.
    fn is_derived_from(&self, other: &Self) -> bool {
        let has_ending = |base: &str, ending: &str| {
            let mut stems = self.bases.iter().filter_map(|word| word.strip_suffix(ending));
            stems.any(|stem| stem == base || undoubled(stem).is_some_and(|stem| stem == base))
        };
        // Only from the progressive form: `routes` may be a noun, which no `router` is.
        let is_agent_of = |base: &String| {
            let stem = base.strip_suffix('e').unwrap_or(base);
            other.bases[0].ends_with("ing") && (has_ending(stem, "er") || has_ending(stem, "or"))
        };
        let is_adjective =
            |base: &String| base.len() > 2 && (has_ending(base, "y") || has_ending(base, "en"));
        let is_action_noun = |base: &String| {
            base.strip_suffix("ion")
                .is_some_and(|s| s.len() > 4 && self.bases[0].strip_suffix("ive") == Some(s))
        };
        other.bases[1..].iter().any(|base| has_ending(base, "er") || is_agent_of(base))
            || other.bases.iter().any(|base| is_adjective(base) || is_action_noun(base))
    }
}
