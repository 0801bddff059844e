//! What the memory files of Claude Code and the handbook of Codex state. The import and the bridge both read them here, so that a
//! statement has the same text and the same place whichever finds it. Pure.
//!
//! Not here: which files there are, and what becomes of what they state.

use crate::statements::{self, Statement};
use crate::{front_matter, times};
use loci_base::model::declared;
use loci_proto::memory::{Category, MemoryType};
use loci_proto::requests::bridge::{BLOCK_BEGIN, BLOCK_END};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// A longer text is split into statements, in bytes.
const WHOLE_BYTES: usize = 2000;
const CLAUDE_TITLES: [&str; 4] = ["memory", "memory.md", "memory index", "project memory"];
pub(crate) const CODEX_TITLES: [&str; 4] = ["memory", "memory summary", "summary", "raw memories"];
/// Headings of lists that only serve Codex's own search.
const CODEX_INDEXES: [&str; 3] = ["rollout_summary_files", "keywords", "what's in memory"];
/// The heading with which Codex begins a group of tasks.
const TASK_GROUP: &str = "# Task Group:";

/// One statement of a memory file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Its text as a memory has it: with its headings or the description of its file.
    pub content: String,
    /// Its text alone.
    pub bare: String,
    /// Where in the file.
    pub place: String,
    /// The name of a file that is one memory.
    pub own_id: Option<String>,
    /// A fact, or how to do something.
    pub kind: MemoryType,
    /// The folder of the project that it is about, if the file names one.
    pub folder: Option<String>,
    /// Its bytes in the file.
    pub bytes: Range<usize>,
}

/// What a file states.
#[derive(Debug, Default)]
pub struct FileContent {
    /// Its statements.
    pub notes: Vec<Note>,
    /// The fields at its top.
    pub fields: NoteFields,
    /// Number of lines that only lead to other memory files.
    pub pointers: usize,
}

/// What the fields at the top of a file of Claude Code say about its statements.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NoteFields {
    /// Its type.
    pub category: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub created_at: Option<i64>,
    /// When it was last changed.
    pub updated_at: Option<i64>,
}

impl NoteFields {
    /// Returns whether the file is about the person, which is true in every project.
    pub fn is_about_person(&self) -> bool {
        self.category.as_deref() == Some("user")
    }

    /// Writes what the file declares to the metadata of its memories. What Claude Code calls feedback is a rule of the user.
    pub fn declare(&self, metadata: &mut Map<String, Value>) {
        let category = match self.category.as_deref() {
            Some("feedback") => Some(Category::Rule.as_str()),
            other => other,
        };
        if let Some(category) = category {
            metadata.insert("category".to_owned(), category.into());
        }
        if self.is_about_person() {
            declared::set_global(metadata);
        }
    }
}

/// Returns a text with the line ends that the parsers expect.
pub fn normalized(text: &str) -> Cow<'_, str> {
    let text = text.trim_start_matches('\u{feff}');
    if text.contains('\r') { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// Reads a file of Claude Code; `stem` is its name without folders and `.md`.
pub fn of_claude(stem: &str, text: &str) -> FileContent {
    let text = blanked(text, |_| false);
    let (fields, body) = front_matter::split(&text);
    let start = text.len() - body.len();
    if fields.is_empty() {
        let found = statements::split(body, &CLAUDE_TITLES);
        let all = found.len();
        let notes: Vec<Note> = found
            .into_iter()
            .filter(|statement| !points_to_file(&statement.text))
            .map(|statement| note(statement, start, MemoryType::Semantic))
            .collect();
        let pointers = all - notes.len();
        return FileContent { notes, pointers, ..FileContent::default() };
    }
    let description = front_matter::text(&fields, "description").unwrap_or_default();
    let fields = note_fields(&fields);
    let kind = match fields.category.as_deref() {
        Some("feedback") => MemoryType::Procedural,
        _ => MemoryType::Semantic,
    };
    if body.len() > WHOLE_BYTES {
        let title = if description.is_empty() { stem.to_owned() } else { description };
        let in_place = |mut statement: Statement| {
            statement.place = match statement.place.as_str() {
                "" => title.clone(),
                place => format!("{title} > {place}"),
            };
            note(statement, start, kind)
        };
        let notes = statements::split(body, &CLAUDE_TITLES).into_iter().map(in_place).collect();
        return FileContent { notes, fields, pointers: 0 };
    }
    let body = body.trim();
    let content = match (description.is_empty() || body.contains(&description), body) {
        (true, body) => body.to_owned(),
        (false, "") => description,
        (false, body) => format!("{description}\n\n{body}"),
    };
    let note = Note {
        content,
        bare: body.to_owned(),
        place: stem.to_owned(),
        own_id: Some(stem.to_owned()),
        kind,
        folder: None,
        // Its description is part of it.
        bytes: 0..text.trim_end().len(),
    };
    FileContent { notes: vec![note], fields, pointers: 0 }
}

/// Reads the handbook of Codex: each heading of level 1 begins a group of tasks, whose `applies_to` names the folder of the project.
pub fn of_codex_handbook(original: &str) -> Vec<Note> {
    let text = blanked(original, is_header);
    let mut notes = Vec::new();
    for range in blocks(&text, "# ") {
        let folder = original[range.clone()].lines().find_map(folder_of_header);
        // Of the same length, so that places in the block are places in the file.
        let title = format!("#{:1$}", "", TASK_GROUP.len() - 1);
        let block = text[range.clone()].replacen(TASK_GROUP, &title, 1);
        for statement in statements::split(&block, &CODEX_TITLES) {
            if !is_codex_index(&statement) {
                let folder = folder.clone();
                notes.push(Note { folder, ..note(statement, range.start, MemoryType::Semantic) });
            }
        }
    }
    notes
}

/// Returns whether a statement is of a list that only serves Codex's own search.
pub(crate) fn is_codex_index(statement: &Statement) -> bool {
    let place = statement.place.to_lowercase();
    place.split(" > ").any(|part| CODEX_INDEXES.contains(&part))
}

/// Returns the folder that a text names; more may follow it.
pub(crate) fn folder_of(text: &str) -> Option<String> {
    let path = text.split([';', ',']).next()?.split(" and ").next()?.trim().trim_end_matches('/');
    path.starts_with('/').then(|| path.to_owned())
}

/// Splits a text at the lines that begin with a mark; what is above the first is left out.
pub(crate) fn blocks(text: &str, mark: &str) -> Vec<Range<usize>> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(mark) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

fn note(statement: Statement, start: usize, kind: MemoryType) -> Note {
    let kind = if statement.is_procedure { MemoryType::Procedural } else { kind };
    let content = statement.content();
    let bytes = statement.bytes.start + start..statement.bytes.end + start;
    let Statement { place, text: bare, .. } = statement;
    Note { content, bare, place, own_id: None, kind, folder: None, bytes }
}

/// Returns the type, which newer versions put into `metadata`, and the dates.
fn note_fields(fields: &Map<String, Value>) -> NoteFields {
    let nested = fields.get("metadata").and_then(Value::as_object);
    let field = |name: &str| {
        front_matter::text(fields, name)
            .or_else(|| nested.and_then(|nested| front_matter::text(nested, name)))
    };
    let at = |names: &[&str]| names.iter().find_map(|name| times::of_text(&field(name)?));
    NoteFields {
        category: field("type"),
        created_at: at(&["created_at", "created", "date"]),
        updated_at: at(&["updated_at", "updated", "modified"]),
    }
}

/// Returns whether a line of the index only points to the file of a memory.
fn points_to_file(text: &str) -> bool {
    text.starts_with('[') && text.contains("](") && text.contains(".md)")
}

fn is_header(line: &str) -> bool {
    ["scope:", "applies_to:"].iter().any(|name| line.trim_start_matches("- ").starts_with(name))
}

fn folder_of_header(line: &str) -> Option<String> {
    let rest = line.trim_start_matches("- ").strip_prefix("applies_to:")?;
    rest.split(';').find_map(|part| folder_of(part.trim().strip_prefix("cwd=")?))
}

/// Returns a text in which the lines that `is_blank` names, and what `loci bridge write` wrote, are blanks. Every other byte keeps its place.
fn blanked(text: &str, is_blank: impl Fn(&str) -> bool) -> String {
    let (mut kept, mut is_inside) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let was_inside = is_inside;
        is_inside = (is_inside || trimmed == BLOCK_BEGIN) && trimmed != BLOCK_END;
        if was_inside || is_inside || is_blank(line) {
            let length = line.trim_end_matches('\n').len();
            kept.extend(std::iter::repeat_n(' ', length));
            kept.push_str(&line[length..]);
        } else {
            kept.push_str(line);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_has_its_headings_and_its_bytes_in_the_file() {
        let text = format!(
            "# Shop\n\n- [Deploys](deploys.md) - how\n\n## People\n\n- Marta owns the kiln\n  and the clay\n\n{BLOCK_BEGIN}\n- One two\n{BLOCK_END}\n\nRun it.\n\n```sh\njust\n```\n"
        );
        let found = of_claude("MEMORY", &text);
        let contents: Vec<&str> = found.notes.iter().map(|note| note.content.as_str()).collect();
        assert_eq!(
            contents,
            [
                "Shop > People: Marta owns the kiln\nand the clay",
                "Shop > People: Run it.\n```sh\njust\n```"
            ]
        );
        let places: Vec<&str> = found.notes.iter().map(|note| &text[note.bytes.clone()]).collect();
        assert_eq!(
            places,
            ["- Marta owns the kiln\n  and the clay", "Run it.\n\n```sh\njust\n```"]
        );
        assert_eq!(found.pointers, 1);
    }

    #[test]
    fn a_file_with_fields_is_one_note_with_its_description() {
        let text = "---\nname: tests\ndescription: How tests are run\ntype: feedback\n---\n\nUse a real database.\n";
        let found = of_claude("tests", text).notes;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].content, "How tests are run\n\nUse a real database.");
        assert_eq!(&text[found[0].bytes.clone()], text.trim_end());
        assert_eq!(found[0].kind, MemoryType::Procedural);
    }

    #[test]
    fn a_task_group_of_codex_names_its_folder_and_its_lists_are_left_out() {
        let text = "above\n# Task Group: shop\nscope: deploys\napplies_to: cwd=/home/anna/shop; reuse_rule=safe\n\n### keywords\n\n- deploy, ship\n\n## Reusable knowledge\n\n- Deploys go through just ship\n";
        let found = of_codex_handbook(text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].content, "shop > Reusable knowledge: Deploys go through just ship");
        assert_eq!(found[0].folder.as_deref(), Some("/home/anna/shop"));
        assert_eq!(&text[found[0].bytes.clone()], "- Deploys go through just ship");
    }
}
