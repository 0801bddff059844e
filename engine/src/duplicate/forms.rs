//! Which words are forms of one word, or say the same.
//!
//! Endings only, as far as English notes need it. Deliberately not here: a stemmer. Two words are compared, none is cut down,
//! so `plan` and `plane`, or `party` and `part`, never meet unless both stand unanswered.

use super::words::{IRREGULAR, KINDS, SYNONYMS, says};

/// What a word may be a form of, itself first: `running` gives `running`, `runn`, `runne`, `run`.
pub(super) fn bases(word: &str) -> Vec<String> {
    let mut bases = vec![word.to_owned()];
    bases.extend(says(IRREGULAR, word).map(str::to_owned));
    for stem in ["ing", "ed"].iter().filter_map(|ending| stem(word, ending)).filter(|stem| !stem.ends_with('e')) {
        bases.extend([stem.to_owned(), format!("{stem}e")]);
        bases.extend(undoubled(stem));
    }
    bases.extend(["ies", "ied"].iter().filter_map(|ending| word.strip_suffix(ending)).map(|stem| format!("{stem}y")));
    if let Some(stem) = stem(word, "s").filter(|s| !s.ends_with(['s', 'u', 'i']) && word != "news") {
        bases.push(stem.to_owned());
        bases.extend(stem.strip_suffix('e').filter(|s| s.ends_with(['s', 'x', 'z', 'h', 'o'])).map(str::to_owned));
    }
    bases
}

/// The word without an ending, if what is left can be a word.
fn stem<'a>(word: &'a str, ending: &str) -> Option<&'a str> {
    word.strip_suffix(ending).filter(|stem| stem.len() > 2 && stem.contains(['a', 'e', 'i', 'o', 'u', 'y']))
}

/// `run` of `runn`.
fn undoubled(stem: &str) -> Option<String> {
    let mut last = stem.chars().rev();
    let (one, two) = (last.next()?, last.next()?);
    (one == two).then(|| stem[..stem.len() - one.len_utf8()].to_owned())
}

/// Whether two words are forms of one, or say the same.
pub(super) fn related(a: &str, b: &str) -> bool {
    let (of_a, of_b) = (bases(a), bases(b));
    let alike = |x: &str, y: &str| {
        let (x, y) = (says(SYNONYMS, x).unwrap_or(x), says(SYNONYMS, y).unwrap_or(y));
        x == y || says(KINDS, x) == Some(y) || says(KINDS, y) == Some(x)
    };
    of_a.iter().any(|x| of_b.iter().any(|y| alike(x, y))) || derived(&of_a, &of_b) || derived(&of_b, &of_a)
}

/// `snowy` of `snow`, `wooden` of `wood`, `player` of `plays`, `protective` of `protection`.
fn derived(from: &[String], to: &[String]) -> bool {
    let made = |base: &str, ending: &str| {
        from.iter().any(|word| word.strip_suffix(ending).is_some_and(|stem| stem == base || undoubled(stem).is_some_and(|s| s == base)))
    };
    let agent = to.len() > 1 && to[1..].iter().any(|base| made(base, "er"));
    let quality = |base: &String| base.len() > 2 && (made(base, "y") || made(base, "en"));
    let deed = |base: &String| base.strip_suffix("ion").is_some_and(|stem| stem.len() > 4 && from[0].strip_suffix("ive") == Some(stem));
    agent || to.iter().any(|base| quality(base) || deed(base))
}
