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

type Job<T> = Box<dyn FnOnce(&mut T) + Send>;

/// Threads that take jobs in turn.
#[derive(Debug)]
pub struct Pool<T> {
    jobs: SyncSender<Job<T>>,
    waiting: Arc<AtomicUsize>,
}

impl<T: Send + 'static> Pool<T> {
    /// One thread for each member; the handles give the members back when the pool is dropped.
    ///
    /// # Panics
    /// When the system gives no thread.
    #[must_use]
    pub fn start(name: &str, members: Vec<T>) -> (Self, Vec<JoinHandle<T>>) {
        let (jobs, queue) = sync_channel::<Job<T>>(limits::QUEUE);
        let queue = Arc::new(Mutex::new(queue));
        let start = |member| {
            let queue = Arc::clone(&queue);
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(move || work(member, &queue)).expect("the system gives a thread")
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
    pub async fn run<R: Send + 'static>(&self, work: impl FnOnce(&mut T) -> R + Send + 'static) -> Result<R, Failure> {
        let (answer, answered) = oneshot::channel();
        let waiting = Arc::clone(&self.waiting);
        let job: Job<T> = Box::new(move |member| {
            let result = catch_unwind(AssertUnwindSafe(|| work(member)));
            waiting.fetch_sub(1, Ordering::Relaxed);
            if let Ok(result) = result {
                // An error means that the caller has gone; the work is done all the same.
                let _ = answer.send(result);
            }
        });
        self.waiting.fetch_add(1, Ordering::Relaxed);
        if let Err(refused) = self.jobs.try_send(job) {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(match refused {
                TrySendError::Full(_) => busy(),
                TrySendError::Disconnected(_) => Failure::new(Code::Internal, "the daemon is ending").hint("Call again"),
            });
        }
        answered.await.map_err(|_| Failure::new(Code::Internal, "a fault of loci ended the call").hint("Run loci ctl logs and report it"))
    }
}

fn busy() -> Failure {
    Failure::new(Code::Busy, "too many calls wait already").hint("Call again in a moment")
}

fn work<T>(mut member: T, queue: &Mutex<Receiver<Job<T>>>) -> T {
    loop {
        // The lock is held while waiting: the other threads of the pool wait for their turn at it.
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        match job {
            Ok(job) => job(&mut member),
            Err(_) => return member,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        for _ in 0..limits::QUEUE {
            let pool = Arc::clone(&pool);
            taken.push(tokio::spawn(async move { pool.run(|n| *n += 1).await }));
        }
        while pool.waiting() < limits::QUEUE + 1 {
            tokio::task::yield_now().await;
        }
        assert_eq!(pool.run(|_| ()).await.expect_err("is full").code, Code::Busy);
        release.send(()).expect("the thread waits");
        holding.await.expect("joins").expect("is done");
        for job in taken {
            job.await.expect("joins").expect("is done");
        }
        drop(Arc::into_inner(pool).expect("nobody else holds it"));
        assert_eq!(threads.remove(0).join().expect("ends"), limits::QUEUE);
    }
}
