//! Claude Code's own memory: `~/.claude/projects/PROJECT/memory`, one file a memory with the fields
//! `name`, `description` and `type`, and the index `MEMORY.md`.
//!
//! Earlier versions wrote notes under headings instead; those are split into statements. Lines of
//! the index that point to a file are left out. The name of the folder is the path of the project
//! with `-` for every character that is not a letter or a digit.

use crate::error::Result;
use crate::foreign_formats::collector::{Collector, TextFile, folder, memory_of};
use crate::foreign_formats::places::Places;
use crate::foreign_formats::regular_file;
use crate::foreign_formats::{front_matter, statements, times};
use loci_proto::foreign::{ForeignMemory, ForeignProject};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::{Map, Value};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// A longer text is split into statements, in bytes.
const WHOLE_BYTES: usize = 2000;
/// How much of a transcript is read for its folder, in bytes.
const TRANSCRIPT_BYTES: u64 = 256 * 1024;
const TITLES: [&str; 4] = ["memory", "memory.md", "memory index", "project memory"];

/// Returns the memory folders of all projects.
pub(crate) fn usual_paths(places: &Places) -> Vec<PathBuf> {
    memory_folders(&places.home.join(".claude/projects"))
}

fn memory_folders(projects: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(projects).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        entries.map(|entry| entry.path().join("memory")).filter(|folder| folder.is_dir()).collect();
    found.sort();
    found
}

/// Reads the memory folder of a project, the folder with those of all projects, or one file.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let below = memory_folders(path);
    let folders = if below.is_empty() { vec![path.to_path_buf()] } else { below };
    for folder in folders {
        let inner = folder.join("memory");
        let folder = if inner.is_dir() { inner } else { folder };
        let project = project_of(&folder);
        for path in collector.markdown_files(&folder)? {
            if let Some(file) = collector.text_file(&path) {
                read_file(collector, &file, project.clone());
            }
        }
    }
    Ok(())
}

fn read_file(collector: &mut Collector<'_>, file: &TextFile, project: Option<ForeignProject>) {
    let (fields, body) = front_matter::split(&file.text);
    let mut base = memory_of(file, project);
    if fields.is_empty() {
        let found = statements::split(body, &TITLES);
        let (pointers, found): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|statement| points_to_file(&statement.text));
        if !pointers.is_empty() {
            let reason = format!("{} lines that point to other files", pointers.len());
            collector.skip(&file.name, "", &reason);
        }
        return collector.add_statements(&base, found);
    }
    apply_fields(&mut base, &fields);
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let description = front_matter::text(&fields, "description").unwrap_or_default();
    if body.len() <= WHOLE_BYTES {
        let body = body.trim();
        let content = match (description.is_empty() || body.contains(&description), body) {
            (true, body) => body.to_owned(),
            (false, "") => description,
            (false, body) => format!("{description}\n\n{body}"),
        };
        collector.add(ForeignMemory { place: stem.clone(), own_id: Some(stem), content, ..base });
    } else {
        let title = if description.is_empty() { stem } else { description };
        let mut found = statements::split(body, &TITLES);
        for statement in &mut found {
            statement.place = match statement.place.as_str() {
                "" => title.clone(),
                place => format!("{title} > {place}"),
            };
        }
        collector.add_statements(&base, found);
    }
}

/// Applies the type, which newer versions put into `metadata`, and the dates.
fn apply_fields(base: &mut ForeignMemory, fields: &Map<String, Value>) {
    let nested = fields.get("metadata").and_then(Value::as_object);
    let field = |name: &str| {
        front_matter::text(fields, name)
            .or_else(|| nested.and_then(|nested| front_matter::text(nested, name)))
    };
    if let Some(kind) = field("type") {
        // Claude Code uses the type `user` for facts about the person, which are true in every project.
        base.scope = if kind == "user" { Scope::Global } else { Scope::Group };
        base.metadata.insert("category".to_owned(), Value::from(kind));
    }
    let at = |names: &[&str]| names.iter().find_map(|name| times::of_text(&field(name)?));
    if let Some(created) = at(&["created_at", "created", "date"]) {
        base.created_at = created;
    }
    if let Some(updated) = at(&["updated_at", "updated", "modified"]) {
        base.updated_at = updated;
    }
    base.updated_at = base.updated_at.max(base.created_at);
    base.kind = MemoryType::Semantic;
}

/// Returns whether a line of the index only points to the file of a memory.
fn points_to_file(text: &str) -> bool {
    text.starts_with('[') && text.contains("](") && text.contains(".md)")
}

/// Returns the project of a memory folder.
pub(crate) fn project_of(memory: &Path) -> Option<ForeignProject> {
    let encoded = memory.ancestors().find(|path| {
        path.parent().is_some_and(|parent| parent.ends_with("projects"))
            && path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"-"))
    })?;
    let name = encoded.file_name()?.to_string_lossy().into_owned();
    let path = folder_of_transcripts(encoded, &name).or_else(|| folder_of_name(&name));
    Some(path.map_or(ForeignProject::Named(name), |path| folder(&path)))
}

/// Returns the folder that a transcript of the project names.
fn folder_of_transcripts(folder: &Path, name: &str) -> Option<PathBuf> {
    let transcripts = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut transcripts: Vec<PathBuf> =
        transcripts.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    transcripts.sort();
    transcripts.iter().rev().take(20).find_map(|path| {
        let beginning = BufReader::new(regular_file::open(path).ok()?.take(TRANSCRIPT_BYTES));
        beginning.lines().map_while(std::result::Result::ok).find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            let folder = line.get("cwd")?.as_str()?;
            (encode(folder) == name).then(|| PathBuf::from(folder))
        })
    })
}

/// Returns the folder whose encoded path is `name`, if it still exists.
fn folder_of_name(name: &str) -> Option<PathBuf> {
    let mut candidates = vec![PathBuf::from("/")];
    while let Some(folder) = candidates.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let encoded = encode(&path.to_string_lossy());
            let is_above = name.strip_prefix(&encoded).is_some_and(|rest| rest.starts_with('-'));
            if !(is_above || encoded == name) || !path.is_dir() {
                continue;
            }
            if encoded == name {
                return Some(path);
            }
            candidates.push(path);
        }
    }
    None
}

/// Encodes a path as Claude Code does.
fn encode(path: &str) -> String {
    path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}
