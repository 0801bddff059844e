//! The project of a session: recognises its folder once, and heals one that was renamed or moved.
//!
//! Not here: by what a folder is recognised (`engine::operations::folders`), reading it (the shim).

use crate::interface::agents::recognised::Recognised;
use crate::interface::agents::session::Session;
use crate::service::{Caller, Service};
use loci_engine::flags::safe_name;
use loci_engine::operations::folders::{FolderState, SeenFolder};
use loci_engine::operations::join::Joinable;
use loci_proto::error::Failure;
use loci_proto::gate::ModelText;
use loci_proto::group::GroupHint;
use loci_proto::hello::FileAsks;
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
        let recognise = || async {
            let found = self.recognise_folder(session, seen).await?;
            let may_offer = found.group.is_none() && (session.is_agent() || found.is_new());
            let offer = if may_offer { self.offer(session).await } else { None };
            Ok(Recognised { suggestion: offer.map(|offer| offer.for_agent()), ..found })
        };
        let recognised = session.recognised.get_or_try_init(recognise).await;
        if let Err::<_, Failure>(failure) = recognised {
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
            FolderState::New => {
                Ok(Recognised { is_new: AtomicBool::new(true), ..Recognised::default() })
            }
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

    /// Returns the projects without a folder here that may be that of the session: those of this name or id, if one is given.
    ///
    /// # Errors
    /// `busy`, `storage_failed`.
    pub async fn joinable(
        &self,
        session: &Session,
        wanted: Option<&str>,
    ) -> Result<Vec<Joinable>, Failure> {
        let Some(seen) = seen_folder(session) else { return Ok(Vec::new()) };
        let (own, wanted) = (session.group.clone(), wanted.map(str::to_owned));
        let found =
            self.read(move |reader| reader.joinable(&own, &seen, wanted.as_deref())).await?;
        if found.is_empty() {
            return Ok(found);
        }
        // A folder of a network may be slow to answer.
        let without_folder = tokio::task::spawn_blocking(move || {
            let is_here = |path: &String| !is_gone(Path::new(path));
            found.into_iter().filter(|one| !one.folders.iter().any(is_here)).collect()
        });
        Ok(without_folder.await.unwrap_or_default())
    }

    /// Returns what the `.loci.toml` of the session's project asks the user for.
    async fn file_asks(&self, session: &Session) -> Option<Offer> {
        let FileAsks { name, shares, serves } = session.hello.asks.as_ref()?;
        let mut asks: Vec<ModelText> = Vec::new();
        asks.extend(name.as_ref().map(|name| {
            ModelText::own("to name this project \"").and(&safe_name(name.as_str())).and_own("\"")
        }));
        let shares = *shares && self.is_isolated(&session.group).await;
        asks.extend(shares.then(|| ModelText::own("to end its isolation")));
        let opts_in = self.config.serves_opted_in_only() && !session.hello.opted_in;
        asks.extend((*serves || opts_in).then(|| ModelText::own("to switch loci on here")));
        let is_any = !asks.is_empty();
        let what = ModelText::own("The .loci.toml of this folder asks ");
        is_any.then(|| Offer {
            what: what
                .and(&ModelText::joined(&asks, " and "))
                .and_own(", which only the user may allow"),
            command: ModelText::own("loci groups allow"),
        })
    }

    /// Returns what the files of the session's project ask the user for, or the only project that may be that of the session, unless the
    /// user has declined it.
    pub async fn offer(&self, session: &Session) -> Option<Offer> {
        if session.is_bound_to_project() {
            return None;
        }
        if let Some(asks) = self.file_asks(session).await {
            return Some(asks);
        }
        match self.joinable(session, None).await {
            Ok(found) => match &found[..] {
                [one] if !one.is_declined && one.memories > 0 => Some(offer_of(one)),
                _ => None,
            },
            Err(failure) => {
                tracing::debug!(%failure, "no project was offered");
                None
            }
        }
    }
}

/// What the user may decide about the project of a folder: to allow its file, or to join another project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What is there.
    pub what: ModelText,
    /// The command that joins it.
    pub command: ModelText,
}

impl Offer {
    /// Returns the offer as a sentence for an agent.
    #[must_use]
    pub fn for_agent(&self) -> ModelText {
        self.what.clone().and_own(": ask the user to run ").and(&self.command)
    }
}

fn offer_of(one: &Joinable) -> Offer {
    let name = safe_name(&one.group.name);
    // What is not shown as it is cannot be typed; the id can.
    let typed = if *name == *one.group.name { name.clone() } else { safe_name(&one.group.id) };
    // The path is not for an agent, whose folder may be a stranger's.
    let place = if one.folders.is_empty() { "another machine" } else { "a folder that is gone" };
    let what = ModelText::own("Memories of project \"").and(&name).and_own("\" from ");
    Offer {
        what: what.and_own(place).and_own(" are here"),
        command: ModelText::own("loci groups join ").and(&ModelText::reply(&quoted(&typed))),
    }
}

/// Returns a name as it is typed in a shell.
fn quoted(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c));
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
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
