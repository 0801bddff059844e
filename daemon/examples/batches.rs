//! Measures the gain of batching: encodes the same texts one by one and in batches, alternating, with the real model.
//!
//!     cargo run --release -p locid --example batches -- MODELS [corpus.jsonl]
//!
//! Texts come from the file (`text`) or, without a file, from templates, 10 to 60 tokens each. The last line of the output measures the
//! whole path of a bulk text: queue, tokenizer, batch plan. Not here: storing the vectors (`bench/bulk.py`).

use locid::embedding::chunk::{Chunk, TextKind};
use locid::embedding::onnx::Model;
use locid::embedding::pinned_models::PinnedModel;
use locid::embedding::{Embedder, ModelConfig, Priority};
use serde_json::Value;
use std::path::PathBuf;
use std::time::{Duration, Instant};

type AnyError = Box<dyn std::error::Error>;

/// Maximum number of texts.
const TEXTS: usize = 160;
/// Measurements of each kind; the tables show medians.
const REPETITIONS: usize = 5;
/// Chunk lengths in tokens; texts are cut or repeated to these lengths.
const LENGTHS: [usize; 5] = [10, 20, 30, 60, 120];
/// Maximum tokens of a batch in the daemon, padding included.
const BATCH_TOKENS: usize = 384;

fn main() -> Result<(), AnyError> {
    locid::embedding::onnx::switch_off_telemetry();
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let config = ModelConfig {
        models: arguments.next().ok_or("usage: batches MODELS [corpus.jsonl]")?,
        ort_lib: None,
    };
    let mut models = Vec::new();
    for threads in [1, 2] {
        models.push((threads, Model::load(PinnedModel::standard(), &config, threads)?.0));
    }
    let mut chunks = Vec::new();
    let mut texts = Vec::new();
    for text in read_texts(arguments.next())? {
        let chunk = models[0].1.chunker.split(&text, TextKind::Document)?.swap_remove(0);
        if (10..=60).contains(&chunk.ids.len()) && texts.len() < TEXTS {
            texts.push(text);
            chunks.push(chunk);
        }
    }
    println!(
        "| texts | threads | ms one by one | CPU | ms in batches | CPU | wall, ratio | CPU, ratio |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (threads, model) in &mut models {
        for length in LENGTHS {
            let equal_length: Vec<Chunk> =
                chunks.iter().take(48).map(|chunk| with_length(chunk, length)).collect();
            let size = (BATCH_TOKENS / length).max(1);
            let batches: Vec<Vec<&Chunk>> =
                equal_length.chunks(size).map(|batch| batch.iter().collect()).collect();
            compare(&format!("{length} tokens, {size} per batch"), *threads, model, &batches)?;
        }
        let mut sorted: Vec<&Chunk> = chunks.iter().collect();
        compare(
            "10 to 60 tokens, unsorted, 8 per batch",
            *threads,
            model,
            &sorted.chunks(8).map(<[&Chunk]>::to_vec).collect::<Vec<_>>(),
        )?;
        sorted.sort_by_key(|chunk| chunk.ids.len());
        compare("10 to 60 tokens, sorted by length", *threads, model, &group_by_length(&sorted))?;
    }
    drop(models);
    measure_embedder(config, &texts)
}

/// Groups chunks of similar length up to the token limit. The daemon instead minimises the total cost.
fn group_by_length<'a>(sorted: &[&'a Chunk]) -> Vec<Vec<&'a Chunk>> {
    let mut batches: Vec<Vec<&Chunk>> = Vec::new();
    for chunk in sorted {
        let tokens = chunk.ids.len();
        match batches.last_mut() {
            Some(batch)
                if (batch.len() + 1) * tokens <= BATCH_TOKENS
                    && tokens <= 2 * batch[0].ids.len() + 16 =>
            {
                batch.push(chunk);
            }
            _ => batches.push(vec![chunk]),
        }
    }
    batches
}

/// Cuts or repeats a chunk to a length in tokens.
fn with_length(chunk: &Chunk, length: usize) -> Chunk {
    let content = &chunk.ids[1..chunk.ids.len() - 1];
    let ids = chunk
        .ids
        .iter()
        .take(1)
        .chain(content.iter().cycle().take(length - 2))
        .chain(chunk.ids.last())
        .copied()
        .collect();
    Chunk {
        ids,
        words: chunk.words.iter().filter(|word| word.tokens.end < length).cloned().collect(),
    }
}

/// Encodes chunks one by one and in batches, and prints a row of the table.
fn compare(
    label: &str,
    threads: usize,
    model: &mut Model,
    batches: &[Vec<&Chunk>],
) -> Result<(), AnyError> {
    let (mut single, mut together) = (Vec::new(), Vec::new());
    let texts: usize = batches.iter().map(Vec::len).sum();
    for _ in 0..REPETITIONS {
        single.push(timed(texts, || {
            batches.iter().flatten().try_for_each(|chunk| model.encode(&[chunk]).map(drop))
        })?);
        together.push(timed(texts, || {
            batches.iter().try_for_each(|batch| model.encode(batch).map(drop))
        })?);
    }
    let (single, together) = (median(single), median(together));
    println!(
        "| {label} | {threads} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} | {:.2} |",
        single.wall,
        single.cpu,
        together.wall,
        together.cpu,
        single.wall / together.wall,
        single.cpu / together.cpu
    );
    Ok(())
}

/// Compares a caller that waits for each text with one that submits all texts at once.
fn measure_embedder(config: ModelConfig, texts: &[String]) -> Result<(), AnyError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let embedder = Embedder::start(config);
    runtime.block_on(embedder.wait_until_loaded());
    let (mut single, mut together) = (Vec::new(), Vec::new());
    let texts = &texts[..texts.len().min(loci_proto::limits::QUEUE_LENGTH)];
    for _ in 0..REPETITIONS {
        single.push(timed(texts.len(), || {
            runtime.block_on(async {
                for text in texts {
                    embedder
                        .document(text.clone(), Priority::Bulk)
                        .await
                        .map_err(|e| e.to_string())?;
                }
                Ok(())
            })
        })?);
        together.push(timed(texts.len(), || {
            runtime.block_on(async {
                let all = texts.iter().map(|text| {
                    let (embedder, text) = (embedder.clone(), text.clone());
                    tokio::spawn(async move { embedder.document(text, Priority::Bulk).await })
                });
                for task in all.collect::<Vec<_>>() {
                    task.await.map_err(|e| e.to_string())?.map_err(|e| e.to_string())?;
                }
                Ok(())
            })
        })?);
    }
    let (single, together) = (median(single), median(together));
    println!(
        "through the queue, {} texts: {:.2} ms ({:.2} CPU) one by one, {:.2} ms ({:.2} CPU) at once; ratio {:.2}, CPU {:.2}",
        texts.len(),
        single.wall,
        single.cpu,
        together.wall,
        together.cpu,
        single.wall / together.wall,
        single.cpu / together.cpu
    );
    embedder.stop();
    Ok(())
}

/// Time per text, in ms.
#[derive(Clone, Copy)]
struct TimePerText {
    wall: f64,
    cpu: f64,
}

/// Measures work on a number of texts.
fn timed(texts: usize, work: impl FnOnce() -> Result<(), String>) -> Result<TimePerText, AnyError> {
    let (started, cpu_before) = (Instant::now(), cpu_time()?);
    work()?;
    let per_text = |time: Duration| 1000.0 * time.as_secs_f64() / texts as f64;
    Ok(TimePerText {
        wall: per_text(started.elapsed()),
        cpu: per_text(cpu_time()?.saturating_sub(cpu_before)),
    })
}

/// Returns the CPU time of all threads of this process. Linux only.
fn cpu_time() -> Result<Duration, AnyError> {
    let mut nanos = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let stat = std::fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        nanos += stat.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}

/// Returns the median wall time and the median CPU time.
fn median(mut times: Vec<TimePerText>) -> TimePerText {
    let middle = times.len() / 2;
    times.sort_by(|a, b| a.wall.total_cmp(&b.wall));
    let wall = times[middle].wall;
    times.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
    TimePerText { wall, cpu: times[middle].cpu }
}

fn read_texts(file: Option<PathBuf>) -> Result<Vec<String>, AnyError> {
    let Some(file) = file else {
        let clauses = [
            "the billing service was moved to Oslo",
            "Anna wrote the report",
            "the cache was stale again",
            "nobody had noticed it",
        ];
        return Ok((0..TEXTS)
            .map(|n| {
                format!(
                    "Ticket {n}: {}.",
                    (0..=n % 7).map(|k| clauses[(n + k) % 4]).collect::<Vec<_>>().join(", and ")
                )
            })
            .collect());
    };
    let text_of = |line: &str| {
        Ok(serde_json::from_str::<Value>(line)?["text"].as_str().unwrap_or_default().to_owned())
    };
    std::fs::read_to_string(file)?.lines().map(text_of).collect()
}
