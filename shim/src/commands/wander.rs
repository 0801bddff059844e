//! `loci wander`: walks from memory to memory along what links them.

use crate::cli::discovery::Wander;
use crate::client::call::VerbClient;
use crate::commands::input::argument;
use crate::commands::reply_text::print_json;
use crate::commands::row_details::RowDetails;
use crate::output::{MemoryRow, Problem, Rows, Screen, escape_line, print_line};
use loci_proto::bounded_numbers::MaxResults;
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::association::{Association, AssociationLink};
use loci_proto::requests::find::{FindReply, FindRequest};
use loci_proto::requests::recall::{RecallReply, RecallRequest};
use loci_proto::requests::wander::{WanderReply, WanderRequest};

/// Characters from which a word may be a part of an id.
const MIN_ID_CHARS: usize = 4;

/// Walks and prints each memory with what links it to the one before.
///
/// # Errors
/// The daemon cannot be reached, or refuses a call; nothing matches the query.
pub async fn run(client: &VerbClient, args: Wander) -> Result<(), Problem> {
    let group = args.project.group;
    let start = match args.start.as_slice() {
        [] => None,
        words => match by_id(client, words).await? {
            Some(id) => Some(id),
            None => Some(by_query(client, &words.join(" "), group.as_ref()).await?),
        },
    };
    let request = WanderRequest { start, date: args.date, steps: Some(args.steps.into()), group };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: WanderReply = raw_reply.parse()?;
    let Some(start) = &reply.start else { return print_line("There is no memory yet.") };
    let ids = std::iter::once(&start.id).chain(reply.steps.iter().map(|step| &step.id));
    let details = RowDetails::fetch(client, ids).await?;
    let mut rows = vec![details.row(&start.id, &start.preview)];
    rows.extend(association_rows(&details, &reply.steps));
    print_line(Rows::new(Screen::of_stdout()).text(&rows).trim_end())?;
    print_line(match reply.steps.len() {
        0 => "\nNothing is linked to it".to_owned(),
        1 => "\n1 step".to_owned(),
        steps => format!("\n{steps} steps"),
    })
}

/// Returns the memory whose id a single word is, or begins or ends with; `None` if it is none.
async fn by_id(client: &VerbClient, words: &[String]) -> Result<Option<MemoryId>, Problem> {
    let [word] = words else { return Ok(None) };
    if let Ok(id) = word.trim().parse() {
        return Ok(Some(id));
    }
    let is_part = word.len() >= MIN_ID_CHARS
        && word.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    if !is_part {
        return Ok(None);
    }
    let reply: FindReply = client.call(&FindRequest { part: word.clone() }).await?;
    let mut found = reply.memories.into_iter();
    Ok(match (found.next(), found.next()) {
        (Some(only), None) => Some(only.memory.id),
        _ => None,
    })
}

/// Returns the best result of a query.
async fn by_query(
    client: &VerbClient,
    query: &str,
    group: Option<&GroupName>,
) -> Result<MemoryId, Problem> {
    let request = RecallRequest {
        query: Some(query.to_owned()),
        group: group.cloned(),
        max_results: Some(argument("max_results", MaxResults::new(1))?),
        summary_only: true,
        dry_run: true,
        ..RecallRequest::default()
    };
    let reply: RecallReply = client.call(&request).await?;
    let best = reply.results.into_iter().next().map(|result| result.id);
    best.ok_or_else(|| {
        Problem::new("No memory matches").hint("Try other words, or `loci wander` alone")
    })
}

/// Returns the rows of associations, each with what links it.
pub(super) fn association_rows(
    details: &RowDetails,
    associations: &[Association],
) -> Vec<MemoryRow> {
    let row = |association: &Association| {
        let mut row = details.row(&association.id, &association.preview);
        row.share = Some(association.score);
        row.below.push(why(association));
        row
    };
    associations.iter().map(row).collect()
}

/// Says what links a memory to the one before.
fn why(association: &Association) -> String {
    match association.why {
        AssociationLink::Graph => {
            let names: Vec<String> = association.via.iter().map(|name| escape_line(name)).collect();
            format!("through {}", names.join(" → "))
        }
        AssociationLink::Time => format!(
            "of the same day, {}",
            association.day.as_deref().map(escape_line).unwrap_or_default()
        ),
        AssociationLink::Adjacent => "stored next to it".to_owned(),
    }
}
