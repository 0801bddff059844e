//! Keeps a session that is bound to a project from naming another one: an HTTP client whose token allows only this project.
//!
//! Not here: what it sees besides, which is what an isolated project sees (`Isolation::seen_by`); which project a request may begin in
//! (`interface::http::guard`).

use crate::interface::agents::session::Session;
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use loci_proto::requests::Request;

/// Refuses a request of a bound session that names another project or concerns all of them. A request for the own project is left
/// without a name, so that no other project of the same name can be meant.
///
/// # Errors
/// `not_found` at `group`; `conflict`.
pub(super) fn apply(session: &Session, request: &mut Request) -> Result<(), Failure> {
    if !session.is_bound_to_project() {
        return Ok(());
    }
    let group = match request {
        Request::Store(request) => &mut request.group,
        Request::Recall(request) => &mut request.group,
        Request::Forget(request) => &mut request.group,
        Request::Inspect(request) => &mut request.group,
        Request::Relate(request) => &mut request.group,
        Request::Restore(request) => &mut request.group,
        Request::Stats(request) => {
            allowed_name(session, request.group.take())?;
            // Without a name it would count every project.
            request.group = session.group.id.parse().ok();
            return Ok(());
        }
        other => {
            let message = format!("{} concerns every project", other.name());
            return Err(Failure::new(Code::Conflict, message)
                .hint("Use a token that is not bound to a project"));
        }
    };
    *group = allowed_name(session, group.take())?;
    Ok(())
}

/// Returns the project that a session may name: any, or none but its own, which then is not named.
///
/// # Errors
/// `not_found` at `group`.
pub(crate) fn allowed_name(
    session: &Session,
    name: Option<GroupName>,
) -> Result<Option<GroupName>, Failure> {
    match name {
        Some(name) if session.is_bound_to_project() => {
            if [&session.group.id, &session.group.name].iter().any(|own| *own == name.as_str()) {
                return Ok(None);
            }
            let message = format!("names a project that this token may not use: {}", name.as_str());
            Err(Failure::new(Code::NotFound, message).at("group").hint("Leave out group"))
        }
        name => Ok(name),
    }
}
