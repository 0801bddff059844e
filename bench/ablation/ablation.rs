//! Evaluates the test sets once for each row of constants. Built as an example of the copy that `bench/ablation.py` makes.
//!
//!     ablation MODELS DATA ROWS     DATA/<set>/{corpus,queries}.jsonl; ROWS: lines `NAME<TAB>CONSTANT=VALUE,…`
//!
//! Every text is encoded once. A conversation is stored three times: with dates before the texts, without dates, and in shuffled order.
//! Not here: tables.

use loci_engine::transaction::change::CallContext;
use loci_engine::model::encoding::{QueryEncoding, TextEncodings};
use loci_engine::ranking::fusion::Fusion;
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::operations::store::Draft;
use loci_engine::model::time::Timestamp;
use loci_engine::{Actor, Reader, Settings, Writer, study};
use loci_proto::group::Group;
use loci_proto::degraded::Degraded;
use loci_proto::requests::recall::RecallRequest;
use locid::embedding::{Embedder, Priority, ModelConfig};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

type Anything = Box<dyn std::error::Error>;

/// 2026-02-01, later than every date in the sets.
const NOW: Timestamp = Timestamp(1_769_904_000_000);
const SETS: [&str; 6] = ["locomo", "realtalk", "cranfield", "cisi", "med", "longmemeval"];
/// The sets whose texts have dates and an order.
const CONVERSATIONS: [&str; 2] = ["locomo", "realtalk"];

/// How the texts of a set are prepared before they are stored.
#[derive(Clone, Copy, PartialEq)]
enum Preparation {
    Dated,
    Plain,
    Shuffled,
}

/// The store of one group of a set.
struct Store {
    _writer: Writer,
    reader: Reader,
    /// The unit of a memory, by its text and by its id.
    units: HashMap<String, String>,
    /// Each question with its relevant units.
    questions: Vec<(String, HashSet<String>)>,
}

/// The model, and the encodings that it has computed.
struct Model {
    runtime: tokio::runtime::Runtime,
    embedder: Embedder,
    documents: HashMap<String, TextEncodings>,
    queries: HashMap<String, QueryEncoding>,
}

fn main() -> Result<(), Anything> {
    locid::embedding::onnx::switch_off_telemetry();
    let arguments: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let [models, data, rows] = arguments.as_slice() else { return Err("ablation MODELS DATA ROWS".into()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let embedder = Embedder::start(ModelConfig { models: models.clone(), ort_lib: None });
    runtime.block_on(embedder.wait_until_loaded());
    let mut model = Model { runtime, embedder, documents: HashMap::new(), queries: HashMap::new() };
    let folder = tempfile::tempdir()?;
    let mut stores = Vec::new();
    for preparation in [Preparation::Dated, Preparation::Plain, Preparation::Shuffled] {
        for set in SETS {
            if !CONVERSATIONS.contains(&set) && preparation != Preparation::Dated {
                continue;
            }
            stores.push((preparation, set, load(&mut model, &data.join(set), folder.path(), preparation)?));
        }
    }
    model.embedder.stop();
    for row in std::fs::read_to_string(rows)?.lines() {
        let (name, changes) = row.split_once('\t').unwrap_or((row, ""));
        study::NAMES.iter().try_for_each(|name| study::set(name, None))?;
        let mut fusion = None;
        for (constant, value) in changes.split(',').filter_map(|change| change.split_once('=')) {
            match constant {
                "weighted" => fusion = Some(Fusion::Weighted { vector_weight: value.parse()? }),
                constant => study::set(constant, Some(value.parse()?))?,
            }
        }
        let mut figures = BTreeMap::new();
        for (preparation, set, stores) in &stores {
            let preparation = ["dated", "plain", "shuffled"][*preparation as usize];
            figures.insert(format!("{set} {preparation}"), evaluate(stores, &model.queries, fusion)?);
        }
        println!("{}", json!({"row": name, "changes": changes, "figures": figures}));
    }
    Ok(())
}

impl Model {
    /// Encodes the texts and questions that have no encoding yet.
    fn encode(&mut self, texts: &[String], questions: &[String]) -> Result<(), Anything> {
        for batch in texts.chunks(64) {
            self.runtime.block_on(async {
                let missing: Vec<_> = batch.iter().filter(|text| !self.documents.contains_key(*text)).cloned().collect();
                let tasks = missing.into_iter().map(|text| {
                    let embedder = self.embedder.clone();
                    tokio::spawn(async move { (embedder.document(text.clone(), Priority::Bulk).await, text) })
                });
                for task in tasks.collect::<Vec<_>>() {
                    let (encoding, text) = task.await.map_err(|e| e.to_string())?;
                    let encoding = encoding.map_err(|e| e.to_string())?;
                    self.documents.insert(text, std::iter::once(encoding).collect());
                }
                Ok::<(), String>(())
            })?;
        }
        for question in questions {
            if !self.queries.contains_key(question) {
                let encoding = self.runtime.block_on(self.embedder.query(question.clone())).map_err(|e| e.to_string())?;
                self.queries.insert(question.clone(), encoding);
            }
        }
        Ok(())
    }
}

fn json_lines(file: &Path) -> Result<Vec<Value>, Anything> {
    let line = |line: &str| Ok(serde_json::from_str(line)?);
    std::fs::read_to_string(file)?.lines().map(line).collect()
}

/// Stores the texts of a set in one store for each group.
fn load(model: &mut Model, set: &Path, folder: &Path, preparation: Preparation) -> Result<Vec<Store>, Anything> {
    let (corpus, queries) = (json_lines(&set.join("corpus.jsonl"))?, json_lines(&set.join("queries.jsonl"))?);
    let field = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let mut groups: Vec<String> = corpus.iter().map(|line| field(line, "group")).collect();
    groups.sort();
    groups.dedup();
    let mut stores = Vec::new();
    for name in groups {
        let of_group = |line: &&Value| field(line, "group") == name;
        let mut texts: Vec<(String, String)> =
            corpus.iter().filter(of_group).map(|line| (prepared_text(line, preparation), field(line, "unit"))).collect();
        if preparation == Preparation::Shuffled {
            shuffle(&mut texts);
        }
        let answerable = queries.iter().filter(of_group).filter(|line| line["category"] != "adversarial");
        let relevant =
            |line: &Value| line["relevant"].as_array().into_iter().flatten().filter_map(|unit| unit.as_str().map(str::to_owned)).collect();
        let questions: Vec<(String, HashSet<String>)> = answerable.map(|line| (field(line, "text"), relevant(line))).collect();
        model.encode(
            &texts.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>(),
            &questions.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>(),
        )?;
        let path = folder.join(format!("{}.db", uuid::Uuid::now_v7()));
        let mut writer = loci_engine::open(&path, Settings::for_model("all-MiniLM-L6-v2"), NOW)?;
        let (mut units, reader) = (HashMap::new(), writer.reader()?);
        for batch in texts.chunks(64) {
            writer.begin_group()?;
            for (text, unit) in batch {
                let arguments: Map<String, Value> = serde_json::from_value(json!({"content": text, "type": "episodic"}))?;
                let draft = Draft::new(loci_proto::mcp::arguments::parse(arguments)?, NOW)?;
                let call = CallContext { now: NOW, actor: Actor::unnamed_agent(group()), key: None, shown: None };
                let stored = writer.store(&call, &draft, &model.documents[text])?;
                units.entry(text.clone()).or_insert_with(|| unit.clone());
                units.entry(stored.id.to_string()).or_insert_with(|| unit.clone());
            }
            writer.commit_group()?;
        }
        stores.push(Store { _writer: writer, reader, units, questions });
    }
    Ok(stores)
}

fn group() -> Group {
    Group { id: "g_set".to_owned(), name: "set".to_owned() }
}

/// Returns the text of a line as it is stored: with its date if it has one and the preparation keeps dates.
fn prepared_text(line: &Value, preparation: Preparation) -> String {
    let text = line["text"].as_str().unwrap_or_default();
    match line["time"].as_str().and_then(|time| time.get(..10)).filter(|_| preparation != Preparation::Plain) {
        Some(day) => format!("[{day}] {text}"),
        None => text.to_owned(),
    }
}

/// Shuffles with a fixed seed.
fn shuffle<T>(all: &mut [T]) {
    let mut state = 7_u64;
    for i in (1..all.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.swap(i, (state >> 33) as usize % (i + 1));
    }
}

/// Returns R@5, R@10 and nDCG@10 over all questions of a set, in percent.
fn evaluate(stores: &[Store], queries: &HashMap<String, QueryEncoding>, fusion: Option<Fusion>) -> Result<[f64; 3], Anything> {
    let (mut sums, mut count) = ([0.0; 3], 0);
    for store in stores {
        for (question, relevant) in &store.questions {
            let arguments = json!({"query": question, "max_results": 20, "token_budget": 1_000_000});
            let request: RecallRequest = loci_proto::mcp::arguments::parse(serde_json::from_value(arguments)?)?;
            let (group, degraded) = (group(), Degraded::default());
            let context = RecallContext { group: &group, client: None, encoding: queries.get(question), now: NOW, degraded: &degraded, fusion, is_agent: false };
            let answer = store.reader.recall(&prepare(request)?, context)?;
            let unit =
                |text: Option<&String>, id: String| text.and_then(|text| store.units.get(text)).or_else(|| store.units.get(&id)).cloned();
            // The ranks of the relevant units, from 0; a unit counts at its first rank.
            let mut ranks: Vec<usize> = Vec::new();
            let mut seen = HashSet::new();
            for (rank, result) in answer.reply.results.iter().enumerate() {
                let Some(unit) = unit(result.content.as_ref(), result.id.to_string()) else { continue };
                if relevant.contains(&unit) && seen.insert(unit) {
                    ranks.push(rank);
                }
            }
            let gain = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
            let recall_at = |k: usize| ranks.iter().filter(|rank| **rank < k).count() as f64 / relevant.len() as f64;
            let ideal: f64 = (0..relevant.len().min(10)).map(gain).sum();
            let gained: f64 = ranks.iter().filter(|rank| **rank < 10).map(|rank| gain(*rank)).sum();
            for (sum, figure) in sums.iter_mut().zip([recall_at(5), recall_at(10), gained / ideal]) {
                *sum += figure;
            }
            count += 1;
        }
    }
    Ok(sums.map(|sum| 100.0 * sum / f64::from(count.max(1))))
}
