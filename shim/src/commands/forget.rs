//! `loci forget`: one memory, or every memory that an expression fits, as one act.

use crate::cli::memories::Forget;
use crate::client::call::{Answer as Reply, Door};
use crate::commands::input::{memory_id, where_expression};
use crate::commands::list::{Columns, rows};
use crate::commands::{print, undoable};
use crate::output::{Answer, Problem, Screen, confirm, note, plain, say};
use loci_proto::group::GroupName;
use loci_proto::requests::forget::{ForgetReply, ForgetRequest};
use loci_proto::requests::forget_many::{ForgetManyReply, ForgetManyRequest};
use loci_proto::requests::list::{ListReply, ListRequest, ListedMemory};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// Memories that a page of the search for them has.
const PAGE: usize = 1000;
/// Rows of the preview; the rest is counted.
const PREVIEW: usize = 20;

/// Forgets what is meant.
///
/// # Errors
/// What the daemon refuses; when the answer is no.
pub async fn run(door: &Door, asked: Forget) -> Result<(), Problem> {
    match (&asked.id, &asked.matching) {
        (Some(part), _) if asked.hard => for_good(door, part.trim(), &asked).await,
        (Some(part), _) => one(door, part, &asked).await,
        (None, expression) => many(door, expression.as_deref().unwrap_or_default(), &asked).await,
    }
}

async fn one(door: &Door, part: &str, asked: &Forget) -> Result<(), Problem> {
    let meant = memory_id::find(door, part, asked.project.group.as_ref()).await?;
    let told = memory_id::told(&meant);
    let request = ForgetRequest {
        memory_id: meant.id,
        reason: asked.reason.clone(),
        hard_delete: false,
        group: asked.project.group.clone(),
    };
    let answer = door.reply("forget_memory", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: ForgetReply = answer.read()?;
    if reply.already_forgotten {
        say(format!("{told}\n  was forgotten before"))
    } else {
        say(format!("Forgotten: {told}{}", undoable(reply.act)))
    }
}

/// Removes every trace, after a question that shows whose.
async fn for_good(door: &Door, part: &str, asked: &Forget) -> Result<(), Problem> {
    let meant = match part.parse() {
        // A whole id may be that of a memory whose every trace is gone already.
        Ok(id) if asked.yes => memory_id::Meant { id, found: None },
        _ => {
            let found = memory_id::look_up(door, part, asked.project.group.as_ref()).await?;
            memory_id::Meant { id: found.memory.id.clone(), found: Some(found) }
        }
    };
    let told = memory_id::told(&meant);
    confirm(
        &format!("{told}\nRemove every trace of it? This cannot be undone."),
        Answer::from(asked.yes),
    )?;
    let request = ForgetRequest {
        memory_id: meant.id,
        reason: asked.reason.clone(),
        hard_delete: true,
        group: asked.project.group.clone(),
    };
    let answer = door.reply("forget_memory", &request).await?;
    let purged = if asked.purge_backups {
        Some(door.reply("purge_backups", &json!({"memory_id": request.memory_id})).await?)
    } else {
        None
    };
    if let (true, Some(purged)) = (asked.format.json, &purged) {
        let mut whole: Value = answer.read()?;
        whole["purged"] = purged.read()?;
        return say(whole.to_string());
    }
    if asked.format.json {
        return print(&answer);
    }
    tell(&answer.read()?, purged.as_ref(), &told)
}

/// What became of the backups that held it.
fn of_backups(purged: &Value) -> String {
    let count = |name: &str| purged[name].as_array().map_or(0, Vec::len);
    let removed = format!("{} backups that held it are removed", count("removed"));
    match count("unreadable") {
        0 => removed,
        unreadable => format!("{removed}; {unreadable} cannot be read and may hold it"),
    }
}

fn tell(reply: &ForgetReply, purged: Option<&Reply>, told: &str) -> Result<(), Problem> {
    if reply.already_forgotten {
        say(format!("{told}\n  was removed before"))?;
    } else {
        say(format!("Removed for good: {told}"))?;
    }
    match (purged, &reply.note) {
        (Some(purged), _) => say(format!("  {}", of_backups(&purged.read()?))),
        (None, Some(text)) => {
            note("Note:", text);
            Ok(())
        }
        (None, None) => Ok(()),
    }
}

/// Every memory that the expression fits, shown and asked for, as one act.
async fn many(door: &Door, expression: &str, asked: &Forget) -> Result<(), Problem> {
    let wrong = |why: String| Problem::usage(format!("--where is not understood: {}", plain(&why)));
    let mut request = where_expression::parse(expression).map_err(wrong)?;
    if let Some(group) = &asked.project.group {
        (request.group, request.from_group) = (Some(group.clone()), true);
    }
    let found = all(door, request.clone()).await?;
    if found.is_empty() {
        return if asked.format.json { say(r#"{"forgotten":[]}"#) } else { say("No memory fits.") };
    }
    let shown = preview(&found);
    if asked.format.json {
        note("Note:", &shown);
    } else {
        say(&shown)?;
    }
    let question = if found.len() == 1 {
        "Forget this memory?".to_owned()
    } else {
        format!("Forget these {} memories?", found.len())
    };
    confirm(&question, Answer::from(asked.yes))?;
    forget(door, found, request.group, asked).await
}

async fn forget(
    door: &Door,
    found: Vec<ListedMemory>,
    group: Option<GroupName>,
    asked: &Forget,
) -> Result<(), Problem> {
    let memory_ids = found.into_iter().map(|memory| memory.id).collect();
    let request = ForgetManyRequest { memory_ids, reason: asked.reason.clone(), group };
    let answer = door.reply("forget_many", &request).await?;
    if asked.format.json {
        return print(&answer);
    }
    let reply: ForgetManyReply = answer.read()?;
    let count = reply.forgotten.iter().filter(|memory| !memory.already_forgotten).count();
    say(format!("{count} forgotten.{}", undoable(reply.act)))
}

/// Every memory that fits, page by page.
async fn all(door: &Door, mut request: ListRequest) -> Result<Vec<ListedMemory>, Problem> {
    request.limit = Some(PAGE);
    let mut found = Vec::new();
    loop {
        let page: ListReply = door.reply("list", &request).await?.read()?;
        found.extend(page.memories);
        match page.next {
            Some(next) => request.before = Some(next),
            None => return Ok(found),
        }
    }
}

fn preview(found: &[ListedMemory]) -> String {
    let shown = &found[..found.len().min(PREVIEW)];
    let mut text = rows(Screen::of_stdout(), Columns { group: true, status: false }, shown);
    if found.len() > PREVIEW {
        let _ = writeln!(text, "  … and {} more", found.len() - PREVIEW);
    }
    text
}
