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
        if let Found::Unsure(reason, _) = &project {
            collector.notice(reason.clone());
        }
        let project = match project {
            Found::Folder(path) => Some(self::folder(&path)),
            Found::Unsure(_, folders) => Some(ForeignProject::Unsure(folders)),
            Found::None => None,
        };
        for path in collector.markdown_files(&folder)? {
            if let Some(file) = collector.text_file(&path) {
                read_file(collector, &file, project.clone());
            }
        }
    }
    Ok(())
}

fn read_file(collector: &mut Collector<'_>, file: &TextFile, project: Option<ForeignProject>) {
    let stem = file.stem();
    let FileContent { notes, fields, left_out, .. } = memory_files::of_claude(&stem, &file.text);
    collector.leave_out(file, left_out);
    let mut base = memory_of(file, project);
    if fields.is_about_person() {
        base.scope = Scope::Global;
    }
    base.created_at = fields.created_at.unwrap_or(base.created_at);
    base.updated_at = fields.updated_at.unwrap_or(base.updated_at).max(base.created_at);
    fields.declare(&mut base.metadata);
    collector.add_notes(&base, file, notes);
}

/// The project of a memory folder.
enum Found {
    Folder(PathBuf),
    /// Why it is not sure, and which folders it may be.
    Unsure(String, Vec<String>),
    /// The folder is none of a project.
    None,
}

/// Returns the project of a memory folder: different paths have the same name, so it must be named in a transcript or be the only one on
/// the disk.
fn project_of(memory: &Path) -> Found {
    let encoded = memory.ancestors().find(|path| {
        path.parent().is_some_and(|parent| parent.ends_with("projects"))
            && path.file_name().is_some_and(|name| is_encoded(&name.to_string_lossy()))
    });
    let Some(encoded) = encoded else { return Found::None };
    let name = encoded.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut folders = folders_of_transcripts(encoded, &name);
    if folders.is_empty() {
        folders = folders_of_name(&name);
    }
    match &folders[..] {
        [folder] => Found::Folder(folder.clone()),
        [] => {
            let reason = format!("project not sure: no folder was found for {name}");
            Found::Unsure(reason, Vec::new())
        }
        folders => {
            let folders: Vec<String> =
                folders.iter().map(|folder| folder.display().to_string()).collect();
            let reason = format!("project not sure: {name} may be {}", folders.join(" or "));
            Found::Unsure(reason, folders)
        }
    }
}

/// Returns whether a name is that of a path, on Unix or on Windows.
fn is_encoded(name: &str) -> bool {
    let drive = name.strip_prefix(|c: char| c.is_ascii_alphabetic());
    name.starts_with('-') || drive.is_some_and(|rest| rest.starts_with("--"))
}

/// Returns the folders that the latest transcripts of the project name.
fn folders_of_transcripts(folder: &Path, name: &str) -> Vec<PathBuf> {
    let transcripts =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut transcripts: Vec<PathBuf> =
        transcripts.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    transcripts.sort();
    let named = transcripts.iter().rev().take(20).filter_map(|path| {
        let beginning = BufReader::new(regular_file::open(path).ok()?.take(TRANSCRIPT_BYTES));
        beginning.lines().map_while(std::result::Result::ok).find_map(|line| {
            let line: Value = serde_json::from_str(&line).ok()?;
            let folder = line.get("cwd")?.as_str()?;
            (encode(folder) == name).then(|| PathBuf::from(folder))
        })
    });
    let mut named: Vec<PathBuf> = named.collect();
    named.sort();
    named.dedup();
    named
}

/// Returns the folders whose encoded path is `name`, as far as they exist.
fn folders_of_name(name: &str) -> Vec<PathBuf> {
    let (mut found, mut candidates) = (Vec::new(), vec![PathBuf::from("/")]);
    while let Some(folder) = candidates.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let encoded = encode(&path.to_string_lossy());
            let is_above = name.strip_prefix(&encoded).is_some_and(|rest| rest.starts_with('-'));
            if !(is_above || encoded == name) || !path.is_dir() {
                continue;
            }
            if encoded == name {
                found.push(path);
            } else {
                candidates.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Encodes a path as Claude Code does: each unit of UTF-16 that is no ASCII letter or digit is `-`.
fn encode(path: &str) -> String {
    path.encode_utf16()
        .map(|unit| {
            u8::try_from(unit).ok().filter(u8::is_ascii_alphanumeric).map_or('-', char::from)
        })
        .collect()
}
