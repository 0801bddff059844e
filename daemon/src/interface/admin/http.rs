//! `loci ctl`'s door: HTTP with JSON over a private socket of its own.
//!
//! Not here: MCP (that is the agents' socket), anything over TCP.

use crate::handlers;
use crate::handlers::Asked;
use crate::interface::agents::listen;
use crate::interface::agents::listen::Host;
use crate::interface::agents::session::Session;
use crate::process::startup::End;
use crate::service::Service;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::IncomingStream;
use axum::{Json, Router};
use loci_proto::admin::{Done, Status, VerbCall};
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::UnixListener;
use tokio_util::sync::CancellationToken;
use tower::ServiceBuilder;
use tower::limit::GlobalConcurrencyLimitLayer;

/// Requests of people that are served at once.
const AT_ONCE: usize = 16;
/// How long one request may take.
const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Admin {
    pub(crate) service: Arc<Service>,
    draining: CancellationToken,
    pub(crate) default_group: GroupName,
}

/// The uid of who connected.
#[derive(Clone)]
struct Peer(Option<u32>);

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
        Self(stream.io().peer_cred().ok().map(|cred| cred.uid()))
    }
}

/// Binds the admin socket; the caller holds the lock.
///
/// # Errors
/// As [`listen::bind_with`].
pub fn bind(path: &std::path::Path) -> Result<UnixListener, End> {
    listen::bind_with(path, |path| UnixListener::bind(path))
}

/// Serves `loci ctl` until the daemon drains.
pub async fn serve(listener: UnixListener, host: Host) {
    let draining = host.draining.clone();
    let admin = Admin {
        service: host.service,
        draining: draining.clone(),
        default_group: host.default_group,
    };
    let limits = ServiceBuilder::new().layer(GlobalConcurrencyLimitLayer::new(AT_ONCE));
    let routes = Router::new()
        .route("/status", get(status))
        .route("/stop", post(stop))
        .route("/reload", post(reload))
        .route("/model/look", post(look))
        .route("/verbs/{name}", post(verb))
        .layer(middleware::from_fn(in_time))
        // These take as long as the store is large.
        .route("/export", post(crate::interface::admin::transfer::export))
        .route("/import", post(crate::interface::admin::transfer::import))
        .route("/long/{name}", post(verb))
        .layer(middleware::from_fn(owner_only))
        .layer(limits)
        .with_state(admin);
    let routes = routes.into_make_service_with_connect_info::<Peer>();
    let served = axum::serve(listener, routes).with_graceful_shutdown(draining.cancelled_owned());
    if let Err(error) = served.await {
        tracing::error!(%error, "the admin socket failed");
    }
}

async fn owner_only(
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    if peer.0 == Some(nix::unistd::geteuid().as_raw()) {
        next.run(request).await
    } else {
        StatusCode::FORBIDDEN.into_response()
    }
}

async fn in_time(request: Request, next: Next) -> Response {
    match tokio::time::timeout(DEADLINE, next.run(request)).await {
        Ok(response) => response,
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            Json(Failure::new(Code::Busy, "the request took too long")),
        )
            .into_response(),
    }
}

async fn status(State(admin): State<Admin>) -> Json<Status> {
    Json(admin.service.status().await)
}

async fn stop(State(admin): State<Admin>) -> Json<Done> {
    admin.draining.cancel();
    Json(Done { done: "The daemon is ending".to_owned() })
}

async fn look(State(admin): State<Admin>) -> Json<Done> {
    admin.service.embedder.reload();
    Json(Done { done: "The model's folder is being looked at".to_owned() })
}

async fn reload(State(admin): State<Admin>) -> Response {
    match admin.service.reload().await {
        Ok(reply) => Json(reply).into_response(),
        Err(failure) => refused(failure),
    }
}

/// `POST /verbs/NAME`: what an agent can have done by a tool, and what only people can.
async fn verb(
    State(admin): State<Admin>,
    Path(name): Path<String>,
    Json(asked): Json<VerbCall>,
) -> Response {
    let session = Session::new(asked.session, &admin.default_group, admin.service.now());
    session.called(Some(format!("loci {}", loci_proto::VERSION)));
    match handlers::call(
        &admin.service,
        Asked { session: &session, name: &name, given: asked.arguments, key: None },
    )
    .await
    {
        Ok(answer) => Json(answer).into_response(),
        Err(failure) => refused(failure),
    }
}

pub(crate) fn refused(failure: Failure) -> Response {
    let status = match failure.code {
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::Conflict => StatusCode::CONFLICT,
        Code::Busy => StatusCode::SERVICE_UNAVAILABLE,
        Code::StorageFailed | Code::Internal | Code::EmbedFailed => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ => StatusCode::BAD_REQUEST,
    };
    (status, Json(failure)).into_response()
}
