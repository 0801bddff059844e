//! Whether two texts are one wording: the same words in the same order.
//!
//! Only such texts are merged when they are stored, because nothing is lost with either. Free are articles, contractions, a capital at
//! the start, the number of `is`, `was` and `has`, and a full stop or exclamation mark at the end. All else is compared byte for byte. Not here:
//! texts that say the same in other words, which are folded when they are read (`same_fact`).

use crate::duplicate::lexicon::function_word;
use std::borrow::Cow;

/// Verbs whose number says nothing that the noun does not say.
const AGREEMENT: [(&str, &str); 3] = [("are", "is"), ("were", "was"), ("have", "has")];
/// What the ends of contractions stand for. Not here: `'s` and `'d`, which have two meanings.
const CONTRACTIONS: [(&str, &str); 5] =
    [("n't", "not"), ("'re", "are"), ("'m", "am"), ("'ve", "have"), ("'ll", "will")];

/// Words that only English has, and most of its sentences.
const ENGLISH: [&str; 6] = ["the", "is", "are", "of", "and", "with"];
/// Words that say something else with `a`.
const WITH_A: [&str; 10] =
    ["bit", "certain", "couple", "few", "good", "little", "lot", "number", "second", "third"];

/// Words that say something else with `the`.
const WITH_THE: [&str; 7] = ["last", "least", "more", "most", "next", "one", "only"];

/// Signs around what is quoted: nothing in such a text is free.
const QUOTES: [char; 6] = ['`', '"', '“', '„', '«', '「'];

/// Returns true if two texts have the same words in the same order. Line breaks and further spaces count: code and tables have them.
pub fn is_same_wording(a: &str, b: &str) -> bool {
    let (a, b) = (without_end(a), without_end(b));
    if is_quoting(a) || is_quoting(b) {
        return a == b && !a.is_empty();
    }
    let (a, b) = (words(a), words(b));
    let (mut at, mut other) = (0, 0);
    while at < a.len() && other < b.len() {
        if a[at] == b[other] || is_free_article(&a, at) && is_free_article(&b, other) {
            (at, other) = (at + 1, other + 1);
        } else if may_be_left_out(&a, at) {
            at += 1;
        } else if may_be_left_out(&b, other) {
            other += 1;
        } else {
            return false;
        }
    }
    let is_empty = |words: &[Cow<'_, str>]| words.iter().all(|word| word.is_empty());
    at == a.len() && other == b.len() && !is_empty(&a)
}

fn is_quoting(text: &str) -> bool {
    text.contains(QUOTES) || text.split(' ').any(|token| token.starts_with('\''))
}

/// Returns the words in a form that is free of what does not count.
fn words(text: &str) -> Vec<Cow<'_, str>> {
    let mut words = Vec::new();
    for (at, token) in text.split(' ').map(Cow::Borrowed).enumerate() {
        push_expanded(
            if at == 0 { without_capital(&token).into_owned().into() } else { token },
            &mut words,
        );
    }
    words
}

/// Removes a full stop at the end, or an exclamation mark behind a word.
fn without_end(text: &str) -> &str {
    let text = text.trim();
    let before = |end: char, is_end: fn(char) -> bool| {
        text.strip_suffix(end).filter(|rest| rest.ends_with(is_end))
    };
    let is_of_sentence = |c: char| c.is_alphanumeric() || c == ')';
    // Not of a name in code: `user.save!`.
    let is_word = |rest: &&str| {
        let last = rest.rsplit(' ').next().unwrap_or_default();
        rest.contains(' ') && last.chars().all(char::is_alphabetic)
    };
    let exclamation = before('!', char::is_alphabetic).filter(is_word);
    before('.', is_of_sentence).or(exclamation).unwrap_or(text)
}

/// Returns a word without its capital, unless another sign of it is more than a small letter.
fn without_capital(token: &str) -> Cow<'_, str> {
    let mut signs = token.trim_end_matches(['.', ',', ';', ':', '!', '?']).chars();
    let first = signs.next().filter(|first| first.is_uppercase());
    let mut is_letter_alone = true;
    let is_plain = signs.all(|sign| {
        is_letter_alone = false;
        sign.is_lowercase() || matches!(sign, '\'' | '’')
    });
    match first {
        // `N is the number of retries`; but `A server is down`, `I am`.
        Some(first) if is_plain && (!is_letter_alone || matches!(first, 'A' | 'I')) => {
            let rest = &token[first.len_utf8()..];
            Cow::Owned(first.to_lowercase().chain(rest.chars()).collect())
        }
        _ => Cow::Borrowed(token),
    }
}

/// Returns true for an article for which another one may stand: not in `a few`, `the number of`.
fn is_free_article(words: &[Cow<'_, str>], at: usize) -> bool {
    let next = words.get(at + 1);
    matches!(words[at].as_ref(), "the" | "a" | "an")
        && next.is_some_and(|next| !WITH_A.contains(&next.as_ref()))
}

/// Returns true for an article that adds nothing: in an English text, before a noun, and not where it says which or that there are any: `the
/// few`, `in the charge of`, `the last week`, `the one who`.
fn may_be_left_out(words: &[Cow<'_, str>], at: usize) -> bool {
    let is_noun = |next: &Cow<'_, str>| {
        next.starts_with(char::is_alphabetic)
            && next.chars().nth(1).is_some()
            && (*next == "user" || function_word(&next.to_lowercase()).is_none())
            && !WITH_A.contains(&next.as_ref())
            && !WITH_THE.contains(&next.as_ref())
    };
    matches!(words[at].as_ref(), "the" | "a" | "an")
        && (at == 0 || words[at - 1] != "in")
        && words.get(at + 1).is_some_and(is_noun)
        && words.iter().any(|word| ENGLISH.contains(&word.as_ref()))
}

/// Adds a word, or the words that a contraction stands for.
fn push_expanded<'a>(word: Cow<'a, str>, words: &mut Vec<Cow<'a, str>>) {
    let (first, second) = match expanded(&word) {
        Some((first, second)) => (Cow::Owned(first), Some(Cow::Borrowed(second))),
        None => (word, None),
    };
    words.extend([Some(first), second].into_iter().flatten().map(|word| {
        let agreed = AGREEMENT.iter().find(|(plural, _)| *plural == word);
        agreed.map_or(word, |(_, singular)| Cow::Borrowed(*singular))
    }));
}

/// Returns the words that a contraction stands for: `do` and `not` for `don't`.
pub(crate) fn expanded(word: &str) -> Option<(String, &'static str)> {
    if word == "cannot" {
        return Some(("can".to_owned(), "not"));
    }
    let straight = word.replace('’', "'");
    let (stem, second) = CONTRACTIONS
        .iter()
        .find_map(|(ending, second)| Some((straight.strip_suffix(ending)?, *second)))?;
    let first = match stem {
        "ca" => "can",
        "wo" => "will",
        "sha" => "shall",
        stem => stem,
    };
    (!first.is_empty()).then(|| (first.to_owned(), second))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(a: &str, b: &str) -> bool {
        let found = is_same_wording(a, b);
        assert_eq!(found, is_same_wording(b, a), "{a} | {b}");
        found
    }

    #[test]
    fn articles_contractions_agreement_and_the_ends_are_free() {
        for (a, b) in [
            ("The user prefers tabs.", "User prefers tabs"),
            ("A server is down!", "The server is down"),
            ("The user prefers a dark roast", "User prefers dark roast."),
            ("User doesn't like long meetings", "The user does not like long meetings"),
            ("We can’t deploy on Fridays", "We cannot deploy on Fridays"),
            ("They're in Rome. we've left.", "they are in Rome. we have left"),
            ("The team have a wiki", "The team has a wiki"),
        ] {
            assert!(is_same(a, b), "{a} | {b}");
        }
    }

    #[test]
    fn whatever_may_be_another_fact_keeps_two() {
        for (a, b) in [
            ("Run git branch -d", "Run git branch -D"),
            ("Add it to Path", "Add it to PATH"),
            ("Path is set", "PATH is set"),
            ("Task: [ ] order the sieve", "Task: [x] order the sieve"),
            ("~~Use yarn~~, use pnpm", "Use yarn, ~~use pnpm~~"),
            ("Anna is allergic to mussels", "Anna's son is allergic to mussels"),
            ("We use Postgres", "We could use Postgres"),
            ("The invoice is paid", "The invoice is to be paid"),
            ("Anna reports to Henrik", "Henrik reports to Anna"),
            ("The server is down", "The servers are down"),
            ("The job runs", "The job ran"),
            ("Wait for 5 s", "Wait for 5 S"),
            ("Answer: A", "Answer:"),
            ("Node a is down", "Node is down"),
            ("Llama a Juan", "Llama Juan"),
            ("Die Heizung bleibt an Montagen aus", "Die Heizung bleibt Montagen aus"),
            ("Vitamin A helps", "Vitamin helps"),
            ("The API is public.", "The API is public?"),
            ("Tabs, not spaces", "Tabs not spaces"),
            ("He'd go", "He would go"),
            ("A little documentation exists", "Little documentation exists"),
            ("We kept a number of logs", "We kept the number of logs"),
            ("Paul a un serveur", "Paul un serveur"),
            ("x = 5!", "x = 5"),
            ("Don't push", "Doesn't push"),
            ("See No. A", "See No. a"),
            ("Run `fix the bug`", "Run `fix bug`"),
            ("The log says 'can't open'", "The log says 'cannot open'"),
            ("if ok:\n    a()\n    b()", "if ok:\n    a()\nb()"),
            ("The separator is '  '", "The separator is ' '"),
            ("The few tests that fail are flaky", "Few tests that fail are flaky"),
            ("Heron is in charge of Egret", "Heron is in the charge of Egret"),
            ("The most errors come from Safari", "Most errors come from Safari"),
            ("Anna is the one who deploys", "Anna is one who deploys"),
            ("The job ran the last week", "The job ran last week"),
            ("Se for a Lisboa, leve o crachá", "Se for Lisboa, leve o crachá"),
            ("Call user.save!", "Call user.save"),
            ("N is the number of retries", "n is the number of retries"),
            ("", ""),
        ] {
            assert!(!is_same(a, b), "{a} | {b}");
        }
    }
}
