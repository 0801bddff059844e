//! `[groups.NAME]`: what is different in one project. Not here: isolated projects (`.loci.toml`), names (`loci groups`).

use crate::config::allowed::check_one_of;
use crate::config::privacy::Privacy;
use loci_engine::privacy::Policy;
use loci_proto::error::Failure;
use loci_proto::group::{self, Group};
use loci_proto::memory::Scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The sections by the id of the project, or its name as `loci groups list` shows it.
pub type Groups = BTreeMap<String, GroupSection>;

/// `[groups.NAME]`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GroupSection {
    /// The scope of a memory that is stored without one, of every type: `group` or `global`. Without it `[scope]` applies.
    pub scope: Option<String>,
    /// Personal data that is replaced, besides `privacy.redact`.
    pub redact: Vec<String>,
    /// Own words that are replaced, besides `privacy.words`.
    pub words: Vec<String>,
}

/// What is different in each project.
#[derive(Debug, Clone, Default)]
pub struct GroupRules(BTreeMap<String, GroupRule>);

#[derive(Debug, Clone)]
struct GroupRule {
    scope: Option<Scope>,
    policy: Arc<Policy>,
}

impl GroupRules {
    /// Checks the sections. `privacy` applies to every project.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn new(groups: &Groups, privacy: &Privacy) -> Result<Self, Failure> {
        let rules = groups.iter().map(|(name, section)| {
            let key = format!("groups.{name}");
            group::check_name(name)
                .map_err(|reason| Failure::invalid(&key, reason).hint(group::NAME_HINT))?;
            Ok((name.clone(), section.rule(&key, privacy)?))
        });
        rules.collect::<Result<_, Failure>>().map(Self)
    }

    /// Returns whether no project has a section.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the names of the sections.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Returns what may be stored in a project, if it differs.
    #[must_use]
    pub fn policy(&self, group: &Group) -> Option<Arc<Policy>> {
        self.rule(group).map(|rule| Arc::clone(&rule.policy))
    }

    /// Returns the scope of a memory of a project that is stored without one, if it differs.
    #[must_use]
    pub fn scope(&self, group: &Group) -> Option<Scope> {
        self.rule(group)?.scope
    }

    fn rule(&self, group: &Group) -> Option<&GroupRule> {
        self.0.get(&group.id).or_else(|| self.0.get(&group.name))
    }
}

impl GroupSection {
    fn rule(&self, key: &str, privacy: &Privacy) -> Result<GroupRule, Failure> {
        if let Some(scope) = &self.scope {
            check_one_of(&format!("{key}.scope"), scope, &["group", "global"])?;
        }
        let joined = |one: &[String], other: &[String]| [one, other].concat();
        let all = Privacy {
            redact: joined(&privacy.redact, &self.redact),
            words: joined(&privacy.words, &self.words),
            ..privacy.clone()
        };
        // The common keys were checked before, so a fault is one of this section.
        let policy = all.policy().map_err(|mut failure| {
            failure.field =
                failure.field.map(|field| field.replace("privacy.", &format!("{key}.")));
            failure
        })?;
        let scope = self.scope.as_ref().and_then(|scope| scope.parse().ok());
        Ok(GroupRule { scope, policy: Arc::new(policy) })
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use std::path::Path;

    #[test]
    fn faulty_sections_are_refused_by_the_name_of_the_key() {
        for (text, expected) in [
            (
                "[groups.shop]\nscope = \"project\"",
                "groups.shop.scope must be one of group, global",
            ),
            ("[groups.shop]\nredact = [\"name\"]", "groups.shop.redact must be one of"),
            ("[groups.shop]\nwords = [\"x\"]", "groups.shop.words must not contain a word"),
            ("[groups.\"a/b\"]\nscope = \"group\"", "groups.a/b must not contain /"),
            ("[groups.shop]\ncolour = 1", "colour"),
        ] {
            let refused = Config::from_text(text, Path::new("/x/config.toml"));
            let refused = refused.expect_err("is refused").to_string();
            assert!(refused.contains(expected), "{refused}");
        }
    }
}
