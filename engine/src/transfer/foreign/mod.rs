//! Imports what was read of other programs: decides what becomes of each memory, and applies it as the lines of an export.
//!
//! `source` reads the body, `projects` finds the projects in this store, `stored` looks up what is here, `reconcile` decides, `lines`
//! writes. A preview does the same and takes it back. Not here: reading the programs (`loci_import`).

mod lines;
mod projects;
mod reconcile;
mod source;
mod stored;

use crate::error::Result;
use crate::handles::writer::Writer;
use crate::transaction::change::{CallContext, Change};
use crate::transfer::import::{ImportMode, Source as LineSource};
use loci_proto::error::Failure;
use loci_proto::memory::Origin;
use loci_proto::requests::import::{ForeignImport, ImportReply, ImportRequest};
use projects::Projects;
use reconcile::Plan;
use source::Source;
use std::io::{BufRead, Cursor};
use stored::Stored;

impl Writer {
    /// Imports what was read of another program. Projects without a `.loci.toml` are off if `needs_file`.
    ///
    /// # Errors
    /// `invalid` at `group` for a name that no project may have, or that several have; `Database`. Nothing is imported then.
    pub fn import_foreign(
        &mut self,
        call: &CallContext,
        request: &ImportRequest,
        needs_file: bool,
        file: &mut impl BufRead,
    ) -> Result<ImportReply> {
        let foreign = request.foreign.as_ref();
        let foreign = foreign.ok_or_else(|| Failure::invalid("foreign", "is missing"))?;
        let source = Source::read(file)?;
        self.import_as(call, request.preview, |change| {
            import(change, request, foreign, (source, needs_file))
        })
    }
}

fn import(
    change: &mut Change<'_>,
    request: &ImportRequest,
    foreign: &ForeignImport,
    (mut source, needs_file): (Source, bool),
) -> Result<ImportReply> {
    let is_person = change.call.actor.origin == Origin::Person;
    if !is_person || request.own_texts {
        // An agent cannot say that a text is the person's.
        source.memories_mut().for_each(|memory| memory.by_person = is_person);
    }
    let stored = Stored::load(change.conn)?;
    let mut projects = Projects::new(change, foreign.group.as_ref(), &source, needs_file)?;
    let is_asked = foreign.asked && is_person;
    let plan = Plan::new(foreign.from, source, &stored, &mut projects, is_asked)?;
    let (bytes, line_numbers) = lines::of_plan(&plan, &projects, change.call.now)?;
    let source = LineSource::File;
    let mode = ImportMode { source, skip_bad: true, own_texts: is_person, preview: false };
    let mut reply = change.import_lines(mode, &mut Cursor::new(bytes))?;
    for skipped in &mut reply.skipped_lines {
        if let Some(place) = line_numbers.get(&skipped.line).and_then(|at| plan.place(*at)) {
            skipped.reason = format!("{place}: {}", skipped.reason);
        }
    }
    reply.unchanged += plan.unchanged();
    reply.preview = request.preview.then(|| plan.preview(&projects));
    Ok(reply)
}
