//! The notes of basic-memory: Markdown files with fields at the top, observations
//! (`- [category] text #tag (context)`) and relations (`- relation [[Note]]`).
//!
//! A note becomes an entity, and each observation and paragraph a statement.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::places::Places;
use crate::{front_matter, regular_file, statements};
use loci_proto::foreign::{ForeignMemory, ForeignProject, ForeignRelation, Reading, SkippedText};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Fields that a note has as a memory, beside its dates.
const USED_FIELDS: [&str; 4] = ["title", "type", "tags", "permalink"];

/// A line that became a relation and says nothing else.
const RELATION: &str = "a relation";

/// Returns the folders of all projects of the program's configuration, or the usual one.
pub(crate) fn usual_paths(places: &Places) -> Vec<PathBuf> {
    let config = places.home.join(".basic-memory/config.json");
    let text = regular_file::read_text(&config).unwrap_or_default();
    let config: Value = serde_json::from_str(&text).unwrap_or_default();
    let projects = config.get("projects").and_then(Value::as_object);
    let mut found: Vec<PathBuf> = projects
        .into_iter()
        .flat_map(Map::values)
        .filter_map(|project| {
            project.as_str().or_else(|| project.get("path").and_then(Value::as_str))
        })
        .map(PathBuf::from)
        .collect();
    found.push(places.home.join("basic-memory"));
    found.dedup();
    found
}

/// Reads a folder of notes, or one.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let project = project_of(path);
    for path in collector.markdown_files(path)? {
        if let Some(file) = collector.text_file(&path) {
            note(collector, &file, project.clone());
        }
    }
    Ok(())
}

/// A folder with another name than the usual one is a project of that name.
fn project_of(path: &Path) -> Option<ForeignProject> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    (path.is_dir() && name != "basic-memory").then_some(ForeignProject::Named(name))
}

fn note(collector: &mut Collector<'_>, file: &TextFile, project: Option<ForeignProject>) {
    let top = front_matter::split(&file.text);
    if let Some(what) = statements::data(&file.text[top.body..], &top.fields) {
        return collector.skip(&file.name, "", what);
    }
    let fields = &top.fields;
    let title = front_matter::text(fields, "title").unwrap_or_else(|| file.stem());
    let kind = front_matter::text(fields, "type").unwrap_or_else(|| "note".to_owned());
    let scope = if project.is_some() { Scope::Group } else { Scope::Global };
    let mut base = ForeignMemory { scope, ..memory_of(file, project) };
    front_matter::date(fields, &mut base);
    let relations = RefCell::new(Vec::new());
    let titles = [&title.to_lowercase(), "observations", "relations"];
    let mut split = statements::split_with(&file.text, top.body, &titles, &|statement| {
        let relation = relation(&statement.text)?;
        let kept = statements::letters(&format!("{}{}", relation.predicate, relation.to));
        relations.borrow_mut().push(relation);
        let is_whole = kept == statements::letters(&statement.text);
        Some(if is_whole { RELATION } else { "the context of a relation" }.into())
    });
    split.left_out.retain(|part| {
        let is_kept = part.reason == RELATION
            || part.reason == statements::TITLE && file.text[part.bytes.clone()].contains(&title);
        !is_kept
    });
    split.left_out.extend(top.left_out(&USED_FIELDS));
    collector.add(ForeignMemory {
        place: title.clone(),
        own_id: Some(title.clone()),
        kind: MemoryType::Entity,
        metadata: metadata(&title, &kind, fields),
        relations: relations.into_inner(),
        content: format!("{title} ({kind})"),
        ..base.clone()
    });
    for mut statement in split.statements {
        statement.place = match statement.place.as_str() {
            "" => title.clone(),
            place => format!("{title} > {place}"),
        };
        let (category, text) = category(&statement.text);
        let mut metadata = Map::new();
        if let Some(category) = category {
            metadata.insert("category".to_owned(), Value::from(category));
        }
        let kind =
            if statement.is_procedure { MemoryType::Procedural } else { MemoryType::Semantic };
        let content = format!("{}: {text}", statement.place);
        collector.add(ForeignMemory {
            kind,
            place: statement.place,
            metadata,
            content,
            ..base.clone()
        });
    }
    collector.leave_out(file, split.left_out);
}

/// Returns the metadata of the entity of a note.
fn metadata(title: &str, kind: &str, fields: &Map<String, Value>) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), Value::from(title));
    metadata.insert("entity_type".to_owned(), Value::from(kind));
    if let Some(permalink) = front_matter::text(fields, "permalink") {
        metadata.insert("permalink".to_owned(), Value::from(permalink));
    }
    let tags = front_matter::texts(fields, "tags");
    if !tags.is_empty() {
        metadata.insert("tags".to_owned(), Value::from(tags));
    }
    metadata
}

/// Leads each relation to the note that it names, by its title, file or permalink, with its folders or without. One to a note that was
/// not read, or to one of several, is noted.
pub(crate) fn relate(reading: &mut Reading) {
    let mut notes: HashMap<String, HashSet<(String, String)>> = HashMap::new();
    for note in reading.memories.iter().filter(|memory| memory.kind == MemoryType::Entity) {
        let Some(title) = note.own_id.clone() else { continue };
        let stem =
            Path::new(&note.path).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let permalink = note.metadata.get("permalink").and_then(Value::as_str).map(str::to_owned);
        for name in [Some(title.clone()), stem, permalink].into_iter().flatten() {
            notes
                .entry(name.to_lowercase())
                .or_default()
                .insert((title.clone(), note.path.clone()));
        }
    }
    let find = |name: &str| {
        let name = name.split('#').next().unwrap_or(name).trim().to_lowercase();
        let last = name.rsplit('/').next().unwrap_or(&name);
        let found = notes.get(&name).or_else(|| notes.get(last.trim_end_matches(".md")))?;
        found.iter().next().filter(|_| found.len() == 1).cloned()
    };
    let mut unknown = Vec::new();
    for note in &mut reading.memories {
        for relation in &mut note.relations {
            if let Some((title, path)) = find(&relation.to) {
                relation.to = title;
                relation.path = Some(path).filter(|path| *path != note.path);
            } else {
                unknown.push(SkippedText {
                    path: note.path.clone(),
                    place: format!("{} [[{}]]", relation.predicate, relation.to),
                    reason: "relates a note that was not read, or one of several".to_owned(),
                });
            }
        }
    }
    for text in unknown {
        reading.skip(text);
    }
}

/// Splits `[category] text`.
fn category(text: &str) -> (Option<&str>, &str) {
    let split = text.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    match split {
        Some((category, rest)) if !category.contains(['[', '(']) => (Some(category), rest),
        _ => (None, text),
    }
}

/// Returns the relation of a line `relation [[Note]]`; links inside a sentence are none.
fn relation(text: &str) -> Option<ForeignRelation> {
    let (predicate, rest) = text.split_once("[[")?;
    let (to, rest) = rest.split_once("]]")?;
    let predicate = predicate.trim();
    let is_word = !predicate.is_empty() && !predicate.starts_with('[') && predicate.len() <= 60;
    let ends = rest.trim().is_empty() || rest.trim().starts_with('(');
    (is_word && ends && predicate.split_whitespace().count() <= 4).then(|| ForeignRelation {
        predicate: predicate.to_owned(),
        to: to.split('|').next().unwrap_or(to).trim().to_owned(),
        path: None,
    })
}
