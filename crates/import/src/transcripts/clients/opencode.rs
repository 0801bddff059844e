//! The sessions of `OpenCode`: a database, `~/.local/share/opencode/opencode.db`; before version 1.2 files below `storage` beside it, one
//! of each session, message and part. Both have the same parts, and an update leaves the files where they are.
//!
//! Not here: SQL (`db::sessions`).

use crate::db::sessions::{MessageRow, SessionRow, SessionVisitor};
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::regular_file;
use crate::transcripts::clients::codex::patched_file;
use crate::transcripts::transcript::{Action, Step, What, collect, cut_output};
use loci_proto::error::{Code, Failure};
use serde_json::Value;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Longest part that is read, in bytes; a longer one, usually with an image, is skipped and counted.
const MAX_PART_BYTES: usize = 8 << 20;
/// Tools that run a command.
const SHELLS: [&str; 2] = ["bash", "shell"];
/// Tools that change a file.
const EDITORS: [&str; 5] = ["edit", "write", "multiedit", "patch", "apply_patch"];

/// Returns the databases below a folder, then the files of sessions.
pub fn transcripts(folder: &Path, named: Option<OsString>) -> Vec<PathBuf> {
    let mut stores = Vec::new();
    collect(folder, "db", 0, &mut stores);
    stores.retain(|path| {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        // Versions that are tried out have a database of their own.
        name == "opencode" || name.starts_with("opencode-")
    });
    let named = named.map(|name| folder.join(name)).filter(|path| path.is_file());
    stores.extend(named.filter(|path| !stores.contains(path)));
    let mut files = Vec::new();
    collect(&folder.join("storage/session"), "json", 1, &mut files);
    stores.sort();
    files.sort();
    stores.extend(files);
    stores
}

/// Returns whether a transcript is a database.
pub fn is_store(file: &Path) -> bool {
    file.extension().is_none_or(|extension| extension != "json")
}

/// Returns whether a transcript is the file of one of these sessions.
pub fn is_one_of(file: &Path, sessions: &HashSet<String>) -> bool {
    !is_store(file)
        && file.file_stem().and_then(|id| id.to_str()).is_some_and(|id| sessions.contains(id))
}

/// Calls `visit` with each step; returns how many messages and parts cannot be read.
///
/// # Errors
/// The database or the file of the session cannot be read.
pub fn read(file: &Path, since: i64, visit: impl FnMut(Step)) -> io::Result<usize> {
    if is_store(file) { read_store(file, since, visit) } else { read_session(file, visit) }
}

fn read_store(file: &Path, since: i64, visit: impl FnMut(Step)) -> io::Result<usize> {
    let mut reader =
        StoreReader { visit, folder: String::new(), message: None, number: 0, skipped: 0 };
    let read = || {
        let store = ForeignStore::open(file)?;
        for table in ["session", "message", "part"] {
            if !store.has_table(table)? {
                let reason = format!("is not a database of OpenCode: it has no table {table}");
                return Err(Failure::new(Code::Invalid, reason));
            }
        }
        store.visit_sessions(since, MAX_PART_BYTES, &mut reader)
    };
    let read: Result<()> = { read }();
    match read {
        Ok(()) => Ok(reader.skipped),
        Err(failure) => {
            let start = format!("{} ", file.display());
            let reason = failure.message.strip_prefix(&start).unwrap_or(&failure.message);
            Err(io::Error::other(reason.to_owned()))
        }
    }
}

/// A message, without its parts.
#[derive(Debug, Clone)]
struct Message {
    id: String,
    /// Its number within the session, from 1.
    number: usize,
    /// Milliseconds since 1970.
    at: i64,
    /// Who wrote it: `user` or `assistant`.
    role: String,
    /// It is the program's summary of a conversation.
    is_summary: bool,
}

/// Reads the rows of a database in their order.
struct StoreReader<V> {
    visit: V,
    folder: String,
    /// The message of the next parts; `None` if it cannot be read.
    message: Option<Message>,
    number: usize,
    /// Messages and parts that cannot be read, or are too long.
    skipped: usize,
}

impl<V: FnMut(Step)> SessionVisitor for StoreReader<V> {
    fn session(&mut self, session: SessionRow) -> Result<()> {
        (self.message, self.number) = (None, 0);
        begin(session.id, &session.directory, &mut self.visit);
        self.folder = session.directory;
        Ok(())
    }

    fn message(&mut self, message: MessageRow) -> Result<()> {
        self.number += 1;
        let MessageRow { id, at, role, is_summary } = message;
        let number = self.number;
        self.message = role.map(|role| Message { id, number, at, role, is_summary });
        self.skipped += usize::from(self.message.is_none());
        Ok(())
    }

    fn part(&mut self, text: Option<&str>) -> Result<()> {
        let Some(message) = &self.message else { return Ok(()) };
        match text.and_then(|text| serde_json::from_str(text).ok()) {
            Some(part) => steps(message, &part, &self.folder).into_iter().for_each(&mut self.visit),
            None => self.skipped += 1,
        }
        Ok(())
    }
}

/// Reads the files of a session: `storage/session/PROJECT/ID.json`, `storage/message/ID/*.json`, `storage/part/MESSAGE/*.json`.
fn read_session(file: &Path, mut visit: impl FnMut(Step)) -> io::Result<usize> {
    let session = json(file)?;
    if session["parentID"].is_string() {
        // That of a subagent.
        return Ok(0);
    }
    let storage = file.ancestors().nth(3).unwrap_or(file);
    let id = stem(file);
    let folder = session["directory"].as_str().unwrap_or_default();
    begin(id.clone(), folder, &mut visit);
    let mut skipped = 0;
    let mut messages = Vec::new();
    for path in files(&storage.join("message").join(&id)) {
        match json(&path) {
            Ok(message) => messages.push(Message {
                id: stem(&path),
                number: 0,
                at: message["time"]["created"].as_i64().unwrap_or_default(),
                role: message["role"].as_str().unwrap_or_default().to_owned(),
                is_summary: message["summary"] == true,
            }),
            Err(_) => skipped += 1,
        }
    }
    messages.sort_by(|a, b| (a.at, &a.id).cmp(&(b.at, &b.id)));
    for (index, message) in messages.iter_mut().enumerate() {
        message.number = index + 1;
        for path in files(&storage.join("part").join(&message.id)) {
            match json(&path) {
                Ok(part) => steps(message, &part, folder).into_iter().for_each(&mut visit),
                Err(_) => skipped += 1,
            }
        }
    }
    Ok(skipped)
}

fn json(path: &Path) -> io::Result<Value> {
    serde_json::from_str(&regular_file::read_text(path)?).map_err(io::Error::other)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    collect(folder, "json", 0, &mut files);
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn begin(id: String, folder: &str, mut visit: impl FnMut(Step)) {
    for what in [What::Began, What::Session(id), What::Folder(folder.to_owned())] {
        visit(Step { line: 0, message: None, at: None, what });
    }
}

/// Returns the steps of a part of a message in a session that works in `folder`.
fn steps(message: &Message, part: &Value, folder: &str) -> Vec<Step> {
    let (at, what) = match part["type"].as_str() {
        Some("text") => (message.at, said(message, part).into_iter().collect()),
        Some("tool") => {
            let end = part["state"]["time"]["end"].as_i64();
            (end.unwrap_or(message.at), called(part, folder))
        }
        _ => return Vec::new(),
    };
    let id = &message.id;
    let step = |what| Step { line: message.number, message: Some(id.clone()), at: Some(at), what };
    what.into_iter().map(step).collect()
}

fn said(message: &Message, part: &Value) -> Option<What> {
    // What the client itself writes in the user's name.
    let is_own = part["synthetic"] == true || part["ignored"] == true || message.is_summary;
    let text = part["text"].as_str().filter(|_| !is_own)?;
    match message.role.as_str() {
        "user" => Some(What::UserSaid(unquoted(text))),
        "assistant" => Some(What::AgentSaid(text.to_owned())),
        _ => None,
    }
}

/// Returns a message without the quotes that `opencode run "MESSAGE"` stores with it.
fn unquoted(text: &str) -> String {
    let inner = text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.map_or_else(|| text.to_owned(), |inner| inner.replace("\\\"", "\""))
}

fn called(part: &Value, folder: &str) -> Vec<What> {
    let (state, input) = (&part["state"], &part["state"]["input"]);
    let Some(call) = part["callID"].as_str().map(str::to_owned) else { return Vec::new() };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let (action, workdir) = match part["tool"].as_str() {
        Some(tool) if SHELLS.contains(&tool) => {
            let command = text(&input["command"]);
            let title = text(&input["description"]);
            (command.map(|text| Action::Command { text, title }), text(&input["workdir"]))
        }
        Some(tool) if EDITORS.contains(&tool) => {
            let patch = || patched_file(input["patchText"].as_str()?);
            (text(&input["filePath"]).or_else(patch).map(Action::Edit), None)
        }
        _ => (None, None),
    };
    let Some(action) = action else { return Vec::new() };
    let failed = match (state["status"].as_str(), &action) {
        // No exit code if it was stopped.
        (Some("completed"), Action::Command { .. }) => {
            state["metadata"]["exit"].as_i64().map(|code| code != 0)
        }
        (Some("completed"), Action::Edit(_)) => Some(false),
        _ => None,
    };
    let output = cut_output(state["output"].as_str().unwrap_or_default());
    let steps =
        [What::Called { call: call.clone(), action }, What::Returned { call, failed, output }];
    // The folder of one command alone.
    let moved = workdir.map(|workdir| Path::new(folder).join(workdir).display().to_string());
    let back = moved.is_some().then(|| What::Folder(folder.to_owned()));
    moved.map(What::Folder).into_iter().chain(steps).chain(back).collect()
}
