//! The full check: every row against its hash, every index against its table, every page of the file
//! against its checksum, the keyword index against the texts. `loci doctor` runs it, and the daemon
//! does once a week and after a fault.
//!
//! Not here: the comparison of the index in memory (`doctor`), repairs (`repair`).

use crate::database_files::page_sums::PageSums;
use crate::database_files::recognition::page_size;
use crate::db::damage::{self, DamagedRow, DamagedRows};
use crate::db::integrity::Structure;
use crate::db::{ALL_SEQS, codes, export_rows, health, integrity, memories, vector_sets, vectors};
use crate::error::{Error, Result};
use crate::handles::open::log_pages;
use crate::handles::reader::Reader;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::time::Timestamp;
use loci_proto::requests::doctor::{Finding, Verdict};
use rusqlite::Connection;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The part of the findings.
const PART: &str = "database";
/// Rows and pages that a finding names.
const MAX_NAMED: usize = 20;
/// The hint if data may be lost.
pub(crate) const RESTORE_HINT: &str =
    "Run loci doctor --recover, which keeps what can be read, or loci backup restore";
/// The hint for what is derived from the memories.
const FIX_HINT: &str = "Run loci doctor --fix: it is built again from the memories";
/// The hint for damaged memories.
const ROWS_HINT: &str = "Write each text again (loci edit ID --content TEXT), import an export, or delete the memory (loci forget ID --hard)";
/// The hint for pages that differ from their checksums.
const PAGES_HINT: &str =
    "Run loci backup restore. To keep the pages as they are: loci doctor --fix";

/// What a full check has found so far.
#[derive(Debug, Default)]
pub struct FullCheck {
    /// The findings, in the order of the checks.
    pub findings: Vec<Finding>,
    /// Pages that seem to differ from their checksums; a checkpoint may have written them meanwhile.
    suspects: Vec<u32>,
    /// The number of pages that were compared; `None` without checksums.
    compared: Option<u32>,
    /// A page or a table cannot be read, so that the store must not be served.
    is_structural: bool,
}

impl Reader {
    /// Checks structure, references, rows and pages. The writer finishes the check
    /// ([`Writer::finish_full_check`]). Takes about a second per 100,000 memories, and locks nothing.
    ///
    /// # Errors
    /// `Database`.
    pub fn full_check(&self) -> Result<FullCheck> {
        let path = self.shared.path.display();
        let (schema, size) = (integrity::schema(&self.conn)?, integrity::size(&self.conn)? / 1024);
        let mut findings =
            vec![Finding::ok(PART, format!("{path} has schema {schema} and {size} KiB"))];
        let structure = integrity::structure(&self.fresh_connection()?)?;
        findings.extend(structure_findings(&structure));
        findings.push(match integrity::dangling(&self.conn) {
            Ok(0) => Finding::ok(PART, "every reference is valid"),
            Ok(rows) => {
                Finding::fail(PART, format!("{rows} rows refer to missing rows"), RESTORE_HINT)
            }
            Err(fault) => unreadable("the references", &fault),
        });
        let (rows, is_readable) = self.check_rows()?;
        findings.push(rows);
        let compared = compare_pages(&self.shared)?;
        let suspects = compared.as_ref().map(|found| found.differing.clone()).unwrap_or_default();
        let compared = compared.map(|found| found.compared);
        let is_structural = !structure.pages.is_empty() || !is_readable;
        Ok(FullCheck { findings, suspects, compared, is_structural })
    }

    /// Reads every row that has a text or a hash. The damaged rows that it finds replace those that
    /// were known. Also returns whether every table could be read to its end.
    fn check_rows(&self) -> Result<(Finding, bool)> {
        let conn = self.fresh_connection()?;
        let found = Arc::new(DamagedRows::default());
        damage::record_into(&conn, &found)?;
        let read = read_all(&conn);
        let damaged = found.all();
        match read {
            Ok(()) => self.shared.damaged.replace(damaged.clone()),
            // What lies behind the fault is unknown, so what was known stays.
            Err(_) => damaged.iter().cloned().for_each(|row| self.shared.damaged.note(row)),
        }
        let is_readable = read.is_ok();
        let finding = match (read, damaged.is_empty()) {
            (Err(fault), _) => unreadable("a table", &fault),
            (Ok(()), true) => Finding::ok(PART, "every memory matches its hash"),
            (Ok(()), false) => rows_finding(&damaged),
        };
        Ok((finding, is_readable))
    }

    /// Finishes a check of a store that no process has open. What an interrupted checkpoint has moved
    /// from the log into the file is no fault of a page.
    ///
    /// # Errors
    /// `File`.
    pub(crate) fn finish_offline_check(&self, check: &mut FullCheck) -> Result<()> {
        let in_log = log_pages(&self.shared.path)?;
        check.suspects.retain(|page| !in_log.contains(page));
        check.findings.push(pages_finding(&self.conn, check.compared, &check.suspects));
        check.findings.push(Finding::ok(
            PART,
            "the keyword index is intact; loci doctor also compares it with the texts, for which it needs the daemon",
        ));
        Ok(())
    }

    /// Finishes a check without a writer, of a store that cannot be written.
    ///
    /// # Errors
    /// `Database`, `File`.
    pub fn finish_full_check(&self, check: &mut FullCheck) -> Result<()> {
        let pages = pages_finding(&self.conn, check.compared, &check.suspects);
        check.findings.push(pages);
        check.findings.push(Finding::warn(
            PART,
            "the keyword index was not checked: the store is read-only",
            "Run loci doctor again when it can be written",
        ));
        Ok(())
    }

    /// Returns the damaged rows that are known.
    #[must_use]
    pub fn damaged_rows(&self) -> Arc<DamagedRows> {
        Arc::clone(&self.shared.damaged)
    }

    /// Returns when the whole store was last checked.
    ///
    /// # Errors
    /// `Database`.
    pub fn last_full_check(&self) -> Result<Option<Timestamp>> {
        health::last_full_check(&self.conn)
    }
}

impl Writer {
    /// Finishes a check that a reader has begun: compares the suspected pages again, while no
    /// checkpoint can write them, and the keyword index with the texts. Records the outcome.
    ///
    /// # Errors
    /// `Database`, `File`.
    pub fn finish_full_check(&self, check: &mut FullCheck, now: Timestamp) -> Result<()> {
        let again = if check.suspects.is_empty() { None } else { compare_pages(&self.shared)? };
        let differing = again.map(|found| found.differing).unwrap_or_default();
        check.findings.push(pages_finding(&self.conn, check.compared, &differing));
        check.findings.push(match integrity::words(&self.conn) {
            Ok(()) => Finding::ok(PART, "the keyword index matches the texts"),
            Err(error) => Finding::fail(
                PART,
                format!("the keyword index differs from the texts: {error}"),
                FIX_HINT,
            ),
        });
        // On a full disk the findings are shown all the same, and the next check records them.
        let _ = self.record_full_check(check.fault(), now);
        Ok(())
    }

    fn record_full_check(&self, fault: Option<&str>, now: Timestamp) -> Result<()> {
        match fault {
            Some(fault) => health::set_damaged(&self.conn, fault)?,
            None => health::clear_damage(&self.conn)?,
        }
        self.record_damaged_rows()?;
        health::set_last_full_check(&self.conn, now)
    }

    /// Keeps the known damaged rows for the next start.
    ///
    /// # Errors
    /// `Database`.
    pub fn record_damaged_rows(&self) -> Result<()> {
        damage::record(&self.conn, &self.shared.damaged.all())
    }

    /// Returns the damaged rows that are known.
    #[must_use]
    pub fn damaged_rows(&self) -> Arc<DamagedRows> {
        Arc::clone(&self.shared.damaged)
    }

    /// Returns the fault that was recorded last, and not found repaired since.
    ///
    /// # Errors
    /// `Database`.
    pub fn known_fault(&self) -> Result<Option<String>> {
        health::damage(&self.conn)
    }
}

impl FullCheck {
    /// Returns the first fault; damaged rows alone are none, because everything else is served.
    #[must_use]
    pub fn fault(&self) -> Option<&str> {
        let is_fault = |finding: &&Finding| {
            finding.verdict == Verdict::Fail && finding.next_step.as_deref() != Some(ROWS_HINT)
        };
        self.findings.iter().find(is_fault).map(|finding| finding.found.as_str())
    }

    /// Returns whether a page or a table cannot be read, so that the store must not be served.
    #[must_use]
    pub fn is_structural(&self) -> bool {
        self.is_structural
    }
}

/// Reads every row once.
fn read_all(conn: &Connection) -> Result<()> {
    export_rows::groups(conn, |_| Ok(()))?;
    memories::entries(conn, &ALL_SEQS, |_| Ok(()))?;
    export_rows::memories(conn, |_| Ok(()))?;
    for (seq, id) in integrity::differing_ids(conn)? {
        memories::note_other_id(conn, seq, &id);
    }
    export_rows::variants(conn, |_| Ok(()))?;
    export_rows::sources(conn, |_| Ok(()))?;
    export_rows::relations(conn, |_| Ok(()))?;
    export_rows::log(conn, |_| Ok(()))?;
    export_rows::tombstones(conn, |_| Ok(()))?;
    export_rows::clusters(conn, |_| Ok(()))?;
    vector_sets::in_use(conn)?;
    vector_sets::kept(conn)?;
    vectors::check_all(conn)?;
    codes::check_all(conn)
}

fn unreadable(what: &str, fault: &Error) -> Finding {
    Finding::fail(PART, format!("{what} cannot be read to the end: {fault}"), RESTORE_HINT)
}

pub(crate) fn structure_findings(found: &Structure) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |faults: &[String], what: &str, hint: &str| {
        if let Some(first) = faults.first() {
            let more = match faults.len() {
                1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            findings.push(Finding::fail(PART, format!("{what}: {first}{more}"), hint));
        }
    };
    add(&found.pages, "a page is damaged", RESTORE_HINT);
    add(&found.rows, "a row breaks a rule of its table", PAGES_HINT);
    add(&found.indexes, "an index differs from its table", FIX_HINT);
    add(&found.keywords, "the keyword index is damaged", FIX_HINT);
    if findings.is_empty() {
        findings.push(Finding::ok(PART, "every page and every index is intact"));
    }
    findings
}

fn rows_finding(damaged: &[DamagedRow]) -> Finding {
    let named: Vec<String> = damaged.iter().take(MAX_NAMED).map(DamagedRow::describe).collect();
    let more = match damaged.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        count => format!("; and {count} more"),
    };
    let rows = if damaged.len() == 1 { "1 row is" } else { &format!("{} rows are", damaged.len()) };
    let found = format!("{rows} damaged and left out: {}{more}", named.join("; "));
    Finding::fail(PART, found, ROWS_HINT)
}

/// The comparison of all pages with their checksums; `None` without checksums.
pub(crate) fn compare_pages(
    shared: &Shared,
) -> Result<Option<crate::database_files::page_sums::Comparison>> {
    let compare = || {
        let Some(size) = page_size(&shared.database)? else { return Ok(None) };
        let Some(sums) = PageSums::open(&shared.path, size)? else { return Ok(None) };
        sums.compare(&shared.database, 1..=u32::MAX, &HashSet::new()).map(Some)
    };
    compare().map_err(|source| Error::File { path: shared.path.clone(), source })
}

fn pages_finding(conn: &Connection, compared: Option<u32>, differing: &[u32]) -> Finding {
    let Some(compared) = compared else {
        let found = "the pages were not compared: there are no checksums of them";
        return Finding::warn(PART, found, "Run loci ctl restart: they are then computed");
    };
    if differing.is_empty() {
        return Finding::ok(PART, format!("{compared} pages match their checksums"));
    }
    let pages = Pages::of(conn, differing);
    let free = match pages.free {
        0 => String::new(),
        1 => "1 free page differs from its checksum, which harms nothing".to_owned(),
        count => format!("{count} free pages differ from their checksums, which harms nothing"),
    };
    if pages.live.is_empty() {
        return Finding::ok(PART, format!("{compared} pages compared; {free}"));
    }
    let count = pages.live.len();
    let named: Vec<String> = pages
        .live
        .iter()
        .take(MAX_NAMED)
        .map(|(page, owner)| format!("{page} ({owner})"))
        .collect();
    let subject = if count == 1 {
        "1 page differs from its checksum"
    } else {
        &format!("{count} pages differ from their checksums")
    };
    let more = if count > MAX_NAMED { ", …" } else { "" };
    let free = if free.is_empty() { free } else { format!("; {free}") };
    Finding::fail(PART, format!("{subject}: {}{more}{free}", named.join(", ")), PAGES_HINT)
}

/// The pages that differ from their checksums.
struct Pages {
    /// Pages in use, with what they hold.
    live: BTreeMap<u32, String>,
    /// The number of free pages.
    free: usize,
}

impl Pages {
    fn of(conn: &Connection, differing: &[u32]) -> Self {
        let unknown = |page: &u32| (*page, "of unknown use".to_owned());
        let live = match integrity::owners(conn, differing) {
            Ok(owners) => owners.into_iter().map(|(page, name)| (page, holds(&name))).collect(),
            // Without the structure every page may be in use.
            Err(_) => differing.iter().map(unknown).collect(),
        };
        let mut pages = Self { live, free: 0 };
        let maps = integrity::page_maps(conn).unwrap_or_default();
        for page in differing {
            if maps.is_some_and(|every| *page >= 2 && (page - 2).is_multiple_of(every)) {
                pages.live.insert(*page, "map of pages".to_owned());
            }
        }
        pages.free = differing.len() - pages.live.len();
        pages
    }
}

/// Returns what a table or index holds.
fn holds(name: &str) -> String {
    let is_of = |table: &str| name.starts_with(table);
    match name {
        "sqlite_schema" | "sqlite_master" => "schema".to_owned(),
        _ if is_of("memories_fts") => format!("keyword index, {name}"),
        _ if is_of("memories_vec") || is_of("memory_pieces") || is_of("word_codes") => {
            format!("vectors, {name}")
        }
        _ if is_of("sqlite_autoindex") || is_of("idx_") => format!("index {name}"),
        _ => name.to_owned(),
    }
}
