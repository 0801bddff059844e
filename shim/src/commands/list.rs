//! `loci list`: lists memories, newest first or sorted, one page at a time.

use crate::cli::memories::List;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{date, print_json};
use crate::output::{Problem, Screen, escape_line, print_line, print_note, table_on};
use loci_proto::requests::list::{ListOrder, ListReply, ListRequest, ListedMemory};

/// The optional columns of a table of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each column is independent")]
pub struct Columns {
    /// The project; shown if the list may contain several.
    pub group: bool,
    /// The status; shown if any memory has flags, is pinned or not active.
    pub status: bool,
    /// The day of the event; shown if any memory has one.
    pub day: bool,
    /// How often it was used; shown if the list is sorted by that.
    pub used: bool,
}

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
        flags: args.flags,
        from_group: group_given,
        group: args.group,
        all_groups: args.all_groups,
        text: args.text,
        older_than_seconds: args.older,
        date_from: args.from,
        date_to: args.to,
        sort: args.sort,
        confidence_below: None,
        before: args.before,
        limit: Some(args.limit.into()),
    };
    let raw_reply = client.call_raw("list", &request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: ListReply = raw_reply.parse()?;
    if reply.memories.is_empty() {
        print_line("No memory matches.")?;
        if group_given && reply.total == 0 {
            print_note(
                "Hint:",
                "`loci groups list` shows projects with their ids; --group accepts the id or an alias of another project",
            );
        }
        return Ok(());
    }
    let needs_status = |memory: &ListedMemory| {
        memory.status != "active" || memory.pinned || !memory.provenance.flags.is_empty()
    };
    let has_day =
        |memory: &ListedMemory| memory.event_date.is_some() || memory.event_date_derived.is_some();
    let columns = Columns {
        group: args.all_groups,
        status: reply.memories.iter().any(needs_status),
        day: reply.memories.iter().any(has_day),
        used: request.sort == ListOrder::Used,
    };
    print_line(memory_table(Screen::of_stdout(), columns, &reply.memories).trim_end())?;
    print_line(footer(&reply))?;
    let is_derived = |memory: &ListedMemory| memory.event_date.is_none() && has_day(memory);
    if reply.memories.iter().any(is_derived) {
        print_line("* day that the text names")?;
    }
    Ok(())
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

/// Returns the day of the event; `*` marks one that comes from the text.
fn day_text(memory: &ListedMemory) -> String {
    match (&memory.event_date, &memory.event_date_derived) {
        (Some(given), _) => escape_line(given),
        (None, Some(derived)) => format!("{}*", escape_line(derived)),
        (None, None) => "-".to_owned(),
    }
}

/// Formats memories as a table.
#[must_use]
pub fn memory_table(screen: Screen, columns: Columns, memories: &[ListedMemory]) -> String {
    let row = |memory: &ListedMemory| {
        let mut row = vec![
            memory_id::short(memory.id.as_str()),
            memory.kind.to_string(),
            format!("{:.2}", memory.confidence.get()),
        ];
        if columns.status {
            row.push(match memory.status.as_str() {
                "active" if !memory.provenance.flags.is_empty() => "flags".to_owned(),
                "active" if memory.pinned => "pinned".to_owned(),
                status => escape_line(status),
            });
        }
        if columns.group {
            row.push(escape_line(memory.group.as_deref().unwrap_or("-")));
        }
        row.extend(columns.used.then(|| memory.access_count.to_string()));
        row.push(date(&memory.created_at));
        row.extend(columns.day.then(|| day_text(memory)));
        row.push(escape_line(&memory.preview));
        row
    };
    let mut heading = vec!["ID", "TYPE", "CONF"];
    heading.extend(columns.status.then_some("STATUS"));
    heading.extend(columns.group.then_some("PROJECT"));
    heading.extend(columns.used.then_some("USED"));
    heading.push("CREATED");
    heading.extend(columns.day.then_some("DAY"));
    heading.push("MEMORY");
    let heading = heading.into_iter().map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(memories.iter().map(row)).collect();
    table_on(screen, &rows)
}
