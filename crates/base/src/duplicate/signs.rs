//! Whether two texts write one token with other signs: `-d` and `-D`, `Path` and `PATH`, `[ ]` and `[x]`.
//!
//! A token with a sign or a capital inside is compared byte for byte. Not here: numbers, which may be written in several ways (`scan`).

use std::collections::BTreeMap;

/// Signs around a token that are no part of it.
const AROUND: [char; 13] = ['"', '\'', '`', '(', ')', ',', ';', '“', '”', '‘', '’', '«', '»'];
/// Signs at the end of a token that are no part of it.
const AT_END: [char; 4] = ['.', ':', '!', '?'];

/// Signs that a number in a sentence rarely has.
const SIGNS_OF_CODE: [char; 9] = ['+', ':', '=', '_', '/', '\\', '#', '@', '~'];

/// Returns true if a token of both texts, or a sign between words, is written differently, or if one text has a marked token of its own.
pub fn are_changed(a: &str, b: &str) -> bool {
    let (code, other_code) = (code_spans(a), code_spans(b));
    if !code.is_empty() && !other_code.is_empty() && code != other_code {
        return true;
    }
    let (a, b) = (Signs::of(a), Signs::of(b));
    let is_rewritten = |(letters, token): (&String, &Token)| {
        b.tokens.get(letters).is_some_and(|other| {
            (token.is_marked || other.is_marked) && token.spellings != other.spellings
        })
    };
    let has_own = |side: &Signs, other: &Signs| {
        side.tokens
            .iter()
            .any(|(letters, token)| token.is_name && !other.tokens.contains_key(letters))
    };
    a.between != b.between
        || a.tokens.iter().any(is_rewritten)
        || has_own(&a, &b)
        || has_own(&b, &a)
}

/// Returns what stands between backticks, sorted.
fn code_spans(text: &str) -> Vec<&str> {
    let mut spans: Vec<&str> = text.split('`').skip(1).step_by(2).collect();
    spans.sort_unstable();
    spans
}

/// A token of a text: all tokens with the same letters and digits.
#[derive(Default)]
struct Token {
    /// Sorted; in lower case if it is not marked.
    spellings: Vec<String>,
    /// One of them has a sign or a capital inside.
    is_marked: bool,
    /// One of these is neither an abbreviation nor a number with its unit, which may be written in other words.
    is_name: bool,
}

/// All tokens of a text.
#[derive(Default)]
struct Signs<'a> {
    /// By letters and digits in lower case.
    tokens: BTreeMap<String, Token>,
    /// ASCII tokens without letters and digits, sorted.
    between: Vec<&'a str>,
}

impl<'a> Signs<'a> {
    fn of(text: &'a str) -> Self {
        let mut signs = Self::default();
        for token in text.split_whitespace() {
            let token = core(token);
            let letters: String = token
                .chars()
                .filter(|c| c.is_alphanumeric())
                .flat_map(char::to_lowercase)
                .collect();
            if letters.is_empty() {
                // Not a long dash, a bullet, an emoji.
                let is_sign = token.contains(|c: char| c.is_ascii_punctuation());
                signs.between.extend(is_sign.then_some(token));
            } else if token.contains(|c: char| c.is_alphabetic() || SIGNS_OF_CODE.contains(&c)) {
                let is_marked = is_marked(token);
                let is_name = is_marked
                    && !is_abbreviation(token)
                    && (token.contains(SIGNS_OF_CODE) || !is_number(token));
                let spelling = if is_marked { token.to_owned() } else { token.to_lowercase() };
                let token = signs.tokens.entry(letters).or_default();
                token.spellings.push(spelling);
                token.is_marked |= is_marked;
                token.is_name |= is_name;
            }
        }
        signs.tokens.values_mut().for_each(|token| token.spellings.sort_unstable());
        signs.between.sort_unstable();
        signs
    }
}

/// Returns a token without quotes and punctuation around it, and without the emphasis of Markdown.
fn core(token: &str) -> &str {
    let token = token.trim_matches(AROUND);
    let bare = token.trim_end_matches(AT_END).trim_matches(AROUND);
    let token = if bare.contains(char::is_alphanumeric) { bare } else { token };
    match token.strip_prefix('*').and_then(|rest| rest.strip_suffix('*')) {
        Some(emphasised) => emphasised.trim_matches('*'),
        None => token,
    }
}

/// Returns true for a token with a capital behind the first letter, or a sign that is no hyphen or apostrophe between letters.
fn is_marked(token: &str) -> bool {
    let mut before = None;
    let mut signs = token.chars().peekable();
    while let Some(sign) = signs.next() {
        let is_between = before.is_some_and(char::is_alphabetic)
            && signs.peek().is_some_and(|next| next.is_alphabetic());
        let is_plain = match sign {
            '-' | '\'' | '’' => is_between,
            sign if sign.is_uppercase() => before.is_none(),
            sign => sign.is_alphabetic(),
        };
        if !is_plain {
            return true;
        }
        before = Some(sign);
    }
    false
}

/// Returns true for a version, or a number with its unit.
fn is_number(token: &str) -> bool {
    let version = token.strip_prefix('v').unwrap_or_default();
    let is_version = !version.is_empty() && version.chars().all(|c| c.is_numeric() || c == '.');
    is_version || token.starts_with(char::is_numeric)
}

/// Returns true for capitals alone, also with a plural s, and for single letters with full stops: `PRs`, `a.m`.
fn is_abbreviation(token: &str) -> bool {
    let capitals = token.strip_suffix('s').unwrap_or(token);
    capitals.chars().all(char::is_uppercase)
        || token.split('.').all(|part| part.chars().count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_with_other_signs_is_another_one() {
        for (a, b) in [
            ("git branch -d main", "git branch -D main"),
            ("chmod +x run.sh", "chmod -x run.sh"),
            ("Add it to Path", "Add it to PATH"),
            ("- [ ] order the sieve", "- [x] order the sieve"),
            ("~~Use yarn~~, use pnpm", "Use yarn, ~~use pnpm~~"),
            ("The value is x", "The value is !x"),
            ("Sync src/ to it", "Sync src to it"),
            ("It is 5mg", "It is 5Mg"),
            ("call getUser", "call getuser"),
            ("build | tee log", "build > tee log"),
            ("Run `npm run build` first", "First run `npm run builds`"),
        ] {
            assert!(are_changed(a, b) && are_changed(b, a), "{a} | {b}");
        }
        for (a, b) in [
            ("The e-mail server is down", "the email server is down."),
            ("Run `just ship`", "Run just ship"),
            ("It is **important**", "It is important"),
            ("Kubernetes runs it — always", "kubernetes runs it, always"),
            ("Wake me at 7 a.m.", "Wake me at 7am"),
            ("The fee is $1,200", "The fee is 1200 dollars"),
            ("Deploy is done", "Deploy is done 🎉"),
            ("", ""),
        ] {
            assert!(!are_changed(a, b) && !are_changed(b, a), "{a} | {b}");
        }
    }
}
