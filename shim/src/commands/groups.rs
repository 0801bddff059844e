//! `loci groups`: lists, renames, merges, joins and aliases projects (`group` is the wire name of a project).

use crate::cli::store_admin::{Groups, Switch};
use crate::client::call::VerbClient;
use crate::output::{Consent, Problem, confirm, counted, escape_line, print_line, table};
use loci_proto::error::Exit;
use loci_proto::requests::groups::{
    GroupChangedReply, GroupEntry, GroupSwitchedReply, GroupsReply,
};
use serde_json::{Value, json};
use std::io::{self, IsTerminal as _};
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
            let reply =
                send_change(&client, "groups_rename", json!({"group": group, "to": to}), json)
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
        Groups::Off(args) => switch(&client, args, true).await?,
        Groups::On(args) => switch(&client, args, false).await?,
        Groups::Alias { group, name, remove, json } => {
            let reply = send_change(
                &client,
                "groups_alias",
                json!({"group": group, "alias": name, "remove": remove}),
                json,
            )
            .await?;
            let relation = if remove { "no longer refers to" } else { "refers to" };
            print_change(reply, |reply| format!("{name} {relation} {}", reply.group.name))?;
        }
    }
    Ok(Exit::Ok.into())
}

async fn switch(client: &VerbClient, args: Switch, off: bool) -> Result<(), Problem> {
    let arguments = json!({"group": args.group, "off": off});
    let raw_reply = client.call_raw("groups_switch", &arguments).await?;
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
    let raw_reply = client.call_raw("groups", &json!({})).await?;
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
    let request = |dry_run: bool| json!({"from": from, "into": into, "dry_run": dry_run});
    if !flags.yes {
        let planned: GroupChangedReply = client.call("groups_merge", &request(true)).await?;
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
    let reply = send_change(client, "groups_merge", request(false), flags.json).await?;
    print_change(reply, |reply| {
        let moved = counted(reply.moved, "memory", "memories");
        format!("Moved {moved} to {}; {from} now refers to it", reply.group.name)
    })
}

/// Joins a project without a folder here to that of this folder. Who says no is not asked again.
async fn join(client: &VerbClient, group: Option<&str>, flags: Flags) -> Result<(), Problem> {
    let request = |dry_run: bool, decline: bool| json!({"group": group, "dry_run": dry_run, "decline": decline});
    if !flags.yes {
        let planned: GroupChangedReply = client.call("groups_join", &request(true, false)).await?;
        let question = format!(
            "Join {} of {} to {}, the project of this folder?",
            counted(planned.moved, "memory", "memories"),
            escape_line(planned.from.as_deref().unwrap_or_default()),
            escape_line(&planned.group.name)
        );
        if let Err(refused) = confirm(&question, Consent::Ask) {
            if io::stdin().is_terminal() {
                client.call_raw("groups_join", &request(false, true)).await?;
                return Err(
                    refused.hint("It is not offered any more; loci groups join still joins it")
                );
            }
            return Err(refused);
        }
    }
    let reply = send_change(client, "groups_join", request(false, false), flags.json).await?;
    print_change(reply, |reply| {
        let (moved, from) = (counted(reply.moved, "memory", "memories"), reply.from.as_deref());
        format!("Joined {moved} of {} to {}", from.unwrap_or_default(), reply.group.name)
    })
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
    verb: &str,
    arguments: Value,
    json: bool,
) -> Result<ChangeReply, Problem> {
    let raw_reply = client.call_raw(verb, &arguments).await?;
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
