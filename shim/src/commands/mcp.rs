//! `loci mcp`: one agent's session, put together from what surrounds this process.

use crate::client::{Patience, Reach};
use crate::output::Problem;
use crate::project;
use crate::project::Surroundings;
use crate::relay::agent::Agent;
use crate::relay::idempotency_key::Keys;
use crate::relay::{Endurance, Relay, stdio};
use crate::spawn::Launch;
use loci_proto::error::Exit;
use loci_proto::hello;
use loci_proto::hello::{Hello, Session};
use loci_proto::paths::Paths;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::rc::Rc;
use tokio::signal::unix::{SignalKind, signal};

/// Serves the agent on standard input and output until it ends.
///
/// # Errors
/// Only when signals cannot be received; everything else is told to the agent.
pub async fn run() -> Result<ExitCode, Problem> {
    if io::stdin().is_terminal() {
        eprintln!(
            "loci mcp speaks MCP on standard input; agents start it themselves. Ctrl-D ends it."
        );
    }
    let keys = Keys::new();
    let reach = Reach {
        paths: Paths::of_process(),
        hello: our_hello(&keys),
        launch: Some(Launch::default()),
        patience: Patience::default(),
    };
    let agent = Agent::new(stdio::input(), stdio::output());
    Relay::new(agent, Rc::new(reach), keys, Endurance::default()).run(told_to_end()?).await;
    Ok(Exit::Ok.into())
}

fn our_hello(keys: &Keys) -> Hello {
    let found = project::find(&Surroundings::of_process());
    let agent_session =
        std::env::var("CLAUDE_CODE_SESSION_ID").ok().filter(|id| (1..=128).contains(&id.len()));
    let session = Session {
        id: keys.session().to_owned(),
        group: found.hint,
        warnings: found.warnings,
        agent_session,
        pid: std::process::id(),
    };
    Hello {
        loci: (hello::MIN_VERSION, hello::MAX_VERSION),
        shim: loci_proto::VERSION.to_owned(),
        session,
    }
}

/// Agents end their servers by a signal more often than by closing standard input; it means the same.
fn told_to_end() -> io::Result<impl Future<Output = ()>> {
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
