//! Runs the test sets once per row of constants. An example program of the copy that `bench/ablation.py` builds.
//!
//!     ablation MODELS DATA ROWS     DATA/<set>/{corpus,queries}.jsonl; ROWS: lines `NAME<TAB>CONSTANT=VALUE,…`
//!
//! Every text is embedded once. Stores: the sets as they are, without dates before the texts, and in shuffled order. Not here: tables.

use loci_engine::transaction::change::CallContext;
use loci_engine::model::encoding::{QueryEncoding, DocumentEncoding};
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
/// The sets whose texts have an order and dates.
const CONVERSATIONS: [&str; 2] = ["locomo", "realtalk"];

/// How the texts of a set are stored.
#[derive(Clone, Copy, PartialEq)]
enum Filled {
    Dated,
    Plain,
    Shuffled,
}

/// The store of one group of a set.
struct Store {
    _writer: Writer,
    reader: Reader,
    units: HashMap<String, String>,
    questions: Vec<(String, HashSet<String>)>,
}

struct Model {
    runtime: tokio::runtime::Runtime,
    embedder: Embedder,
    known: HashMap<String, DocumentEncoding>,
    asked: HashMap<String, QueryEncoding>,
}

fn main() -> Result<(), Anything> {
    locid::embedding::onnx::switch_off_telemetry();
    let given: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let [models, data, rows] = given.as_slice() else { return Err("ablation MODELS DATA ROWS".into()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let embedder = Embedder::start(ModelConfig { models: models.clone(), ort_lib: None });
    runtime.block_on(embedder.wait_until_loaded());
    let mut model = Model { runtime, embedder, known: HashMap::new(), asked: HashMap::new() };
    let folder = tempfile::tempdir()?;
    let mut stores = Vec::new();
    for filled in [Filled::Dated, Filled::Plain, Filled::Shuffled] {
        for set in SETS {
            if !CONVERSATIONS.contains(&set) && filled != Filled::Dated {
                continue;
            }
            stores.push((filled, set, load(&mut model, &data.join(set), folder.path(), filled)?));
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
        let mut told = BTreeMap::new();
        for (filled, set, stores) in &stores {
            let filled = ["dated", "plain", "shuffled"][*filled as usize];
            told.insert(format!("{set} {filled}"), judged(stores, &model.asked, fusion)?);
        }
        println!("{}", json!({"row": name, "changes": changes, "figures": told}));
    }
    Ok(())
}

impl Model {
    fn embed(&mut self, texts: &[String], questions: &[String]) -> Result<(), Anything> {
        for some in texts.chunks(64) {
            self.runtime.block_on(async {
                let making: Vec<_> = some.iter().filter(|text| !self.known.contains_key(*text)).cloned().collect();
                let all = making.into_iter().map(|text| {
                    let embedder = self.embedder.clone();
                    tokio::spawn(async move { (embedder.document(text.clone(), Priority::Bulk).await, text) })
                });
                for made in all.collect::<Vec<_>>() {
                    let (made, text) = made.await.map_err(|e| e.to_string())?;
                    self.known.insert(text, made.map_err(|e| e.to_string())?);
                }
                Ok::<(), String>(())
            })?;
        }
        for question in questions {
            if !self.asked.contains_key(question) {
                let asked = self.runtime.block_on(self.embedder.query(question.clone())).map_err(|e| e.to_string())?;
                self.asked.insert(question.clone(), asked);
            }
        }
        Ok(())
    }
}

fn lines(file: &Path) -> Result<Vec<Value>, Anything> {
    let line = |line: &str| Ok(serde_json::from_str(line)?);
    std::fs::read_to_string(file)?.lines().map(line).collect()
}

fn load(model: &mut Model, set: &Path, folder: &Path, filled: Filled) -> Result<Vec<Store>, Anything> {
    let (corpus, queries) = (lines(&set.join("corpus.jsonl"))?, lines(&set.join("queries.jsonl"))?);
    let field = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let mut groups: Vec<String> = corpus.iter().map(|line| field(line, "group")).collect();
    groups.sort();
    groups.dedup();
    let mut stores = Vec::new();
    for name in groups {
        let of_group = |line: &&Value| field(line, "group") == name;
        let mut texts: Vec<(String, String)> =
            corpus.iter().filter(of_group).map(|line| (said(line, filled), field(line, "unit"))).collect();
        if filled == Filled::Shuffled {
            shuffle(&mut texts);
        }
        let judged = queries.iter().filter(of_group).filter(|line| line["category"] != "adversarial");
        let relevant =
            |line: &Value| line["relevant"].as_array().into_iter().flatten().filter_map(|unit| unit.as_str().map(str::to_owned)).collect();
        let questions: Vec<(String, HashSet<String>)> = judged.map(|line| (field(line, "text"), relevant(line))).collect();
        model.embed(
            &texts.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>(),
            &questions.iter().map(|(text, _)| text.clone()).collect::<Vec<_>>(),
        )?;
        let path = folder.join(format!("{}.db", uuid::Uuid::now_v7()));
        let mut writer = loci_engine::open(&path, Settings::for_model("all-MiniLM-L6-v2"), NOW)?;
        let (mut units, reader) = (HashMap::new(), writer.reader()?);
        for some in texts.chunks(64) {
            writer.begin_group()?;
            for (text, unit) in some {
                let arguments: Map<String, Value> = serde_json::from_value(json!({"content": text, "type": "episodic"}))?;
                let draft = Draft::new(loci_proto::mcp::arguments::parse(arguments)?)?;
                let call = CallContext { now: NOW, actor: Actor { client: None, session: None, group: group() }, key: None };
                let stored = writer.store(&call, &draft, &model.known[text])?;
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

fn said(line: &Value, filled: Filled) -> String {
    let text = line["text"].as_str().unwrap_or_default();
    match line["time"].as_str().and_then(|time| time.get(..10)).filter(|_| filled != Filled::Plain) {
        Some(day) => format!("[{day}] {text}"),
        None => text.to_owned(),
    }
}

/// Shuffles with a fixed seed.
fn shuffle<T>(all: &mut [T]) {
    let mut state = 7_u64;
    for at in (1..all.len()).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.swap(at, (state >> 33) as usize % (at + 1));
    }
}

/// R@5, R@10 and nDCG@10 over all questions of a set, in percent.
fn judged(stores: &[Store], asked: &HashMap<String, QueryEncoding>, fusion: Option<Fusion>) -> Result<[f64; 3], Anything> {
    let (mut sums, mut count) = ([0.0; 3], 0);
    for store in stores {
        for (question, relevant) in &store.questions {
            let arguments = json!({"query": question, "max_results": 20, "token_budget": 1_000_000});
            let request: RecallRequest = loci_proto::mcp::arguments::parse(serde_json::from_value(arguments)?)?;
            let (group, degraded) = (group(), Degraded::default());
            let context = RecallContext { group: &group, encoding: asked.get(question), now: NOW, degraded: &degraded, fusion };
            let answer = store.reader.recall(&prepare(request)?, context)?;
            let unit =
                |text: Option<&String>, id: String| text.and_then(|text| store.units.get(text)).or_else(|| store.units.get(&id)).cloned();
            let mut places: Vec<usize> = Vec::new();
            let mut seen = HashSet::new();
            for (place, given) in answer.reply.results.iter().enumerate() {
                let Some(unit) = unit(given.content.as_ref(), given.id.to_string()) else { continue };
                if relevant.contains(&unit) && seen.insert(unit) {
                    places.push(place);
                }
            }
            let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
            let share = |most: usize| places.iter().filter(|place| **place < most).count() as f64 / relevant.len() as f64;
            let ideal: f64 = (0..relevant.len().min(10)).map(gain).sum();
            let gained: f64 = places.iter().filter(|place| **place < 10).map(|place| gain(*place)).sum();
            for (sum, of_this) in sums.iter_mut().zip([share(5), share(10), gained / ideal]) {
                *sum += of_this;
            }
            count += 1;
        }
    }
    Ok(sums.map(|sum| 100.0 * sum / f64::from(count.max(1))))
}
