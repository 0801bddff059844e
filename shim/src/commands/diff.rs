//! `loci diff`: lists how what is known has changed between two times, the latest change first.
//!
//! Not here: single acts (`history`), finding the changes (the engine).

use crate::cli::versions::Diff;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{date_time, print_json};
use crate::output::{
    Extent, MemoryRow, Problem, Rows, Screen, escape_line, print_line, print_note,
};
use loci_proto::requests::diff::{DiffReply, DiffRequest, MemoryChange};
use similar::{ChangeTag, TextDiff};

/// Words that are shown before and after a changed part of a text.
const CONTEXT: usize = 6;

/// Prints the changes.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Diff) -> Result<(), Problem> {
    let request = DiffRequest {
        since: args.since,
        until: args.until,
        group: args.group,
        all_groups: args.all_groups,
        limit: Some(args.limit.into()),
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: DiffReply = raw_reply.parse()?;
    reply.note.iter().for_each(|note| print_note("Note:", note));
    if reply.changes.is_empty() {
        return print_line(format!("Nothing has changed {}", period(&reply)));
    }
    let rows: Vec<MemoryRow> = reply.changes.iter().map(row).collect();
    let rows = Rows { extent: Extent::Lines(3), ..Rows::new(Screen::of_stdout()) }.text(&rows);
    print_line(format!("{rows}\n{}", footer(&reply)))
}

fn row(change: &MemoryChange) -> MemoryRow {
    let mut marks = vec![escape_line(&change.change)];
    if change.change == "new" && change.status != "active" {
        marks.push(escape_line(&change.status));
    }
    let by = change.superseded_by.as_deref().filter(|_| change.change == "superseded");
    marks.extend(by.map(|by| format!("by {}", memory_id::short(by))));
    marks.extend(change.fields.iter().map(|field| escape_line(field)));
    marks.extend(change.client.iter().map(|client| format!("from {}", escape_line(client))));
    let text = change.before.as_deref().map(|before| word_diff(before, &change.text));
    let is_given_up = ["forgotten", "rejected"].contains(&change.change.as_str());
    let reason = change.reason.as_deref().filter(|_| is_given_up);
    MemoryRow {
        id: change.id.to_string(),
        kind: Some(change.kind),
        at: Some(change.at.clone()),
        project: change.group.clone(),
        share: None,
        marks,
        text: text.unwrap_or_else(|| change.text.clone()),
        below: reason.map(|why| format!("why: {}", escape_line(why))).into_iter().collect(),
    }
}

/// Returns the changed parts of a text: `[-old-]` and `{+new+}`, each with the words around it.
fn word_diff(before: &str, after: &str) -> String {
    let diff = TextDiff::from_words(before, after);
    let mut parts: Vec<String> = Vec::new();
    for group in diff.grouped_ops(CONTEXT * 2) {
        let (mut part, mut open) = (String::new(), ChangeTag::Equal);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            if change.tag() != open {
                part.push_str(closing(open));
                open = change.tag();
                part.push_str(match open {
                    ChangeTag::Equal => "",
                    ChangeTag::Delete => "[-",
                    ChangeTag::Insert => "{+",
                });
            }
            part.push_str(change.value());
        }
        part.push_str(closing(open));
        parts.push(part.trim().to_owned());
    }
    parts.join(" … ")
}

fn closing(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => "",
        ChangeTag::Delete => "-]",
        ChangeTag::Insert => "+}",
    }
}

fn period(reply: &DiffReply) -> String {
    format!("from {} to {}", date_time(&reply.since), date_time(&reply.until))
}

fn footer(reply: &DiffReply) -> String {
    match (reply.changes.len(), reply.total) {
        (1, 1) => format!("1 memory changed {}", period(reply)),
        (shown, total) if shown < total => {
            format!("The latest {shown} of {total} changed memories, {}", period(reply))
        }
        (shown, _) => format!("{shown} memories changed {}", period(reply)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_text_shows_the_changed_words_between_those_around_them() {
        assert_eq!(
            word_diff("The shop runs on Postgres 16", "The shop runs on Postgres 17 now"),
            "The shop runs on Postgres [-16-]{+17 now+}"
        );
        let long = |word: &str| format!("{} {word} {}", "a ".repeat(40), "b ".repeat(40));
        let shown = word_diff(&long("old"), &long("new"));
        assert!(shown.contains("[-old-]{+new+}") && shown.len() < 60, "{shown}");
    }
}
