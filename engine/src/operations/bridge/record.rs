//! Records what a scan of a client's memory files found: versions, and memories with their source.
//!
//! A statement is imported once: what is known of any file of a client in a project is never imported again, whatever became of the memory.
//! One call changes a bounded number of rows, because other calls wait for it. Not here: reading the files (the daemon), what becomes of
//! what left a file (`follow`), finding rewordings (`rewordings`).

use crate::bridge::origin::SOURCE;
use crate::bridge::statements::{self, Statement, file_name};
use crate::db::bridge::{self, FileRow, VersionRow};
use crate::db::{isolated_groups, memories};
use crate::error::Result;
use crate::handles::writer::Writer;
use crate::operations::bridge::follow;
use crate::transaction::change::{CallContext, Change};
use crate::transfer::import_statements;
use loci_import::memory_at;
use loci_proto::foreign::ForeignMemory;
use loci_proto::group::Group;
use loci_proto::memory::Scope;
use loci_proto::requests::bridge::BridgeClient;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The act of an import by the bridge, in `loci history`.
pub(crate) const ACT: &str = "bridge";
/// Maximum statements that one call changes: other calls wait meanwhile.
const MAX_AT_ONCE: usize = 100;

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
            let mut recorder = Recorder {
                isolated: isolated_groups::all(change.conn)?.into_iter().collect(),
                change,
                scan,
                progress: ScanProgress::default(),
                left: MAX_AT_ONCE,
            };
            recorder.record_all()?;
            let Recorder { change, progress, .. } = recorder;
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
        let mut new = Vec::new();
        let mut step = Step::Complete;
        for statement in &file.statements {
            let Some(group) = statement.group.as_ref().or(file.group.as_ref()) else { continue };
            let hash = statement.hash();
            if known.contains(statement.bare_hash().as_slice()) || !known.insert(hash.to_vec()) {
                continue;
            }
            if !self.may_change() {
                step = Step::Partial;
                break;
            }
            // Another file of the project may have had it.
            let (project, hashes) = (row.group.as_deref(), statement.hashes());
            if let Some(memory) = bridge::memory_of_any(conn, &row.client, project, hashes)? {
                bridge::put_statement(conn, row.id, &hash, &memory)?;
                follow::came_back(self.change, &memory)?;
            } else {
                new.push((group, statement));
            }
        }
        self.store(row.id, file, &new)?;
        Ok(step)
    }

    /// Stores statements as an import does, and records what each is stored as.
    fn store(&mut self, row: i64, file: &ScannedFile, new: &[(&Group, &Statement)]) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let candidate = |&(group, statement): &(&Group, &Statement)| {
            (group.clone(), self.candidate(file, group, statement))
        };
        let candidates = new.iter().map(candidate).collect();
        let taken = import_statements(self.change, self.scan.client, candidates)?;
        let conn = self.change.conn;
        for ((_, statement), (id, is_new)) in new.iter().zip(taken) {
            let [hash, bare_hash] = statement.hashes();
            bridge::put_statement(conn, row, &hash, id.as_str())?;
            if statement.own_id.is_some() {
                // The client may drop the description; the text is the same statement then.
                bridge::put_statement(conn, row, &bare_hash, id.as_str())?;
            }
            if is_new {
                self.progress.counts.imported += 1;
            } else {
                follow::came_back(self.change, id.as_str())?;
            }
            let older = file.rewordings.iter().find(|one| one.statement == hash);
            if let (Some(older), Some(_)) = (older, memories::by_id(conn, &id)?) {
                let is_reworded = follow::reword(self.change, &older.older, &id)?;
                self.progress.counts.reworded += u64::from(is_reworded);
            }
        }
        Ok(())
    }

    /// Returns a statement as an import reads it.
    fn candidate(&self, file: &ScannedFile, group: &Group, statement: &Statement) -> ForeignMemory {
        let Statement { fields, kind, .. } = statement;
        let scope = match fields.is_about_person() {
            _ if self.isolated.contains(&group.id) => Scope::Group,
            true => Scope::Global,
            false => self.change.shared.settings().scopes.of(*kind),
        };
        let mut metadata = Map::new();
        metadata.insert(SOURCE.to_owned(), Value::from(file.path.clone()));
        fields.declare(&mut metadata);
        ForeignMemory {
            place: statement.place.clone(),
            own_id: statement.own_id.clone(),
            kind: *kind,
            scope,
            created_at: fields.created_at.unwrap_or(0),
            updated_at: fields.updated_at.unwrap_or(0),
            metadata,
            content: statement.text.clone(),
            ..memory_at(&file.shown_path)
        }
    }
}
