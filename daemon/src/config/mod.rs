//! `config.toml`: its keys, their defaults and their ranges. The file is read at start and by `reload`.
//!
//! An unknown key is an error that names the file, the line and the most similar known key. A key that is planned for a later version is
//! refused by name. Not here: environment variables (`proto::paths`).

pub mod allowed;
pub mod api;
pub mod backup;
pub mod bridge;
pub mod current_policy;
pub mod effective;
pub mod embedding;
pub mod file;
pub mod groups;
pub mod hooks;
pub mod key_file;
pub mod maintenance;
pub mod options;
pub mod path_value;
pub mod privacy;
pub mod projects;
pub mod recency;
pub mod rerank;
pub mod scope;
pub mod server;
#[cfg(test)]
mod tests;

pub use path_value::expand;

use allowed::{check_all, check_one_of};
use loci_engine::ranking::fusion::Fusion;
use loci_engine::{BackupSettings, FieldWeights, Settings, Stages, Weights};
use loci_proto::error::Failure;
use loci_proto::group::{self, GroupName};
use loci_proto::paths::Paths;
pub use maintenance::Schedule;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The folder of the backups in the data folder.
pub const BACKUP_FOLDER: &str = "backups";

/// The whole file; a missing section or key has its default.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `[server]`
    pub server: server::Server,
    /// `[storage]`
    pub storage: Storage,
    /// `[embedding]`
    pub embedding: embedding::Embedding,
    /// `[retrieval]`
    pub retrieval: Retrieval,
    /// `[ttl]`
    pub ttl: Ttl,
    /// `[maintenance]`
    pub maintenance: maintenance::Maintenance,
    /// `[backup]`
    pub backup: backup::Backup,
    /// `[privacy]`
    pub privacy: privacy::Privacy,
    /// `[scope]`
    pub scope: scope::DefaultScope,
    /// `[projects]`
    pub projects: projects::Projects,
    /// `[hooks]`
    pub hooks: hooks::Hooks,
    /// `[bridge]`
    pub bridge: bridge::Bridge,
    /// `[groups.NAME]`
    pub groups: groups::Groups,
}

/// `[storage]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Storage {
    /// The database file; `~/` is the home folder. `LOCI_DB` overrides it.
    pub db_path: Option<String>,
    /// The key file of an encrypted store, used by builds with encryption; `~/` is the home folder.
    pub key_file: Option<String>,
    /// The group of sessions outside any project.
    pub default_group: String,
}

/// `[retrieval]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retrieval {
    /// Default of `max_results` of a recall, 1 to 20.
    pub default_max_results: i64,
    /// Default token budget of a reply with previews.
    pub preload_token_budget: i64,
    /// Default token budget of a reply with full texts.
    pub recall_token_budget: i64,
    /// `soft`, `weighted` or `rrf`.
    pub fusion: String,
    /// Weight of the vector score in `weighted`, 0 to 1.
    pub vector_weight: f64,
    /// The constant of `rrf`, at least 1.
    pub rrf_k: f64,
    /// Weight of the names of the entities that a memory mentions, 0 to 1.
    pub entity_weight: f64,
    /// Weight of the relations of these entities, 0 to 1.
    pub relation_weight: f64,
    /// Whether the kind of a query decides how much is returned, where the call says nothing.
    pub query_kinds: bool,
    /// Cosine above which a store names another text as similar, 0 to 1.
    pub dedup_threshold: f64,
    /// Number of memories that the first stage of a search in a large store keeps, 500 to 100,000.
    pub stage1_k: i64,
    /// The same for its second stage, 100 to 10,000.
    pub stage2_k: i64,
    /// `none` or `cross-encoder`: whether a model of the user's own orders the best results.
    pub rerank: String,
    /// The folder of the cross-encoder; `~/` is the home folder.
    pub rerank_path: Option<String>,
    /// Number of results that the cross-encoder compares with the query, 2 to 20.
    pub rerank_depth: i64,
    /// Score of the cross-encoder below which even the best result is called weak, 0 to 1.
    pub rerank_floor: f64,
    /// How much the importance of a memory changes its score, 0 (not) to 1.
    pub importance: f64,
    /// `[retrieval.recency_lambda]`
    pub recency_lambda: recency::RecencyByType,
}

/// `[ttl]`
///
/// Default time to live of memories of each type, in seconds. Without a key, memories of that type do not expire.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ttl {
    /// Events.
    pub episodic: Option<i64>,
    /// Facts.
    pub semantic: Option<i64>,
    /// Procedures.
    pub procedural: Option<i64>,
    /// People and things.
    pub entity: Option<i64>,
}

impl Default for Storage {
    fn default() -> Self {
        Self { db_path: None, key_file: None, default_group: "default".to_owned() }
    }
}

impl Default for Retrieval {
    fn default() -> Self {
        let settings = Settings::for_model("");
        Self {
            default_max_results: i64::try_from(settings.default_max_results).unwrap_or(5),
            preload_token_budget: i64::try_from(settings.preload_token_budget).unwrap_or(2000),
            recall_token_budget: i64::try_from(settings.recall_token_budget).unwrap_or(4000),
            fusion: "soft".to_owned(),
            vector_weight: 0.5,
            rrf_k: 60.0,
            entity_weight: settings.fields.entity,
            relation_weight: settings.fields.relation,
            query_kinds: settings.query_kinds,
            dedup_threshold: settings.dedup_threshold,
            stage1_k: i64::try_from(settings.stages.stage1_k).unwrap_or(4000),
            stage2_k: i64::try_from(settings.stages.stage2_k).unwrap_or(400),
            rerank: "none".to_owned(),
            rerank_path: None,
            rerank_depth: 20,
            rerank_floor: 0.1,
            importance: settings.weights.importance,
            recency_lambda: recency::RecencyByType::default(),
        }
    }
}

impl Config {
    /// Reads the file. Without a file every key has its default.
    ///
    /// # Errors
    /// `invalid` with file, line and column, or the key and its range.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        file::read_text(path)?
            .map_or_else(|| Ok(Self::default()), |text| Self::from_text(&text, path))
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn from_text(text: &str, path: &Path) -> Result<Self, Failure> {
        let config = Self::parse(text, path)?;
        config.check().map_err(|failure| file::with_position_of_key(path, text, failure))?;
        Ok(config)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Failure> {
        toml::from_str(text).map_err(|fault| {
            let offset = fault.span().map_or(0, |span| span.start.min(text.len()));
            let (message, hint) = match file::type_fault(fault.message()) {
                Some(message) => (file::with_key_at(text, offset, message), None),
                None => file::plain_message(text, offset, fault.message()),
            };
            file::fault_at(path, text, offset, &message).hint(hint.unwrap_or_else(|| {
                "Correct the file; docs/configuration.md lists every key".to_owned()
            }))
        })
    }

    /// Returns a copy with another value of one of the keys that ranking uses.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn with_value(mut self, key: &str, value: &str) -> Result<Self, Failure> {
        let number = || {
            value
                .parse()
                .map_err(|_| Failure::invalid(key, format!("must be a number, not {value}")))
        };
        match key {
            "retrieval.fusion" => value.trim_matches('"').clone_into(&mut self.retrieval.fusion),
            "retrieval.vector_weight" => self.retrieval.vector_weight = number()?,
            "retrieval.rrf_k" => self.retrieval.rrf_k = number()?,
            other => {
                let message = format!("names a key that ranking does not use: {other}");
                return Err(Failure::invalid("set", message)
                    .hint("Use retrieval.fusion, retrieval.vector_weight or retrieval.rrf_k"));
            }
        }
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), Failure> {
        self.server.check()?;
        self.embedding.check()?;
        check_one_of("retrieval.fusion", &self.retrieval.fusion, &["soft", "weighted", "rrf"])?;
        self.retrieval.cross_encoder()?;
        self.default_group()?;
        self.privacy.policy()?;
        groups::GroupRules::new(&self.groups, &self.privacy)?;
        self.scope.check()?;
        self.hooks.check()?;
        self.retrieval.recency_lambda.check()?;
        self.maintenance.check()?;
        self.check_ranges()
    }

    fn check_ranges(&self) -> Result<(), Failure> {
        let (r, t) = (&self.retrieval, &self.ttl);
        let ttl = |seconds: Option<i64>| seconds.unwrap_or(1) as f64;
        let (one_to_max_ttl, zero_to_one) = (1.0..=315_360_000.0, 0.0..=1.0);
        let ranges = [
            ("retrieval.default_max_results", r.default_max_results as f64, 1.0..=20.0),
            ("retrieval.preload_token_budget", r.preload_token_budget as f64, 1.0..=1e6),
            ("retrieval.recall_token_budget", r.recall_token_budget as f64, 1.0..=1e6),
            ("retrieval.vector_weight", r.vector_weight, zero_to_one.clone()),
            ("retrieval.rrf_k", r.rrf_k, 1.0..=1000.0),
            ("retrieval.entity_weight", r.entity_weight, zero_to_one.clone()),
            ("retrieval.relation_weight", r.relation_weight, zero_to_one.clone()),
            ("retrieval.dedup_threshold", r.dedup_threshold, zero_to_one.clone()),
            ("retrieval.stage1_k", r.stage1_k as f64, 500.0..=100_000.0),
            ("retrieval.stage2_k", r.stage2_k as f64, 100.0..=10_000.0),
            ("retrieval.rerank_depth", r.rerank_depth as f64, 2.0..=20.0),
            ("retrieval.rerank_floor", r.rerank_floor, zero_to_one.clone()),
            ("retrieval.importance", r.importance, zero_to_one),
            ("ttl.episodic", ttl(t.episodic), one_to_max_ttl.clone()),
            ("ttl.semantic", ttl(t.semantic), one_to_max_ttl.clone()),
            ("ttl.procedural", ttl(t.procedural), one_to_max_ttl.clone()),
            ("ttl.entity", ttl(t.entity), one_to_max_ttl),
            ("backup.max_bytes", self.backup.max_bytes as f64, backup::BUDGET),
            ("bridge.interval_seconds", self.bridge.interval_seconds as f64, bridge::INTERVAL),
            ("bridge.max_mib", self.bridge.max_mib as f64, bridge::KEPT),
        ];
        check_all(ranges)
    }

    /// Returns when maintenance runs automatically.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        self.maintenance.schedule()
    }

    /// Returns the group of sessions outside any project.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn default_group(&self) -> Result<GroupName, Failure> {
        let name = &self.storage.default_group;
        let refused = |reason: String| {
            Failure::invalid("storage.default_group", reason).hint(group::NAME_HINT)
        };
        group::check_name(name.trim()).map_err(refused)?;
        name.parse().map_err(refused)
    }

    /// Returns the settings of the engine, with the backups in a folder of the data folder.
    #[must_use]
    pub fn settings_at(&self, paths: &Paths) -> Settings {
        let backups = BackupSettings {
            folder: Some(paths.home.join(BACKUP_FOLDER)),
            max_bytes: self.backup.budget(),
        };
        Settings { backups, key: loci_engine::encryption::key_of_new_files(), ..self.settings() }
    }

    /// Returns the settings of the engine that do not depend on paths.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let r = &self.retrieval;
        let fusion = match r.fusion.as_str() {
            "rrf" => Fusion::Rrf { k: r.rrf_k },
            "weighted" => Fusion::Weighted { vector_weight: r.vector_weight },
            _ => Fusion::Soft,
        };
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        Settings {
            fusion,
            dedup_threshold: r.dedup_threshold,
            stages: Stages { stage1_k: count(r.stage1_k), stage2_k: count(r.stage2_k) },
            query_kinds: r.query_kinds,
            fields: FieldWeights { entity: r.entity_weight, relation: r.relation_weight },
            default_max_results: count(r.default_max_results),
            preload_token_budget: count(r.preload_token_budget),
            recall_token_budget: count(r.recall_token_budget),
            ttl: loci_engine::Ttl {
                episodic: self.ttl.episodic.map(count),
                semantic: self.ttl.semantic.map(count),
                procedural: self.ttl.procedural.map(count),
                entity: self.ttl.entity.map(count),
            },
            rules: self.maintenance.rules(),
            decay: self.maintenance.decay(),
            dormant_threshold: self.maintenance.dormant_threshold(),
            weights: Weights { importance: r.importance, recency: r.recency_lambda.settings() },
            scopes: self.scope.settings(),
            default_group: self.storage.default_group.trim().to_owned(),
            ..Settings::for_model(self.embedding.pinned().map_or("", |model| model.id))
        }
    }
}
