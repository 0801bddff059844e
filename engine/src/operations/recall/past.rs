//! Recall of the store as it was known at an earlier time.
//!
//! The index has the present. Memories that have not changed since are searched in it, so that their
//! order is that of any recall. Those that have changed, and those that were forgotten since, are put
//! into a small index with the best of the others, which says between which of them they belong. Not
//! here: the earlier rows (`db::past`), encoding texts (the daemon).

use crate::Reader;
use crate::db::{memories, past, vectors};
use crate::error::Result;
use crate::index::{Index, Statuses};
use crate::model::actor::Viewer;
use crate::model::document::Document;
use crate::model::entry::Entry;
use crate::model::past::{ChangedMemory, EncodedPast, Past};
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::named_project::existing_group;
use crate::operations::recall::fallback;
use crate::operations::recall::page::FoundMemory;
use crate::operations::recall::past_limits::{MAX_CHANGED, MAX_ENCODED, PastLimits};
use crate::operations::recall::prepare::{PreparedRecall, SearchText, Target};
use crate::operations::recall::search::{Found, Scope, found_memories, usable_encoding};
use crate::operations::recall::{Answer, RecallContext};
use crate::search::branch_preference::BranchPreference;
use crate::search::project_preference::ProjectPreference;
use crate::search::similar_results::SimilarResults;
use crate::search::{Detail, SearchQuery, search};
use std::collections::HashMap;

impl Reader {
    /// Answers a recall with `as_of`.
    pub(super) fn recall_as_of(
        &self,
        prepared: &PreparedRecall,
        context: RecallContext<'_>,
        text: &str,
    ) -> Result<Answer> {
        let (mut reader, at) = self.as_of_seen_by(text, context.now, context.viewer)?;
        if let (Target::Search(_), Some(past)) = (&prepared.target, &mut reader.past) {
            past.unchanged = past::unchanged(&reader.conn)?;
            past.encoded.clone_from(&prepared.encoded_past);
        }
        let answer = reader.recall_now(prepared, RecallContext { now: at, ..context })?;
        // The present memory is not used by it.
        Ok(Answer { accessed: Vec::new(), ..answer })
    }

    /// Returns the earlier texts that a recall with `as_of` needs encodings of, by the sequence numbers
    /// of their memories; those first that were changed last before the time, and not all.
    ///
    /// # Errors
    /// As [`Reader::recall`].
    pub fn past_documents(
        &self,
        prepared: &PreparedRecall,
        viewer: Viewer<'_>,
        now: Timestamp,
    ) -> Result<Vec<(i64, Document)>> {
        let (Some(text), Target::Search(_)) = (&prepared.request.as_of, &prepared.target) else {
            return Ok(Vec::new());
        };
        let (reader, _) = self.as_of_seen_by(text, now, viewer)?;
        let isolation = self.shared.isolation_for(viewer);
        let named = prepared.request.group.as_ref();
        let group = existing_group(&reader.conn, &isolation, viewer, named)?;
        let visibility = Visibility::of_group(&group.id, isolation);
        let changed = reader.past.as_ref().map(|past| past.changed.as_slice()).unwrap_or_default();
        let seqs: Vec<i64> = changed
            .iter()
            .filter(|memory| !memory.has_present_text)
            .take(MAX_CHANGED)
            .map(|memory| memory.seq)
            .collect();
        let entries = memories::entries_of(&reader.conn, &seqs)?;
        let is_searched = |entry: &Entry| {
            visibility.admits(entry.audience())
                && [Statuses::Recall, Statuses::Candidate, Statuses::Rejected]
                    .iter()
                    .any(|statuses| statuses.admits(entry.status))
        };
        let found = entries.into_iter().filter_map(|(seq, entry)| Some((seq, entry?)));
        let found = found.filter(|(_, entry)| is_searched(entry)).take(MAX_ENCODED);
        Ok(found.map(|(seq, entry)| (seq, document(&entry))).collect())
    }

    /// Searches the index, and in the past also the memories that have changed since.
    pub(super) fn find_at_time(
        &self,
        scope: Scope<'_>,
        text: &SearchText,
        limit: usize,
    ) -> Result<Found> {
        let found = self.find_in_index(scope, text, limit)?;
        match &self.past {
            Some(past) if !found.by_fallback => self.add_changed(past, scope, text, found),
            _ => Ok(found),
        }
    }

    fn add_changed(
        &self,
        past: &Past,
        scope: Scope<'_>,
        text: &SearchText,
        mut found: Found,
    ) -> Result<Found> {
        let filter = self.filter(scope);
        let searched = &past.changed[..past.changed.len().min(MAX_CHANGED)];
        let changed = self.entries(searched.iter().map(|memory| memory.seq))?;
        let mut changed: Vec<Entry> = changed
            .into_iter()
            .filter(|entry| {
                filter.admits(entry)
                    && text.dates.admits(fallback::day(entry))
                    && scope.selects(entry.seq)
            })
            .collect();
        let mut limits =
            PastLimits { not_searched: past.changed.len() - searched.len(), without_vectors: 0 };
        if changed.is_empty() {
            found.limits = limits;
            return Ok(found);
        }
        let known: HashMap<i64, ChangedMemory> =
            searched.iter().map(|memory| (memory.seq, *memory)).collect();
        changed.extend(self.entries(found.ranked.iter().map(|memory| memory.seq))?);
        changed.sort_unstable_by_key(|entry| entry.seq);
        let set = self.shared.sets().active.clone();
        let mut index = Index::default().of_set(set.clone());
        for entry in changed {
            let (seq, document) = (entry.seq, document(&entry));
            index.put(entry);
            let has_present_text = known.get(&seq).is_none_or(|memory| memory.has_present_text);
            if has_present_text {
                index.set_vectors(seq, &vectors::encoding(&self.conn, seq, &set.name)?);
                continue;
            }
            let encoded = past.encoded.iter().find(|encoded| encoded.seq == seq);
            let encoded = encoded.filter(|encoded| encoded.document == document);
            match encoded.and_then(|encoded| encoded.encodings.by(&set.model)) {
                Some(encoding) => index.set_vectors(seq, encoding),
                None => limits.without_vectors += 1,
            }
        }
        found.limits = limits;
        self.place_changed(scope, text, &index, &mut found)?;
        Ok(found)
    }

    /// Searches the small index, and puts the changed memories between the others.
    fn place_changed(
        &self,
        scope: Scope<'_>,
        text: &SearchText,
        index: &Index,
        found: &mut Found,
    ) -> Result<()> {
        let Scope { request, context, group, .. } = scope;
        let projects = self.projects(context)?;
        let projects = ProjectPreference::new(&text.query.text, group, &projects);
        let branch = BranchPreference::new(&context.viewer.group.id, context.viewer.checkout);
        let query = SearchQuery {
            parsed: &text.query,
            projects: &projects,
            branch: branch.as_ref(),
            weights: self.shared.settings().weights,
            answering: &[],
            encoding: usable_encoding(index, context.encoding)?,
            fusion: self.fusion(context),
            today: context.now.day(),
            limit: index.slot_count(),
            finds_nearest: request.nearest,
            follows_links: true,
            fields: None,
            effort: self.shared.settings().effort,
            stages: self.shared.settings().stages,
            detail: Detail::Scores,
            may_replace: &|newer, older| self.may_replace(newer, older),
        };
        let results = search(index, &index.mask(&self.filter(scope)), &query);
        let small = found_memories(index, &results, Vec::new());
        let scores: HashMap<i64, f64> =
            small.iter().map(|memory| (memory.seq, memory.score)).collect();
        let others: Vec<i64> = found.ranked.iter().map(|memory| memory.seq).collect();
        let new: Vec<FoundMemory> =
            small.into_iter().filter(|memory| !others.contains(&memory.seq)).collect();
        if new.is_empty() {
            return Ok(());
        }
        found.is_weak = (others.is_empty() || found.is_weak) && results.is_weak;
        found.matched += new.len();
        found.ranked = merge(std::mem::take(&mut found.ranked), new, &scores);
        Ok(())
    }

    fn entries(&self, seqs: impl Iterator<Item = i64>) -> Result<Vec<Entry>> {
        let seqs: Vec<i64> = seqs.collect();
        let entries = memories::entries_of(&self.conn, &seqs)?;
        Ok(entries.into_iter().filter_map(|(_, entry)| entry).collect())
    }
}

fn document(entry: &Entry) -> Document {
    Document { content: entry.content.clone(), questions: entry.questions.clone() }
}

/// Puts each new result before the first of the others that scored less in the same search. The
/// order of the others stays.
fn merge(
    others: Vec<FoundMemory>,
    new: Vec<FoundMemory>,
    scores: &HashMap<i64, f64>,
) -> Vec<FoundMemory> {
    let mut new = new.into_iter().peekable();
    let (mut merged, mut rank_of) = (Vec::new(), Vec::with_capacity(others.len()));
    for mut other in others {
        let score = scores.get(&other.seq).copied().unwrap_or_default();
        while let Some(better) = new.next_if(|new| new.score > score) {
            merged.push(FoundMemory { similar: SimilarResults::default(), ..better });
        }
        // Ranks of better results, which have moved.
        for ranks in [&mut other.similar.same_fact, &mut other.similar.same_pattern] {
            for rank in ranks.iter_mut() {
                *rank = rank_of.get(*rank).copied().unwrap_or(*rank);
            }
        }
        rank_of.push(merged.len());
        merged.push(other);
    }
    merged.extend(new.map(|new| FoundMemory { similar: SimilarResults::default(), ..new }));
    merged
}

impl PreparedRecall {
    /// Adds the encodings of earlier texts ([`Reader::past_documents`]).
    #[must_use]
    pub fn with_encoded_past(self, encoded_past: Vec<EncodedPast>) -> Self {
        Self { encoded_past, ..self }
    }
}
