//! Mentions and relations by sequence number: which memories mention which entities, and which
//! entities are related.
//!
//! Not here: the boost of linked memories (`crate::search::graph_boost`), the durable links
//! (`db::entity_links`).

use crate::model::entity_link::EntityLink;
use crate::model::entity_link::LinkKind;
use std::collections::HashMap;

/// All links between memories.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// By entity: the memories that mention it.
    naming: HashMap<i64, Vec<i64>>,
    /// By memory: the entities that it mentions.
    named: HashMap<i64, Vec<i64>>,
    /// By entity: the related entities, once per relation.
    related: HashMap<i64, Vec<i64>>,
}

impl Graph {
    /// Adds or removes a link.
    pub(crate) fn set(&mut self, link: EntityLink) {
        let EntityLink { entity, other, kind, exists } = link;
        let (there, back) = match kind {
            LinkKind::Mention => (&mut self.naming, Some(&mut self.named)),
            LinkKind::Relation => (&mut self.related, None),
        };
        let change = if exists { add } else { take };
        change(there, entity, other);
        change(back.unwrap_or(there), other, entity);
    }

    /// Removes a memory with all its links.
    pub(crate) fn remove(&mut self, seq: i64) {
        for memory in self.naming.remove(&seq).unwrap_or_default() {
            take(&mut self.named, memory, seq);
        }
        for entity in self.named.remove(&seq).unwrap_or_default() {
            take(&mut self.naming, entity, seq);
        }
        for other in self.related.remove(&seq).unwrap_or_default() {
            take(&mut self.related, other, seq);
        }
    }

    /// Returns all links in a fixed order, to compare.
    pub(crate) fn sorted(&self) -> Vec<(i64, i64, &'static str)> {
        let all = [
            (&self.naming, "is named by"),
            (&self.named, "names"),
            (&self.related, "is related to"),
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
    pub(crate) fn is_empty(&self) -> bool {
        self.naming.is_empty() && self.related.is_empty()
    }

    /// Returns the memories that mention an entity.
    pub(crate) fn naming(&self, entity: i64) -> &[i64] {
        self.naming.get(&entity).map_or(&[], Vec::as_slice)
    }

    /// Returns the entities that a memory mentions.
    pub(crate) fn named_in(&self, memory: i64) -> &[i64] {
        self.named.get(&memory).map_or(&[], Vec::as_slice)
    }

    /// Returns the entities that are related to an entity.
    pub(crate) fn related(&self, entity: i64) -> &[i64] {
        self.related.get(&entity).map_or(&[], Vec::as_slice)
    }
}

fn add(links: &mut HashMap<i64, Vec<i64>>, from: i64, to: i64) {
    links.entry(from).or_default().push(to);
}

fn take(links: &mut HashMap<i64, Vec<i64>>, from: i64, to: i64) {
    let Some(others) = links.get_mut(&from) else { return };
    if let Some(at) = others.iter().rposition(|other| *other == to) {
        others.remove(at);
    }
    if others.is_empty() {
        links.remove(&from);
    }
}
