//! `loci eval`: measures how well the store finds its own memories, with the current settings and with others; with other models, on a copy (`eval_models`).
//!
//! Not here: the queries and the metrics; the daemon computes both.

use crate::cli::store_admin::Eval;
use crate::client::call::VerbClient;
use crate::commands::eval_models;
use crate::commands::eval_models::ModelReply;
use crate::commands::reply_text::to_json;
use crate::output::{Problem, Screen, escape_line, print_line, print_note, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::eval::{EvalMetrics, EvalReply, EvalRequest, EvalRun, Latency};
use serde_json::json;
use std::io;
use std::process::ExitCode;

/// What the comparison of models does not show.
const PROBES_NOTE: &str = "Probes are words of the memories themselves. They do not show what a model finds by other words or in another \
                           language: known answers do, after some use";

/// Runs the evaluation and prints the metrics.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request.
pub async fn run(args: Eval) -> Result<ExitCode, Problem> {
    if !args.models.is_empty() {
        return compare_models(&args).await;
    }
    let client = VerbClient::of_process()?;
    let request =
        EvalRequest { probes: Some(usize::from(args.probes)), seed: args.seed, set: args.set };
    let answer = client.call_streamed("/long/eval", &request).await?.read_all().await?;
    let reply: EvalReply = serde_json::from_slice(&answer).map_err(io::Error::from)?;
    if args.json {
        print_line(String::from_utf8_lossy(&answer))?;
    } else {
        let columns = reply.runs.iter().map(|run| Column::of(run, run_name(run), &reply));
        print_line(metrics_text(&reply, &columns.collect::<Vec<_>>()).trim_end())?;
        reply.degraded.hint.iter().for_each(|hint| print_note("Note:", hint));
    }
    Ok(Exit::Ok.into())
}

async fn compare_models(args: &Eval) -> Result<ExitCode, Problem> {
    let replies = eval_models::run(args).await?;
    let columns = replies.iter().filter_map(|ModelReply { model, reply }| {
        reply.runs.first().map(|run| Column::of(run, model.clone(), reply))
    });
    if args.json {
        print_line(to_json(&json!({"models": replies}))?)?;
    } else if let Some(first) = replies.first() {
        print_line(metrics_text(&first.reply, &columns.collect::<Vec<_>>()).trim_end())?;
        print_note("Note:", PROBES_NOTE);
    }
    Ok(Exit::Ok.into())
}

/// One column of the table.
struct Column {
    name: String,
    run: EvalRun,
    encode_latency: Latency,
}

impl Column {
    fn of(run: &EvalRun, name: String, reply: &EvalReply) -> Self {
        Self { name, run: run.clone(), encode_latency: reply.encode_latency }
    }
}

/// Returns the table. All columns have the queries of `reply`.
fn metrics_text(reply: &EvalReply, columns: &[Column]) -> String {
    let mut rows = vec![row("", columns.iter().map(|column| column.name.clone()))];
    rows.extend(section("known answers", reply.known, columns, |run| run.known));
    rows.extend(section("probes", reply.probes, columns, |run| run.probes));
    rows.push(row(
        "time per query",
        columns.iter().map(|column| latency_text(column.run.search_latency)),
    ));
    if columns.iter().any(|column| column.encode_latency.p50_ms > 0.0) {
        rows.push(row(
            "time to embed a query",
            columns.iter().map(|column| latency_text(column.encode_latency)),
        ));
    }
    let notice =
        if reply.known + reply.probes == 0 { "There are no memories to query yet.\n" } else { "" };
    format!("{notice}{}(times: 50th / 99th percentile)", table_on(Screen::of_stdout(), &rows))
}

/// Returns the rows of one kind of query; none if `count` is 0.
fn section(
    title: &str,
    count: usize,
    columns: &[Column],
    metrics_of: impl Fn(&EvalRun) -> Option<EvalMetrics>,
) -> Vec<Vec<String>> {
    if count == 0 {
        return Vec::new();
    }
    let metric_row = |name: &str, cell: &dyn Fn(EvalMetrics) -> String| {
        let metrics = columns.iter().map(|column| metrics_of(&column.run));
        row(name, metrics.map(|metrics| metrics.map_or("-".to_owned(), cell)))
    };
    vec![
        row(&format!("{title} ({count})"), columns.iter().map(|_| String::new())),
        metric_row("  recall at 1", &|metrics| percent(metrics.recall_at_1)),
        metric_row("  recall at 5", &|metrics| percent(metrics.recall_at_5)),
        metric_row("  recall at 10", &|metrics| percent(metrics.recall_at_10)),
        metric_row("  MRR@20", &|metrics| format!("{:.3}", metrics.mrr)),
    ]
}

fn run_name(run: &EvalRun) -> String {
    if run.set.is_empty() { "current settings".to_owned() } else { escape_line(&run.set.join(" ")) }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn latency_text(latency: Latency) -> String {
    format!("{:.1} / {:.1} ms", latency.p50_ms, latency.p99_ms)
}

fn row(name: &str, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(name.to_owned()).chain(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::degraded::Degraded;

    #[test]
    fn the_metrics_of_each_run_are_columns() {
        let metrics = |recall_at_1| {
            Some(EvalMetrics { recall_at_1, recall_at_5: 0.75, recall_at_10: 1.0, mrr: 0.625 })
        };
        let run = |set: &[&str], recall_at_1| EvalRun {
            set: set.iter().map(|pair| (*pair).to_owned()).collect(),
            known: None,
            probes: metrics(recall_at_1),
            search_latency: Latency { p50_ms: 0.44, p99_ms: 1.26 },
        };
        let encode_latency = Latency { p50_ms: 5.0, p99_ms: 9.0 };
        let runs = vec![run(&[], 0.5), run(&["retrieval.fusion=rrf"], 0.25)];
        let reply =
            EvalReply { known: 0, probes: 8, encode_latency, runs, degraded: Degraded::default() };
        let columns = reply.runs.iter().map(|run| Column::of(run, run_name(run), &reply));
        let text = metrics_text(&reply, &columns.collect::<Vec<_>>());
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines[0].contains("current settings") && lines[0].contains("retrieval.fusion=rrf"),
            "{text}"
        );
        assert!(
            lines[1].contains("probes (8)")
                && lines[2].contains("50.0 %")
                && lines[2].contains("25.0 %"),
            "{text}"
        );
        assert!(
            lines[5].contains("0.625")
                && lines[6].contains("0.4 / 1.3 ms")
                && !text.contains("known"),
            "{text}"
        );
    }
}
