//! `loci serve`: opens the daemon's HTTP server for clients that speak only HTTP, and manages its tokens.
//!
//! The server is open as long as this command runs: the daemon closes it when the connection of the command ends. Not here: serving,
//! which the daemon does; one agent on standard input (`mcp`).

mod token;

use crate::cli::Cli;
use crate::cli::serve::{Serve, ServeCommand};
use crate::client::call::VerbClient;
use crate::commands::mcp;
use crate::output::{Problem, escape_line, print_line};
use clap::CommandFactory;
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use loci_proto::error::Exit;
use loci_proto::http::{OpenRequest, Opened};
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};

/// Runs `loci serve`.
///
/// # Errors
/// The daemon cannot be reached, or refuses; `usage` for `--sse`.
pub async fn run(args: Serve) -> Result<ExitCode, Problem> {
    match args {
        Serve { command: Some(ServeCommand::Token(command)), .. } => token::run(command).await?,
        Serve { sse: true, .. } => {
            return Err(Problem::usage(
                "HTTP+SSE is deprecated in MCP, and loci does not serve it",
            )
            .hint("Run loci serve --http; the client's type is then http, or streamable-http"));
        }
        Serve { http: true, port, .. } => serve_http(port).await?,
        // A client whose configuration has `loci serve`, the former name of `loci mcp`.
        _ if !io::stdin().is_terminal() => return mcp::run(false).await,
        _ => return print_help(),
    }
    Ok(Exit::Ok.into())
}

fn print_help() -> Result<ExitCode, Problem> {
    let mut cli = Cli::command();
    cli.build();
    if let Some(serve) = cli.find_subcommand_mut("serve") {
        print_line(serve.render_help().to_string().trim_end())?;
    }
    Ok(Exit::Usage.into())
}

/// Serves until a signal arrives.
async fn serve_http(port: Option<u16>) -> Result<(), Problem> {
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    let client = VerbClient::of_process()?;
    client.wait_until_ready().await?;
    let body = serde_json::to_vec(&OpenRequest { port }).map_err(io::Error::from)?;
    let body = Full::new(Bytes::from(body)).map_err(|never| match never {}).boxed();
    let mut answer = client.post_streamed("/http/open", body).await?;
    let opened: Opened = answer.first_line().await?;
    print_line(opened_text(&opened))?;
    tokio::select! {
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
        () = answer.ended() => Err(Problem::new("The daemon has stopped, and HTTP clients are no longer served")
            .hint("Run it again, or set server.transport = \"http\" to have the daemon open it at each start")
            .exit(Exit::Unreachable)),
    }
}

fn opened_text(opened: &Opened) -> String {
    let Opened { url, token_file, token } = opened;
    let (url, token) = (escape_line(url), escape_line(token));
    let file = escape_line(&token_file.display().to_string());
    format!(
        r#"Serving MCP at {url} until interrupted (Ctrl-C)

Tokens are in {file}
Print one with: loci serve token show {token}

Configuration of a client, with the token instead of TOKEN and the project after Loci-Group:

{{
  "mcpServers": {{
    "loci": {{
      "type": "http",
      "url": "{url}",
      "headers": {{ "Authorization": "Bearer TOKEN", "Loci-Group": "my-project" }}
    }}
  }}
}}"#
    )
}
