//! `loci serve token`: lists, adds, shows and removes the tokens of HTTP clients.

use crate::cli::serve::{TokenArgs, TokenCommand};
use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::call::VerbClient;
use crate::client::unreachable::Unreachable;
use crate::output::{Problem, escape_line, print_line, table};
use crate::speaker::require_person;
use hyper::body::Bytes;
use loci_proto::group::GroupName;
use loci_proto::http::{AddTokenRequest, TokenEntry, TokenName, TokensReply};
use serde::Serialize;

/// Runs `loci serve token`.
///
/// # Errors
/// The daemon cannot be reached, or refuses.
pub async fn run(command: TokenCommand) -> Result<(), Problem> {
    if !matches!(command, TokenCommand::List { .. }) {
        require_person("Only a person may see or change tokens", "loci serve token")?;
    }
    let client = VerbClient::of_process()?;
    client.wait_until_ready().await?;
    match command {
        TokenCommand::List { json } => {
            let answer = admin::get(&client.paths, "/http/tokens").await?;
            print(&answer, json, |reply| list_text(&reply))
        }
        TokenCommand::Add { name, project, json } => {
            let project = project.map(|name| name.parse::<GroupName>()).transpose();
            let project = project.map_err(|fault| Problem::usage(format!("--project {fault}")))?;
            let answer = send(&client, "add", &AddTokenRequest { name, project }).await?;
            print(&answer, json, secret_text)
        }
        TokenCommand::Show(TokenArgs { name, json }) => {
            let answer = send(&client, "show", &TokenName { name }).await?;
            print(&answer, json, secret_text)
        }
        TokenCommand::Remove(TokenArgs { name, json }) => {
            let answer = send(&client, "remove", &TokenName { name }).await?;
            print(&answer, json, |reply| {
                let names: Vec<String> =
                    reply.tokens.iter().map(|token| escape_line(&token.name)).collect();
                format!("Removed the token {}", names.join(", "))
            })
        }
    }
}

async fn send(
    client: &VerbClient,
    action: &str,
    request: &impl Serialize,
) -> Result<Bytes, Problem> {
    let body = serde_json::to_vec(request).map_err(std::io::Error::from)?;
    Ok(admin::post_json(&client.paths, &format!("/http/tokens/{action}"), body).await?)
}

fn print(
    answer: &[u8],
    json: bool,
    text: impl FnOnce(TokensReply) -> String,
) -> Result<(), Problem> {
    if json {
        return print_line(String::from_utf8_lossy(answer));
    }
    let reply = serde_json::from_slice(answer).map_err(|error| {
        RequestError::from(Unreachable::Broken(format!("its answer cannot be parsed: {error}")))
    })?;
    print_line(text(reply))
}

fn list_text(reply: &TokensReply) -> String {
    if reply.tokens.is_empty() {
        return "There are no tokens; add one with loci serve token add NAME".to_owned();
    }
    let heading = ["TOKEN", "PROJECT"].map(str::to_owned);
    let row = |token: &TokenEntry| {
        let project = token.project.as_ref().map_or("all", GroupName::as_str);
        [escape_line(&token.name), escape_line(project)]
    };
    let rows: Vec<_> = std::iter::once(heading).chain(reply.tokens.iter().map(row)).collect();
    table(&rows).trim_end().to_owned()
}

/// Prints the secret alone, so that a script can use it.
fn secret_text(reply: TokensReply) -> String {
    reply.tokens.into_iter().find_map(|token| token.secret).unwrap_or_default()
}
