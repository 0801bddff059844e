//! Measures search by store size: `Reader::recall` compared with the same questions to SQLite's own
//! `vec0` and FTS5.
//!
//!     cargo run --release -p loci-tests --example scale -- 1000 10000 100000
//!     cargo run --release -p loci-tests --example scale -- load 1000 10000 100000
//!
//! Notes are generated: clustered vectors, words by Zipf's law, runs of one topic. Both run in
//! alternating rounds in one thread, and that thread's CPU time is measured. Answers are compared
//! with those at `Effort::ExactVectors` and at `Effort::Exhaustive`. `load` measures the index
//! warm-up of such a store instead (`loading`). Not here: the model, the daemon, the relay
//! (`bench/` measures those).

#[path = "scale/loading.rs"]
mod loading;
#[path = "scale/made_up.rs"]
mod made_up;
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
use std::path::Path;
use std::time::Duration;

type Anything = Box<dyn std::error::Error>;

/// 2026-02-01T00:00:00Z.
const NOW: Timestamp = Timestamp(1_769_904_000_000);
const ROUNDS: usize = 9;
const QUESTIONS: usize = 60;
const RESULTS: usize = 20;

/// A share of the notes, and the project that contains it.
const SHARES: [(&str, usize); 3] = [("all", 100), ("tenth", 10), ("hundredth", 1)];

fn main() -> Result<(), Anything> {
    let mut given = std::env::args().skip(1).peekable();
    let loads = given.next_if_eq("load").is_some();
    let sizes: Vec<usize> = given.map(|size| size.parse()).collect::<Result<_, _>>()?;
    if loads {
        return loading::run(&sizes);
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

fn measure(size: usize) -> Result<(), Anything> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let notes = Notes::new(size);
    open(&path, settings(Effort::Approximate), NOW)?.close()?;
    tables::fill(&path, &notes)?;
    for (name, share) in SHARES {
        tables::divide(&path, &group(name), share)?;
        let before = resident()?;
        let writer = open(&path, settings(Effort::Approximate), NOW)?;
        let held = resident()?.saturating_sub(before);
        let row = compare(&writer, &path, &notes, (name, share))?;
        println!("| {size} | {share} | {row} | {} |", held / 1024);
    }
    Ok(())
}

/// One row of the table: both answer all questions, in alternating rounds.
fn compare(
    writer: &Writer,
    path: &Path,
    notes: &Notes,
    (name, share): (&str, usize),
) -> Result<String, Anything> {
    let reader = writer.reader()?;
    let tables = tables::open(path)?;
    let questions = notes.questions(QUESTIONS, share);
    let few = QUESTIONS.min((2_000_000 / notes.len()).max(3));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let our_round = questions
            .iter()
            .map(|asking| timed(|| recalled(&reader, name, asking)))
            .collect::<Result<Vec<_>, _>>()?;
        let of_theirs = questions.iter().step_by(QUESTIONS / few);
        let their_round = of_theirs
            .map(|asking| timed(|| tables::ask(&tables, asking)))
            .collect::<Result<Vec<_>, _>>()?;
        // The first round only warms the caches.
        if round > 0 {
            ours.push(our_round);
            theirs.push(their_round);
        }
    }
    let exact = agreement(writer, &reader, (name, Effort::ExactVectors), &questions)?;
    let whole = agreement(writer, &reader, (name, Effort::Exhaustive), &questions)?;
    let (p50, p99, base) =
        (of_rounds(&mut ours, 50), of_rounds(&mut ours, 99), of_rounds(&mut theirs, 50));
    Ok(format!("{p50:.3} | {p99:.3} | {base:.2} | {:.0} | {exact:.3} | {whole:.3}", base / p50))
}

/// The share of the ten best at another effort that are among the ten best at the default effort.
fn agreement(
    writer: &Writer,
    reader: &Reader,
    (name, effort): (&str, Effort),
    questions: &[Asking],
) -> Result<f64, Anything> {
    let ten = |asking| -> Result<Vec<MemoryId>, Anything> {
        Ok(recalled(reader, name, asking)?.into_iter().take(10).collect())
    };
    let usual = questions.iter().map(ten).collect::<Result<Vec<_>, _>>()?;
    writer.set_settings(settings(effort));
    let whole = questions.iter().map(ten).collect::<Result<Vec<_>, _>>()?;
    writer.set_settings(settings(Effort::Approximate));
    let wanted: usize = whole.iter().map(Vec::len).sum();
    let found: usize = whole
        .iter()
        .zip(&usual)
        .map(|(whole, usual)| whole.iter().filter(|id| usual.contains(id)).count())
        .sum();
    Ok(found as f64 / wanted.max(1) as f64)
}

fn recalled(reader: &Reader, name: &str, asking: &Asking) -> Result<Vec<MemoryId>, Anything> {
    let request: RecallRequest = serde_json::from_value(
        serde_json::json!({"query": asking.text, "max_results": RESULTS, "token_budget": 1_000_000}),
    )?;
    let degraded = Degraded::default();
    let context = RecallContext {
        group: &group(name),
        encoding: Some(&asking.asked),
        now: NOW,
        degraded: &degraded,
        fusion: None,
    };
    Ok(reader
        .recall(&prepare(request)?, context)?
        .reply
        .results
        .into_iter()
        .map(|result| result.id)
        .collect())
}

fn settings(effort: Effort) -> Settings {
    Settings { effort, ..Settings::for_model(made_up::MODEL) }
}

fn group(name: &str) -> Group {
    Group::named(&name.parse::<GroupName>().expect("is a name"))
}

/// Returns the CPU time in milliseconds that this thread needs for some work.
fn timed<T>(work: impl FnOnce() -> Result<T, Anything>) -> Result<f64, Anything> {
    let before = Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?);
    work()?;
    let taken =
        Duration::from(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?).saturating_sub(before);
    Ok(taken.as_secs_f64() * 1000.0)
}

/// The median over the rounds of a percentile of each round.
fn of_rounds(rounds: &mut [Vec<f64>], share: usize) -> f64 {
    let mut each: Vec<f64> = rounds
        .iter_mut()
        .map(|round| {
            round.sort_by(f64::total_cmp);
            round[(round.len() * share / 100).min(round.len() - 1)]
        })
        .collect();
    each.sort_by(f64::total_cmp);
    each[each.len() / 2]
}

/// Returns the resident memory of this process in KiB.
fn resident() -> Result<u64, Anything> {
    let status: HashMap<String, String> = std::fs::read_to_string("/proc/self/status")?
        .lines()
        .filter_map(|line| {
            line.split_once(':').map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        })
        .collect();
    Ok(status.get("VmRSS").and_then(|value| value.split(' ').next()).unwrap_or("0").parse()?)
}
