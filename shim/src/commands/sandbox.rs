//! A sandbox: a temporary home, runtime folder and project folder, with the user's model files.
//!
//! Not here: what runs in it (`demo`, `eval`).

use crate::client::admin::RequestError;
use crate::client::backoff::Backoff;
use crate::client::unreachable::Unreachable;
use crate::commands::ctl::{status, stop};
use crate::commands::short_lived;
use crate::output::Problem;
use crate::spawn::folders;
use loci_proto::admin::Status;
use loci_proto::paths::{Paths, Variables};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

/// Time limit for loading the model.
const MODEL_TIMEOUT: Duration = Duration::from_mins(1);

/// An isolated loci installation.
pub struct Sandbox {
    folder: TempDir,
    project: PathBuf,
    loci: PathBuf,
    /// Its paths.
    pub paths: Paths,
}

impl Sandbox {
    /// Runs steps in a new sandbox, then stops its daemon and removes it, also after an error or an interrupt.
    ///
    /// # Errors
    /// The error of the steps, or one of the removal.
    pub async fn run<T>(
        prefix: &str,
        steps: impl AsyncFnOnce(&Self) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let sandbox = Self::create(prefix).await?;
        let result = tokio::select! {
            result = steps(&sandbox) => result,
            () = ended() => Err(Problem::new("It was interrupted")),
        };
        let stopped = stop::stop(&sandbox.paths).await;
        let folder = sandbox.folder.path().display().to_string();
        let removed = sandbox
            .folder
            .close()
            .map_err(|error| Problem::new(format!("Cannot remove {folder}")).because(&error));
        let outcome = result?;
        stopped?;
        removed?;
        Ok(outcome)
    }

    async fn create(prefix: &str) -> Result<Self, Problem> {
        let places = short_lived::places().await?;
        let private = fs::Permissions::from_mode(0o700);
        let folder = tempfile::Builder::new().prefix(prefix).permissions(private).tempdir()?;
        let [home, runtime, project] =
            ["home", "run", "project"].map(|name| folder.path().join(name));
        for path in [&home, &runtime, &project] {
            folders::create(path)?;
        }
        let variables = Variables {
            home: Some(home),
            runtime: Some(runtime),
            models: Some(places.models),
            db: None,
            config: None,
            user_home: Variables::of_process().user_home,
        };
        Ok(Self {
            paths: Paths::resolve(&variables)?,
            loci: std::env::current_exe()?,
            folder,
            project,
        })
    }

    /// Returns the folder that contains everything.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns a command that runs our own binary inside the sandbox with the user's model cache.
    pub fn loci(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.loci);
        for variable in ["LOCI_DB", "LOCI_CONFIG", "LOCI_GROUP", "CLAUDE_PROJECT_DIR"] {
            command.env_remove(variable);
        }
        command
            .args(arguments)
            .current_dir(&self.project)
            .env("LOCI_HOME", &self.paths.home)
            .env("LOCI_MODELS", &self.paths.models);
        command.env("XDG_RUNTIME_DIR", self.folder.path().join("run")).kill_on_drop(true);
        command
    }

    /// Downloads the model if it is missing; the progress is visible.
    pub async fn download_model(&self) -> Result<(), Problem> {
        let status = self.loci(&["model", "download"]).status().await?;
        if status.success() {
            return Ok(());
        }
        Err(Problem::new("Cannot download the model")
            .hint("`loci model download --from PATH` copies it from a folder"))
    }

    /// Waits until the daemon has loaded the model.
    pub async fn wait_for_model(&self) -> Result<(), Problem> {
        let until_ready = async {
            let mut backoff = Backoff::default();
            loop {
                match status::fetch(&self.paths).await {
                    Ok(status) if status.model.state == "ready" => return Ok(()),
                    Ok(status) if status.model.state != "loading" => {
                        return Err(model_error(&status));
                    }
                    Ok(_) | Err(RequestError::Unreachable(Unreachable::Absent)) => {}
                    Err(reason) => return Err(reason.into()),
                }
                backoff.wait().await;
            }
        };
        let seconds = MODEL_TIMEOUT.as_secs();
        let late = |_| Problem::new(format!("The model was not ready within {seconds} seconds"));
        timeout(MODEL_TIMEOUT, until_ready).await.map_err(late)?
    }
}

/// Waits until somebody ends this process: by Ctrl-C, a closed terminal, `kill`.
async fn ended() {
    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::hangup()) => {}
        () = wait(SignalKind::terminate()) => {}
    }
}

fn model_error(status: &Status) -> Problem {
    let problem = Problem::new(format!("The model is {}", status.model.state));
    status.warnings.iter().fold(problem, Problem::because)
}
