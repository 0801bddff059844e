//! Thread pools: each thread owns a resource that only one caller may use at a time, behind a bounded queue.
//!
//! The writer is a pool of one thread, the readers are a pool of a few. A full queue answers `busy` at once, a panic answers `internal`;
//! the thread survives both. Not here: what the jobs do.

use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Does the work and returns the function that replies to its caller, which is called with the outcome of the commit.
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
    Own,
    Grouped,
}

/// Maximum number of jobs that share one commit.
const MAX_GROUP: usize = 64;

/// What a thread of a pool owns.
pub trait Resource: Send + 'static {
    /// Begins a group of changes that are committed together.
    ///
    /// # Errors
    /// The reason why no group can begin; nothing was begun then.
    fn begin_group(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns false if a fault has rolled the whole group back already.
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
    waiting: Arc<AtomicUsize>,
}

impl<T: Resource> Pool<T> {
    /// Starts one thread for each resource; the handles return the resources after the pool was dropped.
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
        (Self { jobs, waiting: Arc::default() }, threads)
    }

    /// Returns the number of jobs that wait or run now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
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
        let waiting = Arc::clone(&self.waiting);
        let work: Work<T> = Box::new(move |resource| {
            let result = catch_unwind(AssertUnwindSafe(|| work(resource)));
            Box::new(move |committed| {
                waiting.fetch_sub(1, Ordering::Relaxed);
                if let Ok(result) = result {
                    // An error means that the caller has gone; the job is done all the same.
                    let _ = reply.send(committed.map(|()| result));
                }
            })
        });
        self.waiting.fetch_add(1, Ordering::Relaxed);
        if let Err(refused) = self.jobs.try_send(Job { work, commit }) {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(match refused {
                TrySendError::Full(_) => busy(),
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

fn busy() -> Failure {
    Failure::new(Code::Busy, "too many calls are queued").hint("Call again in a moment")
}

fn serve<T: Resource>(mut resource: T, queue: &Mutex<Receiver<Job<T>>>) -> T {
    // The lock is held while waiting for a job: the other threads of the pool wait for the lock.
    let locked = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let mut next = None;
    loop {
        let Some(job) = next.take().or_else(|| locked().recv().ok()) else { return resource };
        match job.commit {
            Commit::Own => (job.work)(&mut resource)(Ok(())),
            Commit::Grouped => {
                next = run_group(&mut resource, job.work, || locked().try_recv().ok());
            }
        }
    }
}

/// Runs the queued jobs that may share a commit as one group, up to the first that may not, which is returned.
///
/// A job that nothing else is queued behind is committed on its own.
fn run_group<T: Resource>(
    resource: &mut T,
    first: Work<T>,
    mut more: impl FnMut() -> Option<Job<T>>,
) -> Option<Job<T>> {
    let mut next = more();
    let has_company = next.as_ref().is_some_and(|job| job.commit == Commit::Grouped);
    if !has_company || resource.begin_group().is_err() {
        first(resource)(Ok(()));
        return next;
    }
    let mut replies = vec![first(resource)];
    while let Some(job) = next.take_if(|job| job.commit == Commit::Grouped) {
        replies.push((job.work)(resource));
        if !resource.is_group_open() || replies.len() == MAX_GROUP {
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

    /// Records what is committed, and counts the commits.
    #[derive(Debug, Default)]
    struct Disk {
        open: Option<Vec<i32>>,
        stored: Vec<i32>,
        commits: usize,
        full: bool,
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
            if self.full {
                return Err(Failure::new(Code::StorageFailed, "the disk is full"));
            }
            self.commits += 1;
            self.stored.extend(group);
            Ok(())
        }
    }

    impl Resource for i32 {}
    impl Resource for usize {}

    /// Stores five numbers in two groups, separated by a job with a commit of its own, all queued while the thread is blocked.
    ///
    /// Returns the outcome of each store.
    async fn five_at_once(full: bool) -> (Vec<Result<(), Failure>>, Disk) {
        let (pool, mut threads) = Pool::start("test", vec![Disk { full, ..Disk::default() }]);
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let held = pool.run(move |_| gate.recv().expect("is released"));
        let [one, two, three] = [1, 2, 3].map(|n| pool.run_grouped(move |disk| disk.store(n)));
        let alone = pool.run(|disk| assert!(disk.open.is_none(), "has a commit of its own"));
        let [four, five] = [4, 5].map(|n| pool.run_grouped(move |disk| disk.store(n)));
        let free = async { release.send(()).expect("the thread waits") };
        let (_, one, two, three, alone, four, five, ()) =
            tokio::join!(biased; held, one, two, three, alone, four, five, free);
        alone.expect("is done");
        drop(pool);
        (vec![one, two, three, four, five], threads.remove(0).join().expect("ends"))
    }

    #[tokio::test]
    async fn queued_jobs_share_a_commit_and_keep_their_order() {
        let (outcomes, disk) = five_at_once(false).await;
        assert!(outcomes.iter().all(Result::is_ok));
        assert_eq!((disk.stored.as_slice(), disk.commits), (&[1, 2, 3, 4, 5][..], 2));
    }

    #[tokio::test]
    async fn every_caller_of_a_group_gets_the_error_of_its_commit() {
        let (outcomes, disk) = five_at_once(true).await;
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
        let failure = pool.run(|_| -> i32 { panic!("on purpose") }).await.expect_err("is reported");
        assert_eq!(failure.code, Code::Internal);
        assert_eq!(pool.run(|n| *n).await.expect("survives"), 7);
        assert_eq!(pool.waiting(), 0);
    }

    #[tokio::test]
    async fn a_full_queue_is_busy_at_once_and_loses_no_queued_job() {
        let (pool, mut threads) = Pool::start("test", vec![0_usize]);
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let (entered, inside) = oneshot::channel();
        let pool = Arc::new(pool);
        let blocker = Arc::clone(&pool);
        let holding = tokio::spawn(async move {
            blocker
                .run(move |_| {
                    let _ = entered.send(());
                    let _ = gate.recv();
                })
                .await
        });
        inside.await.expect("the thread is at work");
        let mut queued = Vec::new();
        for _ in 0..limits::QUEUE_LENGTH {
            let pool = Arc::clone(&pool);
            queued.push(tokio::spawn(async move { pool.run(|n| *n += 1).await }));
        }
        while pool.waiting() < limits::QUEUE_LENGTH + 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(|_| ()).await.expect_err("is full").code, Code::Busy);
        release.send(()).expect("the thread waits");
        holding.await.expect("joins").expect("is done");
        for job in queued {
            job.await.expect("joins").expect("is done");
        }
        drop(Arc::into_inner(pool).expect("has no other owner"));
        assert_eq!(threads.remove(0).join().expect("ends"), limits::QUEUE_LENGTH);
    }
}
