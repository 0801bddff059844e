//! Codex's memory: `~/.codex/memories`.
//!
//! `MEMORY.md` has a block per group of tasks, whose `applies_to` names the folder; its lists of
//! keywords and of files are left out. `memory_summary.md` repeats it except for the profile and the
//! preferences of the user. `rollout_summaries/` has one file per session; `raw_memories.md` is what
//! both were made from, and is read only where there is no `MEMORY.md`.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::memory_files::{self, CODEX_TITLES as TITLES};
use crate::statements::{self, Statement};
use crate::{front_matter, times};
use loci_proto::foreign::{ForeignMemory, ForeignProject};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::Value;
use std::path::Path;

/// A longer summary of a session is split into statements, in bytes.
const WHOLE_BYTES: usize = 2000;

/// Reads the folder of memories, or one file of it.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let has_memory = path.join("MEMORY.md").is_file();
    for path in collector.markdown_files(path)? {
        let Some(file) = collector.text_file(&path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let in_folder = |name: &str| path.parent().is_some_and(|folder| folder.ends_with(name));
        match name.as_str() {
            "MEMORY.md" => task_groups(collector, &file),
            "memory_summary.md" => summary(collector, &file),
            "raw_memories.md" if has_memory => {
                collector.skip(&file.name, "", "MEMORY.md was made from it");
            }
            "raw_memories.md" => threads(collector, &file),
            "SKILL.md" => collector.skip(&file.name, "", "is a skill, not a memory"),
            _ if in_folder("rollout_summaries") => session(collector, &file),
            _ => notes(collector, &file),
        }
    }
    Ok(())
}

/// Reads `MEMORY.md`: each level-1 heading begins a group of tasks.
fn task_groups(collector: &mut Collector<'_>, file: &TextFile) {
    for note in memory_files::of_codex_handbook(&file.text) {
        let project = note.folder.clone().map(ForeignProject::Folder);
        collector.add_notes(&memory_of(file, project), vec![note]);
    }
}

/// Reads `memory_summary.md`: what holds for the user everywhere.
fn summary(collector: &mut Collector<'_>, file: &TextFile) {
    let base = ForeignMemory { scope: Scope::Global, ..memory_of(file, None) };
    add(collector, &base, statements::split(&file.text, &TITLES));
}

/// Reads `raw_memories.md`: one block per session.
fn threads(collector: &mut Collector<'_>, file: &TextFile) {
    for range in memory_files::blocks(&file.text, "## Thread ") {
        let block = &file.text[range];
        let Some((head, body)) = block.split_once("\n\n") else { continue };
        let Some(id) = head.lines().next().and_then(|line| line.split('`').nth(1)) else {
            continue;
        };
        let base = with_header(memory_of(file, None), head);
        let body = front_matter::split(body.trim_start()).1;
        episodes(collector, &base, id, body);
    }
}

/// Reads the summary of one session: `name: value` lines, then the text.
fn session(collector: &mut Collector<'_>, file: &TextFile) {
    let (head, body) = file.text.split_once("\n\n").unwrap_or(("", &file.text));
    let base = with_header(memory_of(file, None), head);
    let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    episodes(collector, &base, &stem, body);
}

/// Adds the summary of a session whole, or as statements if it is long.
fn episodes(collector: &mut Collector<'_>, base: &ForeignMemory, id: &str, body: &str) {
    let base = ForeignMemory { kind: MemoryType::Episodic, ..base.clone() };
    if body.len() <= WHOLE_BYTES {
        let (place, own_id) = (id.to_owned(), Some(id.to_owned()));
        return collector.add(ForeignMemory { place, own_id, content: body.to_owned(), ..base });
    }
    add(collector, &base, statements::split(body, &TITLES));
}

fn notes(collector: &mut Collector<'_>, file: &TextFile) {
    let (_, body) = front_matter::split(&file.text);
    add(collector, &memory_of(file, None), statements::split(body, &TITLES));
}

/// Applies the folder and the time of a session.
fn with_header(mut base: ForeignMemory, head: &str) -> ForeignMemory {
    let value = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.map(str::trim)
    };
    base.project = value("cwd").and_then(memory_files::folder_of).map(ForeignProject::Folder);
    if let Some(at) = value("updated_at") {
        if let Some(time) = times::of_text(at) {
            (base.created_at, base.updated_at) = (time, time);
        }
        if let Some(day) = at.get(..10).filter(|day| times::of_text(day).is_some()) {
            base.metadata.insert("event_date".to_owned(), Value::from(day));
        }
    }
    base
}

fn add(collector: &mut Collector<'_>, base: &ForeignMemory, mut found: Vec<Statement>) {
    found.retain(|statement| !memory_files::is_codex_index(statement));
    collector.add_statements(base, found);
}
