//! A simulated year: 40 episodes a day with the real model, once with maintenance every week and once without.
//!
//!     cargo run --release -p locid --example year -- MODELS [corpus.jsonl queries.jsonl]…
//!
//! The engine is handed the time, so a year takes minutes. Texts come from the files (`id`, `text`; `id`, `text`, `relevant`), a part of
//! each day, and from templates; the same questions are asked of both stores. Not here: the daemon's clock, its queues, its sockets.

#[path = "shared/mod.rs"]
mod shared;

use loci_engine::maintain::{Step, actor};
use loci_engine::model::time::{DAY, Timestamp};
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_engine::operations::store::Draft;
use loci_engine::transaction::access::Boosting;
use loci_engine::transaction::change::CallContext;
use loci_engine::{Actor, Reader, Settings, Writer};
use loci_proto::group::Group;
use loci_proto::requests::recall::{Degraded, RecallRequest};
use loci_proto::requests::stats::StatsRequest;
use serde_json::{Map, Value, json};
use shared::{Anything, Model};
use std::collections::HashMap;
use std::path::PathBuf;

const DAYS: i64 = 365;
const A_DAY: usize = 40;
const REPORTED: [i64; 8] = [30, 60, 90, 120, 180, 240, 300, 365];
/// The first day, 2025-01-06, a Monday.
const FIRST: Timestamp = Timestamp(1_736_121_600_000);
/// Questions asked in full each day, which count as use.
const ASKED: usize = 5;

/// A text of the year, and a question that it answers.
struct Year {
    /// By day.
    texts: Vec<Vec<(String, String)>>,
    /// Question, ids of the texts that answer it.
    questions: Vec<(String, Vec<String>)>,
}

fn main() -> Result<(), Anything> {
    let mut given = std::env::args().skip(1).map(PathBuf::from);
    let models =
        given.next().ok_or("say where the model is, and perhaps corpus.jsonl and queries.jsonl")?;
    let year = year(&given.collect::<Vec<_>>())?;
    let mut model = Model::start(models)?;
    println!(
        "| | day | active | compacted | facts | MB | R@10 last 30 days | R@10 older | asked |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for weekly in [true, false] {
        live(&year, &mut model, weekly)?;
    }
    Ok(())
}

fn year(files: &[PathBuf]) -> Result<Year, Anything> {
    let (mut real, mut questions) = (Vec::new(), Vec::new());
    for file in files {
        for line in std::fs::read_to_string(file)?.lines() {
            let line: Value = serde_json::from_str(line)?;
            let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            match line["relevant"].as_array() {
                Some(ids) => questions.push((
                    text("text"),
                    ids.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect(),
                )),
                None => real.push((text("id"), text("text"))),
            }
        }
    }
    let share = real.len().div_ceil(usize::try_from(DAYS)?).min(A_DAY);
    let mut real = real.into_iter();
    let (mut texts, mut dice) = (Vec::new(), Dice(7));
    for day in 0..DAYS {
        let mut today: Vec<(String, String)> = real.by_ref().take(share).collect();
        while today.len() < A_DAY {
            let id = format!("t{day}-{}", today.len());
            let (text, question) = dice.episode(today.len());
            if today.len() == A_DAY - 1 {
                questions.push((question, vec![id.clone()]));
            }
            today.push((id, text));
        }
        texts.push(today);
    }
    Ok(Year { texts, questions })
}

/// One store through the whole year.
fn live(year: &Year, model: &mut Model, weekly: bool) -> Result<(), Anything> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("memory.db");
    let mut writer = loci_engine::open(&path, Settings::for_model("all-MiniLM-L6-v2"), FIRST)?;
    let reader = writer.reader()?;
    let group = Group { id: "g_year".to_owned(), name: "year".to_owned() };
    // Ids that the store gave, and the day of each text.
    let (mut ids, mut days) = (HashMap::new(), HashMap::new());
    for (day, texts) in (0_i64..).zip(&year.texts) {
        for (number, (name, text)) in (0_i64..).zip(texts) {
            let now = FIRST.plus(day * DAY + number * 600_000);
            let call = CallContext {
                now,
                actor: Actor { client: None, session: None, group: group.clone() },
                key: None,
            };
            let arguments: Map<String, Value> =
                serde_json::from_value(json!({"content": text, "type": "episodic"}))?;
            let draft = Draft::new(loci_proto::mcp::arguments::parse(arguments)?)?;
            let stored = writer.store(&call, &draft, &model.reads(text)?)?;
            ids.insert(name.clone(), stored.id.to_string());
            days.insert(name.clone(), day);
        }
        let evening = FIRST.plus((day + 1) * DAY);
        let asker =
            Asker { reader: &reader, group: &group, now: evening, ids: &ids, days: &days, day };
        let of_today =
            year.questions.iter().cycle().skip(usize::try_from(day)? * ASKED).take(ASKED);
        let mut used = HashMap::new();
        for question in of_today {
            asker
                .ask(model, &question.0)?
                .1
                .into_iter()
                .for_each(|seq| *used.entry(seq).or_insert(0_u32) += 1);
        }
        writer.touch(&used, evening, Boosting::On)?;
        if weekly && day % 7 == 6 {
            maintain(&mut writer, &reader, model, evening)?;
        }
        writer.checkpoint()?;
        if REPORTED.contains(&(day + 1)) {
            report(year, model, &asker_at(&asker), &path, weekly)?;
        }
    }
    Ok(())
}

fn asker_at<'a>(asker: &Asker<'a>) -> Asker<'a> {
    Asker {
        reader: asker.reader,
        group: asker.group,
        now: asker.now,
        ids: asker.ids,
        days: asker.days,
        day: asker.day,
    }
}

/// What the daemon does in a run.
fn maintain(
    writer: &mut Writer,
    reader: &Reader,
    model: &mut Model,
    now: Timestamp,
) -> Result<(), Anything> {
    for step in reader.plan(now)?.steps {
        let call = CallContext { now, actor: actor(step.group()), key: None };
        match step {
            Step::Compact(cluster) => {
                let Some(mut draft) = reader.draft(&cluster)? else { continue };
                for sentence in &mut draft.sentences {
                    if sentence.vector.is_none() {
                        sentence.vector = model.reads(&sentence.text)?.pieces.into_iter().next();
                    }
                }
                let text = model.reads(&draft.text())?;
                writer.compact(&call, &cluster, &draft, &text)?;
            }
            Step::Promote(promotion) => drop(writer.promote(&call, &promotion)?),
        }
    }
    Ok(())
}

/// Who asks a store at one moment.
struct Asker<'a> {
    reader: &'a Reader,
    group: &'a Group,
    now: Timestamp,
    ids: &'a HashMap<String, String>,
    days: &'a HashMap<String, i64>,
    day: i64,
}

impl Asker<'_> {
    /// Ids that an answer of ten gives, those that its summaries quote or name included, and what was given in full.
    fn ask(&self, model: &mut Model, question: &str) -> Result<(Vec<String>, Vec<i64>), Anything> {
        let arguments: Map<String, Value> = serde_json::from_value(
            json!({"query": question, "max_results": 10, "token_budget": 100_000}),
        )?;
        let request: RecallRequest = loci_proto::mcp::arguments::parse(arguments)?;
        let asked = model.is_asked(question)?;
        let degraded = Degraded::default();
        let context = RecallContext {
            group: self.group,
            encoding: Some(&asked),
            now: self.now,
            degraded: &degraded,
            fusion: None,
        };
        let answer = self.reader.recall(&prepare(request)?, context)?;
        let mut given = Vec::new();
        for found in &answer.reply.results {
            given.push(found.id.to_string());
            given.extend(found.sources.iter().map(|source| source.id.to_string()));
            let sources = found
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.get("source_ids"))
                .and_then(Value::as_array);
            // A summary counts for what it quotes: the rest is one call further away.
            let quoted = found
                .metadata
                .as_ref()
                .and_then(|metadata| metadata.get("quotes"))
                .and_then(Value::as_array);
            for at in quoted.into_iter().flatten().filter_map(Value::as_u64) {
                let id = sources
                    .and_then(|ids| ids.get(usize::try_from(at).unwrap_or(usize::MAX)))
                    .and_then(Value::as_str);
                given.extend(id.map(str::to_owned));
            }
        }
        Ok((given, answer.given))
    }
}

fn report(
    year: &Year,
    model: &mut Model,
    asker: &Asker<'_>,
    path: &std::path::Path,
    weekly: bool,
) -> Result<(), Anything> {
    // Share of the texts that answer a question which are among the answers; by the age of the newest of them.
    let (mut recent, mut older) = (Vec::new(), Vec::new());
    for (question, names) in &year.questions {
        let days: Option<Vec<i64>> =
            names.iter().map(|name| asker.days.get(name).copied()).collect();
        let Some(newest) = days.and_then(|days| days.into_iter().max()) else { continue };
        let (given, _) = asker.ask(model, question)?;
        let found = names
            .iter()
            .filter(|name| asker.ids.get(*name).is_some_and(|id| given.contains(id)))
            .count();
        let share = found as f64 / names.len() as f64;
        if asker.day - newest < 30 { recent.push(share) } else { older.push(share) }
    }
    let percent = |all: &[f64]| {
        if all.is_empty() {
            "-".to_owned()
        } else {
            format!("{:.1}", 100.0 * all.iter().sum::<f64>() / all.len() as f64)
        }
    };
    let stats = asker.reader.stats(&StatsRequest::default(), asker.group, asker.now)?;
    println!(
        "| {} | {} | {} | {} | {} | {:.1} | {} | {} | {} |",
        if weekly { "every week" } else { "never" },
        asker.day + 1,
        stats.active_memories,
        stats.compacted,
        stats.by_type.get("semantic").copied().unwrap_or_default(),
        std::fs::metadata(path)?.len() as f64 / 1e6,
        percent(&recent),
        percent(&older),
        recent.len() + older.len()
    );
    Ok(())
}

/// Episodes of a small company, always the same ones.
struct Dice(u64);

impl Dice {
    fn roll<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.number() % of.len() as u64).unwrap_or(0)]
    }

    /// The finisher of splitmix64.
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// An episode and a question that it answers.
    fn episode(&mut self, number: usize) -> (String, String) {
        let person = self.roll(&[
            "Anna", "Bruno", "Chidi", "Dora", "Emre", "Farid", "Greta", "Hana", "Ines", "Jonas",
            "Kofi", "Lena",
        ]);
        let other =
            self.roll(&["Marek", "Nadia", "Omar", "Petra", "Quentin", "Rosa", "Sven", "Tariq"]);
        let system = self.roll(&[
            "billing service",
            "search index",
            "login page",
            "mobile app",
            "data warehouse",
            "message queue",
            "mail gateway",
        ]);
        let place = self.roll(&[
            "Lisbon", "Oslo", "Nairobi", "Osaka", "Quito", "Tallinn", "Porto", "Ghent", "Lima",
            "Hanoi",
        ]);
        let fault = self.roll(&[
            "an expired certificate",
            "a full disk",
            "a missing index",
            "a wrong time zone",
            "a stale cache",
        ]);
        let n = self.number() % 9000 + 100;
        match number % 4 {
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
        }
    }
}
