//! `doctor --offline`: checks the files of a store that no process has open. Nothing is written,
//! migrated or completed.
//!
//! The checks of rows, pages and index are those of `doctor` (`full_check`, `doctor`). Not here: the
//! locks that keep a daemon out, configuration, model and backups (the daemon's crate).

use crate::backups::swap;
use crate::database_files::database_file::DatabaseFile;
use crate::database_files::difference::difference_from_last;
use crate::database_files::recognition::check_may_create;
use crate::database_files::wal_path;
use crate::db::{connection, health, integrity, migrate, probe};
use crate::error::{Error, Result};
use crate::handles::open_read_only::{load_snapshot, open_unloaded};
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::index::snapshot::FileIdentity;
use crate::model::time::Timestamp;
use crate::model::withheld::Withheld;
use crate::operations::full_check::structure_findings;
use crate::operations::notices::Notice;
use loci_proto::requests::doctor::{Finding, Verdict};
use rusqlite::Connection;
use std::path::Path;

/// The part of most findings.
const PART: &str = "database";

/// What a check of the files has found.
#[derive(Debug, Default)]
pub struct OfflineCheck {
    /// The findings, in the order of the checks.
    pub findings: Vec<Finding>,
    /// The lasting notices in the database.
    pub notices: Vec<Notice>,
    /// The model of the vectors that recalls read; empty if there are none.
    pub model: String,
}

/// How much [`check_offline`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What `doctor` reads.
    Full,
    /// What `doctor --deep` reads.
    EveryRow,
}

/// Checks the files of a store. The caller makes sure that no process writes to it meanwhile.
///
/// # Errors
/// Why the store cannot be read: `Lost`, `Damaged`, `NotOurs`, `NewerDatabase`, `ForeignSchema`,
/// `InUse`, `File`, `Database`.
pub fn check_offline(
    path: &Path,
    settings: Settings,
    depth: Depth,
    now: Timestamp,
) -> Result<OfflineCheck> {
    let shown = path.display();
    let length = std::fs::metadata(path).map(|found| found.len());
    let mut check = OfflineCheck::default();
    if swap::is_interrupted(path) {
        check.findings.push(Finding::warn(
            PART,
            format!("{shown} is being replaced by a restore that was interrupted"),
            "Run loci ctl start, which completes it",
        ));
    } else if length.as_ref().map_or(true, |bytes| *bytes == 0) {
        check_may_create(path, length.is_ok())?;
        check.findings.push(Finding::ok(PART, format!("{shown} does not exist yet")));
        return Ok(check);
    }
    check_file(&mut check, path, settings, depth, now).map_err(|error| named(error, path))?;
    Ok(check)
}

/// Names the file in an error of SQLite about its content.
fn named(error: Error, path: &Path) -> Error {
    match error {
        Error::Database(fault) if Error::is_damage_of(&fault) => {
            Error::Damaged { path: path.to_path_buf(), what: fault.to_string() }
        }
        error => error,
    }
}

fn check_file(
    check: &mut OfflineCheck,
    path: &Path,
    settings: Settings,
    depth: Depth,
    now: Timestamp,
) -> Result<()> {
    if let Some(findings) = check_older_schema(path)? {
        check.findings.extend(findings);
        return Ok(());
    }
    let identity = FileIdentity::of(path);
    let (shared, conn) = open_unloaded(path, settings)?;
    let reader = Reader::new(&shared)?;
    let mut full = reader.full_check()?;
    reader.finish_offline_check(&mut full)?;
    let is_structural = full.is_structural();
    check.findings.extend(full.findings);
    check.findings.push(check_log(&shared.path, &conn)?);
    if is_structural {
        return Ok(());
    }
    let state = probe::state(&conn)?;
    check.findings.extend(difference_from_last(&shared.path, &state).map(|found| {
        Finding::warn(
            PART,
            found,
            "Go on with it as it is (loci ctl start); or run loci backup restore",
        )
    }));
    check.findings.extend(count(&reader, now)?);
    let is_loaded = load_snapshot(&shared, &conn, identity)?;
    check.findings.push(check_index(&reader, is_loaded)?);
    if depth == Depth::EveryRow {
        check.findings.extend(reader.examine_rows()?);
    }
    check.notices = reader.notices()?;
    check.model.clone_from(&shared.sets().active.model);
    Ok(())
}

/// Checks the structure of a database that the next start migrates; `None` if it has the present schema.
fn check_older_schema(path: &Path) -> Result<Option<Vec<Finding>>> {
    // Keeps the file locked meanwhile.
    let _database = DatabaseFile::open_read_only(path)?;
    let conn = connection::reader_without_files(path)?;
    migrate::check(&conn, path)?;
    if !migrate::is_due(&conn)? {
        return Ok(None);
    }
    let (schema, size) = (integrity::schema(&conn)?, integrity::size(&conn)? / 1024);
    let mut findings = vec![Finding::warn(
        PART,
        format!(
            "{} has schema {schema} and {size} KiB, and must be migrated to schema {}; only its structure was checked",
            path.display(),
            migrate::SCHEMA
        ),
        "Run loci ctl start: it makes a backup, then migrates the database",
    )];
    findings.extend(structure_findings(&integrity::structure(&conn)?));
    Ok(Some(findings))
}

/// Says whether the store was closed, and what is still in its log.
fn check_log(path: &Path, conn: &Connection) -> Result<Finding> {
    let log = wal_path(path);
    let bytes = std::fs::metadata(&log).map_or(0, |found| found.len());
    let closed = if health::is_open(conn)? {
        "the store was not closed: the next start checks it"
    } else {
        "the store was closed"
    };
    let left = match bytes {
        0 => "its log is empty".to_owned(),
        bytes => {
            let kib = bytes.div_ceil(1024);
            format!("its log has {kib} KiB, which the next start moves into the database")
        }
    };
    Ok(Finding::ok(PART, format!("{closed}; {left}")))
}

/// Counts the memories by type, and those without vectors.
fn count(reader: &Reader, now: Timestamp) -> Result<Vec<Finding>> {
    let stats = reader.stats_of_database(None, now)?;
    let by_type = stats.by_type.iter().filter(|(_, count)| **count > 0);
    let by_type: Vec<String> = by_type.map(|(kind, count)| format!("{count} {kind}")).collect();
    let active = stats.active_memories;
    let active = match by_type.as_slice() {
        [] => format!("{active} active memories"),
        by_type => format!("{active} active memories ({})", by_type.join(", ")),
    };
    let memories = format!("{active}; {} others", stats.superseded_memories);
    let sets = reader.shared.sets();
    let with = active_with_vectors(stats.active_memories, stats.without_vector);
    let mut findings = vec![Finding::ok(PART, memories)];
    findings.push(if sets.active.name.is_empty() {
        Finding::ok("vectors", "there are none yet")
    } else if let Some(progress) = reader.fill_progress(&Withheld::default())? {
        let (to, done, total) = (progress.set.model, progress.done, progress.total);
        let found = format!("re-embedding to {to}: {done} of {total} memories");
        Finding::warn("vectors", found, "Run loci ctl start, which goes on with it")
    } else {
        Finding::ok("vectors", format!("{with} have vectors of {}", sets.active.model))
    });
    Ok(findings)
}

fn active_with_vectors(active: u64, without: u64) -> String {
    format!("{} of {active} active memories", active.saturating_sub(without))
}

/// Compares the snapshot of the index with the database, if the next start will use it.
fn check_index(reader: &Reader, is_loaded: bool) -> Result<Finding> {
    if !is_loaded {
        let origin = reader.shared.warmup.origin().unwrap_or_default();
        return Ok(Finding::ok("index", format!("at the next start it is {origin}")));
    }
    let finding = reader.examine_index()?;
    Ok(match finding.verdict {
        Verdict::Ok => finding,
        // The next start would use this snapshot, and mark the index as suspect only when it is checked.
        _ => Finding::fail("index", finding.found, "Run loci doctor, then loci ctl restart"),
    })
}
