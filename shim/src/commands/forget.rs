//! `loci forget`: forgets one memory, or with `--where` every matching memory as one act.

use crate::cli::memories::Forget;
use crate::client::call::{RawReply, VerbClient};
use crate::commands::candidates::wrapped;
use crate::commands::input::{memory_id, where_expression};
use crate::commands::list;
use crate::commands::reply_text::{print_json, undo_hint};
use crate::output::{
    Consent, MemoryRow, Problem, confirm, counted, escape_line, escape_lines, print_line,
    print_note,
};
use crate::speaker::require_person;
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};
use loci_proto::requests::forget_many::{ForgetManyReply, ForgetManyRequest};
use loci_proto::requests::inspect::InspectRequest;
use loci_proto::requests::list::{ListReply, ListRequest, ListedMemory};
use loci_proto::requests::purge_backups::{PurgeBackupsReply, PurgeBackupsRequest};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Number of memories per `list` request.
const PAGE_SIZE: usize = 1000;
/// Maximum number of rows of the preview; further matches are only counted.
const PREVIEW_ROWS: usize = 20;

/// Runs the command.
///
/// # Errors
/// The daemon cannot be reached or refuses the call, or the user does not confirm.
pub async fn run(client: &VerbClient, args: Forget) -> Result<(), Problem> {
    match (&args.id, &args.matching) {
        (Some(id_part), _) if args.hard => erase(client, id_part.trim(), &args).await,
        (Some(id_part), _) => forget_one(client, id_part, &args).await,
        (None, expression) => {
            forget_matching(client, expression.as_deref().unwrap_or_default(), &args).await
        }
    }
}

async fn forget_one(client: &VerbClient, id_part: &str, args: &Forget) -> Result<(), Problem> {
    let resolved = memory_id::resolve(client, id_part, args.project.group.as_ref()).await?;
    let memory = memory_id::describe(&resolved);
    let request = ForgetRequest {
        memory_id: resolved.id,
        reason: args.reason.clone(),
        hard_delete: false,
        rejected: false,
        group: args.project.group.clone(),
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ForgetReply = raw_reply.parse()?;
    if reply.already_forgotten {
        print_line(format!("{memory}\n  is already forgotten"))
    } else {
        print_line(format!("Forgotten: {memory}{}", undo_hint(reply.act)))
    }
}

/// Erases every trace of a memory, after showing it and asking for confirmation.
async fn erase(client: &VerbClient, id_part: &str, args: &Forget) -> Result<(), Problem> {
    let resolved = match id_part.parse() {
        // A complete id may belong to a memory that is already erased.
        Ok(id) if args.yes => memory_id::ResolvedId { id, found: None },
        _ => {
            let found = memory_id::look_up(client, id_part, args.project.group.as_ref()).await?;
            memory_id::ResolvedId { id: found.memory.id.clone(), found: Some(found) }
        }
    };
    let memory = memory_id::describe(&resolved);
    if args.purge_backups {
        let command = format!("loci forget {} --hard --purge-backups", resolved.id);
        require_person("Only a person may delete backups", &command)?;
    }
    confirm(&format!("{memory}\n{}", erase_question(args.purge_backups)), Consent::from(args.yes))?;
    let request = ForgetRequest {
        memory_id: resolved.id,
        reason: args.reason.clone(),
        hard_delete: true,
        rejected: false,
        group: args.project.group.clone(),
    };
    let raw_reply = client.ask(&request).await?;
    let purged = if args.purge_backups {
        Some(client.ask(&PurgeBackupsRequest { memory_id: request.memory_id.clone() }).await?)
    } else {
        None
    };
    if let (true, Some(purged)) = (args.format.json, &purged) {
        let mut merged: Value = serde_json::from_str(raw_reply.as_str()).unwrap_or_default();
        merged["purged"] = json!(purged.parse()?);
        return print_line(merged.to_string());
    }
    if args.format.json {
        return print_json(&raw_reply);
    }
    print_erased(&raw_reply.parse()?, purged.as_ref(), &memory)
}

/// Erases a memory that the person has looked at, after showing its whole text and asking again.
///
/// # Errors
/// The daemon cannot be reached or refuses the call, or the person does not confirm.
pub(super) async fn erase_shown(
    client: &VerbClient,
    id: &MemoryId,
    group: Option<&GroupName>,
) -> Result<(), Problem> {
    let request = InspectRequest {
        memory_id: id.clone(),
        include_relations: None,
        include_log: false,
        log_before: None,
        relations_before: None,
        group: group.cloned(),
        as_of: None,
    };
    let shown = client.call(&request).await?.memory;
    let text = wrapped(&escape_lines(&shown.content), "  ");
    confirm(&format!("{text}\n{}", erase_question(false)), Consent::Ask)?;
    let request = ForgetRequest {
        hard_delete: true,
        group: group.cloned(),
        ..ForgetRequest::new(id.clone())
    };
    let reply = client.call(&request).await?;
    print_erased(&reply, None, &memory_id::short(id.as_str()))
}

fn erase_question(purge_backups: bool) -> &'static str {
    if purge_backups {
        "Erase it from the store, and delete the backups that contain it? This cannot be undone."
    } else {
        "Erase it from the store? Backups keep it without --purge-backups. This cannot be undone."
    }
}

/// Describes what happened to the backups that contained the memory.
fn purge_text(purged: &PurgeBackupsReply) -> String {
    let backups = counted(purged.removed.len(), "backup", "backups");
    let removed = format!("removed {backups} that contained it");
    match purged.unreadable.len() {
        0 => removed,
        unreadable => format!("{removed}; {unreadable} cannot be read and may contain it"),
    }
}

fn print_erased(
    reply: &ForgetReply,
    purged: Option<&RawReply<PurgeBackupsReply>>,
    memory: &str,
) -> Result<(), Problem> {
    if reply.already_forgotten {
        print_line(format!("{memory}\n  is already erased"))?;
    } else {
        print_line(format!("Erased: {memory}"))?;
    }
    match (purged, &reply.note) {
        (Some(purged), _) => print_line(format!("  {}", purge_text(&purged.parse()?))),
        (None, Some(text)) => {
            print_note("Note:", text);
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// Forgets every matching memory as one act, after showing them and asking for confirmation.
async fn forget_matching(
    client: &VerbClient,
    expression: &str,
    args: &Forget,
) -> Result<(), Problem> {
    let invalid =
        |reason: String| Problem::usage(format!("--where is invalid: {}", escape_line(&reason)));
    let mut request = where_expression::parse(expression).map_err(invalid)?;
    if let Some(group) = &args.project.group {
        (request.group, request.from_group) = (Some(group.clone()), true);
    }
    let matches = list_all(client, request.clone()).await?;
    if matches.is_empty() {
        return if args.format.json {
            print_line(r#"{"forgotten":[]}"#)
        } else {
            print_line("No memory matches.")
        };
    }
    let preview = preview_text(&matches);
    if args.format.json {
        print_note("Note:", &preview);
    } else {
        print_line(&preview)?;
    }
    let question = if matches.len() == 1 {
        "Forget this memory?".to_owned()
    } else {
        format!("Forget these {} memories?", matches.len())
    };
    confirm(&question, Consent::from(args.yes))?;
    send_forget_many(client, matches, request.group, args).await
}

async fn send_forget_many(
    client: &VerbClient,
    matches: Vec<ListedMemory>,
    group: Option<GroupName>,
    args: &Forget,
) -> Result<(), Problem> {
    let memory_ids = matches.into_iter().map(|memory| memory.id).collect();
    let request = ForgetManyRequest { memory_ids, reason: args.reason.clone(), group };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ForgetManyReply = raw_reply.parse()?;
    let count = reply.forgotten.iter().filter(|memory| !memory.already_forgotten).count();
    let memories = if count == 1 { "memory" } else { "memories" };
    print_line(format!("Forgot {count} {memories}.{}", undo_hint(reply.act)))
}

/// Lists every matching memory, page by page.
async fn list_all(
    client: &VerbClient,
    mut request: ListRequest,
) -> Result<Vec<ListedMemory>, Problem> {
    request.limit = Some(PAGE_SIZE);
    let mut matches = Vec::new();
    loop {
        let page: ListReply = client.call(&request).await?;
        matches.extend(page.memories);
        match page.next {
            Some(next) => request.before = Some(next),
            None => return Ok(matches),
        }
    }
}

fn preview_text(matches: &[ListedMemory]) -> String {
    let shown = &matches[..matches.len().min(PREVIEW_ROWS)];
    let rows: Vec<MemoryRow> = shown.iter().map(|memory| list::row(memory, false)).collect();
    let mut text = list::memory_rows().text(&rows);
    if matches.len() > PREVIEW_ROWS {
        let _ = writeln!(text, "  … and {} more", matches.len() - PREVIEW_ROWS);
    }
    text
}
