//! Who can see which memory: the rule that isolates groups from each other.
//!
//! A memory is visible to every caller (scope `global`) or to the callers of one group. A caller
//! sees the global memories and those of its own group, or of the group that its call names. Every
//! filter, read and merge uses the two types here; the index compiles [`Visibility::groups`] to
//! bits (`index::mask`). Not here: resolving a group's name (`operations::visible_memory`).

use loci_proto::memory::Scope;

/// Who can see one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Audience<'a> {
    scope: Scope,
    group: Option<&'a str>,
}

impl<'a> Audience<'a> {
    /// The audience of a memory of this scope that was stored in this group.
    pub(crate) fn new(scope: Scope, group: Option<&'a str>) -> Self {
        Self { scope, group }
    }

    /// True if every caller of `other`'s audience also belongs to this one: nothing leaks when text
    /// seen by `self` stands in for text seen by `other`.
    pub(crate) fn includes(self, other: Self) -> bool {
        self.scope == Scope::Global || (other.scope == Scope::Group && self.group == other.group)
    }

    /// True if both consist of the same callers: two memories with equal audiences can be merged.
    pub(crate) fn is_same(self, other: Self) -> bool {
        self.includes(other) && other.includes(self)
    }

    /// True if at least one caller belongs to both.
    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.includes(other) || other.includes(self)
    }
}

/// What one call can see: the global memories and the group-scoped memories of these groups.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Visibility {
    groups: Vec<String>,
}

impl Visibility {
    /// The visibility of a call that acts in one group.
    pub(crate) fn of_group(group: &str) -> Self {
        Self { groups: vec![group.to_owned()] }
    }

    /// The visibility of a session of `own` whose call names another group.
    pub(crate) fn of_groups(own: &str, named: &str) -> Self {
        let mut visibility = Self::of_group(own);
        if named != own {
            visibility.groups.push(named.to_owned());
        }
        visibility
    }

    /// Returns whether the call can see a memory with this audience.
    pub(crate) fn admits(&self, audience: Audience<'_>) -> bool {
        audience.scope == Scope::Global
            || audience
                .group
                .is_some_and(|group| self.groups.iter().any(|visible| visible == group))
    }

    /// Returns the ids of the groups whose group-scoped memories are visible, to compile the rule
    /// to bits or SQL.
    pub(crate) fn groups(&self) -> &[String] {
        &self.groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GLOBAL_OF_A: Audience<'_> = Audience { scope: Scope::Global, group: Some("a") };
    const GROUP_A: Audience<'_> = Audience { scope: Scope::Group, group: Some("a") };
    const GROUP_B: Audience<'_> = Audience { scope: Scope::Group, group: Some("b") };
    const NO_GROUP: Audience<'_> = Audience { scope: Scope::Group, group: None };

    #[test]
    fn a_call_sees_global_memories_and_those_of_its_groups_only() {
        let visibility = Visibility::of_group("a");
        assert!(visibility.admits(GLOBAL_OF_A) && visibility.admits(GROUP_A));
        assert!(!visibility.admits(GROUP_B) && !visibility.admits(NO_GROUP));
        let visibility = Visibility::of_groups("b", "c");
        assert!(visibility.admits(GLOBAL_OF_A) && visibility.admits(GROUP_B));
        assert!(!visibility.admits(GROUP_A) && !visibility.admits(NO_GROUP));
    }

    #[test]
    fn naming_the_own_group_does_not_change_the_visibility() {
        assert_eq!(Visibility::of_groups("a", "a"), Visibility::of_group("a"));
    }

    #[test]
    fn a_global_audience_includes_every_other() {
        assert!(GLOBAL_OF_A.includes(GROUP_B) && GLOBAL_OF_A.includes(NO_GROUP));
        assert!(!GROUP_A.includes(GLOBAL_OF_A) && !GROUP_A.includes(GROUP_B));
        assert!(GROUP_A.includes(GROUP_A));
    }

    #[test]
    fn only_memories_with_the_same_readers_have_the_same_audience() {
        let global_of_b = Audience::new(Scope::Global, Some("b"));
        assert!(GLOBAL_OF_A.is_same(global_of_b) && GROUP_A.is_same(GROUP_A));
        assert!(!GLOBAL_OF_A.is_same(GROUP_A) && !GROUP_A.is_same(GROUP_B));
    }

    #[test]
    fn audiences_of_different_groups_do_not_overlap() {
        assert!(GROUP_A.overlaps(GLOBAL_OF_A) && GLOBAL_OF_A.overlaps(GROUP_B));
        assert!(!GROUP_A.overlaps(GROUP_B));
    }
}
