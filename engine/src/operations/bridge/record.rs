//! Records what a scan of a client's memory files found: versions, and memories with their source.
//!
//! A statement is imported once: what is known of any file of a client in a project is never imported again, whatever became of the memory.
//! One call changes a bounded number of rows, because other calls wait for it. Not here: reading the files (the daemon), what becomes of
//! what left a file (`follow`), finding rewordings (`rewordings`).

use crate::bridge::origin::{self, SOURCE};
use crate::bridge::statements::{self, Statement, file_name};
use crate::db::bridge::{self, FileRow, VersionRow};
use crate::db::log::Operation;
use crate::db::memories::{self, NewMemory};
use crate::db::{groups, isolated_groups, tombstones};
use crate::error::Result;
use crate::flags;
use crate::handles::writer::Writer;
use crate::model::encoding::TextEncodings;
use crate::model::memory::Memory;
use crate::model::provenance::Provenance;
use crate::operations::bridge::follow;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::foreign::{IMPORTED, ImportOrigin};
use loci_proto::group::Group;
use loci_proto::memory::{Confidence, MemoryId, Origin, Scope, Trust};
use loci_proto::requests::bridge::BridgeClient;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// The act of an import by the bridge, in `loci history`.
pub(crate) const ACT: &str = "bridge";
/// Maximum statements that one call changes: other calls wait meanwhile.
const MAX_AT_ONCE: usize = 100;
/// Maximum number of memories with the same origin.
const MAX_EQUAL_STATEMENTS: u32 = 100;

/// A new statement of a file, and the memory of its older wording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewording {
    /// The hash of the new statement.
    pub statement: [u8; 16],
    /// The id of the memory.
    pub older: String,
}

/// A file that has changed.
#[derive(Debug, Clone)]
pub struct ScannedFile {
    /// Its path.
    pub path: String,
    /// Its path with `~` for the home folder, as imports name it.
    pub shown_path: String,
    /// Its project, if it is known.
    pub group: Option<Group>,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub hash: String,
    /// Its mode.
    pub mode: u32,
    /// Its text as it may be kept.
    pub text: String,
    /// How many parts were replaced in it.
    pub replaced: u32,
    /// Its statements as they may be stored.
    pub statements: Vec<Statement>,
    /// Which of them are new wordings.
    pub rewordings: Vec<Rewording>,
}

/// What a scan of one client found.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The client.
    pub client: BridgeClient,
    /// New and changed files.
    pub changed: Vec<ScannedFile>,
    /// Paths of files that no longer exist.
    pub gone: Vec<String>,
    /// Whether statements are imported.
    pub import: bool,
    /// Maximum size of all versions.
    pub max_bytes: u64,
}

/// What was recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanCounts {
    /// Files that were read or are gone.
    pub files: u64,
    /// Versions that were added.
    pub versions: u64,
    /// Memories that were added.
    pub imported: u64,
    /// Memories that a new wording replaced.
    #[serde(default)]
    pub reworded: u64,
}

impl ScanCounts {
    /// Adds the counts of another call.
    pub fn add(&mut self, other: Self) {
        self.files += other.files;
        self.versions += other.versions;
        self.imported += other.imported;
        self.reworded += other.reworded;
    }
}

/// How far a call has recorded a scan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScanProgress {
    /// What it recorded.
    pub counts: ScanCounts,
    /// How many of the changed files are recorded completely.
    pub changed: usize,
    /// How many of the files that are gone are.
    pub gone: usize,
}

impl Writer {
    /// Records what a scan found, as one act: as much as one call may. What follows is recorded by the next call with the rest.
    ///
    /// # Errors
    /// `Database`; nothing is recorded then.
    pub fn record_bridge_scan(&mut self, call: &CallContext, scan: &Scan) -> Result<ScanProgress> {
        self.run_idempotent(call, |change| {
            let isolated = isolated_groups::all(change.conn)?;
            let mut recorder = Recorder {
                change,
                scan,
                isolated: isolated.into_iter().collect(),
                progress: ScanProgress::default(),
                left: MAX_AT_ONCE,
                added: Vec::new(),
            };
            recorder.record_all()?;
            let Recorder { change, progress, added, .. } = recorder;
            mentions::renew_all(change, &added, |_| true)?;
            bridge::set_scanned(change.conn, scan.client.as_str(), call.now)?;
            if progress.counts.versions > 0 {
                bridge::bound(change.conn, scan.max_bytes)?;
            }
            change.commit_to_journal(ACT)?;
            Ok(progress)
        })
    }
}

/// Whether a file was recorded completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Complete,
    Partial,
}

struct Recorder<'a, 'b> {
    change: &'a mut Change<'b>,
    scan: &'a Scan,
    isolated: HashSet<String>,
    progress: ScanProgress,
    /// How many more statements this call may change.
    left: usize,
    /// Row numbers of the memories that were added.
    added: Vec<i64>,
}

impl Recorder<'_, '_> {
    fn record_all(&mut self) -> Result<()> {
        for file in &self.scan.changed {
            if self.record(file)? == Step::Partial {
                return Ok(());
            }
            self.progress.changed += 1;
            self.progress.counts.files += 1;
        }
        for path in &self.scan.gone {
            if self.record_gone(path)? == Step::Partial {
                return Ok(());
            }
            self.progress.gone += 1;
        }
        Ok(())
    }

    /// Counts a statement that is changed; returns false if this call may change no more.
    fn may_change(&mut self) -> bool {
        let may = self.left > 0;
        self.left = self.left.saturating_sub(1);
        may
    }

    fn record(&mut self, file: &ScannedFile) -> Result<Step> {
        let conn = self.change.conn;
        // Without a hash until it is complete: a file whose recording ended early is read again.
        let mut row = FileRow {
            id: 0,
            client: self.scan.client.as_str().to_owned(),
            path: file.path.clone(),
            group: file.group.as_ref().map(|group| group.id.clone()),
            hash: None,
            is_gone: false,
        };
        row.id = bridge::put_file(conn, &row)?;
        self.add_version(row.id, file)?;
        if self.scan.import && self.import(&row, file)? == Step::Partial {
            return Ok(Step::Partial);
        }
        bridge::put_file(conn, &FileRow { hash: Some(file.hash.clone()), ..row })?;
        Ok(Step::Complete)
    }

    /// Adds a version, unless its text is that of the newest one.
    fn add_version(&mut self, id: i64, file: &ScannedFile) -> Result<()> {
        let conn = self.change.conn;
        let erased = bridge::erased_hashes(conn)?;
        let (client, name) = (self.scan.client, file_name(&file.path));
        let is_erased = |hash: &[u8; 16]| erased.contains(hash);
        let cut = if erased.is_empty() {
            None
        } else {
            statements::without(client, name, &file.text, is_erased)
        };
        let (text, cut) = match &cut {
            Some((text, cut)) => (text.as_str(), *cut),
            None => (file.text.as_str(), 0),
        };
        let newest = bridge::versions(conn, id)?.into_iter().next();
        // Compared first: to compress a large text for each call would take longer than the rest.
        if newest.is_some_and(|newest| newest.text == Some(bridge::hash(text))) {
            return Ok(());
        }
        let hash = bridge::put_text(conn, text)?;
        let version = VersionRow {
            number: 0,
            at: self.change.call.now,
            text: Some(hash),
            bytes: 0,
            mode: file.mode,
            replaced: u64::from(file.replaced) + u64::from(cut),
        };
        self.progress.counts.versions += 1;
        bridge::add_version(conn, id, &version)
    }

    fn record_gone(&mut self, path: &str) -> Result<Step> {
        let conn = self.change.conn;
        let Some(file) = bridge::file(conn, path)?.filter(|file| !file.is_gone) else {
            return Ok(Step::Complete);
        };
        for row in bridge::statements(conn, file.id)?.iter().filter(|row| !row.is_gone) {
            if !self.may_change() {
                return Ok(Step::Partial);
            }
            follow::left(self.change, file.id, row)?;
        }
        bridge::set_gone(conn, file.id, self.change.call.now)?;
        let mode = bridge::versions(conn, file.id)?.first().map_or(0o600, |newest| newest.mode);
        let at = self.change.call.now;
        let version = VersionRow { number: 0, at, text: None, bytes: 0, mode, replaced: 0 };
        bridge::add_version(conn, file.id, &version)?;
        self.progress.counts.files += 1;
        self.progress.counts.versions += 1;
        Ok(Step::Complete)
    }

    /// Imports the new statements of a file, and marks the memories of those that left it.
    fn import(&mut self, row: &FileRow, file: &ScannedFile) -> Result<Step> {
        let conn = self.change.conn;
        // Earlier versions imported the texts without their headings.
        let stated: HashSet<[u8; 16]> =
            file.statements.iter().flat_map(Statement::hashes).collect();
        let mut known = HashSet::new();
        for statement in bridge::statements(conn, row.id)? {
            let is_stated = statement.is_in(&stated);
            if statement.is_gone == is_stated && !self.may_change() {
                return Ok(Step::Partial);
            }
            match (statement.is_gone, is_stated) {
                (true, true) => {
                    bridge::set_statement_gone(conn, row.id, &statement.hash, None)?;
                    follow::came_back(self.change, &statement.memory)?;
                }
                (false, false) => follow::left(self.change, row.id, &statement)?,
                _ => {}
            }
            known.insert(statement.hash);
        }
        for statement in &file.statements {
            let Some(group) = statement.group.as_ref().or(file.group.as_ref()) else { continue };
            let hash = statement.hash();
            if known.contains(statement.bare_hash().as_slice()) || !known.insert(hash.to_vec()) {
                continue;
            }
            if !self.may_change() {
                return Ok(Step::Partial);
            }
            if let Some(memory) = self.memory_of(row, statement)? {
                bridge::put_statement(conn, row.id, &hash, &memory)?;
                follow::came_back(self.change, &memory)?;
                continue;
            }
            let id = self.store(file, group, statement)?;
            bridge::put_statement(conn, row.id, &hash, id.as_str())?;
            if statement.own_id.is_some() {
                // The client may drop the description; the text is the same statement then.
                bridge::put_statement(conn, row.id, &statement.bare_hash(), id.as_str())?;
            }
            if let Some(found) = file.rewordings.iter().find(|one| one.statement == hash) {
                let is_reworded = follow::reword(self.change, &found.older, &id)?;
                self.progress.counts.reworded += u64::from(is_reworded);
            }
        }
        Ok(Step::Complete)
    }

    /// Returns the memory that a statement became when another file of the project had it.
    fn memory_of(&self, row: &FileRow, statement: &Statement) -> Result<Option<String>> {
        bridge::memory_of_any(
            self.change.conn,
            &row.client,
            row.group.as_deref(),
            statement.hashes(),
        )
    }

    /// Returns the id of the memory of a statement, and whether it is a new one.
    fn id_of(&self, origin: &ImportOrigin) -> Result<(MemoryId, bool)> {
        let conn = self.change.conn;
        for number in 0..MAX_EQUAL_STATEMENTS {
            let id = origin.memory_id(number);
            if tombstones::has(conn, &id)? {
                return Ok((id, false));
            }
            match memories::by_id(conn, &id)? {
                None => return Ok((id, true)),
                Some(memory) if is_of(&memory, origin) => return Ok((id, false)),
                Some(_) => {}
            }
        }
        Ok((MemoryId::from(uuid::Uuid::now_v7()), true))
    }

    /// Stores a statement, unless its project has a memory with this text; returns the memory.
    fn store(
        &mut self,
        file: &ScannedFile,
        group: &Group,
        statement: &Statement,
    ) -> Result<MemoryId> {
        let (conn, now) = (self.change.conn, self.change.call.now);
        let hash = statement.hash();
        let is_isolated = self.isolated.contains(&group.id);
        let sees = |memory: &Memory| {
            memory.group.as_ref() == Some(&group.id)
                || (memory.scope == Scope::Global && !is_isolated)
        };
        if let Some(same) = memories::by_hash(conn, &hash)?.into_iter().find(sees) {
            follow::came_back(self.change, same.id.as_str())?;
            return Ok(same.id);
        }
        let origin = statement.origin(self.scan.client, &file.shown_path);
        let (id, is_new) = self.id_of(&origin)?;
        if !is_new {
            return Ok(id);
        }
        groups::ensure(conn, group, now)?;
        let content = &statement.text;
        let metadata = metadata(file, statement, &origin);
        let provenance = Provenance {
            origin: Some(Origin::Import),
            client: Some(self.scan.client.as_str().to_owned()),
            trust: Trust::Import,
            flags: flags::of_outside(content, &metadata),
            ..Provenance::unknown()
        };
        let scope = if statement.fields.is_about_person() {
            Scope::Global
        } else {
            self.change.shared.settings().scopes.of(statement.kind)
        };
        let new = NewMemory {
            id: &id,
            kind: statement.kind,
            content,
            group: Some(&group.id),
            scope: if is_isolated { Scope::Group } else { scope },
            confidence: Confidence::FULL,
            metadata: &metadata,
            hash: &hash,
            expires_at: None,
            provenance: &provenance,
            importance: None,
        };
        let seq = self.change.insert(&new, &TextEncodings::default())?;
        self.change.log(Operation::Import, &id, &json!({"bridge": self.scan.client.as_str()}))?;
        self.added.push(seq);
        self.progress.counts.imported += 1;
        Ok(id)
    }
}

fn metadata(
    file: &ScannedFile,
    statement: &Statement,
    origin: &ImportOrigin,
) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert(SOURCE.to_owned(), Value::from(file.path.clone()));
    metadata.insert(IMPORTED.to_owned(), json!(origin));
    statement.fields.declare(&mut metadata);
    metadata
}

/// Returns whether a memory is from this statement, whatever was changed in it since.
fn is_of(memory: &Memory, origin: &ImportOrigin) -> bool {
    origin::origin(memory)
        .is_some_and(|stored| stored.path == origin.path && stored.text == origin.text)
}
