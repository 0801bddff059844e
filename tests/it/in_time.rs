//! Waits with a bound: after two minutes a wait is given up, and the test fails and says what it waited for.
//!
//! When the time is up, the processes that the waiting thread started are killed, which ends a wait for their end and a read of their
//! output. If that does not help, the whole run is aborted. Not here: waits for a state that a test asks for again and again; they have
//! deadlines of their own.

use std::io;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How long a test waits for one thing.
pub const LIMIT: Duration = Duration::from_mins(2);
/// How long the wait may go on when the processes have been killed.
const AFTERWARDS: Duration = Duration::from_secs(10);

/// Runs a wait; if it takes longer than [`LIMIT`], the test fails and names `what`.
pub fn in_time<T>(what: &str, wait: impl FnOnce() -> T) -> T {
    within(LIMIT, what, wait)
}

fn within<T>(limit: Duration, what: &str, wait: impl FnOnce() -> T) -> T {
    let thread = nix::unistd::gettid();
    let (ended, end) = channel::<()>();
    let is_late = move |limit| end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout);
    let (value, was_late) = std::thread::scope(|scope| {
        let watch = scope.spawn(move || {
            let was_late = is_late(limit);
            if was_late {
                eprintln!("waited {limit:?} for {what}");
                kill_children(thread);
                if is_late(AFTERWARDS) {
                    eprintln!("still waiting for {what}: the run ends");
                    std::process::abort();
                }
            }
            was_late
        });
        let value = wait();
        drop(ended);
        (value, watch.join().expect("the watch ends"))
    });
    assert!(!was_late, "waited {limit:?} for {what}");
    value
}

/// Kills the processes that a thread of this program started.
fn kill_children(thread: nix::unistd::Pid) {
    let file = format!("/proc/self/task/{thread}/children");
    for child in std::fs::read_to_string(file).unwrap_or_default().split_whitespace() {
        let child = nix::unistd::Pid::from_raw(child.parse().expect("a pid is a number"));
        // One that has ended needs no signal.
        let _ = nix::sys::signal::kill(child, nix::sys::signal::Signal::SIGKILL);
    }
}

/// Waits for the exit of a program whose output is not read.
pub trait ExitInTime {
    /// Returns how it exited, after at most [`LIMIT`]. A command is started first.
    fn exit_in_time(&mut self) -> io::Result<ExitStatus>;
}

impl ExitInTime for Command {
    fn exit_in_time(&mut self) -> io::Result<ExitStatus> {
        in_time(&format!("the exit of {self:?}"), || self.status())
    }
}

impl ExitInTime for Child {
    fn exit_in_time(&mut self) -> io::Result<ExitStatus> {
        in_time(&format!("the exit of process {}", self.id()), || self.wait())
    }
}

/// Waits for the exit of a program, and reads its output.
pub trait OutputInTime {
    /// Returns how it exited and what it wrote, after at most [`LIMIT`]. A command is started first.
    fn output_in_time(self) -> io::Result<Output>;
}

impl OutputInTime for &mut Command {
    fn output_in_time(self) -> io::Result<Output> {
        in_time(&format!("the output of {self:?}"), || self.output())
    }
}

impl OutputInTime for Child {
    fn output_in_time(self) -> io::Result<Output> {
        in_time(&format!("the output of process {}", self.id()), || self.wait_with_output())
    }
}

#[test]
fn a_wait_without_end_fails_and_says_what_it_waited_for() {
    let wait = || {
        let mut sleeper = Command::new("sleep");
        sleeper.arg("1000").stdout(Stdio::null());
        within(Duration::from_millis(100), "a sleeper", || sleeper.status())
    };
    let message = std::thread::spawn(wait).join().expect_err("the wait fails");
    let message = message.downcast::<String>().expect("the message is a text");
    assert_eq!(*message, "waited 100ms for a sleeper");
    assert_eq!(within(Duration::from_secs(10), "nothing", || 7), 7);
}
