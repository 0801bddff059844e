//! `groups`, `groups_rename`, `groups_merge`, `groups_join`, `groups_alias`: list and change groups.

use crate::handlers::handle::Handle;
use crate::interface::agents::session::Session;
use crate::service::{Caller, Service};
use loci_engine::operations::join::Joinable;
use loci_proto::error::{Code, Failure};
use loci_proto::group;
use loci_proto::group::{Group, GroupHint, GroupName};
use loci_proto::requests::Request;
use loci_proto::requests::groups::{GroupChangedReply, GroupEntry, JoinRequest};

impl Handle for JoinRequest {
    async fn handle(
        self,
        service: &Service,
        caller: Caller<'_>,
    ) -> Result<GroupChangedReply, Failure> {
        let session = caller.session;
        let wanted = self.group.as_ref().map(GroupName::as_str);
        let found = service.joinable(session, wanted).await?;
        let chosen = only_joinable(found, wanted)?;
        let (from, own) = (chosen.group.clone(), session.group.clone());
        if self.decline || self.dry_run {
            if self.decline {
                let (from, own) = (from.clone(), own.clone());
                service
                    .write(caller, move |writer, call| writer.decline_join(call, &from, &own))
                    .await?;
            }
            let (active, memories) = (0, chosen.memories);
            let (id, name) = (own.id, own.name);
            let group = GroupEntry {
                id,
                name,
                aliases: vec![],
                active,
                memories,
                isolated: false,
                off: false,
            };
            return Ok(GroupChangedReply {
                group,
                moved: memories,
                from: Some(from.name),
                act: None,
            });
        }
        let joined = from.clone();
        let reply = service
            .write(caller, move |writer, call| writer.join_group(call, &joined, &own))
            .await?;
        service.set_vectors_missing(true);
        Ok(GroupChangedReply { from: Some(from.name), ..reply })
    }
}

/// Returns the one project that may be joined.
fn only_joinable(mut found: Vec<Joinable>, wanted: Option<&str>) -> Result<Joinable, Failure> {
    let one = found.pop();
    match one {
        Some(one) if found.is_empty() => Ok(one),
        Some(one) => {
            found.push(one);
            let list: Vec<String> = found.iter().map(joinable_text).collect();
            let message = format!("may mean {} projects: {}", found.len(), list.join("; "));
            let failure = Failure::new(Code::Conflict, message).at("group");
            Err(failure.hint("Name one by its id: loci groups join ID"))
        }
        None => {
            let failure = match wanted {
                Some(name) => {
                    let message = format!("names no other project without a folder here: {name}");
                    Failure::new(Code::NotFound, message).at("group")
                }
                None => Failure::new(
                    Code::NotFound,
                    "there is no project without a folder here that may be the one of this folder",
                ),
            };
            Err(failure
                .hint("loci groups list shows all projects; loci groups merge joins any two"))
        }
    }
}

fn joinable_text(one: &Joinable) -> String {
    let Joinable { group, memories, folders, .. } = one;
    let place = folders.first().map(|path| format!(", was {path}")).unwrap_or_default();
    format!("{} ({}, {memories} active memories{place})", group.name, group.id)
}

/// Returns the project whose section `[groups.NAME]` applies to what a call writes: that of the memory that it edits, the one that it names,
/// or the session's own. A call that names what it cannot see fails later, with the reason.
pub(super) async fn project_of(service: &Service, session: &Session, request: &Request) -> Group {
    let named = match request {
        Request::Store(store) => store.group.clone(),
        Request::Relate(relate) => relate.group.clone(),
        Request::Forget(forget) => forget.group.clone(),
        _ => None,
    };
    let Request::Edit(edit) = request else { return named_project(service, session, named).await };
    if !service.config.has_group_rules() {
        return session.group.clone();
    }
    let (id, actor) = (edit.memory_id.clone(), session.actor());
    let found = service.read(move |reader| reader.project_of_memory(&actor.group, &id));
    found.await.unwrap_or_else(|_| session.group.clone())
}

/// Returns the project that a call names, or the session's own, as far as sections `[groups.NAME]` need it.
pub(super) async fn named_project(
    service: &Service,
    session: &Session,
    named: Option<GroupName>,
) -> Group {
    let own = named.as_ref().map_or_else(|| session.group.clone(), Group::named);
    if !service.config.has_group_rules() {
        return own;
    }
    let actor = session.actor();
    let found = service.read(move |reader| reader.named_project((&actor).into(), named.as_ref()));
    found.await.unwrap_or(own)
}

/// Returns the text of a question as it is sent to an API: the section `[groups.NAME]` of the session's project replaces words and personal
/// data of its own. With a model on this machine it is the question.
pub(super) async fn outgoing_query(service: &Service, session: &Session, text: String) -> String {
    let is_sent = service.active_embedder().is_some_and(|embedder| embedder.api().is_some());
    if !is_sent || !service.config.has_group_rules() {
        return text;
    }
    let actor = session.actor();
    let found = service.read(move |reader| reader.named_project((&actor).into(), None)).await;
    let project = found.unwrap_or_else(|_| session.group.clone());
    service.config.policy_of(&project).outgoing(&text)
}

/// Refuses a session whose project has a name that no new project may have, unless the project is already in the store.
///
/// # Errors
/// `invalid`, naming the variable or the file; `busy`.
pub(super) async fn check_name(service: &Service, session: &Session) -> Result<(), Failure> {
    let (field, name) = match &session.hello.group {
        GroupHint::Named(name) => ("LOCI_GROUP", name),
        GroupHint::ProjectNamed { name, .. } => ("group in .loci.toml", name),
        // `config` checks `storage.default_group`, and `Group::of_folder` cleans the name of a folder.
        GroupHint::Folder(_) | GroupHint::Default => return Ok(()),
    };
    let Err(reason) = group::check_name(name.as_str()) else { return Ok(()) };
    let id = session.group.id.clone();
    if service.read(move |reader| reader.has_group(&id)).await? {
        return Ok(());
    }
    Err(Failure::invalid(field, reason).hint(group::NAME_HINT))
}
