//! The desk between callers and the model's thread: three bounded lanes, and the word of how the model is.
//!
//! Every lane and the question whether texts are taken at all stand under one lock, so that no text can slip in behind a model that
//! has just failed and wait for ever. Not here: what the thread does with a text (`round`, `thread`).

use crate::embedding::batch::Read;
use crate::embedding::{EmbedError, State};
use loci_proto::limits::QUEUE_LENGTH;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Who goes first, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// Somebody waits for search results.
    Query,
    /// Somebody waits for a store to end.
    Interactive,
    /// Nobody waits: filling in, importing.
    Bulk,
}

/// All ranks, best first; a rank is the index of its lane.
pub(crate) const RANKS: [Rank; 3] = [Rank::Query, Rank::Interactive, Rank::Bulk];

/// What the model read in a text, one for each piece.
pub(crate) type Answer = Result<Vec<Read>, EmbedError>;

/// A text that waits for its vectors.
pub(crate) struct Job {
    /// The text.
    pub text: String,
    reply: oneshot::Sender<Answer>,
    counted: Counted,
}

impl Job {
    /// True when the caller has gone away.
    pub fn abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    /// Tells the caller; one that has gone away is no fault.
    pub fn answer(self, answer: Answer) {
        drop(self.counted);
        let _ = self.reply.send(answer);
    }
}

/// One of the texts that wait, counted until it is answered or dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn one_of(all: &Arc<AtomicUsize>) -> Self {
        all.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(all))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What the thread does next while the model is ready.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Work for this rank: its open round if it has one, else its lane.
    Work(Rank),
    /// Nothing, and nothing has come for as long as was asked for.
    Pause,
    /// End.
    Stop,
}

/// A wish to look at the models folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Try only when the folder has changed.
    IfChanged,
    /// Try in any case.
    Anyway,
}

/// What callers can see of the thread.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// How the model is.
    pub state: State,
    /// What the person should know.
    pub warnings: Vec<String>,
    /// Wishes to look that have been heard.
    pub looks: u64,
}

/// The desk.
pub(crate) struct Desk {
    lanes: Mutex<Lanes>,
    bell: Condvar,
    seen: watch::Sender<Seen>,
    waiting: Arc<AtomicUsize>,
}

struct Lanes {
    queues: [VecDeque<Job>; 3],
    /// False while the model is missing or failed: texts are refused at once.
    taking: bool,
    look: Option<Look>,
    /// Wishes to look so far.
    asked: u64,
    stopping: bool,
    /// The thread is gone: nobody will look any more.
    ended: bool,
}

impl Desk {
    pub fn new() -> Self {
        let queues = [VecDeque::new(), VecDeque::new(), VecDeque::new()];
        Self {
            lanes: Mutex::new(Lanes {
                queues,
                taking: true,
                look: None,
                asked: 0,
                stopping: false,
                ended: false,
            }),
            bell: Condvar::new(),
            seen: watch::Sender::new(Seen {
                state: State::WarmupProgress,
                warnings: Vec::new(),
                looks: 0,
            }),
            waiting: Arc::default(),
        }
    }

    fn lanes(&self) -> MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the model is, and changes of it.
    pub fn seen(&self) -> &watch::Sender<Seen> {
        &self.seen
    }

    /// Texts that were submitted and not answered.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Puts a text into its lane.
    ///
    /// # Errors
    /// `Busy` when the lane is full, `Unavailable` when the model is missing or failed.
    pub fn submit(
        &self,
        text: String,
        rank: Rank,
    ) -> Result<oneshot::Receiver<Answer>, EmbedError> {
        let mut lanes = self.lanes();
        if !lanes.taking {
            return Err(self.unavailable());
        }
        let queue = &mut lanes.queues[rank as usize];
        if queue.len() >= QUEUE_LENGTH {
            return Err(EmbedError::Busy);
        }
        let (reply, answer) = oneshot::channel();
        queue.push_back(Job { text, reply, counted: Counted::one_of(&self.waiting) });
        drop(lanes);
        self.bell.notify_one();
        Ok(answer)
    }

    /// Why no text is taken.
    pub fn unavailable(&self) -> EmbedError {
        EmbedError::Unavailable {
            hint: self
                .seen
                .borrow()
                .state
                .hint()
                .unwrap_or("try again when the daemon is up")
                .to_owned(),
        }
    }

    /// Asks the thread to look at the folder; gives the number of the wish, which `Seen::looks` will reach.
    pub fn ask_for_look(&self, look: Look) -> u64 {
        let mut lanes = self.lanes();
        if lanes.look != Some(Look::Anyway) {
            lanes.look = Some(look);
        }
        lanes.asked += 1;
        let number = lanes.asked;
        if lanes.ended {
            self.heard(number);
        }
        drop(lanes);
        self.bell.notify_one();
        number
    }

    /// Asks the thread to end after its present run.
    pub fn stop(&self) {
        self.lanes().stopping = true;
        self.bell.notify_one();
    }
}

/// The thread's side.
impl Desk {
    /// Waits until there is something to do, or for a pause of this length. `open` is the best rank with an unfinished round.
    pub fn turn(&self, open: Option<Rank>, pause: Option<Duration>) -> Turn {
        let mut lanes = self.lanes();
        loop {
            if lanes.stopping {
                return Turn::Stop;
            }
            // The model is ready: whoever wished for a look has what they want.
            if lanes.look.take().is_some() {
                self.heard(lanes.asked);
            }
            let waiting = RANKS.into_iter().find(|rank| !lanes.queues[*rank as usize].is_empty());
            if let Some(rank) = waiting.into_iter().chain(open).min() {
                return Turn::Work(rank);
            }
            let Some(pause) = pause else {
                lanes = self.bell.wait(lanes).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (woken, waited) =
                self.bell.wait_timeout(lanes, pause).unwrap_or_else(PoisonError::into_inner);
            lanes = woken;
            if waited.timed_out() && !lanes.stopping && lanes.queues.iter().all(VecDeque::is_empty)
            {
                return Turn::Pause;
            }
        }
    }

    /// The next text of a lane.
    pub fn take(&self, rank: Rank) -> Option<Job> {
        self.lanes().queues[rank as usize].pop_front()
    }

    /// Waits for a wish to look; none means: end.
    pub fn next_look(&self) -> Option<Look> {
        let mut lanes = self.lanes();
        loop {
            if lanes.stopping {
                return None;
            }
            if let Some(look) = lanes.look.take() {
                return Some(look);
            }
            lanes = self.bell.wait(lanes).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The folder was looked at, and nothing changed.
    pub fn nothing_new(&self) {
        let asked = self.lanes().asked;
        self.heard(asked);
    }

    fn heard(&self, asked: u64) {
        self.seen.send_modify(|seen| seen.looks = asked);
    }

    /// Texts are taken, and the model is loading or ready.
    pub fn open(&self, state: State, warnings: Vec<String>) {
        let mut lanes = self.lanes();
        lanes.taking = true;
        let looks = lanes.asked;
        self.seen.send_replace(Seen { state, warnings, looks });
    }

    /// The thread ends: no text is taken any more, and nobody is left waiting.
    pub fn end(&self, state: State) {
        let mut lanes = self.lanes();
        lanes.ended = true;
        lanes.look = None;
        drop(lanes);
        self.close(state);
    }

    /// No text is taken any more, and those that wait are refused.
    pub fn close(&self, state: State) {
        let mut lanes = self.lanes();
        lanes.taking = false;
        // A wish that came during a failed load is still to be granted.
        let looks = if lanes.look.is_some() { self.seen.borrow().looks } else { lanes.asked };
        self.seen.send_replace(Seen { state, warnings: Vec::new(), looks });
        let refused: Vec<Job> = lanes.queues.iter_mut().flat_map(std::mem::take).collect();
        drop(lanes);
        for job in refused {
            job.answer(Err(self.unavailable()));
        }
    }
}
