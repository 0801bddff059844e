//! Thread pools with bounded queues: each thread owns a resource that only one job may use at a time.
//!
//! The writer is a pool of one thread, the readers are a pool of a few. A full queue is answered with `busy` at once, a panic of a job with
//! `internal`; the thread continues after both. Not here: the jobs.

use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Does the work and returns the function that replies to the caller; that is called with the outcome of the commit.
type Work<T> = Box<dyn FnOnce(&mut T) -> SendReply + Send>;
type SendReply = Box<dyn FnOnce(Result<(), Failure>) + Send>;

/// A job for a thread of the pool.
struct Job<T> {
    work: Work<T>,
    commit: Commit,
}

/// Whether a job may share a commit with other jobs (group commit).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Commit {
    /// The job has a commit of its own.
    Own,
    /// The job may share a commit.
    Grouped,
}

/// Maximum number of jobs that share one commit.
const MAX_GROUPED_JOBS: usize = 64;

/// A resource that a thread of a pool owns.
pub trait Resource: Send + 'static {
    /// Begins a group of changes that are committed together.
    ///
    /// # Errors
    /// The reason why no group can begin; no group is open then.
    fn begin_group(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns false if an error has already rolled the whole group back.
    fn is_group_open(&self) -> bool {
        true
    }

    /// Commits the group.
    ///
    /// # Errors
    /// The reason why the commit failed; nothing of the group was written then.
    fn commit_group(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

impl Resource for loci_engine::Reader {}

impl Resource for loci_engine::Writer {
    fn begin_group(&mut self) -> Result<(), Failure> {
        Ok(Self::begin_group(self)?)
    }

    fn is_group_open(&self) -> bool {
        Self::is_group_open(self)
    }

    fn commit_group(&mut self) -> Result<(), Failure> {
        Ok(Self::commit_group(self)?)
    }
}

/// Threads that take jobs from one queue.
#[derive(Debug)]
pub struct Pool<T> {
    jobs: SyncSender<Job<T>>,
    pending: Arc<AtomicUsize>,
}

impl<T: Resource> Pool<T> {
    /// Starts one thread for each resource. After the pool has been dropped, the handles return the resources.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    #[must_use]
    pub fn start(name: &str, resources: Vec<T>) -> (Self, Vec<JoinHandle<T>>) {
        let (jobs, queue) = sync_channel::<Job<T>>(limits::QUEUE_LENGTH);
        let queue = Arc::new(Mutex::new(queue));
        let start = |resource| {
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(move || serve(resource, &queue)).expect("the system starts a thread")
        };
        let threads = resources.into_iter().map(start).collect();
        (Self { jobs, pending: Arc::default() }, threads)
    }

    /// Returns the number of queued and running jobs.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.pending.load(Ordering::Relaxed)
    }

    /// Runs a job on one of the threads. A queued job runs even if the caller no longer waits for it.
    ///
    /// # Errors
    /// `busy` if the queue is full, `internal` if the job panicked or the pool has ended.
    pub async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        self.submit(Commit::Own, work).await
    }

    /// Like [`Pool::run`], for a change that may share a commit with other queued changes: all wait for the disk once.
    ///
    /// # Errors
    /// As [`Pool::run`], and the reason why the commit failed; nothing was written then.
    pub async fn run_grouped<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        self.submit(Commit::Grouped, work).await
    }

    async fn submit<R: Send + 'static>(
        &self,
        commit: Commit,
        work: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        let (reply, replied) = oneshot::channel();
        let pending = Arc::clone(&self.pending);
        let work: Work<T> = Box::new(move |resource| {
            let result = catch_unwind(AssertUnwindSafe(|| work(resource)));
            Box::new(move |committed| {
                pending.fetch_sub(1, Ordering::Relaxed);
                if let Ok(result) = result {
                    // Fails if the caller no longer waits.
                    let _ = reply.send(committed.map(|()| result));
                }
            })
        });
        self.pending.fetch_add(1, Ordering::Relaxed);
        if let Err(refused) = self.jobs.try_send(Job { work, commit }) {
            self.pending.fetch_sub(1, Ordering::Relaxed);
            return Err(match refused {
                TrySendError::Full(_) => queue_full(),
                TrySendError::Disconnected(_) => {
                    Failure::new(Code::Internal, "the daemon is shutting down").hint("Call again")
                }
            });
        }
        let panicked = |_| {
            Failure::new(Code::Internal, "an internal error ended the call")
                .hint("Run loci ctl logs and report the error")
        };
        replied.await.map_err(panicked)?
    }
}

fn queue_full() -> Failure {
    Failure::new(Code::Busy, "too many calls are queued").hint("Call again in a moment")
}

/// Runs jobs until the pool is dropped; returns the resource.
fn serve<T: Resource>(mut resource: T, queue: &Mutex<Receiver<Job<T>>>) -> T {
    // A thread keeps the lock while it waits for a job; the other threads of the pool wait for the lock.
    let lock_queue = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = None;
    loop {
        let Some(job) = next.take().or_else(|| lock_queue().recv().ok()) else { return resource };
        match job.commit {
            Commit::Own => (job.work)(&mut resource)(Ok(())),
            Commit::Grouped => {
                next = run_group(&mut resource, job.work, || lock_queue().try_recv().ok());
            }
        }
    }
}

/// Runs `first` and the queued jobs behind it that may share its commit as one group. Returns the next job if that does not belong to the
/// group.
///
/// Without a second job for the group, `first` is committed on its own. `more` returns the next queued job, if there is one.
fn run_group<T: Resource>(
    resource: &mut T,
    first: Work<T>,
    mut more: impl FnMut() -> Option<Job<T>>,
) -> Option<Job<T>> {
    let mut next = more();
    let has_second = next.as_ref().is_some_and(|job| job.commit == Commit::Grouped);
    if !has_second || resource.begin_group().is_err() {
        first(resource)(Ok(()));
        return next;
    }
    let mut replies = vec![first(resource)];
    while let Some(job) = next.take_if(|job| job.commit == Commit::Grouped) {
        replies.push((job.work)(resource));
        if !resource.is_group_open() || replies.len() == MAX_GROUPED_JOBS {
            break;
        }
        next = more();
    }
    let committed = resource.commit_group();
    for send in replies {
        send(committed.clone());
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fake disk that records the committed numbers and counts the group commits.
    #[derive(Debug, Default)]
    struct Disk {
        /// The numbers of the open group, if one is open.
        open: Option<Vec<i32>>,
        stored: Vec<i32>,
        commits: usize,
        is_full: bool,
    }

    impl Disk {
        fn store(&mut self, n: i32) {
            match &mut self.open {
                Some(open) => open.push(n),
                None => self.stored.push(n),
            }
        }
    }

    impl Resource for Disk {
        fn begin_group(&mut self) -> Result<(), Failure> {
            self.open = Some(Vec::new());
            Ok(())
        }

        fn commit_group(&mut self) -> Result<(), Failure> {
            let group = self.open.take().unwrap_or_default();
            if self.is_full {
                return Err(Failure::new(Code::StorageFailed, "the disk is full"));
            }
            self.commits += 1;
            self.stored.extend(group);
            Ok(())
        }
    }

    impl Resource for i32 {}
    impl Resource for usize {}

    /// Stores five numbers in two groups, separated by a job with a commit of its own, all queued while the thread is blocked. Returns the
    /// outcome of each store, and the disk.
    async fn store_five_at_once(is_full: bool) -> (Vec<Result<(), Failure>>, Disk) {
        let (pool, mut threads) = Pool::start("test", vec![Disk { is_full, ..Disk::default() }]);
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let blocker = pool.run(move |_| gate.recv().expect("the test releases the thread"));
        let [one, two, three] = [1, 2, 3].map(|n| pool.run_grouped(move |disk| disk.store(n)));
        let alone = pool.run(|disk| assert!(disk.open.is_none(), "has a commit of its own"));
        let [four, five] = [4, 5].map(|n| pool.run_grouped(move |disk| disk.store(n)));
        let unblock = async { release.send(()).expect("the thread waits") };
        let (_, one, two, three, alone, four, five, ()) =
            tokio::join!(biased; blocker, one, two, three, alone, four, five, unblock);
        alone.expect("the job runs");
        drop(pool);
        (vec![one, two, three, four, five], threads.remove(0).join().expect("the thread ends"))
    }

    #[tokio::test]
    async fn queued_jobs_share_a_commit_and_keep_their_order() {
        let (outcomes, disk) = store_five_at_once(false).await;
        assert!(outcomes.iter().all(Result::is_ok));
        assert_eq!((disk.stored.as_slice(), disk.commits), (&[1, 2, 3, 4, 5][..], 2));
    }

    #[tokio::test]
    async fn every_caller_of_a_group_gets_the_error_of_its_commit() {
        let (outcomes, disk) = store_five_at_once(true).await;
        assert!(
            outcomes
                .iter()
                .all(|outcome| outcome.as_ref().is_err_and(|f| f.code == Code::StorageFailed)),
            "{outcomes:?}"
        );
        assert!(disk.stored.is_empty());
    }

    #[tokio::test]
    async fn a_panic_is_reported_and_the_thread_survives() {
        let (pool, _threads) = Pool::start("test", vec![7]);
        let failure =
            pool.run(|_| -> i32 { panic!("on purpose") }).await.expect_err("the panic is reported");
        assert_eq!(failure.code, Code::Internal);
        assert_eq!(pool.run(|n| *n).await.expect("the thread continues"), 7);
        assert_eq!(pool.pending(), 0);
    }

    #[tokio::test]
    async fn a_full_queue_is_busy_at_once_and_loses_no_queued_job() {
        let (pool, mut threads) = Pool::start("test", vec![0_usize]);
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let (entered, inside) = oneshot::channel();
        let pool = Arc::new(pool);
        let pool_of_blocker = Arc::clone(&pool);
        let blocker = tokio::spawn(async move {
            pool_of_blocker
                .run(move |_| {
                    let _ = entered.send(());
                    let _ = gate.recv();
                })
                .await
        });
        inside.await.expect("the thread runs the first job");
        let mut queued = Vec::new();
        for _ in 0..limits::QUEUE_LENGTH {
            let pool = Arc::clone(&pool);
            queued.push(tokio::spawn(async move { pool.run(|n| *n += 1).await }));
        }
        while pool.pending() < limits::QUEUE_LENGTH + 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(|_| ()).await.expect_err("the queue is full").code, Code::Busy);
        release.send(()).expect("the thread waits");
        blocker.await.expect("the task ends").expect("the job runs");
        for job in queued {
            job.await.expect("the task ends").expect("the job runs");
        }
        drop(Arc::into_inner(pool).expect("the pool has no other owner"));
        assert_eq!(threads.remove(0).join().expect("the thread ends"), limits::QUEUE_LENGTH);
    }
}
