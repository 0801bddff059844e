//! Logs: what the daemon did, never what a memory says.
//!
//! Ids, sizes and durations are logged; content, queries and metadata are not, at any level. The MCP library would log whole messages
//! at `debug`, so it is held at `warn`. Logs go to standard error, which the shim or the service manager keeps.

use tracing_subscriber::EnvFilter;

/// Begins to log at this level: `error`, `warn`, `info`, `debug` or `trace`.
pub fn start(level: &str) {
    let filter = EnvFilter::new(format!("{level},rmcp=off,ort=warn,hyper=warn,tokenizers=warn"));
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).with_target(false);
    // It would tell standard error that standard error cannot be written, and a full disk would end whatever thread has something to log.
    let subscriber = subscriber.log_internal_errors(false);
    // Only a second call in one process fails, as tests make it; the first one stands.
    let _ = subscriber.try_init();
}
