//! The first text that needs the model brings it here: `locid model fetch`, in a process of its own.
//!
//! Tried once in a daemon's life, and never when `embedding.download` is off. The child has the environment that the daemon was
//! started with, and so the person's proxy and certificates; the daemon itself opens no connection. Not here: the fetching.

use super::{Embedder, State};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::process::Command;

/// Whether the model may still be sent for.
#[derive(Debug)]
pub struct FirstUse {
    allowed: AtomicBool,
}

impl FirstUse {
    /// Nothing has been sent for yet.
    #[must_use]
    pub fn new(download: bool) -> Self {
        Self { allowed: AtomicBool::new(download) }
    }

    /// Sends for the model if it is missing, once; returns at once.
    pub fn send_for(&self, embedder: &Embedder) {
        let missing = matches!(embedder.state(), State::Missing { .. });
        if missing && self.allowed.swap(false, Ordering::Relaxed) {
            tokio::spawn(fetch(embedder.clone()));
        }
    }
}

async fn fetch(embedder: Embedder) {
    let Ok(locid) = std::env::current_exe() else { return };
    tracing::info!("fetching the model, since it is missing and wanted");
    let child = Command::new(locid).args(["model", "fetch"]).stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true).status().await;
    match child {
        Ok(status) if status.success() => embedder.look_again(),
        Ok(status) => tracing::warn!(%status, "the model could not be fetched; run loci model download"),
        Err(error) => tracing::warn!(%error, "the model could not be fetched; run loci model download"),
    }
}
