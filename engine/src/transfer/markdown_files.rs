//! The store as Markdown files: one for each memory, and an index for each project.
//!
//! Written as lines of JSON `{"path", "text"}`; the caller creates the files. A file has the fields
//! of the memory between `---` lines, one a line as JSON (which is YAML), then the text, then links
//! to related memories below [`LINKS`], which are for readers. Not in the files: the log and
//! vectors. Reading them back: `loci_import::loci_markdown`.

use crate::db::export_rows as rows;
use crate::error::Result;
use crate::model::time::{Timestamp, moment_of};
use crate::transfer::record::{GroupLine, MemoryLine, RelationLine, VariantLine};
use crate::transfer::written_line::{to_json, write_error};
use loci_import::loci_markdown::{ERASED, LINKS, MARK, TIMES};
use loci_proto::memory::MemoryId;
use rusqlite::Connection;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::Write;

/// Number of characters of a text in the name of its file.
const NAME_CHARS: usize = 48;
/// Number of characters of a text in a link.
const TITLE_CHARS: usize = 70;

/// What belongs to memories, by their ids.
#[derive(Default)]
struct Attached {
    variants: HashMap<MemoryId, Vec<VariantLine>>,
    sources: HashMap<MemoryId, Vec<MemoryId>>,
    relations: HashMap<MemoryId, Vec<RelationLine>>,
    /// Path and title of each memory.
    files: HashMap<MemoryId, (String, String)>,
}

/// Writes the files of a store.
pub(crate) fn write(conn: &Connection, sink: &mut dyn Write) -> Result<()> {
    let mut folders: BTreeMap<String, String> = BTreeMap::new();
    let mut projects: BTreeMap<String, (Option<GroupLine>, Vec<MemoryId>)> = BTreeMap::new();
    rows::groups(conn, |line| {
        let taken = folders.values().any(|folder| *folder == slug(&line.name));
        let folder = if taken {
            format!("{}-{}", slug(&line.name), slug(&line.id))
        } else {
            slug(&line.name)
        };
        folders.insert(line.id.clone(), folder.clone());
        projects.insert(folder, (Some(line), Vec::new()));
        Ok(())
    })?;
    let mut attached = Attached::default();
    rows::memories(conn, |line| {
        let folder = line.group.as_ref().and_then(|group| folders.get(group));
        let folder = folder.cloned().unwrap_or_else(|| "no-project".to_owned());
        let path = format!("{folder}/{}/{}.md", line.kind, file_name(&line));
        attached.files.insert(line.id.clone(), (path, title(&line.content)));
        projects.entry(folder).or_default().1.push(line.id);
        Ok(())
    })?;
    rows::variants(conn, |line| {
        attached.variants.entry(line.memory.clone()).or_default().push(line);
        Ok(())
    })?;
    rows::sources(conn, |line| {
        attached.sources.entry(line.memory).or_default().push(line.source);
        Ok(())
    })?;
    rows::relations(conn, |line| {
        attached.relations.entry(line.subject.clone()).or_default().push(line);
        Ok(())
    })?;
    for (folder, (group, members)) in &projects {
        let text = index(folder, group.as_ref(), members, &attached)?;
        write_file(sink, &format!("{folder}/index.md"), &text)?;
    }
    rows::memories(conn, |line| {
        let path = attached.files.get(&line.id).map(|(path, _)| path.clone()).unwrap_or_default();
        write_file(sink, &path, &memory_text(&line, &attached)?)
    })?;
    let mut erased = Vec::new();
    rows::tombstones(conn, |line| {
        erased.push(Value::Object(object(&line)?));
        Ok(())
    })?;
    if !erased.is_empty() {
        let fields = Map::from_iter([(ERASED.to_owned(), Value::Array(erased))]);
        write_file(sink, "erased.md", &front_matter(ERASED, fields))?;
    }
    sink.flush().map_err(write_error)
}

fn write_file(sink: &mut dyn Write, path: &str, text: &str) -> Result<()> {
    let line = json!({"path": path, "text": text}).to_string();
    sink.write_all(line.as_bytes()).and_then(|()| sink.write_all(b"\n")).map_err(write_error)
}

/// Returns the text of the file of a memory.
fn memory_text(line: &MemoryLine, attached: &Attached) -> Result<String> {
    let MemoryLine { id, content, superseded_by, .. } = line;
    let mut fields = object(line)?;
    if !content.contains('\r') {
        fields.remove("content");
    }
    let list = |name: &str, values: Vec<Value>, fields: &mut Map<String, Value>| {
        if !values.is_empty() {
            fields.insert(name.to_owned(), Value::Array(values));
        }
    };
    let variants = attached.variants.get(id).into_iter().flatten();
    let variants = variants.map(object).collect::<Result<Vec<_>>>()?;
    list("variants", without(variants, "memory"), &mut fields);
    let sources = attached.sources.get(id).map_or(&[][..], Vec::as_slice);
    list("sources", sources.iter().map(|source| json!(source)).collect(), &mut fields);
    let relations = attached.relations.get(id).map_or(&[][..], Vec::as_slice);
    let objects = relations.iter().map(object).collect::<Result<Vec<_>>>()?;
    list("relations", without(objects, "subject"), &mut fields);
    let mut text = front_matter("memory", fields);
    if !content.contains('\r') {
        text.push_str(content);
    }
    let _ = write!(text, "\n\n{LINKS}\n");
    let mut links: Vec<(String, &MemoryId)> = superseded_by
        .iter()
        .map(|newer| ("replaced by".to_owned(), newer))
        .chain(sources.iter().map(|source| ("made from".to_owned(), source)))
        .chain(relations.iter().map(|relation| (relation.predicate.clone(), &relation.object)))
        .collect();
    links.dedup();
    for (predicate, to) in links {
        if let Some((path, title)) = attached.files.get(to) {
            let _ = writeln!(text, "- {predicate} [{title}](../../{path})");
        }
    }
    Ok(text)
}

/// Returns the index of a project: its memories by type, newest last.
fn index(
    folder: &str,
    group: Option<&GroupLine>,
    members: &[MemoryId],
    attached: &Attached,
) -> Result<String> {
    let fields = group.map(object).transpose()?.unwrap_or_default();
    let mut text = front_matter("project", fields);
    let name = group.map_or("Without a project", |group| group.name.as_str());
    let _ = writeln!(text, "# {name}");
    let mut by_type: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (path, title) in members.iter().filter_map(|id| attached.files.get(id)) {
        let path = path.strip_prefix(folder).unwrap_or(path).trim_start_matches('/');
        let kind = path.split('/').next().unwrap_or_default();
        by_type.entry(kind).or_default().push((path, title));
    }
    for (kind, files) in by_type {
        let _ = writeln!(text, "\n## {kind}\n");
        for (path, title) in files {
            let _ = writeln!(text, "- [{title}]({path})");
        }
    }
    Ok(text)
}

/// Returns fields between `---` lines, then an empty line.
fn front_matter(mark: &str, mut fields: Map<String, Value>) -> String {
    for name in TIMES {
        if let Some(at) = fields.get(name).and_then(Value::as_i64) {
            // A time after the year 9999 stays a number.
            let text = Timestamp(at).iso();
            if moment_of(&text) == Some(Timestamp(at)) {
                fields.insert(name.to_owned(), Value::from(text));
            }
        }
    }
    let mut text = format!("---\n{MARK}: \"{mark}\"\n");
    for (name, value) in fields {
        let _ = writeln!(text, "{name}: {value}");
    }
    text.push_str("---\n\n");
    text
}

fn object(record: &impl serde::Serialize) -> Result<Map<String, Value>> {
    let text = to_json(record)?;
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

fn without(objects: Vec<Map<String, Value>>, field: &str) -> Vec<Value> {
    let one = |mut object: Map<String, Value>| {
        object.remove(field);
        Value::Object(object)
    };
    objects.into_iter().map(one).collect()
}

/// Returns the name of the file of a memory: the first words of its text, and the end of its id.
fn file_name(line: &MemoryLine) -> String {
    let id = line.id.as_str();
    format!("{}-{}", slug(&line.content), &id[id.len() - 12..])
}

/// Returns a text as a part of a path: letters and digits in lower case, joined by hyphens.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if slug.chars().count() >= NAME_CHARS {
            break;
        }
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "x".to_owned() } else { slug.to_owned() }
}

/// Returns the beginning of a text as the text of a link.
fn title(content: &str) -> String {
    let words = content.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = words.chars().take(TITLE_CHARS).collect();
    title.replace('[', "(").replace(']', ")")
}
