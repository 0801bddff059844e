//! Claude Code's own memory: `~/.claude/projects/PROJECT/memory`, one file a memory with the fields
//! `name`, `description` and `type`, and the index `MEMORY.md`.
//!
//! Earlier versions wrote notes under headings instead; those are split into statements. Lines of
//! the index that point to a file are left out. The name of the folder is the path of the project
//! with `-` for every character that is not a letter or a digit.

use crate::collector::{Collector, TextFile, folder, memory_of};
use crate::error::Result;
use crate::memory_files::{self, FileContent};
use crate::places::Places;
use crate::regular_file;
use loci_proto::counted::counted;
use loci_proto::foreign::ForeignProject;
use loci_proto::memory::Scope;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// How much of a transcript is read for its folder, in bytes.
const TRANSCRIPT_BYTES: u64 = 256 * 1024;

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
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
    let FileContent { notes, fields, pointers } = memory_files::of_claude(&stem, &file.text);
    if pointers > 0 {
        let lines = counted(pointers, "line that points", "lines that point");
        let reason = format!("{lines} to another file");
        collector.skip(&file.name, "", &reason);
    }
    let mut base = memory_of(file, project);
    if fields.is_about_person() {
        base.scope = Scope::Global;
    }
    base.created_at = fields.created_at.unwrap_or(base.created_at);
    base.updated_at = fields.updated_at.unwrap_or(base.updated_at).max(base.created_at);
    fields.declare(&mut base.metadata);
    collector.add_notes(&base, notes);
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
