//! `loci eval`: measures how well the store finds its own memories, with the current settings and with others.
//!
//! Not here: the queries and the metrics; the daemon computes both.

use crate::cli::store_admin::Eval;
use crate::client::call::VerbClient;
use crate::output::{Problem, Screen, escape_line, print_line, print_note, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::eval::{EvalMetrics, EvalReply, EvalRequest, EvalRun, Latency};
use std::io;
use std::process::ExitCode;

/// Runs the evaluation and prints the metrics.
///
/// # Errors
/// The daemon cannot be reached, or refuses the request.
pub async fn run(args: Eval) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let request =
        EvalRequest { probes: Some(usize::from(args.probes)), seed: args.seed, set: args.set };
    let answer = client.call_streamed("/long/eval", &request).await?.read_all().await?;
    let reply: EvalReply = serde_json::from_slice(&answer).map_err(io::Error::from)?;
    if args.json {
        print_line(String::from_utf8_lossy(&answer))?;
    } else {
        print_line(metrics_text(&reply).trim_end())?;
        reply.degraded.hint.iter().for_each(|hint| print_note("Note:", hint));
    }
    Ok(Exit::Ok.into())
}

fn metrics_text(reply: &EvalReply) -> String {
    let mut rows = vec![row("", reply.runs.iter().map(run_name))];
    rows.extend(section("known answers", reply.known, &reply.runs, |run| run.known));
    rows.extend(section("probes", reply.probes, &reply.runs, |run| run.probes));
    rows.push(row("time per query", reply.runs.iter().map(|run| latency_text(run.search_latency))));
    if reply.encode_latency.p50_ms > 0.0 {
        rows.push(row(
            "time to embed a query",
            reply.runs.iter().map(|_| latency_text(reply.encode_latency)),
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
    runs: &[EvalRun],
    metrics_of: impl Fn(&EvalRun) -> Option<EvalMetrics>,
) -> Vec<Vec<String>> {
    if count == 0 {
        return Vec::new();
    }
    let metric_row = |name: &str, cell: &dyn Fn(EvalMetrics) -> String| {
        row(name, runs.iter().map(|run| metrics_of(run).map_or("-".to_owned(), cell)))
    };
    vec![
        row(&format!("{title} ({count})"), runs.iter().map(|_| String::new())),
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
        let text = metrics_text(&EvalReply {
            known: 0,
            probes: 8,
            encode_latency,
            runs,
            degraded: Degraded::default(),
        });
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
