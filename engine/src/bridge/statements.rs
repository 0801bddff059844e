//! Splits a memory file of a client into statements. [`statements`] is the one entry point.
//!
//! A list item is a statement, with what is nested below it; so is a paragraph. A file with front matter is one statement, because Claude
//! Code writes one fact into such a file. Not here: which files a client has (the daemon).

use crate::duplicate::content_hash::hash;
use loci_proto::group::Group;
use loci_proto::limits;
use loci_proto::memory::MemoryType;
use loci_proto::requests::bridge::{BLOCK_BEGIN, BLOCK_END, BridgeClient};
use std::ops::Range;

/// Maximum statements of one file.
const MAX_STATEMENTS: usize = 1000;
/// Minimum words of a statement: a single word states nothing.
const MIN_WORDS: usize = 2;
/// The file of Codex whose statements are imported; the others are what it was made from.
const CODEX_HANDBOOK: &str = "MEMORY.md";
/// Sections of that file that are not statements.
const CODEX_INDEXES: [&str; 2] = ["rollout_summary_files", "keywords"];
/// What replaces a statement that was erased.
pub(crate) const ERASED: &str = "[FORGOTTEN]";

/// Returns the name of a file without its folders.
#[must_use]
pub fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// One statement of a memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Its text, without the mark of the list.
    pub text: String,
    /// A fact, or how to do something.
    pub kind: MemoryType,
    /// The heading above it; empty if there is none.
    pub section: String,
    /// The folder of the project that it is about, if the file names one.
    pub folder: Option<String>,
    /// Its project, if it is not that of the file.
    pub group: Option<Group>,
    /// Its lines in the file.
    pub lines: Range<usize>,
}

impl Statement {
    /// Returns the hash of the text, as memories have it.
    #[must_use]
    pub fn hash(&self) -> [u8; 16] {
        hash(&self.text)
    }
}

/// Returns the statements of a file; `name` is its name without folders.
#[must_use]
pub fn statements(client: BridgeClient, name: &str, text: &str) -> Vec<Statement> {
    if client == BridgeClient::Codex && name != CODEX_HANDBOOK {
        return Vec::new();
    }
    let mut reader = FileReader::new(client);
    let lines: Vec<&str> = text.lines().collect();
    let (first, fields) = front_matter(&lines);
    for (number, line) in lines.iter().enumerate().skip(first) {
        reader.read(number, line);
    }
    reader.flush(lines.len());
    let mut found = reader.found;
    if let Some(fields) = fields {
        found = whole(found, &fields);
    }
    found.retain(|statement| {
        statement.text.split_whitespace().count() >= MIN_WORDS
            && statement.text.len() <= limits::CONTENT_BYTES
            && !statement.text.contains('\0')
    });
    found.truncate(MAX_STATEMENTS);
    found
}

/// Replaces the statements whose hash `is_erased` names; returns the text and how many there were.
#[must_use]
pub fn without(
    client: BridgeClient,
    name: &str,
    text: &str,
    is_erased: impl Fn(&[u8; 16]) -> bool,
) -> Option<(String, u32)> {
    let erased: Vec<Statement> =
        statements(client, name, text).into_iter().filter(|one| is_erased(&one.hash())).collect();
    if erased.is_empty() {
        return None;
    }
    let mut kept = String::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        match erased.iter().find(|one| one.lines.contains(&number)) {
            None => kept.push_str(line),
            Some(one) if one.lines.start == number => {
                kept.push_str(ERASED);
                kept.push('\n');
            }
            Some(_) => {}
        }
    }
    Some((kept, u32::try_from(erased.len()).unwrap_or(u32::MAX)))
}

/// Replaces a text wherever it is in a file as it is; returns the file and how often.
#[must_use]
pub fn without_text(text: &str, erased: &str) -> Option<(String, u32)> {
    let count = text.matches(erased).count();
    let is_text = erased.split_whitespace().nth(MIN_WORDS - 1).is_some();
    (count > 0 && is_text)
        .then(|| (text.replace(erased, ERASED), u32::try_from(count).unwrap_or(u32::MAX)))
}

/// The fields of a front matter that matter here.
struct Fields {
    kind: Option<String>,
}

/// Returns the number of the first line after the front matter, and its fields if it has a name or a type.
fn front_matter(lines: &[&str]) -> (usize, Option<Fields>) {
    if lines.first().map(|line| line.trim_end()) != Some("---") {
        return (0, None);
    }
    let Some(end) = lines.iter().skip(1).position(|line| line.trim_end() == "---") else {
        return (0, None);
    };
    let field = |name: &str| {
        lines[1..=end].iter().find_map(|line| {
            let (key, value) = line.trim_start().split_once(':')?;
            (key == name).then(|| value.trim().trim_matches('"').to_owned())
        })
    };
    let (name, kind) = (field("name"), field("type"));
    let is_fact = name.is_some() || kind.is_some();
    (end + 2, is_fact.then_some(Fields { kind }))
}

/// Joins the statements of a file that states one fact.
fn whole(found: Vec<Statement>, fields: &Fields) -> Vec<Statement> {
    let kind = match fields.kind.as_deref() {
        Some("feedback") => MemoryType::Procedural,
        _ => MemoryType::Semantic,
    };
    let size: usize = found.iter().map(|one| one.text.len() + 1).sum();
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return found };
    if size > limits::CONTENT_BYTES / 4 {
        return found.into_iter().map(|one| Statement { kind, ..one }).collect();
    }
    let text = found.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join("\n");
    let lines = first.lines.start..last.lines.end;
    vec![Statement { text, kind, lines, ..first.clone() }]
}

/// A file in progress.
struct FileReader {
    client: BridgeClient,
    found: Vec<Statement>,
    /// The lines of the statement in progress.
    current: Vec<String>,
    start: usize,
    section: String,
    folder: Option<String>,
    /// The mark that ends a block of code.
    fence: Option<String>,
    in_block: bool,
    has_code: bool,
}

impl FileReader {
    fn new(client: BridgeClient) -> Self {
        Self {
            client,
            found: Vec::new(),
            current: Vec::new(),
            start: 0,
            section: String::new(),
            folder: None,
            fence: None,
            in_block: false,
            has_code: false,
        }
    }

    fn read(&mut self, number: usize, line: &str) {
        let trimmed = line.trim();
        if self.in_block || trimmed == BLOCK_BEGIN {
            self.flush(number);
            self.in_block = trimmed != BLOCK_END;
            return;
        }
        if let Some(fence) = &self.fence {
            if trimmed.starts_with(fence.as_str()) {
                self.fence = None;
            }
            self.current.push(line.trim_end().to_owned());
            return;
        }
        let mark: String = trimmed.chars().take_while(|c| *c == '`' || *c == '~').collect();
        if mark.len() >= 3 {
            self.continue_previous(number);
            self.fence = Some(mark);
            self.has_code = true;
            self.current.push(line.trim_end().to_owned());
            return;
        }
        if trimmed.is_empty() || is_rule(trimmed) || trimmed.starts_with("<!--") {
            return self.flush(number);
        }
        if let Some(heading) = heading(trimmed) {
            self.flush(number);
            heading.clone_into(&mut self.section);
            return;
        }
        if self.client == BridgeClient::Codex && self.is_about_codex(trimmed) {
            return;
        }
        match item(line) {
            Some(text) => {
                self.flush(number);
                self.begin(number, text);
            }
            None if self.current.is_empty() => self.begin(number, trimmed),
            None => self.current.push(line.trim_end().to_owned()),
        }
    }

    fn begin(&mut self, number: usize, text: &str) {
        self.start = number;
        self.current.push(text.to_owned());
    }

    /// A block of code belongs to the statement above it, also after an empty line.
    fn continue_previous(&mut self, number: usize) {
        if !self.current.is_empty() {
            return;
        }
        self.start = number;
        let Some(previous) = self.found.pop_if(|one| one.section == self.section) else { return };
        self.start = previous.lines.start;
        self.current.push(previous.text);
    }

    /// Reads what Codex writes about a group of statements; returns whether the line was such a line.
    fn is_about_codex(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("applies_to:") {
            let folder = rest.split(';').find_map(|part| part.trim().strip_prefix("cwd="));
            self.folder = folder.map(|folder| folder.trim().to_owned());
            return true;
        }
        line.starts_with("scope:") || CODEX_INDEXES.contains(&self.section.as_str())
    }

    /// Ends the statement in progress; `end` is the line after it.
    fn flush(&mut self, end: usize) {
        let lines = std::mem::take(&mut self.current);
        let has_code = std::mem::take(&mut self.has_code);
        let text = lines.join("\n").trim().to_owned();
        if text.is_empty() || is_index_entry(&text) {
            return;
        }
        let kind = if has_code { MemoryType::Procedural } else { MemoryType::Semantic };
        let (section, folder) = (self.section.clone(), self.folder.clone());
        let lines = self.start..end;
        self.found.push(Statement { text, kind, section, folder, group: None, lines });
    }
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    (rest.len() < line.len() && rest.starts_with(' ')).then(|| rest.trim())
}

/// Returns whether a line is a horizontal rule.
fn is_rule(line: &str) -> bool {
    line.len() >= 3 && line.bytes().all(|byte| byte == b'-' || byte == b'*' || byte == b'_')
}

/// Returns the text of an item of a list that is not nested.
fn item(line: &str) -> Option<&str> {
    if line.starts_with("  ") || line.starts_with('\t') {
        return None;
    }
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match (digits, line.as_bytes().first()) {
        (0, Some(b'-' | b'*' | b'+')) => &line[1..],
        (1..=3, _) => line[digits..].strip_prefix(['.', ')'])?,
        _ => return None,
    };
    rest.strip_prefix(' ').map(str::trim)
}

/// Returns whether a text only leads to another memory file: `[Title](file.md) — what it is about`.
fn is_index_entry(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('[') else { return false };
    let Some((_, target)) = rest.split_once("](") else { return false };
    let file = target.split_once(')').and_then(|(file, _)| file.rsplit_once('.'));
    file.is_some_and(|(_, extension)| extension == "md")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str, text: &str) -> Vec<String> {
        statements(BridgeClient::Claude, name, text).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn items_and_paragraphs_are_statements_and_links_to_other_files_are_not() {
        let text = "# Shop\n\nThe staging server is heron.\nIt runs in Lisbon.\n\n- [Deploys](deploys.md) — how we deploy\n- Use pnpm\n  - never npm\n\n1. Run the tests first\n\n```sh\njust test\n```\nword\n";
        assert_eq!(
            texts("MEMORY.md", text),
            [
                "The staging server is heron.\nIt runs in Lisbon.",
                "Use pnpm\n  - never npm",
                "Run the tests first\n```sh\njust test\n```\nword"
            ]
        );
    }

    #[test]
    fn a_file_with_front_matter_is_one_statement() {
        let text = "---\nname: tests\ndescription: x\ntype: feedback\n---\n\nUse a real database.\n\n**Why:** mocks hid a bug.\n";
        let found = statements(BridgeClient::Claude, "tests.md", text);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].text, "Use a real database.\n**Why:** mocks hid a bug.");
        assert_eq!(found[0].kind, MemoryType::Procedural);
    }

    #[test]
    fn what_loci_wrote_is_no_statement() {
        let text = format!("- One two\n{BLOCK_BEGIN}\n- Three four\n{BLOCK_END}\n- Five six\n");
        assert_eq!(texts("MEMORY.md", &text), ["One two", "Five six"]);
    }

    #[test]
    fn only_the_handbook_of_codex_is_read_and_its_indexes_are_not() {
        let text = "# Task Group: shop\nscope: deploys\napplies_to: cwd=/home/anna/shop; reuse_rule=safe\n\n### keywords\n\n- deploy, ship\n\n## Reusable knowledge\n\n- Deploys go through just ship\n";
        let found = statements(BridgeClient::Codex, "MEMORY.md", text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].folder.as_deref(), Some("/home/anna/shop"));
        assert!(statements(BridgeClient::Codex, "raw_memories.md", text).is_empty());
    }

    #[test]
    fn an_erased_statement_leaves_a_mark_and_the_rest_of_the_file() {
        let text = "# A\n- One two\n  nested\n- Three four\n";
        let gone = hash("One two\n  nested");
        let kept = without(BridgeClient::Claude, "MEMORY.md", text, |hash| *hash == gone);
        assert_eq!(kept, Some(("# A\n[FORGOTTEN]\n- Three four\n".to_owned(), 1)));
        assert_eq!(without(BridgeClient::Claude, "MEMORY.md", text, |_| false), None);
    }
}
