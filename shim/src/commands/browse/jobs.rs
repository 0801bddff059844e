//! What `loci browse` asks the daemon. Each job runs beside the screen and sends its outcome; the screen never waits.

use crate::client::admin;
use crate::client::call::VerbClient;
use crate::commands::browse::detail::Detail;
use crate::commands::browse::filters::{Filters, ProjectFilter};
use crate::commands::browse::state::{Change, Page, Row};
use crate::commands::input::argument;
use crate::commands::row_details::RowDetails;
use crate::output::{Problem, escape_line};
use loci_proto::bounded_numbers::{MaxResults, TokenBudget};
use loci_proto::error::Exit;
use loci_proto::group::GroupName;
use loci_proto::memory::MemoryId;
use loci_proto::requests::confirm::ConfirmRequest;
use loci_proto::requests::edit::EditRequest;
use loci_proto::requests::forget::ForgetRequest;
use loci_proto::requests::groups::{GroupEntry, GroupsReply, GroupsRequest};
use loci_proto::requests::inspect::{InspectReply, InspectRequest};
use loci_proto::requests::list::{ListOrder, ListReply, ListRequest};
use loci_proto::requests::pin::PinRequest;
use loci_proto::requests::recall::{RecallReply, RecallRequest};
use loci_proto::requests::restore::RestoreRequest;
use loci_proto::requests::undo::{UndoReply, UndoRequest};
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedSender;

/// Rows per page.
const PAGE: usize = 100;
/// Characters of a text that a row may show.
const TEXT_CHARS: usize = 400;
/// Results of a search by meaning.
const BEST: i64 = 20;

/// What a job found.
#[derive(Debug)]
pub enum Outcome {
    /// The first page of what is listed now.
    Rows(Page),
    /// The next page.
    More(Page),
    /// How many memories the list of this version has.
    Total {
        /// The version of the list that was counted.
        list_version: u64,
        /// How many it has.
        total: usize,
    },
    /// A memory in full.
    Inspected(Box<Detail>),
    /// A change was made, in a sentence.
    Changed(String),
    /// The projects.
    Projects(Vec<GroupEntry>),
    /// The act that an undo would undo; none if there is none.
    Undoable(Option<(i64, String)>),
    /// The daemon answers.
    Alive,
    /// A job failed.
    Failed(Failed),
}

/// Why a job failed.
#[derive(Debug)]
pub struct Failed {
    /// The reason in one line.
    pub reason: String,
    /// Whether the daemon could not be reached.
    pub is_lost: bool,
    /// The job.
    pub job: Kind,
}

/// The kind of a job; of some only one runs at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Loads the first page.
    Load,
    /// Loads the next page.
    More,
    /// Counts.
    Count,
    /// Shows a memory.
    Show,
    /// Anything else.
    Other,
}

/// Starts jobs.
#[derive(Debug, Clone)]
pub struct Jobs {
    client: Arc<VerbClient>,
    outcomes: UnboundedSender<(Kind, Outcome)>,
}

impl Jobs {
    /// Creates the starter of jobs.
    #[must_use]
    pub fn new(client: VerbClient, outcomes: UnboundedSender<(Kind, Outcome)>) -> Self {
        Self { client: Arc::new(client), outcomes }
    }

    fn start<F>(&self, kind: Kind, job: impl FnOnce(Arc<VerbClient>) -> F)
    where
        F: Future<Output = Result<Outcome, Problem>> + Send + 'static,
    {
        let (job, outcomes) = (job(Arc::clone(&self.client)), self.outcomes.clone());
        tokio::spawn(async move {
            let outcome = job.await.unwrap_or_else(|problem| {
                let is_lost = problem.exit_code() == Exit::Unreachable;
                let hint = problem.next_step().filter(|_| !is_lost);
                let hint = hint.map_or(String::new(), |hint| format!(". {hint}"));
                let reason = escape_line(&format!("{}{hint}", problem.message()));
                Outcome::Failed(Failed { reason, is_lost, job: kind })
            });
            // The screen may have ended.
            let _ = outcomes.send((kind, outcome));
        });
    }

    /// Loads the first page.
    pub fn load(&self, filters: Filters) {
        self.start(Kind::Load, |client| async move {
            let page = if filters.query.trim().is_empty() {
                list(&client, &filters, None).await?
            } else {
                search(&client, &filters).await?
            };
            Ok(Outcome::Rows(page))
        });
    }

    /// Loads the next page.
    pub fn load_more(&self, filters: Filters, before: i64) {
        self.start(Kind::More, move |client| async move {
            Ok(Outcome::More(list(&client, &filters, Some(before)).await?))
        });
    }

    /// Counts what is listed.
    pub fn count(&self, filters: Filters, list_version: u64) {
        self.start(Kind::Count, move |client| async move {
            let request = ListRequest { limit: Some(1), ..list_request(&filters)? };
            let reply: ListReply = client.call(&request).await?;
            Ok(Outcome::Total { list_version, total: reply.total })
        });
    }

    /// Shows a memory; its project is named, so that memories of other projects can be shown.
    pub fn show(&self, id: MemoryId) {
        self.start(Kind::Show, |client| async move {
            let request = InspectRequest {
                group: project_of(&client, &id).await?,
                memory_id: id,
                include_relations: None,
                include_log: true,
                log_before: None,
                relations_before: None,
                as_of: None,
            };
            let reply: InspectReply = client.call(&request).await?;
            Ok(Outcome::Inspected(Box::new(Detail::new(reply))))
        });
    }

    /// Lists the projects.
    pub fn projects(&self) {
        self.start(Kind::Other, |client| async move {
            let reply: GroupsReply = client.call(&GroupsRequest::default()).await?;
            Ok(Outcome::Projects(reply.groups))
        });
    }

    /// Finds what an undo would undo.
    pub fn undoable(&self) {
        self.start(Kind::Other, |client| async move {
            let request = UndoRequest { last: true, preview: true, ..UndoRequest::default() };
            let reply: UndoReply = match client.call(&request).await {
                Ok(reply) => reply,
                Err(problem) if problem.exit_code() == Exit::Unreachable => return Err(problem),
                Err(_) => return Ok(Outcome::Undoable(None)),
            };
            let act = reply.undone.first().map(|act| {
                let changed = act.changed.first().map(|text| format!(": {}", text.preview));
                (act.id, format!("{}{}", act.act, changed.unwrap_or_default()))
            });
            Ok(Outcome::Undoable(act))
        });
    }

    /// Makes a change.
    pub fn change(&self, change: Change) {
        self.start(Kind::Other, |client| async move { apply(&client, change).await });
    }

    /// Looks whether the daemon answers; starts one if `start`.
    pub fn ping(&self, start: bool) {
        self.start(Kind::Other, move |client| async move {
            if start {
                client.wait_until_ready().await?;
            } else {
                admin::get(&client.paths, "/status").await?;
            }
            Ok(Outcome::Alive)
        });
    }
}

/// Returns the project of a memory, by which a call can name it.
async fn project_of(client: &VerbClient, id: &MemoryId) -> Result<Option<GroupName>, Problem> {
    use loci_proto::requests::find::{FindReply, FindRequest};
    let reply: FindReply = client.call(&FindRequest { part: id.to_string() }).await?;
    let found = reply.memories.first().filter(|found| !found.visible);
    Ok(found.and_then(|found| found.group_id.as_deref()).and_then(|group| group.parse().ok()))
}

fn list_request(filters: &Filters) -> Result<ListRequest, Problem> {
    let group = match &filters.project {
        ProjectFilter::Named { id, .. } => Some(id.parse::<GroupName>().map_err(Problem::new)?),
        _ => None,
    };
    Ok(ListRequest {
        kind: filters.kind,
        status: Some(filters.status.to_owned()),
        from_group: group.is_some(),
        group,
        all_groups: filters.project == ProjectFilter::All,
        text: Some(filters.query.trim().to_owned()).filter(|text| !text.is_empty()),
        client: filters.client.clone(),
        text_chars: Some(TEXT_CHARS),
        uncounted: false,
        sort: if filters.query.trim().is_empty() { filters.order } else { ListOrder::Newest },
        limit: Some(PAGE),
        ..ListRequest::default()
    })
}

async fn list(
    client: &VerbClient,
    filters: &Filters,
    before: Option<i64>,
) -> Result<Page, Problem> {
    let request = ListRequest { before, uncounted: true, ..list_request(filters)? };
    let reply: ListReply = client.call(&request).await?;
    let row = |memory| Row { memory, share: None };
    Ok(Page { rows: reply.memories.into_iter().map(row).collect(), next: reply.next, note: None })
}

/// Searches by meaning first; memories that contain the words follow.
async fn search(client: &VerbClient, filters: &Filters) -> Result<Page, Problem> {
    let mut page = if filters.status == "active" {
        best(client, filters).await?
    } else {
        // Only active memories are found by meaning.
        Page::default()
    };
    let containing = list(client, filters, None).await?;
    let known: HashSet<MemoryId> = page.rows.iter().map(|row| row.memory.id.clone()).collect();
    let is_new = |row: &Row| !known.contains(&row.memory.id);
    page.rows.extend(containing.rows.into_iter().filter(is_new));
    page.next = containing.next;
    Ok(page)
}

async fn best(client: &VerbClient, filters: &Filters) -> Result<Page, Problem> {
    let group = match &filters.project {
        ProjectFilter::Named { id, .. } => Some(id),
        _ => None,
    };
    let request = RecallRequest {
        query: Some(filters.query.trim().to_owned()),
        kind: filters.kind,
        group: group.map(|name| argument("group", name.parse())).transpose()?,
        max_results: Some(argument("max_results", MaxResults::new(BEST))?),
        token_budget: Some(argument("token_budget", TokenBudget::new(1_000_000))?),
        nearest: true,
        summary_only: true,
        dry_run: true,
        ..RecallRequest::default()
    };
    let reply: RecallReply = client.call(&request).await?;
    let details = RowDetails::fetch(client, reply.results.iter().map(|result| &result.id)).await?;
    let admits = |row: &Row| {
        let memory = &row.memory;
        let of_project = match &filters.project {
            ProjectFilter::Named { name, .. } => memory.group.as_ref() == Some(name),
            _ => true,
        };
        let stored_by = memory.provenance.client.as_deref().unwrap_or_default().to_lowercase();
        let origin = memory.provenance.origin.map_or("", loci_proto::memory::Origin::as_str);
        let is_by = |client: &String| {
            let client = client.to_lowercase();
            stored_by.starts_with(&client) && origin == "agent" || origin == client
        };
        of_project && filters.client.as_ref().is_none_or(is_by)
    };
    let rows = reply.results.iter().filter_map(|result| {
        let memory = details.get(&result.id)?.clone();
        Some(Row { memory, share: result.score })
    });
    let weak = reply.weak.then(|| "Nothing fits well; these are the nearest".to_owned());
    let note = weak.or(reply.note).or(reply.degraded.hint);
    Ok(Page { rows: rows.filter(admits).collect(), next: None, note })
}

async fn apply(client: &VerbClient, change: Change) -> Result<Outcome, Problem> {
    let (act, done) = match change {
        Change::Undo(ids) => {
            let request = UndoRequest { ids, ..UndoRequest::default() };
            client.call(&request).await?;
            return Ok(Outcome::Changed("Undone; `loci redo` takes it back".to_owned()));
        }
        Change::Pin(memory_id, pinned) => {
            let group = project_of(client, &memory_id).await?;
            let done = if pinned { "Pinned" } else { "Unpinned" };
            (client.call(&PinRequest { memory_id, pinned, group }).await?.act, done)
        }
        Change::Forget(id) => (forget(client, id).await?, "Forgotten"),
        Change::Reject(id) => (forget(client, id).await?, "Rejected"),
        Change::Accept(id) => {
            let group = project_of(client, &id).await?;
            let request =
                ConfirmRequest { memory_id: Some(id), group, ..ConfirmRequest::default() };
            (client.call(&request).await?.act, "Accepted")
        }
        Change::Restore(memory_id) => {
            let group = project_of(client, &memory_id).await?;
            (client.call(&RestoreRequest { memory_id, group }).await?.act, "Restored")
        }
        Change::SetText(id, content) => {
            let group = project_of(client, &id).await?;
            let request = EditRequest { content: Some(content), group, ..EditRequest::new(id) };
            (client.call(&request).await?.act, "Changed")
        }
    };
    let undo = act.map_or(String::new(), |act| format!("; u undoes it (act {act})"));
    Ok(Outcome::Changed(format!("{done}{undo}")))
}

async fn forget(client: &VerbClient, id: MemoryId) -> Result<Option<i64>, Problem> {
    let group = project_of(client, &id).await?;
    Ok(client.call(&ForgetRequest { group, ..ForgetRequest::new(id) }).await?.act)
}
