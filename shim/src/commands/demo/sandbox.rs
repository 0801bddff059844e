//! The sandbox of the demo: a temporary home, runtime folder and project folder.

use crate::output::Problem;
use crate::spawn::folders;
use loci_proto::paths::{Paths, Variables};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::process::Command;

/// An isolated loci installation.
pub struct Sandbox {
    folder: TempDir,
    project: PathBuf,
    loci: PathBuf,
    paths: Paths,
}

impl Sandbox {
    /// Creates the folders.
    pub fn create() -> Result<Self, Problem> {
        let variables_of_process = Variables::of_process();
        let models = Paths::resolve(&variables_of_process)?.models;
        let folder = tempfile::Builder::new().prefix("loci-demo-").tempdir()?;
        let [home, runtime, project] =
            ["home", "run", "project"].map(|name| folder.path().join(name));
        for path in [&home, &runtime, &project] {
            folders::create(path)?;
        }
        let variables = Variables {
            home: Some(home),
            runtime: Some(runtime),
            models: Some(models),
            db: None,
            config: None,
            user_home: variables_of_process.user_home,
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

    /// Returns the paths of the sandbox.
    pub fn paths(&self) -> &Paths {
        &self.paths
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

    /// Removes the folder.
    pub fn remove(self) -> io::Result<()> {
        self.folder.close()
    }
}
