//! Simulates a year with the real model: 40 episodes a day, once with weekly maintenance and once without.
//!
//!     cargo run --release -p locid --example year -- MODELS [corpus.jsonl queries.jsonl]…
//!
//! Time is an argument of the engine, so a year takes minutes. Texts come from the files (a corpus line has `id` and `text`, a query line
//! also `relevant`), an equal share each day, and for the other episodes from templates. Both stores get the same queries. Not here: the daemon.

#[path = "shared/mod.rs"]
mod shared;

use loci_engine::maintain::{Step, actor};
use loci_engine::model::time::{ClockReading, DAY, Timestamp};
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::operations::store::Draft;
use loci_engine::transaction::access::{Accesses, Boosting};
use loci_engine::transaction::change::CallContext;
use loci_engine::{Actor, Reader, Settings, Writer};
use loci_proto::degraded::Degraded;
use loci_proto::group::Group;
use loci_proto::requests::recall::RecallRequest;
use loci_proto::requests::stats::StatsRequest;
use locid::embedding::MODEL_ID;
use serde_json::{Map, Value, json};
use shared::{AnyError, Model};
use std::collections::HashMap;
use std::path::PathBuf;

const DAYS: i64 = 365;
/// Episodes per day.
const EPISODES_PER_DAY: usize = 40;
/// Days after which a row is printed.
const REPORTED_DAYS: [i64; 8] = [30, 60, 90, 120, 180, 240, 300, 365];
/// The first day, 2025-01-06, a Monday.
const START: Timestamp = Timestamp(1_736_121_600_000);
/// Below this confidence a memory has faded.
const FADED_THRESHOLD: f64 = 0.1;
/// Queries per day whose results count as accesses.
const DAILY_QUERIES: usize = 5;

/// The texts and queries of the simulated year.
struct Year {
    /// The texts of each day.
    texts: Vec<Vec<EpisodeText>>,
    queries: Vec<Query>,
}

/// The text of an episode.
struct EpisodeText {
    id: String,
    text: String,
}

/// A query and the ids of the texts that answer it.
struct Query {
    text: String,
    relevant: Vec<String>,
}

fn main() -> Result<(), AnyError> {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let models = arguments.next().ok_or("usage: year MODELS [corpus.jsonl queries.jsonl]…")?;
    let year = read_year(&arguments.collect::<Vec<_>>())?;
    let mut model = Model::start(models)?;
    println!(
        "| | day | active | compacted | facts | MB | R@10 last 30 days | R@10 older | older, confidence ≥ 0.1 | queries |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for weekly in [true, false] {
        simulate(&year, &mut model, weekly)?;
    }
    Ok(())
}

fn read_year(files: &[PathBuf]) -> Result<Year, AnyError> {
    let (mut real, mut queries) = (Vec::new(), Vec::new());
    for file in files {
        for line in std::fs::read_to_string(file)?.lines() {
            let line: Value = serde_json::from_str(line)?;
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            match line["relevant"].as_array() {
                Some(ids) => {
                    let relevant =
                        ids.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect();
                    queries.push(Query { text: text("text"), relevant });
                }
                None => real.push(EpisodeText { id: text("id"), text: text("text") }),
            }
        }
    }
    let share = real.len().div_ceil(usize::try_from(DAYS)?).min(EPISODES_PER_DAY);
    let mut real = real.into_iter();
    let (mut texts, mut generator) = (Vec::new(), EpisodeGenerator(7));
    for day in 0..DAYS {
        let mut today: Vec<EpisodeText> = real.by_ref().take(share).collect();
        while today.len() < EPISODES_PER_DAY {
            let id = format!("t{day}-{}", today.len());
            let GeneratedEpisode { text, question } = generator.episode(today.len());
            if today.len() == EPISODES_PER_DAY - 1 {
                queries.push(Query { text: question, relevant: vec![id.clone()] });
            }
            today.push(EpisodeText { id, text });
        }
        texts.push(today);
    }
    Ok(Year { texts, queries })
}

/// Simulates the year with one store.
fn simulate(year: &Year, model: &mut Model, weekly: bool) -> Result<(), AnyError> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let mut writer = loci_engine::open(&path, Settings::for_model(MODEL_ID), START)?;
    let reader = writer.reader()?;
    let group = Group { id: "g_year".to_owned(), name: "year".to_owned() };
    // The memory id and the day of each text, by the text's id.
    let (mut memory_ids, mut days) = (HashMap::new(), HashMap::new());
    for (day, texts) in (0_i64..).zip(&year.texts) {
        for (number, EpisodeText { id, text }) in (0_i64..).zip(texts) {
            let now = START.plus(day * DAY + number * 600_000);
            let call = CallContext {
                now,
                actor: Actor::unnamed_agent(group.clone()),
                key: None,
                shown: None,
            };
            let arguments: Map<String, Value> =
                serde_json::from_value(json!({"content": text, "type": "episodic"}))?;
            let draft = Draft::new(loci_proto::mcp::arguments::parse(arguments)?, now)?;
            let stored = writer.store(&call, &draft, &model.encode_document(text)?)?;
            memory_ids.insert(id.clone(), stored.id.to_string());
            days.insert(id.clone(), day);
        }
        let evening = START.plus((day + 1) * DAY);
        let searcher = Searcher {
            reader: &reader,
            group: &group,
            now: evening,
            memory_ids: &memory_ids,
            days: &days,
            day,
        };
        let todays_queries = year
            .queries
            .iter()
            .cycle()
            .skip(usize::try_from(day)? * DAILY_QUERIES)
            .take(DAILY_QUERIES);
        let mut accesses = HashMap::new();
        for query in todays_queries {
            searcher.search(model, &query.text, None)?.accessed.into_iter().for_each(|seq| {
                accesses.entry(seq).or_insert(Accesses::boosting(0)).times += 1;
            });
        }
        writer.touch(&accesses, evening, Boosting::On)?;
        if weekly && day % 7 == 6 {
            maintain(&mut writer, &reader, model, evening)?;
        }
        writer.checkpoint(ClockReading { now: evening, is_trusted: true })?;
        if REPORTED_DAYS.contains(&(day + 1)) {
            report(year, model, &searcher, &path, weekly)?;
        }
    }
    Ok(())
}

/// Runs maintenance as the daemon does.
fn maintain(
    writer: &mut Writer,
    reader: &Reader,
    model: &mut Model,
    now: Timestamp,
) -> Result<(), AnyError> {
    for step in reader.plan(now)?.steps {
        let call = CallContext { now, actor: actor(step.group()), key: None, shown: None };
        match step {
            Step::Compact(cluster) => {
                let Some(mut draft) = reader.draft(&cluster)? else { continue };
                for sentence in &mut draft.sentences {
                    if sentence.vector.is_none() {
                        let encodings = model.encode_document(&sentence.text)?;
                        let encoding = encodings.by(MODEL_ID);
                        sentence.vector =
                            encoding.and_then(|encoding| encoding.vectors.first().cloned());
                    }
                }
                let text = model.encode_document(&draft.text())?;
                writer.compact(&call, &cluster, &draft, &text)?;
            }
            Step::Promote(promotion) => drop(writer.promote(&call, &promotion)?),
            Step::Purge(purge) => drop(writer.purge_forgotten(&call, &purge)?),
        }
    }
    Ok(())
}

/// A reader of a store at one moment.
struct Searcher<'a> {
    reader: &'a Reader,
    group: &'a Group,
    now: Timestamp,
    /// Memory id by text id.
    memory_ids: &'a HashMap<String, String>,
    /// Day by text id.
    days: &'a HashMap<String, i64>,
    /// The current day.
    day: i64,
}

/// The outcome of a search.
struct SearchOutcome {
    /// Ids of the results, of their sources, and of the episodes that summaries quote.
    ids: Vec<String>,
    /// Row numbers of the memories that were returned in full.
    accessed: Vec<i64>,
}

impl Searcher<'_> {
    /// Searches for ten results.
    fn search(
        &self,
        model: &mut Model,
        question: &str,
        min_confidence: Option<f64>,
    ) -> Result<SearchOutcome, AnyError> {
        let arguments: Map<String, Value> = serde_json::from_value(
            json!({"query": question, "max_results": 10, "token_budget": 100_000, "min_confidence": min_confidence}),
        )?;
        let request: RecallRequest = loci_proto::mcp::arguments::parse(arguments)?;
        let encoding = model.encode_query(question)?;
        let degraded = Degraded::default();
        let context = RecallContext {
            viewer: self.group.into(),
            client: None,
            encoding: Some(&encoding),
            now: self.now,
            rerank: None,
            degraded: &degraded,
            fusion: None,
            is_agent: false,
            names_project: false,
            files: None,
        };
        let answer = self.reader.recall(&prepare(request, context.now)?, context)?;
        let mut ids = Vec::new();
        for result in &answer.reply.results {
            ids.push(result.id.to_string());
            ids.extend(result.sources.iter().map(|source| source.id.to_string()));
            let sources = result
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.get("source_ids"))
                .and_then(Value::as_array);
            // A summary counts for the episodes that it quotes; the others need one more call.
            let quoted = result
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.get("quotes"))
                .and_then(Value::as_array);
            for index in quoted.into_iter().flatten().filter_map(Value::as_u64) {
                let id = sources
                    .and_then(|ids| ids.get(usize::try_from(index).unwrap_or(usize::MAX)))
                    .and_then(Value::as_str);
                ids.extend(id.map(str::to_owned));
            }
        }
        Ok(SearchOutcome { ids, accessed: answer.accessed })
    }
}

/// Prints a row of the table. R@10 is the share of a query's relevant texts among the results.
fn report(
    year: &Year,
    model: &mut Model,
    searcher: &Searcher<'_>,
    path: &std::path::Path,
    weekly: bool,
) -> Result<(), AnyError> {
    // R@10 of each query, by the age of its newest relevant text.
    let (mut recent, mut older, mut older_unfaded) = (Vec::new(), Vec::new(), Vec::new());
    for Query { text, relevant } in &year.queries {
        let days: Option<Vec<i64>> =
            relevant.iter().map(|id| searcher.days.get(id).copied()).collect();
        let Some(newest) = days.and_then(|days| days.into_iter().max()) else { continue };
        let mut share = |min_confidence: Option<f64>| -> Result<f64, AnyError> {
            let ids = searcher.search(model, text, min_confidence)?.ids;
            let is_found =
                |id: &&String| searcher.memory_ids.get(*id).is_some_and(|id| ids.contains(id));
            Ok(relevant.iter().filter(is_found).count() as f64 / relevant.len() as f64)
        };
        if searcher.day - newest < 30 {
            recent.push(share(None)?);
        } else {
            older.push(share(None)?);
            older_unfaded.push(share(Some(FADED_THRESHOLD))?);
        }
    }
    let mean_percent = |shares: &[f64]| {
        if shares.is_empty() {
            "-".to_owned()
        } else {
            format!("{:.1}", 100.0 * shares.iter().sum::<f64>() / shares.len() as f64)
        }
    };
    let stats = searcher.reader.stats(&StatsRequest::default(), searcher.group, searcher.now)?;
    println!(
        "| {} | {} | {} | {} | {} | {:.1} | {} | {} | {} | {} |",
        if weekly { "every week" } else { "never" },
        searcher.day + 1,
        stats.active_memories,
        stats.compacted,
        stats.by_type.get("semantic").copied().unwrap_or_default(),
        std::fs::metadata(path)?.len() as f64 / 1e6,
        mean_percent(&recent),
        mean_percent(&older),
        mean_percent(&older_unfaded),
        recent.len() + older.len()
    );
    Ok(())
}

/// An episode and a query that it answers.
struct GeneratedEpisode {
    text: String,
    question: String,
}

/// Deterministic generator of the episodes of a small company.
struct EpisodeGenerator(u64);

impl EpisodeGenerator {
    fn choose<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[usize::try_from(self.number() % options.len() as u64).unwrap_or(0)]
    }

    /// Returns the next number of splitmix64.
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Returns the next episode; `number` selects its template.
    fn episode(&mut self, number: usize) -> GeneratedEpisode {
        let person = self.choose(&[
            "Anna", "Bruno", "Chidi", "Dora", "Emre", "Farid", "Greta", "Hana", "Ines", "Jonas",
            "Kofi", "Lena",
        ]);
        let other =
            self.choose(&["Marek", "Nadia", "Omar", "Petra", "Quentin", "Rosa", "Sven", "Tariq"]);
        let system = self.choose(&[
            "billing service",
            "search index",
            "login page",
            "mobile app",
            "data warehouse",
            "message queue",
            "mail gateway",
        ]);
        let place = self.choose(&[
            "Lisbon", "Oslo", "Nairobi", "Osaka", "Quito", "Tallinn", "Porto", "Ghent", "Lima",
            "Hanoi",
        ]);
        let fault = self.choose(&[
            "an expired certificate",
            "a full disk",
            "a missing index",
            "a wrong time zone",
            "a stale cache",
        ]);
        let n = self.number() % 9000 + 100;
        let (text, question) = match number % 4 {
            0 => (
                format!(
                    "{person} traced ticket {n} about the {system} in {place} to {fault}. {other} wrote the report."
                ),
                format!("What was behind ticket {n} about the {system}?"),
            ),
            1 => (
                format!(
                    "{person} and {other} met in {place} and agreed on a budget of {n} euros for the {system}."
                ),
                format!(
                    "What budget did {person} and {other} agree on in {place} for the {system}, {n} euros?"
                ),
            ),
            2 => (
                format!(
                    "Release {n} of the {system} was rolled back because of {fault}. {person} told the customers in {place}."
                ),
                format!("Why was release {n} of the {system} rolled back?"),
            ),
            _ => (
                format!(
                    "{other} asked {person} to move the {system} out of {place} before order {n} is due."
                ),
                format!("Who asked {person} to move the {system} before order {n}?"),
            ),
        };
        GeneratedEpisode { text, question }
    }
}
