//! The key of an error message: its line that says what went wrong, without what differs from run to run. Pure.
//!
//! The key leaves out paths, numbers, hexadecimal ids, times and addresses, and keeps codes (`E0432`, `TS2345`, `EADDRINUSE`) and names.
//! Not here: which memories have which key (the engine).

/// Maximum characters of the line of an error.
const MAX_LINE_CHARS: usize = 300;
/// Lines of a message that are read.
const MAX_LINES: usize = 2_000;
/// Minimum words of a key: with fewer, different errors have the same.
const MIN_WORDS: usize = 2;
/// Maximum letters before the digits of a code, as in `TS2345`.
const MAX_CODE_LETTERS: usize = 6;

/// How clearly a line states an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Clarity {
    /// It has a word of errors, as many sentences do.
    Mentioned,
    /// It has the form of an error message.
    Stated,
    /// It begins as one.
    Begins,
}

/// Returns the line of a text that states an error; `None` if none does.
#[must_use]
pub fn line(text: &str) -> Option<String> {
    best_line(text, Clarity::Mentioned)
}

/// Returns the key of an error message.
#[must_use]
pub fn key(text: &str) -> Option<String> {
    key_of_line(&line(text)?)
}

/// Returns the key of a query that is an error message, and not a sentence about one.
#[must_use]
pub fn key_of_query(query: &str) -> Option<String> {
    let line = best_line(query, Clarity::Stated).filter(|line| !line.ends_with('?'))?;
    key_of_line(&line)
}

fn best_line(text: &str, at_least: Clarity) -> Option<String> {
    let is_traceback = text.contains("Traceback (most recent call last)");
    let mut best: Option<(Clarity, String)> = None;
    for raw in text.lines().take(MAX_LINES) {
        let line = plain(raw);
        let Some(clarity) = clarity(&line).filter(|clarity| *clarity >= at_least) else { continue };
        // A traceback of Python ends with the error; other programs state the first one first.
        let is_better = best.as_ref().is_none_or(|(known, _)| {
            if is_traceback { clarity >= *known } else { clarity > *known }
        });
        if is_better {
            best = Some((clarity, line));
        }
    }
    best.map(|(_, line)| line)
}

/// Returns a line without escape sequences of terminals and space around it, cut to its maximum length.
fn plain(raw: &str) -> String {
    let mut line = String::new();
    let mut characters = raw.chars().peekable();
    while let Some(c) = characters.next() {
        if c == '\u{1b}' && characters.peek() == Some(&'[') {
            let _ = characters.find(char::is_ascii_alphabetic);
        } else if !c.is_control() {
            line.push(c);
        } else if c == '\t' {
            line.push(' ');
        }
    }
    line.trim().chars().take(MAX_LINE_CHARS).collect()
}

fn clarity(line: &str) -> Option<Clarity> {
    let lower = line.to_lowercase();
    let first = lower.split_whitespace().next()?;
    let head = first.trim_end_matches(':');
    let is_class = first.ends_with(':')
        && ["error", "exception", "warning"].iter().any(|end| head.ends_with(end))
        && head != "warning";
    let begins =
        ["error[", "error:", "error ts", "fatal:", "panic:", "npm err!", "npm error", "e: "];
    if is_class
        || begins.iter().any(|start| lower.starts_with(start))
        || lower.contains("panicked at")
    {
        return Some(Clarity::Begins);
    }
    let stated = [
        "error: ",
        "error[",
        ": error ",
        "exception: ",
        "fatal: ",
        ": command not found",
        ": no such file or directory",
        ": permission denied",
        "cannot find module ",
        "err_",
        "failed: ",
    ];
    if stated.iter().any(|form| lower.contains(form)) || first_code(line) {
        return Some(Clarity::Stated);
    }
    let words =
        ["error", "exception", "failed", "cannot", "not found", "denied", "undefined", "refused"];
    words.iter().any(|word| lower.contains(word)).then_some(Clarity::Mentioned)
}

/// Returns whether a line names an error of the operating system or of a compiler by its code before a colon.
fn first_code(line: &str) -> bool {
    line.split_whitespace().take(4).filter_map(|word| word.strip_suffix(':')).any(is_code)
}

/// Returns whether a word is a code of an error: `E0432`, `TS2345`, `EADDRINUSE`.
fn is_code(word: &str) -> bool {
    let letters = word.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = &word[letters..];
    let is_number = (2..=6).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    ((1..=MAX_CODE_LETTERS).contains(&letters) && is_number)
        || (word.len() >= 5 && letters == word.len() && word.starts_with('E') && word != "ERROR")
}

fn key_of_line(line: &str) -> Option<String> {
    let words: Vec<String> = line.split_whitespace().filter_map(key_of_word).collect();
    let named = words.iter().filter(|word| word.chars().any(char::is_alphabetic)).count();
    (named >= MIN_WORDS).then(|| words.join(" "))
}

/// Returns what a word contributes to a key; `None` for one that differs from run to run.
fn key_of_word(word: &str) -> Option<String> {
    let is_edge = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '_' | '@' | '#');
    let word = word.trim_matches(is_edge).trim_end_matches('.');
    let has_letter = word.chars().any(char::is_alphabetic);
    if !has_letter || is_path(word) || is_id(word) {
        return None;
    }
    if word.split(|c: char| !c.is_ascii_alphanumeric()).any(is_code) {
        return Some(word.to_lowercase());
    }
    let mut kept = String::new();
    for c in word.to_lowercase().chars() {
        // A run of digits counts as one.
        match c.is_ascii_digit() {
            true if kept.ends_with('#') => {}
            true => kept.push('#'),
            false => kept.push(c),
        }
    }
    Some(kept)
}

/// Returns whether a word is the path of a file, with or without a position, or an address. The name of a package is none.
fn is_path(word: &str) -> bool {
    let is_package = word.starts_with('@') && word.matches('/').count() == 1;
    let name = word.split(':').next().unwrap_or(word);
    let extension = name.rsplit_once('.').map(|(stem, end)| (stem.len(), end));
    let is_file = extension.is_some_and(|(stem, end)| {
        stem > 0 && (1..=4).contains(&end.len()) && end.bytes().all(|b| b.is_ascii_lowercase())
    });
    (word.contains('/') && !is_package) || word.contains('\\') || (is_file && word.contains(':'))
}

/// Returns whether a word is a hexadecimal id or an address of memory.
fn is_id(word: &str) -> bool {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    let is_hex = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_hexdigit());
    let has_digit = digits.bytes().any(|b| b.is_ascii_digit());
    let is_long = digits.len() >= 7 || word.len() > digits.len();
    has_digit && is_long && digits.split('-').all(is_hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_error_has_one_key_wherever_and_whenever_it_happens() {
        for (one, other) in [
            (
                "error[E0432]: unresolved import `crate::shop`\n --> src/main.rs:3:5",
                "\u{1b}[31merror[E0432]\u{1b}[0m: unresolved import `crate::shop`\n --> src/lib.rs:12:9",
            ),
            (
                "Traceback (most recent call last):\n  File \"/a/b.py\", line 3\nModuleNotFoundError: No module named 'heron'",
                "ModuleNotFoundError: No module named 'heron'",
            ),
            (
                "src/a.ts:12:3 - error TS2345: Argument of type 'string' is not assignable",
                "lib/b.ts:7:30 - error TS2345: Argument of type 'string' is not assignable",
            ),
            (
                "Error: listen EADDRINUSE: address already in use :::3000",
                "Error: listen EADDRINUSE: address already in use 127.0.0.1:8080",
            ),
            ("fatal: bad object 8f3c1d2e9a", "fatal: bad object 0012fed3ab44"),
        ] {
            assert!(key(one).is_some(), "{one}");
            assert_eq!(key(one), key(other));
        }
    }

    #[test]
    fn different_errors_have_different_keys() {
        for (one, other) in [
            ("error[E0432]: unresolved import `a`", "error[E0433]: unresolved import `a`"),
            (
                "ModuleNotFoundError: No module named 'a1'",
                "ModuleNotFoundError: No module named 'heron'",
            ),
            ("error: Cannot find module 'express'", "error: Cannot find module '@scope/express'"),
        ] {
            assert_ne!(key(one), key(other));
        }
    }

    #[test]
    fn a_sentence_about_errors_is_no_error_message() {
        for query in [
            "What error did the deployment of Heron have?",
            "Which tests failed last week",
            "error handling in the shop",
            "How do we deploy? The error: see above?",
            "Anna cannot find the invoices",
            "ERROR",
        ] {
            assert_eq!(key_of_query(query), None, "{query}");
        }
        for query in [
            "error[E0432]: unresolved import `crate::shop`",
            "bash: pnpm: command not found",
            "TypeError: x is not a function",
            "Error: listen EADDRINUSE: address already in use :::3000",
        ] {
            assert!(key_of_query(query).is_some(), "{query}");
        }
    }

    #[test]
    fn an_error_without_words_has_no_key() {
        assert_eq!(key("error: 12"), None);
        assert_eq!(key(""), None);
    }
}
