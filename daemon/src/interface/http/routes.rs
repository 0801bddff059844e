//! The paths of the HTTP server, and the order of the layers before them.
//!
//! Host, then Origin, then path and method, then the token, then the body. Not here: what the layers check (`guard`).

use crate::interface::http::guard::{self, Guard};
use crate::interface::http::own_address::{self, OwnAddress};
use crate::interface::http::refusal::Refusal;
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, get, post_service};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;

/// Returns the router of a server whose MCP requests `handler` answers.
pub fn routes<H: ServerHandler + Clone + Sync>(
    guard: &Guard,
    address: &OwnAddress,
    handler: H,
) -> Router {
    let mcp: MethodRouter = post_service(mcp(handler))
        .route_layer(from_fn_with_state(guard.clone(), guard::read_body))
        .route_layer(from_fn_with_state(guard.clone(), guard::authenticate))
        .fallback(async || Refusal::Method("POST"));
    Router::new()
        .route("/mcp", mcp)
        .route("/health", get(async || "ok\n").fallback(async || Refusal::Method("GET")))
        .fallback(async || Refusal::NotFound)
        .layer(from_fn_with_state(address.clone(), own_address::check_origin))
        .layer(from_fn_with_state(address.clone(), own_address::check_host))
        .layer(from_fn(own_address::set_headers))
}

/// Returns rmcp's service. It keeps nothing between requests, and answers with JSON unless there is progress to report first.
fn mcp<H: ServerHandler + Clone + Sync>(
    handler: H,
) -> StreamableHttpService<H, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_sse_retry(None)
        .with_max_request_body_bytes(guard::MAX_BODY_BYTES);
    let sessions = Arc::new(NeverSessionManager::default());
    StreamableHttpService::new(move || Ok(handler.clone()), sessions, config)
}
