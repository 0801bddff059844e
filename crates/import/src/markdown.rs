//! Any Markdown files. Files that `loci export --format markdown` has written come back as the
//! records that they are; others are split into statements.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::{front_matter, loci_markdown, statements};
use loci_proto::foreign::{ForeignMemory, ForeignProject};
use std::path::Path;

/// Reads a file, or the Markdown files of a folder.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let (mut groups, mut memories, mut others) = (Vec::new(), Vec::new(), Vec::new());
    let root = if path.is_dir() { Some(path) } else { path.parent() };
    for path in collector.markdown_files(path)? {
        let Some(file) = collector.text_file(&path) else { continue };
        if let Some(records) = loci_markdown::read(&file.text) {
            groups.extend(records.group);
            memories.extend(records.memory);
            others.extend(records.others);
            continue;
        }
        let project = root.map(|root| ForeignProject::RepositoryOf(root.to_string_lossy().into()));
        let base = ForeignMemory {
            root: root.map(|root| collector.name_of(root)),
            ..memory_of(&file, project)
        };
        note(collector, &file, base);
    }
    // A line of an export refers to earlier lines only.
    others.sort_by_key(|record| match record["kind"].as_str() {
        Some("relation") => 1,
        Some("tombstone") => 2,
        _ => 0,
    });
    groups
        .into_iter()
        .chain(memories)
        .chain(others)
        .for_each(|record| collector.add_record(record));
    Ok(())
}

fn note(collector: &mut Collector<'_>, file: &TextFile, mut base: ForeignMemory) {
    let top = front_matter::split(&file.text);
    if let Some(what) = statements::data(&file.text[top.body..], &top.fields) {
        return collector.skip(&file.name, "", what);
    }
    front_matter::date(&top.fields, &mut base);
    let mut split = statements::split(&file.text, top.body, &[]);
    split.left_out.extend(top.left_out(&[]));
    collector.add_statements(&base, file, split);
}
