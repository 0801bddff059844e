//! The database of engram: `~/.engram/engram.db` with the table `observations`, or the JSON of
//! `engram export`.

use crate::collector::{Collector, TextFile, memory_at};
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::json::{self, Items, Shape};
use crate::rows::{self, Record};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignProject};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Fields that only serve engram.
const OWN: &str = "session_id review_after";

/// Reads a database or an export.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let name = collector.name_of(path);
    let (observations, sessions) = if path.extension().is_some_and(|end| end == "json") {
        let Some(file) = collector.text_file(path) else { return Ok(()) };
        document(collector, &file)?
    } else {
        let store = ForeignStore::open(path)?;
        let observations = store.rows("observations")?;
        let has_sessions = store.has_table("sessions")?;
        if !collector.begin_file(path) {
            return Ok(());
        }
        (observations, if has_sessions { store.rows("sessions")? } else { Vec::new() })
    };
    let folders: HashMap<String, String> = sessions
        .iter()
        .filter_map(|row| {
            Some((row.fields.get("id").and_then(rows::id)?, row.text("directory")?.to_owned()))
        })
        .collect();
    let mut used = HashSet::new();
    for row in observations {
        let session = row.fields.get("session_id").and_then(rows::id);
        let folder = session.and_then(|session| folders.get(&session)).map(String::as_str);
        if observation(collector, &name, row, folder) {
            used.extend(folder);
        }
    }
    for row in sessions {
        session(collector, &name, row, &used);
    }
    Ok(())
}

/// Notes what a session says beside the folder of its observations.
fn session(collector: &mut Collector<'_>, path: &str, mut row: Record, used: &HashSet<&str>) {
    if let Some(summary) = row.take_text(&["summary"]) {
        collector.skip(path, &row.place, &format!("the summary of a session: {summary}"));
    }
    let folder = row.take(&["directory"], |folder| {
        folder.as_str().filter(|at| used.contains(at)).map(str::to_owned)
    });
    remove_name_of(folder.as_deref(), &mut row);
    collector.skip_rest(path, row, "a session");
}

/// Takes the name of the project if the folder has it too.
fn remove_name_of(folder: Option<&str>, row: &mut Record) {
    let name = folder.and_then(|folder| Path::new(folder).file_name());
    row.take(&["project"], |project| {
        name.filter(|name| project == &*name.to_string_lossy()).map(|_| ())
    });
}

/// Observations and sessions.
type Rows = (Vec<Record>, Vec<Record>);

fn document(collector: &mut Collector<'_>, file: &TextFile) -> Result<Rows> {
    let shape = Shape { lists: &["observations", "sessions"], texts: &["content", "title"] };
    let Items { items, left_out } = json::items(&file.text, shape).map_err(|error| {
        let message = format!("{} is not JSON: {error}", file.name);
        Failure::new(Code::Invalid, message).hint("Use the file that engram export has written")
    })?;
    collector.leave_out(file, left_out);
    let (mut observations, mut sessions) = (Vec::new(), Vec::new());
    for item in items {
        let list = if item.list == "sessions" { &mut sessions } else { &mut observations };
        list.extend(collector.record(file, &item));
    }
    Ok((observations, sessions))
}

/// Adds an observation; false if it is left out.
fn observation(
    collector: &mut Collector<'_>,
    path: &str,
    mut row: Record,
    folder: Option<&str>,
) -> bool {
    let Some(id) = row.take_id(&["sync_id"]).or_else(|| row.take_id(&["id"])) else {
        collector.skip(path, &row.place, "an observation without an id");
        return false;
    };
    if row.take_flag("deleted_at") {
        collector.skip(path, &row.place, "was deleted");
        return false;
    }
    remove_name_of(folder, &mut row);
    let project = match folder {
        Some(folder) => Some(ForeignProject::Folder(folder.to_owned())),
        None => row.take_text(&["project"]).map(ForeignProject::Named),
    };
    let scope = row.text("scope").is_some_and(|scope| scope != "project");
    let scope = if scope || project.is_none() { Scope::Global } else { Scope::Group };
    row.take_one_of("scope", &["project", "personal"]);
    let (kind, title) = (row.take_text(&["type"]), row.take_text(&["title"]).unwrap_or_default());
    let content = row.take_text(&["content"]).unwrap_or_default();
    let content =
        if content.starts_with(&title) { content } else { format!("{title}\n\n{content}") };
    let mut memory = ForeignMemory {
        place: id.clone(),
        own_id: Some(id),
        kind: match kind.as_deref().unwrap_or_default() {
            "bugfix" | "session_summary" | "discovery" | "decision" => MemoryType::Episodic,
            "pattern" | "how-to" => MemoryType::Procedural,
            _ => MemoryType::Semantic,
        },
        scope,
        project,
        content,
        ..memory_at(path)
    };
    memory.metadata.extend(kind.map(|kind| ("category".to_owned(), Value::from(kind))));
    row.date(&mut memory, &["created_at"]);
    collector.add_with(memory, row, OWN);
    true
}
