//! `import`: a file is looked through, then brought in, in one transaction and as one act that can be undone.
//!
//! Lines that name a memory that was removed for good are left out and counted; a line that cannot be imported refuses the whole file,
//! or is left out when that was asked for.

use crate::db::{connection, import_rows};
use crate::error::{Error, Result};
use crate::handles::writer::Writer;
use crate::maintain;
use crate::model::encoding::{Embedding, SignCode};
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use crate::transfer::check;
use crate::transfer::check::{Plan, at_line};
use crate::transfer::lines::{Lines, unread};
use crate::transfer::record::{LogLine, Record};
use loci_proto::error::Failure;
use loci_proto::memory::{MemoryId, MemoryType};
use loci_proto::requests::import::{ImportReply, ImportRequest, MAX_NAMED, SkippedLine};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufReader, Read, Seek};

impl Writer {
    /// Brings a file of lines into the store.
    ///
    /// # Errors
    /// `invalid`, naming the line; nothing is imported then. `Database`.
    pub fn import(
        &mut self,
        call: &CallContext,
        request: &ImportRequest,
        file: &mut (impl Read + Seek),
    ) -> Result<ImportReply> {
        let work = |change: &mut Change<'_>| {
            connection::defer_foreign_keys(change.conn)?;
            let plan = check::look(change.conn, buffered(&mut *file), request.skip_bad)?;
            file.rewind().map_err(unread)?;
            let _by_hand = import_rows::BulkWrite::begin(change.conn)?;
            let before = import_rows::existing(change.conn)?;
            let mut work = Work::new(change, plan, before, request.skip_bad)?;
            work.every_line(Lines::new(buffered(file)))?;
            work.end()
        };
        connection::enlarge_page_cache(&self.conn)?;
        let done = self.run_idempotent(call, work);
        connection::restore_page_cache(&self.conn)?;
        done
    }
}

/// Read in large pieces: a line with a vector has some kilobytes.
fn buffered<R: Read>(file: R) -> BufReader<R> {
    BufReader::with_capacity(256 * 1024, file)
}

/// One import in the making.
pub(crate) struct Work<'a, 'b> {
    pub change: &'a mut Change<'b>,
    pub insert: import_rows::RowWriter<'b>,
    pub plan: Plan,
    pub reply: ImportReply,
    /// What the store held before: where that is nothing, no line is looked up in it.
    pub before: import_rows::ExistingRows,
    /// Memories that were added or changed.
    pub touched: Vec<i64>,
    /// Those among them that may quote others.
    pub quoting: Vec<i64>,
    /// How often a line of the log has come, by its hash.
    pub logged: HashMap<[u8; 16], u32>,
    /// Where the memories of the file are, as far as it has come, by the numbers of their ids.
    pub met: HashMap<u128, (i64, MemoryType)>,
    /// The first that was added: rows from here on have nothing beside them yet.
    pub first_added: Option<i64>,
    /// What the ids of groups mean here.
    pub groups: HashMap<String, String>,
    /// Those among them whose place another took.
    pub replaced: Vec<i64>,
    /// Memories whose text here is another than the file's: its vectors are not theirs.
    pub reworded: HashSet<i64>,
    /// Memories that were given their vectors by this file.
    pub encodings: HashSet<i64>,
    /// What the model has read in the memory whose lines come at the moment.
    pub arriving: Option<Arriving>,
    pub flawed: usize,
    pub spared: usize,
    refused: HashSet<MemoryId>,
    bad: BTreeMap<usize, Failure>,
    skip_bad: bool,
}

/// What the model has read in one memory, line by line.
pub(crate) struct Arriving {
    pub seq: i64,
    /// None for one that is no embedding, or not in its turn.
    pub pieces: Vec<Option<Embedding>>,
    pub words: Option<Vec<SignCode>>,
}

impl<'a, 'b> Work<'a, 'b> {
    fn new(
        change: &'a mut Change<'b>,
        mut plan: Plan,
        before: import_rows::ExistingRows,
        skip_bad: bool,
    ) -> Result<Self> {
        let bad = std::mem::take(&mut plan.bad);
        Ok(Self {
            insert: import_rows::RowWriter::new(change.conn)?,
            change,
            plan,
            skip_bad,
            bad,
            reply: ImportReply::default(),
            before,
            touched: Vec::new(),
            quoting: Vec::new(),
            logged: HashMap::new(),
            met: HashMap::new(),
            first_added: None,
            groups: HashMap::new(),
            replaced: Vec::new(),
            reworded: HashSet::new(),
            encodings: HashSet::new(),
            arriving: None,
            flawed: 0,
            spared: 0,
            refused: HashSet::new(),
        })
    }

    fn every_line(&mut self, mut lines: Lines<impl std::io::BufRead>) -> Result<()> {
        // The header was read by the first look.
        lines.next()?;
        while let Some((number, line)) = lines.next()? {
            if self.bad.contains_key(&number) {
                continue;
            }
            let record = line.and_then(check::parse).map_err(Error::from);
            match record.and_then(|record| self.record(record)) {
                Ok(()) => {}
                Err(Error::Refused(failure)) if self.skip_bad => {
                    drop(self.bad.insert(number, failure))
                }
                Err(Error::Refused(failure)) => return Err(at_line(number, failure).into()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn record(&mut self, record: Record) -> Result<()> {
        if !matches!(record, Record::Vector(_)) {
            self.keep_pieces()?;
        }
        match record {
            Record::Group(line) => self.group(&line),
            Record::Memory(line) => self.memory(*line),
            Record::Variant(line) => self.variant(&line),
            Record::Source(line) => self.source(&line),
            Record::Vector(line) => self.vector(&line),
            Record::Relation(line) => self.relation(line),
            Record::Log(line) => self.log(line),
            Record::Tombstone(line) => self.tombstone(&line),
            Record::Cluster(line) => {
                self.reply.other += usize::from(import_rows::add_cluster(self.change.conn, &line)?);
                Ok(())
            }
            Record::End(_) => Ok(()),
        }
    }

    /// True for a row that this import has made.
    pub fn is_added(&self, seq: i64) -> bool {
        self.first_added.is_some_and(|first| seq >= first)
    }

    /// Leaves a memory out that was removed for good.
    pub fn refuse(&mut self, id: MemoryId) {
        self.reply.refused += 1;
        self.refused.insert(id);
    }

    fn end(mut self) -> Result<ImportReply> {
        self.keep_pieces()?;
        self.no_circles()?;
        // Only now are all there whose names the texts may hold.
        maintain::remove_invalid_quotes(self.change, &self.quoting)?;
        mentions::renew_all(self.change, &self.touched, |seq| self.is_added(seq))?;
        let mut reply = self.reply;
        let mut refused: Vec<MemoryId> = self.refused.into_iter().collect();
        refused.sort();
        refused.truncate(MAX_NAMED);
        reply.refused_ids = refused;
        reply.skipped = self.bad.len();
        let told = self
            .bad
            .into_iter()
            .take(MAX_NAMED)
            .map(|(line, failure)| SkippedLine { line, reason: reason(&failure) });
        reply.skipped_lines = told.collect();
        if self.flawed > 0 {
            reply.notes.push(format!(
                "{} memories came with vectors that this loci cannot use; they are made anew",
                self.flawed
            ));
        }
        if self.spared > 0 {
            reply.notes.push(format!(
                "{} memories were removed for good where the file was made, and are kept here; loci forget --hard removes them",
                self.spared
            ));
        }
        let own = self.change.shared.settings().model.clone();
        if let Some(model) = self.plan.model.filter(|model| *model != own) {
            reply.notes.push(format!("the vectors of the file are of the model {model}; they were left out and are made anew with {own}"));
        }
        reply.act = self.change.commit_to_journal("import")?;
        Ok(reply)
    }

    /// Refuses the file when its replacements and those of the store make a circle together.
    fn no_circles(&self) -> Result<()> {
        let mut settled: HashSet<i64> = HashSet::new();
        for start in &self.replaced {
            let (mut path, mut at) = (HashSet::new(), Some(*start));
            while let Some(seq) = at.filter(|seq| !settled.contains(seq)) {
                if !path.insert(seq) {
                    let message = "the replacements of the file and those of the store make a circle together";
                    return Err(Failure::new(loci_proto::error::Code::Conflict, message).into());
                }
                at = import_rows::replacement(self.change.conn, seq)?;
            }
            settled.extend(path);
        }
        Ok(())
    }

    /// How often this line of the log has come, this time among them.
    pub fn often(&mut self, line: &LogLine) -> u32 {
        let text = serde_json::to_vec(line).unwrap_or_default();
        let mut hash = [0; 16];
        hash.copy_from_slice(&blake3::hash(&text).as_bytes()[..16]);
        let often = self.logged.entry(hash).or_default();
        *often += 1;
        *often
    }
}

fn reason(failure: &Failure) -> String {
    match &failure.field {
        Some(field) => format!("{field} {}", failure.message),
        None => failure.message.clone(),
    }
}
