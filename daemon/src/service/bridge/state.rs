//! The state of the watcher of clients' memory files, and what hooks ask it.
//!
//! Not here: when the files are read (`service::bridge`), one scan (`scan`).

use crate::interface::agents::session::Session;
use crate::service::bridge::files::Stamp;
use loci_engine::bridge::LoadedMemory;
use loci_engine::operations::bridge::LoadedMemories;
use loci_proto::group::GroupHint;
use loci_proto::requests::bridge::{BridgeClient, BridgeProject, claude_folder_name};
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::Notify;

/// Maximum sessions whose projects wait to be recorded.
const MAX_STARTED: usize = 64;

/// What each client loads in each project, shared with hooks that are running.
type SharedMemories = HashMap<(BridgeClient, Option<String>), Arc<LoadedMemory>>;

/// The state of the watcher.
#[derive(Default)]
pub struct Bridge {
    /// Asks for a scan before the interval is over.
    pub(super) wake: Notify,
    /// False while no client is watched: nothing is looked at then.
    pub(super) is_on: AtomicBool,
    /// One scan at a time; the files as they were last read.
    pub(super) stamps: tokio::sync::Mutex<HashMap<PathBuf, Stamp>>,
    /// What could not be read in the last scan.
    pub(super) problems: Mutex<Vec<String>>,
    /// What clients load of their own memory.
    loaded: RwLock<SharedMemories>,
    /// Projects of sessions that have started since the last scan.
    pub(super) started: Mutex<Vec<(BridgeClient, BridgeProject)>>,
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

    pub(super) fn set_loaded(&self, loaded: LoadedMemories) {
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
