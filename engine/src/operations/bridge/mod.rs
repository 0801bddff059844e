//! The bridge to clients' own memory: which clients are watched, the versions of their files, and what a client loads by itself.
//!
//! Not here: reading the files (the daemon), recording what a scan found (`record`).

mod block;
mod follow;
mod record;
mod rewordings;

pub(crate) use record::ACT;
pub use record::{Rewording, Scan, ScanCounts, ScanProgress, ScannedFile};

use crate::bridge::statements::{self, file_name};
use crate::bridge::{LoadedMemory, origin};
use crate::db::bridge::{self, ClientRow, FileRow, ProjectRow, VersionRow};
use crate::db::{folders, groups, import_rows, tombstones};
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::model::actor::Actor;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::operations::verbs::read_verb;
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::{Code, Failure};
use loci_proto::group::Group;
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::bridge::{
    BridgeClient, BridgeClientStatus, BridgeFile, BridgeFileReply, BridgeFileRequest,
    BridgeProject, BridgeReply, BridgeVersion, claude_folder_name,
};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

read_verb!(BridgeFileRequest, |reader, request, _call| reader
    .bridge_file(&request.file, request.version));

/// The actor of an import by the bridge.
#[must_use]
pub fn actor() -> Actor {
    let group = Group { id: String::new(), name: String::new() };
    let client = Some("loci bridge".to_owned());
    Actor { client, session: None, origin: Origin::Import, group, checkout: None, is_bound: false }
}

/// The name of the memory file that a client loads at the start of a session.
fn loaded_name(client: BridgeClient) -> &'static str {
    match client {
        BridgeClient::Claude => "MEMORY.md",
        BridgeClient::Codex => "memory_summary.md",
    }
}

/// A watched client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedClient {
    /// The client.
    pub client: BridgeClient,
    /// Its folder.
    pub folder: String,
    /// Another folder in which it keeps its memory.
    pub other: Option<String>,
}

/// A project that a client's folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedProject {
    /// The project.
    pub group: Group,
    /// The folder that identifies it.
    pub path: String,
    /// Its files switch loci off.
    pub is_off: bool,
    /// It has a `.loci.toml`.
    pub has_file: bool,
}

/// What a scan compares with.
#[derive(Debug, Clone, Default)]
pub struct BridgeState {
    /// The watched clients.
    pub clients: Vec<WatchedClient>,
    /// Projects, by the name that Claude Code gives to their folders.
    pub projects: HashMap<String, WatchedProject>,
    /// The files that existed at the last scan, by path.
    pub files: HashMap<String, KnownFile>,
}

/// A file that existed at the last scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFile {
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub hash: Option<String>,
    /// Its project was known.
    pub has_project: bool,
}

/// What a client loads of its own memory, by client and project; of all projects if a file belongs to none.
pub type LoadedMemories = HashMap<(BridgeClient, Option<String>), LoadedMemory>;

impl Reader {
    /// Returns what a scan compares with.
    ///
    /// # Errors
    /// `Database`.
    pub fn bridge_state(&self) -> Result<BridgeState> {
        let client = |row: ClientRow| {
            let ClientRow { client, folder, other, .. } = row;
            Some(WatchedClient { client: BridgeClient::of(&client)?, folder, other })
        };
        let clients = bridge::clients(&self.conn)?.into_iter().filter_map(client).collect();
        let mut projects = HashMap::new();
        for folder in folders::all(&self.conn)? {
            let name = claude_folder_name(work_tree(&folder.path));
            let group = Group { id: folder.id, name: String::new() };
            let project =
                WatchedProject { group, path: folder.path, is_off: false, has_file: false };
            self.add_project(&mut projects, name, project)?;
        }
        for row in bridge::projects(&self.conn)? {
            let ProjectRow { name, path, group_id: id, group_name, is_off, has_file, .. } = row;
            let group = Group { id, name: group_name };
            let project = WatchedProject { group, path, is_off, has_file };
            self.add_project(&mut projects, name, project)?;
        }
        let files = bridge::files(&self.conn)?.into_iter().filter(|file| !file.is_gone);
        let known = |file: FileRow| {
            (file.path, KnownFile { hash: file.hash, has_project: file.group.is_some() })
        };
        Ok(BridgeState { clients, projects, files: files.map(known).collect() })
    }

    /// Adds a project under its name in the store; one that is in no store yet keeps its own.
    fn add_project(
        &self,
        projects: &mut HashMap<String, WatchedProject>,
        name: String,
        mut project: WatchedProject,
    ) -> Result<()> {
        if let Some(id) = import_rows::group(&self.conn, &project.group.id)? {
            let name = groups::name(&self.conn, &id)?.unwrap_or_default();
            project.group = Group { id, name };
        }
        if !project.group.name.is_empty() {
            projects.insert(name, project);
        }
        Ok(())
    }

    /// Returns the watched clients with their counts, and the files if asked for.
    ///
    /// # Errors
    /// `Database`.
    pub fn bridge_status(&self, with_files: bool) -> Result<BridgeReply> {
        let mut reply = BridgeReply {
            kept_bytes: bridge::kept_bytes(&self.conn)?,
            reworded: bridge::reworded_after_confirmation(&self.conn)?,
            ..BridgeReply::default()
        };
        for row in bridge::clients(&self.conn)? {
            let counts = bridge::counts(&self.conn, &row.client)?;
            reply.clients.push(BridgeClientStatus {
                client: row.client,
                folder: row.folder,
                since: row.since.iso(),
                scanned_at: row.scanned_at.map(Timestamp::iso),
                files: counts.files,
                gone: counts.gone,
                versions: counts.versions,
                imported: counts.imported,
            });
        }
        if with_files {
            for file in bridge::files(&self.conn)? {
                reply.files.extend(self.bridge_file_entry(file)?);
            }
        }
        Ok(reply)
    }

    fn bridge_file_entry(&self, file: FileRow) -> Result<Option<BridgeFile>> {
        let versions = bridge::versions(&self.conn, file.id)?;
        let Some(newest) = versions.first() else { return Ok(None) };
        let project = match &file.group {
            Some(id) => groups::name(&self.conn, id)?,
            None => None,
        };
        Ok(Some(BridgeFile {
            client: file.client,
            path: file.path,
            project,
            versions: versions.len() as u64,
            changed_at: newest.at.iso(),
            gone: file.is_gone,
        }))
    }

    /// Returns the versions of a file and, if asked for, the text of one.
    ///
    /// # Errors
    /// `not_found` if no file, several files, or no such version exist; `Database`.
    pub fn bridge_file(&self, name: &str, version: Option<i64>) -> Result<BridgeFileReply> {
        let file = find_file(&self.conn, name)?;
        let versions = bridge::versions(&self.conn, file.id)?;
        let mut reply = BridgeFileReply {
            roots: roots(&self.conn, &file.client)?,
            versions: versions.iter().map(shown).collect(),
            client: file.client,
            path: file.path,
            current: file.hash,
            ..BridgeFileReply::default()
        };
        let Some(wanted) = version else { return Ok(reply) };
        let chosen = choose(&versions, wanted, file.is_gone).ok_or_else(|| {
            let message = match wanted {
                0 => "no kept version differs from the file".to_owned(),
                wanted => format!("there is no text of version {wanted}"),
            };
            Failure::new(Code::NotFound, message)
                .hint("List the versions with: loci bridge history FILE")
        })?;
        let hash = chosen.text.as_deref().unwrap_or_default();
        reply.text = bridge::text(&self.conn, hash)?;
        reply.number = Some(chosen.number);
        reply.mode = Some(chosen.mode);
        Ok(reply)
    }

    /// Returns what clients load of their own memory.
    ///
    /// # Errors
    /// `Database`.
    pub fn bridge_loaded(&self) -> Result<LoadedMemories> {
        let mut loaded = LoadedMemories::new();
        let watched = bridge::clients(&self.conn)?;
        for file in bridge::files(&self.conn)?.into_iter().filter(|file| !file.is_gone) {
            let Some(client) = BridgeClient::of(&file.client) else { continue };
            let Some(row) = watched.iter().find(|row| row.client == file.client) else { continue };
            // Of a project that is not known: it must not count for all.
            let is_of_unknown = client == BridgeClient::Claude
                && file.group.is_none()
                && file.path.starts_with(&format!("{}/projects/", row.folder));
            if is_of_unknown || file_name(&file.path) != loaded_name(client) {
                continue;
            }
            let Some((text, ids)) = current(&self.conn, file.id)? else { continue };
            let group = match file.group {
                Some(group) => Some(import_rows::group(&self.conn, &group)?.unwrap_or(group)),
                None => None,
            };
            loaded.entry((client, group)).or_default().add(&text, ids);
        }
        Ok(loaded)
    }
}

impl Writer {
    /// Watches the files of a client, or no longer. Not an act: nothing is to be undone.
    ///
    /// # Errors
    /// `Database`.
    pub fn switch_bridge(
        &mut self,
        call: &CallContext,
        client: BridgeClient,
        watched: Option<WatchedClient>,
        projects: &[BridgeProject],
    ) -> Result<()> {
        self.run_idempotent(call, |change| {
            let Some(WatchedClient { folder, other, .. }) = watched else {
                return bridge::remove_client(change.conn, client.as_str());
            };
            let client = client.as_str().to_owned();
            let (since, scanned_at) = (call.now, None);
            let row = ClientRow { client, folder, other, since, scanned_at };
            bridge::put_client(change.conn, &row)?;
            projects.iter().try_for_each(|project| put_project(change, &row.client, project))
        })
    }

    /// Records the project of a client's folder.
    ///
    /// # Errors
    /// `Database`.
    pub fn record_bridge_project(
        &mut self,
        call: &CallContext,
        client: BridgeClient,
        project: &BridgeProject,
    ) -> Result<()> {
        self.run_idempotent(call, |change| put_project(change, client.as_str(), project))
    }
}

fn put_project(change: &Change<'_>, client: &str, project: &BridgeProject) -> Result<()> {
    let group = match &project.part {
        Some(name) => Group::of_named_project(&project.path, name),
        None => Group::of_folder(&project.path),
    };
    bridge::put_project(
        change.conn,
        &ProjectRow {
            client: client.to_owned(),
            name: project.name.clone(),
            path: project.path.clone(),
            group_id: group.id,
            group_name: group.name,
            is_off: project.off,
            has_file: project.opted_in,
        },
    )
}

/// Deletes the text of a memory from every version of every file, with its earlier texts and the statements that it was: the memory is
/// deleted permanently.
pub(crate) fn erase(change: &Change<'_>, memory: &Memory, earlier: &[String]) -> Result<()> {
    let texts: Vec<&str> =
        std::iter::once(&memory.content).chain(earlier).map(String::as_str).collect();
    let mut hashes: HashSet<[u8; 16]> = texts.iter().map(|text| hash(text)).collect();
    hashes.extend(bridge::hashes_of(change.conn, memory.id.as_str())?);
    let place = origin::origin(memory).map(|from| from.place).unwrap_or_default();
    for text in texts.iter().filter_map(|text| origin::clear_text(text, &place)) {
        // It may be under another heading there, or come back under one.
        hashes.insert(hash(text));
        let group = memory.group.as_deref().unwrap_or_default();
        tombstones::insert(change.conn, &origin::erased_text_id(group, text), change.call.now)?;
    }
    for row in bridge::texts(change.conn)? {
        let Some(client) = BridgeClient::of(&row.client) else { continue };
        let Some(text) = bridge::text(change.conn, &row.hash)? else { continue };
        let Some((kept, count)) =
            without_all(client, file_name(&row.path), &text, (&hashes, &texts))
        else {
            continue;
        };
        bridge::replace_text(change.conn, &row.hash, &kept, count)?;
        if let Some(file) = bridge::file(change.conn, &row.path)? {
            // The client's file may still have it: it must not come back with the next scan.
            for hash in &hashes {
                bridge::put_statement(change.conn, file.id, hash, memory.id.as_str())?;
            }
        }
    }
    Ok(())
}

/// Returns a file without statements and texts, and how many were taken out; `None` if it has none of them.
fn without_all(
    client: BridgeClient,
    name: &str,
    text: &str,
    (hashes, texts): (&HashSet<[u8; 16]>, &[&str]),
) -> Option<(String, u32)> {
    let mut cut = statements::without(client, name, text, |found| hashes.contains(found));
    // A text of several statements, or one that another parser found, is replaced as it is.
    for erased in texts {
        let from = cut.as_ref().map_or(text, |(kept, _)| kept.as_str());
        let Some((kept, count)) = statements::without_text(from, erased) else { continue };
        cut = Some((kept, count + cut.map_or(0, |(_, count)| count)));
    }
    cut
}

/// Returns the text of a file as it was last read, and the memories that it states; `None` if the text is not kept.
fn current(conn: &Connection, file: i64) -> Result<Option<(String, Vec<MemoryId>)>> {
    let versions = bridge::versions(conn, file)?;
    let newest = versions.first().and_then(|version| version.text.as_deref());
    let Some(hash) = newest else { return Ok(None) };
    let Some(text) = bridge::text(conn, hash)? else { return Ok(None) };
    let stated = bridge::statements(conn, file)?.into_iter().filter(|row| !row.is_gone);
    Ok(Some((text, stated.filter_map(|row| row.memory.parse().ok()).collect())))
}

/// Returns the folder in which a person works, of the path that identifies a project.
fn work_tree(path: &str) -> &str {
    path.strip_suffix("/.git").unwrap_or(path)
}

/// Finds a file by its path or the end of it.
fn find_file(conn: &Connection, name: &str) -> Result<FileRow> {
    let files = bridge::files(conn)?;
    if let Some(file) = files.iter().find(|file| file.path == name) {
        return Ok(file.clone());
    }
    let end = format!("/{}", name.trim_start_matches("./").trim_start_matches('/'));
    let mut found: Vec<FileRow> =
        files.into_iter().filter(|file| file.path.ends_with(&end)).collect();
    let failure = match found.len() {
        1 => return Ok(found.remove(0)),
        0 => Failure::new(Code::NotFound, format!("names no memory file: {name}"))
            .hint("List the files with: loci bridge list"),
        _ => {
            let paths: Vec<&str> = found.iter().take(5).map(|file| file.path.as_str()).collect();
            let message = format!("names {} files: {}", found.len(), paths.join(", "));
            Failure::new(Code::Invalid, message).hint("Give more of the path")
        }
    };
    Err(failure.at("file").into())
}

/// Returns the folders in which a client keeps its memory.
fn roots(conn: &Connection, client: &str) -> Result<Vec<String>> {
    let Some(row) = bridge::clients(conn)?.into_iter().find(|row| row.client == client) else {
        return Ok(Vec::new());
    };
    let below = if client == BridgeClient::Claude.as_str() { "projects" } else { "memories" };
    let own = format!("{}/{below}", row.folder.trim_end_matches('/'));
    Ok(std::iter::once(own).chain(row.other).collect())
}

/// Chooses a version with a text; 0 is the newest that differs from the file.
fn choose(versions: &[VersionRow], wanted: i64, is_gone: bool) -> Option<&VersionRow> {
    let mut with_text = versions.iter().filter(|version| version.text.is_some());
    if wanted != 0 {
        return with_text.find(|version| version.number == wanted);
    }
    let newest = versions.first().filter(|_| !is_gone).and_then(|version| version.text.as_ref());
    with_text.find(|version| version.text.as_ref() != newest)
}

fn shown(version: &VersionRow) -> BridgeVersion {
    BridgeVersion {
        number: version.number,
        at: version.at.iso(),
        bytes: version.bytes,
        replaced: version.replaced,
        deleted: version.text.is_none(),
    }
}
