//! `loci demo`: the main job for real, in a throw-away home: one agent's session stores, another one finds by meaning.
//!
//! Nothing here takes a short cut: the sessions are two processes of `loci mcp`, the daemon and the model are the real ones. Only the
//! model cache is the person's own, so that what was fetched is kept.

mod session;
mod stage;

use crate::client::admin::NotDone;
use crate::client::{Pauses, Unreachable};
use crate::commands::ctl::{status, stop};
use crate::output::{Problem, Style, plain, say};
use loci_proto::admin::Status;
use loci_proto::error::Exit;
use serde_json::{Value, json};
use session::Session;
use stage::Stage;
use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::timeout;

/// How long the model may take to load.
const LOADING: Duration = Duration::from_mins(1);

/// What the first session stores; the first of them is what the second session asks for.
const MEMORIES: [(&str, &str); 5] = [
    (
        "semantic",
        "The nightly database backup runs at two in the morning and keeps a fortnight of copies.",
    ),
    ("semantic", "The user likes tabs in Makefiles but four spaces in Python."),
    (
        "episodic",
        "On 3 November 2026 the team chose Rust for the importer, because the old one ran out of memory.",
    ),
    (
        "procedural",
        "To release: run the tests, tag the commit, push the tag, then watch the build server.",
    ),
    ("entity", "Anna Berg maintains the payment service and reviews every change to it."),
];
/// What the second session asks.
const QUESTION: &str = "When are snapshots taken? How long do they stay?";

/// Plays the demonstration; whatever happens, daemon and memories are gone in the end.
///
/// # Errors
/// The first step that failed, or a wrong memory in the first place.
pub async fn run() -> Result<ExitCode, Problem> {
    let stage = Stage::set()?;
    say(format!(
        "Everything but the model lies in {}, which is removed in the end.",
        stage.folder().display()
    ))?;
    let played = tokio::select! {
        played = play(&stage) => played,
        _ = tokio::signal::ctrl_c() => Err(Problem::new("The demonstration was interrupted")),
    };
    let stopped = stop::stop(stage.paths()).await;
    let (folder, models) =
        (stage.folder().display().to_string(), stage.paths().models.display().to_string());
    let removed = stage
        .strike()
        .map_err(|error| Problem::new(format!("{folder} cannot be removed")).because(&error));
    played?;
    stopped?;
    removed?;
    say(format!(
        "\nThe daemon has stopped, and its memories are removed. The model stays in {models}."
    ))?;
    Ok(Exit::Ok.into())
}

async fn play(stage: &Stage) -> Result<(), Problem> {
    let shared = shared_words(MEMORIES[0].1, QUESTION);
    if !shared.is_empty() {
        return Err(Problem::new(format!(
            "The question would give the answer away: {}",
            shared.join(", ")
        )));
    }
    step("The model")?;
    stage.fetch_model().await?;
    step("An agent's session stores five memories")?;
    let mut first = Session::begin(stage).await?;
    until_the_model_is_ready(stage).await?;
    for (kind, content) in MEMORIES {
        store(&mut first, kind, content).await?;
    }
    first.end().await?;
    step("That session ends; a new one asks, without one word in common")?;
    say(format!("   {QUESTION}"))?;
    let mut second = Session::begin(stage).await?;
    let found = second.call("recall_memory", json!({"query": QUESTION, "max_results": 3})).await?;
    step("and finds")?;
    show(&found)?;
    second.end().await?;
    tell_who_did_it(stage).await
}

/// Words that both texts hold, stop words included.
fn shared_words(one: &str, other: &str) -> Vec<String> {
    let words = |text: &str| -> HashSet<String> {
        text.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect()
    };
    words(one).intersection(&words(other)).cloned().collect()
}

async fn until_the_model_is_ready(stage: &Stage) -> Result<(), Problem> {
    let ready = async {
        let mut pauses = Pauses::default();
        loop {
            match status::ask(stage.paths()).await {
                Ok(status) if status.model.state == "ready" => return Ok(()),
                Ok(status) if status.model.state != "loading" => return Err(no_model(&status)),
                Ok(_) | Err(NotDone::Unreachable(Unreachable::Absent)) => {}
                Err(reason) => return Err(reason.into()),
            }
            pauses.pause().await;
        }
    };
    let too_long =
        |_| Problem::new(format!("The model was not ready within {} seconds", LOADING.as_secs()));
    timeout(LOADING, ready).await.map_err(too_long)?
}

fn no_model(status: &Status) -> Problem {
    let problem = Problem::new(format!("The model is {}", status.model.state));
    status.warnings.iter().fold(problem, Problem::because)
}

async fn store(session: &mut Session, kind: &str, content: &str) -> Result<(), Problem> {
    let stored = session.call("store_memory", json!({"content": content, "type": kind})).await?;
    if stored["id"].as_str().is_none() {
        return Err(Problem::new("A memory was not stored").because(&stored));
    }
    say(format!("   {kind:<12}{content}"))
}

fn show(found: &Value) -> Result<(), Problem> {
    let results = found["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    for result in results {
        let (score, content) = (
            result["score"].as_f64().unwrap_or_default(),
            result["content"].as_str().unwrap_or_default(),
        );
        say(format!("   {score:.3}  {}", plain(content)))?;
    }
    let first = results.first().and_then(|result| result["content"].as_str());
    if first == Some(MEMORIES[0].1) {
        return Ok(());
    }
    Err(Problem::new("The memory that answers the question was not found first")
        .because(&plain(&found.to_string())))
}

async fn tell_who_did_it(stage: &Stage) -> Result<(), Problem> {
    let Status { version, pid, model, .. } = status::ask(stage.paths()).await?;
    say(format!("\nmodel   {}, SHA-256 {}", model.id, model.sha256))?;
    say(format!("daemon  locid {version}, pid {pid}"))
}

fn step(title: &str) -> Result<(), Problem> {
    say(format!("\n{}", Style::of(&std::io::stdout()).paint(title)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_shares_no_word_with_the_memory_that_answers_it() {
        assert_eq!(shared_words(MEMORIES[0].1, QUESTION), Vec::<String>::new());
        assert_eq!(shared_words("The copies, kept", "the Copies").len(), 2);
    }
}
