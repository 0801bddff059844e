//! `loci demo`: stores memories in one agent session and finds them by meaning in another, in a temporary home.
//!
//! Everything is real: two `loci mcp` processes, the daemon and the model. Only the model cache is the user's own, so a downloaded model
//! stays.

mod sandbox;
mod session;

use crate::client::admin::RequestError;
use crate::client::backoff::Backoff;
use crate::client::unreachable::Unreachable;
use crate::commands::ctl::{status, stop};
use crate::output::{Problem, Style, escape_line, print_line};
use loci_proto::admin::Status;
use loci_proto::error::Exit;
use sandbox::Sandbox;
use serde_json::{Value, json};
use session::Session;
use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::timeout;

/// Time limit for loading the model.
const MODEL_TIMEOUT: Duration = Duration::from_mins(1);

/// A memory that the first session stores.
struct DemoMemory {
    kind: &'static str,
    content: &'static str,
}

/// The memories that the first session stores. The first one answers [`QUESTION`].
const MEMORIES: [DemoMemory; 5] = [
    DemoMemory {
        kind: "semantic",
        content: "The nightly database backup runs at two in the morning and keeps a fortnight of copies.",
    },
    DemoMemory {
        kind: "semantic",
        content: "The user likes tabs in Makefiles but four spaces in Python.",
    },
    DemoMemory {
        kind: "episodic",
        content: "On 3 November 2026 the team chose Rust for the importer, because the old one ran out of memory.",
    },
    DemoMemory {
        kind: "procedural",
        content: "To release: run the tests, tag the commit, push the tag, then watch the build server.",
    },
    DemoMemory {
        kind: "entity",
        content: "Anna Berg maintains the payment service and reviews every change to it.",
    },
];
/// The query of the second session; shares no word with the memory that answers it.
const QUESTION: &str = "When are snapshots taken? How long do they stay?";

/// Runs the demo, then stops its daemon and removes its memories, also after an error.
///
/// # Errors
/// The first step that failed, or a wrong best result.
pub async fn run() -> Result<ExitCode, Problem> {
    let sandbox = Sandbox::create()?;
    print_line(format!(
        "Everything except the model is stored in {}, which is removed at the end.",
        sandbox.folder().display()
    ))?;
    let result = tokio::select! {
        result = run_steps(&sandbox) => result,
        _ = tokio::signal::ctrl_c() => Err(Problem::new("The demo was interrupted")),
    };
    let stopped = stop::stop(sandbox.paths()).await;
    let (folder, models) =
        (sandbox.folder().display().to_string(), sandbox.paths().models.display().to_string());
    let removed = sandbox
        .remove()
        .map_err(|error| Problem::new(format!("Cannot remove {folder}")).because(&error));
    result?;
    stopped?;
    removed?;
    print_line(format!(
        "\nThe daemon has stopped and its memories are removed. The model stays in {models}."
    ))?;
    Ok(Exit::Ok.into())
}

async fn run_steps(sandbox: &Sandbox) -> Result<(), Problem> {
    let shared = shared_words(MEMORIES[0].content, QUESTION);
    if !shared.is_empty() {
        return Err(Problem::new(format!(
            "The question shares words with its answer: {}",
            shared.join(", ")
        )));
    }
    print_step("The model")?;
    sandbox.download_model().await?;
    print_step("An agent session stores five memories")?;
    let mut first = Session::begin(sandbox).await?;
    wait_for_model(sandbox).await?;
    for memory in &MEMORIES {
        store(&mut first, memory).await?;
    }
    first.end().await?;
    print_step("A new session asks, without a word in common with the answer")?;
    print_line(format!("   {QUESTION}"))?;
    let mut second = Session::begin(sandbox).await?;
    let reply = second.call("recall_memory", json!({"query": QUESTION, "max_results": 3})).await?;
    print_step("Results")?;
    print_results(&reply)?;
    second.end().await?;
    print_versions(sandbox).await
}

/// Returns the words that both texts contain, including stop words.
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

async fn wait_for_model(sandbox: &Sandbox) -> Result<(), Problem> {
    let until_ready = async {
        let mut backoff = Backoff::default();
        loop {
            match status::fetch(sandbox.paths()).await {
                Ok(status) if status.model.state == "ready" => return Ok(()),
                Ok(status) if status.model.state != "loading" => return Err(model_error(&status)),
                Ok(_) | Err(RequestError::Unreachable(Unreachable::Absent)) => {}
                Err(reason) => return Err(reason.into()),
            }
            backoff.wait().await;
        }
    };
    let timed_out = |_| {
        Problem::new(format!("The model was not ready within {} seconds", MODEL_TIMEOUT.as_secs()))
    };
    timeout(MODEL_TIMEOUT, until_ready).await.map_err(timed_out)?
}

fn model_error(status: &Status) -> Problem {
    let problem = Problem::new(format!("The model is {}", status.model.state));
    status.warnings.iter().fold(problem, Problem::because)
}

async fn store(session: &mut Session, memory: &DemoMemory) -> Result<(), Problem> {
    let DemoMemory { kind, content } = memory;
    let reply = session.call("store_memory", json!({"content": content, "type": kind})).await?;
    if reply["id"].as_str().is_none() {
        return Err(Problem::new("The memory was not stored").because(&reply));
    }
    print_line(format!("   {kind:<12}{content}"))
}

fn print_results(reply: &Value) -> Result<(), Problem> {
    let results = reply["results"].as_array().map(Vec::as_slice).unwrap_or_default();
    for result in results {
        let (score, content) = (
            result["score"].as_f64().unwrap_or_default(),
            result["content"].as_str().unwrap_or_default(),
        );
        print_line(format!("   {score:.3}  {}", escape_line(content)))?;
    }
    let first = results.first().and_then(|result| result["content"].as_str());
    if first == Some(MEMORIES[0].content) {
        return Ok(());
    }
    Err(Problem::new("The best result does not answer the question")
        .because(&escape_line(&reply.to_string())))
}

async fn print_versions(sandbox: &Sandbox) -> Result<(), Problem> {
    let Status { version, pid, model, .. } = status::fetch(sandbox.paths()).await?;
    print_line(format!("\nmodel   {}, SHA-256 {}", model.id, model.sha256))?;
    print_line(format!("daemon  locid {version}, pid {pid}"))
}

fn print_step(title: &str) -> Result<(), Problem> {
    print_line(format!("\n{}", Style::of(&std::io::stdout()).bold(title)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_shares_no_word_with_the_memory_that_answers_it() {
        assert_eq!(shared_words(MEMORIES[0].content, QUESTION), Vec::<String>::new());
        assert_eq!(shared_words("The copies, kept", "the Copies").len(), 2);
    }
}
