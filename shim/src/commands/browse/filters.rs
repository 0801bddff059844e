//! Which memories `loci browse` lists, and in which order.

use loci_proto::memory::MemoryType;
use loci_proto::requests::list::ListOrder;
use std::fmt;

/// The statuses that can be chosen, as in `loci list --status`.
const STATUSES: [&str; 6] = ["active", "candidate", "superseded", "forgotten", "pinned", "all"];

/// Whose memories are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectFilter {
    /// What the project of the working directory can see.
    Here,
    /// Every project.
    All,
    /// Those stored in one project.
    Named {
        /// Its id.
        id: String,
        /// Its display name.
        name: String,
    },
}

impl fmt::Display for ProjectFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Here => "visible here",
            Self::All => "all",
            Self::Named { name, .. } => name,
        })
    }
}

/// What is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filters {
    /// The query; empty for all.
    pub query: String,
    /// Only this type.
    pub kind: Option<MemoryType>,
    /// Whose memories.
    pub project: ProjectFilter,
    /// Only those that this client stored.
    pub client: Option<String>,
    /// Only this status.
    pub status: &'static str,
    /// The order, without a query.
    pub order: ListOrder,
}

impl Default for Filters {
    fn default() -> Self {
        Self {
            query: String::new(),
            kind: None,
            project: ProjectFilter::Here,
            client: None,
            status: STATUSES[0],
            order: ListOrder::Newest,
        }
    }
}

impl Filters {
    /// Chooses the next type; after the last one all.
    pub fn next_kind(&mut self) {
        let all = MemoryType::ALL;
        self.kind = match self.kind.and_then(|kind| all.iter().position(|other| *other == kind)) {
            None => all.first().copied(),
            Some(at) => all.get(at + 1).copied(),
        };
    }

    /// Chooses the next status.
    pub fn next_status(&mut self) {
        let at = STATUSES.iter().position(|status| *status == self.status).unwrap_or_default();
        self.status = STATUSES[(at + 1) % STATUSES.len()];
    }

    /// Chooses the next order.
    pub fn next_order(&mut self) {
        let at = ListOrder::ALL.iter().position(|(_, order)| *order == self.order);
        self.order = ListOrder::ALL[(at.unwrap_or_default() + 1) % ListOrder::ALL.len()].1;
    }

    /// Returns the name of the order.
    #[must_use]
    pub fn order_name(&self) -> &'static str {
        ListOrder::ALL.iter().find(|(_, order)| *order == self.order).map_or("", |(name, _)| name)
    }
}
