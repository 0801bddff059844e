//! `GET /api/events`: tells the page that the store has changed, as server-sent events.
//!
//! An event has no content but the number of the last change: the page asks for what it shows. The first event proves that this server made
//! the page. Not here: what has changed.

use crate::interface::view::context::ViewContext;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt as _;
use http_body_util::channel::{Channel, Sender};
use loci_engine::Reader;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, interval};

/// How often the store is asked for its last change.
const INTERVAL: Duration = Duration::from_millis(250);
/// After this long without an event, a comment is sent: it shows whether the page is still there.
const PING_INTERVAL: Duration = Duration::from_secs(15);

/// Maximum length of the number that a page chooses, in bytes.
const MAX_NONCE_BYTES: usize = 64;

/// Answers with the stream; 503 if too many are open.
pub async fn events(State(view): State<ViewContext>, uri: Uri) -> Response {
    let Ok(permit) = Arc::clone(&view.streams).try_acquire_owned() else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let (mut sender, body) = Channel::<Bytes, Infallible>::new(1);
    let nonce = uri.query().and_then(|query| query.strip_prefix("nonce="));
    let proof = nonce.filter(|nonce| nonce.len() <= MAX_NONCE_BYTES);
    let proof = proof.map(|nonce| view.access.proof(nonce));
    tokio::spawn(async move {
        let closing = view.closing.clone();
        let events = async {
            if let Some(proof) = proof {
                let text = format!("event: proof\ndata: {{\"proof\": \"{proof}\"}}\n\n");
                if sender.send_data(text.into()).await.is_err() {
                    return;
                }
            }
            send(view, sender).await;
        };
        closing.run_until_cancelled(events).await;
    });
    // The permit ends with the body, as soon as the page has gone.
    let body = body.map_frame(move |frame| {
        let _ = &permit;
        frame
    });
    ([(CONTENT_TYPE, "text/event-stream")], Body::new(body)).into_response()
}

/// Sends events until the page has gone.
async fn send(view: ViewContext, mut sender: Sender<Bytes, Infallible>) {
    let mut ticks = interval(INTERVAL);
    let (mut sent, mut sent_at) = (None, Instant::now());
    loop {
        ticks.tick().await;
        let last = view.admin.service.read(Reader::last_change).await.ok();
        let last = last.map(|(_, number)| number);
        let text = if last.is_some() && last != sent {
            let revision = last.unwrap_or_default();
            format!("event: change\ndata: {{\"revision\": {revision}}}\n\n")
        } else if sent_at.elapsed() >= PING_INTERVAL {
            ": ping\n\n".to_owned()
        } else {
            continue;
        };
        if sender.send_data(text.into()).await.is_err() {
            return;
        }
        (sent, sent_at) = (last.or(sent), Instant::now());
    }
}
