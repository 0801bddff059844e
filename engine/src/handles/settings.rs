//! Settings of an open store, with their defaults.
//!
//! Not here: configuration files and their checks (the daemon's `config`).

use crate::encryption::KeyId;
use crate::index::snapshot::SNAPSHOT_FROM;
use crate::maintain::Rules;
use crate::model::decay::Decay;
use crate::ranking::fusion::Fusion;
use crate::search::{Effort, FieldWeights, Stages, Weights};
use loci_proto::memory::{Confidence, MemoryType, Scope};
use std::path::PathBuf;

/// The settings of the engine.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The embedding model of a store that has no vectors yet; empty if it is not known yet.
    pub model: String,
    /// How the lexical and the vector score are combined.
    pub fusion: Fusion,
    /// Weights of the lexical fields of linked entities.
    pub fields: FieldWeights,
    /// Above this cosine two texts are checked for being duplicates; 0 to 1.
    pub dedup_threshold: f64,
    /// Maximum results of a recall that gives no `max_results`.
    pub default_max_results: usize,
    /// Whether the kind of a query decides how many results are returned and what is searched, where
    /// the call says nothing.
    pub query_kinds: bool,
    /// Token budget of a reply with previews, if the call gives none.
    pub preload_token_budget: usize,
    /// Token budget of a reply with full texts, if the call gives none.
    pub recall_token_budget: usize,
    /// How fast confidence decays.
    pub decay: Decay,
    /// How much importance and age change a score.
    pub weights: Weights,
    /// Below this confidence a memory is dormant: recall leaves it out unless it is asked for.
    pub dormant_threshold: Option<Confidence>,
    /// Default lifetimes of new memories.
    pub ttl: Ttl,
    /// When episodes are compacted, facts promoted and memories cleaned up.
    pub rules: Rules,
    /// How many memories of a large store a recall compares exactly. Only benchmarks change it.
    pub effort: Effort,
    /// How many memories the stages of a search in a large store keep.
    pub stages: Stages,
    /// Minimum number of memories for which the index snapshot is written at shutdown. Only tests
    /// change it.
    pub snapshot_from: usize,
    /// Where the backups are.
    pub backups: BackupSettings,
    /// The key of a new database; `None`: it is not encrypted.
    pub key: Option<KeyId>,
    /// The scope of a memory that is stored without one.
    pub scopes: DefaultScopes,
    /// Id of the group of sessions outside any project.
    pub default_group: String,
}

/// Where backups are, and how much space they may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupSettings {
    /// The folder; `None` if the store has none.
    pub folder: Option<PathBuf>,
    /// The bytes that all backups together may take.
    pub max_bytes: u64,
}

impl Default for BackupSettings {
    fn default() -> Self {
        Self { folder: None, max_bytes: 1 << 30 }
    }
}

/// The default scope of each memory type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DefaultScopes {
    /// Scope of events.
    pub episodic: Scope,
    /// Scope of facts.
    pub semantic: Scope,
    /// Scope of instructions.
    pub procedural: Scope,
    /// Scope of entities.
    pub entity: Scope,
}

impl Default for DefaultScopes {
    fn default() -> Self {
        Self {
            episodic: MemoryType::Episodic.default_scope(),
            semantic: MemoryType::Semantic.default_scope(),
            procedural: MemoryType::Procedural.default_scope(),
            entity: MemoryType::Entity.default_scope(),
        }
    }
}

impl DefaultScopes {
    /// Returns the default scope of a type.
    #[must_use]
    pub fn of(self, kind: MemoryType) -> Scope {
        match kind {
            MemoryType::Episodic => self.episodic,
            MemoryType::Semantic => self.semantic,
            MemoryType::Procedural => self.procedural,
            MemoryType::Entity => self.entity,
        }
    }
}

/// Default lifetime of each memory type in seconds; `None` means unlimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ttl {
    /// Lifetime of events.
    pub episodic: Option<usize>,
    /// Lifetime of facts.
    pub semantic: Option<usize>,
    /// Lifetime of instructions.
    pub procedural: Option<usize>,
    /// Lifetime of entities.
    pub entity: Option<usize>,
}

impl Ttl {
    /// Returns the default lifetime of a type in seconds.
    pub(crate) fn of(self, kind: MemoryType) -> Option<usize> {
        match kind {
            MemoryType::Episodic => self.episodic,
            MemoryType::Semantic => self.semantic,
            MemoryType::Procedural => self.procedural,
            MemoryType::Entity => self.entity,
        }
    }
}

impl Settings {
    /// Returns the default settings with this embedding model.
    #[must_use]
    pub fn for_model(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            fusion: Fusion::default(),
            fields: FieldWeights::default(),
            dedup_threshold: 0.92,
            default_max_results: 5,
            query_kinds: false,
            preload_token_budget: 2000,
            recall_token_budget: 4000,
            decay: Decay::default(),
            weights: Weights::default(),
            dormant_threshold: None,
            ttl: Ttl::default(),
            rules: Rules::default(),
            effort: Effort::default(),
            stages: Stages::default(),
            snapshot_from: SNAPSHOT_FROM,
            backups: BackupSettings::default(),
            key: None,
            scopes: DefaultScopes::default(),
            default_group: "default".to_owned(),
        }
    }
}
