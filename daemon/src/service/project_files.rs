//! Reads files of a session's checkout, to record and compare the contents that memories speak of.
//!
//! Only regular files below the checkout, whatever links lead there, and only within limits of size and time. Nothing of a file is kept but
//! the id that git gives to its content. The files are read on one thread of their own: a file system that hangs, as a network folder may,
//! then costs a call no more than the time limit. Not here: which files those are (the engine).

use loci_engine::model::files::{Content, ProjectFiles};
use loci_proto::git_blob;
use loci_proto::hello::Checkout;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// The limits of one call.
struct Limits;

impl Limits {
    /// Largest file that is read, in bytes.
    const FILE_BYTES: u64 = 1 << 20;
    /// Bytes that are read of all files.
    const TOTAL_BYTES: u64 = 8 << 20;
    /// Time after which no further file is read, and no answer is waited for.
    const TIME: Duration = Duration::from_millis(25);
}

type Work = Box<dyn FnOnce() + Send>;

/// The thread that reads files; started at the first file.
#[derive(Debug, Default)]
pub struct FileThread(OnceLock<Option<SyncSender<Work>>>);

impl FileThread {
    /// Runs `work` on the thread; returns its result, or `None` if there is none until `deadline` or the thread is busy.
    fn run<T: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let queue = self.0.get_or_init(start).as_ref()?;
        let (sender, result) = sync_channel(1);
        // Fails if the caller waits no longer.
        let work = move || drop(sender.send(work()));
        queue.try_send(Box::new(work)).ok()?;
        result.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok()
    }
}

fn start() -> Option<SyncSender<Work>> {
    let (queue, works) = sync_channel::<Work>(1);
    let run = move || works.into_iter().for_each(|work| work());
    std::thread::Builder::new().name("files".to_owned()).spawn(run).ok().map(|_| queue)
}

/// The files of one checkout, for one call.
#[derive(Debug)]
pub struct CheckoutFiles {
    thread: Arc<FileThread>,
    top: PathBuf,
    left_bytes: AtomicU64,
    deadline: OnceLock<Instant>,
}

impl CheckoutFiles {
    /// Returns the files of a checkout; `None` outside a repository.
    #[must_use]
    pub fn of(thread: &Arc<FileThread>, checkout: Option<&Checkout>) -> Option<Self> {
        Some(Self {
            thread: Arc::clone(thread),
            top: PathBuf::from(checkout?.top.as_deref()?),
            left_bytes: AtomicU64::new(Limits::TOTAL_BYTES),
            deadline: OnceLock::new(),
        })
    }
}

impl ProjectFiles for CheckoutFiles {
    fn content(&self, path: &str) -> Content {
        let deadline = *self.deadline.get_or_init(|| Instant::now() + Limits::TIME);
        let (top, path) = (self.top.clone(), path.to_owned());
        let max_bytes = self.left_bytes.load(Ordering::Relaxed).min(Limits::FILE_BYTES);
        let read = self.thread.run(deadline, move || read(&top, &path, max_bytes));
        let Some(FileRead { content, bytes }) = read else { return Content::Unknown };
        self.left_bytes.fetch_sub(bytes, Ordering::Relaxed);
        content
    }
}

/// What was read of a file.
struct FileRead {
    content: Content,
    bytes: u64,
}

/// Reads a file below `top` of at most `max_bytes`.
fn read(top: &Path, path: &str, max_bytes: u64) -> FileRead {
    let (content, bytes) = match bytes_of(top, path, max_bytes) {
        Ok(Some(bytes)) => (Content::Blob(git_blob::id_of(&bytes)), bytes.len() as u64),
        Err(error) if error.kind() == ErrorKind::NotFound => (Content::Missing, 0),
        Ok(None) | Err(_) => (Content::Unknown, 0),
    };
    FileRead { content, bytes }
}

/// Returns the bytes of a file; `None` if it is outside of `top`, no regular file, or too large.
fn bytes_of(top: &Path, path: &str, max_bytes: u64) -> std::io::Result<Option<Vec<u8>>> {
    let Ok(top) = top.canonicalize() else { return Ok(None) };
    let file = top.join(path).canonicalize()?;
    let metadata = file.metadata()?;
    if !file.starts_with(&top) || !metadata.is_file() || metadata.len() > max_bytes {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    File::open(file)?.take(max_bytes).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_small_files_below_the_checkout_are_read() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let top = folder.path().join("shop");
        std::fs::create_dir(&top).expect("the folder is created");
        std::fs::write(folder.path().join("outside"), "x").expect("the file is written");
        std::fs::write(top.join("a.rs"), "hello\n").expect("the file is written");
        std::fs::write(top.join("large"), vec![0; 2 << 20]).expect("the file is written");
        symlink(folder.path().join("outside"), top.join("link")).expect("the link is created");
        let top = top.to_str().map(str::to_owned);
        let checkout = Checkout { top, ..Checkout::default() };
        let thread = Arc::default();
        let files = CheckoutFiles::of(&thread, Some(&checkout)).expect("there is a checkout");
        assert!(matches!(files.content("a.rs"), Content::Blob(_)));
        assert_eq!(files.content("b.rs"), Content::Missing);
        for path in ["link", "large", "", "../outside"] {
            assert_eq!(files.content(path), Content::Unknown, "{path}");
        }
        assert!(CheckoutFiles::of(&thread, Some(&Checkout::default())).is_none());
    }

    #[test]
    fn a_file_system_that_hangs_costs_no_more_than_the_time_limit() {
        let thread = FileThread::default();
        let (release, hanging) = sync_channel::<()>(1);
        let soon = || Instant::now() + Duration::from_millis(5);
        assert_eq!(thread.run(soon(), move || hanging.recv().is_ok()), None);
        let far = Instant::now() + Duration::from_mins(1);
        assert_eq!(thread.run(soon(), || 1), None, "it waits in the queue");
        assert_eq!(thread.run(far, || 2), None, "the queue is full: nothing is waited for");
        release.send(()).expect("the work continues");
        let mut answer = None;
        while answer.is_none() {
            answer = thread.run(far, || 3);
        }
        assert_eq!(answer, Some(3));
    }
}
