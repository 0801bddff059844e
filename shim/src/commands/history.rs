//! `loci history`: lists the acts that can be undone, newest first.

use crate::cli::memories::History;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{date_time, print_json};
use crate::commands::row_details::RowDetails;
use crate::output::{
    Ink, MarkedText, MemoryRow, Problem, Rows, Screen, escape_line, print_line, table,
};
use loci_proto::memory::MemoryType;
use loci_proto::requests::groups::{GroupsReply, GroupsRequest};
use loci_proto::requests::history::{
    ChangedText, HistoryReply, HistoryRequest, JournalEntry, MAX_CHANGED_TEXTS, StoredMemory,
};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Columns before a text below the row of its act.
const INDENT: usize = 7;

/// Prints one page of acts.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: History) -> Result<(), Problem> {
    let is_of_memory = args.id.is_some();
    let memory_id = match &args.id {
        Some(id_part) => {
            Some(memory_id::resolve(client, id_part, args.project.group.as_ref()).await?.id)
        }
        None => None,
    };
    let request = HistoryRequest {
        memory_id,
        session: args.session,
        before: args.before,
        limit: Some(args.limit.into()),
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: HistoryReply = raw_reply.parse()?;
    if reply.acts.is_empty() && reply.stored.is_empty() {
        let merges = if is_of_memory {
            ""
        } else {
            " loci history ID also lists what was merged into a memory."
        };
        return print_line(format!("There is nothing to undo.{merges}"));
    }
    let acts = ShownActs::fetch(client, &reply.acts).await?;
    if !reply.stored.is_empty() {
        let details =
            RowDetails::fetch(client, reply.stored.iter().map(|memory| &memory.id)).await?;
        print_line(stored_text(&reply.stored, &details))?;
    }
    if !reply.acts.is_empty() {
        print_line(acts.text(&reply.acts).trim_end())?;
    }
    reply.next.map_or(Ok(()), |next| print_line(format!("\nNext page: --before {next}")))
}

/// Formats the memories that a session stored as rows.
#[must_use]
pub fn stored_text(memories: &[StoredMemory], details: &RowDetails) -> String {
    let row = |memory: &StoredMemory| {
        let known = details.row(&memory.id, &memory.preview);
        let is_known = known.at.is_some();
        let status = (memory.status != "active" && !is_known).then(|| memory.status.clone());
        let marks = known.marks.iter().cloned().chain(status).collect();
        MemoryRow { kind: Some(memory.kind), at: Some(memory.at.clone()), marks, ..known }
    };
    let rows: Vec<MemoryRow> = memories.iter().map(row).collect();
    Rows::new(Screen::of_stdout()).text(&rows)
}

/// What the rows of acts show besides the acts: the names of projects, and the memories that were changed.
#[derive(Debug, Default)]
pub struct ShownActs {
    projects: HashMap<String, String>,
    changed: RowDetails,
}

impl ShownActs {
    /// Fetches what the rows of these acts show.
    ///
    /// # Errors
    /// The daemon cannot be reached, or refuses a call.
    pub async fn fetch(client: &VerbClient, acts: &[JournalEntry]) -> Result<Self, Problem> {
        if acts.is_empty() {
            return Ok(Self::default());
        }
        let groups: GroupsReply = client.call(&GroupsRequest::default()).await?;
        let projects = groups.groups.into_iter().map(|group| (group.id, group.name)).collect();
        let ids =
            acts.iter().flat_map(|act| &act.changed).filter_map(|changed| changed.id.as_ref());
        Ok(Self { projects, changed: RowDetails::fetch(client, ids).await? })
    }

    fn project(&self, act: &JournalEntry) -> String {
        let Some(id) = &act.group else { return "-".to_owned() };
        escape_line(self.projects.get(id).unwrap_or(id))
    }

    /// Formats acts as a table, with what each act changed below its row.
    #[must_use]
    pub fn text(&self, acts: &[JournalEntry]) -> String {
        let row = |act: &JournalEntry| {
            [
                act.id.to_string(),
                date_time(&act.at),
                escape_line(&act.act),
                act.rows.to_string(),
                self.project(act),
                escape_line(act.client.as_deref().unwrap_or("-")),
            ]
        };
        let heading = ["ACT", "WHEN", "WHAT", "ROWS", "PROJECT", "WHO"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(heading).chain(acts.iter().map(row)).collect();
        let (screen, table) = (Screen::of_stdout(), table(&rows));
        let mut lines = table.lines();
        let mut text = lines.next().map_or(String::new(), |heading| format!("{heading}\n"));
        let below = screen.width.saturating_sub(INDENT);
        for (line, act) in lines.zip(acts) {
            let _ = writeln!(text, "{line}");
            let changed = act.changed.iter().map(|changed| self.changed_text(changed));
            let undone = act.undone_at.as_deref().map(|at| {
                let mut text = MarkedText::new(format!("undone {}", date_time(at)));
                text.mark(0.."undone".len(), Ink::Yellow);
                text
            });
            let is_cut = act.changed.len() == MAX_CHANGED_TEXTS && act.rows > MAX_CHANGED_TEXTS;
            let more = is_cut.then(|| MarkedText::new(format!("… of {} rows", act.rows)));
            for marked in changed.chain(more).chain(undone) {
                for line in marked.lines(below, screen) {
                    let _ = writeln!(text, "{:INDENT$}{line}", "");
                }
            }
        }
        text
    }

    /// Returns id and type of a changed memory, and its text: `before -> after` if the text was changed.
    fn changed_text(&self, changed: &ChangedText) -> MarkedText {
        let id = changed.id.as_ref();
        let kind = id.and_then(|id| self.changed.get(id)).map(|memory| memory.kind);
        let id = id.map_or(String::new(), |id| memory_id::short(id.as_str()) + " ");
        let name = kind.map_or(String::new(), |kind| format!("{kind} "));
        let before = changed.before.as_deref().map(|text| format!("{} -> ", escape_line(text)));
        let shown = before.unwrap_or_default() + &escape_line(&changed.preview);
        let mut text = MarkedText::new(format!("{id}{name}{shown}"));
        text.mark(0..id.len(), Ink::Dim);
        text.mark(id.len()..id.len() + name.len(), Ink::Type(kind.unwrap_or(MemoryType::Semantic)));
        text
    }
}
