//! The project of a session: recognises its folder once, and heals one that was renamed or moved.
//!
//! Not here: by what a folder is recognised (`engine::operations::folders`), reading it (the shim).

use crate::interface::agents::recognised::Recognised;
use crate::interface::agents::session::Session;
use crate::service::{Caller, Service};
use loci_engine::operations::folders::{AlikeFolder, FolderState, SeenFolder};
use loci_proto::error::Failure;
use loci_proto::group::GroupHint;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum characters of an identity or a trace in a hello.
const MAX_MARK_CHARS: usize = 128;

impl Service {
    /// Returns the display name of the session's project.
    pub async fn project_name(&self, session: &Session) -> String {
        let group = session.group.clone();
        let stored = self.read(move |reader| reader.project_name(&group)).await;
        stored.unwrap_or_else(|_| session.group.name.clone())
    }

    /// Recognises the folder of a session at its first call. A fault is tried again at the next one; it must not fail the call.
    pub async fn recognise(&self, session: &Session) {
        let Some(seen) = seen_folder(session) else { return };
        let recognise = || self.recognise_folder(session, seen);
        if let Err(failure) = session.recognised.get_or_try_init(recognise).await {
            tracing::debug!(%failure, "the folder of a session was not recognised");
        }
    }

    async fn recognise_folder(
        &self,
        session: &Session,
        seen: SeenFolder,
    ) -> Result<Recognised, Failure> {
        let asked = seen.clone();
        match self.read(move |reader| reader.folder_state(&asked)).await? {
            FolderState::Other(group) => {
                let other = SeenFolder { group: group.clone(), ..seen };
                let found = Box::pin(self.recognise_known(session, other)).await?;
                Ok(Recognised { group: found.group.or(Some(group)), ..found })
            }
            _ => self.recognise_known(session, seen).await,
        }
    }

    async fn recognise_known(
        &self,
        session: &Session,
        seen: SeenFolder,
    ) -> Result<Recognised, Failure> {
        let caller = Caller { session, key: None };
        let asked = seen.clone();
        match self.read(move |reader| reader.folder_state(&asked)).await? {
            FolderState::Moved => {
                let healed =
                    self.write(caller, move |writer, call| writer.heal_folder(call, &seen)).await?;
                if let Some(group) = &healed {
                    tracing::info!(group = %group.id, "a moved folder was recognised");
                }
                Ok(Recognised::default())
            }
            FolderState::Unrecorded => {
                self.write(caller, move |writer, call| writer.record_folder(call, &seen)).await?;
                Ok(Recognised::default())
            }
            FolderState::New => Ok(Recognised {
                suggestion: self.suggestion(seen).await?,
                is_new: AtomicBool::new(true),
                ..Recognised::default()
            }),
            FolderState::Known | FolderState::Other(_) => Ok(Recognised::default()),
        }
    }

    /// Records the folder of a session after a call that may have made its project. The call has succeeded, so a fault is only logged.
    pub async fn record_folder(&self, session: &Session) {
        let Some(recognised) = session.recognised.get() else { return };
        if !recognised.is_new.load(Ordering::Relaxed) {
            return;
        }
        let Some(mut seen) = seen_folder(session) else { return };
        seen.group = recognised.group.clone().unwrap_or(seen.group);
        let asked = seen.clone();
        let state = self.read(move |reader| reader.folder_state(&asked)).await;
        if !matches!(state, Ok(FolderState::Unrecorded)) {
            return;
        }
        let caller = Caller { session, key: None };
        let recorded =
            self.write(caller, move |writer, call| writer.record_folder(call, &seen)).await;
        match recorded {
            Ok(()) => recognised.is_new.store(false, Ordering::Relaxed),
            Err(failure) => tracing::debug!(%failure, "the folder of a project was not recorded"),
        }
    }

    /// Returns what a person may do if a folder that no longer exists is like this one.
    ///
    /// # Errors
    /// `busy`, `storage_failed`.
    pub async fn suggestion(&self, seen: SeenFolder) -> Result<Option<String>, Failure> {
        let asked = seen.clone();
        let alike = self.read(move |reader| reader.alike_folders(&asked)).await?;
        if alike.is_empty() {
            return Ok(None);
        }
        // A folder of a network may be slow to answer.
        let gone = tokio::task::spawn_blocking(move || {
            alike.into_iter().find(|folder| is_gone(Path::new(&folder.path)))
        });
        Ok(gone.await.ok().flatten().map(|folder| suggestion_text(&folder, &seen)))
    }

    /// Returns the suggestion for the folder of a session, for `loci doctor`.
    ///
    /// # Errors
    /// As [`Service::suggestion`].
    pub async fn suggestion_for(&self, session: &Session) -> Result<Option<String>, Failure> {
        match seen_folder(session) {
            Some(seen) => self.suggestion(seen).await,
            None => Ok(None),
        }
    }
}

fn suggestion_text(folder: &AlikeFolder, seen: &SeenFolder) -> String {
    let AlikeFolder { path, group, is_copy } = folder;
    let why = if *is_copy { "is a copy of" } else { "has the name of" };
    format!(
        "{} {why} {path}, which no longer exists. If it is the same project, run: loci groups merge {} {}",
        seen.path, seen.group.id, group.id
    )
}

/// Returns whether nothing is at a path. A folder that cannot be looked at is not gone.
fn is_gone(path: &Path) -> bool {
    let is_missing = |error: std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    path.symlink_metadata().err().is_some_and(is_missing)
}

/// Returns the folder of a session; `None` if its project is none of a folder.
fn seen_folder(session: &Session) -> Option<SeenFolder> {
    let (path, part) = match &session.hello.group {
        GroupHint::Folder(path) => (path.clone(), None),
        GroupHint::ProjectNamed { folder, name } => {
            (folder.clone(), Some(name.as_str().to_owned()))
        }
        GroupHint::Named(_) | GroupHint::Default => return None,
    };
    let mark = session.hello.folder.clone().unwrap_or_default();
    let short = |mark: Option<String>| mark.filter(|mark| mark.len() <= MAX_MARK_CHARS);
    Some(SeenFolder {
        group: session.hinted_group().clone(),
        path,
        part,
        identity: short(mark.identity),
        trace: short(mark.trace),
        root: session
            .hello
            .place
            .as_ref()
            .and_then(|place| place.root.clone())
            .filter(|root| root.is_main),
        remote: short(mark.remote),
        is_isolated: session.hello.isolated == Some(true),
    })
}
