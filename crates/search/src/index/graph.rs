//! Mentions and relations by sequence number: which memories mention which entities, and which
//! entities are related.
//!
//! Not here: the boost of linked memories (`crate::search::graph_boost`), the durable links
//! (`db::entity_links`).

use loci_base::model::entity_link::{EntityLink, LinkKind};
use std::collections::HashMap;

/// All links between memories.
#[derive(Debug, Default)]
pub struct Graph {
    /// By entity: the memories that mention it.
    mentioned_in: HashMap<i64, Vec<i64>>,
    /// By memory: the entities that it mentions.
    mentions: HashMap<i64, Vec<i64>>,
    /// By entity: the related entities, once per relation.
    related: HashMap<i64, Vec<i64>>,
    /// By subject: the objects of its relations, once per relation.
    objects: HashMap<i64, Vec<i64>>,
}

impl Graph {
    /// Adds or removes a link.
    pub fn set(&mut self, link: EntityLink) {
        let EntityLink { entity, other, kind, exists } = link;
        let (forward, backward) = match kind {
            LinkKind::Mention => (&mut self.mentioned_in, Some(&mut self.mentions)),
            LinkKind::Relation => (&mut self.related, None),
        };
        let change = if exists { add_link } else { remove_link };
        if kind == LinkKind::Relation {
            change(&mut self.objects, entity, other);
        }
        change(forward, entity, other);
        // A relation counts in both directions.
        change(backward.unwrap_or(forward), other, entity);
    }

    /// Removes a memory with all its links.
    pub fn remove(&mut self, seq: i64) {
        for memory in self.mentioned_in.remove(&seq).unwrap_or_default() {
            remove_link(&mut self.mentions, memory, seq);
        }
        for entity in self.mentions.remove(&seq).unwrap_or_default() {
            remove_link(&mut self.mentioned_in, entity, seq);
        }
        for other in self.related.remove(&seq).unwrap_or_default() {
            remove_link(&mut self.related, other, seq);
            remove_link(&mut self.objects, other, seq);
        }
        self.objects.remove(&seq);
    }

    /// Returns all links as (from, to, kind) in a fixed order, to compare two graphs.
    pub fn sorted(&self) -> Vec<(i64, i64, &'static str)> {
        let all = [
            (&self.mentioned_in, "is mentioned in"),
            (&self.mentions, "mentions"),
            (&self.related, "is related to"),
            (&self.objects, "is the subject of a relation to"),
        ];
        let each = |(links, kind): (&HashMap<i64, Vec<i64>>, _)| {
            links
                .iter()
                .flat_map(move |(from, to)| to.iter().map(move |to| (*from, *to, kind)))
                .collect::<Vec<_>>()
        };
        let mut sorted: Vec<_> = all.into_iter().flat_map(each).collect();
        sorted.sort_unstable();
        sorted
    }

    /// Returns true if there are no links.
    pub fn is_empty(&self) -> bool {
        self.mentioned_in.is_empty() && self.related.is_empty()
    }

    /// Returns the memories that mention an entity.
    pub fn memories_mentioning(&self, entity: i64) -> &[i64] {
        self.mentioned_in.get(&entity).map_or(&[], Vec::as_slice)
    }

    /// Returns the entities that a memory mentions.
    pub(crate) fn entities_mentioned_in(&self, memory: i64) -> &[i64] {
        self.mentions.get(&memory).map_or(&[], Vec::as_slice)
    }

    /// Returns the subjects with the objects of their relations, once per relation.
    pub fn relations(&self) -> impl Iterator<Item = (i64, &[i64])> {
        self.objects.iter().map(|(subject, objects)| (*subject, objects.as_slice()))
    }

    /// Returns the entities that are related to an entity, once per relation.
    pub fn related(&self, entity: i64) -> &[i64] {
        self.related.get(&entity).map_or(&[], Vec::as_slice)
    }
}

fn add_link(links: &mut HashMap<i64, Vec<i64>>, from: i64, to: i64) {
    links.entry(from).or_default().push(to);
}

fn remove_link(links: &mut HashMap<i64, Vec<i64>>, from: i64, to: i64) {
    let Some(others) = links.get_mut(&from) else { return };
    if let Some(at) = others.iter().rposition(|other| *other == to) {
        others.remove(at);
    }
    if others.is_empty() {
        links.remove(&from);
    }
}
