//! The one thread that owns the model: loads it, works through the lanes, gives up after three failures in a row, and tries again
//! when asked to look.
//!
//! Between any two runs the best lane is chosen anew, so a query waits for one run at most, or for a rest of the encoder,
//! which comes once nobody has wanted anything for a while. Not here: queues and their bounds (`desk`).

use crate::embedding::batch::Round;
use crate::embedding::chunk::{Piece, Use};
use crate::embedding::model_files::{Fingerprint, LoadError, ModelConfig};
use crate::embedding::onnx::{INTRA_THREADS, Model, Run};
use crate::embedding::pinned_files::WEIGHTS;
use crate::embedding::queue::{Desk, Look, RANKS, Rank, Turn};
use crate::embedding::{EmbedError, State};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Failures in a row after which the model counts as broken.
const FAILURES: u32 = 3;

/// How long nobody may want anything before the encoder rests, and after how many runs that is worth its while.
const PAUSE: Duration = Duration::from_millis(300);
const TIRING: u32 = 16;

/// The next step after a model that ran broke.
const RETRY: &str = "it is tried again by itself; if it stays so, run `loci model download`";

/// What turns texts into numbers: the model, or a stand-in of a test.
pub(crate) trait Encoder {
    /// A text's pieces, at least one.
    fn pieces(&self, text: &str, used: Use) -> Result<Vec<Piece>, String>;
    /// A vector for each piece, and a code for each of its words.
    fn run(&mut self, batch: &[&Piece]) -> Result<Vec<Run>, String>;
    /// Puts its memory in order: nobody wants anything for now.
    fn rest(&mut self) {}
}

impl Encoder for Model {
    fn pieces(&self, text: &str, used: Use) -> Result<Vec<Piece>, String> {
        self.pieces.of(text, used)
    }

    fn run(&mut self, batch: &[&Piece]) -> Result<Vec<Run>, String> {
        Self::run(self, batch)
    }

    fn rest(&mut self) {
        Self::rest(self);
    }
}

/// An encoder that is ready, and what is to be said about it.
pub(crate) struct Opened {
    pub encoder: Box<dyn Encoder>,
    /// SHA-256 of the weights.
    pub sha256: String,
    pub warnings: Vec<String>,
}

/// Where the thread gets its encoder from.
pub(crate) trait Source: Send {
    /// What a look sees; equal means unchanged.
    fn fingerprint(&self) -> Option<Fingerprint>;
    fn open(&self) -> Result<Opened, LoadError>;
}

impl Source for ModelConfig {
    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(Self::fingerprint(self))
    }

    fn open(&self) -> Result<Opened, LoadError> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (model, warnings) = Model::load(self, INTRA_THREADS.min(cores))?;
        Ok(Opened { encoder: Box::new(model), sha256: WEIGHTS.sha256.to_owned(), warnings })
    }
}

/// Runs a step of foreign code; a panic is an error like any other.
pub(crate) fn guarded<T>(step: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|panic| {
        let said = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", said.unwrap_or_else(|| "without a word".to_owned())))
    })
}

/// The whole life of the thread.
pub(crate) fn serve(desk: &Desk, source: &dyn Source) {
    let _closing = Closing(desk);
    loop {
        let before = source.fingerprint();
        let (state, seen) = match load(desk, source) {
            Err(state) => (state, before),
            Ok(encoder) => match work(desk, encoder) {
                End::Stopped => return,
                // The files were good before: whatever happened, they may be tried again unchanged.
                End::Broken(reason) => (State::Failed { reason, hint: RETRY.to_owned() }, None),
            },
        };
        let mend_anyway = matches!(state, State::Failed { .. });
        desk.close(state);
        if !changed(desk, source, seen.as_ref(), mend_anyway) {
            return;
        }
        desk.open(State::WarmupProgress, Vec::new());
    }
}

fn load(desk: &Desk, source: &dyn Source) -> Result<Box<dyn Encoder>, State> {
    let began = Instant::now();
    let opened = catch_unwind(AssertUnwindSafe(|| source.open())).unwrap_or_else(|_| {
        Err(LoadError::Refused("ONNX Runtime panicked while loading".to_owned()))
    });
    match opened {
        Ok(Opened { encoder, sha256, warnings }) => {
            tracing::info!(ms = began.elapsed().as_millis(), "the embedding model is ready");
            desk.open(State::Ready { sha256 }, warnings);
            Ok(encoder)
        }
        Err(fault) => {
            tracing::warn!(%fault, "no embedding model: answers come from keywords alone");
            Err(match fault {
                LoadError::Missing(_) => State::Missing { hint: fault.hint() },
                _ => State::Failed { hint: fault.hint(), reason: fault.to_string() },
            })
        }
    }
}

/// Waits until a look finds something worth another load; false means: end.
fn changed(
    desk: &Desk,
    source: &dyn Source,
    seen: Option<&Fingerprint>,
    mend_anyway: bool,
) -> bool {
    while let Some(look) = desk.next_look() {
        if source.fingerprint().as_ref() != seen || (mend_anyway && look == Look::Anyway) {
            return true;
        }
        desk.nothing_new();
    }
    false
}

enum End {
    Stopped,
    Broken(String),
}

/// Serves until told to stop, or until the model has failed [`FAILURES`] times in a row.
fn work(desk: &Desk, mut encoder: Box<dyn Encoder>) -> End {
    let mut rounds: [Option<Round>; 3] = [None, None, None];
    let (mut failures, mut runs) = (0, 0);
    loop {
        let open = RANKS.into_iter().find(|rank| rounds[*rank as usize].is_some());
        let rank = match desk.turn(open, (runs >= TIRING).then_some(PAUSE)) {
            Turn::Work(rank) => rank,
            Turn::Pause => {
                encoder.rest();
                runs = 0;
                continue;
            }
            Turn::Stop => return End::Stopped,
        };
        runs += 1;
        let Err(reason) = step(desk, rank, &mut rounds[rank as usize], encoder.as_mut()) else {
            failures = 0;
            continue;
        };
        failures += 1;
        tracing::warn!(failures, reason, "a run of the embedding model failed");
        if failures == FAILURES {
            let fault = EmbedError::Failed(reason.clone());
            rounds.into_iter().flatten().for_each(|round| round.refuse(&fault));
            return End::Broken(reason);
        }
    }
}

/// One run of a lane, beginning a round if none is open.
fn step(
    desk: &Desk,
    rank: Rank,
    slot: &mut Option<Round>,
    encoder: &mut dyn Encoder,
) -> Result<(), String> {
    let mut round = slot.take().unwrap_or_else(|| Round::gather(desk, rank, encoder));
    let Some(run) = round.next_run() else { return Ok(()) };
    let batch: Vec<&Piece> = run.iter().map(crate::embedding::batch::Part::piece).collect();
    let outcome = guarded(|| encoder.run(&batch)).and_then(|runs| match runs.len() {
        given if given == batch.len() => Ok(runs),
        given => Err(format!("{} pieces gave {given} vectors", batch.len())),
    });
    let fault = outcome.as_ref().err().cloned();
    round.settle(&run, outcome);
    if !round.is_over() {
        *slot = Some(round);
    }
    fault.map_or(Ok(()), Err)
}

/// However the thread ends, nobody is left waiting.
struct Closing<'a>(&'a Desk);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.end(State::Failed {
            reason: "the embedding thread has ended".to_owned(),
            hint: "restart the daemon".to_owned(),
        });
    }
}
