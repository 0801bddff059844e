//! Records what a scan of a client's memory files found: versions, and memories with their source.
//!
//! A statement is imported once: what is known of a file is never imported again, whatever became of the memory. A statement that left its
//! file stays a memory and says so; one that was reworded supersedes the older wording. Not here: reading the files (the daemon).

use crate::bridge::statements::{self, Statement, file_name};
use crate::db::bridge::{self, FileRow, StatementRow, VersionRow};
use crate::db::log::Operation;
use crate::db::memories::{self, NewMemory};
use crate::db::rows::Row;
use crate::db::{groups, isolated_groups, tombstones};
use crate::error::Result;
use crate::flags;
use crate::handles::writer::Writer;
use crate::model::encoding::TextEncodings;
use crate::model::memory::Memory;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
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
/// The key of metadata with the file that a memory is from.
const SOURCE: &str = "source_file";
/// The key with the day on which the statement had left its file.
const GONE: &str = "source_gone";
/// Maximum number of memories with the same origin.
const MAX_EQUAL_STATEMENTS: u32 = 100;
/// Share of common words from which a new statement is the new wording of one that left the file.
const SAME_STATEMENT: f64 = 0.5;

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
}

impl Writer {
    /// Records what a scan found, as one act.
    ///
    /// # Errors
    /// `Database`; nothing is recorded then.
    pub fn record_bridge_scan(&mut self, call: &CallContext, scan: &Scan) -> Result<ScanCounts> {
        self.run_idempotent(call, |change| {
            let isolated = isolated_groups::all(change.conn)?;
            let mut recorder = Recorder {
                change,
                scan,
                isolated: isolated.into_iter().collect(),
                counts: ScanCounts::default(),
                added: Vec::new(),
            };
            scan.changed.iter().try_for_each(|file| recorder.record(file))?;
            scan.gone.iter().try_for_each(|path| recorder.record_gone(path))?;
            let Recorder { change, counts, added, .. } = recorder;
            mentions::renew_all(change, &added, |_| true)?;
            bridge::set_scanned(change.conn, scan.client.as_str(), call.now)?;
            if counts.versions > 0 {
                bridge::bound(change.conn, scan.max_bytes)?;
            }
            change.commit_to_journal(ACT)?;
            Ok(counts)
        })
    }
}

struct Recorder<'a, 'b> {
    change: &'a mut Change<'b>,
    scan: &'a Scan,
    isolated: HashSet<String>,
    counts: ScanCounts,
    /// Row numbers of the memories that were added.
    added: Vec<i64>,
}

impl Recorder<'_, '_> {
    fn record(&mut self, file: &ScannedFile) -> Result<()> {
        let conn = self.change.conn;
        let id = bridge::put_file(
            conn,
            &FileRow {
                id: 0,
                client: self.scan.client.as_str().to_owned(),
                path: file.path.clone(),
                group: file.group.as_ref().map(|group| group.id.clone()),
                hash: Some(file.hash.clone()),
                is_gone: false,
            },
        )?;
        self.counts.files += 1;
        let known = bridge::statements(conn, id)?;
        self.add_version(id, file, &known)?;
        if self.scan.import {
            self.import(id, file, &known)?;
        }
        Ok(())
    }

    /// Adds a version, unless its text is that of the newest one.
    fn add_version(&mut self, id: i64, file: &ScannedFile, known: &[StatementRow]) -> Result<()> {
        let conn = self.change.conn;
        let erased = erased(conn, known)?;
        let is_erased = |hash: &[u8; 16]| erased.contains(hash.as_slice());
        let cut =
            statements::without(self.scan.client, file_name(&file.path), &file.text, is_erased);
        let (text, cut) = cut.unwrap_or_else(|| (file.text.clone(), 0));
        let newest = bridge::versions(conn, id)?.into_iter().next();
        let hash = bridge::put_text(conn, &text)?;
        if newest.is_some_and(|newest| newest.text.as_ref() == Some(&hash)) {
            return Ok(());
        }
        let version = VersionRow {
            number: 0,
            at: self.change.call.now,
            text: Some(hash),
            bytes: 0,
            mode: file.mode,
            replaced: u64::from(file.replaced) + u64::from(cut),
        };
        self.counts.versions += 1;
        bridge::add_version(conn, id, &version)
    }

    fn record_gone(&mut self, path: &str) -> Result<()> {
        let conn = self.change.conn;
        let Some(file) = bridge::file(conn, path)?.filter(|file| !file.is_gone) else {
            return Ok(());
        };
        bridge::set_gone(conn, file.id, self.change.call.now)?;
        let mode = bridge::versions(conn, file.id)?.first().map_or(0o600, |newest| newest.mode);
        let at = self.change.call.now;
        let version = VersionRow { number: 0, at, text: None, bytes: 0, mode, replaced: 0 };
        bridge::add_version(conn, file.id, &version)?;
        self.counts.files += 1;
        self.counts.versions += 1;
        for row in bridge::statements(conn, file.id)?.iter().filter(|row| !row.is_gone) {
            self.mark_gone(file.id, row)?;
        }
        Ok(())
    }

    fn import(&mut self, file_id: i64, file: &ScannedFile, known: &[StatementRow]) -> Result<()> {
        // Earlier versions imported the texts without their headings.
        let hashes = |statement: &Statement| [statement.hash(), statement.bare_hash()];
        let stated: HashSet<[u8; 16]> = file.statements.iter().flat_map(hashes).collect();
        let is_stated = |row: &StatementRow| {
            <[u8; 16]>::try_from(row.hash.as_slice()).is_ok_and(|hash| stated.contains(&hash))
        };
        for row in known.iter().filter(|row| row.is_gone && is_stated(row)) {
            self.mark_present(file_id, row)?;
        }
        let mut left = Vec::new();
        for row in known.iter().filter(|row| !row.is_gone && !is_stated(row)) {
            self.mark_gone(file_id, row)?;
            left.extend(memories::by_id_text(self.change.conn, &row.memory)?);
        }
        let known: HashSet<&[u8]> = known.iter().map(|row| row.hash.as_slice()).collect();
        let is_known =
            |one: &Statement| hashes(one).iter().any(|hash| known.contains(hash.as_slice()));
        for statement in file.statements.iter().filter(|one| !is_known(one)) {
            let Some(group) = statement.group.as_ref().or(file.group.as_ref()) else { continue };
            let id = self.store(file, group, statement)?;
            bridge::put_statement(self.change.conn, file_id, &statement.hash(), id.as_str())?;
            if statement.own_id.is_some() {
                // The client may drop the description; the text is the same statement then.
                let hash = statement.bare_hash();
                bridge::put_statement(self.change.conn, file_id, &hash, id.as_str())?;
            }
            self.supersede_older(&mut left, &id, statement)?;
        }
        Ok(())
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
            self.set_gone_mark(same.id.as_str(), None)?;
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
            flags: flags::of_memory(content, &metadata),
            ..Provenance::unknown()
        };
        let scope = match statement.is_about_person {
            true => Scope::Global,
            false => self.change.shared.settings().scopes.of(statement.kind),
        };
        let new = NewMemory {
            id: &id,
            kind: statement.kind,
            content,
            group: &group.id,
            scope: if is_isolated { Scope::Group } else { scope },
            confidence: Confidence::FULL,
            metadata: &metadata,
            hash: &hash,
            expires_at: None,
            provenance: &provenance,
        };
        let seq = self.change.insert(&new, &TextEncodings::default())?;
        self.change.log(Operation::Import, &id, &json!({"bridge": self.scan.client.as_str()}))?;
        self.added.push(seq);
        self.counts.imported += 1;
        Ok(id)
    }

    /// Supersedes the memory of a statement that left the file, if the new one is another wording of it.
    fn supersede_older(
        &mut self,
        left: &mut Vec<Memory>,
        by: &MemoryId,
        statement: &Statement,
    ) -> Result<()> {
        let near = |memory: &Memory| common_words(&memory.content, &statement.text);
        let best = left.iter().enumerate().map(|(at, memory)| (at, near(memory)));
        let best = best.max_by(|one, other| one.1.total_cmp(&other.1));
        let Some((at, _)) = best.filter(|(_, share)| *share >= SAME_STATEMENT) else {
            return Ok(());
        };
        let old = left.swap_remove(at);
        if old.provenance.trust != Trust::Import || old.status != Status::Active || old.id == *by {
            return Ok(());
        }
        self.change.record_before(Row::Memory(old.seq))?;
        memories::supersede(self.change.conn, old.seq, by, self.change.call.now)?;
        self.change.log(Operation::Supersede, &old.id, &json!({"by": by}))?;
        self.change.touch(old.seq);
        Ok(())
    }

    /// Records that a statement left its file; its memory stays, and says so unless another file has it.
    fn mark_gone(&mut self, file: i64, row: &StatementRow) -> Result<()> {
        let now = self.change.call.now;
        bridge::set_statement_gone(self.change.conn, file, &row.hash, Some(now))?;
        if bridge::is_stated(self.change.conn, &row.memory)? {
            return Ok(());
        }
        self.set_gone_mark(&row.memory, Some(Value::from(now.date())))
    }

    fn mark_present(&mut self, file: i64, row: &StatementRow) -> Result<()> {
        bridge::set_statement_gone(self.change.conn, file, &row.hash, None)?;
        self.set_gone_mark(&row.memory, None)
    }

    /// Changes the mark in the metadata of an imported memory. Other memories are not the bridge's to change.
    fn set_gone_mark(&mut self, memory: &str, mark: Option<Value>) -> Result<()> {
        let Some(mut memory) = memories::by_id_text(self.change.conn, memory)? else {
            return Ok(());
        };
        let is_imported = [SOURCE, IMPORTED].iter().any(|name| memory.metadata.contains_key(*name));
        let is_marked = memory.metadata.get(GONE) == mark.as_ref();
        if memory.provenance.trust != Trust::Import || !is_imported || is_marked {
            return Ok(());
        }
        self.change.record_before(Row::Memory(memory.seq))?;
        match mark {
            Some(day) => drop(memory.metadata.insert(GONE.to_owned(), day)),
            None => drop(memory.metadata.remove(GONE)),
        }
        memories::set_metadata(self.change.conn, &memory, self.change.call.now)?;
        self.change.touch(memory.seq);
        Ok(())
    }
}

/// Returns the hashes of the statements whose memories were deleted permanently.
fn erased(conn: &rusqlite::Connection, known: &[StatementRow]) -> Result<HashSet<Vec<u8>>> {
    let mut erased = HashSet::new();
    for row in known {
        if let Ok(id) = row.memory.parse::<MemoryId>()
            && tombstones::has(conn, &id)?
        {
            erased.insert(row.hash.clone());
        }
    }
    Ok(erased)
}

fn metadata(
    file: &ScannedFile,
    statement: &Statement,
    origin: &ImportOrigin,
) -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert(SOURCE.to_owned(), Value::from(file.path.clone()));
    metadata.insert(IMPORTED.to_owned(), json!(origin));
    if let Some(category) = &statement.category {
        metadata.insert("category".to_owned(), Value::from(category.clone()));
    }
    metadata
}

/// Returns whether a memory is from this statement, whatever was changed in it since.
fn is_of(memory: &Memory, origin: &ImportOrigin) -> bool {
    let stored =
        memory.metadata.get(IMPORTED).and_then(|found| ImportOrigin::deserialize(found).ok());
    stored.is_some_and(|stored| stored.path == origin.path && stored.text == origin.text)
}

/// Returns the share of words that two texts have in common.
fn common_words(one: &str, other: &str) -> f64 {
    let words = |text: &str| -> HashSet<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let (one, other) = (words(one), words(other));
    let common = one.intersection(&other).count() as f64;
    common / (one.union(&other).count() as f64).max(1.0)
}
