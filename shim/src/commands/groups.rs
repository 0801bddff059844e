//! `loci groups`: lists, renames, merges, joins and aliases projects (`group` is the wire name of a project).

use crate::cli::store_admin::{Groups, Switch};
use crate::client::call::VerbClient;
use crate::commands::input::argument;
use crate::output::{Consent, Problem, confirm, counted, escape_line, print_line, table};
use crate::speaker;
use loci_project::{AllowedFiles, Answer, AskingFile, Environment};
use loci_proto::error::Exit;
use loci_proto::group::GroupName;
use loci_proto::requests::Verb;
use loci_proto::requests::groups::{
    AliasRequest, GroupChangedReply, GroupEntry, GroupSwitchedReply, GroupsReply, GroupsRequest,
    JoinRequest, MergeRequest, RenameRequest, SwitchRequest,
};
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;

/// Runs the command.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request.
pub async fn run(command: Groups) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    match command {
        Groups::List { json } => list(&client, json).await?,
        Groups::Rename { group, to, json } => {
            let reply = send_change(
                &client,
                RenameRequest { group: group_name(&group)?, to: group_name(&to)? },
                json,
            )
            .await?;
            print_change(reply, |reply| {
                format!("Renamed {} to {}", reply.group.id, reply.group.name)
            })?;
        }
        Groups::Merge { from, into, yes, json } => {
            merge(&client, &from, &into, Flags { yes, json }).await?;
        }
        Groups::Join { group, yes, json } => {
            join(&client, group.as_deref(), Flags { yes, json }).await?;
        }
        Groups::Allow { yes, decline } => allow(&client.paths.home, yes, decline)?,
        Groups::Off(args) => switch(&client, args, true).await?,
        Groups::On(args) => switch(&client, args, false).await?,
        Groups::Alias { group, name, remove, json } => {
            let request =
                AliasRequest { group: group_name(&group)?, alias: group_name(&name)?, remove };
            let reply = send_change(&client, request, json).await?;
            let relation = if remove { "no longer refers to" } else { "refers to" };
            print_change(reply, |reply| format!("{name} {relation} {}", reply.group.name))?;
        }
    }
    Ok(Exit::Ok.into())
}

async fn switch(client: &VerbClient, args: Switch, off: bool) -> Result<(), Problem> {
    let request = SwitchRequest { group: args.group.as_deref().map(group_name).transpose()?, off };
    let raw_reply = client.ask(&request).await?;
    if args.json {
        return print_line(raw_reply.as_str());
    }
    let reply: GroupSwitchedReply = raw_reply.parse()?;
    let name = escape_line(&reply.name);
    print_line(if off {
        format!(
            "loci is off in {name}: its sessions neither read nor write. Switch it on: loci groups on {name}"
        )
    } else {
        format!("loci is on in {name}, unless its .loci.toml has off = true")
    })
}

/// The flags `--yes` and `--json`.
#[derive(Clone, Copy)]
struct Flags {
    yes: bool,
    json: bool,
}

async fn list(client: &VerbClient, json: bool) -> Result<(), Problem> {
    let raw_reply = client.ask(&GroupsRequest::default()).await?;
    if json {
        return print_line(raw_reply.as_str());
    }
    let reply: GroupsReply = raw_reply.parse()?;
    if reply.groups.is_empty() {
        return print_line("There are no projects yet; storing a memory creates one.");
    }
    let heading = ["NAME", "ID", "ACTIVE", "ALL", "ALIASES"].map(str::to_owned);
    let row = |group: &GroupEntry| {
        let aliases =
            group.aliases.iter().map(|alias| escape_line(alias)).collect::<Vec<_>>().join(", ");
        let off = if group.off { " (off)" } else { "" };
        [
            escape_line(&group.name) + off,
            escape_line(&group.id),
            group.active.to_string(),
            group.memories.to_string(),
            aliases,
        ]
    };
    let rows: Vec<_> = std::iter::once(heading).chain(reply.groups.iter().map(row)).collect();
    print_line(table(&rows).trim_end())
}

async fn merge(client: &VerbClient, from: &str, into: &str, flags: Flags) -> Result<(), Problem> {
    let planned = MergeRequest { from: group_name(from)?, into: group_name(into)?, dry_run: true };
    if !flags.yes {
        let planned: GroupChangedReply = client.call(&planned).await?;
        confirm(
            &format!(
                "Move {} of {} into {}?",
                counted(planned.moved, "memory", "memories"),
                escape_line(from),
                escape_line(&planned.group.name)
            ),
            Consent::Ask,
        )?;
    }
    let reply = send_change(client, MergeRequest { dry_run: false, ..planned }, flags.json).await?;
    print_change(reply, |reply| {
        let moved = counted(reply.moved, "memory", "memories");
        format!("Moved {moved} to {}; {from} now refers to it", reply.group.name)
    })
}

/// Joins a project without a folder here to that of this folder. Who says no is not asked again.
async fn join(client: &VerbClient, group: Option<&str>, flags: Flags) -> Result<(), Problem> {
    let group = group.map(group_name).transpose()?;
    let request =
        |dry_run: bool, decline: bool| JoinRequest { group: group.clone(), dry_run, decline };
    if !flags.yes {
        let planned: GroupChangedReply = client.call(&request(true, false)).await?;
        let question = format!(
            "Join {} of {} to {}, the project of this folder?",
            counted(planned.moved, "memory", "memories"),
            escape_line(planned.from.as_deref().unwrap_or_default()),
            escape_line(&planned.group.name)
        );
        if let Err(refused) = confirm(&question, Consent::Ask) {
            if io::stdin().is_terminal() {
                client.ask(&request(false, true)).await?;
                return Err(
                    refused.hint("It is not offered any more; loci groups join still joins it")
                );
            }
            return Err(refused);
        }
    }
    let reply = send_change(client, request(false, false), flags.json).await?;
    print_change(reply, |reply| {
        let (moved, from) = (counted(reply.moved, "memory", "memories"), reply.from.as_deref());
        format!("Joined {moved} of {} to {}", from.unwrap_or_default(), reply.group.name)
    })
}

/// Answers what the project files of this folder ask for.
fn allow(home: &Path, yes: bool, decline: bool) -> Result<(), Problem> {
    let found = loci_project::find(&Environment::of_process());
    if found.asking.is_empty() {
        return print_line("No .loci.toml of this folder asks for anything.");
    }
    for AskingFile { path, text, .. } in &found.asking {
        let text = String::from_utf8_lossy(text);
        print_line(format!("{}\n{}", escape_line(&path.display().to_string()), indented(&text)))?;
    }
    speaker::require_person("allows a .loci.toml what it asks for", "loci groups allow")?;
    let answer = if decline { Answer::Declined } else { Answer::Allowed };
    if !decline {
        let question = "Allow it its name, isolated = false and off = false in this folder?";
        confirm(question, Consent::from(yes))?;
    }
    AllowedFiles::add(home, answer, &found.asking)
        .map_err(|error| Problem::new("The answer was not written").because(&error))?;
    print_line(if decline {
        "It only tightens, and does not ask again until it changes."
    } else {
        "Allowed, as long as it does not change. It applies to the next session."
    })
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| format!("  {}\n", escape_line(line)));
    lines.collect::<String>().trim_end().to_owned()
}

/// The reply to a change.
enum ChangeReply {
    /// Not printed yet.
    Unprinted(GroupChangedReply),
    /// Printed as JSON.
    Printed,
}

async fn send_change(
    client: &VerbClient,
    request: impl Verb<Reply = GroupChangedReply>,
    json: bool,
) -> Result<ChangeReply, Problem> {
    let raw_reply = client.ask(&request).await?;
    if json {
        print_line(raw_reply.as_str())?;
        return Ok(ChangeReply::Printed);
    }
    Ok(ChangeReply::Unprinted(raw_reply.parse()?))
}

fn print_change(
    reply: ChangeReply,
    text: impl Fn(&GroupChangedReply) -> String,
) -> Result<(), Problem> {
    let ChangeReply::Unprinted(reply) = reply else { return Ok(()) };
    print_line(match reply.act {
        Some(act) => format!("{}. Undo: loci undo {act}", escape_line(&text(&reply))),
        None => "Nothing to change.".to_owned(),
    })
}

fn group_name(name: &str) -> Result<GroupName, Problem> {
    argument("group", name.parse())
}
