//! Threads that own something which only one caller may use at a time, behind a queue with a bound.
//!
//! The writer is a pool of one, the readers a pool of a few. A full queue answers `busy` at once, a panic answers `internal`, and
//! either way the thread lives on. Not here: what the work is.

use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use tokio::sync::oneshot;

/// Work, and how its caller is told: after the group was committed, or with the reason why it was not.
type Work<T> = Box<dyn FnOnce(&mut T) -> Told + Send>;
type Told = Box<dyn FnOnce(Result<(), Failure>) + Send>;

/// Something to do for a thread of the pool.
struct Job<T> {
    work: Work<T>,
    kind: Kind,
}

/// Whether work may share a commit with other work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Alone,
    Grouped,
}

/// Most work that shares one commit.
const GROUP: usize = 64;

/// What a pool's threads own.
pub trait Member: Send + 'static {
    /// Begins a group of changes that are committed together.
    ///
    /// # Errors
    /// Why there can be none; nothing was begun then.
    fn begin_group(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// False when a fault has taken the whole group back already.
    fn is_group_open(&self) -> bool {
        true
    }

    /// Commits the group.
    ///
    /// # Errors
    /// Why it could not; nothing of the group was done then.
    fn commit_group(&mut self) -> Result<(), Failure> {
        Ok(())
    }
}

impl Member for loci_engine::Reader {}

impl Member for loci_engine::Writer {
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

/// Threads that take jobs in turn.
#[derive(Debug)]
pub struct Pool<T> {
    jobs: SyncSender<Job<T>>,
    waiting: Arc<AtomicUsize>,
}

impl<T: Member> Pool<T> {
    /// One thread for each member; the handles give the members back when the pool is dropped.
    ///
    /// # Panics
    /// When the system gives no thread.
    #[must_use]
    pub fn start(name: &str, members: Vec<T>) -> (Self, Vec<JoinHandle<T>>) {
        let (jobs, queue) = sync_channel::<Job<T>>(limits::QUEUE_LENGTH);
        let queue = Arc::new(Mutex::new(queue));
        let start = |member| {
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(move || serve(member, &queue)).expect("the system gives a thread")
        };
        let threads = members.into_iter().map(start).collect();
        (Self { jobs, waiting: Arc::default() }, threads)
    }

    /// Jobs that wait or run now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Has the work done by one of the threads. Work that was queued is done even if the caller no longer waits.
    ///
    /// # Errors
    /// `busy` when the queue is full, `internal` when the work panicked or the pool has ended.
    pub async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        self.have_done(Kind::Alone, work).await
    }

    /// The same for a change that may be committed together with others that wait: all wait for the disk once.
    ///
    /// # Errors
    /// As [`Pool::run`], and why the group could not be committed; nothing was done then.
    pub async fn run_grouped<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        self.have_done(Kind::Grouped, work).await
    }

    async fn have_done<R: Send + 'static>(
        &self,
        kind: Kind,
        work: impl FnOnce(&mut T) -> R + Send + 'static,
    ) -> Result<R, Failure> {
        let (answer, answered) = oneshot::channel();
        let waiting = Arc::clone(&self.waiting);
        let work: Work<T> = Box::new(move |member| {
            let result = catch_unwind(AssertUnwindSafe(|| work(member)));
            Box::new(move |committed| {
                waiting.fetch_sub(1, Ordering::Relaxed);
                if let Ok(result) = result {
                    // An error means that the caller has gone; the work is done all the same.
                    let _ = answer.send(committed.map(|()| result));
                }
            })
        });
        self.waiting.fetch_add(1, Ordering::Relaxed);
        if let Err(refused) = self.jobs.try_send(Job { work, kind }) {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(match refused {
                TrySendError::Full(_) => busy(),
                TrySendError::Disconnected(_) => {
                    Failure::new(Code::Internal, "the daemon is ending").hint("Call again")
                }
            });
        }
        let fault = |_| {
            Failure::new(Code::Internal, "a fault of loci ended the call")
                .hint("Run loci ctl logs and report it")
        };
        answered.await.map_err(fault)?
    }
}

fn busy() -> Failure {
    Failure::new(Code::Busy, "too many calls wait already").hint("Call again in a moment")
}

fn serve<T: Member>(mut member: T, queue: &Mutex<Receiver<Job<T>>>) -> T {
    // The lock is held while waiting: the other threads of the pool wait for their turn at it.
    let locked = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let mut taken = None;
    loop {
        let Some(job) = taken.take().or_else(|| locked().recv().ok()) else { return member };
        match job.kind {
            Kind::Alone => (job.work)(&mut member)(Ok(())),
            Kind::Grouped => taken = group(&mut member, job.work, || locked().try_recv().ok()),
        }
    }
}

/// Does what waits as one group, up to work that wants to be alone; gives that work back. Work that nothing else waits beside is no group.
fn group<T: Member>(
    member: &mut T,
    first: Work<T>,
    mut more: impl FnMut() -> Option<Job<T>>,
) -> Option<Job<T>> {
    let mut next = more();
    let company = next.as_ref().is_some_and(|job| job.kind == Kind::Grouped);
    if !company || member.begin_group().is_err() {
        first(member)(Ok(()));
        return next;
    }
    let mut told = vec![first(member)];
    while let Some(job) = next.take_if(|job| job.kind == Kind::Grouped) {
        told.push((job.work)(member));
        if !member.is_group_open() || told.len() == GROUP {
            break;
        }
        next = more();
    }
    let committed = member.commit_group();
    for tell in told {
        tell(committed.clone());
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what is committed, and how often it was waited for the disk.
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

    impl Member for Disk {
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

    impl Member for i32 {}
    impl Member for usize {}

    /// Has five numbers stored while the thread is held up, then one thing done alone; what became of each.
    async fn five_at_once(full: bool) -> (Vec<Result<(), Failure>>, Disk) {
        let (pool, mut threads) = Pool::start("test", vec![Disk { full, ..Disk::default() }]);
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let held = pool.run(move |_| gate.recv().expect("is released"));
        let [one, two, three] = [1, 2, 3].map(|n| pool.run_grouped(move |disk| disk.store(n)));
        let alone = pool.run(|disk| assert!(disk.open.is_none(), "it shares no commit"));
        let [four, five] = [4, 5].map(|n| pool.run_grouped(move |disk| disk.store(n)));
        let free = async { release.send(()).expect("the thread waits") };
        let (_, one, two, three, alone, four, five, ()) =
            tokio::join!(biased; held, one, two, three, alone, four, five, free);
        alone.expect("is done");
        drop(pool);
        (vec![one, two, three, four, five], threads.remove(0).join().expect("ends"))
    }

    #[tokio::test]
    async fn what_waits_together_is_committed_together_and_in_order() {
        let (told, disk) = five_at_once(false).await;
        assert!(told.iter().all(Result::is_ok));
        assert_eq!((disk.stored.as_slice(), disk.commits), (&[1, 2, 3, 4, 5][..], 2));
    }

    #[tokio::test]
    async fn of_a_group_that_cannot_be_committed_everybody_is_told() {
        let (told, disk) = five_at_once(true).await;
        assert!(
            told.iter().all(|told| told.as_ref().is_err_and(|f| f.code == Code::StorageFailed)),
            "{told:?}"
        );
        assert!(disk.stored.is_empty());
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_and_the_thread_lives_on() {
        let (pool, _threads) = Pool::start("test", vec![7]);
        let failure = pool.run(|_| -> i32 { panic!("on purpose") }).await.expect_err("says so");
        assert_eq!(failure.code, Code::Internal);
        assert_eq!(pool.run(|n| *n).await.expect("lives on"), 7);
        assert_eq!(pool.waiting(), 0);
    }

    #[tokio::test]
    async fn a_full_queue_is_busy_at_once_and_loses_nothing_that_was_taken() {
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
        let mut taken = Vec::new();
        for _ in 0..limits::QUEUE_LENGTH {
            let pool = Arc::clone(&pool);
            taken.push(tokio::spawn(async move { pool.run(|n| *n += 1).await }));
        }
        while pool.waiting() < limits::QUEUE_LENGTH + 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(|_| ()).await.expect_err("is full").code, Code::Busy);
        release.send(()).expect("the thread waits");
        holding.await.expect("joins").expect("is done");
        for job in taken {
            job.await.expect("joins").expect("is done");
        }
        drop(Arc::into_inner(pool).expect("nobody else holds it"));
        assert_eq!(threads.remove(0).join().expect("ends"), limits::QUEUE_LENGTH);
    }
}
