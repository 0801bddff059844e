//! What comparing a large project roughly first leaves out: real texts in one project, asked at every effort with the real model.
//!
//!     cargo run --release -p locid --example funnel -- MODELS (corpus.jsonl queries.jsonl)…
//!
//! Texts come from the files (`text`, `unit`, perhaps `time`, whose day is put before the text; `text`, `relevant` units, perhaps `category`),
//! all of them in one project. Adversarial questions have no answer and are left out. Not here: how long it takes (`tests/examples/scale.rs`).

#[path = "shared/mod.rs"]
mod shared;

use loci_engine::model::time::{DAY, Timestamp};
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::operations::store::Draft;
use loci_engine::transaction::change::CallContext;
use loci_engine::{Actor, Effort, Reader, Settings, open};
use loci_proto::group::Group;
use loci_proto::requests::recall::{Degraded, RecallRequest};
use serde_json::{Map, Value, json};
use shared::{Anything, Model};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// 2026-02-01T00:00:00Z.
const FIRST: Timestamp = Timestamp(1_769_904_000_000);
const DEPTHS: [(&str, Effort); 3] = [
    ("as usual", Effort::Approximate),
    ("exact cosines", Effort::ExactVectors),
    ("everything", Effort::Exhaustive),
];
const TEN: usize = 10;

/// Texts with their units, and questions with the units that answer them.
#[derive(Default)]
struct Sets {
    texts: Vec<(String, String)>,
    questions: Vec<(String, Vec<String>)>,
}

fn main() -> Result<(), Anything> {
    let mut given = std::env::args().skip(1).map(PathBuf::from);
    let mut model = Model::start(
        given.next().ok_or("say where the model is, and which corpora and questions")?,
    )?;
    let sets = sets(&given.collect::<Vec<_>>())?;
    let folder = tempfile::tempdir()?;
    let settings = |effort| Settings { effort, ..Settings::for_model("all-MiniLM-L6-v2") };
    let mut writer = open(&folder.path().join("memory.db"), settings(Effort::Approximate), FIRST)?;
    let group = Group { id: "g_funnel".to_owned(), name: "funnel".to_owned() };
    let mut units = HashMap::new();
    for (number, (unit, text)) in (0..).zip(&sets.texts) {
        let call = CallContext {
            now: FIRST.plus(number * 1000),
            actor: Actor { client: None, session: None, group: group.clone() },
            key: None,
        };
        let arguments: Map<String, Value> =
            serde_json::from_value(json!({"content": text, "type": "episodic"}))?;
        let draft = Draft::new(loci_proto::mcp::arguments::parse(arguments)?)?;
        let id = writer.store(&call, &draft, &model.reads(text)?)?.id.to_string();
        units.entry(id).or_insert(unit.as_str());
    }
    let reader = writer.reader()?;
    let mut answers = Vec::new();
    for (_, effort) in DEPTHS {
        writer.set_settings(settings(effort));
        answers.push(
            sets.questions
                .iter()
                .map(|(text, _)| ask(&reader, &group, &mut model, text))
                .collect::<Result<Vec<_>, _>>()?,
        );
    }
    println!(
        "{} texts, {} memories, {} questions",
        sets.texts.len(),
        units.len(),
        sets.questions.len()
    );
    println!("| compared | R@10 | nDCG@10 | of the ten best of everything | the same first |");
    println!("|---|--:|--:|--:|--:|");
    let everything = &answers[2];
    for ((name, _), answers) in DEPTHS.iter().zip(&answers) {
        let judged: Vec<(f64, f64)> = answers
            .iter()
            .zip(&sets.questions)
            .map(|(answer, (_, relevant))| judged(answer, relevant, &units))
            .collect();
        let mean = |of: fn(&(f64, f64)) -> f64| {
            100.0 * judged.iter().map(of).sum::<f64>() / judged.len().max(1) as f64
        };
        let wanted: usize = everything.iter().map(Vec::len).sum();
        let found: usize = everything
            .iter()
            .zip(answers)
            .map(|(whole, answer)| whole.iter().filter(|id| answer.contains(id)).count())
            .sum();
        let first = everything
            .iter()
            .zip(answers)
            .filter(|(whole, answer)| whole.first() == answer.first())
            .count();
        let (shared, first) =
            (found as f64 / wanted.max(1) as f64, first as f64 / answers.len().max(1) as f64);
        println!(
            "| {name} | {:.1} | {:.1} | {shared:.4} | {first:.4} |",
            mean(|of| of.0),
            mean(|of| of.1)
        );
    }
    Ok(())
}

fn sets(files: &[PathBuf]) -> Result<Sets, Anything> {
    let mut sets = Sets::default();
    for file in files {
        for line in lines(file)? {
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            match line["relevant"].as_array() {
                Some(units) if text("category") != "adversarial" => {
                    sets.questions.push((
                        text("text"),
                        units.iter().filter_map(|unit| unit.as_str().map(str::to_owned)).collect(),
                    ));
                }
                Some(_) => {}
                None => {
                    let day =
                        text("time").get(..10).map_or_else(String::new, |day| format!("[{day}] "));
                    sets.texts.push((text("unit"), format!("{day}{}", text("text"))));
                }
            }
        }
    }
    sets.questions.retain(|(_, units)| !units.is_empty());
    Ok(sets)
}

fn lines(file: &Path) -> Result<Vec<Value>, Anything> {
    Ok(std::fs::read_to_string(file)?
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?)
}

/// The ids of the ten best.
fn ask(
    reader: &Reader,
    group: &Group,
    model: &mut Model,
    text: &str,
) -> Result<Vec<String>, Anything> {
    let arguments: Map<String, Value> = serde_json::from_value(
        json!({"query": text, "max_results": TEN, "token_budget": 1_000_000}),
    )?;
    let request: RecallRequest = loci_proto::mcp::arguments::parse(arguments)?;
    let (asked, degraded) = (model.is_asked(text)?, Degraded::default());
    let context = RecallContext {
        group,
        encoding: Some(&asked),
        now: FIRST.plus(30 * DAY),
        degraded: &degraded,
        fusion: None,
    };
    Ok(reader
        .recall(&prepare(request)?, context)?
        .reply
        .results
        .into_iter()
        .map(|result| result.id.to_string())
        .collect())
}

/// R@10 and nDCG@10 of one answer; a unit counts once, at its first place.
fn judged(answer: &[String], relevant: &[String], units: &HashMap<String, &str>) -> (f64, f64) {
    let (mut seen, mut gain) = (Vec::new(), 0.0);
    let worth = |place: usize| 1.0 / ((place + 2) as f64).log2();
    for (place, id) in answer.iter().enumerate() {
        let Some(unit) = units
            .get(id)
            .filter(|unit| relevant.iter().any(|wanted| wanted == **unit) && !seen.contains(*unit))
        else {
            continue;
        };
        seen.push(unit);
        gain += worth(place);
    }
    let ideal: f64 = (0..relevant.len().min(TEN)).map(worth).sum();
    (seen.len() as f64 / relevant.len() as f64, gain / ideal)
}
