//! The first part of `loci review`: what agents asked to do to a memory and only a person may do.

use crate::client::call::VerbClient;
use crate::commands::candidates::{accept, forget};
use crate::commands::forget::erase_shown;
use crate::commands::input::memory_id;
use crate::commands::list::{memory_rows, row};
use crate::commands::reply_text::{date, undo_hint};
use crate::output::{MemoryRow, Problem, Style, choose, counted, escape_line, print_line};
use loci_proto::group::GroupName;
use loci_proto::requests::list::ListedMemory;
use loci_proto::requests::move_to::MoveRequest;
use loci_proto::requests::restore::RestoreRequest;
use loci_proto::requests::review::ReviewRequest;
use loci_proto::wish::{Wish, WishKind};

/// The answers to a wish.
const ANSWERS: &str = "[d]o it, [n]o, [q]uit; Enter skips:";

/// What to do with a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Do,
    Decline,
    Skip,
    Quit,
}

/// Lists the wishes, or asks about each; returns whether to go on with the review.
///
/// # Errors
/// The terminal cannot be read or written.
pub(super) async fn run(
    client: &VerbClient,
    wished: &[ListedMemory],
    asks: bool,
) -> Result<bool, Problem> {
    if wished.is_empty() {
        return Ok(true);
    }
    let count = counted(wished.len(), "memory waits", "memories wait");
    if !asks {
        let rows: Vec<MemoryRow> = wished.iter().map(wished_row).collect();
        let how = "loci review at a terminal asks, loci review --decline ID declines";
        print_line(format!("{count} for the user's decision on what an agent asked for ({how}):"))?;
        print_line(memory_rows().text(&rows).trim_end())?;
        return Ok(true);
    }
    print_line(format!("{count} for your decision on what an agent asked for:"))?;
    for memory in wished {
        print_line(memory_rows().text(&[wished_row(memory)]).trim_end())?;
        for wish in &memory.wishes {
            match ask_about(client, memory, wish).await {
                Ok(Decision::Quit) => return Ok(false),
                Ok(Decision::Do) => break,
                Ok(Decision::Decline | Decision::Skip) => {}
                // The next one may succeed.
                Err(problem) => print_line(problem.text(Style::Plain).trim_end())?,
            }
        }
    }
    Ok(true)
}

fn wished_row(memory: &ListedMemory) -> MemoryRow {
    let mut row = row(memory, false);
    row.below.extend(memory.wishes.iter().map(|wish| wish_text(memory, wish)));
    row
}

/// Asks about a wish, and does what is answered.
async fn ask_about(
    client: &VerbClient,
    memory: &ListedMemory,
    wish: &Wish,
) -> Result<Decision, Problem> {
    let group: Option<GroupName> = memory.group.as_deref().and_then(|name| name.parse().ok());
    let question = format!("{}? {ANSWERS}", capitalised(&asked(wish)));
    let decision = choose(&question, parse)?.unwrap_or(Decision::Quit);
    match decision {
        Decision::Do => {
            fulfil(&client.having_shown([memory]), memory, wish, group.as_ref()).await?;
            if wish.kind != WishKind::Delete {
                // So that it does not come back when it is undone.
                decline(client, memory, wish, group).await?;
            }
        }
        Decision::Decline => {
            decline(client, memory, wish, group).await?;
            print_line("Declined; the agent is told if it asks again")?;
        }
        Decision::Skip | Decision::Quit => {}
    }
    Ok(decision)
}

async fn decline(
    client: &VerbClient,
    memory: &ListedMemory,
    wish: &Wish,
    group: Option<GroupName>,
) -> Result<(), Problem> {
    let (decline, kind) = (Some(vec![memory.id.clone()]), Some(wish.kind));
    client.call(&ReviewRequest { decline, kind, group, ..ReviewRequest::default() }).await?;
    Ok(())
}

async fn fulfil(
    client: &VerbClient,
    memory: &ListedMemory,
    wish: &Wish,
    group: Option<&GroupName>,
) -> Result<(), Problem> {
    let (memory_id, named) = (memory.id.clone(), group.cloned());
    match wish.kind {
        WishKind::Forget => forget(client, &memory.id, group).await,
        WishKind::Confirm => accept(client, &memory.id, group).await,
        WishKind::Delete => erase_shown(client, &memory.id, group).await,
        WishKind::Restore => {
            let reply = client.call(&RestoreRequest { memory_id, group: named }).await?;
            print_line(format!("Restored{}", undo_hint(reply.act)))
        }
        WishKind::Move => {
            let to = wish.to_id.as_deref().unwrap_or_default().parse::<GroupName>();
            let to = to.map_err(Problem::new)?;
            let request =
                MoveRequest { memory_ids: vec![memory_id], to, create: false, group: named };
            let reply = client.call(&request).await?;
            print_line(format!("Moved{}", undo_hint(reply.act)))
        }
    }
}

/// Who asks for what since when, with the command that does it.
fn wish_text(memory: &ListedMemory, wish: &Wish) -> String {
    let id = memory.id.as_str();
    let command = escape_line(&wish.command.replace(id, &memory_id::short(id)));
    let by = escape_line(wish.client.as_deref().unwrap_or("a script"));
    format!("{by} asks to {} ({}): {command}", asked(wish), date(&wish.at))
}

/// What a wish asks for.
fn asked(wish: &Wish) -> String {
    match wish.kind {
        WishKind::Forget => "forget it".to_owned(),
        WishKind::Delete => "delete it for ever".to_owned(),
        WishKind::Restore => "restore it".to_owned(),
        WishKind::Confirm => "confirm it".to_owned(),
        WishKind::Move => format!("move it to {}", escape_line(wish.to.as_deref().unwrap_or(""))),
    }
}

fn capitalised(text: &str) -> String {
    let (first, rest) = text.split_at(1);
    first.to_uppercase() + rest
}

fn parse(typed: &str) -> Option<Decision> {
    match typed.to_lowercase().as_str() {
        "" => Some(Decision::Skip),
        "d" => Some(Decision::Do),
        "n" => Some(Decision::Decline),
        "q" => Some(Decision::Quit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_letter_decides() {
        assert_eq!((parse("D"), parse("")), (Some(Decision::Do), Some(Decision::Skip)));
        assert_eq!((parse("y"), parse("do")), (None, None));
    }
}
