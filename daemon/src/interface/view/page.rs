//! The page: one document with its style, its script and the first data, so that it works after one request.
//!
//! Not here: the files of which it is made (`assets`).

use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, SET_COOKIE, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

/// The document; `{{style}}`, `{{script}}` and `{{boot}}` are replaced.
const DOCUMENT: &str = include_str!("assets/page.html");
/// The style sheets, in their order.
const STYLES: &[&str] = &[include_str!("assets/view.css")];
/// The scripts, which share one scope, in their order.
const SCRIPTS: &[&str] = &[include_str!("assets/main.js")];

const CROSS_ORIGIN_OPENER_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-opener-policy");
const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// The parts of the document that are the same for every request.
struct Parts {
    before_boot: String,
    after_boot: String,
    policy: String,
}

static PARTS: LazyLock<Parts> = LazyLock::new(|| {
    let style = STYLES.concat();
    let script = format!("(() => {{\n\"use strict\";\n{}\n}})();\n", SCRIPTS.join("\n"));
    let policy = policy(&style, &script);
    let document = DOCUMENT.replacen("{{style}}", &style, 1);
    let (before_boot, after_boot) = document.split_once("{{boot}}").unwrap_or((&document, ""));
    Parts {
        before_boot: before_boot.to_owned(),
        after_boot: after_boot.replacen("{{script}}", &script, 1),
        policy,
    }
});

/// Allows this style, this script and requests to this server, and nothing else.
fn policy(style: &str, script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; form-action 'none'; \
         frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
        hash(script),
        hash(style)
    )
}

/// Returns the page with its first data; `boot` is `null` if it has to ask for them.
pub fn page(boot: &impl Serialize, cookie: Option<String>) -> Response {
    let Ok(boot) = serde_json::to_string(boot) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let Parts { before_boot, after_boot, policy } = &*PARTS;
    // No text of a memory can end the element that holds the data.
    let boot = boot.replace('<', "\\u003c");
    let mut headers = HeaderMap::new();
    let mut set = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(name, value);
        }
    };
    set(CONTENT_SECURITY_POLICY, policy);
    set(CONTENT_TYPE, "text/html; charset=utf-8");
    set(REFERRER_POLICY, "no-referrer");
    set(X_FRAME_OPTIONS, "DENY");
    set(CROSS_ORIGIN_OPENER_POLICY, "same-origin");
    set(CROSS_ORIGIN_RESOURCE_POLICY, "same-origin");
    if let Some(cookie) = cookie {
        set(SET_COOKIE, &cookie);
    }
    (headers, Html([before_boot, boot.as_str(), after_boot].concat())).into_response()
}
