//! Lowers memories that were stored on another branch of the asking project.
//!
//! What was noted on a branch may hold only there, so it ranks a little lower from another one, and is never hidden. Memories of the
//! default branch, of no branch, and of other projects keep their score. Not here: reading the branch (the shim).

use crate::index::Index;
use crate::ranking::fusion::ScoredSlot;
use loci_proto::hello::Checkout;
use std::collections::HashMap;

/// Share of its score that a memory of another branch loses.
const LOWERED_BY: f64 = 0.1;
/// Default branches of repositories that do not record one.
const USUAL_DEFAULTS: [&str; 2] = ["main", "master"];

/// The branch on which a query is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchPreference {
    /// Id of the asking project.
    group: String,
    branch: String,
    default_branch: Option<String>,
}

impl BranchPreference {
    /// Returns the preference of a query that is asked in `group`; `None` if no branch is checked out.
    pub fn new(group: &str, checkout: Option<&Checkout>) -> Option<Self> {
        let checkout = checkout?;
        Some(Self {
            group: group.to_owned(),
            branch: checkout.branch.clone()?,
            default_branch: checkout.default_branch.clone(),
        })
    }

    /// Lowers the scores and returns by how much, by slot, as negative numbers.
    pub fn apply(&self, index: &Index, scored: &mut [ScoredSlot]) -> HashMap<usize, f64> {
        let mut lowered = HashMap::new();
        let is_other: Vec<bool> = index.branches().iter().map(|name| self.is_other(name)).collect();
        if !is_other.contains(&true) {
            return lowered;
        }
        let Some(group) = index.group_number(&self.group) else { return lowered };
        for entry in scored.iter_mut().filter(|entry| index.group(entry.slot) == group) {
            let is_other = index.branch_number(entry.slot).is_some_and(|number| is_other[number]);
            if is_other && entry.score > 0.0 {
                let change = -LOWERED_BY * entry.score;
                lowered.insert(entry.slot, change);
                entry.score += change;
            }
        }
        lowered
    }

    fn is_other(&self, branch: &str) -> bool {
        let is_default = match &self.default_branch {
            Some(default) => branch == default,
            None => USUAL_DEFAULTS.contains(&branch),
        };
        branch != self.branch && !is_default
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_on(branch: &str, default: Option<&str>) -> BranchPreference {
        let checkout = Checkout {
            branch: Some(branch.to_owned()),
            commit: None,
            default_branch: default.map(str::to_owned),
            top: None,
        };
        BranchPreference::new("g", Some(&checkout)).expect("a branch is checked out")
    }

    #[test]
    fn other_branches_than_the_asking_and_the_default_one_are_lowered() {
        assert!(asked_on("fix", None).is_other("trial"));
        assert!(!asked_on("fix", None).is_other("fix"));
        assert!(!asked_on("fix", None).is_other("main"));
        assert!(asked_on("main", None).is_other("fix"));
        assert!(!asked_on("fix", Some("trunk")).is_other("trunk"));
        assert!(asked_on("fix", Some("trunk")).is_other("main"));
        assert_eq!(BranchPreference::new("g", Some(&Checkout::default())), None);
        assert_eq!(BranchPreference::new("g", None), None);
    }
}
