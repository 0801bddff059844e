//! `loci mcp`: runs the relay of one agent session on standard input and output.

use crate::client::call::agent_session_of_process;
use crate::client::connector::{ConnectTimeouts, Connector};
use crate::commands::hook::ancestors_of_process;
use crate::output::Problem;
use crate::project;
use crate::project::Environment;
use crate::relay::agent::Agent;
use crate::relay::idempotency_key::IdempotencyKeys;
use crate::relay::{Relay, Timeouts, stdio};
use crate::spawn::Launch;
use loci_proto::error::Exit;
use loci_proto::hello::{Hello, Session};
use loci_proto::paths::Paths;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::rc::Rc;
use tokio::signal::unix::{SignalKind, signal};

/// Serves the agent on standard input and output until the agent ends.
///
/// # Errors
/// Only when signal handlers cannot be installed; the agent receives all other errors.
pub async fn run() -> Result<ExitCode, Problem> {
    if io::stdin().is_terminal() {
        eprintln!(
            "loci mcp speaks MCP on standard input; agents start it themselves. Press Ctrl-D to exit."
        );
    }
    let keys = IdempotencyKeys::new();
    let connector = Connector {
        paths: Paths::of_process(),
        hello: hello(&keys),
        launch: Some(Launch::default()),
        timeouts: ConnectTimeouts::default(),
    };
    let agent = Agent::new(stdio::input(), stdio::output());
    Relay::new(agent, Rc::new(connector), keys, Timeouts::default())
        .run(termination_signal()?)
        .await;
    Ok(Exit::Ok.into())
}

fn hello(keys: &IdempotencyKeys) -> Hello {
    let found_project = project::find(&Environment::of_process());
    let session = Session {
        id: keys.session().to_owned(),
        group: found_project.hint,
        isolated: found_project.isolated,
        warnings: found_project.warnings,
        agent_session: agent_session_of_process(),
        pid: std::process::id(),
        ancestors: ancestors_of_process(),
        hook: None,
    };
    Hello {
        loci: (loci_proto::hello::MIN_VERSION, loci_proto::hello::MAX_VERSION),
        shim: loci_proto::VERSION.to_owned(),
        session,
    }
}

/// Completes on SIGTERM, SIGINT or SIGHUP. Most agents send a signal instead of closing standard input; both end the
/// session in the same way.
fn termination_signal() -> io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}
