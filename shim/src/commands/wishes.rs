//! The first part of `loci review`: what agents asked to do to a memory and only a person may do.

use crate::client::call::VerbClient;
use crate::commands::candidates::{accept, forget};
use crate::commands::input::memory_id;
use crate::commands::list::{memory_rows, row};
use crate::commands::reply_text::{date, undo_hint};
use crate::output::{MemoryRow, Problem, choose, counted, escape_line, print_line};
use loci_proto::group::GroupName;
use loci_proto::requests::forget::ForgetRequest;
use loci_proto::requests::list::ListedMemory;
use loci_proto::requests::move_to::MoveRequest;
use loci_proto::requests::restore::RestoreRequest;
use loci_proto::requests::review::ReviewRequest;
use loci_proto::wish::{Wish, WishKind};

/// The question about a wish.
const QUESTION: &str = "[d]o it, [n]o, [q]uit; Enter skips:";

/// What to do with a wish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Decision {
    Do,
    Decline,
    Skip,
    Quit,
}

/// Lists the wishes, or asks about each.
///
/// # Errors
/// The daemon cannot be reached, or refuses a call.
pub(super) async fn run(
    client: &VerbClient,
    wished: &[ListedMemory],
    asks: bool,
) -> Result<(), Problem> {
    if wished.is_empty() {
        return Ok(());
    }
    let count = counted(wished.len(), "memory waits", "memories wait");
    let how = if asks { "" } else { "; loci review --decline ID declines" };
    print_line(format!("{count} for your decision on what an agent asked for{how}:"))?;
    if !asks {
        let rows: Vec<MemoryRow> = wished.iter().map(wished_row).collect();
        return print_line(memory_rows().text(&rows).trim_end());
    }
    for memory in wished {
        print_line(memory_rows().text(&[wished_row(memory)]).trim_end())?;
        if ask_about(client, memory).await? == Decision::Quit {
            break;
        }
    }
    Ok(())
}

fn wished_row(memory: &ListedMemory) -> MemoryRow {
    let mut row = row(memory, false);
    row.below.extend(memory.wishes.iter().map(|wish| wish_text(memory, wish)));
    row
}

/// Asks about each wish for a memory until one is decided.
async fn ask_about(client: &VerbClient, memory: &ListedMemory) -> Result<Decision, Problem> {
    let group: Option<GroupName> = memory.group.as_deref().and_then(|name| name.parse().ok());
    for wish in &memory.wishes {
        let question = format!("{}? {QUESTION}", command(memory, wish));
        let decision = choose(&question, parse)?.unwrap_or(Decision::Quit);
        match decision {
            Decision::Do => fulfil(client, memory, wish, group.as_ref()).await?,
            Decision::Decline => {
                let decline = Some(memory.id.clone());
                let request =
                    ReviewRequest { decline, group: group.clone(), ..ReviewRequest::default() };
                client.call(&request).await?;
                print_line("Declined")?;
            }
            Decision::Skip => continue,
            Decision::Quit => {}
        }
        return Ok(decision);
    }
    Ok(Decision::Skip)
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
        WishKind::Delete => {
            let request =
                ForgetRequest { hard_delete: true, group: named, ..ForgetRequest::new(memory_id) };
            let reply = client.call(&request).await?;
            let note = reply.note.map_or(String::new(), |note| format!(". {note}"));
            print_line(format!("Deleted permanently{}", escape_line(&note)))
        }
        WishKind::Restore => {
            let reply = client.call(&RestoreRequest { memory_id, group: named }).await?;
            print_line(format!("Restored{}", undo_hint(reply.act)))
        }
        WishKind::Move => {
            let to = wish.to.as_deref().unwrap_or_default().parse::<GroupName>();
            let to = to.map_err(Problem::new)?;
            let request =
                MoveRequest { memory_ids: vec![memory_id], to, create: false, group: named };
            let reply = client.call(&request).await?;
            print_line(format!("Moved{}", undo_hint(reply.act)))
        }
    }
}

/// Who wishes what, with the command for a memory that does it.
fn wish_text(memory: &ListedMemory, wish: &Wish) -> String {
    let by = wish.client.as_deref().unwrap_or("a script");
    let command = command(memory, wish);
    format!("{} wishes since {}: {command}", escape_line(by), date(&wish.at))
}

fn command(memory: &ListedMemory, wish: &Wish) -> String {
    let id = memory.id.as_str();
    escape_line(&wish.command.replace(id, &memory_id::short(id)))
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
