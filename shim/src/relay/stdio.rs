//! Standard input and output without a thread behind them.
//!
//! Agents give us pipes or sockets, which the event loop can wait for itself: that saves a thread, its stack, and two hops a line.
//! The flags of what we were given are shared with others, so a pipe is opened anew through `/proc`; a socket has two ends of which
//! one is ours alone. Everything else (a terminal, a file) goes through tokio's threads.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// Where an agent's lines come from.
pub type Input = Box<dyn AsyncRead + Unpin>;
/// Where its answers go.
pub type Output = Box<dyn AsyncWrite + Unpin>;

/// Standard input; to be called within a runtime.
#[must_use]
pub fn input() -> Input {
    let stdin = io::stdin();
    match kind(stdin.as_fd()) {
        Kind::Pipe => pipe::OpenOptions::new()
            .open_receiver(own_path(&stdin))
            .map_or_else(|_| threaded_input(), |pipe| Box::new(pipe)),
        Kind::Socket => {
            socket(stdin.as_fd()).map_or_else(|_| threaded_input(), |socket| Box::new(socket))
        }
        Kind::Other => threaded_input(),
    }
}

/// Standard output; to be called within a runtime.
#[must_use]
pub fn output() -> Output {
    let stdout = io::stdout();
    match kind(stdout.as_fd()) {
        Kind::Pipe => pipe::OpenOptions::new()
            .open_sender(own_path(&stdout))
            .map_or_else(|_| threaded_output(), |pipe| Box::new(pipe)),
        Kind::Socket => {
            socket(stdout.as_fd()).map_or_else(|_| threaded_output(), |socket| Box::new(socket))
        }
        Kind::Other => threaded_output(),
    }
}

fn threaded_input() -> Input {
    Box::new(tokio::io::stdin())
}

fn threaded_output() -> Output {
    Box::new(tokio::io::stdout())
}

enum Kind {
    Pipe,
    Socket,
    Other,
}

fn kind(fd: BorrowedFd) -> Kind {
    let kind = fd
        .try_clone_to_owned()
        .map(File::from)
        .and_then(|file| file.metadata())
        .map(|meta| meta.file_type());
    match kind {
        Ok(kind) if kind.is_fifo() => Kind::Pipe,
        Ok(kind) if kind.is_socket() => Kind::Socket,
        _ => Kind::Other,
    }
}

fn own_path(fd: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

fn socket(fd: BorrowedFd) -> io::Result<tokio::net::UnixStream> {
    let socket = UnixStream::from(fd.try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}
