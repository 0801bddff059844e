//! `loci list`: lists memories, newest first or sorted, one page at a time.

use crate::cli::memories::List;
use crate::client::call::VerbClient;
use crate::commands::reply_text::{print_as_of, print_json};
use crate::output::{
    DERIVED_DAY, MemoryRow, Problem, Rows, Screen, Terms, escape_line, print_line,
};
use loci_proto::requests::list::{ListOrder, ListReply, ListRequest, ListedMemory};

/// Characters of each text that a row is made of.
pub const TEXT_CHARS: usize = 2000;

/// Prints one page.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: List) -> Result<(), Problem> {
    let group_given = args.group.is_some();
    let request = ListRequest {
        tool: None,
        kind: args.kind,
        scope: args.scope,
        status: args.status,
        held: args.held,
        from_group: group_given,
        group: args.group,
        all_groups: args.all_groups,
        text: args.text,
        category: args.category,
        subject: args.subject,
        older_than_seconds: args.older,
        date_from: args.from,
        date_to: args.to,
        sort: args.sort,
        as_of: args.as_of,
        before: args.before,
        limit: Some(args.limit.into()),
        // With --json the reply is as it always was.
        text_chars: (!args.format.json).then_some(TEXT_CHARS),
        ..ListRequest::default()
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ListReply = raw_reply.parse()?;
    print_as_of(reply.as_of.as_ref());
    if reply.memories.is_empty() {
        return print_line("No memory matches.");
    }
    let rows = Rows {
        terms: request.text.as_deref().map(Terms::of_query).unwrap_or_default(),
        ..memory_rows()
    };
    let by_use = request.sort == ListOrder::Used;
    let shown: Vec<MemoryRow> = reply.memories.iter().map(|memory| row(memory, by_use)).collect();
    print_line(rows.text(&shown).trim_end())?;
    print_line(footer(&reply))?;
    if shown.iter().any(MemoryRow::has_derived_day) {
        print_line(DERIVED_DAY)?;
    }
    Ok(())
}

/// Returns how rows of a list look: their bar is the confidence.
#[must_use]
pub fn memory_rows() -> Rows {
    Rows { meter: "CONF", ..Rows::new(Screen::of_stdout()) }
}

/// Returns the row of a listed memory; `by_use` adds how often it was used. A rejected one has its reason below.
#[must_use]
pub fn row(memory: &ListedMemory, by_use: bool) -> MemoryRow {
    let mut row = MemoryRow { share: Some(memory.confidence.get()), ..MemoryRow::from(memory) };
    row.below.extend(memory.rejected.iter().map(|why| format!("rejected: {}", escape_line(why))));
    if by_use {
        row.marks.push(format!("used {}×", memory.access_count));
    }
    row
}

fn footer(reply: &ListReply) -> String {
    match (reply.memories.len(), reply.total, reply.next) {
        (shown, total, Some(next)) => {
            format!("\n{shown} of {total} memories; next page: --before {next}")
        }
        (1, 1, None) => "\n1 memory".to_owned(),
        (shown, total, None) if shown < total => format!("\n{shown} of {total} memories"),
        (shown, ..) => format!("\n{shown} memories"),
    }
}
