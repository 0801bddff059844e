//! Runs `locid backup`, and stops the daemon for it where it replaces the database.

use crate::client::call::VerbClient;
use crate::client::socket::pid_in;
use crate::commands::ctl::{start, stop};
use crate::commands::short_lived;
pub use crate::commands::short_lived::parse;
use crate::output::Problem;
use crate::spawn;
use loci_proto::paths::Paths;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io::{Seek, Write};

/// Attempts to stop the daemon, which a service manager may start again.
const STOP_ATTEMPTS: usize = 3;

/// Runs a command of `locid backup`; returns its reply, one line of JSON.
///
/// # Errors
/// The failure that it reports.
pub async fn run(arguments: &[&str]) -> Result<String, Problem> {
    short_lived::run(&[&["backup"], arguments].concat()).await
}

/// Runs a command that replaces the database: stops the daemon, keeps others from starting it, and starts it afterwards. Calls of agents
/// wait meanwhile.
///
/// # Errors
/// Another such command runs, the daemon does not stop, or the failure of the command; the daemon is started in any case.
pub async fn run_alone(client: &VerbClient, arguments: &[&str]) -> Result<String, Problem> {
    run_command_alone(client, &[&["backup"], arguments].concat()).await
}

/// The same for any command of `locid`.
///
/// # Errors
/// As [`run_alone`].
pub async fn run_command_alone(client: &VerbClient, command: &[&str]) -> Result<String, Problem> {
    let paths = &client.paths;
    let alone = lock_restore(paths)?;
    let no_start = spawn::hold_start(paths).await?;
    let mut outcome = Err(Problem::new("locid was started again each time it was stopped")
        .hint("Stop its service, then try again"));
    for _ in 0..STOP_ATTEMPTS {
        if stop::stop(paths).await? == stop::StopOutcome::Restarted {
            continue;
        }
        outcome = short_lived::run(command).await;
        break;
    }
    alone.set_len(0)?;
    drop(no_start);
    // A daemon that was stopped with --hold stays stopped. Why it does not start is what the next command says.
    if !paths.hold.exists() {
        let _ = start::wait_until_open(paths).await;
    }
    outcome
}

/// Takes the lock of commands that replace the database.
fn lock_restore(paths: &Paths) -> Result<Flock<File>, Problem> {
    spawn::folders::ensure_private(&paths.runtime)?;
    let path = spawn::restore_lock(paths);
    let file = spawn::folders::private_file().read(true).open(&path)?;
    let mut lock = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|_| {
        let holder = pid_in(&path).map_or_else(String::new, |pid| format!(" (pid {pid})"));
        Problem::new(format!("Another restore is running{holder}"))
            .hint("Wait until it has ended, then try again")
    })?;
    lock.set_len(0)?;
    lock.rewind()?;
    writeln!(lock, "{}", std::process::id())?;
    Ok(lock)
}
