//! Logs: what the daemon did, never what a memory says.
//!
//! Ids, sizes and durations are logged; content, queries and metadata are not, at any level. The MCP library would log whole messages
//! at `debug`, so it is held at `warn`. Logs go to standard error, which the shim or the service manager keeps.

use std::sync::OnceLock;
use tracing_subscriber::EnvFilter;

/// Sets another level while the daemon runs.
static SET: OnceLock<Box<dyn Fn(EnvFilter) + Send + Sync>> = OnceLock::new();

/// Begins to log at this level: `error`, `warn`, `info`, `debug` or `trace`.
pub fn start(level: &str) {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter(level))
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // It would tell standard error that standard error cannot be written, and a full disk would end whatever thread has something to log.
    let subscriber =
        subscriber.with_target(false).log_internal_errors(false).with_filter_reloading();
    let handle = subscriber.reload_handle();
    // Only a second call in one process fails, as tests make it; the first one stands.
    if subscriber.try_init().is_ok() {
        let _ = SET.set(Box::new(move |filter| drop(handle.reload(filter))));
    }
}

/// Logs at this level from now on.
pub fn set(level: &str) {
    if let Some(set) = SET.get() {
        set(filter(level));
    }
}

fn filter(level: &str) -> EnvFilter {
    EnvFilter::new(format!("{level},rmcp=off,ort=warn,hyper=warn,tokenizers=warn"))
}
