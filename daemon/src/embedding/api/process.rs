//! The daemon's side of `locid embed`: starts it, writes a line, and reads the answer before a deadline.
//!
//! Everything that waits also looks whether the daemon stops, so that a slow provider does not delay that. Not here: what the lines hold
//! (`messages`).

use crate::embedding::api::messages::{ApiFailure, FailureKind, Reply, Request, Settings};
use crate::process::own_program;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde::Serialize;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

/// Time between two looks whether the daemon stops.
const LOOK: u16 = 50;
/// Maximum time for the start of the process, until it has read its key.
const START_DEADLINE: Duration = Duration::from_secs(10);
/// Maximum size of a line from the process.
const MAX_LINE: usize = 32 << 20;

/// A running `locid embed`. Dropping it ends the process.
pub(crate) struct ApiProcess {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// What was read behind the last line.
    rest: Vec<u8>,
}

/// When waiting ends without an answer.
#[derive(Clone, Copy)]
pub(crate) struct WaitLimit<'a> {
    pub until: Instant,
    pub is_stopping: &'a dyn Fn() -> bool,
}

impl Drop for ApiProcess {
    fn drop(&mut self) {
        // Fails only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl ApiProcess {
    /// Starts the process and tells it the settings; returns when it has its key.
    ///
    /// # Errors
    /// Why it cannot be started, or has no key.
    pub fn start(settings: &Settings, is_stopping: &dyn Fn() -> bool) -> Result<Self, ApiFailure> {
        let failed = |error: std::io::Error| broken(&format!("cannot be started: {error}"));
        let mut child = own_program::command()
            .map_err(failed)?
            .arg("embed")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(broken("has no pipes"));
        };
        for pipe in [input.as_fd(), output.as_fd()] {
            fcntl(pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))
                .map_err(|error| failed(error.into()))?;
        }
        let mut process = Self { child, input, output, rest: Vec::new() };
        let limit = WaitLimit { until: Instant::now() + START_DEADLINE, is_stopping };
        match process.exchange(settings, limit)? {
            Reply::Done { .. } => Ok(process),
            Reply::Failed(failure) => Err(failure),
        }
    }

    /// Has texts encoded.
    ///
    /// # Errors
    /// The failure that the process reports, or that it does not answer; it is of no use then.
    pub fn call(&mut self, request: &Request, limit: WaitLimit<'_>) -> Result<Reply, ApiFailure> {
        let lost = |failure| ApiFailure { may_be_counted: true, ..failure };
        self.exchange(request, limit).map_err(lost)
    }

    fn exchange(
        &mut self,
        line: &impl Serialize,
        limit: WaitLimit<'_>,
    ) -> Result<Reply, ApiFailure> {
        let mut line = serde_json::to_vec(line).map_err(|error| broken(&error.to_string()))?;
        line.push(b'\n');
        self.write(&line, limit)?;
        let answer = self.read_line(limit)?;
        serde_json::from_slice(&answer).map_err(|_| broken("wrote a line that cannot be read"))
    }

    fn write(&mut self, mut bytes: &[u8], limit: WaitLimit<'_>) -> Result<(), ApiFailure> {
        while !bytes.is_empty() {
            match self.input.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait_for(&self.input, PollFlags::POLLOUT, limit)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(broken("has ended")),
            }
        }
        Ok(())
    }

    fn read_line(&mut self, limit: WaitLimit<'_>) -> Result<Vec<u8>, ApiFailure> {
        let mut searched = 0;
        loop {
            if let Some(end) = self.rest[searched..].iter().position(|byte| *byte == b'\n') {
                let rest = self.rest.split_off(searched + end + 1);
                return Ok(std::mem::replace(&mut self.rest, rest));
            }
            searched = self.rest.len();
            if searched > MAX_LINE {
                return Err(broken("wrote a line that is too long"));
            }
            let mut block = [0; 16 << 10];
            match self.output.read(&mut block) {
                Ok(0) => return Err(broken("has ended")),
                Ok(count) => self.rest.extend_from_slice(&block[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait_for(&self.output, PollFlags::POLLIN, limit)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(broken("has ended")),
            }
        }
    }
}

/// Waits until a pipe is ready.
fn wait_for(pipe: &impl AsFd, flags: PollFlags, limit: WaitLimit<'_>) -> Result<(), ApiFailure> {
    loop {
        if (limit.is_stopping)() {
            return Err(broken("was stopped"));
        }
        if Instant::now() >= limit.until {
            return Err(broken("does not answer in time"));
        }
        match poll(&mut [PollFd::new(pipe.as_fd(), flags)], PollTimeout::from(LOOK)) {
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(broken(&error.to_string())),
        }
    }
}

fn broken(reason: &str) -> ApiFailure {
    ApiFailure::new(FailureKind::Unavailable, format!("the process locid embed {reason}"))
}
