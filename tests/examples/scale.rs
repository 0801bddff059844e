//! Measures search by store size: `Reader::recall` compared with `vec0` and FTS5 of SQLite.
//!
//!     cargo run --release -p loci-tests --example scale -- 1000 10000 100000
//!     cargo run --release -p loci-tests --example scale -- load 1000 10000 100000
//!     cargo run --release -p loci-tests --example scale -- associations 10000
//!     cargo run --release -p loci-tests --example scale -- published 1000 10000
//!
//! Notes are generated: clustered vectors, words by Zipf's law, consecutive notes of one topic.
//! Both searches run in alternating rounds in one thread, and its CPU time is measured. Results are
//! also compared with those at `Effort::ExactVectors` and at `Effort::Exhaustive`. `load` measures
//! the index warm-up of such a store instead (`loading`), `associations` what they add to a recall, `published` what another program
//! publishes of itself. Not here: the model, the daemon, the
//! relay (`bench/` measures those).

#[path = "scale/associations.rs"]
mod associations;
#[path = "scale/loading.rs"]
mod loading;
#[path = "scale/made_up.rs"]
mod made_up;
#[path = "scale/published.rs"]
mod published;
#[path = "scale/tables.rs"]
mod tables;

use loci_engine::model::time::Timestamp;
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::{Effort, Reader, Settings, Writer, open};
use loci_proto::degraded::Degraded;
use loci_proto::group::{Group, GroupName};
use loci_proto::memory::MemoryId;
use loci_proto::requests::recall::RecallRequest;
use made_up::{Asking, Notes};
use nix::time::{ClockId, clock_gettime};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

type Anything = Box<dyn std::error::Error>;

/// 2026-02-01T00:00:00Z.
const NOW: Timestamp = Timestamp(1_769_904_000_000);
const ROUNDS: usize = 9;
const QUESTIONS: usize = 60;
const RESULTS: usize = 20;

/// A project and the share of the notes that it contains.
#[derive(Clone, Copy)]
struct Project {
    name: &'static str,
    percent: usize,
}

const PROJECTS: [Project; 3] = [
    Project { name: "all", percent: 100 },
    Project { name: "tenth", percent: 10 },
    Project { name: "hundredth", percent: 1 },
];

fn main() -> Result<(), Anything> {
    let mut arguments = std::env::args().skip(1).peekable();
    let measures_load = arguments.next_if_eq("load").is_some();
    let measures_associations = arguments.next_if_eq("associations").is_some();
    let measures_published = arguments.next_if_eq("published").is_some();
    let sizes: Vec<usize> = arguments.map(|size| size.parse()).collect::<Result<_, _>>()?;
    if measures_load {
        return loading::run(&sizes);
    }
    if measures_associations {
        return associations::run(&sizes);
    }
    if measures_published {
        return published::run(&sizes);
    }
    println!(
        "| notes | eligible % | ours p50 ms | ours p99 ms | vec0 + FTS5 p50 ms | times faster | recall@10, exact cosines | recall@10, all words too | index MiB |"
    );
    println!("|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for size in sizes {
        measure(size)?;
    }
    Ok(())
}

/// Creates a store of generated notes in a folder; they belong to no project yet.
fn filled(folder: &Path, size: usize) -> Result<(PathBuf, Notes), Anything> {
    let path = folder.join("memory.db");
    let notes = Notes::new(size);
    open(&path, settings(Effort::Approximate), NOW)?.close()?;
    tables::fill(&path, &notes)?;
    Ok((path, notes))
}

fn measure(size: usize) -> Result<(), Anything> {
    let folder = tempfile::tempdir()?;
    let (path, notes) = filled(folder.path(), size)?;
    for project in PROJECTS {
        tables::assign_notes(&path, &group(project.name), project.percent)?;
        let before = resident_kib()?;
        let writer = open(&path, settings(Effort::Approximate), NOW)?;
        let index_kib = resident_kib()?.saturating_sub(before);
        let row = compare(&writer, &path, &notes, project)?;
        println!("| {size} | {} | {row} | {} |", project.percent, index_kib / 1024);
    }
    Ok(())
}

/// Runs all questions in alternating rounds; returns a row of the table.
fn compare(
    writer: &Writer,
    path: &Path,
    notes: &Notes,
    project: Project,
) -> Result<String, Anything> {
    let reader = writer.reader()?;
    let tables = tables::open(path)?;
    let questions = notes.questions(QUESTIONS, project.percent);
    // SQLite gets fewer questions in a large store, since it takes much longer.
    let sqlite_questions = QUESTIONS.min((2_000_000 / notes.len()).max(3));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let our_round = questions
            .iter()
            .map(|asking| cpu_ms(|| recall(&reader, project.name, asking)))
            .collect::<Result<Vec<_>, _>>()?;
        let their_round = questions
            .iter()
            .step_by(QUESTIONS / sqlite_questions)
            .map(|asking| cpu_ms(|| tables::search(&tables, asking)))
            .collect::<Result<Vec<_>, _>>()?;
        // The first round only warms the caches.
        if round > 0 {
            ours.push(our_round);
            theirs.push(their_round);
        }
    }
    let ten_best = |effort| ten_best(writer, &reader, project.name, effort, &questions);
    let usual = ten_best(Effort::Approximate)?;
    let exact = agreement(&usual, &ten_best(Effort::ExactVectors)?);
    let exhaustive = agreement(&usual, &ten_best(Effort::Exhaustive)?);
    let p50 = median_percentile(&mut ours, 50);
    let p99 = median_percentile(&mut ours, 99);
    let sqlite = median_percentile(&mut theirs, 50);
    let ratio = sqlite / p50;
    Ok(format!("{p50:.3} | {p99:.3} | {sqlite:.2} | {ratio:.0} | {exact:.3} | {exhaustive:.3}"))
}

/// Returns the ten best results of each question at an effort.
fn ten_best(
    writer: &Writer,
    reader: &Reader,
    project: &str,
    effort: Effort,
    questions: &[Asking],
) -> Result<Vec<Vec<MemoryId>>, Anything> {
    let ten = |asking| -> Result<Vec<MemoryId>, Anything> {
        Ok(recall(reader, project, asking)?.into_iter().take(10).collect())
    };
    writer.set_settings(settings(effort));
    let results = questions.iter().map(ten).collect();
    writer.set_settings(settings(Effort::Approximate));
    results
}

/// Returns the share of the expected results that were found.
fn agreement(found: &[Vec<MemoryId>], expected: &[Vec<MemoryId>]) -> f64 {
    let count: usize = expected.iter().map(Vec::len).sum();
    let common: usize = expected
        .iter()
        .zip(found)
        .map(|(expected, found)| expected.iter().filter(|id| found.contains(id)).count())
        .sum();
    common as f64 / count.max(1) as f64
}

fn recall(reader: &Reader, project: &str, asking: &Asking) -> Result<Vec<MemoryId>, Anything> {
    Ok(recalled(reader, project, asking, false)?.results)
}

/// The ids of a reply.
#[derive(Default)]
struct Recalled {
    results: Vec<MemoryId>,
    associations: Vec<MemoryId>,
}

fn recalled(
    reader: &Reader,
    project: &str,
    asking: &Asking,
    associations: bool,
) -> Result<Recalled, Anything> {
    recalled_of(reader, project, asking, RESULTS, associations)
}

fn recalled_of(
    reader: &Reader,
    project: &str,
    asking: &Asking,
    results: usize,
    associations: bool,
) -> Result<Recalled, Anything> {
    let request: RecallRequest = serde_json::from_value(serde_json::json!({
        "query": asking.text, "max_results": results, "token_budget": 1_000_000,
        "associations": associations,
    }))?;
    let degraded = Degraded::default();
    let own = group(project);
    let context = RecallContext {
        viewer: (&own).into(),
        client: None,
        encoding: Some(&asking.encoding),
        now: NOW,
        rerank: None,
        degraded: &degraded,
        fusion: None,
        is_agent: false,
        names_project: false,
        files: None,
    };
    let reply = reader.recall(&prepare(request, context.now)?, context)?.reply;
    Ok(Recalled {
        results: reply.results.into_iter().map(|result| result.id).collect(),
        associations: reply.associations.into_iter().map(|linked| linked.id).collect(),
    })
}

fn settings(effort: Effort) -> Settings {
    Settings { effort, ..Settings::for_model(made_up::MODEL) }
}

fn group(name: &str) -> Group {
    Group::named(&name.parse::<GroupName>().expect("the name is valid"))
}

/// Returns the CPU time of this thread for some work, in milliseconds.
fn cpu_ms<T>(work: impl FnOnce() -> Result<T, Anything>) -> Result<f64, Anything> {
    let before = Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?);
    work()?;
    let spent =
        Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?).saturating_sub(before);
    Ok(spent.as_secs_f64() * 1000.0)
}

/// Returns the median over the rounds of a percentile of each round.
fn median_percentile(rounds: &mut [Vec<f64>], percentile: usize) -> f64 {
    let mut figures: Vec<f64> = rounds
        .iter_mut()
        .map(|round| {
            round.sort_by(f64::total_cmp);
            round[(round.len() * percentile / 100).min(round.len() - 1)]
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Returns the resident memory of this process in KiB.
fn resident_kib() -> Result<u64, Anything> {
    let status: HashMap<String, String> = std::fs::read_to_string("/proc/self/status")?
        .lines()
        .filter_map(|line| {
            line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        })
        .collect();
    Ok(status.get("VmRSS").and_then(|value| value.split(' ').next()).unwrap_or("0").parse()?)
}
