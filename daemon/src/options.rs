//! The command line of `locid`, and its short-lived commands.

use crate::config::{self, Config};
use crate::embedding::model::{FileStatus, ModelStatus};
use crate::embedding::{ModelConfig, fetch, model};
use crate::lifecycle;
use clap::{Parser, Subcommand};
use loci_proto::error::{Exit, Failure};
use loci_proto::paths::Paths;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The daemon of loci. People use `loci`; it starts this by itself.
#[derive(Debug, Parser)]
#[command(name = "locid", version)]
pub struct Options {
    /// Started by a shim rather than by a person or a service manager: end when nobody has been there for a while.
    #[arg(long)]
    pub auto_started: bool,
    /// Seconds without a session after which an auto-started daemon ends.
    #[arg(long, default_value_t = 15 * 60, value_name = "SECONDS")]
    pub idle_exit: u64,
    /// Where the service file that starts this says agents find it; it starts only if that is so.
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Seconds that a peer may take to read an answer, or to go on with a line, before it is dropped.
    #[arg(long, default_value_t = 30, value_name = "SECONDS", hide = true)]
    pub read_deadline: u64,
    /// What to do; without one, serve.
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Options {
    /// How long an auto-started daemon stays without a session.
    #[must_use]
    pub fn idle_limit(&self) -> Option<Duration> {
        self.auto_started.then(|| Duration::from_secs(self.idle_exit))
    }

    /// How long a peer may take to read an answer, or to go on with a line.
    #[must_use]
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.read_deadline)
    }
}

/// What `locid` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve until stopped.
    Serve,
    /// Look after the model's files.
    Model {
        /// What to do with them.
        #[command(subcommand)]
        command: Model,
    },
}

/// What `locid model` can do.
#[derive(Debug, Subcommand)]
pub enum Model {
    /// Bring the model and its runtime to this machine.
    Fetch {
        /// A folder that holds the files already.
        #[arg(long, value_name = "PATH")]
        from: Option<PathBuf>,
    },
    /// Show each file and whether it is the right one.
    Status {
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The model's folder: `LOCI_MODELS`, else `embedding.cache_dir`, else the data folder's.
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

/// The level of the log: `LOCI_LOG_LEVEL`, else `server.log_level`.
///
/// # Errors
/// `invalid`, naming the variable.
pub fn log_level(config: &Config) -> Result<String, Failure> {
    let Some(level) = variable("LOCI_LOG_LEVEL") else {
        return Ok(config.server.log_level.clone());
    };
    let level = level.to_string_lossy().into_owned();
    config::one_of("LOCI_LOG_LEVEL", &level, config::LOG_LEVELS)?;
    Ok(level)
}

/// Keys whose value is worked out at start: the key, the value, and the variable that wins over the file.
pub type Overrides = Vec<(&'static str, String, Option<&'static str>)>;

/// What becomes of the keys that a variable can win over, or whose default is a place.
///
/// # Errors
/// `invalid`, naming the key or the variable.
pub fn overrides(paths: &Paths, config: &Config) -> Result<Overrides, Failure> {
    let won = |name: &'static str| variable(name).is_some().then_some(name);
    Ok(vec![
        (
            "storage.db_path",
            database(paths, config)?.display().to_string(),
            paths.db_from_environment.then_some("LOCI_DB"),
        ),
        (
            "embedding.cache_dir",
            model_config(paths, config)?.models.display().to_string(),
            won("LOCI_MODELS"),
        ),
        ("server.log_level", log_level(config)?, won("LOCI_LOG_LEVEL")),
    ])
}

/// The database: `LOCI_DB`, else `storage.db_path`, else the data folder's.
///
/// # Errors
/// `invalid`, naming the key.
pub fn database(paths: &Paths, config: &Config) -> Result<PathBuf, Failure> {
    match &config.storage.db_path {
        Some(path) if !paths.db_from_environment => config::expand("storage.db_path", path),
        _ => Ok(paths.db.clone()),
    }
}

/// Variables that mean something to a later version, each in a sentence for `loci ctl status`.
///
/// They are often set for other programs, so that refusing to start would be no service to anybody.
#[must_use]
pub fn ignored_variables() -> Vec<String> {
    let set =
        ["VOYAGE_API_KEY", "OPENAI_API_KEY"].into_iter().filter(|name| variable(name).is_some());
    set.map(|name| format!("{name} is ignored: embedding by a provider is not in this version"))
        .collect()
}

/// A variable of this process; an empty one counts as not set.
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn read(paths: &Paths) -> Result<(Config, ModelConfig), Failure> {
    let config = Config::read(&paths.config)?;
    let model = model_config(paths, &config)?;
    Ok((config, model))
}

/// `locid model fetch`
#[must_use]
pub fn fetch(paths: &Paths, from: Option<&Path>) -> ExitCode {
    // It may be the first to make the data folder, which the daemon wants closed to others.
    lifecycle::go_private();
    let (config, model) = match read(paths) {
        Ok(read) => read,
        Err(failure) => return fail(&failure),
    };
    match fetch::fetch(&model, from, config.embedding.url.as_deref()) {
        Ok(fetched) => {
            fetched.warnings.iter().for_each(|warning| eprintln!("Warning: {warning}"));
            let done =
                if fetched.files.is_empty() { "was there already" } else { "has been fetched" };
            eprintln!("The model {done}, whole and working: {}", model.models.display());
            Exit::Ok.into()
        }
        Err(error) => fail(&error),
    }
}

/// `locid model status`
#[must_use]
pub fn status(paths: &Paths, json: bool) -> ExitCode {
    let model = match read(paths) {
        Ok((_, model)) => model,
        Err(failure) => return fail(&failure),
    };
    let status = model::status(&model);
    if json {
        match serde_json::to_string(&status) {
            Ok(text) => println!("{text}"),
            Err(error) => return fail(&error),
        }
    } else {
        println!("{}", in_words(&status));
    }
    if status.complete { Exit::Ok.into() } else { Exit::Failed.into() }
}

fn in_words(status: &ModelStatus) -> String {
    let line = |file: &FileStatus| {
        format!("{:8}{:>12} bytes  {}", file.condition.as_str(), file.size, file.path.display())
    };
    let mut lines = vec![status.id.to_owned()];
    lines.extend(status.files.iter().map(line));
    if let Some(library) = &status.ort_lib {
        lines.push(format!("LOCI_ORT_LIB chooses {}", library.display()));
    }
    lines.join("\n")
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    eprintln!("Error: {error}");
    Exit::Failed.into()
}
