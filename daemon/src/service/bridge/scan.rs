//! One scan: compares the memory files of the watched clients with what the store has, and records what has changed.
//!
//! Not here: finding files (`files`), what is recorded (the engine).

use crate::service::Service;
use crate::service::bridge::files::{self, FoundFile, FoundFiles};
use loci_engine::bridge::{ComparisonBudget, screened, statements};
use loci_engine::operations::bridge::{
    self, BridgeState, KnownFile, Scan, ScanCounts, ScannedFile, WatchedClient, WatchedProject,
};
use loci_engine::privacy::Policy;
use loci_engine::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::bridge::{BridgeClient, claude_folder_name, file_hash};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::SystemTime;

/// Maximum files that are recorded in one transaction: calls wait for the writer meanwhile.
const FILES_AT_ONCE: usize = 16;
/// Maximum problems that are kept.
const MAX_PROBLEMS: usize = 20;

/// What is to be recorded.
#[derive(Default)]
struct Changes {
    changed: Vec<ScannedFile>,
    gone: Vec<String>,
    problems: Vec<String>,
    /// A file is perhaps still being written, and is read later.
    is_writing: bool,
}

/// What a scan has found.
#[derive(Default)]
pub struct Scanned {
    /// What it recorded.
    pub counts: ScanCounts,
    /// A file is perhaps still being written: look again soon.
    pub is_writing: bool,
}

/// Decides which projects are looked at.
struct Projects {
    state: BridgeState,
    /// Projects that are off, by the client's name.
    off: HashSet<String>,
    /// Projects that no session knows yet are looked at too.
    serves_unknown: bool,
}

impl Projects {
    fn is_served(&self, name: &str) -> bool {
        match self.state.projects.get(name) {
            Some(_) => !self.off.contains(name),
            None => self.serves_unknown,
        }
    }

    fn of(&self, name: Option<&str>) -> Option<&WatchedProject> {
        self.state.projects.get(name?)
    }
}

impl Service {
    /// Looks at the files of all watched clients, and records what has changed. A file that changed at or after `unsettled` is left for the
    /// next scan: a client may have emptied it and be about to write it.
    ///
    /// # Errors
    /// `busy`, `storage_failed`.
    pub async fn scan_bridge(&self, unsettled: Option<SystemTime>) -> Result<Scanned, Failure> {
        let mut stamps = self.bridge.stamps.lock().await;
        self.record_started().await?;
        let state = self.read(loci_engine::Reader::bridge_state).await?;
        self.bridge.is_on.store(!state.clients.is_empty(), Ordering::Relaxed);
        let clients = state.clients.clone();
        let projects = Arc::new(self.projects(state).await?);
        let (mut scanned, mut problems) = (Scanned::default(), Vec::new());
        for client in clients {
            let (watched, projects) = (client.clone(), Arc::clone(&projects));
            let (policy, known) = (self.config.policy(), std::mem::take(&mut *stamps));
            let work = move || {
                let mut known = known;
                let changes = changes(&watched, &projects, &policy, &mut known, unsettled);
                (changes, known)
            };
            let (changes, known) = tokio::task::spawn_blocking(work)
                .await
                .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
            *stamps = known;
            problems.extend(changes.problems.iter().cloned());
            scanned.is_writing |= changes.is_writing;
            let recorded = self.record_changes(client.client, changes).await;
            if recorded.is_err() {
                // What was read and not recorded is read again.
                stamps.clear();
            }
            scanned.counts.add(recorded?);
        }
        problems.truncate(MAX_PROBLEMS);
        *self.bridge.problems.lock() = problems;
        self.bridge.set_loaded(self.read(loci_engine::Reader::bridge_loaded).await?);
        if scanned.counts != ScanCounts::default() {
            let ScanCounts { files, versions, imported, reworded } = scanned.counts;
            tracing::info!(
                files,
                versions,
                imported,
                reworded,
                "memory files of clients were recorded"
            );
            self.request_checkpoint();
        }
        if scanned.counts.imported > 0 {
            self.set_vectors_missing(true);
        }
        Ok(scanned)
    }

    /// Records the projects of sessions that have started.
    async fn record_started(&self) -> Result<(), Failure> {
        let started = std::mem::take(&mut *self.bridge.started.lock());
        let known = self.read(loci_engine::Reader::bridge_state).await?.projects;
        let pools = self.pools().await?;
        for (client, project) in started {
            if known.get(&project.name).is_some_and(|known| known.path == project.path) {
                continue;
            }
            let call = self.bridge_call();
            pools
                .run_briefly(move |writer| writer.record_bridge_project(&call, client, &project))
                .await?;
        }
        Ok(())
    }

    /// Finds out in which projects loci is off.
    async fn projects(&self, state: BridgeState) -> Result<Projects, Failure> {
        let pools = self.pools().await?;
        let opt_in = self.config.serves_opted_in_only();
        let is_off = |project: &WatchedProject| {
            let needs_file = opt_in && !project.has_file && !pools.switches.is_on(&project.group);
            let folder = work_tree(&project.path);
            project.is_off || needs_file || pools.switches.is_off_in(&project.group, folder)
        };
        let work_trees: Vec<(String, PathBuf)> = state
            .projects
            .iter()
            .map(|(name, project)| (name.clone(), PathBuf::from(work_tree(&project.path))))
            .collect();
        let mut off: HashSet<String> = state
            .projects
            .iter()
            .filter(|(_, project)| is_off(project))
            .map(|(name, _)| name.clone())
            .collect();
        let by_file = tokio::task::spawn_blocking(move || {
            let is_off = |(_, path): &(String, PathBuf)| files::is_switched_off(path);
            work_trees.into_iter().filter(is_off).map(|(name, _)| name).collect::<Vec<_>>()
        });
        off.extend(by_file.await.unwrap_or_default());
        Ok(Projects { state, off, serves_unknown: !opt_in })
    }

    /// Records changes, a few files and statements at a time.
    async fn record_changes(
        &self,
        client: BridgeClient,
        changes: Changes,
    ) -> Result<ScanCounts, Failure> {
        let Changes { mut changed, mut gone, .. } = changes;
        let mut budget = ComparisonBudget::default();
        let mut counts = ScanCounts::default();
        loop {
            let mut files: Vec<_> = changed.drain(..changed.len().min(FILES_AT_ONCE)).collect();
            let work = move |reader: &loci_engine::Reader| {
                let budget = reader.find_rewordings(client, &mut files, budget)?;
                Ok((files, budget))
            };
            let (files, rest) = self.read(work).await?;
            budget = rest;
            counts.add(self.record_files(client, files, std::mem::take(&mut gone)).await?);
            if changed.is_empty() {
                return Ok(counts);
            }
        }
    }

    /// Records some files completely; other calls get the writer in between.
    async fn record_files(
        &self,
        client: BridgeClient,
        changed: Vec<ScannedFile>,
        gone: Vec<String>,
    ) -> Result<ScanCounts, Failure> {
        let pools = self.pools().await?;
        let config = self.config.config().bridge;
        let (import, max_bytes) = (config.import, config.max_bytes());
        let mut scan = Scan { client, changed, gone, import, max_bytes };
        let mut counts = ScanCounts::default();
        loop {
            let call = self.bridge_call();
            let work = move |writer: &mut loci_engine::Writer| {
                let progress = writer.record_bridge_scan(&call, &scan)?;
                scan.changed.drain(..progress.changed);
                scan.gone.drain(..progress.gone);
                Ok((scan, progress))
            };
            let (rest, progress) = pools.run_briefly(work).await?;
            counts.add(progress.counts);
            if rest.changed.is_empty() && rest.gone.is_empty() {
                return Ok(counts);
            }
            scan = rest;
        }
    }

    fn bridge_call(&self) -> CallContext {
        CallContext { now: self.now(), actor: bridge::actor(), key: None, shown: None }
    }
}

fn work_tree(path: &str) -> &str {
    path.strip_suffix("/.git").unwrap_or(path)
}

type Stamps = std::collections::HashMap<PathBuf, files::Stamp>;

/// Finds what has changed in the files of one client.
fn changes(
    watched: &WatchedClient,
    projects: &Projects,
    policy: &Policy,
    stamps: &mut Stamps,
    unsettled: Option<SystemTime>,
) -> Changes {
    let found = find(watched, projects);
    let mut changes = Changes { problems: found.problems, ..Changes::default() };
    let mut present = HashSet::new();
    for file in &found.files {
        let path = file.path.to_string_lossy().into_owned();
        present.insert(path.clone());
        // A file whose project has become known is recorded again.
        let is_placed = |known: &&KnownFile| {
            known.has_project || projects.of(file.project.as_deref()).is_none()
        };
        let known = projects.state.files.get(&path).filter(is_placed);
        if known.is_some() && stamps.get(&file.path) == Some(&file.stamp) {
            continue;
        }
        if unsettled.is_some_and(|since| file.stamp.is_modified_since(since)) {
            changes.is_writing = true;
            continue;
        }
        let read = match files::read(&file.path) {
            Ok(read) => read,
            Err(reason) => {
                changes.problems.push(reason);
                continue;
            }
        };
        if unsettled.is_some() && !file.stamp.is_of(&file.path) {
            changes.is_writing = true;
            continue;
        }
        stamps.insert(file.path.clone(), file.stamp);
        let hash = file_hash(read.text.as_bytes());
        if known.is_some_and(|known| known.hash.as_ref() == Some(&hash)) {
            continue;
        }
        changes.changed.extend(scanned(watched.client, projects, policy, (file, read, hash)));
    }
    // Each is asked for by itself: what a problem kept from being looked at may still be there.
    let is_gone = |path: &str| is_below(watched, projects, path) && files::is_gone(Path::new(path));
    let missing = projects.state.files.keys().filter(|path| !present.contains(*path));
    changes.gone = missing.filter(|path| is_gone(path)).cloned().collect();
    changes.gone.sort();
    changes
}

fn find(watched: &WatchedClient, projects: &Projects) -> FoundFiles {
    let folder = Path::new(&watched.folder);
    let mut found = match watched.client {
        BridgeClient::Claude => files::of_claude(folder, |name| projects.is_served(name)),
        BridgeClient::Codex => files::of_codex(folder),
    };
    if let Some(other) = &watched.other {
        found.extend(files::below(Path::new(other)));
    }
    found
}

/// Returns whether a file that is missing was one that this scan looked for.
fn is_below(watched: &WatchedClient, projects: &Projects, path: &str) -> bool {
    let path = Path::new(path);
    if watched.other.as_ref().is_some_and(|other| path.starts_with(other)) {
        return true;
    }
    let Ok(below) = path.strip_prefix(&watched.folder) else { return false };
    let mut parts = below.components().map(|part| part.as_os_str().to_string_lossy());
    match (watched.client, parts.next().as_deref()) {
        (BridgeClient::Claude, Some("projects")) => {
            parts.next().is_some_and(|name| projects.is_served(&name))
        }
        (BridgeClient::Codex, Some("memories")) => true,
        _ => false,
    }
}

/// Returns a file as it is recorded; one for each project if a file is about several.
fn scanned(
    client: BridgeClient,
    projects: &Projects,
    policy: &Policy,
    (file, read, hash): (&FoundFile, files::ReadFile, String),
) -> Option<ScannedFile> {
    let path = file.path.to_str()?.to_owned();
    let name = file.path.file_name()?.to_str()?;
    let (text, replaced) = policy.kept_copy(&read.text);
    let (mut statements, _) = screened(policy, statements(client, name, &read.text));
    let mut group = projects.of(file.project.as_deref()).map(|project| project.group.clone());
    if client == BridgeClient::Codex {
        // One file about all projects: each statement names the folder of its own.
        statements.retain_mut(|statement| {
            let folder = statement.folder.as_deref().map(claude_folder_name);
            let is_served = folder.as_deref().is_some_and(|name| projects.is_served(name));
            let project = projects.of(folder.as_deref()).filter(|_| is_served);
            statement.group = project.map(|project| project.group.clone());
            statement.group.is_some()
        });
        group = None;
    }
    let replaced = u32::try_from(replaced).unwrap_or(u32::MAX);
    let mode = read.mode;
    let shown_path = files::shown(&file.path);
    let rewordings = Vec::new();
    Some(ScannedFile {
        path,
        shown_path,
        group,
        hash,
        mode,
        text,
        replaced,
        statements,
        rewordings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_file_that_has_just_changed_is_read_by_a_scan_that_was_asked_for_alone() {
        let home = tempfile::tempdir().expect("a folder");
        let memory = home.path().join("projects/-shop/memory");
        std::fs::create_dir_all(&memory).expect("the folder is created");
        std::fs::write(memory.join("MEMORY.md"), "").expect("the file is emptied");
        let folder = home.path().to_string_lossy().into_owned();
        let watched = WatchedClient { client: BridgeClient::Claude, folder, other: None };
        let state = BridgeState::default();
        let projects = Projects { state, off: HashSet::new(), serves_unknown: true };
        let mut stamps = Stamps::new();
        let mut scan = |unsettled| {
            let changes = changes(&watched, &projects, &Policy::default(), &mut stamps, unsettled);
            (changes.changed.len(), changes.is_writing)
        };
        let hour_ago = SystemTime::now().checked_sub(Duration::from_hours(1));
        assert_eq!(scan(hour_ago), (0, true));
        assert_eq!(scan(Some(SystemTime::now() + Duration::from_secs(1))), (1, false));
        assert_eq!(scan(None), (1, false), "it is read again until it is recorded");
    }
}
