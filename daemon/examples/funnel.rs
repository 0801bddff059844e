//! Measures what coarse-to-fine search misses: real texts in one project, searched at every effort with the real model.
//!
//!     cargo run --release -p locid --example funnel -- MODELS (corpus.jsonl queries.jsonl)…
//!
//! A corpus line has `text`, `unit` and optionally `time`, whose day is put before the text; a query line has `text`, `relevant` (units) and
//! optionally `category`. Adversarial queries have no answer and are left out. Not here: search times (`tests/examples/scale.rs`).

#[path = "shared/mod.rs"]
mod shared;

use loci_engine::model::time::{DAY, Timestamp};
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::operations::store::Draft;
use loci_engine::transaction::change::CallContext;
use loci_engine::{Actor, Effort, Reader, Settings, open};
use loci_proto::degraded::Degraded;
use loci_proto::group::Group;
use loci_proto::requests::recall::RecallRequest;
use serde_json::{Map, Value, json};
use shared::{AnyError, Model};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// 2026-02-01T00:00:00Z.
const START: Timestamp = Timestamp(1_769_904_000_000);
const EFFORTS: [(&str, Effort); 3] = [
    ("as in use", Effort::Approximate),
    ("exact cosines", Effort::ExactVectors),
    ("exhaustive", Effort::Exhaustive),
];
/// Number of results of each query.
const RESULTS: usize = 10;

/// The corpus and the queries of all files.
#[derive(Default)]
struct TestSet {
    texts: Vec<CorpusText>,
    queries: Vec<Query>,
}

/// A text of the corpus.
struct CorpusText {
    unit: String,
    text: String,
}

/// A query and the units that answer it.
struct Query {
    text: String,
    relevant: Vec<String>,
}

/// The quality of one answer, each 0 to 1.
struct Quality {
    /// R@10.
    recall: f64,
    /// nDCG@10.
    ndcg: f64,
}

fn main() -> Result<(), AnyError> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let mut model = Model::start(
        arguments.next().ok_or("usage: funnel MODELS (corpus.jsonl queries.jsonl)…")?,
    )?;
    let set = read_test_set(&arguments.collect::<Vec<_>>())?;
    let folder = tempfile::tempdir()?;
    let settings = |effort| Settings { effort, ..Settings::for_model("all-MiniLM-L6-v2") };
    let mut writer = open(&folder.path().join("memory.db"), settings(Effort::Approximate), START)?;
    let group = Group { id: "g_funnel".to_owned(), name: "funnel".to_owned() };
    let mut units = HashMap::new();
    for (number, CorpusText { unit, text }) in (0..).zip(&set.texts) {
        let call = CallContext {
            now: START.plus(number * 1000),
            actor: Actor::unnamed_agent(group.clone()),
            key: None,
            shown: None,
        };
        let arguments: Map<String, Value> =
            serde_json::from_value(json!({"content": text, "type": "episodic"}))?;
        let draft = Draft::new(loci_proto::mcp::arguments::parse(arguments)?, call.now)?;
        let id = writer.store(&call, &draft, &model.encode_document(text)?)?.id.to_string();
        units.entry(id).or_insert(unit.as_str());
    }
    let reader = writer.reader()?;
    let mut answers = Vec::new();
    for (_, effort) in EFFORTS {
        writer.set_settings(settings(effort));
        answers.push(
            set.queries
                .iter()
                .map(|query| search(&reader, &group, &mut model, &query.text))
                .collect::<Result<Vec<_>, _>>()?,
        );
    }
    println!("{} texts, {} memories, {} queries", set.texts.len(), units.len(), set.queries.len());
    println!("| search | R@10 | nDCG@10 | recall of the exhaustive top 10 | same first result |");
    println!("|---|--:|--:|--:|--:|");
    let exhaustive_answers = &answers[2];
    for ((name, _), answers) in EFFORTS.iter().zip(&answers) {
        let qualities: Vec<Quality> = answers
            .iter()
            .zip(&set.queries)
            .map(|(answer, query)| evaluate(answer, &query.relevant, &units))
            .collect();
        let mean_percent = |metric: fn(&Quality) -> f64| {
            100.0 * qualities.iter().map(metric).sum::<f64>() / qualities.len().max(1) as f64
        };
        let total: usize = exhaustive_answers.iter().map(Vec::len).sum();
        let found: usize = exhaustive_answers
            .iter()
            .zip(answers)
            .map(|(exhaustive, answer)| exhaustive.iter().filter(|id| answer.contains(id)).count())
            .sum();
        let same_first = exhaustive_answers
            .iter()
            .zip(answers)
            .filter(|(exhaustive, answer)| exhaustive.first() == answer.first())
            .count();
        let shared = found as f64 / total.max(1) as f64;
        let first = same_first as f64 / answers.len().max(1) as f64;
        println!(
            "| {name} | {:.1} | {:.1} | {shared:.4} | {first:.4} |",
            mean_percent(|quality| quality.recall),
            mean_percent(|quality| quality.ndcg)
        );
    }
    Ok(())
}

fn read_test_set(files: &[PathBuf]) -> Result<TestSet, AnyError> {
    let mut set = TestSet::default();
    for file in files {
        for line in read_lines(file)? {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            match line["relevant"].as_array() {
                Some(units) if text("category") != "adversarial" => {
                    let relevant =
                        units.iter().filter_map(|unit| unit.as_str().map(str::to_owned)).collect();
                    set.queries.push(Query { text: text("text"), relevant });
                }
                Some(_) => {}
                None => {
                    let day =
                        text("time").get(..10).map_or_else(String::new, |day| format!("[{day}] "));
                    let dated = format!("{day}{}", text("text"));
                    set.texts.push(CorpusText { unit: text("unit"), text: dated });
                }
            }
        }
    }
    set.queries.retain(|query| !query.relevant.is_empty());
    Ok(set)
}

fn read_lines(file: &Path) -> Result<Vec<Value>, AnyError> {
    Ok(std::fs::read_to_string(file)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?)
}

/// Returns the ids of the ten best results.
fn search(
    reader: &Reader,
    group: &Group,
    model: &mut Model,
    text: &str,
) -> Result<Vec<String>, AnyError> {
    let arguments: Map<String, Value> = serde_json::from_value(
        json!({"query": text, "max_results": RESULTS, "token_budget": 1_000_000}),
    )?;
    let request: RecallRequest = loci_proto::mcp::arguments::parse(arguments)?;
    let (encoding, degraded) = (model.encode_query(text)?, Degraded::default());
    let context = RecallContext {
        viewer: group.into(),
        client: None,
        encoding: Some(&encoding),
        now: START.plus(30 * DAY),
        rerank: None,
        degraded: &degraded,
        fusion: None,
        is_agent: false,
        names_project: false,
        files: None,
    };
    Ok(reader
        .recall(&prepare(request, context.now)?, context)?
        .reply
        .results
        .into_iter()
        .map(|result| result.id.to_string())
        .collect())
}

/// Evaluates one answer; a unit counts once, at its first position. `units` maps memory ids to units.
fn evaluate(answer: &[String], relevant: &[String], units: &HashMap<String, &str>) -> Quality {
    let (mut seen, mut gain) = (Vec::new(), 0.0);
    let discount = |position: usize| 1.0 / ((position + 2) as f64).log2();
    for (position, id) in answer.iter().enumerate() {
        let Some(unit) = units
            .get(id)
            .filter(|unit| relevant.iter().any(|other| other == **unit) && !seen.contains(*unit))
        else {
            continue;
        };
        seen.push(unit);
        gain += discount(position);
    }
    let ideal: f64 = (0..relevant.len().min(RESULTS)).map(discount).sum();
    Quality { recall: seen.len() as f64 / relevant.len() as f64, ndcg: gain / ideal }
}
