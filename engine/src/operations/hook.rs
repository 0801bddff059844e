//! `hook`: the memories that belong to a prompt.
//!
//! Gated memories are never delivered. Not here: the brief (`brief`), what the session has been given (`deliveries`), the events (the
//! daemon).

use crate::bridge::{LoadedMemory, origin};
use crate::db::memories;
use crate::duplicate::content_hash::hash;
use crate::duplicate::is_same_wording;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::hooks::selection::{Found, Matches};
use crate::hooks::text;
use crate::hooks::text::{About, QUARTERS};
use crate::model::declared;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::operations::named_project::existing_group;
use crate::operations::recall::{PreparedRecall, RecallContext};
use crate::search::project_preference::ProjectPreference;
use loci_proto::gate::ModelText;
use loci_proto::memory::Unasked;

/// Maximum size of one memory in the text for a prompt, in quarters of a token: 800 Latin characters.
const PROMPT_LINE: usize = 200 * QUARTERS;
impl Reader {
    /// Searches for a prompt. Nothing is counted as usage. `own` is what the client loads of its own memory.
    ///
    /// # Errors
    /// As [`Reader::recall`].
    pub fn hook_matches(
        &self,
        prepared: &PreparedRecall,
        context: RecallContext<'_>,
        own: Option<&LoadedMemory>,
    ) -> Result<Matches> {
        let is_unjudged = context.encoding.is_none();
        let isolation = self.shared.isolation();
        let named = prepared.request.group.as_ref();
        let group = existing_group(&self.conn, &isolation, context.viewer, named)?;
        let query = prepared.request.query.as_deref().unwrap_or_default();
        let projects = ProjectPreference::new(query, &group, &self.projects(context)?);
        let answer = self.recall(prepared, context)?;
        let mut found = Vec::with_capacity(answer.shown.len());
        let mut shown = Vec::with_capacity(answer.shown.len());
        for (seq, result) in answer.shown.iter().zip(answer.reply.results) {
            let Some(memory) = memories::by_seq(&self.conn, *seq)? else { continue };
            // The newer version is a result too.
            if result.older_version_of.is_some() || memory.status != Status::Active {
                continue;
            }
            let project = result.group.as_deref().map(text::project);
            let notes = project.into_iter().chain(text::folded(result.also.len()));
            let outdated = result.outdated.as_deref().map(ModelText::unasked);
            let notes = notes.chain(outdated).collect();
            let line = text::line(&memory, PROMPT_LINE, About::Source, notes);
            found.push(Found {
                seq: *seq,
                id: result.id,
                fit: result.score.unwrap_or_default(),
                is_untrusted: memory.provenance.is_gated(),
                has_left_file: origin::has_left_file(&memory),
                is_never_given: declared::unasked(&memory.metadata) == Some(Unasked::Never),
                is_of_other_project: memory.group.as_ref() != Some(&group.id)
                    && !declared::is_about_person(&memory, &isolation)
                    && !memory.group.as_deref().is_some_and(|of| projects.names(of)),
                is_in_own_file: own.is_some_and(|own| own.has(&memory)),
                version: hash(&memory.content),
                updated_at: memory.updated_at,
                line,
            });
            shown.push(memory);
        }
        raise_to_equal(&mut found, &shown);
        Ok(Matches { is_unjudged, found })
    }
}

/// Raises the likelihood of what may be given to that of the same words that may not: trust, the file, and the project do not change
/// whether a text answers.
fn raise_to_equal(found: &mut [Found], memories: &[Memory]) {
    let is_kept = |one: &Found| one.is_untrusted || one.has_left_file || one.is_of_other_project;
    for at in 0..found.len() {
        let kept = found.iter().zip(memories).filter(|(one, _)| is_kept(one));
        let words = origin::bare(&memories[at]);
        let same = kept.filter(|(_, memory)| is_same_wording(origin::bare(memory), words));
        let fit = same.map(|(one, _)| one.fit).fold(found[at].fit, f64::max);
        found[at].fit = if is_kept(&found[at]) { found[at].fit } else { fit };
    }
}
