//! `config.toml`: what a person can set, read at start and when the daemon is told to.
//!
//! Every key here changes behaviour, and every other key is an error that names the file, the line and the nearest known key. A key
//! of the specification that this version does not serve is refused by name. Not here: variables of the environment (`proto::paths`).

pub mod file;

use crate::runs::Schedule;
use loci_engine::Settings;
use loci_engine::decay::Decay;
use loci_engine::maintain::Rules;
use loci_engine::rank::Fusion;
use loci_proto::error::{Code, Failure};
use loci_proto::group::{self, GroupName};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The whole file; a section or key that is not given has its default.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// `[server]`
    pub server: Server,
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
}

/// `[server]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// Only `stdio` in this version.
    pub transport: String,
    /// `error`, `warn`, `info`, `debug` or `trace`; `LOCI_LOG_LEVEL` wins.
    pub log_level: String,
}

/// `[storage]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Storage {
    /// The database file; `~/` is the person's home. `LOCI_DB` wins.
    pub db_path: Option<String>,
    /// The group of a session that works in no project.
    pub default_group: String,
}

/// `[embedding]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Embedding {
    /// Only `local` in this version.
    pub provider: String,
    /// Only `all-MiniLM-L6-v2` in this version.
    pub model: String,
    /// The model cache; `~/` is the person's home. `LOCI_MODELS` wins.
    pub cache_dir: Option<String>,
    /// Bring the model here when the first text needs it.
    pub download: bool,
    /// A mirror of the model's files, used by `loci model download` before every other source.
    pub url: Option<String>,
    /// Refused in this version.
    #[serde(skip_serializing)]
    pub api: Option<toml::Table>,
}

/// `[retrieval]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retrieval {
    /// Results of a recall that does not say how many, 1 to 20.
    pub default_max_results: i64,
    /// Tokens of an answer of previews.
    pub preload_token_budget: i64,
    /// Tokens of an answer in full.
    pub recall_token_budget: i64,
    /// `soft`, `weighted` or `rrf`.
    pub fusion: String,
    /// Share of the vector leg in `weighted`, 0 to 1.
    pub vector_weight: f64,
    /// The constant of `rrf`, at least 1.
    pub rrf_k: f64,
    /// Above this cosine two texts may be the same fact, 0 to 1.
    pub dedup_threshold: f64,
}

/// `[ttl]`
///
/// Seconds that memories of a type hold which do not say so themselves; for ever where a key is not given.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ttl {
    /// What happened.
    pub episodic: Option<i64>,
    /// What is so.
    pub semantic: Option<i64>,
    /// How something is done.
    pub procedural: Option<i64>,
    /// Who or what.
    pub entity: Option<i64>,
}

/// `[maintenance]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Maintenance {
    /// Compact and promote by itself, when nobody calls.
    pub enabled: bool,
    /// Days after which a decay factor has applied once.
    pub interval_days: f64,
    /// What an episodic memory's confidence keeps in one interval, above 0 and at most 1.
    pub episodic_decay_factor: f64,
    /// What any other memory's confidence keeps in one interval, above 0 and at most 1.
    pub semantic_decay_factor: f64,
    /// Episodes older than so many days are compacted.
    pub compaction_age_days: f64,
    /// Least episodes of a project and week that are compacted.
    pub compaction_min_group_size: i64,
    /// Least episodes that make a fact.
    pub promotion_threshold: i64,
    /// Above this cosine two episodes say the same, 0 to 1.
    pub promotion_similarity: f64,
    /// Below this confidence a cleanup takes a memory.
    pub cleanup_confidence_floor: f64,
    /// Once it was not used for so many days.
    pub cleanup_no_access_days: f64,
}

impl Default for Server {
    fn default() -> Self {
        Self { transport: "stdio".to_owned(), log_level: "info".to_owned() }
    }
}

impl Default for Storage {
    fn default() -> Self {
        Self { db_path: None, default_group: "default".to_owned() }
    }
}

impl Default for Embedding {
    fn default() -> Self {
        Self {
            provider: "local".to_owned(),
            model: crate::embedding::MODEL_ID.to_owned(),
            cache_dir: None,
            download: true,
            url: None,
            api: None,
        }
    }
}

impl Default for Retrieval {
    fn default() -> Self {
        let s = Settings::for_model("");
        Self {
            default_max_results: i64::try_from(s.default_max_results).unwrap_or(5),
            preload_token_budget: i64::try_from(s.preload_token_budget).unwrap_or(2000),
            recall_token_budget: i64::try_from(s.recall_token_budget).unwrap_or(4000),
            fusion: "soft".to_owned(),
            vector_weight: 0.5,
            rrf_k: 60.0,
            dedup_threshold: s.dedup_threshold,
        }
    }
}

impl Default for Maintenance {
    fn default() -> Self {
        let (d, r) = (Decay::default(), Rules::default());
        Self {
            enabled: false,
            interval_days: d.interval_days,
            episodic_decay_factor: d.episodic_factor,
            semantic_decay_factor: d.semantic_factor,
            compaction_age_days: r.compaction_age_days,
            compaction_min_group_size: i64::try_from(r.compaction_min_group_size).unwrap_or(5),
            promotion_threshold: i64::try_from(r.promotion_threshold).unwrap_or(3),
            promotion_similarity: r.promotion_similarity,
            cleanup_confidence_floor: r.cleanup_confidence_floor,
            cleanup_no_access_days: r.cleanup_no_access_days,
        }
    }
}

impl Config {
    /// Reads the file; a file that is not there is all defaults.
    ///
    /// # Errors
    /// `invalid` with file, line and column, or the key and its range.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        file::text(path)?.map_or_else(|| Ok(Self::default()), |text| Self::of_text(&text, path))
    }

    /// Reads the text of the file.
    ///
    /// # Errors
    /// As [`Config::read`].
    pub fn of_text(text: &str, path: &Path) -> Result<Self, Failure> {
        let config = Self::parse(text, path)?;
        config.check().map_err(|failure| file::of_key(path, text, failure))?;
        Ok(config)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, Failure> {
        toml::from_str(text).map_err(|fault| {
            let at = fault.span().map_or(0, |span| span.start.min(text.len()));
            let (message, hint) = match file::wrong_type(fault.message()) {
                Some(message) => (file::with_key_at(text, at, message), None),
                None => file::in_words(fault.message()),
            };
            file::at(path, text, at, &message).hint(hint.unwrap_or_else(|| {
                "Mend the file; docs/configuration.md lists every key".to_owned()
            }))
        })
    }

    /// The same with another value of a key that ranking goes by.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn with(mut self, key: &str, value: &str) -> Result<Self, Failure> {
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
                let failure =
                    Failure::invalid("set", format!("names a key that ranks nothing: {other}"));
                return Err(failure
                    .hint("Take retrieval.fusion, retrieval.vector_weight or retrieval.rrf_k"));
            }
        }
        self.check()?;
        Ok(self)
    }

    fn check(&self) -> Result<(), Failure> {
        only("server.transport", &self.server.transport, "stdio")?;
        only("embedding.provider", &self.embedding.provider, "local")?;
        only("embedding.model", &self.embedding.model, crate::embedding::MODEL_ID)?;
        if self.embedding.api.is_some() {
            return Err(not_yet("embedding.api", "is"));
        }
        one_of("server.log_level", &self.server.log_level, LOG_LEVELS)?;
        one_of("retrieval.fusion", &self.retrieval.fusion, &["soft", "weighted", "rrf"])?;
        self.default_group()?;
        let r = &self.retrieval;
        range("retrieval.default_max_results", r.default_max_results as f64, 1.0, 20.0)?;
        range("retrieval.preload_token_budget", r.preload_token_budget as f64, 1.0, 1e6)?;
        range("retrieval.recall_token_budget", r.recall_token_budget as f64, 1.0, 1e6)?;
        range("retrieval.vector_weight", r.vector_weight, 0.0, 1.0)?;
        range("retrieval.rrf_k", r.rrf_k, 1.0, 1000.0)?;
        range("retrieval.dedup_threshold", r.dedup_threshold, 0.0, 1.0)?;
        let t = &self.ttl;
        for (key, seconds) in [
            ("ttl.episodic", t.episodic),
            ("ttl.semantic", t.semantic),
            ("ttl.procedural", t.procedural),
            ("ttl.entity", t.entity),
        ] {
            range(key, seconds.unwrap_or(1) as f64, 1.0, 315_360_000.0)?;
        }
        let m = &self.maintenance;
        range("maintenance.interval_days", m.interval_days, 0.01, 3650.0)?;
        range("maintenance.episodic_decay_factor", m.episodic_decay_factor, 0.01, 1.0)?;
        range("maintenance.semantic_decay_factor", m.semantic_decay_factor, 0.01, 1.0)?;
        range("maintenance.compaction_age_days", m.compaction_age_days, 1.0, 36500.0)?;
        range(
            "maintenance.compaction_min_group_size",
            m.compaction_min_group_size as f64,
            2.0,
            1000.0,
        )?;
        range("maintenance.promotion_threshold", m.promotion_threshold as f64, 2.0, 1000.0)?;
        range("maintenance.promotion_similarity", m.promotion_similarity, 0.5, 1.0)?;
        range("maintenance.cleanup_confidence_floor", m.cleanup_confidence_floor, 0.0, 1.0)?;
        range("maintenance.cleanup_no_access_days", m.cleanup_no_access_days, 1.0, 36500.0)
    }

    /// When maintenance runs by itself.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        Schedule {
            enabled: self.maintenance.enabled,
            interval_days: self.maintenance.interval_days,
        }
    }

    /// The group of a session that works in no project.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn default_group(&self) -> Result<GroupName, Failure> {
        let name = &self.storage.default_group;
        let refused =
            |why: String| Failure::invalid("storage.default_group", why).hint(group::NAME_HINT);
        group::check_name(name.trim()).map_err(refused)?;
        name.parse().map_err(refused)
    }

    /// What the engine is told.
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
            ..Settings::for_model(&self.embedding.model)
        }
    }
}

/// A path of the configuration: absolute, or under the person's home as `~/…`.
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
            Err(Failure::invalid(key, "must not hold control characters"))
        }
        Some(path) if path.is_absolute() => Ok(path),
        _ => Err(Failure::invalid(
            key,
            format!("must be an absolute path or begin with ~/, not {path}"),
        )),
    }
}

fn range(key: &str, value: f64, least: f64, most: f64) -> Result<(), Failure> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Failure::invalid(key, format!("must be from {least} to {most}, not {value}")))
}

/// The levels of the log.
pub const LOG_LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];

/// Refuses a word that is none of these.
///
/// # Errors
/// `invalid`, naming the key.
pub fn one_of(key: &str, value: &str, words: &[&str]) -> Result<(), Failure> {
    if words.contains(&value) {
        return Ok(());
    }
    Err(Failure::invalid(key, format!("must be one of {}, not {value}", words.join(", "))))
}

fn only(key: &str, value: &str, served: &str) -> Result<(), Failure> {
    if value == served {
        Ok(())
    } else {
        Err(not_yet(key, &format!("= \"{value}\" is")).hint(format!("Set it to \"{served}\"")))
    }
}

fn not_yet(key: &str, what: &str) -> Failure {
    Failure::new(Code::NotInThisVersion, format!("{what} not in this version")).at(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let parsed = Config::parse(text, Path::new("/x/config.toml"));
        match parsed.and_then(|config| config.check()) {
            Ok(()) => panic!("was accepted"),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_file_line_and_column() {
        let said = refused("[retrieval]\nrrf_kk = 5\n");
        assert!(
            said.contains("/x/config.toml:2:1")
                && said.contains("rrf_kk")
                && said.contains("rrf_k"),
            "{said}"
        );
    }

    #[test]
    fn what_this_version_does_not_serve_is_refused_by_name() {
        assert!(
            refused("[server]\ntransport = \"sse\"")
                .contains("not_in_this_version: server.transport")
        );
        assert!(refused("[embedding]\nprovider = \"voyage\"").contains("not in this version"));
        assert!(refused("[embedding.api]\nmodel = \"x\"").contains("not in this version"));
    }

    #[test]
    fn numbers_have_ranges() {
        for (text, key) in [
            ("[retrieval]\nrrf_k = 0", "retrieval.rrf_k"),
            ("[retrieval]\ndedup_threshold = 2", "retrieval.dedup_threshold"),
            ("[retrieval]\ndefault_max_results = 21", "retrieval.default_max_results"),
            ("[maintenance]\nepisodic_decay_factor = 1.5", "maintenance.episodic_decay_factor"),
            ("[maintenance]\ninterval_days = 0", "maintenance.interval_days"),
            ("[maintenance]\nsemantic_decay_factor = -1", "maintenance.semantic_decay_factor"),
            ("[maintenance]\nepisodic_decay_factor = nan", "maintenance.episodic_decay_factor"),
            ("[maintenance]\ncompaction_age_days = 0", "maintenance.compaction_age_days"),
            (
                "[maintenance]\ncompaction_min_group_size = 1",
                "maintenance.compaction_min_group_size",
            ),
            ("[maintenance]\npromotion_threshold = 1", "maintenance.promotion_threshold"),
            ("[maintenance]\npromotion_similarity = 1.2", "maintenance.promotion_similarity"),
            (
                "[maintenance]\ncleanup_confidence_floor = -0.1",
                "maintenance.cleanup_confidence_floor",
            ),
            ("[maintenance]\ncleanup_no_access_days = 0", "maintenance.cleanup_no_access_days"),
        ] {
            let said = refused(text);
            assert!(said.contains(key) && said.contains("must be from"), "{said}");
        }
    }

    #[test]
    fn the_example_of_the_repository_is_the_defaults() {
        let text = include_str!("../../config.example.toml");
        let example = Config::parse(text, Path::new("config.example.toml")).expect("parses");
        example.check().expect("is valid");
        assert_eq!(example.settings(), Config::default().settings());
    }
}
