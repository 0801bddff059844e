//! The routes of the admin socket: HTTP with JSON over a private Unix socket, for `loci ctl` and the other commands.
//!
//! Not here: MCP (on the agents' socket), anything over TCP.

use crate::interface::admin::calls::{status, verb, with_deadline};
use crate::interface::admin::context::{AdminContext, error_response};
use crate::interface::admin::{http_clients, transfer, viewer};
use crate::interface::agents::listen::{self, ListenerContext};
use crate::process::startup::StartupError;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::IncomingStream;
use axum::{Json, Router};
use loci_proto::admin::Done;
use std::sync::Arc;
use tokio::net::UnixListener;
use tokio::sync::Semaphore;
use tower::ServiceBuilder;
use tower::limit::GlobalConcurrencyLimitLayer;

/// Maximum number of verbs that are served at the same time; further ones wait, within their deadline.
const MAX_VERBS: usize = 16;
/// The same for verbs whose duration grows with the store.
const MAX_LONG_VERBS: usize = 8;

/// The user id of the client.
#[derive(Clone)]
struct Peer(Option<u32>);

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
        Self(stream.io().peer_cred().ok().map(|cred| cred.uid()))
    }
}

/// Binds the admin socket. The caller must hold the lock.
///
/// # Errors
/// As [`listen::bind_with`].
pub fn bind(path: &std::path::Path) -> Result<UnixListener, StartupError> {
    listen::bind_with(path, |path| UnixListener::bind(path))
}

/// Serves requests until the daemon drains.
pub async fn serve(listener: UnixListener, context: ListenerContext) {
    let draining = context.draining.clone();
    let admin = AdminContext {
        service: Arc::clone(&context.service),
        draining: draining.clone(),
        default_group: context.default_group.clone(),
        listener: context,
        uploads: Arc::new(Semaphore::new(transfer::MAX_UPLOADS)),
    };
    let limit = |most| ServiceBuilder::new().layer(GlobalConcurrencyLimitLayer::new(most));
    // No limit that other requests can exhaust: a person must always be able to look and to stop.
    let control = Router::new()
        .route("/status", get(status))
        .route("/stop", post(stop))
        .route("/reload", post(reload))
        .route("/model/look", post(reload_model))
        .route("/cost", get(cost))
        .route("/http/open", post(http_clients::open))
        .route("/view/open", post(viewer::open))
        .route("/http/tokens", get(http_clients::tokens))
        .route("/http/tokens/add", post(http_clients::add_token))
        .route("/http/tokens/show", post(http_clients::show_token))
        .route("/http/tokens/remove", post(http_clients::remove_token));
    let verbs = Router::new().route("/verbs/{name}", post(verb)).layer(limit(MAX_VERBS));
    let long = Router::new().route("/long/{name}", post(verb)).layer(limit(MAX_LONG_VERBS));
    let routes = control
        .merge(verbs)
        .layer(middleware::from_fn(with_deadline))
        // Without a deadline, because their duration grows with the store.
        .merge(long)
        .route("/export", post(transfer::export))
        .route("/import", post(transfer::import))
        .layer(middleware::from_fn(owner_only))
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

async fn stop(State(admin): State<AdminContext>) -> Json<Done> {
    admin.draining.cancel();
    Json(Done { done: "The daemon is shutting down".to_owned() })
}

async fn reload_model(State(admin): State<AdminContext>) -> Json<Done> {
    admin.service.models.configured().reload();
    Json(Done { done: "The model is being reloaded".to_owned() })
}

async fn cost(State(admin): State<AdminContext>) -> Response {
    match admin.service.cost() {
        Ok(reply) => Json(reply).into_response(),
        Err(failure) => error_response(failure),
    }
}

async fn reload(State(admin): State<AdminContext>) -> Response {
    match admin.service.reload().await {
        Ok(reply) => Json(reply).into_response(),
        Err(failure) => error_response(failure),
    }
}
