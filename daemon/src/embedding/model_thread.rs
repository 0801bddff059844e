//! A thread that owns a model. A stop waits a limited time for its end: a model of the user's own may never return, and the process must end
//! all the same.
//!
//! ONNX Runtime must not be used while the static objects of the process are destroyed, so a process with such a thread ends without that
//! ([`exit`]). Not here: what the threads do.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How long the end of a thread is awaited.
pub(crate) const END_DEADLINE: Duration = Duration::from_secs(2);

/// Number of threads that have not ended.
static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// A running thread.
#[derive(Debug)]
pub(crate) struct ModelThread {
    /// Disconnected once the thread has ended.
    ended: Mutex<Receiver<()>>,
}

/// Says that the thread has ended, however it does.
struct EndNotice(#[expect(dead_code, reason = "its drop is the notice")] Sender<()>);

impl Drop for EndNotice {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::SeqCst);
    }
}

impl ModelThread {
    /// Starts a thread.
    ///
    /// # Errors
    /// The system's.
    pub fn start(name: &str, run: impl FnOnce() + Send + 'static) -> std::io::Result<Self> {
        let (notice, ended) = channel();
        RUNNING.fetch_add(1, Ordering::SeqCst);
        let notice = EndNotice(notice);
        let run = move || {
            let _notice = notice;
            run();
        };
        std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
        Ok(Self { ended: Mutex::new(ended) })
    }

    /// Waits for the end of the thread; returns false if it still runs after this time.
    pub fn join_within(&self, limit: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.recv_timeout(limit) == Err(RecvTimeoutError::Disconnected)
    }
}

/// Returns the exit code of the process, or ends it at once if a thread still runs its model. Everything else must be closed before.
pub(crate) fn exit(code: loci_proto::error::Exit) -> ExitCode {
    if RUNNING.load(Ordering::SeqCst) == 0 {
        return code.into();
    }
    tracing::warn!("a model did not end in time; the process ends without it");
    // SAFETY: ends the process without returning; nothing of it is used any more.
    unsafe { nix::libc::_exit(i32::from(code as u8)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_thread_is_awaited_for_a_limited_time() {
        let (release, released) = channel::<()>();
        let thread = ModelThread::start("stuck", move || {
            let _ = released.recv();
        });
        let thread = thread.expect("a thread starts");
        assert!(!thread.join_within(Duration::from_millis(20)), "it waits for the test");
        drop(release);
        assert!(thread.join_within(END_DEADLINE));
        let panics = ModelThread::start("panics", || panic!("the test requested a panic"));
        assert!(panics.expect("a thread starts").join_within(END_DEADLINE));
    }
}
