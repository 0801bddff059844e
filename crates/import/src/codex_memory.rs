//! Codex's memory: `~/.codex/memories`.
//!
//! `MEMORY.md` has a block per group of tasks, whose `applies_to` names the folder; its lists of
//! keywords and of files are left out. `memory_summary.md` repeats it except for the profile and the
//! preferences of the user. `rollout_summaries/` has one file per session; `raw_memories.md` is what
//! both were made from, and is read only where there is no `MEMORY.md`.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::markup::{self, LeftOut};
use crate::memory_files;
use crate::{front_matter, times};
use loci_proto::foreign::{ForeignMemory, ForeignProject};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::Value;
use std::ops::Range;
use std::path::Path;

/// A longer summary of a session is split into statements, in bytes.
const WHOLE_BYTES: usize = 2000;

/// What the lines above a session are.
const HEADER: &str = "a header of Codex";

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
    let found = memory_files::codex_handbook(&file.text);
    let mut unsure = None;
    for line in file.text.lines() {
        if let Some(cwd) = memory_files::cwd_of_header(line).filter(|cwd| cwd.starts_with('/'))
            && memory_files::folder_of(cwd).is_none()
        {
            collector.notice(format!("project not sure: {} says cwd={cwd}", file.name));
            unsure = Some(ForeignProject::Unsure(Vec::new()));
        }
    }
    for note in found.notes {
        let project = note.folder.clone().map(ForeignProject::Folder).or(unsure.clone());
        collector.add_notes(&memory_of(file, project), file, vec![note]);
    }
    collector.leave_out(file, found.left_out);
}

/// Reads `memory_summary.md`: what holds for the user everywhere.
fn summary(collector: &mut Collector<'_>, file: &TextFile) {
    let base = ForeignMemory { scope: Scope::Global, ..memory_of(file, None) };
    collector.add_statements(&base, file, memory_files::split_codex(&file.text, 0));
}

/// Reads `raw_memories.md`: one block per session.
fn threads(collector: &mut Collector<'_>, file: &TextFile) {
    let ranges = memory_files::blocks(&file.text, "## Thread ");
    let above = 0..ranges.first().map_or(file.text.len(), |range| range.start);
    let mut left_out = vec![LeftOut { bytes: above, reason: "is above the first thread".into() }];
    for range in ranges {
        let block = &file.text[range.clone()];
        let head = block.split("\n\n").next().unwrap_or(block);
        let Some(id) = head.lines().next().and_then(|line| line.split('`').nth(1)) else {
            left_out.push(LeftOut { bytes: range, reason: "a thread without an id".into() });
            continue;
        };
        let base = with_header(memory_of(file, None), head);
        let mut start = range.start + head.len();
        left_out.push(LeftOut { bytes: range.start..start, reason: HEADER.into() });
        let body = &file.text[start..range.end];
        start += body.len() - body.trim_start().len();
        let top = front_matter::split(&file.text[start..range.end]);
        if top.body > 0 {
            let bytes = start..start + top.body;
            left_out.push(LeftOut { bytes, reason: front_matter::FIELDS.into() });
        }
        episodes(collector, &base, id, (file, start + top.body..range.end));
    }
    collector.leave_out(file, left_out);
}

/// Reads the summary of one session: `name: value` lines, then the text.
fn session(collector: &mut Collector<'_>, file: &TextFile) {
    let head = file.text.split_once("\n\n").map_or("", |(head, _)| head);
    let is_header = |line: &str| line.split_once(": ").is_some_and(|(name, _)| !name.contains(' '));
    let head = if head.lines().all(is_header) { head } else { "" };
    let base = with_header(memory_of(file, None), head);
    collector.leave_out(file, vec![LeftOut { bytes: 0..head.len(), reason: HEADER.into() }]);
    episodes(collector, &base, &file.stem(), (file, head.len()..file.text.len()));
}

/// Adds the summary of a session whole, or as statements if it is long.
fn episodes(
    collector: &mut Collector<'_>,
    base: &ForeignMemory,
    id: &str,
    (file, bytes): (&TextFile, Range<usize>),
) {
    let base = ForeignMemory { kind: MemoryType::Episodic, ..base.clone() };
    let text = &file.text[..bytes.end];
    if bytes.len() > WHOLE_BYTES {
        return collector.add_statements(&base, file, memory_files::split_codex(text, bytes.start));
    }
    let (content, left_out) = markup::without_comments(text, bytes.start);
    let (place, own_id) = (id.to_owned(), Some(id.to_owned()));
    collector.add(ForeignMemory { place, own_id, content, ..base });
    collector.leave_out(file, left_out);
}

fn notes(collector: &mut Collector<'_>, file: &TextFile) {
    let top = front_matter::split(&file.text);
    let mut split = memory_files::split_codex(&file.text, top.body);
    split.left_out.extend(top.left_out(&[]));
    collector.add_statements(&memory_of(file, None), file, split);
}

/// Applies the folder and the time of a session.
fn with_header(mut base: ForeignMemory, head: &str) -> ForeignMemory {
    let value = |name: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.map(str::trim)
    };
    base.project = value("cwd")
        .filter(|cwd| cwd.starts_with('/'))
        .map(|cwd| ForeignProject::Folder(cwd.trim_end_matches('/').to_owned()));
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
