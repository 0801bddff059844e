//! `loci bridge claude` and `loci bridge codex`: switch the watcher of one client on or off after a question, or show its state.

use crate::cli::bridge::Switch;
use crate::client::call::VerbClient;
use crate::commands::bridge::{folders, show};
use crate::output::{Problem, confirm, counted, escape_line, print_line};
use crate::setup::environment::Environment;
use loci_proto::requests::bridge::{BridgeClient, BridgeSwitchReply, BridgeSwitchRequest};

pub async fn run(client: &VerbClient, watched: BridgeClient, args: &Switch) -> Result<(), Problem> {
    if !args.on && !args.off {
        return show::status_of(client, watched, args.format.json).await;
    }
    let request = if args.on { on(watched, args)? } else { off(watched) };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_line(raw_reply.as_str());
    }
    let reply: BridgeSwitchReply = raw_reply.parse()?;
    let name = watched.as_str();
    print_line(if reply.on {
        format!(
            "The memory of {name} is watched: {} read, {} kept, {} imported.\n\
             Imported memories stay in their projects, and out of briefs and hooks until loci confirm --imported.\n\
             See loci bridge status; stop it: loci bridge {name} --off",
            counted(reply.files, "file", "files"),
            counted(reply.versions, "version", "versions"),
            counted(reply.imported, "statement", "statements")
        )
    } else {
        format!(
            "The memory of {name} is no longer watched. The versions and the imported memories stay."
        )
    })
}

fn on(watched: BridgeClient, args: &Switch) -> Result<BridgeSwitchRequest, Problem> {
    let environment =
        Environment::of_process().ok_or_else(|| Problem::new("There is no home folder"))?;
    let folder = folders::of(watched, &environment);
    if !folder.is_dir() {
        let shown = folder.display().to_string();
        return Err(Problem::new(format!("{} does not exist", escape_line(&shown))).hint(
            "Run the client once, or set CLAUDE_CONFIG_DIR or CODEX_HOME as the client has it",
        ));
    }
    let (other, projects) = match watched {
        BridgeClient::Claude => {
            (folders::auto_memory(&folder, &environment.home), folders::projects(&folder))
        }
        BridgeClient::Codex => (None, Vec::new()),
    };
    let text = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let (folder, other) = (text(&folder), other.as_deref().map(text));
    let places = match (watched, &other) {
        (BridgeClient::Codex, _) => format!("{folder}/memories/*.md"),
        (_, None) => format!("{folder}/projects/*/memory/*.md"),
        (_, Some(other)) => format!("{folder}/projects/*/memory/*.md and {other}/*.md"),
    };
    let question = format!(
        "Watch {}, keep every version in the database of loci, and import what the files state? They are only read.",
        escape_line(&places)
    );
    confirm(&question, args.yes.into())?;
    Ok(BridgeSwitchRequest { client: watched, on: true, folder: Some(folder), other, projects })
}

fn off(watched: BridgeClient) -> BridgeSwitchRequest {
    BridgeSwitchRequest {
        client: watched,
        on: false,
        folder: None,
        other: None,
        projects: Vec::new(),
    }
}
