//! Watches the memory files of clients, read-only, where a person has switched that on.
//!
//! The files are looked at when the daemon starts, when a session of the client starts, and every `bridge.interval_seconds`: a look is a
//! `stat` of each file, and only what has changed is read. Not here: finding and reading files (`files`), one scan (`scan`), versions and
//! imports (the engine).

mod files;
mod scan;

use crate::interface::agents::session::Session;
use crate::service::Service;
use files::Stamp;
use loci_engine::bridge::LoadedMemory;
use loci_engine::operations::bridge::LoadedMemories;
use loci_proto::group::GroupHint;
use loci_proto::requests::bridge::{BridgeClient, BridgeProject, claude_folder_name};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Maximum sessions whose projects wait to be recorded.
const MAX_STARTED: usize = 64;

/// The state of the watcher.
#[derive(Default)]
pub struct Bridge {
    /// Asks for a scan before the interval is over.
    wake: Notify,
    /// False while no client is watched: nothing is looked at then.
    is_on: AtomicBool,
    /// One scan at a time; the files as they were last read.
    stamps: tokio::sync::Mutex<HashMap<PathBuf, Stamp>>,
    /// What could not be read in the last scan.
    problems: Mutex<Vec<String>>,
    /// What clients load of their own memory.
    loaded: RwLock<HashMap<(BridgeClient, Option<String>), Arc<LoadedMemory>>>,
    /// Projects of sessions that have started since the last scan.
    started: Mutex<Vec<(BridgeClient, BridgeProject)>>,
}

impl Bridge {
    /// Returns what a client loads of its own memory in a project.
    #[must_use]
    pub fn loaded(&self, client: BridgeClient, group: &str) -> Option<Arc<LoadedMemory>> {
        let loaded = self.loaded.read();
        let of = |group: Option<String>| loaded.get(&(client, group)).cloned();
        of(Some(group.to_owned())).or_else(|| of(None))
    }

    /// Returns what could not be read in the last scan.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.problems.lock().clone()
    }

    /// Asks for a scan, because a session of a client has started, and notes its project.
    pub fn session_started(&self, client: &str, session: &Session) {
        let Some(client) = BridgeClient::of(client) else { return };
        if !self.is_on.load(Ordering::Relaxed) {
            return;
        }
        let mut started = self.started.lock();
        if let Some(project) = project_of(session).filter(|_| started.len() < MAX_STARTED) {
            started.push((client, project));
        }
        self.wake.notify_one();
    }

    /// Asks for a scan: a client was switched on or off.
    pub fn switched(&self) {
        self.is_on.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    fn set_loaded(&self, loaded: LoadedMemories) {
        let loaded = loaded.into_iter().map(|(key, memory)| (key, Arc::new(memory)));
        *self.loaded.write() = loaded.collect();
    }
}

/// Returns the project of a session under the name that Claude Code gives to its folder.
fn project_of(session: &Session) -> Option<BridgeProject> {
    let (path, part) = match &session.hello.group {
        GroupHint::Folder(path) => (path.clone(), None),
        GroupHint::ProjectNamed { folder, name } => (folder.clone(), Some(name.clone())),
        GroupHint::Named(_) | GroupHint::Default => return None,
    };
    let name = claude_folder_name(path.strip_suffix("/.git").unwrap_or(&path));
    let (off, opted_in) = (session.hello.off, session.hello.opted_in);
    Some(BridgeProject { name, path, part, off, opted_in })
}

/// Scans until the daemon drains.
pub async fn run_in_background(service: &Service, draining: CancellationToken) {
    // The first scan finds out whether a client is watched.
    service.bridge.is_on.store(true, Ordering::Relaxed);
    loop {
        if service.bridge.is_on.load(Ordering::Relaxed)
            && let Err(failure) = service.scan_bridge().await
        {
            tracing::debug!(%failure, "the memory files of clients were not scanned");
        }
        let interval = Duration::from_secs(service.config.config().bridge.interval());
        tokio::select! {
            () = draining.cancelled() => return,
            () = service.bridge.wake.notified() => {}
            () = tokio::time::sleep(interval) => {}
        }
    }
}
