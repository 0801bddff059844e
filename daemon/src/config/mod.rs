//! `config.toml`: its keys, their defaults and their ranges. The file is read at start and by `reload`.
//!
//! An unknown key is an error that names the file, the line and the most similar known key. A key that is planned for a later version is
//! refused by name. Not here: environment variables (`proto::paths`).

pub mod allowed;
pub mod backup;
pub mod bridge;
pub mod effective;
pub mod file;
pub mod hooks;
pub mod key_file;
pub mod options;
pub mod privacy;
pub mod projects;
pub mod scope;
pub mod server;
#[cfg(test)]
mod tests;

use crate::embedding::MODEL_ID;
use allowed::{check_one_of, not_in_this_version};
use loci_engine::maintain::Rules;
use loci_engine::model::decay::Decay;
use loci_engine::ranking::fusion::Fusion;
use loci_engine::{BackupSettings, Settings};
use loci_proto::error::Failure;
use loci_proto::group::{self, GroupName};
use loci_proto::paths::Paths;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The value of `embedding.model` for a model of the user's own.
const CUSTOM_MODEL: &str = "custom";
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
    pub embedding: Embedding,
    /// `[retrieval]`
    pub retrieval: Retrieval,
    /// `[ttl]`
    pub ttl: Ttl,
    /// `[maintenance]`
    pub maintenance: Maintenance,
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

/// `[embedding]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Embedding {
    /// Only `local` in this version.
    pub provider: String,
    /// `all-MiniLM-L6-v2`, or `custom` for the model in the folder `path`.
    pub model: String,
    /// The folder of a `custom` model; `~/` is the home folder.
    pub path: Option<String>,
    /// The folder of the model files; `~/` is the home folder. `LOCI_MODELS` overrides it.
    pub cache_dir: Option<String>,
    /// Download the model when the first text needs it.
    pub download: bool,
    /// URL of a mirror of the model files, used instead of the model hub.
    pub url: Option<String>,
    /// Not supported in this version: refused.
    #[serde(skip_serializing)]
    pub api: Option<toml::Table>,
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
    /// Cosine above which two texts may state the same fact, 0 to 1.
    pub dedup_threshold: f64,
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

/// `[maintenance]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Maintenance {
    /// Compact and promote in the background while no call arrives.
    pub enabled: bool,
    /// Days in which a decay factor is applied once; also the days between two maintenance runs.
    pub interval_days: f64,
    /// Factor applied to the confidence of an episodic memory per interval, 0.01 to 1.
    pub episodic_decay_factor: f64,
    /// Factor applied to the confidence of any other memory per interval, 0.01 to 1.
    pub semantic_decay_factor: f64,
    /// Age in days from which episodes are compacted.
    pub compaction_age_days: f64,
    /// Minimum number of episodes of one project and week that are compacted.
    pub compaction_min_group_size: i64,
    /// Minimum number of episodes with the same statement that are promoted to a fact.
    pub promotion_threshold: i64,
    /// Cosine above which two episodes have the same statement, 0.5 to 1.
    pub promotion_similarity: f64,
    /// A cleanup forgets only memories whose confidence is below this, 0 to 1.
    pub cleanup_confidence_floor: f64,
    /// A cleanup forgets only memories that were not used for this many days.
    pub cleanup_no_access_days: f64,
}

/// When maintenance runs automatically.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// `maintenance.enabled`
    pub enabled: bool,
    /// `maintenance.interval_days`
    pub interval_days: f64,
}

impl Default for Storage {
    fn default() -> Self {
        Self { db_path: None, key_file: None, default_group: "default".to_owned() }
    }
}

impl Default for Embedding {
    fn default() -> Self {
        Self {
            provider: "local".to_owned(),
            model: MODEL_ID.to_owned(),
            path: None,
            cache_dir: None,
            download: true,
            url: None,
            api: None,
        }
    }
}

impl Embedding {
    /// Returns the id of the configured model; `None` for a model of the user's own, whose id comes from its files.
    #[must_use]
    pub fn known_id(&self) -> Option<&str> {
        (self.model != CUSTOM_MODEL).then_some(&self.model)
    }

    /// Returns the folder of a model of the user's own; `None` if the pinned model is configured.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn custom_folder(&self) -> Result<Option<PathBuf>, Failure> {
        match (self.model == CUSTOM_MODEL, &self.path) {
            (false, _) => Ok(None),
            (true, Some(path)) => expand("embedding.path", path).map(Some),
            (true, None) => {
                Err(Failure::invalid("embedding.model", "\"custom\" needs embedding.path")
                    .hint("Set embedding.path to the folder with model.onnx and tokenizer.json"))
            }
        }
    }

    fn check(&self) -> Result<(), Failure> {
        if ![MODEL_ID, CUSTOM_MODEL].contains(&self.model.as_str()) {
            let message = format!("= \"{}\" is", self.model);
            return Err(not_in_this_version("embedding.model", &message)
                .hint(format!("Set it to \"{MODEL_ID}\" or \"{CUSTOM_MODEL}\"")));
        }
        if let Some(path) = &self.path {
            expand("embedding.path", path)?;
        }
        self.custom_folder().map(drop)
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
            dedup_threshold: settings.dedup_threshold,
        }
    }
}

impl Default for Maintenance {
    fn default() -> Self {
        let (decay, rules) = (Decay::default(), Rules::default());
        Self {
            enabled: false,
            interval_days: decay.interval_days,
            episodic_decay_factor: decay.episodic_factor,
            semantic_decay_factor: decay.semantic_factor,
            compaction_age_days: rules.compaction_age_days,
            compaction_min_group_size: i64::try_from(rules.compaction_min_group_size).unwrap_or(5),
            promotion_threshold: i64::try_from(rules.promotion_threshold).unwrap_or(3),
            promotion_similarity: rules.promotion_similarity,
            cleanup_confidence_floor: rules.cleanup_confidence_floor,
            cleanup_no_access_days: rules.cleanup_no_access_days,
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
                None => file::plain_message(fault.message()),
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
        require_supported("embedding.provider", &self.embedding.provider, "local")?;
        self.embedding.check()?;
        if self.embedding.api.is_some() {
            return Err(not_in_this_version("embedding.api", "is"));
        }
        check_one_of("retrieval.fusion", &self.retrieval.fusion, &["soft", "weighted", "rrf"])?;
        self.default_group()?;
        self.privacy.policy()?;
        self.scope.check()?;
        self.hooks.check()?;
        self.check_ranges()
    }

    fn check_ranges(&self) -> Result<(), Failure> {
        let (r, t, m) = (&self.retrieval, &self.ttl, &self.maintenance);
        let ttl = |seconds: Option<i64>| seconds.unwrap_or(1) as f64;
        let (one_to_max_ttl, zero_to_one) = (1.0..=315_360_000.0, 0.0..=1.0);
        let ranges = [
            ("retrieval.default_max_results", r.default_max_results as f64, 1.0..=20.0),
            ("retrieval.preload_token_budget", r.preload_token_budget as f64, 1.0..=1e6),
            ("retrieval.recall_token_budget", r.recall_token_budget as f64, 1.0..=1e6),
            ("retrieval.vector_weight", r.vector_weight, zero_to_one.clone()),
            ("retrieval.rrf_k", r.rrf_k, 1.0..=1000.0),
            ("retrieval.dedup_threshold", r.dedup_threshold, zero_to_one.clone()),
            ("ttl.episodic", ttl(t.episodic), one_to_max_ttl.clone()),
            ("ttl.semantic", ttl(t.semantic), one_to_max_ttl.clone()),
            ("ttl.procedural", ttl(t.procedural), one_to_max_ttl.clone()),
            ("ttl.entity", ttl(t.entity), one_to_max_ttl),
            ("maintenance.interval_days", m.interval_days, 0.01..=3650.0),
            ("maintenance.episodic_decay_factor", m.episodic_decay_factor, 0.01..=1.0),
            ("maintenance.semantic_decay_factor", m.semantic_decay_factor, 0.01..=1.0),
            ("maintenance.compaction_age_days", m.compaction_age_days, 1.0..=36500.0),
            (
                "maintenance.compaction_min_group_size",
                m.compaction_min_group_size as f64,
                2.0..=1000.0,
            ),
            ("maintenance.promotion_threshold", m.promotion_threshold as f64, 2.0..=1000.0),
            ("maintenance.promotion_similarity", m.promotion_similarity, 0.5..=1.0),
            ("maintenance.cleanup_confidence_floor", m.cleanup_confidence_floor, zero_to_one),
            ("maintenance.cleanup_no_access_days", m.cleanup_no_access_days, 1.0..=36500.0),
            ("backup.max_bytes", self.backup.max_bytes as f64, backup::BUDGET),
            ("bridge.interval_seconds", self.bridge.interval_seconds as f64, bridge::INTERVAL),
            ("bridge.max_mib", self.bridge.max_mib as f64, bridge::KEPT),
        ];
        match ranges.into_iter().find(|(_, value, range)| !range.contains(value)) {
            None => Ok(()),
            Some((key, value, range)) => {
                let (min, max) = (range.start(), range.end());
                Err(Failure::invalid(key, format!("must be from {min} to {max}, not {value}")))
            }
        }
    }

    /// Returns when maintenance runs automatically.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        Schedule {
            enabled: self.maintenance.enabled,
            interval_days: self.maintenance.interval_days,
        }
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
            default_max_results: count(r.default_max_results),
            preload_token_budget: count(r.preload_token_budget),
            recall_token_budget: count(r.recall_token_budget),
            ttl: loci_engine::Ttl {
                episodic: self.ttl.episodic.map(count),
                semantic: self.ttl.semantic.map(count),
                procedural: self.ttl.procedural.map(count),
                entity: self.ttl.entity.map(count),
            },
            rules: Rules {
                compaction_age_days: self.maintenance.compaction_age_days,
                compaction_min_group_size: count(self.maintenance.compaction_min_group_size),
                promotion_threshold: count(self.maintenance.promotion_threshold),
                promotion_similarity: self.maintenance.promotion_similarity,
                cleanup_confidence_floor: self.maintenance.cleanup_confidence_floor,
                cleanup_no_access_days: self.maintenance.cleanup_no_access_days,
            },
            decay: Decay {
                interval_days: self.maintenance.interval_days,
                episodic_factor: self.maintenance.episodic_decay_factor,
                semantic_factor: self.maintenance.semantic_decay_factor,
            },
            scopes: self.scope.settings(),
            default_group: self.storage.default_group.trim().to_owned(),
            ..Settings::for_model(self.embedding.known_id().unwrap_or_default())
        }
    }
}

/// Replaces a leading `~/` of a configured path by the home folder; refuses any other path that is not absolute.
///
/// # Errors
/// `invalid`, naming the key.
pub fn expand(key: &str, path: &str) -> Result<PathBuf, Failure> {
    let home = || directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    let expanded = match path.strip_prefix("~/") {
        Some(rest) => home().map(|home| home.join(rest)),
        None => Some(PathBuf::from(path)),
    };
    match expanded {
        Some(path) if path.to_string_lossy().chars().any(char::is_control) => {
            Err(Failure::invalid(key, "must not contain control characters"))
        }
        Some(path) if path.is_absolute() => Ok(path),
        _ => Err(Failure::invalid(
            key,
            format!("must be an absolute path or begin with ~/, not {path}"),
        )),
    }
}

fn require_supported(key: &str, value: &str, supported: &str) -> Result<(), Failure> {
    if value == supported {
        Ok(())
    } else {
        Err(not_in_this_version(key, &format!("= \"{value}\" is"))
            .hint(format!("Set it to \"{supported}\"")))
    }
}
