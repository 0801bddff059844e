//! What the page shows first, so that it needs no second request: the projects, the first page of the list, and its counts.

use crate::handlers;
use crate::interface::view::context::ViewContext;
use crate::service::Caller;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use loci_proto::error::Failure;
use loci_proto::hello::Session;
use loci_proto::requests::Request;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Memories of the first page: what the largest screen shows at once.
const FIRST_ROWS: usize = 12;
/// Characters of a text that a row shows.
const ROW_CHARS: usize = 160;

/// The data of the page.
#[derive(Debug, Serialize)]
pub struct Boot {
    /// The daemon's version.
    version: &'static str,
    /// What the page sends with each request in the header `Loci-View-Key`.
    key: String,
    /// What the page knows this server by ([`Access::proof`](crate::interface::view::access::Access::proof)).
    proof_secret: String,
    /// The session of the command, for the bodies of the page's requests.
    session: Session,
    /// Id and name of the project of the command's folder.
    project: Value,
    /// The page only reads: no person has opened it.
    read_only: bool,
    /// The verbs answer about the past.
    time_travel: bool,
    /// Reply of `groups`.
    groups: Value,
    /// Reply of `list`.
    list: Value,
    /// Reply of `facets`.
    facets: Value,
}

impl Boot {
    /// Reads the store.
    ///
    /// # Errors
    /// Those of the verbs.
    pub async fn read(view: &ViewContext) -> Result<Self, Failure> {
        let session = view.admin.session(view.session.clone());
        let call = async |verb: &str, arguments: Value| {
            let arguments: Map<String, Value> = serde_json::from_value(arguments)
                .map_err(|error| Failure::invalid("arguments", error.to_string()))?;
            let request = Request::parse(verb, arguments)?;
            let caller = Caller { session: &session, key: None };
            handlers::handle(&view.admin.service, caller, request).await
        };
        let rows = json!({"all_groups": true, "text_chars": ROW_CHARS, "limit": FIRST_ROWS});
        let mut groups = call("groups", json!({})).await?;
        let group = handlers::enter_group(&view.admin.service, &session).await.ok().flatten();
        let group = group.as_ref().map_or(&session.group, |entered| &entered.group);
        Ok(Self {
            version: loci_proto::VERSION,
            key: view.access.key().to_owned(),
            proof_secret: view.access.proof_secret().to_owned(),
            project: json!({"id": group.id, "name": group.name}),
            read_only: view.is_read_only(),
            time_travel: true,
            groups: groups["groups"].take(),
            list: call("list", rows).await?,
            facets: call("facets", json!({"all_groups": true})).await?,
            session: view.session.clone(),
        })
    }
}

/// `GET /api/boot`: the same for a page that was loaded again.
pub async fn boot(State(view): State<ViewContext>) -> Response {
    match Boot::read(&view).await {
        Ok(boot) => Json(boot).into_response(),
        Err(failure) => crate::interface::admin::context::error_response(failure),
    }
}
