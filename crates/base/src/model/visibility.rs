//! Who can see which memory: the rule that isolates groups from each other.
//!
//! A memory is visible to every caller (scope `global`) or to the callers of one group. A caller
//! sees the global memories and those of its own group, or of the group that its call names. An
//! isolated group neither shows its memories to others nor sees those of other projects. Every
//! filter, read and merge uses the types here; the index compiles [`Visibility::groups`] and
//! [`Visibility::others`] to bits (`index::mask`). Not here: resolving a group's name
//! (`operations::visible_memory`).

use crate::model::actor::Viewer;
use loci_proto::memory::Scope;

/// Who can see one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Audience<'a> {
    scope: Scope,
    group: Option<&'a str>,
}

impl<'a> Audience<'a> {
    /// The audience of a memory of this scope that was stored in this group.
    pub fn new(scope: Scope, group: Option<&'a str>) -> Self {
        Self { scope, group }
    }

    /// True if every caller of `other`'s audience also belongs to this one: nothing leaks when text
    /// seen by `self` stands in for text seen by `other`.
    pub fn includes(self, other: Self) -> bool {
        self.scope == Scope::Global || (other.scope == Scope::Group && self.group == other.group)
    }

    /// True if both consist of the same callers: two memories with equal audiences can be merged.
    pub fn is_same(self, other: Self) -> bool {
        self.includes(other) && other.includes(self)
    }

    /// True if at least one caller belongs to both.
    pub fn overlaps(self, other: Self) -> bool {
        self.includes(other) || other.includes(self)
    }
}

/// The isolated projects of a store.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Isolation {
    /// Ids of the isolated groups.
    groups: Vec<String>,
    /// Id of the group of sessions outside any project.
    outside: String,
    /// Ids of the groups that a person has switched off.
    off: Vec<String>,
    /// Whoever meets it may use no project but its own.
    is_bound: bool,
}

impl Isolation {
    /// The isolation of a store with these isolated groups.
    pub fn new(groups: Vec<String>, outside: &str) -> Self {
        Self { groups, outside: outside.to_owned(), ..Self::default() }
    }

    /// Adds the groups that a person has switched off.
    #[must_use]
    pub fn with_off(self, off: Vec<String>) -> Self {
        Self { off, ..self }
    }

    /// Returns the isolation as a viewer meets it: to one that may use no project but its own, that project is as isolated.
    #[must_use]
    pub fn seen_by(mut self, viewer: Viewer<'_>) -> Self {
        if viewer.is_bound {
            self.groups.push(viewer.group.id.clone());
            self.is_bound = true;
        }
        self
    }

    /// Returns whether a person has switched a group off.
    pub fn is_off(&self, group: &str) -> bool {
        self.off.iter().any(|off| off == group)
    }

    /// Returns whether no group is isolated.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns whether a group keeps its memories to itself.
    pub fn is_isolated(&self, group: &str) -> bool {
        self.groups.iter().any(|isolated| isolated == group)
    }

    /// Returns whether a call of the viewer may name this group. A person may name every group.
    pub fn may_be_named(&self, viewer: Viewer<'_>, group: Option<&str>) -> bool {
        viewer.is_person()
            || group.is_none_or(|group| {
                group == viewer.group.id
                    || !(self.is_isolated(group)
                        || self.is_isolated(&viewer.group.id)
                        || self.is_off(group))
            })
    }

    /// Returns the id of the group of sessions outside any project.
    pub fn outside(&self) -> &str {
        &self.outside
    }

    /// Returns whether memories of this group were stored outside any project.
    pub fn is_outside(&self, group: Option<&str>) -> bool {
        group.is_none_or(|group| group == self.outside)
    }
}

/// What one call can see: every memory of its groups; of other groups the global memories, except
/// those of isolated groups. A call of an isolated group sees other memories only if they are
/// global and were stored outside any project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visibility {
    groups: Vec<String>,
    isolation: Isolation,
    is_isolated: bool,
}

impl Visibility {
    /// The visibility of a call that acts in one group.
    pub fn of_group(group: &str, isolation: Isolation) -> Self {
        let is_isolated = isolation.is_isolated(group);
        Self { groups: vec![group.to_owned()], isolation, is_isolated }
    }

    /// The visibility of a session of `own` whose call names another group.
    pub fn of_groups(own: &str, named: &str, isolation: Isolation) -> Self {
        let mut visibility = Self::of_group(own, isolation);
        if named != own {
            visibility.groups.push(named.to_owned());
        }
        visibility
    }

    /// Returns whether the call may use no project but its own.
    pub fn is_bound(&self) -> bool {
        self.isolation.is_bound
    }

    /// Returns whether the call can see a memory with this audience.
    pub fn admits(&self, audience: Audience<'_>) -> bool {
        let is_own = |group: &str| self.groups.iter().any(|visible| visible == group);
        audience.group.is_some_and(is_own)
            || (audience.scope == Scope::Global && self.admits_global(audience.group))
    }

    /// Returns whether the call can see the global memories of a group that is not its own.
    fn admits_global(&self, group: Option<&str>) -> bool {
        if self.is_isolated {
            return self.isolation.is_outside(group);
        }
        group.is_none_or(|group| !self.isolation.is_isolated(group))
    }

    /// Returns the ids of the groups of which every memory is visible, to compile the rule to bits
    /// or SQL.
    pub fn groups(&self) -> &[String] {
        &self.groups
    }

    /// Returns which global memories of other groups are visible, to compile the rule to bits.
    pub fn others(&self) -> Others<'_> {
        match self.is_isolated {
            true => Others::OnlyOutside(&self.isolation.outside),
            false if self.isolation.groups.is_empty() => Others::All,
            false => Others::Except(&self.isolation.groups),
        }
    }

    /// Returns whether the call acts in an isolated group.
    pub fn is_isolated(&self) -> bool {
        self.is_isolated
    }
}

/// The groups whose global memories a call of another group can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others<'a> {
    /// All groups.
    All,
    /// All but these.
    Except(&'a [String]),
    /// Only memories stored outside any project: those of this group, and those without a group.
    OnlyOutside(&'a str),
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
        let visibility = Visibility::of_group("a", Isolation::default());
        assert!(visibility.admits(GLOBAL_OF_A) && visibility.admits(GROUP_A));
        assert!(!visibility.admits(GROUP_B) && !visibility.admits(NO_GROUP));
        let visibility = Visibility::of_groups("b", "c", Isolation::default());
        assert!(visibility.admits(GLOBAL_OF_A) && visibility.admits(GROUP_B));
        assert!(!visibility.admits(GROUP_A) && !visibility.admits(NO_GROUP));
    }

    #[test]
    fn naming_the_own_group_does_not_change_the_visibility() {
        let none = Isolation::default;
        assert_eq!(Visibility::of_groups("a", "a", none()), Visibility::of_group("a", none()));
    }

    #[test]
    fn an_isolated_group_shares_nothing_and_sees_only_what_was_stored_outside_any_project() {
        let isolation = || Isolation::new(vec!["a".to_owned()], "default");
        let global = |group| Audience::new(Scope::Global, Some(group));
        let outside = [global("default"), Audience::new(Scope::Global, None)];
        let inside = Visibility::of_group("a", isolation());
        assert!(inside.admits(GLOBAL_OF_A) && inside.admits(GROUP_A));
        assert!(!inside.admits(global("b")) && !inside.admits(GROUP_B));
        assert!(outside.iter().all(|audience| inside.admits(*audience)));
        let other = Visibility::of_group("b", isolation());
        assert!(!other.admits(GLOBAL_OF_A) && !other.admits(GROUP_A));
        assert!(other.admits(global("b")) && other.admits(GROUP_B) && other.admits(global("c")));
        assert!(outside.iter().all(|audience| other.admits(*audience)));
        let person = Visibility::of_groups("b", "a", isolation());
        assert!(person.admits(GLOBAL_OF_A) && person.admits(GROUP_A) && person.admits(GROUP_B));
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
