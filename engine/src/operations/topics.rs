//! `topics`: groups the memories that a project sees by what they are about.
//!
//! Only memories that the caller may see take part, also in the statistics of words, so that nothing of
//! another project shows. Not here: the grouping (`clustering`), the topics that compaction summarises
//! (`maintain::topics`).

use crate::clustering::distinctive;
use crate::clustering::k_means;
use crate::db::memories::MemoryReader;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::index::{Filter, Index, Mask, Statuses};
use crate::model::actor::Viewer;
use crate::model::encoding::Embedding;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::named_project::existing_group;
use crate::operations::verbs::read_verb;
use crate::search::budget;
use loci_proto::error::Failure;
use loci_proto::requests::topics::{Topic, TopicExample, TopicsReply, TopicsRequest};

read_verb!(TopicsRequest, |reader, request, call| reader.topics(
    request,
    (&call.actor).into(),
    call.now
));

/// Maximum number of topics that a request may ask for.
const MAX_COUNT: usize = 50;
/// Memories of a topic whose texts are read for the words of its name, the nearest to its centre first.
const READ_FOR_NAME: usize = 12;
/// Vectors that are copied while the index is locked.
const COPIED_AT_ONCE: usize = 2_048;

/// A topic before its rows are read.
struct Group {
    /// Sequence numbers, the nearest to the centre first.
    nearest: Vec<i64>,
    count: usize,
    /// The terms of its name, best first.
    terms: Vec<String>,
}

impl Reader {
    /// Groups the active memories that the project sees, without dormant ones.
    ///
    /// # Errors
    /// `invalid` for `count`; `not_found` for `group`; `busy` while the index is being loaded;
    /// `Database`.
    pub fn topics(
        &self,
        request: &TopicsRequest,
        viewer: Viewer<'_>,
        now: Timestamp,
    ) -> Result<TopicsReply> {
        if request.count.is_some_and(|count| !(1..=MAX_COUNT).contains(&count)) {
            let message = format!("must be a whole number in 1..{MAX_COUNT}");
            return Err(Failure::invalid("count", message).into());
        }
        self.shared.require_ready()?;
        let isolation = self.shared.isolation();
        let group = existing_group(&self.conn, &isolation, viewer, request.group.as_ref())?;
        let visibility = Visibility::of_group(&group.id, isolation);
        let visible = self.shared.filter(&visibility, now);
        let dormant_below = self.shared.settings().dormant_threshold;
        let filter =
            Filter { statuses: Statuses::Active, kind: request.kind, dormant_below, ..visible };
        let own = request.from_group.then_some(group.id.as_str());
        let seqs: Vec<i64> = {
            let index = self.shared.index();
            let mask = topic_mask(&index, &filter, own);
            mask.slots().map(|slot| index.seq(slot)).collect()
        };
        let Grouped { members, without_vector } = self.grouped(&seqs, request.count);
        let groups: Vec<Group> = {
            let index = self.shared.index();
            let mask = topic_mask(&index, &filter, own);
            members.into_iter().map(|members| Group::new(&index, &mask, members)).collect()
        };
        let mut reply = TopicsReply { without_vector, ..TopicsReply::default() };
        for group in &groups {
            reply.topics.extend(self.topic(group)?);
        }
        reply.topics.sort_by_key(|topic| std::cmp::Reverse(topic.count));
        reply.grouped = reply.topics.iter().map(|topic| topic.count).sum();
        Ok(reply)
    }

    /// Reads the rows of a topic; `None` if none of its memories exists any more.
    fn topic(&self, group: &Group) -> Result<Option<Topic>> {
        let mut memories = MemoryReader::new(&self.conn)?;
        let mut texts = Vec::new();
        let mut example = None;
        for seq in &group.nearest {
            let Some(memory) = memories.get(*seq)? else { continue };
            example.get_or_insert_with(|| TopicExample {
                id: memory.id.clone(),
                preview: budget::preview(&memory.content),
            });
            texts.push(memory.content);
        }
        let index = self.shared.index();
        let name = distinctive::name(&index, &group.terms, texts.iter().map(String::as_str));
        Ok(example.map(|example| Topic { name: name.join(", "), count: group.count, example }))
    }
}

/// Returns the mask of the memories that take part.
fn topic_mask(index: &Index, filter: &Filter<'_>, own: Option<&str>) -> Mask {
    let mut mask = index.mask(filter);
    if let Some(own) = own {
        let own = index.group_number(own);
        mask.retain(|slot| own == Some(index.group(slot)));
    }
    mask
}

/// Memories by group.
struct Grouped {
    /// The sequence numbers of each group, the nearest to its centre first.
    members: Vec<Vec<i64>>,
    without_vector: usize,
}

impl Reader {
    /// Groups memories by their vectors. The index is locked only to copy vectors, a part at a time.
    fn grouped(&self, seqs: &[i64], count: Option<usize>) -> Grouped {
        let step = seqs.len().div_ceil(k_means::MAX_SAMPLE).max(1);
        let sample: Vec<i64> = seqs.iter().copied().step_by(step).collect();
        let points: Vec<Embedding> = sample
            .chunks(COPIED_AT_ONCE)
            .flat_map(|part| self.directions(part))
            .filter_map(|(_, direction)| direction)
            .collect();
        let count = count.unwrap_or_else(|| k_means::groups_of(seqs.len()));
        let centroids = k_means::k_means(&points, count).centroids;
        let mut members: Vec<Vec<(f32, i64)>> = vec![Vec::new(); centroids.len()];
        let mut without_vector = 0;
        for part in seqs.chunks(COPIED_AT_ONCE) {
            for (seq, direction) in self.directions(part) {
                match direction.filter(|_| !centroids.is_empty()) {
                    Some(direction) => {
                        let (group, cosine) = k_means::nearest(&centroids, &direction);
                        members[group].push((cosine, seq));
                    }
                    None => without_vector += 1,
                }
            }
        }
        let sorted = |mut members: Vec<(f32, i64)>| -> Vec<i64> {
            members.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
            members.into_iter().map(|(_, seq)| seq).collect()
        };
        let members = members.into_iter().filter(|members| !members.is_empty()).map(sorted);
        Grouped { members: members.collect(), without_vector }
    }

    fn directions(&self, seqs: &[i64]) -> Vec<(i64, Option<Embedding>)> {
        let index = self.shared.index();
        seqs.iter().map(|seq| (*seq, index.direction(*seq))).collect()
    }
}

impl Group {
    fn new(index: &Index, mask: &Mask, members: Vec<i64>) -> Self {
        let slots: Vec<usize> = members
            .iter()
            .filter_map(|seq| index.slot(*seq))
            .filter(|slot| mask.admits(*slot))
            .collect();
        let terms = distinctive::terms_of_group(index, mask, &slots);
        let count = members.len();
        let nearest = members.into_iter().take(READ_FOR_NAME).collect();
        Self { nearest, count, terms }
    }
}
