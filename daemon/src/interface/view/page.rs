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
/// Names and texts of files of `assets`.
macro_rules! assets {
    ($($name:literal),+ $(,)?) => { &[$(($name, include_str!(concat!("assets/", $name)))),+] };
}

/// The style sheets, in their order.
const STYLES: &[(&str, &str)] =
    assets!["base.css", "detail.css", "list.css", "shell.css", "views.css",];
/// The scripts, which share one scope; their order does not matter.
const SCRIPTS: &[(&str, &str)] = assets![
    "acts.js",
    "api.js",
    "backups.js",
    "changes.js",
    "detail.js",
    "detail_parts.js",
    "dom.js",
    "events.js",
    "facets.js",
    "feed.js",
    "format.js",
    "forms.js",
    "graph.js",
    "graph_layout.js",
    "graph_parts.js",
    "history.js",
    "keys.js",
    "maintenance.js",
    "memories.js",
    "page.js",
    "picker.js",
    "review.js",
    "route.js",
    "row.js",
    "search.js",
    "sessions.js",
    "settings.js",
    "shell.js",
    "start.js",
    "text.js",
    "time_travel.js",
    "timeline.js",
    "transfer.js",
    "virtual.js",
];

const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");
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
    let style = joined(STYLES);
    let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", joined(SCRIPTS));
    let policy = policy(&style, &script);
    let document = DOCUMENT.replacen("{{style}}", &style, 1);
    let (before_boot, after_boot) = document.split_once("{{boot}}").unwrap_or((&document, ""));
    Parts {
        before_boot: before_boot.to_owned(),
        after_boot: after_boot.replacen("{{script}}", &script, 1),
        policy,
    }
});

/// Joins files without what only their readers need: comments, indentation, and line ends where nothing can end. A file has `/*` only where a
/// comment begins, no comment behind code, and no text of several lines.
fn joined(files: &[(&str, &str)]) -> String {
    let mut joined = String::new();
    for (_, text) in files {
        let mut rest = *text;
        let mut code = String::new();
        while let Some((before, comment)) = rest.split_once("/*") {
            code.push_str(before);
            rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
        }
        code.push_str(rest);
        let lines = code.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with("//")) {
            joined.push_str(line);
            if !line.ends_with([',', '(', '[', '{', ';']) {
                joined.push('\n');
            }
        }
    }
    joined
}

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
        // Ends service workers that an earlier server left at this port.
        set(CLEAR_SITE_DATA, "\"storage\"");
    }
    (headers, Html([before_boot, boot.as_str(), after_boot].concat())).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_page_consists_of_all_files_of_its_folder() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/interface/view/assets");
        let entries = std::fs::read_dir(folder).expect("the folder is read");
        let there: BTreeSet<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        let joined = STYLES.iter().chain(SCRIPTS).map(|(name, _)| (*name).to_owned());
        assert_eq!(joined.chain(["page.html".to_owned()]).collect::<BTreeSet<_>>(), there);
    }

    #[test]
    fn comments_and_indentation_are_left_out() {
        let file = (
            "a.js",
            "// Reads.\n/**\n * @param {string} a\n */\nfunction f(/** @type {any} */ a) {\n    return a;\n}\n",
        );
        assert_eq!(joined(&[file, ("b.js", "g();\n")]), "function f( a) {return a;}\ng();");
    }

    #[test]
    fn no_script_makes_elements_of_texts() {
        let forbidden = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "setHTML",
            "srcdoc",
            "createContextualFragment",
        ];
        for (name, text) in SCRIPTS {
            for word in forbidden {
                assert!(!text.contains(word), "{name}: {word}");
            }
        }
    }
}
