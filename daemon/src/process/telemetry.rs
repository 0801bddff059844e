//! Logging to standard error, which the shim or the service manager stores.
//!
//! Ids, sizes and durations are logged; queries and the content and metadata of memories are never logged, at any level. rmcp would log
//! whole messages at `debug`, so its log is off.

use std::sync::OnceLock;
use tracing_subscriber::EnvFilter;

/// Replaces the filter while the daemon runs.
static SET_FILTER: OnceLock<Box<dyn Fn(EnvFilter) + Send + Sync>> = OnceLock::new();

/// Starts logging at this level: `error`, `warn`, `info`, `debug` or `trace`.
pub fn start(level: &str) {
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter(level))
        .with_writer(std::io::stderr)
        .with_ansi(false);
    // Internal errors are off: they also go to standard error, and on a full disk the failed write would panic the thread.
    let subscriber =
        subscriber.with_target(false).log_internal_errors(false).with_filter_reloading();
    let handle = subscriber.reload_handle();
    // Fails only for a second call in one process, as in tests; the first subscriber stays.
    if subscriber.try_init().is_ok() {
        let _ = SET_FILTER.set(Box::new(move |filter| drop(handle.reload(filter))));
    }
}

/// Changes the level.
pub fn set_level(level: &str) {
    if let Some(set) = SET_FILTER.get() {
        set(filter(level));
    }
}

fn filter(level: &str) -> EnvFilter {
    EnvFilter::new(format!("{level},rmcp=off,ort=warn,hyper=warn,tokenizers=warn"))
}
