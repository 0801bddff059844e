//! Standard input and output as async streams, without a helper thread where possible.
//!
//! Agents pass pipes or sockets, which the event loop polls directly: that saves a thread, its stack, and two thread switches per line.
//! Non-blocking mode is a flag of the shared file description, so a pipe is reopened through `/proc/self/fd`, which creates a
//! description that no other process shares. Our end of a socket is not shared. Everything else (a terminal, a file) uses tokio's thread pool.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

/// The stream of the agent's lines.
pub type Input = Box<dyn AsyncRead + Unpin>;
/// The stream of the answers to the agent.
pub type Output = Box<dyn AsyncWrite + Unpin>;

/// Opens standard input; needs a tokio runtime.
#[must_use]
pub fn input() -> Input {
    let stdin = io::stdin();
    match file_kind(stdin.as_fd()) {
        FileKind::Pipe => pipe::OpenOptions::new()
            .open_receiver(reopen_path(&stdin))
            .map_or_else(|_| threaded_input(), |pipe| Box::new(pipe)),
        FileKind::Socket => {
            async_socket(stdin.as_fd()).map_or_else(|_| threaded_input(), |socket| Box::new(socket))
        }
        FileKind::Other => threaded_input(),
    }
}

/// Opens standard output; needs a tokio runtime.
#[must_use]
pub fn output() -> Output {
    let stdout = io::stdout();
    match file_kind(stdout.as_fd()) {
        FileKind::Pipe => pipe::OpenOptions::new()
            .open_sender(reopen_path(&stdout))
            .map_or_else(|_| threaded_output(), |pipe| Box::new(pipe)),
        FileKind::Socket => async_socket(stdout.as_fd())
            .map_or_else(|_| threaded_output(), |socket| Box::new(socket)),
        FileKind::Other => threaded_output(),
    }
}

fn threaded_input() -> Input {
    Box::new(tokio::io::stdin())
}

fn threaded_output() -> Output {
    Box::new(tokio::io::stdout())
}

enum FileKind {
    Pipe,
    Socket,
    Other,
}

fn file_kind(fd: BorrowedFd) -> FileKind {
    let file_type = fd
        .try_clone_to_owned()
        .map(File::from)
        .and_then(|file| file.metadata())
        .map(|meta| meta.file_type());
    match file_type {
        Ok(file_type) if file_type.is_fifo() => FileKind::Pipe,
        Ok(file_type) if file_type.is_socket() => FileKind::Socket,
        _ => FileKind::Other,
    }
}

fn reopen_path(fd: &impl AsRawFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

fn async_socket(fd: BorrowedFd) -> io::Result<tokio::net::UnixStream> {
    let socket = UnixStream::from(fd.try_clone_to_owned()?);
    socket.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(socket)
}
