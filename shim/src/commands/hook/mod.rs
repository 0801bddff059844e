//! `loci hook CLIENT EVENT`: passes an event of a client's session to the daemon, and prints the client's answer as JSON.
//!
//! Whatever goes wrong, it prints an empty answer and exits with 0: a hook must never cost a turn. Only the start of a session may start
//! the daemon. Not here: what is delivered (the daemon).

mod input;
mod missed;
mod output;

use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::backoff::Backoff;
use crate::client::socket::connect;
use crate::client::unreachable::{ConnectError, Unreachable};
use crate::spawn::Launch;
use crate::speaker::processes;
use input::Input;
use loci_project as project;
use loci_project::Environment;
use loci_proto::admin::VerbCall;
use loci_proto::hello::Session;
use loci_proto::paths::Paths;
use loci_proto::requests::hook::{HookClient, HookEvent, HookReply, HookRequest};
use missed::Reason;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Runs the hook and prints its answer. `client` and `event` are the arguments as given.
pub async fn run(client: &str, event: &str) -> ExitCode {
    let started = Instant::now();
    let answer = match (client.parse(), event.parse()) {
        (Ok(client), Ok(event)) if client != HookClient::CommandLine => {
            answer(client, event, started).await
        }
        _ => Value::Object(Map::new()),
    };
    // A client may show what the hook of a compaction prints.
    let is_silent =
        event.parse() == Ok(HookEvent::PostCompact) && answer == Value::Object(Map::new());
    if !is_silent {
        // The client may have closed the pipe; there is nobody to tell.
        let _ = writeln!(io::stdout(), "{answer}");
    }
    ExitCode::SUCCESS
}

/// Maximum time from the start of the process to its answer.
fn deadline(event: HookEvent) -> Duration {
    match event {
        HookEvent::SessionStart => Duration::from_secs(2),
        _ => Duration::from_secs(1),
    }
}

async fn answer(client: HookClient, event: HookEvent, started: Instant) -> Value {
    let end = started + deadline(event);
    let environment = Environment::of_process();
    let Some(input) = input::read(end).and_then(|bytes| Input::parse(&bytes)) else {
        return output::empty(client, event);
    };
    let client = input.client(client);
    let (mut request, host_event) = (input.request(client, event), input.host_event());
    // What the variable of the client names is the project also when the session is in a folder below it.
    request.folder_gone = input.names_missing_folder() && !names_project(&environment);
    // Where loci is off nothing is said and nothing noted, also not that a session was there. The same if that is not known in time.
    let is_off = |session: &Session| session.off || session.incognito;
    let host_event = host_event.map(str::to_owned);
    let session =
        if environment.incognito { None } else { session(input, &request, environment, end) };
    let (Some(session), Ok(paths)) =
        (session.filter(|session| !is_off(session)), Paths::of_process())
    else {
        return output::empty(client, event);
    };
    let left = end.saturating_duration_since(Instant::now());
    let called = timeout(left, call(&paths, session, &request)).await;
    let reason = match called {
        Ok(Ok(reply)) => return output::answer(client, event, host_event.as_deref(), &reply),
        Ok(Err(RequestError::Unreachable(Unreachable::NoAnswer { .. }))) | Err(_) => {
            Reason::Deadline
        }
        Ok(Err(RequestError::Unreachable(_))) => Reason::Away,
        // The daemon was reached and refused, for example because it is of an earlier version.
        Ok(Err(RequestError::Refused(_))) => return output::empty(client, event),
    };
    missed::note(&paths, &request, reason);
    output::empty(client, event)
}

/// Sends the one request.
async fn call(
    paths: &Paths,
    session: Session,
    request: &HookRequest,
) -> Result<HookReply, RequestError> {
    let body = VerbCall { session, arguments: arguments(request) };
    let body = serde_json::to_vec(&body).unwrap_or_default();
    if request.event == HookEvent::SessionStart {
        start_daemon(paths).await?;
    }
    let reply = admin::post_json(paths, "/verbs/hook", body).await?;
    serde_json::from_slice(&reply).map_err(|error| {
        Unreachable::Broken(format!("its answer cannot be parsed: {error}")).into()
    })
}

fn arguments(request: &HookRequest) -> Map<String, Value> {
    match serde_json::to_value(request) {
        Ok(Value::Object(arguments)) => arguments,
        _ => Map::new(),
    }
}

/// Returns whether the client's variable names a project folder that exists.
fn names_project(environment: &Environment) -> bool {
    environment.project_dir.as_ref().is_some_and(|folder| folder.is_dir())
}

/// Returns the environment of the folder in which the client works: one outside the folder that its variable names goes before that, as
/// after `/cd`.
fn at_folder(environment: Environment, folder: Option<PathBuf>) -> Environment {
    let Some(folder) = folder else { return environment };
    let is_below = |top: &PathBuf| match (folder.canonicalize(), top.canonicalize()) {
        (Ok(folder), Ok(top)) => folder.starts_with(top),
        _ => false,
    };
    let project_dir = environment.project_dir.clone().filter(is_below);
    Environment { project_dir, working_dir: Some(folder), ..environment }
}

/// Finds the project of the session. `None` if its files do not answer in time, as those of a network may.
fn session(
    input: Input,
    request: &HookRequest,
    environment: Environment,
    end: Instant,
) -> Option<Session> {
    let (sender, receiver) = mpsc::channel();
    let (client, id) = (request.client, request.session.clone());
    std::thread::spawn(move || {
        let found = project::find(&at_folder(environment, input.folder()));
        let _ = sender.send(Session {
            warnings: Vec::new(),
            ancestors: processes::ids_above(),
            hook: Some(client),
            ..found.session(uuid::Uuid::now_v7().to_string(), id)
        });
    });
    receiver.recv_timeout(end.saturating_duration_since(Instant::now())).ok()
}

/// Starts the daemon if none runs. The caller's deadline ends the wait; the daemon goes on starting.
async fn start_daemon(paths: &Paths) -> Result<(), Unreachable> {
    let mut backoff = Backoff::default();
    loop {
        match connect(&paths.admin_socket).await {
            Ok(_) => return Ok(()),
            Err(Unreachable::Absent) => {}
            Err(other) => return Err(other),
        }
        let mut latest = Unreachable::Absent;
        match Launch::default().start(paths, &mut latest).await {
            // The session socket accepts connections; the admin socket will soon.
            Ok(_) | Err(ConnectError::Transient(_)) => {}
            Err(ConnectError::Permanent(reason)) => return Err(reason),
        }
        backoff.wait().await;
    }
}
