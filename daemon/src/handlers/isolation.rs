//! Keeps the flag of isolated projects: a session inside a project sets it, and no session outside enters the project.
//!
//! Inside is who works in the project's folder. A name in `LOCI_GROUP` is outside. Not here: what isolation means
//! (`engine::model::visibility`), `.loci.toml` (the shim).

use crate::interface::agents::session::Session;
use crate::service::{Caller, Service};
use loci_engine::Writer;
use loci_engine::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::group::{Group, GroupHint};
use loci_proto::memory::Origin;

/// Applies `isolated` of the session's `.loci.toml` to its project. Without the key the flag stays as it is: another branch or worktree
/// may lack the file. A name in the file does not end it: what is isolated is the folder.
///
/// # Errors
/// `not_found` if the session is outside an isolated project and names it as its own; `busy`, `storage_failed`.
pub(super) async fn apply(service: &Service, session: &Session) -> Result<(), Failure> {
    let is_isolated = service.is_isolated(&session.group).await;
    let is_inside =
        matches!(session.hello.group, GroupHint::Folder(_) | GroupHint::ProjectNamed { .. });
    let wanted = match (&session.hello.group, session.hello.isolated) {
        (GroupHint::ProjectNamed { folder, .. }, None)
            if service.is_isolated(&Group::of_folder(folder)).await =>
        {
            Some(true)
        }
        (_, wanted) => wanted,
    };
    match wanted {
        Some(wanted) if is_inside && wanted != is_isolated => {
            let caller = Caller { session, key: None };
            let began = session.since();
            let set = move |writer: &mut Writer, call: &CallContext| {
                writer.set_isolated(call, wanted, began)
            };
            service.write(caller, set).await?;
            if service.is_isolated(&session.group).await == wanted {
                tracing::info!(group = %session.group.id, isolated = wanted, "a project was isolated or opened");
            }
            Ok(())
        }
        _ if is_isolated && !is_inside && session.actor().origin != Origin::Person => {
            let message = format!("names no project: {}", session.group.name);
            Err(Failure::new(Code::NotFound, message)
                .at("LOCI_GROUP")
                .hint("Leave LOCI_GROUP out, or work in the folder of the project"))
        }
        _ => Ok(()),
    }
}

/// Refuses a verb that reads or changes the whole store to an agent while a project is isolated. The command line inside an agent's session is the
/// agent.
///
/// # Errors
/// `conflict`.
pub(super) async fn check_whole_store(service: &Service, session: &Session) -> Result<(), Failure> {
    if session.actor().origin == Origin::Person || !service.has_isolated_groups().await {
        return Ok(());
    }
    let message = "concerns every project, and an agent has no access to an isolated one";
    Err(Failure::only_person(message, "the same command"))
}
