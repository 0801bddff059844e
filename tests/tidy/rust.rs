//! Splits a Rust file into code without comments and literals, the text of its literals, and the
//! ranges that are test code. Not here: a full parser; the rules need none.

use std::ops::Range;

/// Keywords that define an item with a name.
const DEFINITIONS: [&str; 9] =
    ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "macro_rules!"];

/// A Rust file.
pub struct Source {
    pub path: String,
    pub text: String,
    /// The text with comments and literals replaced by spaces; line numbers are those of `text`.
    code: String,
    /// The content of each string literal as written, with the line on which it begins.
    literals: Vec<(usize, String)>,
    /// Ranges of `code` that are compiled only for tests.
    tests: Vec<Range<usize>>,
}

impl Source {
    /// Splits a file of the product.
    pub fn new(path: &str, text: &str) -> Self {
        let (code, literals) = split_text(text);
        let tests = test_items(&code);
        Self { path: path.to_owned(), text: text.to_owned(), code, literals, tests }
    }

    /// Returns the number of lines that are neither blank nor a comment nor test code.
    pub fn product_lines(&self) -> usize {
        let tests: Vec<Range<usize>> = self
            .tests
            .iter()
            .map(|range| self.line(range.start)..self.line(range.end) + 1)
            .collect();
        let is_code = |(number, line): &(usize, &str)| {
            let line = line.trim();
            !line.is_empty()
                && !line.starts_with("//")
                && !tests.iter().any(|range| range.contains(number))
        };
        (1..).zip(self.text.lines()).filter(is_code).count()
    }

    /// Returns the lines of code on which one of the words begins.
    pub fn lines_with(&self, words: &[&str]) -> Vec<usize> {
        self.positions(words).into_iter().map(|at| self.line(at)).collect()
    }

    /// Like `lines_with`, outside test code.
    pub fn product_lines_with(&self, words: &[&str]) -> Vec<usize> {
        self.positions(words)
            .into_iter()
            .filter(|at| !self.is_test(*at))
            .map(|at| self.line(at))
            .collect()
    }

    /// Like `lines_with`, only in test code.
    pub fn test_lines_with(&self, words: &[&str]) -> Vec<usize> {
        self.positions(words)
            .into_iter()
            .filter(|at| self.is_test(*at))
            .map(|at| self.line(at))
            .collect()
    }

    /// Returns the line number of each occurrence of the word, and the rest of that line after it.
    pub fn after(&self, word: &str) -> Vec<(usize, &str)> {
        let rest = |at: usize| self.code[at + word.len()..].lines().next().unwrap_or_default();
        self.positions(&[word]).into_iter().map(|at| (self.line(at), rest(at))).collect()
    }

    /// Returns the string literals with their lines.
    pub fn literals(&self) -> &[(usize, String)] {
        &self.literals
    }

    /// Whether the file defines an item of that name, at any depth.
    pub fn defines(&self, name: &str) -> bool {
        DEFINITIONS.iter().any(|keyword| {
            self.after(keyword).iter().any(|(_, rest)| name_at_start(rest.trim_start()) == name)
        })
    }

    /// Returns the code with test code replaced by spaces as well.
    pub fn product_code(&self) -> String {
        let kept = |(at, c): (usize, char)| if c == '\n' || !self.is_test(at) { c } else { ' ' };
        self.code.char_indices().map(kept).collect()
    }

    /// Returns the code between the braces of each definition and `impl` block of a type.
    pub fn bodies(&self, type_name: &str) -> Vec<&str> {
        let items = self.positions(&["struct", "enum", "union", "trait", "impl"]);
        let item = |at: usize| &self.code[at..at + item_length(&self.code[at..])];
        let parts = items.into_iter().filter_map(|at| item(at).split_once('{'));
        parts
            .filter(|(header, _)| !occurrences(header, type_name).is_empty())
            .map(|(_, body)| body)
            .collect()
    }

    /// Returns the components of the file's path, and the modules that the file declares.
    pub fn modules(&self) -> Vec<String> {
        let declared = self
            .after("mod")
            .into_iter()
            .map(|(_, rest)| name_at_start(rest.trim_start()).to_owned());
        let parts = self.path.split('/').map(|part| part.trim_end_matches(".rs").to_owned());
        parts.chain(declared).collect()
    }

    fn positions(&self, words: &[&str]) -> Vec<usize> {
        let mut positions: Vec<usize> =
            words.iter().flat_map(|word| occurrences(&self.code, word)).collect();
        positions.sort_unstable();
        positions
    }

    fn is_test(&self, at: usize) -> bool {
        self.tests.iter().any(|range| range.contains(&at))
    }

    fn line(&self, at: usize) -> usize {
        self.code[..at].matches('\n').count() + 1
    }

    /// Returns the path prefixes of the modules that this file declares for tests only.
    fn test_modules(&self) -> Vec<String> {
        let names = self.tests.iter().filter_map(|range| {
            let item = self.code[range.clone()].trim_end().strip_suffix(';')?;
            item.rsplit_once("mod ").map(|(_, name)| name.trim().to_owned())
        });
        let folder = match self.path.rsplit_once('/') {
            Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder.to_owned(),
            _ => self.path.trim_end_matches(".rs").to_owned(),
        };
        names.map(|name| format!("{folder}/{name}")).collect()
    }
}

/// Splits all files, and marks as test code also the modules that another file declares for tests
/// only.
pub fn sources(files: Vec<(String, String)>) -> Vec<Source> {
    let mut sources: Vec<Source> =
        files.into_iter().map(|(path, text)| Source::new(&path, &text)).collect();
    let modules: Vec<String> = sources.iter().flat_map(Source::test_modules).collect();
    let of_module = |path: &str, module: &str| {
        path.strip_prefix(module).is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    };
    for source in &mut sources {
        if source.path.starts_with("tests/")
            || modules.iter().any(|module| of_module(&source.path, module))
        {
            source.tests = std::iter::once(0..source.code.len()).collect();
        }
    }
    sources
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn name_at_start(text: &str) -> &str {
    text.split(|c| !is_name(c)).next().unwrap_or_default()
}

/// Returns the offsets of a word, where it is not part of a longer word. A word may end in
/// punctuation (`todo!`); then anything may follow.
fn occurrences(code: &str, word: &str) -> Vec<usize> {
    let whole = |at: &usize| {
        let before = word.starts_with(is_name) && code[..*at].ends_with(is_name);
        let after = word.ends_with(is_name) && code[at + word.len()..].starts_with(is_name);
        !before && !after
    };
    code.match_indices(word).map(|(at, _)| at).filter(whole).collect()
}

/// Attributes of items that the product does not contain, up to the point where they may differ.
const TEST_ATTRIBUTES: [&str; 3] = ["#[cfg(test)]", "#[cfg(all(test,", "#[cfg(any(test,"];

/// Returns the range of each item that is compiled for tests, from the attribute to the end of the
/// item.
fn test_items(code: &str) -> Vec<Range<usize>> {
    let item = |(at, _)| {
        let start = code[at..].find(']').map_or(code.len(), |end| at + end + 1);
        at..start + item_length(&code[start..])
    };
    TEST_ATTRIBUTES.iter().flat_map(|start| code.match_indices(start)).map(item).collect()
}

/// Returns the length of the item at the beginning of the code: up to its semicolon or the end of
/// its block.
fn item_length(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && c == '}' {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Returns the code with comments and literals replaced by spaces, and the literals.
fn split_text(text: &str) -> (String, Vec<(usize, String)>) {
    let mut scan =
        Scan { rest: text, code: String::with_capacity(text.len()), literals: Vec::new() };
    while let Some(c) = scan.rest.chars().next() {
        let raw = raw_quotes(scan.rest).filter(|_| !scan.code.ends_with(is_name));
        if scan.rest.starts_with("//") {
            scan.blank(scan.rest.find('\n').unwrap_or(scan.rest.len()));
        } else if scan.rest.starts_with("/*") {
            scan.blank(block_comment(scan.rest));
        } else if let Some((start, closing)) = raw {
            let end = scan.rest[start..].find(&closing).map_or(scan.rest.len(), |at| start + at);
            scan.literal(start..end, closing.len());
        } else if c == '"' {
            scan.literal(1..closing_quote(scan.rest), 1);
        } else if let Some(length) = character(scan.rest) {
            scan.blank(length);
        } else {
            scan.code.push(c);
            scan.rest = &scan.rest[c.len_utf8()..];
        }
    }
    (scan.code, scan.literals)
}

struct Scan<'a> {
    rest: &'a str,
    code: String,
    literals: Vec<(usize, String)>,
}

impl Scan<'_> {
    /// Replaces the next `length` bytes by spaces; keeps line breaks.
    fn blank(&mut self, length: usize) {
        let (skipped, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.code.extend(skipped.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        self.rest = rest;
    }

    fn literal(&mut self, content: Range<usize>, closing: usize) {
        let line = self.code.matches('\n').count() + 1;
        let end = content.end + closing;
        self.literals.push((line, self.rest[content].to_owned()));
        self.blank(end);
    }
}

/// Returns the offset of the content of a raw string (`r"`, `br##"`) and its closing delimiter.
fn raw_quotes(text: &str) -> Option<(usize, String)> {
    let after_r = ["r", "br", "cr"].iter().find_map(|prefix| text.strip_prefix(prefix))?;
    let hashes = after_r.len() - after_r.trim_start_matches('#').len();
    let content = after_r[hashes..].strip_prefix('"')?;
    Some((text.len() - content.len(), format!("\"{}", "#".repeat(hashes))))
}

/// Returns the offset of the quote that closes the string at the beginning of the text.
fn closing_quote(text: &str) -> usize {
    let mut escaped = true; // Skips the opening quote.
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of the character literal at the beginning of the text; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let content = text.strip_prefix('\'')?;
    let first = content.chars().next()?;
    if first == '\\' {
        // Skips the quote, the backslash and the escaped character; the next quote closes the
        // literal.
        return content.get(2..)?.find('\'').map(|at| at + 4);
    }
    content[first.len_utf8()..].starts_with('\'').then(|| first.len_utf8() + 2)
}

/// Returns the length of the block comment at the beginning of the text; block comments nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_removed_from_the_code() {
        let text = "// one\n/* two /* three */ */ let a = \"four \\\" \nfive\"; let b = '\"'; let c: &'a str = r#\"six \" seven\"#; eight\n";
        let source = Source::new("a.rs", text);
        for removed in ["one", "two", "three", "four", "five", "six", "seven"] {
            assert_eq!(
                source.lines_with(&[removed]),
                Vec::<usize>::new(),
                "{removed} in {}",
                source.code
            );
        }
        assert_eq!(source.lines_with(&["eight"]), [3]);
        assert_eq!(
            source.literals(),
            [(2, "four \\\" \nfive".to_owned()), (3, "six \" seven".to_owned())]
        );
    }

    #[test]
    fn a_quote_in_a_character_literal_opens_no_string() {
        for before in [
            "let q = '\"';",
            "let q = '\\'';",
            "let q = b'\"';",
            "let q = '\\u{22}';",
            "fn f<'a>(s: &'a str) {}",
            "let r = 'ż';",
        ] {
            assert_eq!(
                Source::new("a.rs", &format!("{before} found")).lines_with(&["found"]),
                [1],
                "{before}"
            );
        }
    }

    #[test]
    fn only_whole_words_match() {
        let source =
            Source::new("a.rs", "unsafe_op todo!() xtodo!() Instant::now() MyInstant::now()");
        assert_eq!(source.lines_with(&["unsafe"]), Vec::<usize>::new());
        assert_eq!(source.lines_with(&["todo!"]).len(), 1);
        assert_eq!(source.lines_with(&["Instant::now"]).len(), 1);
    }

    #[test]
    fn bodies_are_those_of_the_type_alone() {
        let text =
            "struct A { b: u8 }\nstruct C;\nimpl<T> From<C> for A { fn d() {} }\nfn e() -> A { f }";
        assert_eq!(Source::new("a.rs", text).bodies("A"), [" b: u8 }", " fn d() {} }"]);
        assert_eq!(Source::new("a.rs", text).bodies("C"), [" fn d() {} }"]);
    }

    #[test]
    fn test_code_is_separated_from_product_code() {
        let text = "fn a() { word }\n#[cfg(test)]\nmod tests {\n  fn b() { word }\n}\nfn c() { word }\n#[cfg(test)]\nuse word;\n\
                    #[cfg(all(test, unix))]\nmod unix { word }\n";
        let source = Source::new("a.rs", text);
        assert_eq!(source.product_lines_with(&["word"]), [1, 6]);
        assert_eq!(source.test_lines_with(&["word"]), [4, 8, 10]);
        assert_eq!(
            source.product_code().split_whitespace().filter(|word| *word == "word").count(),
            2
        );
        assert_eq!(source.product_code().lines().count(), text.lines().count());
    }

    #[test]
    fn test_only_modules_in_other_files_are_test_code() {
        let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let sources = sources(vec![
            file("x/src/lib.rs", "#[cfg(test)]\nmod testing;\nmod guest;"),
            file("x/src/testing.rs", "word"),
            file("x/src/guest.rs", "#[cfg(test)]\nmod tests;\nword"),
            file("x/src/guest/tests.rs", "word"),
            file("x/src/guest/tests/deep.rs", "word"),
            file("tests/it/main.rs", "word"),
        ]);
        let product: Vec<&str> = sources
            .iter()
            .filter(|s| !s.product_lines_with(&["word"]).is_empty())
            .map(|s| s.path.as_str())
            .collect();
        assert_eq!(product, ["x/src/guest.rs"]);
    }
}
