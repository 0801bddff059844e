//! Which memories name which entities, and which entities are related, by sequence number.
//!
//! Not here: what follows from it for an answer (`crate::search::graph_boost`), the durable truth (`db::graph`).

use crate::model::entity_link::EntityLink;
use crate::model::entity_link::LinkKind;
use std::collections::HashMap;

/// Everything that links memories.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// By entity, the memories that name it.
    naming: HashMap<i64, Vec<i64>>,
    /// By memory, the entities that it names.
    named: HashMap<i64, Vec<i64>>,
    /// By entity, those at the other end of a relation, once for each.
    related: HashMap<i64, Vec<i64>>,
}

impl Graph {
    /// Makes a link, or takes one away.
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

    /// Takes a memory out, with everything that leads to it.
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

    /// The same in one order, to compare.
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

    /// True while nothing is linked.
    pub(crate) fn is_empty(&self) -> bool {
        self.naming.is_empty() && self.related.is_empty()
    }

    /// The memories that name an entity.
    pub(crate) fn naming(&self, entity: i64) -> &[i64] {
        self.naming.get(&entity).map_or(&[], Vec::as_slice)
    }

    /// The entities that a memory names.
    pub(crate) fn named_in(&self, memory: i64) -> &[i64] {
        self.named.get(&memory).map_or(&[], Vec::as_slice)
    }

    /// The entities that are related to an entity.
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
