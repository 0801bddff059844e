//! `loci groups`: the projects that memories belong to. Which one a session works in is found in `group`.

use crate::cli::store_admin::Groups;
use crate::client::call::Door;
use crate::output::{Answer, Problem, confirm, plain, say, table};
use loci_proto::error::Exit;
use loci_proto::requests::groups::{GroupChangedReply, GroupEntry, GroupsReply};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Does what was asked.
///
/// # Errors
/// No daemon, or what it refuses.
pub async fn run(command: Groups) -> Result<ExitCode, Problem> {
    let door = Door::of_process()?;
    match command {
        Groups::List { json } => list(&door, json).await?,
        Groups::Rename { group, to, json } => {
            let done =
                change(&door, "groups_rename", json!({"group": group, "to": to}), json).await?;
            tell(done, |done| {
                format!("The group {} is now called {}", done.group.id, done.group.name)
            })?;
        }
        Groups::Merge { from, into, yes, json } => {
            merge(&door, &from, &into, Asking { yes, json }).await?
        }
        Groups::Alias { group, name, remove, json } => {
            let done = change(
                &door,
                "groups_alias",
                json!({"group": group, "alias": name, "remove": remove}),
                json,
            )
            .await?;
            let led = if remove { "does not lead to" } else { "leads to" };
            tell(done, |done| format!("{name} {led} {}", done.group.name))?;
        }
    }
    Ok(Exit::Ok.into())
}

/// How a person wants to be asked and told.
#[derive(Clone, Copy)]
struct Asking {
    yes: bool,
    json: bool,
}

async fn list(door: &Door, json: bool) -> Result<(), Problem> {
    let answer = door.reply("groups", &json!({})).await?;
    if json {
        return say(answer.as_str());
    }
    let reply: GroupsReply = answer.read()?;
    if reply.groups.is_empty() {
        return say("There are no groups yet; the first memory makes one.");
    }
    let head = ["NAME", "ID", "ACTIVE", "ALL", "OTHER NAMES"].map(str::to_owned);
    let row = |group: &GroupEntry| {
        let names = group.aliases.iter().map(|alias| plain(alias)).collect::<Vec<_>>().join(", ");
        [
            plain(&group.name),
            plain(&group.id),
            group.active.to_string(),
            group.memories.to_string(),
            names,
        ]
    };
    let rows: Vec<_> = std::iter::once(head).chain(reply.groups.iter().map(row)).collect();
    say(table(&rows).trim_end())
}

async fn merge(door: &Door, from: &str, into: &str, asking: Asking) -> Result<(), Problem> {
    let asked = |dry: bool| json!({"from": from, "into": into, "dry_run": dry});
    if !asking.yes {
        let planned: GroupChangedReply = door.call("groups_merge", &asked(true)).await?;
        confirm(
            &format!(
                "Move {} memories of {} into {}?",
                planned.moved,
                plain(from),
                plain(&planned.group.name)
            ),
            Answer::Ask,
        )?;
    }
    let done = change(door, "groups_merge", asked(false), asking.json).await?;
    tell(done, |done| {
        format!("{} memories are now in {}; {from} leads there", done.moved, done.group.name)
    })
}

/// A change, to be told in words, or printed already.
enum Changed {
    Told(GroupChangedReply),
    Printed,
}

async fn change(door: &Door, verb: &str, asked: Value, json: bool) -> Result<Changed, Problem> {
    let answer = door.reply(verb, &asked).await?;
    if json {
        say(answer.as_str())?;
        return Ok(Changed::Printed);
    }
    Ok(Changed::Told(answer.read()?))
}

fn tell(changed: Changed, words: impl Fn(&GroupChangedReply) -> String) -> Result<(), Problem> {
    let Changed::Told(done) = changed else { return Ok(()) };
    say(match done.act {
        Some(act) => format!("{}. loci undo {act} takes it back.", plain(&words(&done))),
        None => "It was so before.".to_owned(),
    })
}
