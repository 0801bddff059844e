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
use loci_proto::foreign::{ForeignMemory, ForeignProject, Format, ImportSource};
use loci_proto::group::Group;
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::bridge::BridgeClient;
use loci_proto::requests::import::{ForeignImport, ImportReply, ImportRequest};
pub use projects::ForeignContext;
use projects::Projects;
use reconcile::{Plan, origin};
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
    let mode =
        ImportMode { source, skip_bad: true, own_texts: is_person, preview: false, is_part: false };
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

/// Imports statements of the memory files of `client` as a part of another act. Their projects are known, and no person is asked. Returns
/// what each is stored as, and whether it is new: a memory of an earlier import, or one that has its text, stands for it otherwise.
///
/// # Errors
/// `Database`.
pub(crate) fn import_statements(
    change: &mut Change<'_>,
    client: BridgeClient,
    statements: Vec<(Group, ForeignMemory)>,
) -> Result<Vec<(MemoryId, bool)>> {
    let is_codex = client == BridgeClient::Codex;
    let format = if is_codex { Format::CodexMemory } else { Format::ClaudeMemory };
    let from = ImportSource::Memories(format);
    let mut body = Body::default();
    let context = ForeignContext { needs_file: false, hinted: String::new() };
    let mut projects = Projects::new(change, None, &body, &context)?;
    let mut origins = Vec::with_capacity(statements.len());
    for (group, memory) in statements {
        origins.extend(origin(from, &memory));
        body.files.push(memory.path.clone());
        let project = Some(ForeignProject::Named(group.id.clone()));
        projects.add_known(group)?;
        body.memories.push(Some(ForeignMemory { project, ..memory }));
    }
    let stored = Stored::of_origins(change.conn, &origins)?;
    let mut plan = Plan::new(from, body, &stored, &mut projects, false)?;
    plan.client = Some(client.as_str().to_owned());
    let (bytes, _) = lines::of_plan(&plan, &projects, change.call.now)?;
    let source = Source::File;
    let mode =
        ImportMode { source, skip_bad: true, own_texts: false, preview: false, is_part: true };
    change.import_lines(mode, &mut Cursor::new(bytes))?;
    let taken = plan.planned.into_iter().flatten();
    Ok(taken.map(|one| (one.id, matches!(one.change, reconcile::Change::New))).collect())
}
