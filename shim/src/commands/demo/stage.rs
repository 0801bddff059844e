//! Where the demonstration is played: a temporary home, runtime folder and project.

use crate::output::Problem;
use crate::spawn::folders;
use loci_proto::paths::{Paths, Variables};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::process::Command;

/// A loci of its own.
pub struct Stage {
    folder: TempDir,
    project: PathBuf,
    loci: PathBuf,
    paths: Paths,
}

impl Stage {
    /// Makes the folders.
    pub fn set() -> Result<Self, Problem> {
        let usual = Variables::of_process();
        let models = Paths::resolve(&usual)?.models;
        let folder = tempfile::Builder::new().prefix("loci-demo-").tempdir()?;
        let [home, runtime, project] =
            ["home", "run", "project"].map(|name| folder.path().join(name));
        for made in [&home, &runtime, &project] {
            folders::make(made)?;
        }
        let variables = Variables {
            home: Some(home),
            runtime: Some(runtime),
            models: Some(models),
            db: None,
            config: None,
            user_home: usual.user_home,
        };
        Ok(Self {
            paths: Paths::resolve(&variables)?,
            loci: std::env::current_exe()?,
            folder,
            project,
        })
    }

    /// Where everything is.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Where its sockets are.
    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Our own binary, run by a person who has nothing yet but the model.
    pub fn loci(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.loci);
        for foreign in ["LOCI_DB", "LOCI_CONFIG", "LOCI_GROUP", "CLAUDE_PROJECT_DIR"] {
            command.env_remove(foreign);
        }
        command
            .args(arguments)
            .current_dir(&self.project)
            .env("LOCI_HOME", &self.paths.home)
            .env("LOCI_MODELS", &self.paths.models);
        command.env("XDG_RUNTIME_DIR", self.folder.path().join("run")).kill_on_drop(true);
        command
    }

    /// Fetches the model, unless it is there; the person sees the progress.
    pub async fn fetch_model(&self) -> Result<(), Problem> {
        let status = self.loci(&["model", "download"]).status().await?;
        if status.success() {
            return Ok(());
        }
        Err(Problem::new("The model could not be fetched")
            .hint("`loci model download --from PATH` takes it from a folder"))
    }

    /// Removes everything.
    pub fn strike(self) -> io::Result<()> {
        self.folder.close()
    }
}
