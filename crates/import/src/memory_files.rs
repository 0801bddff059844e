//! What the memory files of Claude Code and the handbook of Codex state. The import and the bridge both read them here, so that a
//! statement has the same text and the same place whichever finds it. Pure, but for the question whether a folder is there.
//!
//! Not here: which files there are, and what becomes of what they state.

use crate::front_matter::FrontMatter;
use crate::markup::LeftOut;
use crate::statements::{self, Split, Statement};
use crate::{front_matter, markup, times};
use loci_base::model::declared;
use loci_proto::memory::{Category, MemoryType};
use loci_proto::requests::bridge::{BLOCK_BEGIN, BLOCK_END};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

/// A longer text is split into statements, in bytes.
const WHOLE_BYTES: usize = 2000;
/// What a line is that only leads to the file of another memory.
const POINTER: &str = "a line that points to another file";
/// Fields of Claude Code that a memory has, or that say its name.
const USED_FIELDS: [&str; 4] = ["name", "description", "type", "metadata"];
const CLAUDE_TITLES: [&str; 4] = ["memory", "memory.md", "memory index", "project memory"];
const CODEX_TITLES: [&str; 4] = ["memory", "memory summary", "summary", "raw memories"];
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
    /// What is no statement, with those lines.
    pub(crate) left_out: Vec<LeftOut>,
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
    /// Its name, if it says more than that of the file.
    pub title: Option<String>,
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
        if let Some(title) = &self.title {
            metadata.insert("title".to_owned(), title.as_str().into());
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
    let mut left_out = Vec::new();
    let text = blanked(text, |_| false, &mut left_out);
    let top = front_matter::split(&text);
    let body = &text[top.body..];
    let fields = note_fields(stem, &top.fields);
    let nested = top.fields.get("metadata").and_then(Value::as_object);
    let is_known = nested.is_none_or(|nested| nested.keys().all(|name| name == "type"));
    let used = if is_known { &USED_FIELDS[..] } else { &USED_FIELDS[..USED_FIELDS.len() - 1] };
    left_out.extend(top.left_out(used));
    if top.fields.is_empty() || body.len() > WHOLE_BYTES {
        return of_claude_statements(stem, &text, &top, left_out);
    }
    let description = front_matter::text(&top.fields, "description").unwrap_or_default();
    let (body, mut comments) = markup::without_comments(&text, top.body);
    left_out.append(&mut comments);
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
        kind: kind_of(&fields),
        folder: None,
        // Its description is part of it.
        bytes: 0..text.trim_end().len(),
    };
    FileContent { notes: vec![note], fields, pointers: 0, left_out }
}

fn kind_of(fields: &NoteFields) -> MemoryType {
    match fields.category.as_deref() {
        Some("feedback") => MemoryType::Procedural,
        _ => MemoryType::Semantic,
    }
}

/// Reads a file without fields, or a long one, as statements.
fn of_claude_statements(
    stem: &str,
    text: &str,
    top: &FrontMatter,
    mut left_out: Vec<LeftOut>,
) -> FileContent {
    let fields = note_fields(stem, &top.fields);
    let is_index = top.fields.is_empty();
    let mut found = statements::split_with(text, top.body, &CLAUDE_TITLES, &|statement| {
        (is_index && points_to_file(&statement.text)).then(|| POINTER.into())
    });
    left_out.append(&mut found.left_out);
    let pointers = left_out.iter().filter(|part| part.reason == POINTER).count();
    let mut notes = Vec::new();
    let title = front_matter::text(&top.fields, "description").unwrap_or_else(|| stem.to_owned());
    for mut statement in found.statements {
        if !top.fields.is_empty() {
            statement.place = match statement.place.as_str() {
                "" => title.clone(),
                place => format!("{title} > {place}"),
            };
        }
        notes.push(note(statement, kind_of(&fields)));
    }
    FileContent { notes, fields, pointers, left_out }
}

/// Reads the handbook of Codex: each heading of level 1 begins a group of tasks, whose `applies_to` names the folder of the project.
pub fn of_codex_handbook(original: &str) -> Vec<Note> {
    codex_handbook(original).notes
}

/// Reads the handbook of Codex, and what of it is no statement.
pub(crate) fn codex_handbook(original: &str) -> FileContent {
    let mut found = FileContent::default();
    let text = blanked(original, is_header, &mut found.left_out);
    let ranges = blocks(&text, "# ");
    let above = 0..ranges.first().map_or(text.len(), |range| range.start);
    found
        .left_out
        .push(LeftOut { bytes: above, reason: "is above the first group of tasks".into() });
    for range in ranges {
        let header = original[range.clone()].lines().find_map(cwd_of_header);
        let folder = header.and_then(folder_of);
        // Of the same length, so that places in the block are places in the file.
        let title = format!("#{:1$}", "", TASK_GROUP.len() - 1);
        let block = text[range.clone()].replacen(TASK_GROUP, &title, 1);
        let split = split_codex(&block, 0);
        for statement in split.statements {
            let mut note = Note { folder: folder.clone(), ..note(statement, MemoryType::Semantic) };
            note.bytes = note.bytes.start + range.start..note.bytes.end + range.start;
            found.notes.push(note);
        }
        found.left_out.extend(split.left_out.into_iter().map(|part| LeftOut {
            bytes: part.bytes.start + range.start..part.bytes.end + range.start,
            ..part
        }));
    }
    found
}

/// Splits a text of Codex, without the lists that only serve its own search.
pub(crate) fn split_codex(text: &str, from: usize) -> Split {
    statements::split_with(text, from, &CODEX_TITLES, &|statement| {
        let place = statement.place.to_lowercase();
        let is_index = place.split(" > ").any(|part| CODEX_INDEXES.contains(&part));
        is_index.then(|| "a list for the search of Codex".into())
    })
}

/// Returns the folder that a value of `cwd` names. More may follow it, but a name may contain ` and ` or a comma too: then the disk
/// decides, and if it does not, the folder is not sure.
pub(crate) fn folder_of(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    if !text.starts_with('/') {
        return None;
    }
    let ends = [" and ", ", ", ","].into_iter().flat_map(|end| text.match_indices(end));
    let mut candidates: Vec<&str> = ends.map(|(at, _)| text[..at].trim_end_matches('/')).collect();
    if candidates.is_empty() {
        return Some(text.to_owned());
    }
    candidates.push(text);
    candidates.retain(|folder| Path::new(folder).is_dir());
    // Of several that are there one is inside the name of the other, or a second folder is named.
    candidates.sort_unstable();
    candidates.dedup();
    match candidates[..] {
        [folder] if folder == text || !text[folder.len()..].contains(" /") => {
            Some(folder.to_owned())
        }
        _ => None,
    }
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

fn note(statement: Statement, kind: MemoryType) -> Note {
    let kind = if statement.is_procedure { MemoryType::Procedural } else { kind };
    let content = statement.content();
    let Statement { place, text: bare, bytes, .. } = statement;
    Note { content, bare, place, own_id: None, kind, folder: None, bytes }
}

/// Returns the type, which newer versions put into `metadata`, and the dates.
fn note_fields(stem: &str, fields: &Map<String, Value>) -> NoteFields {
    let nested = fields.get("metadata").and_then(Value::as_object);
    let field = |name: &str| {
        front_matter::text(fields, name)
            .or_else(|| nested.and_then(|nested| front_matter::text(nested, name)))
    };
    let at = |names: &[&str]| names.iter().find_map(|name| times::of_text(&field(name)?));
    let plain = |text: &str| statements::letters(text).to_lowercase();
    let title = front_matter::text(fields, "name").filter(|name| plain(name) != plain(stem));
    NoteFields {
        title,
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

/// Returns the value of `cwd` in the line that says what a group of tasks is about.
pub(crate) fn cwd_of_header(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches("- ").strip_prefix("applies_to:")?;
    rest.split(';').find_map(|part| part.trim().strip_prefix("cwd="))
}

/// Returns a text in which the lines that `is_blank` names, and what `loci bridge write` wrote, are blanks and noted. Every other byte
/// keeps its place.
fn blanked(text: &str, is_blank: impl Fn(&str) -> bool, left_out: &mut Vec<LeftOut>) -> String {
    let (mut kept, mut is_inside) = (String::with_capacity(text.len()), false);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let was_inside = is_inside;
        is_inside = (is_inside || trimmed == BLOCK_BEGIN) && trimmed != BLOCK_END;
        if was_inside || is_inside || is_blank(line) {
            let length = line.trim_end_matches('\n').len();
            let bytes = kept.len()..kept.len() + length;
            let is_header = !(was_inside || is_inside);
            let reason = if is_header { "a header of Codex" } else { "what loci wrote there" };
            left_out.push(LeftOut { bytes, reason: reason.into() });
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
