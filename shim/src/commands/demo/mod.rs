//! `loci demo`: stores memories in one agent session and finds them by meaning in another, in a temporary home.
//!
//! Everything is real: two `loci mcp` processes, the daemon and the model. Only the model cache is the user's own, so a downloaded model
//! stays.

mod session;

use crate::commands::ctl::status;
use crate::commands::sandbox::Sandbox;
use crate::output::{Problem, Style, escape_line, print_line};
use loci_proto::admin::Status;
use loci_proto::error::Exit;
use serde_json::{Value, json};
use session::Session;
use std::collections::HashSet;
use std::process::ExitCode;

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
    let models = Sandbox::run("loci-demo-", run_steps).await?;
    print_line(format!(
        "\nThe daemon has stopped and its memories are removed. The model stays in {models}."
    ))?;
    Ok(Exit::Ok.into())
}

/// Returns the folder of the model.
async fn run_steps(sandbox: &Sandbox) -> Result<String, Problem> {
    print_line(format!(
        "Everything except the model is stored in {}, which is removed at the end.",
        sandbox.folder().display()
    ))?;
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
    sandbox.wait_for_model().await?;
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
    print_versions(sandbox).await?;
    Ok(sandbox.paths.models.display().to_string())
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
    let Status { version, pid, model, .. } = status::fetch(&sandbox.paths).await?;
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
