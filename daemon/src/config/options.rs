//! The command line of `locid`, its short-lived commands, and the environment variables that override keys of the configuration.

use crate::config;
use crate::config::Config;
use crate::config::current_policy::CurrentPolicy;
use crate::config::embedding::LOCAL;
use crate::embedding::api::provider::Provider;
use crate::embedding::api::{ApiConfig, ApiTarget};
use crate::embedding::custom_model::CustomConfig;
use crate::embedding::model_files::{FileStatus, ModelStatus};
use crate::embedding::pinned_models::PinnedModel;
use crate::embedding::pinned_source::PinnedSource;
use crate::embedding::{ModelConfig, ModelSource, fetch};
use crate::process::startup;
use clap::{Parser, Subcommand};
use loci_proto::admin::Places;
use loci_proto::error::{Exit, Failure};
use loci_proto::foreign::{Client, ImportSource};
use loci_proto::paths::Paths;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The daemon of loci. You do not need to run it: loci starts it.
#[derive(Debug, Parser)]
#[command(name = "locid", version)]
pub struct Options {
    /// Exit after the idle timeout; set by `loci mcp` when it starts the daemon.
    #[arg(long)]
    pub auto_started: bool,
    /// Idle timeout of an auto-started daemon: seconds without a session.
    #[arg(long, default_value_t = 15 * 60, value_name = "SECONDS")]
    pub idle_exit: u64,
    /// The agents' socket that the service file expects; refuse to start if agents use another one.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Seconds that a peer may take to read an answer, or to continue a line, before it is disconnected.
    #[arg(long, default_value_t = 30, value_name = "SECONDS", hide = true)]
    pub read_deadline: u64,
    /// Seconds between two checks whether a backup or a restore drill is due.
    #[arg(long, default_value_t = 60, value_name = "SECONDS", hide = true)]
    pub backup_check: u64,
    /// The command; the default is serve.
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Options {
    /// Returns the idle timeout; `None` if the daemon was not auto-started.
    #[must_use]
    pub fn idle_limit(&self) -> Option<Duration> {
        self.auto_started.then(|| Duration::from_secs(self.idle_exit))
    }

    /// Returns how long a peer may take to read an answer, or to continue a line.
    #[must_use]
    pub fn peer_timeout(&self) -> Duration {
        Duration::from_secs(self.read_deadline)
    }

    /// Returns the time between two checks whether a backup is due.
    #[must_use]
    pub fn backup_interval(&self) -> Duration {
        Duration::from_secs(self.backup_check.max(1))
    }
}

/// The commands of `locid`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve until stopped.
    Serve,
    /// List, verify and restore backups.
    #[command(subcommand)]
    Backup(BackupCommand),
    /// Check the configuration and the store without a daemon, and print the findings as JSON for `loci doctor --offline`; no daemon may run.
    Doctor {
        /// Also read every row.
        #[arg(long)]
        deep: bool,
    },
    /// Encrypt or decrypt the store, or change its key.
    #[command(subcommand)]
    Encryption(EncryptionCommand),
    /// Print the memories of another program, as JSON for `loci import --from`.
    Read(ReadFiles),
    /// Print the records of a backup as the lines of an export, for `loci import`.
    Lines {
        /// The database file.
        path: PathBuf,
    },
    /// Have an API encode texts; the daemon starts it.
    #[command(hide = true)]
    Embed,
    /// Print the paths of the database and the model in force, as JSON for `loci uninstall`.
    Paths,
    /// Manage the model files.
    Model {
        /// The command.
        #[command(subcommand)]
        command: Model,
    },
}

/// The commands of `locid backup`. They print JSON, for `loci backup` and `loci doctor`.
#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// List the backups.
    List,
    /// Verify one backup, or all.
    Verify {
        /// The backup: its name, the beginning of it, or latest.
        backup: Option<String>,
    },
    /// Verify the backup that would be restored, and print what would change.
    Plan(WhichBackup),
    /// Restore a backup; no daemon may run.
    Restore(WhichBackup),
    /// Recover a damaged store from the newest whole backup and what can be read; no daemon may run.
    Recover,
}

/// The commands of `locid encryption`. They print JSON, for `loci`. No daemon may run, except for `key`.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum EncryptionCommand {
    /// Fail if this build has no encryption, or the key file is refused.
    Check,
    /// Encrypt the database and its backups, or go on with it.
    Encrypt,
    /// Decrypt them, or go on with it.
    Decrypt,
    /// Encrypt them with a new key, or go on with it.
    Rekey,
    /// Print the keys.
    Key,
}

/// What to read. The rules for secrets of the configuration apply.
#[derive(Debug, clap::Args)]
pub struct ReadFiles {
    /// Name of the format, or history for the transcripts of clients.
    #[arg(long, value_name = "FORMAT")]
    pub from: ImportSource,
    /// Home folder, in which programs have their usual places.
    #[arg(long, value_name = "PATH")]
    pub home: PathBuf,
    /// Of transcripts: only those of this client; repeatable.
    #[arg(long, value_name = "CLIENT")]
    pub client: Vec<Client>,
    /// Of transcripts: only what is from then on, in milliseconds since 1970.
    #[arg(long, default_value_t = 0, value_name = "MILLISECONDS")]
    pub since: i64,
    /// Files or folders; default: the usual places of the program.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// The backup to restore.
#[derive(Debug, clap::Args)]
pub struct WhichBackup {
    /// The backup: its name, the beginning of it, or latest.
    pub backup: Option<String>,
    /// The newest backup at this time or before: a day (its end), a time or a time ago.
    #[arg(long, value_name = "TIME", conflicts_with = "backup")]
    pub at: Option<String>,
}

/// The commands of `locid model`.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Download the model and its runtime.
    Fetch {
        /// Copy the files from this folder instead.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
        /// This model instead of the configured one.
        #[arg(long, value_name = "NAME")]
        model: Option<String>,
    },
    /// Show each model file and its condition.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Returns the models folder and the user's own runtime library. The folder is `LOCI_MODELS`, else `embedding.cache_dir`, else the data
/// folder's.
///
/// # Errors
/// `invalid`, naming the key.
pub fn model_config(paths: &Paths, config: &Config) -> Result<ModelConfig, Failure> {
    let models = match &config.embedding.cache_dir {
        Some(folder) if variable("LOCI_MODELS").is_none() => {
            config::expand("embedding.cache_dir", folder)?
        }
        _ => paths.models.clone(),
    };
    let ort_lib = variable("LOCI_ORT_LIB").map(PathBuf::from);
    Ok(ModelConfig { models, ort_lib })
}

/// Returns the configured model and where its files are.
///
/// # Errors
/// `invalid`, naming the key.
pub fn model_source(paths: &Paths, config: &Config) -> Result<ModelSource, Failure> {
    let pinned = model_config(paths, config)?;
    if config.embedding.provider != LOCAL {
        let policy = CurrentPolicy::new(config.privacy.policy()?);
        return Ok(ModelSource::Api(api_config(paths, config, policy)?));
    }
    if let Some(named) = config.embedding.named() {
        return Ok(ModelSource::named(named, pinned));
    }
    if let Some(folder) = config.embedding.custom_folder()? {
        let (named, expected, runtime) = (None, None, pinned);
        return Ok(ModelSource::Custom(CustomConfig { folder, named, expected, runtime }));
    }
    let model = config.embedding.pinned().unwrap_or(PinnedModel::standard());
    Ok(ModelSource::Pinned(PinnedSource { model, config: pinned }))
}

/// Returns the configured API.
///
/// # Errors
/// `invalid`, naming the key; also without the consent.
pub fn api_config(
    paths: &Paths,
    config: &Config,
    policy: CurrentPolicy,
) -> Result<ApiConfig, Failure> {
    let keys = &config.embedding;
    Ok(ApiConfig {
        target: keys.api_target()?,
        batch: usize::try_from(keys.batch).unwrap_or(1),
        flush: Duration::from_millis(u64::try_from(keys.flush_ms).unwrap_or(0)),
        daily_tokens: u64::try_from(keys.daily_tokens).unwrap_or(0),
        usage_file: usage_file(&database(paths, config)?),
        key_file: keys.api_key_file()?,
        policy,
        local: model_config(paths, config)?,
    })
}

/// Returns the file of the counters of an API.
#[must_use]
pub fn usage_file(database: &Path) -> PathBuf {
    let mut file = loci_proto::paths::canonical(database).into_os_string();
    file.push("-api-usage");
    file.into()
}

/// Returns the log level: `LOCI_LOG_LEVEL`, else `server.log_level`.
///
/// # Errors
/// `invalid`, naming the variable.
pub fn log_level(config: &Config) -> Result<String, Failure> {
    let Some(level) = variable("LOCI_LOG_LEVEL") else {
        return Ok(config.server.log_level.clone());
    };
    let level = level.to_string_lossy().into_owned();
    config::allowed::check_one_of("LOCI_LOG_LEVEL", &level, config::allowed::LOG_LEVELS)?;
    Ok(level)
}

/// A key whose value is computed at start instead of read from the file.
#[derive(Debug)]
pub struct Override {
    /// For example `storage.db_path`.
    pub key: &'static str,
    /// The value in force.
    pub value: String,
    /// The environment variable that sets it; `None` if the value is a default path or comes from the file.
    pub variable: Option<&'static str>,
}

/// Returns the keys that an environment variable can override, or whose default is a path.
///
/// # Errors
/// `invalid`, naming the key or the variable.
pub fn overrides(paths: &Paths, config: &Config) -> Result<Vec<Override>, Failure> {
    let if_set = |name: &'static str| variable(name).is_some().then_some(name);
    Ok(vec![
        Override {
            key: "storage.db_path",
            value: database(paths, config)?.display().to_string(),
            variable: paths.db_from_environment.then_some("LOCI_DB"),
        },
        Override {
            key: "storage.key_file",
            value: config::key_file::path(paths, config)?.display().to_string(),
            variable: None,
        },
        Override {
            key: "embedding.cache_dir",
            value: model_config(paths, config)?.models.display().to_string(),
            variable: if_set("LOCI_MODELS"),
        },
        Override {
            key: "server.log_level",
            value: log_level(config)?,
            variable: if_set("LOCI_LOG_LEVEL"),
        },
    ])
}

/// Returns the database file: `LOCI_DB`, else `storage.db_path`, else the data folder's.
///
/// # Errors
/// `invalid`, naming the key.
pub fn database(paths: &Paths, config: &Config) -> Result<PathBuf, Failure> {
    match &config.storage.db_path {
        Some(path) if !paths.db_from_environment => config::expand("storage.db_path", path),
        _ => Ok(paths.db.clone()),
    }
}

/// Returns a warning for each key of a provider that is set and not used: the variables are often set for other programs.
#[must_use]
pub fn ignored_variables(config: &Config) -> Vec<String> {
    let keys = &config.embedding;
    let is_unused = |provider: &Provider| {
        variable(provider.variable()).is_some()
            && (keys.provider != provider.as_str() || keys.key_file.is_some())
    };
    let warning = |provider: Provider| {
        let variable = provider.variable();
        if keys.key_file.is_some() && keys.provider == provider.as_str() {
            format!("{variable} is not used: embedding.key_file has the key")
        } else {
            format!("{variable} is not used: embedding.provider is \"{}\"", keys.provider)
        }
    };
    Provider::ALL.into_iter().filter(is_unused).map(warning).collect()
}

/// Returns a variable of this process; an empty one counts as not set.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Reads the configuration, with another local model if one is named.
fn read_config(paths: &Paths, model: Option<&str>) -> Result<(Config, ModelSource), Failure> {
    let mut config = Config::read(&paths.config)?;
    if let Some(model) = model {
        LOCAL.clone_into(&mut config.embedding.provider);
        model.clone_into(&mut config.embedding.model);
        // It is about the configured model.
        config.embedding.dimensions = None;
        config.embedding.check()?;
    }
    let model = model_source(paths, &config)?;
    Ok((config, model))
}

/// `locid model fetch`
#[must_use]
pub fn fetch(paths: &Paths, from: Option<&Path>, model: Option<&str>) -> ExitCode {
    // The download may create the data folder, which must not be open to other users.
    startup::make_private();
    let (config, model) = match read_config(paths, model) {
        Ok(configs) => configs,
        Err(failure) => return fail(&failure),
    };
    if let ModelSource::Api(api) = &model {
        let ApiTarget { host, .. } = &api.target;
        eprintln!("The model {} has no files: {host} computes its vectors", api.target.id());
        return Exit::Ok.into();
    }
    match fetch::fetch(&model, from, config.embedding.url.as_deref()) {
        Ok(fetched) => {
            fetched.warnings.iter().for_each(|warning| eprintln!("Warning: {warning}"));
            let outcome =
                if fetched.files.is_empty() { "was present already" } else { "was downloaded" };
            let folder = model.pinned().models.display();
            eprintln!("The model {outcome} and was checked: {folder}");
            Exit::Ok.into()
        }
        Err(error) => fail(&error),
    }
}

/// `locid model status`
#[must_use]
pub fn status(paths: &Paths, json: bool) -> ExitCode {
    let model = match read_config(paths, None) {
        Ok((_, model)) => model,
        Err(failure) => return fail(&failure),
    };
    let status = model.status();
    if json {
        match serde_json::to_string(&status) {
            Ok(text) => println!("{text}"),
            Err(error) => return fail(&error),
        }
    } else {
        println!("{}", status_table(&status));
    }
    if status.complete { Exit::Ok.into() } else { Exit::Failed.into() }
}

/// `locid paths`
#[must_use]
pub fn paths(paths: &Paths) -> ExitCode {
    let places = Config::read(&paths.config).and_then(|config| {
        Ok(Places {
            database: database(paths, &config)?,
            models: model_config(paths, &config)?.models,
        })
    });
    match places.map(|places| serde_json::to_string(&places)) {
        Ok(Ok(text)) => {
            println!("{text}");
            Exit::Ok.into()
        }
        Ok(Err(error)) => fail(&error),
        Err(failure) => fail(&failure),
    }
}

fn status_table(status: &ModelStatus) -> String {
    let line = |file: &FileStatus| {
        let note = if file.unpinned { "  (unpinned)" } else { "" };
        let (condition, path) = (file.condition.as_str(), file.path.display());
        format!("{condition:8}{:>12} bytes  {path}{note}", file.size)
    };
    let mut lines = vec![status.id.clone()];
    lines.extend(status.files.iter().map(line));
    if let Some(library) = &status.ort_lib {
        lines.push(format!("LOCI_ORT_LIB selects {}", library.display()));
    }
    lines.join("\n")
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("Error: {error}");
    Exit::Failed.into()
}
