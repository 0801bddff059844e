//! `import`: checks a file, then applies it, in one transaction and as one act that can be undone.
//!
//! Lines that name a hard-deleted memory are refused and counted. A line that cannot be imported
//! fails the whole import, or is skipped if the request says so. Not here: the effect of each kind
//! of line (`apply_line`).

use crate::db::{connection, import_rows};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::writer::Writer;
use crate::maintain;
use crate::model::encoding::{Embedding, SignCode};
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use crate::transfer::check::{CheckedFile, at_line, check_file};
use crate::transfer::line_reader::{BoundedLineReader, NumberedLine, read_error};
use crate::transfer::parse::parse;
use crate::transfer::previewed::{left_out, of_previewed, previewed};
use crate::transfer::record::{LogLine, MemoryLine, Record};
use loci_proto::counted::counted;
use loci_proto::error::Failure;
use loci_proto::memory::{MemoryId, MemoryType, Origin};
use loci_proto::requests::import::{
    ImportReply, ImportRequest, MAX_NAMED, PreviewedMemory, SkippedLine,
};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufReader, Read, Seek};

/// Where the lines of a file are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// A file that a person imports: its provenance is a claim.
    File,
    /// The damaged files of this store, whose rows are newer: their provenance is kept.
    OwnStore,
}

/// How a file is imported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImportMode {
    /// Where the lines are from.
    pub source: Source,
    /// Whether lines that cannot be imported are left out.
    pub skip_bad: bool,
    /// Whether claims of the trust of a person are believed.
    pub own_texts: bool,
    /// Whether the reply says what becomes of each memory.
    pub preview: bool,
    /// Whether it is a part of another act.
    pub is_part: bool,
}

impl Writer {
    /// Imports a file of lines.
    ///
    /// # Errors
    /// `invalid` with the number of the line, or `Database`. Nothing is imported then.
    pub fn import(
        &mut self,
        call: &CallContext,
        request: &ImportRequest,
        file: &mut (impl Read + Seek),
    ) -> Result<ImportReply> {
        let mode = ImportMode {
            source: Source::File,
            skip_bad: request.skip_bad,
            own_texts: request.own_texts && call.actor.origin == Origin::Person,
            preview: request.preview,
            is_part: false,
        };
        self.import_as(call, request.preview, |change| change.import_lines(mode, file))
    }

    /// Imports the lines that were read from the damaged files of this store. Lines that cannot be
    /// imported are skipped.
    ///
    /// # Errors
    /// `Database`. Nothing is imported then.
    pub(crate) fn import_own(
        &mut self,
        call: &CallContext,
        file: &mut (impl Read + Seek),
    ) -> Result<ImportReply> {
        let source = Source::OwnStore;
        let mode =
            ImportMode { source, skip_bad: true, own_texts: false, preview: false, is_part: false };
        self.import_as(call, false, |change| change.import_lines(mode, file))
    }

    /// Runs an import in one transaction. A preview is the import, taken back.
    pub(super) fn import_as(
        &mut self,
        call: &CallContext,
        is_preview: bool,
        work: impl FnOnce(&mut Change<'_>) -> Result<ImportReply>,
    ) -> Result<ImportReply> {
        connection::enlarge_page_cache(&self.conn)?;
        let outcome = self.run_idempotent(call, |change| {
            connection::defer_foreign_keys(change.conn)?;
            if !is_preview {
                return work(change);
            }
            connection::begin_trial(change.conn)?;
            let outcome = work(change);
            connection::end_trial(change.conn)?;
            change.discard();
            outcome.map(|reply| ImportReply { act: None, ..reply })
        });
        connection::restore_page_cache(&self.conn)?;
        let mut reply = outcome?;
        reply.skipped_lines.truncate(MAX_NAMED);
        Ok(reply)
    }
}

impl Change<'_> {
    /// Imports lines. The reply lists every line that was skipped.
    ///
    /// # Errors
    /// `invalid` with the number of the line, or `Database`.
    pub(super) fn import_lines(
        &mut self,
        mode: ImportMode,
        file: &mut (impl Read + Seek),
    ) -> Result<ImportReply> {
        let checked = check_file(self.conn, buffered(&mut *file), mode.skip_bad)?;
        file.rewind().map_err(read_error)?;
        let _bulk_write = import_rows::BulkWrite::begin(self.conn)?;
        let mut importer = Importer::new(self, checked, mode)?;
        importer.apply_lines(BoundedLineReader::new(buffered(file)))?;
        importer.finish()
    }
}

/// Adds a large buffer: a line with a vector has some kilobytes.
fn buffered<R: Read>(file: R) -> BufReader<R> {
    BufReader::with_capacity(256 * 1024, file)
}

/// An import in progress.
pub(crate) struct Importer<'a, 'b> {
    pub change: &'a mut Change<'b>,
    pub rows: import_rows::RowWriter<'b>,
    pub file: CheckedFile,
    pub reply: ImportReply,
    /// The tables that had rows before the import. The others need no look-up.
    pub existing: import_rows::ExistingRows,
    /// Sequence numbers of the memories that were added or changed.
    pub touched: Vec<i64>,
    /// Sequence numbers of the added or changed memories that may quote other memories.
    pub may_quote: Vec<i64>,
    /// How many times each log line has occurred in the file, by its hash.
    pub log_line_counts: HashMap<[u8; 16], u32>,
    /// Sequence numbers and types of the memories that this file has added so far, by id.
    pub memories_by_id: HashMap<u128, (i64, MemoryType)>,
    /// Sequence number of the first memory that this import added.
    pub first_added: Option<i64>,
    /// Ids of groups in this store, by their ids in the file.
    pub group_ids: HashMap<String, String>,
    /// Ids of the groups that this import has added.
    pub added_groups: Vec<String>,
    /// Sequence numbers of the added or changed memories that have a replacement.
    pub superseded: Vec<i64>,
    /// Memories whose content differs from that in the file, so that the vectors of the file do not
    /// apply.
    pub content_differs: HashSet<i64>,
    /// Memories whose vectors this import has stored.
    pub encoded: HashSet<i64>,
    /// The encoding of the memory whose vector lines are being read.
    pub pending: Option<PendingEncoding>,
    /// Number of memories whose vectors cannot be used.
    pub unusable_encodings: usize,
    /// Number of memories with a tombstone in the file that this store keeps.
    pub kept_despite_tombstone: usize,
    /// Number of memories that differ in the file and are kept, because a person stored or confirmed
    /// them.
    pub kept_for_trust: usize,
    /// Number of aliases of projects that were left out, because the file is not the person's own.
    pub aliases_left_out: usize,
    /// Added memories that are seen in their own projects only until a person confirms them.
    pub added_unconfirmed: usize,
    /// How it is imported.
    pub mode: ImportMode,
    /// What becomes of each memory, if that is asked for.
    pub previewed: Vec<PreviewedMemory>,
    refused_ids: HashSet<MemoryId>,
    bad_lines: BTreeMap<usize, Failure>,
}

/// The encoding of one memory, collected line by line.
pub(crate) struct PendingEncoding {
    pub seq: i64,
    /// The vectors of the chunks; `None` for one that is not an embedding or out of order.
    pub chunks: Vec<Option<Embedding>>,
    pub codes: Option<Vec<SignCode>>,
}

impl<'a, 'b> Importer<'a, 'b> {
    fn new(change: &'a mut Change<'b>, mut file: CheckedFile, mode: ImportMode) -> Result<Self> {
        let bad_lines = std::mem::take(&mut file.bad_lines);
        Ok(Self {
            existing: import_rows::existing(change.conn)?,
            rows: import_rows::RowWriter::new(change.conn)?,
            change,
            file,
            mode,
            bad_lines,
            reply: ImportReply::default(),
            touched: Vec::new(),
            may_quote: Vec::new(),
            log_line_counts: HashMap::new(),
            memories_by_id: HashMap::new(),
            first_added: None,
            group_ids: HashMap::new(),
            added_groups: Vec::new(),
            superseded: Vec::new(),
            content_differs: HashSet::new(),
            encoded: HashSet::new(),
            pending: None,
            unusable_encodings: 0,
            kept_despite_tombstone: 0,
            kept_for_trust: 0,
            aliases_left_out: 0,
            added_unconfirmed: 0,
            previewed: Vec::new(),
            refused_ids: HashSet::new(),
        })
    }

    fn apply_lines(&mut self, mut lines: BoundedLineReader<impl std::io::BufRead>) -> Result<()> {
        // The header was checked by the first pass.
        lines.next()?;
        while let Some(NumberedLine { number, bytes }) = lines.next()? {
            if self.bad_lines.contains_key(&number) {
                continue;
            }
            failpoint!("before a line of an import");
            let parsed = bytes.and_then(parse).map_err(Error::from);
            match parsed.and_then(|line| self.apply(line)) {
                Ok(()) => {}
                Err(Error::Refused(failure)) if self.mode.skip_bad => {
                    drop(self.bad_lines.insert(number, failure));
                }
                Err(Error::Refused(failure)) => return Err(at_line(number, failure).into()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Applies one line.
    fn apply(&mut self, line: Record) -> Result<()> {
        if !matches!(line, Record::Vector(_)) {
            self.store_pending()?;
        }
        match line {
            Record::Group(line) => self.apply_group(&line),
            Record::Memory(line) => self.apply_memory(*line),
            Record::Variant(line) => self.apply_variant(&line),
            Record::Source(line) => self.apply_source(&line),
            Record::Vector(line) => self.apply_vector(&line),
            Record::Relation(line) => self.apply_relation(line),
            Record::Log(line) => self.apply_log(line),
            Record::Tombstone(line) => self.apply_tombstone(&line),
            Record::Cluster(line) => {
                self.reply.other += usize::from(import_rows::add_cluster(self.change.conn, &line)?);
                Ok(())
            }
            Record::End(_) => Ok(()),
        }
    }

    /// Returns true if this import added the memory.
    pub fn is_added(&self, seq: i64) -> bool {
        self.first_added.is_some_and(|first| seq >= first)
    }

    /// Notes what becomes of a memory: as it was here, and as it is now.
    pub(super) fn note(
        &mut self,
        line: &MemoryLine,
        before: Option<&MemoryLine>,
        after: Option<&MemoryLine>,
    ) {
        if self.mode.preview {
            self.previewed.push(previewed(line, before, after));
        }
    }

    /// Notes that a memory is left out, or stays as it is here.
    pub(super) fn note_left_out(&mut self, line: &MemoryLine, reason: &str) {
        if self.mode.preview {
            self.previewed.push(left_out(line, reason));
        }
    }

    /// Refuses a memory that was hard-deleted.
    pub fn refuse(&mut self, id: MemoryId) {
        self.reply.refused += 1;
        self.refused_ids.insert(id);
    }

    /// Completes the import and returns the reply.
    fn finish(mut self) -> Result<ImportReply> {
        self.store_pending()?;
        self.check_for_cycles()?;
        self.remove_groups_of_nothing()?;
        // The texts may name any entity of the file, so this follows the last line.
        maintain::remove_invalid_quotes(self.change, &self.may_quote)?;
        mentions::renew_all(self.change, &self.touched, |seq| self.is_added(seq))?;
        let is_unusable = self.vector_set().is_none();
        let other_model = self.file.model.filter(|_| is_unusable);
        let mut reply = self.reply;
        if self.mode.preview {
            reply.preview = Some(of_previewed(self.change.conn, self.previewed)?);
        }
        let mut refused: Vec<MemoryId> = self.refused_ids.into_iter().collect();
        refused.sort();
        refused.truncate(MAX_NAMED);
        reply.refused_ids = refused;
        reply.skipped = self.bad_lines.len();
        let skipped = self
            .bad_lines
            .into_iter()
            .map(|(line, failure)| SkippedLine { line, reason: reason(&failure) });
        reply.skipped_lines = skipped.collect();
        if self.unusable_encodings > 0 {
            reply.notes.push(format!(
                "the vectors of {} cannot be used and will be computed again",
                counted(self.unusable_encodings, "memory", "memories")
            ));
        }
        if self.kept_despite_tombstone > 0 {
            reply.notes.push(format!(
                "{} hard-deleted in the store of the file, and kept here; to delete: loci forget --hard",
                counted(self.kept_despite_tombstone, "memory was", "memories were")
            ));
        }
        if self.kept_for_trust > 0 {
            reply.notes.push(format!(
                "{} in the file and kept as here, because a person stored, confirmed or decided about {}{}",
                counted(self.kept_for_trust, "memory differs", "memories differ"),
                if self.kept_for_trust == 1 { "it" } else { "them" },
                if self.mode.own_texts { "" } else { "; --mine takes the file" }
            ));
        }
        if self.aliases_left_out > 0 {
            reply.notes.push(format!(
                "{} other names and folders of projects in the file were left out; a file of your own brings them with --mine",
                self.aliases_left_out
            ));
        }
        if reply.flagged > 0 {
            reply.notes.push(format!(
                "{} suspicious and held back: loci list --held",
                counted(reply.flagged, "memory looks", "memories look")
            ));
        }
        if let Some(model) = other_model {
            let own_model = &self.change.shared.sets().active.model;
            reply.notes.push(format!("the vectors of the file are from the model {model}; they were skipped and will be computed with {own_model}"));
        }
        if self.added_unconfirmed > 0 {
            reply.notes.push(format!(
                "{} in no brief and no hook until loci confirm --imported",
                counted(self.added_unconfirmed, "imported memory is", "imported memories are")
            ));
        }
        failpoint!("before the journal entry of an import");
        if !self.mode.is_part {
            reply.act = self.change.commit_to_journal("import")?;
        }
        Ok(reply)
    }

    /// Removes the added groups if the file brought nothing else: all of it may have been refused.
    fn remove_groups_of_nothing(&mut self) -> Result<()> {
        let ImportReply { added, changed, relations, log_lines, other, .. } = self.reply;
        if added + changed + relations + log_lines + other == 0 {
            for group in std::mem::take(&mut self.added_groups) {
                import_rows::remove_group(self.change.conn, &group)?;
                self.reply.groups -= 1;
            }
        }
        Ok(())
    }

    /// Fails if the replacements of the file and of the store together form a cycle.
    fn check_for_cycles(&self) -> Result<()> {
        let mut visited: HashSet<i64> = HashSet::new();
        for start in &self.superseded {
            let (mut path, mut next) = (HashSet::new(), Some(*start));
            while let Some(seq) = next.filter(|seq| !visited.contains(seq)) {
                if !path.insert(seq) {
                    let message =
                        "the replacements of the file and of the store together form a cycle";
                    return Err(Failure::new(loci_proto::error::Code::Conflict, message).into());
                }
                next = import_rows::replacement(self.change.conn, seq)?;
            }
            visited.extend(path);
        }
        Ok(())
    }

    /// Counts one more occurrence of a log line in the file; returns the count.
    pub fn count_log_line(&mut self, line: &LogLine) -> u32 {
        let text = serde_json::to_vec(line).unwrap_or_default();
        let mut hash = [0; 16];
        hash.copy_from_slice(&blake3::hash(&text).as_bytes()[..16]);
        let count = self.log_line_counts.entry(hash).or_default();
        *count += 1;
        *count
    }
}

/// Returns the reason why a line was skipped.
fn reason(failure: &Failure) -> String {
    match &failure.field {
        Some(field) => format!("{field} {}", failure.message),
        None => failure.message.clone(),
    }
}
