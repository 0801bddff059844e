//! Decides, before SQLite opens anything, whether the database and its write-ahead log are those
//! that the last daemon left, and puts a log aside that belongs to something else.
//!
//! SQLite replays any log whose checksums are right. A log belongs to the file if the file has the
//! state on top of which the log was begun. In the same boot of the machine that is certain: the
//! salts of the log are those that the daemon saw last, and every page outside the log has its
//! checksum. Otherwise the counters in both are compared. Not here: the checks of an opened store
//! (`db::health`).
//!
//! | found | done |
//! |---|---|
//! | no file or no bytes, but there was data | the start is refused |
//! | the log belongs to the file | both are used |
//! | the log belongs to something else, or is damaged | it is put aside, the file is used |
//! | the file is another database, or an older state | it is used, and a notice is added |
//! | no identity, and neither file nor log has a memory: the first start was interrupted | both are used |

use crate::database_files::database_file::DatabaseFile;
use crate::database_files::difference::{count, difference, missing, name};
use crate::database_files::identity::{self, FileStamp, Identity, StoredIdentity};
use crate::database_files::page_sums::PageSums;
use crate::database_files::quarantine::Quarantine;
use crate::database_files::wal_file::{self, WalFile, WalFrames};
use crate::database_files::{wal_path, with_suffix};
use crate::db::health::FileCondition;
use crate::db::probe::{self, FileState};
use crate::encryption::header;
use crate::error::{Error, Result};
use crate::model::time::Timestamp;
use std::collections::HashSet;
use std::io;
use std::path::Path;

/// Files up to this many pages are compared whole with their checksums (256 MiB); of larger ones a
/// part that is spread over the file.
const MAX_COMPARED_PAGES: u32 = 65_536;
/// Pages of one part.
const PART_PAGES: u32 = 1_024;
/// If more than one in this many compared pages differ, the file was replaced; otherwise it is
/// damaged.
const DAMAGED_SHARE: u32 = 10;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct Recognition {
    /// What is wrong and what was done, one sentence each; empty if all is as it was left.
    pub findings: Vec<String>,
    /// Whether the checksums of the pages belong to the file.
    pub sums_are_valid: bool,
    /// The pages of a log that SQLite will replay.
    pub log_pages: HashSet<u32>,
    /// Pages have changed on the disk: the store has to be checked before it is served.
    pub is_damaged: bool,
}

impl Recognition {
    /// Returns what is known of the files.
    pub fn condition(&self) -> FileCondition {
        if self.is_damaged {
            FileCondition::Suspect
        } else if self.sums_are_valid {
            FileCondition::Known
        } else {
            FileCondition::Unknown
        }
    }
}

/// Refuses to create a database where there was one.
///
/// # Errors
/// `Lost` if the identity or the log shows that there was data.
pub(crate) fn check_may_create(path: &Path, is_empty: bool) -> Result<()> {
    let had = match identity::read(path) {
        StoredIdentity::Known(known) if known.has_data() => {
            format!("it had {} at change {}", count(known.memories, "memory"), known.last_change)
        }
        StoredIdentity::Unreadable => "its identity file is damaged".to_owned(),
        _ if has_log(path) => "its write-ahead log has data".to_owned(),
        _ => return Ok(()),
    };
    let found = if is_empty { "is empty" } else { "is missing" };
    Err(Error::Lost { path: path.to_path_buf(), what: format!("{found}, but {had}") })
}

fn has_log(path: &Path) -> bool {
    std::fs::symlink_metadata(wal_path(path)).is_ok_and(|found| found.len() > 0)
}

/// Recognises the database and its log; puts a log aside that does not belong to it.
///
/// # Errors
/// `Damaged` if neither the file with its log nor the file alone can be used; `File`. The database
/// and its log are unchanged then.
pub(crate) fn recognise(path: &Path, file: &DatabaseFile, now: Timestamp) -> Result<Recognition> {
    let failed = |source| Error::File { path: path.to_path_buf(), source };
    let log =
        wal_file::read(path).map_err(|source| Error::File { path: wal_path(path), source })?;
    let stored = identity::read(path);
    let may_be_unfinished = matches!(stored, StoredIdentity::Missing);
    let known = match stored {
        StoredIdentity::Known(known) => Some(known),
        StoredIdentity::Missing | StoredIdentity::Unreadable => None,
    };
    let case = Case { path, file, known: known.as_ref(), may_be_unfinished };
    let judgement = case.judge(&log).map_err(|fault| match fault {
        Fault::File(source) => failed(source),
        Fault::Engine(error) => error,
    })?;
    let mut recognition = Recognition {
        findings: judgement.findings,
        sums_are_valid: judgement.sums_are_valid,
        log_pages: HashSet::new(),
        is_damaged: judgement.is_damaged,
    };
    if let (WalFile::Valid(frames), true) = (log, judgement.uses_log) {
        recognition.log_pages = frames.pages;
    }
    if !recognition.findings.is_empty() {
        let report = recognition.findings.join("\n");
        let quarantine = Quarantine::create(path, now, &report)?;
        quarantine.keep_copy(path)?;
        let folder = quarantine.folder().display().to_string();
        if judgement.uses_log {
            if has_log(path) {
                quarantine.keep_copy(&wal_path(path))?;
            }
        } else if has_log(path) {
            quarantine.take(&wal_path(path))?;
            // The shared memory of the log describes the log that is gone.
            let _ = std::fs::remove_file(with_suffix(path, "-shm"));
        }
        recognition.findings.push(format!(
            "The files as they were found are in {folder}. Go on with {} as it is; or run loci backup restore, which keeps it aside too; or, if memories are damaged, loci doctor --recover",
            name(path)
        ));
    }
    Ok(recognition)
}

/// A failure while judging.
enum Fault {
    File(io::Error),
    Engine(Error),
}

impl From<io::Error> for Fault {
    fn from(fault: io::Error) -> Self {
        Self::File(fault)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// What to do with the files.
#[derive(Debug, Default)]
struct Judgement {
    uses_log: bool,
    sums_are_valid: bool,
    is_damaged: bool,
    findings: Vec<String>,
}

/// The files of one start.
struct Case<'a> {
    path: &'a Path,
    file: &'a DatabaseFile,
    known: Option<&'a Identity>,
    /// Whether no identity was ever written, as in a first start that was interrupted.
    may_be_unfinished: bool,
}

impl Case<'_> {
    fn judge(&self, log: &WalFile) -> Result<Judgement, Fault> {
        match (self.known, log) {
            (Some(known), WalFile::Valid(frames))
                if known.is_open && known.is_of_this_boot() && known.salt == Some(frames.salt) =>
            {
                self.own_log(known, frames)
            }
            // Its header was written, and no commit reached the disk: SQLite replays nothing.
            (_, WalFile::Valid(frames)) if frames.committed == 0 => self.no_log(),
            (_, WalFile::Valid(frames)) => self.unknown_log(frames),
            (_, WalFile::Garbage) => self.without_log("is damaged"),
            (Some(known), WalFile::Empty) if known.is_open && known.frames > 0 => {
                if self.has_all_alone(known) {
                    // The moved pages have no checksums yet.
                    Ok(Judgement { uses_log: true, ..Judgement::default() })
                } else {
                    self.without_log("is missing")
                }
            }
            (Some(known), WalFile::Empty)
                if !known.is_open
                    && known.file.is_some()
                    && known.file == FileStamp::of(self.path) =>
            {
                Ok(Judgement { uses_log: true, sums_are_valid: true, ..Judgement::default() })
            }
            (_, WalFile::Empty) => self.no_log(),
        }
    }

    /// The log is the one that the last daemon wrote, on this boot.
    fn own_log(&self, known: &Identity, frames: &WalFrames) -> Result<Judgement, Fault> {
        if self.was_put_back(known)? {
            return self.without_log("belongs to the file that was replaced");
        }
        let is_own_file = match self.compare_pages(&frames.pages)? {
            // Every page may be in the log, so equal pages alone prove nothing.
            PagesMatch::Yes => self.is_same_database(known),
            PagesMatch::Unknown => self.is_next_checkpoint(known),
            PagesMatch::Damaged(pages) if self.is_next_checkpoint(known) => {
                return Ok(self.damaged_pages(pages));
            }
            PagesMatch::Damaged(_) | PagesMatch::No => false,
        };
        if !is_own_file {
            return self.without_log("belongs to the file that was replaced");
        }
        if frames.committed < known.moved {
            // Replaying what is left would undo changes that are in the file.
            return self.without_log("was cut or damaged");
        }
        if frames.committed < known.frames {
            let found = probe::with_log(self.path)?;
            let finding =
                missing(self.path, known, &found, "its write-ahead log was cut or damaged");
            let findings = vec![finding];
            return Ok(Judgement {
                uses_log: true,
                sums_are_valid: true,
                findings,
                ..Judgement::default()
            });
        }
        Ok(Judgement { uses_log: true, sums_are_valid: true, ..Judgement::default() })
    }

    /// Returns whether somebody wrote the file of the last checkpoint again, as `cp` does with a
    /// backup. The daemon itself writes to the file only in a checkpoint, which changes its pages; a
    /// file that counts one more has seen a checkpoint after which the daemon died before it recorded
    /// the file. If the log is another file too, both were copied together.
    fn was_put_back(&self, known: &Identity) -> Result<bool, Fault> {
        let was_written = known.file.is_some() && known.file != FileStamp::of(self.path);
        let is_same_log = known.log.is_some() && known.log == wal_file::inode_of_log(self.path);
        let was_own_checkpoint = || {
            let file = probe::without_log(self.path);
            file.is_ok_and(|file| file.uuid == known.uuid && file.checkpoints > known.checkpoints)
        };
        Ok(was_written
            && is_same_log
            && !was_own_checkpoint()
            && matches!(self.compare_pages(&HashSet::new())?, PagesMatch::Yes))
    }

    /// Returns whether the file alone names the known database, or names none: an interrupted
    /// checkpoint may have left it unreadable.
    fn is_same_database(&self, known: &Identity) -> bool {
        probe::without_log(self.path).map_or(true, |file| file.uuid == known.uuid)
    }

    /// Returns whether the file alone is a sound database.
    fn is_whole_alone(&self) -> bool {
        probe::check_without_log(self.path).is_ok_and(|said| said == "ok")
    }

    /// Returns whether the file alone has the last checkpoint that is known, or one more.
    fn is_next_checkpoint(&self, known: &Identity) -> bool {
        // A file that cannot be read alone may be the result of an interrupted checkpoint.
        probe::without_log(self.path).map_or(true, |file| {
            file.uuid == known.uuid
                && (known.checkpoints..=known.checkpoints + 1).contains(&file.checkpoints)
        })
    }

    /// Returns whether the file alone has everything that is known: a checkpoint or a start emptied
    /// the log, and the daemon died before it recorded that.
    fn has_all_alone(&self, known: &Identity) -> bool {
        probe::without_log(self.path).is_ok_and(|file| {
            file.uuid == known.uuid
                && file.checkpoints >= known.checkpoints
                && file.last_change >= known.last_change
        })
    }

    /// It is not known whether the log belongs to the file: the machine was restarted, the files
    /// were copied from elsewhere, or one of them was replaced.
    fn unknown_log(&self, frames: &WalFrames) -> Result<Judgement, Fault> {
        if self.may_be_unfinished && probe::has_no_memory(self.path).unwrap_or(false) {
            return Ok(Judgement { uses_log: true, ..Judgement::default() });
        }
        let (file, replayed) = (probe::without_log(self.path), probe::with_log(self.path));
        let belongs = match (&file, &replayed) {
            (Ok(file), Ok(replayed)) if continues(file, replayed, frames) => true,
            // What the file alone says counts only if it is whole. The tables of a new database may
            // still be in its log, and after an interrupted checkpoint the pages do not fit together.
            (file, Ok(replayed)) => {
                (file.is_err() || !self.is_whole_alone())
                    && self.known.is_none_or(|known| known.uuid == replayed.uuid)
            }
            (_, Err(_)) => false,
        };
        if !belongs || probe::check_with_log(self.path).is_ok_and(|said| said != "ok") {
            return self.without_log("belongs to another database or to another state of this one");
        }
        let replayed = replayed?;
        let findings = self.known.and_then(|known| difference(self.path, known, &replayed));
        Ok(Judgement {
            uses_log: true,
            findings: findings.into_iter().collect(),
            ..Judgement::default()
        })
    }

    /// There is no log, and none is expected. If the file was written since it was closed, its pages
    /// tell a damaged file from a replaced one.
    fn no_log(&self) -> Result<Judgement, Fault> {
        // A database of which nothing can be read is refused when it is opened.
        let (Some(known), Ok(file)) = (self.known, probe::without_log(self.path)) else {
            return Ok(Judgement { uses_log: true, ..Judgement::default() });
        };
        let finding = difference(self.path, known, &file);
        let has_exact_sums = !known.is_open || known.is_of_this_boot();
        let is_unchanged = known.file.is_some() && known.file == FileStamp::of(self.path);
        let is_same_state = file.uuid == known.uuid
            && file.checkpoints == known.checkpoints
            && file.last_change == known.last_change;
        let mut judgement = Judgement {
            uses_log: true,
            sums_are_valid: is_unchanged && has_exact_sums,
            is_damaged: false,
            findings: finding.into_iter().collect(),
        };
        if is_same_state && has_exact_sums && !is_unchanged {
            match self.compare_pages(&HashSet::new())? {
                PagesMatch::Yes => judgement.sums_are_valid = true,
                PagesMatch::Damaged(pages) => return Ok(self.damaged_pages(pages)),
                PagesMatch::No | PagesMatch::Unknown => {}
            }
        }
        Ok(judgement)
    }

    /// Some pages are not as they were written. Their checksums stay, so that every check finds them.
    fn damaged_pages(&self, pages: usize) -> Judgement {
        let finding = format!(
            "{} of {} changed on the disk since loci wrote {}. Run loci doctor: it names what is damaged",
            count(pages, "page"),
            name(self.path),
            if pages == 1 { "it" } else { "them" },
        );
        let findings = vec![finding];
        Judgement { uses_log: true, sums_are_valid: true, is_damaged: true, findings }
    }

    /// The log cannot be used. The file alone is, if it is whole.
    fn without_log(&self, reason: &str) -> Result<Judgement, Fault> {
        let damaged = |what: String| Error::Damaged { path: self.path.to_path_buf(), what };
        let file = probe::without_log(self.path).map_err(|fault| {
            damaged(format!(
                "its write-ahead log {reason}, and the file alone cannot be read: {fault}"
            ))
        })?;
        match probe::check_without_log(self.path)?.as_str() {
            "ok" => {}
            fault => {
                let what =
                    format!("its write-ahead log {reason}, and the file alone is faulty: {fault}");
                return Err(damaged(what).into());
            }
        }
        let mut findings = vec![format!(
            "The write-ahead log of {} {reason}; {} is used without it",
            name(self.path),
            name(self.path)
        )];
        if let Some(known) = self.known {
            findings.extend(difference(self.path, known, &file));
        }
        Ok(Judgement { findings, ..Judgement::default() })
    }

    /// Compares the pages with their checksums, except those in `skipped`.
    fn compare_pages(&self, skipped: &HashSet<u32>) -> Result<PagesMatch, Fault> {
        let Some(page_size) = self.page_size()? else { return Ok(PagesMatch::Unknown) };
        let Some(sums) = PageSums::open(self.path, page_size)? else {
            return Ok(PagesMatch::Unknown);
        };
        let pages = sums.page_count(self.file)?;
        let parts = pages.div_ceil(PART_PAGES);
        let step = parts.div_ceil(MAX_COMPARED_PAGES / PART_PAGES).max(1);
        let (mut compared, mut differing) = (0, 0);
        for part in (0..parts).step_by(step as usize) {
            let first = part * PART_PAGES + 1;
            let found = sums.compare(self.file, first..=first + PART_PAGES - 1, skipped)?;
            compared += found.compared;
            differing += u32::try_from(found.differing.len()).unwrap_or(u32::MAX);
        }
        Ok(match differing {
            0 => PagesMatch::Yes,
            pages if pages <= (compared / DAMAGED_SHARE).max(1) => {
                PagesMatch::Damaged(pages as usize)
            }
            _ => PagesMatch::No,
        })
    }

    /// Returns the page size in the file's header; `None` if the file is shorter than a header.
    fn page_size(&self) -> io::Result<Option<u32>> {
        page_size(self.file)
    }
}

/// Returns the page size in the header of a database; `None` if the file is shorter than a header.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn page_size(file: &DatabaseFile) -> io::Result<Option<u32>> {
    let mut bytes = [0; 18];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) if header::key_id_in(&bytes).is_some() => Ok(Some(header::PAGE_BYTES)),
        Ok(()) => Ok(match u16::from_be_bytes([bytes[16], bytes[17]]) {
            1 => Some(65_536),
            size if size >= 512 && size.is_power_of_two() => Some(u32::from(size)),
            _ => None,
        }),
        Err(fault) if fault.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Whether the pages outside the log are those of the last checkpoint.
enum PagesMatch {
    Yes,
    /// So few differ that the file is damaged, not replaced.
    Damaged(usize),
    No,
    /// There are no checksums.
    Unknown,
}

/// Returns whether the log was begun on top of the file.
fn continues(file: &FileState, replayed: &FileState, frames: &WalFrames) -> bool {
    let next = |before: i64, after: i64| (0..=1).contains(&(after - before));
    let salt_follows = file.wal_salt.is_none_or(|salt| {
        replayed.generation > file.generation
            // A log that is begun again gets the next salt, at most twice since the checkpoint.
            || frames.salt[0].wrapping_sub(salt) <= 2
    });
    file.uuid == replayed.uuid
        && next(file.generation, replayed.generation)
        && next(file.checkpoints, replayed.checkpoints)
        && replayed.last_change >= file.last_change
        && salt_follows
}
