//! Keys, pasted text and changes of size, read by a thread; it pauses while another program has the terminal. Also the signals that end a
//! full-screen command.

use crossterm::event::{self, Event};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// How long the thread waits for a key before it looks whether it should pause.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The keys that were pressed.
#[derive(Debug)]
pub struct Input {
    events: UnboundedReceiver<Event>,
    gate: Arc<Gate>,
}

#[derive(Debug, Default)]
struct Gate {
    paused: AtomicBool,
    reading: Mutex<()>,
    resumed: Condvar,
}

impl Input {
    /// Starts the thread. It ends with the process, or when the terminal is gone.
    #[must_use]
    pub fn start() -> Self {
        // A person types slowly, and what is pasted is one event: the queue stays short.
        let (sender, events) = unbounded_channel();
        let gate = Arc::new(Gate::default());
        let of_thread = Arc::clone(&gate);
        std::thread::spawn(move || {
            loop {
                let reading = of_thread.reading.lock().unwrap_or_else(PoisonError::into_inner);
                let is_paused = |(): &mut ()| of_thread.paused.load(Ordering::SeqCst);
                let reading = of_thread
                    .resumed
                    .wait_while(reading, is_paused)
                    .unwrap_or_else(PoisonError::into_inner);
                let read = match event::poll(POLL_INTERVAL) {
                    Ok(true) => event::read().map(Some),
                    Ok(false) => Ok(None),
                    Err(error) => Err(error),
                };
                drop(reading);
                match read {
                    Ok(Some(event)) => {
                        if sender.send(event).is_err() {
                            return;
                        }
                    }
                    Ok(None) => {}
                    Err(_) => return,
                }
            }
        });
        Self { events, gate }
    }

    /// Waits for the next event; `None` when the terminal is gone.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Returns an event that has arrived already.
    pub fn waiting(&mut self) -> Option<Event> {
        self.events.try_recv().ok()
    }

    /// Reads no key while `run` uses the terminal.
    pub fn paused<T>(&self, run: impl FnOnce() -> T) -> T {
        self.gate.paused.store(true, Ordering::SeqCst);
        let reading = self.gate.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let result = run();
        self.gate.paused.store(false, Ordering::SeqCst);
        drop(reading);
        self.gate.resumed.notify_all();
        result
    }
}

/// The signals that end a command.
#[derive(Debug)]
pub struct EndSignals([(Signal, u8); 3]);

impl EndSignals {
    /// Catches the signals from now on.
    ///
    /// # Errors
    /// The system refuses.
    pub fn catch() -> io::Result<Self> {
        let caught = |kind: SignalKind, number| signal(kind).map(|signal| (signal, number));
        Ok(Self([
            caught(SignalKind::terminate(), 15)?,
            caught(SignalKind::hangup(), 1)?,
            caught(SignalKind::interrupt(), 2)?,
        ]))
    }

    /// Waits for a signal and returns the exit code of a program that it ends.
    pub async fn next(&mut self) -> u8 {
        let [(terminate, a), (hangup, b), (interrupt, c)] = &mut self.0;
        let number = tokio::select! {
            _ = terminate.recv() => *a,
            _ = hangup.recv() => *b,
            _ = interrupt.recv() => *c,
        };
        128 + number
    }
}
