//! Watches the memory files of clients, read-only, where a person has switched that on.
//!
//! The files are looked at when the daemon starts, when a session of the client starts, and every `bridge.interval_seconds`: a look is a
//! `stat` of each file, and only what has changed is read. Not here: finding and reading files (`files`), one scan (`scan`), versions and
//! imports (the engine).

mod files;
mod scan;
pub mod state;

use crate::service::Service;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};
use tokio_util::sync::CancellationToken;

/// When a scan that failed is tried again: the store may have been busy.
const RETRY_AFTER: Duration = Duration::from_secs(2);
/// How long a file must be unchanged before a scan that nobody asked for reads it.
const SETTLES_IN: Duration = Duration::from_secs(1);

/// How often in turn a scan leaves what is being written to the next one.
const MAX_PUT_OFF: usize = 10;

/// Scans until the daemon drains.
pub async fn run_in_background(service: &Service, draining: CancellationToken) {
    // The first scan finds out whether a client is watched.
    service.bridge.is_on.store(true, Ordering::Relaxed);
    let mut put_off = 0;
    loop {
        let mut interval = Duration::from_secs(service.config.config().bridge.interval());
        if service.bridge.is_on.load(Ordering::Relaxed) {
            let unsettled = SystemTime::now().checked_sub(SETTLES_IN);
            match service.scan_bridge(unsettled.filter(|_| put_off < MAX_PUT_OFF)).await {
                Ok(scanned) if scanned.is_writing => {
                    put_off += 1;
                    interval = interval.min(SETTLES_IN);
                }
                Ok(_) => put_off = 0,
                Err(failure) => {
                    tracing::debug!(%failure, "the memory files of clients were not scanned");
                    interval = interval.min(RETRY_AFTER);
                }
            }
        }
        tokio::select! {
            () = draining.cancelled() => return,
            () = service.bridge.wake.notified() => {}
            () = tokio::time::sleep(interval) => {}
        }
    }
}
