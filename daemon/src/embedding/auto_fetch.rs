//! The first text that needs the model brings it here: `locid model fetch`, in a process of its own.
//!
//! Tried once in a daemon's life, and never when `embedding.download` is off. The child has the environment that the daemon was
//! started with, and so the person's proxy and certificates; the daemon itself opens no connection. Not here: the fetching.

use crate::embedding::{Embedder, State};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::process::{Child, Command};

/// Whether the model may still be sent for.
#[derive(Debug)]
pub struct FirstUse {
    allowed: AtomicBool,
    under_way: Arc<AtomicBool>,
}

impl FirstUse {
    /// Nothing has been sent for yet.
    #[must_use]
    pub fn new(download: bool) -> Self {
        Self { allowed: AtomicBool::new(download), under_way: Arc::default() }
    }

    /// Sends for the model if it is missing, once; returns at once.
    pub fn send_for(&self, embedder: &Embedder) {
        let missing = matches!(embedder.state(), State::Missing { .. });
        if missing && self.allowed.swap(false, Ordering::Relaxed) {
            self.under_way.store(true, Ordering::Relaxed);
            let (embedder, under_way) = (embedder.clone(), Arc::clone(&self.under_way));
            tokio::spawn(async move {
                fetch(embedder).await;
                under_way.store(false, Ordering::Relaxed);
            });
        }
    }

    /// True while the model is on its way.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.under_way.load(Ordering::Relaxed)
    }
}

async fn fetch(embedder: Embedder) {
    tracing::info!("fetching the model, since it is missing and wanted");
    match fetched().await {
        Ok(status) if status.success() => embedder.look_again(),
        Ok(status) => {
            tracing::warn!(%status, "the model could not be fetched; run loci model download")
        }
        Err(error) => {
            tracing::warn!(%error, "the model could not be fetched; run loci model download")
        }
    }
}

async fn fetched() -> io::Result<ExitStatus> {
    let mut locid = Command::new(std::env::current_exe()?);
    locid.args(["model", "fetch"]).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
    let mut fetching = Fetching(locid.spawn()?);
    fetching.0.wait().await
}

/// `locid model fetch` and whatever it starts: they end with this, pip too, which would go on writing into the models' folder.
struct Fetching(Child);

impl Drop for Fetching {
    fn drop(&mut self) {
        // Once it has been waited for it has no number any more, and its group is empty: it waits for pip itself.
        if let Some(pid) = self.0.id().and_then(|pid| i32::try_from(pid).ok()) {
            let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
        }
    }
}
