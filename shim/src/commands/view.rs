//! `loci view`: opens the viewer in the browser, and keeps it open until interrupted.
//!
//! The daemon serves the viewer, and closes it when the connection of this command ends.

use crate::cli::view::View;
use crate::client::call::VerbClient;
use crate::output::{Problem, escape_line, print_line, print_note};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use loci_proto::error::Exit;
use loci_proto::view::{OpenRequest, Opened};
use std::io;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Serves until a signal arrives.
///
/// # Errors
/// The daemon cannot be reached, or refuses; it has stopped.
pub async fn run(client: VerbClient, args: View) -> Result<ExitCode, Problem> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    client.wait_until_ready().await?;
    let request = OpenRequest { session: client.session().clone(), port: args.port };
    let body = serde_json::to_vec(&request).map_err(io::Error::from)?;
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed();
    let mut answer = client.post_streamed("/view/open", body).await?;
    let Opened { link } = answer.first_line().await?;
    print_line(format!(
        "The viewer is open until interrupted (Ctrl-C). This link works once:\n\n{}",
        escape_line(&link)
    ))?;
    if !args.no_open
        && let Err(error) = open::that_detached(&link)
    {
        print_note(
            "Note",
            &format!(
                "no browser could be opened ({error}). Open the link yourself; over ssh, forward its port first"
            ),
        );
    }
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        () = answer.ended() => {
            return Err(Problem::new("The daemon has stopped, and the viewer with it")
                .hint("Run loci view again")
                .exit(Exit::Unreachable));
        }
    }
    Ok(Exit::Ok.into())
}
