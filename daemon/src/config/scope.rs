//! `[scope]`: the scope of a memory that is stored without one. Not here: isolated projects (`.loci.toml`).

use crate::config::allowed::check_one_of;
use loci_engine::DefaultScopes;
use loci_proto::error::Failure;
use loci_proto::memory::MemoryType;
use serde::{Deserialize, Serialize};

/// The values of every key.
const SCOPES: &[&str] = &["group", "global"];

/// `[scope]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DefaultScope {
    /// Events: `group` or `global`.
    pub episodic: String,
    /// Facts.
    pub semantic: String,
    /// Procedures.
    pub procedural: String,
    /// People and things.
    pub entity: String,
}

impl Default for DefaultScope {
    fn default() -> Self {
        let scope = |kind: MemoryType| kind.default_scope().to_string();
        Self {
            episodic: scope(MemoryType::Episodic),
            semantic: scope(MemoryType::Semantic),
            procedural: scope(MemoryType::Procedural),
            entity: scope(MemoryType::Entity),
        }
    }
}

impl DefaultScope {
    /// Refuses a value that is not a scope.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn check(&self) -> Result<(), Failure> {
        check_one_of("scope.episodic", &self.episodic, SCOPES)?;
        check_one_of("scope.semantic", &self.semantic, SCOPES)?;
        check_one_of("scope.procedural", &self.procedural, SCOPES)?;
        check_one_of("scope.entity", &self.entity, SCOPES)
    }

    /// Returns the settings of the engine; [`DefaultScope::check`] has refused other values.
    #[must_use]
    pub fn settings(&self) -> DefaultScopes {
        let scope =
            |value: &str, kind: MemoryType| value.parse().unwrap_or_else(|_| kind.default_scope());
        DefaultScopes {
            episodic: scope(&self.episodic, MemoryType::Episodic),
            semantic: scope(&self.semantic, MemoryType::Semantic),
            procedural: scope(&self.procedural, MemoryType::Procedural),
            entity: scope(&self.entity, MemoryType::Entity),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use loci_proto::memory::{MemoryType, Scope};
    use std::path::Path;

    #[test]
    fn a_default_scope_is_group_or_global() {
        let path = Path::new("/x/config.toml");
        let config = Config::from_text("[scope]\nsemantic = \"group\"\n", path);
        let scopes = config.expect("the value is allowed").settings().scopes;
        assert_eq!(scopes.of(MemoryType::Semantic), Scope::Group);
        assert_eq!(scopes.of(MemoryType::Entity), Scope::Global);
        let refused = Config::from_text("[scope]\nentity = \"project\"\n", path);
        let refused = refused.expect_err("the value is refused").to_string();
        assert!(refused.contains("scope.entity must be one of group, global"), "{refused}");
    }
}
