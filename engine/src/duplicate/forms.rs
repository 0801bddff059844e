//! Which words are forms of one word, or say the same.
//!
//! Endings only, as far as English notes need it. Deliberately not here: a stemmer. Two words are compared, none is cut down,
//! so `plan` and `plane`, or `party` and `part`, never meet unless both stand unanswered.

use crate::duplicate::lexicon::{IRREGULAR, KINDS, SYNONYMS, says};

/// What a word may be a form of, itself first: `running` gives `running`, `runn`, `runne`, `run`.
pub(crate) fn bases(word: &str) -> Vec<String> {
    let mut bases = vec![word.to_owned()];
    bases.extend(says(IRREGULAR, word).map(str::to_owned));
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

/// The word without an ending, if what is left can be a word.
fn stem<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    word.strip_suffix(ending)
        .filter(|stem| stem.len() > 2 && stem.contains(['a', 'e', 'i', 'o', 'u', 'y']))
}

/// `run` of `runn`.
fn undoubled(stem: &str) -> Option<String> {
    let mut last = stem.chars().rev();
    let (one, two) = (last.next()?, last.next()?);
    (one == two).then(|| stem[..stem.len() - one.len_utf8()].to_owned())
}

/// A form that no ending explains.
pub(crate) fn is_irregular(word: &str) -> bool {
    says(IRREGULAR, word).is_some()
}

/// What a word may be a form of, and what each of these means.
pub(crate) struct Forms {
    bases: Vec<String>,
    meanings: Vec<&'static str>,
}

impl Forms {
    /// The forms of a word in lower case.
    pub(crate) fn of(word: &str) -> Self {
        let bases = bases(word);
        let meanings = bases.iter().filter_map(|base| says(SYNONYMS, base)).collect();
        Self { bases, meanings }
    }

    /// Whether two words are forms of one, or say the same.
    pub(crate) fn related(&self, other: &Self) -> bool {
        self.bases.iter().any(|base| other.means(base))
            || self.meanings.iter().any(|meaning| other.means(meaning))
            || self.is_a(other)
            || other.is_a(self)
            || self.derived_from(other)
            || other.derived_from(self)
    }

    fn means(&self, word: &str) -> bool {
        self.meanings.contains(&word) || self.bases.iter().any(|base| base == word)
    }

    /// A boy is a child.
    fn is_a(&self, other: &Self) -> bool {
        let words = self.bases.iter().map(String::as_str).chain(self.meanings.iter().copied());
        words.filter_map(|word| says(KINDS, word)).any(|kind| other.means(kind))
    }

    /// `snowy` of `snow`, `wooden` of `wood`, `player` of `plays`, `protective` of `protection`.
    fn derived_from(&self, other: &Self) -> bool {
        let made = |base: &str, ending: &str| {
            let mut stems = self.bases.iter().filter_map(|word| word.strip_suffix(ending));
            stems.any(|stem| stem == base || undoubled(stem).is_some_and(|stem| stem == base))
        };
        let quality = |base: &String| base.len() > 2 && (made(base, "y") || made(base, "en"));
        let report = |base: &String| {
            base.strip_suffix("ion")
                .is_some_and(|s| s.len() > 4 && self.bases[0].strip_suffix("ive") == Some(s))
        };
        other.bases[1..].iter().any(|base| made(base, "er"))
            || other.bases.iter().any(|base| quality(base) || report(base))
    }
}
