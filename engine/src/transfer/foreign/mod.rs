//! Imports what was read of other programs: decides what becomes of each memory, and applies it as the lines of an export.
//!
//! `body` has what was read, `projects` finds the projects in this store, `stored` looks up what is here, `matching` finds it again,
//! `reconcile` decides, `lines` writes. A preview does the same and takes it back. Not here: reading the programs (`loci_import`).

mod body;
mod lines;
mod matching;
mod projects;
mod reconcile;
mod stored;

use crate::error::Result;
use crate::handles::writer::Writer;
use crate::transaction::change::{CallContext, Change};
use crate::transfer::import::{ImportMode, Source};
use body::Body;
use loci_proto::error::Failure;
use loci_proto::memory::Origin;
use loci_proto::requests::import::{ForeignImport, ImportReply, ImportRequest};
pub use projects::ForeignContext;
use projects::Projects;
use reconcile::Plan;
use std::io::{BufRead, Cursor};
use stored::Stored;

impl Writer {
    /// Imports what was read of another program.
    ///
    /// # Errors
    /// `invalid` at `group` for a name that no project may have, or that several have; `Database`. Nothing is imported then.
    pub fn import_foreign(
        &mut self,
        call: &CallContext,
        request: &ImportRequest,
        context: &ForeignContext,
        file: &mut impl BufRead,
    ) -> Result<ImportReply> {
        let foreign = request.foreign.as_ref();
        let foreign = foreign.ok_or_else(|| Failure::invalid("foreign", "is missing"))?;
        let body = Body::read(file)?;
        self.import_as(call, request.preview, |change| {
            import(change, request, foreign, (body, context))
        })
    }
}

fn import(
    change: &mut Change<'_>,
    request: &ImportRequest,
    foreign: &ForeignImport,
    (mut body, context): (Body, &ForeignContext),
) -> Result<ImportReply> {
    let is_person = change.call.actor.origin == Origin::Person;
    let is_asked = foreign.asked && is_person;
    if !is_person || request.own_texts {
        // An agent cannot say that a text is the person's.
        body.memories_mut().for_each(|memory| memory.by_person = is_person);
    }
    let stored = Stored::load(change.conn)?;
    let mut projects = Projects::new(change, foreign.group.as_ref(), &body, context)?;
    let mut plan = Plan::new(foreign.from, body, &stored, &mut projects, is_asked)?;
    let (bytes, line_numbers) = lines::of_plan(&plan, &projects, change.call.now)?;
    let source = Source::File;
    let mode = ImportMode { source, skip_bad: true, own_texts: is_person, preview: false };
    let mut reply = change.import_lines(mode, &mut Cursor::new(bytes))?;
    for skipped in &mut reply.skipped_lines {
        // The lines are those of this module: the person knows the place in the source.
        if let Some(at) = line_numbers.get(&skipped.line).copied() {
            plan.leave_out(at, &skipped.reason);
            skipped.reason = format!("{}: {}", plan.place(at).unwrap_or_default(), skipped.reason);
        }
        skipped.line = 0;
    }
    reply.unchanged += plan.unchanged();
    reply.preview = if request.preview { Some(plan.preview(&mut projects)?) } else { None };
    Ok(reply)
}
