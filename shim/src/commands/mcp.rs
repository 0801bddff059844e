//! `loci mcp`: runs the relay of one agent session on standard input and output.

use crate::client::connector::{ConnectTimeouts, Connector};
use crate::output::Problem;
use crate::relay::agent::Agent;
use crate::relay::idempotency_key::{IdempotencyKeys, SessionCheckout};
use crate::relay::{Relay, Timeouts, stdio};
use crate::spawn::Launch;
use crate::speaker::{agent_session, processes};
use loci_project as project;
use loci_project::{Environment, FoundProject};
use loci_proto::error::Exit;
use loci_proto::hello::{Hello, Session};
use loci_proto::paths::Paths;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::rc::Rc;
use tokio::signal::unix::{SignalKind, signal};

/// Serves the agent on standard input and output until the agent ends. An incognito session reads, writes and records nothing.
///
/// # Errors
/// Only when signal handlers cannot be installed; the agent receives all other errors.
pub async fn run(incognito: bool) -> Result<ExitCode, Problem> {
    if io::stdin().is_terminal() {
        eprintln!(
            "loci mcp speaks MCP on standard input; agents start it themselves. Press Ctrl-D to exit."
        );
    }
    let mut keys = IdempotencyKeys::new();
    let environment = Environment::of_process();
    let incognito = incognito || environment.incognito;
    let found = project::find(&Environment { incognito, ..environment });
    let reader = found.checkout.clone();
    keys.watch_folder(found.place.as_ref().map(|place| place.path.as_str()));
    let hello = hello(&keys, found);
    let checkout = reader.zip(hello.session.checkout.clone());
    let connector = Connector {
        paths: Paths::of_process(),
        hello,
        launch: Some(Launch::default()),
        timeouts: ConnectTimeouts::default(),
    };
    let agent = Agent::new(stdio::input(), stdio::output());
    Relay::new(agent, Rc::new(connector), keys, Timeouts::default())
        .with_checkout(checkout.map(|(reader, in_hello)| SessionCheckout::new(reader, in_hello)))
        .run(termination_signal()?)
        .await;
    Ok(Exit::Ok.into())
}

fn hello(keys: &IdempotencyKeys, found: FoundProject) -> Hello {
    let session = Session {
        ancestors: processes::ids_above(),
        ..found.session(keys.session().to_owned(), agent_session())
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
