//! Automatic download: the first text that needs a missing model starts `locid model fetch` as a child process.
//!
//! It starts at most once per run of the daemon, and never if `embedding.download` is off. The child process inherits the daemon's
//! environment, including the user's proxy and certificates; the daemon itself opens no connection. Not here: the download (`fetch`).

use crate::embedding::embedder::Embedder;
use crate::embedding::state::ModelState;
use crate::process::own_program;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::process::{Child, Command};

/// Starts the automatic download, at most once.
#[derive(Debug)]
pub struct AutoFetch {
    allowed: AtomicBool,
    in_progress: Arc<AtomicBool>,
}

impl AutoFetch {
    /// Allows the download if `download` is true.
    #[must_use]
    pub fn new(download: bool) -> Self {
        Self { allowed: AtomicBool::new(download), in_progress: Arc::default() }
    }

    /// Starts the download if the model is missing and no download was started before; returns at once.
    pub fn fetch_if_missing(&self, embedder: &Embedder) {
        let missing = matches!(embedder.state(), ModelState::Missing { .. });
        if missing && self.allowed.swap(false, Ordering::Relaxed) {
            self.in_progress.store(true, Ordering::Relaxed);
            let (embedder, in_progress) = (embedder.clone(), Arc::clone(&self.in_progress));
            tokio::spawn(async move {
                fetch_and_reload(embedder).await;
                in_progress.store(false, Ordering::Relaxed);
            });
        }
    }

    /// True while the download runs.
    #[must_use]
    pub fn is_fetching(&self) -> bool {
        self.in_progress.load(Ordering::Relaxed)
    }
}

async fn fetch_and_reload(embedder: Embedder) {
    tracing::info!("downloading the missing embedding model");
    match run_fetch().await {
        Ok(status) if status.success() => embedder.reload(),
        Ok(status) => {
            tracing::warn!(%status, "the model could not be fetched; run `loci model download`");
        }
        Err(error) => {
            tracing::warn!(%error, "the model could not be fetched; run `loci model download`");
        }
    }
}

async fn run_fetch() -> io::Result<ExitStatus> {
    let mut locid = Command::from(own_program::command()?);
    locid.args(["model", "fetch"]).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    let mut child = FetchProcess(locid.spawn()?);
    child.0.wait().await
}

/// `locid model fetch` and its child processes. Dropping this kills them, also pip, which would otherwise continue to write into the
/// models folder.
struct FetchProcess(Child);

impl Drop for FetchProcess {
    fn drop(&mut self) {
        // After `wait` there is no process id, and the process group is empty, because the child waits for pip.
        if let Some(pid) = self.0.id().and_then(|pid| i32::try_from(pid).ok()) {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
