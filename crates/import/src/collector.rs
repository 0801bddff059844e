//! Collects the memories of one reading, and opens files with limits.

use crate::error::Result;
use crate::json::Item;
use crate::left_out::{self, Lines};
use crate::markup::LeftOut;
use crate::memory_files::{Note, normalized};
use crate::places::Places;
use crate::regular_file;
use crate::rows::{self, Fields, Record};
use crate::statements::Split;
use crate::times;
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignProject, ForeignRelation, Reading, SkippedText};
use loci_proto::limits::CONTENT_BYTES;
use loci_proto::memory::{MemoryType, Scope};
use serde_json::Map;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Maximum size of one text file, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// Maximum number of files of a folder.
const MAX_FILES: usize = 250_000;
/// Maximum depth of folders below the one that is read.
const MAX_DEPTH: usize = 12;

/// A text file that was read.
#[derive(Debug)]
pub(crate) struct TextFile {
    /// Its path.
    pub path: PathBuf,
    /// Its path as readings name it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// When it was last changed, in milliseconds since 1970.
    pub changed_at: i64,
    /// Where its lines are.
    pub lines: Lines,
}

impl TextFile {
    /// Returns its name without folders and ending.
    pub fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// What has been read so far.
pub(crate) struct Collector<'a> {
    pub places: &'a Places,
    /// Files of a folder that are data of programs are named.
    pub names_data: bool,
    reading: Reading,
    /// What is left out and says little: tags, titles, fields. It is listed after the rest.
    minor: Reading,
    /// How many fields that only serve a program are left out, by file and name.
    bookkeeping: BTreeMap<String, BTreeMap<String, usize>>,
    seen: HashSet<PathBuf>,
}

impl<'a> Collector<'a> {
    pub fn new(places: &'a Places) -> Self {
        Self {
            places,
            names_data: false,
            reading: Reading::default(),
            minor: Reading::default(),
            bookkeeping: BTreeMap::new(),
            seen: HashSet::new(),
        }
    }

    /// Returns what was read.
    pub fn finish(self) -> Reading {
        let Self { mut reading, mut minor, bookkeeping, .. } = self;
        for (path, fields) in bookkeeping {
            let names = fields.iter().map(|(name, count)| format!("{name} ({count})"));
            let names = names.collect::<Vec<_>>().join(", ");
            let reason = format!("fields that only serve the program: {names}");
            minor.skip(skipped(&path, "", &reason));
        }
        for text in minor.skipped {
            reading.skip(text);
        }
        for (reason, count) in minor.skipped_more {
            *reading.skipped_more.entry(reason).or_default() += count;
        }
        reading
    }

    /// Returns a path with `~` for the home folder, so that it says the same on another machine.
    pub fn name_of(&self, path: &Path) -> String {
        let home = self.places.home.canonicalize().unwrap_or_else(|_| self.places.home.clone());
        match path.strip_prefix(&home) {
            Ok(rest) => format!("~/{}", rest.display()),
            Err(_) => path.display().to_string(),
        }
    }

    /// Notes that a file is read; false if it was read before, perhaps under another name.
    pub fn begin_file(&mut self, path: &Path) -> bool {
        let is_new = self.seen.insert(path.canonicalize().unwrap_or_else(|_| path.to_path_buf()));
        if is_new {
            let name = self.name_of(path);
            self.reading.files.push(name);
        }
        is_new
    }

    /// Reads a text file; `None` if it was read before or cannot be used, which is noted.
    pub fn text_file(&mut self, path: &Path) -> Option<TextFile> {
        if !self.begin_file(path) {
            return None;
        }
        let name = self.name_of(path);
        let problem = match fs::metadata(path) {
            Err(error) => error.to_string(),
            Ok(meta) if !meta.is_file() => "is not a regular file".to_owned(),
            Ok(meta) if meta.len() > MAX_FILE_BYTES => {
                format!("is larger than {} MiB", MAX_FILE_BYTES >> 20)
            }
            Ok(meta) => match regular_file::read_text(path) {
                Ok(text) => {
                    let changed_at = times::of_file(&meta);
                    let text = normalized(&text).into_owned();
                    let lines = Lines::new(&text);
                    return Some(TextFile {
                        path: path.to_path_buf(),
                        name,
                        text,
                        changed_at,
                        lines,
                    });
                }
                Err(error) if error.kind() == ErrorKind::InvalidData => {
                    "is not UTF-8 text".to_owned()
                }
                Err(error) => error.to_string(),
            },
        };
        self.skip(&name, "", &problem);
        None
    }

    /// Returns the Markdown and text files of a folder and its folders in order, or the file itself. Symbolic
    /// links to folders or out of the folder are not followed. Drawings and data of other programs are noted, and folders that are hidden
    /// or hold what tools have put there.
    pub fn markdown_files(&mut self, path: &Path) -> Result<Vec<PathBuf>> {
        if path.is_file() {
            return Ok(vec![path.to_path_buf()]);
        }
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let (mut found, mut folders) = (Vec::new(), vec![(path.to_path_buf(), 0)]);
        while let Some((folder, depth)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) => {
                    let name = self.name_of(&folder);
                    self.skip(&name, "", &error.to_string());
                    continue;
                }
            };
            for entry in entries.flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    let apart = what_is_apart(&entry.path());
                    let apart = apart.or((depth == MAX_DEPTH).then_some("is too deep"));
                    if let Some(reason) = apart {
                        let path = self.name_of(&entry.path());
                        self.minor.skip(skipped(&path, "", reason));
                    } else {
                        folders.push((entry.path(), depth + 1));
                    }
                } else if let Some(what) = has_ending(&entry.path(), &DATA) {
                    if self.names_data {
                        let name = self.name_of(&entry.path());
                        self.skip(&name, "", what);
                    }
                } else if has_ending(&entry.path(), &TEXTS).is_some() {
                    let target = entry.path().canonicalize();
                    if target.is_ok_and(|target| !target.starts_with(&whole)) {
                        let name = self.name_of(&entry.path());
                        self.skip(&name, "", "is a link to a file outside the folder");
                    } else {
                        found.push(entry.path());
                    }
                }
            }
            if found.len() > MAX_FILES {
                let message = format!("{} has more than {MAX_FILES} files", path.display());
                return Err(Failure::new(Code::TooMany, message).hint("Name a folder in it"));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Notes what was left out.
    pub fn skip(&mut self, name: &str, place: &str, reason: &str) {
        self.reading.skip(skipped(name, place, reason));
    }

    /// Notes a doubt, or what the reader of a preview should know.
    pub fn notice(&mut self, text: String) {
        self.reading.notice(text);
    }

    /// Notes parts of a file that are left out.
    pub fn leave_out(&mut self, file: &TextFile, parts: Vec<LeftOut>) {
        for part in left_out::merged(&file.text, parts) {
            let place = file.lines.place(&file.text, &part.bytes, !part.is_private);
            let text = skipped(&file.name, &place, &part.reason);
            if part.is_minor { self.minor.skip(text) } else { self.reading.skip(text) }
        }
    }

    /// Adds a memory, unless its text is empty or too long.
    pub fn add(&mut self, memory: ForeignMemory) {
        let place = memory.place.clone();
        self.add_from(memory, &place);
    }

    /// Adds a memory; `place` is where it is noted to be if it is left out.
    pub fn add_from(&mut self, mut memory: ForeignMemory, place: &str) {
        let content = memory.content.trim();
        if content.len() < memory.content.len() {
            memory.content = content.into();
        }
        let reason = if !memory.content.chars().any(char::is_alphanumeric) {
            "has no word".to_owned()
        } else if memory.content.len() > CONTENT_BYTES {
            format!("is longer than {CONTENT_BYTES} bytes")
        } else {
            return self.reading.memories.push(memory);
        };
        self.skip(&memory.path, place, &reason);
        for ForeignRelation { predicate, to, .. } in &memory.relations {
            self.skip(
                &memory.path,
                place,
                &format!("so its relation is left out: {predicate} {to}"),
            );
        }
    }

    /// Returns an item of a document as a record; what is no object is noted.
    pub fn record(&mut self, file: &TextFile, item: &Item) -> Option<Record> {
        let place = file.lines.place(&file.text, &item.bytes, true);
        if let Some(fields) = item.fields(&file.text) {
            return Some(Record { fields, place });
        }
        self.skip(&file.name, &place, "is no JSON object");
        None
    }

    /// Adds the memory that was read from a record, with what else the record says; `own` has the names of fields that only serve the program.
    pub fn add_with(&mut self, mut memory: ForeignMemory, record: Record, own: &str) {
        let place = record.place.clone();
        let others = self.rest(&memory.path, record, own);
        let too_large = rows::keep(&mut memory.metadata, others);
        if !too_large.is_empty() {
            let reason = format!("has too large fields: {}", too_large.join(", "));
            self.skip(&memory.path, &place, &reason);
        }
        self.add_from(memory, &place);
    }

    /// Notes what a record says beside what was taken of it.
    pub fn skip_rest(&mut self, path: &str, record: Record, what: &str) {
        let place = record.place.clone();
        let others = self.rest(path, record, "");
        if !others.is_empty() {
            let names = others.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let reason = format!("further fields of {what}: {names}");
            self.minor.skip(skipped(path, &place, &reason));
        }
    }

    /// Counts the fields that only serve a program, and returns the others.
    fn rest(&mut self, path: &str, record: Record, own: &str) -> Fields {
        let (bookkeeping, others) = record.rest(own);
        if !bookkeeping.is_empty() {
            let counts = self.bookkeeping.entry(path.to_owned()).or_default();
            for name in bookkeeping {
                *counts.entry(name).or_default() += 1;
            }
        }
        others
    }

    /// Adds a record of loci.
    pub fn add_record(&mut self, record: serde_json::Value) {
        self.reading.records.push(record);
    }

    /// Adds what a memory file states.
    pub fn add_notes(&mut self, base: &ForeignMemory, file: &TextFile, notes: Vec<Note>) {
        for Note { content, place, own_id, kind, bytes, .. } in notes {
            let memory = ForeignMemory { kind, place, own_id, content, ..base.clone() };
            self.add_from(memory, &file.lines.place(&file.text, &bytes, true));
        }
    }

    /// Adds the statements of a Markdown file, and notes what is none.
    pub fn add_statements(&mut self, base: &ForeignMemory, file: &TextFile, split: Split) {
        for statement in split.statements {
            let kind = if statement.is_procedure { MemoryType::Procedural } else { base.kind };
            let content = statement.content();
            let line = file.lines.place(&file.text, &statement.bytes, true);
            let memory = ForeignMemory { kind, place: statement.place, content, ..base.clone() };
            self.add_from(memory, &line);
        }
        self.leave_out(file, split.left_out);
    }
}

fn skipped(path: &str, place: &str, reason: &str) -> SkippedText {
    SkippedText { path: path.to_owned(), place: place.to_owned(), reason: reason.to_owned() }
}

/// Endings of files with text.
const TEXTS: [(&str, &str); 4] =
    [("md", "Markdown"), ("markdown", "Markdown"), ("mdc", "Markdown"), ("txt", "text")];
/// Endings of files that are left out by name.
const DATA: [(&str, &str); 6] = [
    ("canvas", "is a drawing"),
    ("excalidraw", "is a drawing"),
    ("excalidraw.md", "is a drawing"),
    ("base", "is a query for other notes"),
    ("json", "is JSON of a program"),
    ("jsonl", "is JSON of a program"),
];

/// Folders of what others wrote, and a file beside them that says so.
const DEPENDENCIES: [(&str, &str); 7] = [
    ("node_modules", "."),
    ("bower_components", "."),
    ("vendor", "go.mod"),
    ("vendor", "composer.json"),
    ("vendor", "Gemfile"),
    ("target", "Cargo.toml"),
    ("target", "pom.xml"),
];

/// Returns why a folder has no notes of the person.
fn what_is_apart(folder: &Path) -> Option<&'static str> {
    let name = folder.file_name()?.to_string_lossy();
    let above = folder.parent()?;
    let is_of_others =
        DEPENDENCIES.iter().any(|(known, beside)| *known == name && above.join(beside).exists());
    if name.starts_with('.') {
        Some("is a hidden folder")
    } else {
        let is_marked =
            ["CACHEDIR.TAG", "pyvenv.cfg"].iter().any(|mark| folder.join(mark).exists());
        (is_of_others || is_marked).then_some("is a folder of dependencies or of what a tool built")
    }
}

/// Returns what a file is by the ending of its name.
fn has_ending<'e>(path: &Path, endings: &[(&str, &'e str)]) -> Option<&'e str> {
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let ends = |ending: &str| name.strip_suffix(ending).is_some_and(|rest| rest.ends_with('.'));
    endings.iter().find(|(ending, _)| ends(ending)).map(|(_, what)| *what)
}

/// Returns a memory of a file without a text, to which a format adds what it knows.
pub(crate) fn memory_of(file: &TextFile, project: Option<ForeignProject>) -> ForeignMemory {
    let day = times::of_name(&file.stem());
    ForeignMemory {
        scope: Scope::Group,
        project,
        created_at: day.unwrap_or(file.changed_at),
        updated_at: file.changed_at.max(day.unwrap_or(0)),
        ..memory_at(&file.name)
    }
}

/// Returns a memory at a path without a text and a time, about no project.
#[must_use]
pub fn memory_at(path: &str) -> ForeignMemory {
    ForeignMemory {
        path: path.to_owned(),
        root: None,
        place: String::new(),
        learned: None,
        own_id: None,
        kind: MemoryType::Semantic,
        scope: Scope::Global,
        project: None,
        by_person: false,
        pinned: false,
        created_at: 0,
        updated_at: 0,
        confidence: None,
        metadata: Map::new(),
        relations: Vec::new(),
        content: String::new(),
    }
}

/// Returns a folder as a project.
pub(crate) fn folder(path: &Path) -> ForeignProject {
    ForeignProject::Folder(path.to_string_lossy().into_owned())
}
