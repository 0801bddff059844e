//! What it is worth to read texts together: the same texts one by one and in runs, in turns, with the real model.
//!
//!     cargo run --release -p locid --example batches -- MODELS [corpus.jsonl]
//!
//! Texts come from the file (`text`), else from templates, 10 to 60 tokens each. "Through the lane" is the whole way of a text that nobody
//! waits for: queue, tokenizer, rounds sorted by length. Not here: what a text's vectors are stored for.

use locid::embedding::chunk::{Piece, Use};
use locid::embedding::onnx::Model;
use locid::embedding::{Embedder, Lane, ModelConfig};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

type Anything = Box<dyn std::error::Error>;

const TEXTS: usize = 160;
const TURNS: usize = 5;
/// Texts of one length are cut or repeated to it.
const LENGTHS: [usize; 5] = [10, 20, 30, 60, 120];
/// Tokens of a run in the daemon, padding included.
const RUN_TOKENS: usize = 384;

fn main() -> Result<(), Anything> {
    locid::embedding::onnx::switch_off_telemetry();
    let mut given = std::env::args().skip(1).map(PathBuf::from);
    let config = ModelConfig {
        models: given.next().ok_or("say where the model is, and perhaps a corpus")?,
        ort_lib: None,
    };
    let mut models = Vec::new();
    for threads in [1, 2] {
        models.push((threads, Model::load(&config, threads)?.0));
    }
    let mut pieces = Vec::new();
    let mut texts = Vec::new();
    for text in sentences(given.next())? {
        let piece = models[0].1.pieces.of(&text, Use::Document)?.swap_remove(0);
        if (10..=60).contains(&piece.ids.len()) && texts.len() < TEXTS {
            texts.push(text);
            pieces.push(piece);
        }
    }
    println!("| texts | threads | ms singly | CPU | ms in runs | CPU | wall, times | CPU, times |");
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (threads, model) in &mut models {
        for length in LENGTHS {
            let of_one_length: Vec<Piece> =
                pieces.iter().take(48).map(|piece| cut(piece, length)).collect();
            let run = (RUN_TOKENS / length).max(1);
            let runs: Vec<Vec<&Piece>> =
                of_one_length.chunks(run).map(|run| run.iter().collect()).collect();
            compare(&format!("{length} tokens, {run} in a run"), *threads, model, &runs)?;
        }
        let mut sorted: Vec<&Piece> = pieces.iter().collect();
        compare(
            "10 to 60 tokens, as they come, 8 in a run",
            *threads,
            model,
            &sorted.chunks(8).map(<[&Piece]>::to_vec).collect::<Vec<_>>(),
        )?;
        sorted.sort_by_key(|piece| piece.ids.len());
        compare("10 to 60 tokens, sorted by length", *threads, model, &runs_of(&sorted))?;
    }
    drop(models);
    through_the_lane(config, &texts)
}

/// Neighbours in length, a run up to its tokens; the daemon cuts a little finer.
fn runs_of<'a>(sorted: &[&'a Piece]) -> Vec<Vec<&'a Piece>> {
    let mut runs: Vec<Vec<&Piece>> = Vec::new();
    for piece in sorted {
        let tokens = piece.ids.len();
        match runs.last_mut() {
            Some(run)
                if (run.len() + 1) * tokens <= RUN_TOKENS
                    && tokens <= 2 * run[0].ids.len() + 16 =>
            {
                run.push(piece)
            }
            _ => runs.push(vec![piece]),
        }
    }
    runs
}

fn cut(piece: &Piece, length: usize) -> Piece {
    let own = &piece.ids[1..piece.ids.len() - 1];
    let ids = piece
        .ids
        .iter()
        .take(1)
        .chain(own.iter().cycle().take(length - 2))
        .chain(piece.ids.last())
        .copied()
        .collect();
    Piece {
        ids,
        words: piece.words.iter().filter(|word| word.tokens.end < length).cloned().collect(),
    }
}

fn compare(
    what: &str,
    threads: usize,
    model: &mut Model,
    runs: &[Vec<&Piece>],
) -> Result<(), Anything> {
    let (mut single, mut together) = (Vec::new(), Vec::new());
    let texts: usize = runs.iter().map(Vec::len).sum();
    for _ in 0..TURNS {
        single.push(timed(texts, || {
            runs.iter().flatten().try_for_each(|piece| model.run(&[piece]).map(drop))
        })?);
        together.push(timed(texts, || runs.iter().try_for_each(|run| model.run(run).map(drop)))?);
    }
    let [a, b, c, d, wall, spent] = beside(single, together);
    println!("| {what} | {threads} | {a:.2} | {b:.2} | {c:.2} | {d:.2} | {wall:.2} | {spent:.2} |");
    Ok(())
}

/// One caller that waits for each text, against one that hands all in at once.
fn through_the_lane(config: ModelConfig, texts: &[String]) -> Result<(), Anything> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let embedder = Embedder::start(config);
    runtime.block_on(embedder.settled());
    let (mut single, mut together) = (Vec::new(), Vec::new());
    let texts = &texts[..texts.len().min(loci_proto::limits::QUEUE_LENGTH)];
    for _ in 0..TURNS {
        single.push(timed(texts.len(), || {
            runtime.block_on(async {
                for text in texts {
                    embedder.document(text.clone(), Lane::Bulk).await.map_err(|e| e.to_string())?;
                }
                Ok(())
            })
        })?);
        together.push(timed(texts.len(), || {
            runtime.block_on(async {
                let all = texts.iter().map(|text| {
                    let (embedder, text) = (embedder.clone(), text.clone());
                    tokio::spawn(async move { embedder.document(text, Lane::Bulk).await })
                });
                for made in all.collect::<Vec<_>>() {
                    made.await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
                }
                Ok(())
            })
        })?);
    }
    let ([a, b, c, d, wall, spent], count) = (beside(single, together), texts.len());
    println!(
        "through the lane, {count} texts: {a:.2} ms ({b:.2} of CPU) one by one, {c:.2} ms ({d:.2}) at once: {wall:.2} times, {spent:.2} in CPU time"
    );
    embedder.stop();
    Ok(())
}

/// Wall and CPU time of one text in milliseconds.
fn timed(texts: usize, work: impl FnOnce() -> Result<(), String>) -> Result<(f64, f64), Anything> {
    let (began, spent) = (Instant::now(), cpu()?);
    work()?;
    let per_text = |time: Duration| 1000.0 * time.as_secs_f64() / texts as f64;
    Ok((per_text(began.elapsed()), per_text(cpu()?.saturating_sub(spent))))
}

/// CPU time of all threads of this process. Linux only.
fn cpu() -> Result<Duration, Anything> {
    let mut nanos = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let told = std::fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        nanos += told.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}

/// Medians: wall and CPU time one by one, wall and CPU time together, and how many times less each is.
fn beside(single: Vec<(f64, f64)>, together: Vec<(f64, f64)>) -> [f64; 6] {
    let (single, together) = (middle(single), middle(together));
    [single.0, single.1, together.0, together.1, single.0 / together.0, single.1 / together.1]
}

/// The medians of both.
fn middle(mut times: Vec<(f64, f64)>) -> (f64, f64) {
    let half = times.len() / 2;
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wall = times[half].0;
    times.sort_by(|a, b| a.1.total_cmp(&b.1));
    (wall, times[half].1)
}

fn sentences(file: Option<PathBuf>) -> Result<Vec<String>, Anything> {
    let Some(file) = file else {
        let clause = [
            "the billing service was moved to Oslo",
            "Anna wrote the report",
            "the cache was stale again",
            "nobody had noticed it",
        ];
        return Ok((0..TEXTS)
            .map(|n| {
                format!(
                    "Ticket {n}: {}.",
                    (0..=n % 7).map(|k| clause[(n + k) % 4]).collect::<Vec<_>>().join(", and ")
                )
            })
            .collect());
    };
    let line = |line: &str| {
        Ok(serde_json::from_str::<Value>(line)?["text"].as_str().unwrap_or_default().to_owned())
    };
    std::fs::read_to_string(file)?.lines().map(line).collect()
}
