//! `loci eval`: how well the store finds what is in it, with the settings in force and beside them with others.
//!
//! Not here: the questions and the figures (the daemon has both).

use crate::cli::store_admin::Eval;
use crate::client::call::Door;
use crate::output::{Problem, Screen, note, plain, say, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::eval::{EvalMetrics, EvalReply, EvalRequest, EvalRun, Latency};
use std::io;
use std::process::ExitCode;

/// Asks, and prints the figures.
///
/// # Errors
/// No daemon, or what it refuses.
pub async fn run(asked: Eval) -> Result<ExitCode, Problem> {
    let door = Door::of_process()?;
    let request =
        EvalRequest { probes: Some(usize::from(asked.probes)), seed: asked.seed, set: asked.set };
    let answer = door.begin("/long/eval", &request).await?.whole().await?;
    let reply: EvalReply = serde_json::from_slice(&answer).map_err(io::Error::from)?;
    if asked.json {
        say(String::from_utf8_lossy(&answer))?;
    } else {
        say(screen(&reply).trim_end())?;
        reply.degraded.hint.iter().for_each(|hint| note("Note:", hint));
    }
    Ok(Exit::Ok.into())
}

fn screen(reply: &EvalReply) -> String {
    let mut rows = vec![row("", reply.runs.iter().map(name))];
    rows.extend(part("known answers", reply.known, &reply.runs, |run| run.known));
    rows.extend(part("probes", reply.probes, &reply.runs, |run| run.probes));
    rows.push(row("a question answered", reply.runs.iter().map(|run| times(run.answering))));
    if reply.reading.p50_ms > 0.0 {
        rows.push(row("a question read", reply.runs.iter().map(|_| times(reply.reading))));
    }
    let nothing =
        if reply.known + reply.probes == 0 { "There is nothing to ask for yet.\n" } else { "" };
    format!(
        "{nothing}{}(times: half of the questions within the first, all but a hundredth within the second)",
        table(&rows)
    )
}

/// The rows of one kind of questions; none where there are no such questions.
fn part(
    what: &str,
    count: usize,
    runs: &[EvalRun],
    of: impl Fn(&EvalRun) -> Option<EvalMetrics>,
) -> Vec<Vec<String>> {
    if count == 0 {
        return Vec::new();
    }
    let line = |name: &str, cell: &dyn Fn(EvalMetrics) -> String| {
        row(name, runs.iter().map(|run| of(run).map_or("-".to_owned(), cell)))
    };
    vec![
        row(&format!("{what} ({count})"), runs.iter().map(|_| String::new())),
        line("  the first", &|figures| percent(figures.recall_at_1)),
        line("  among 5", &|figures| percent(figures.recall_at_5)),
        line("  among 10", &|figures| percent(figures.recall_at_10)),
        line("  1 / its place", &|figures| format!("{:.3}", figures.mrr)),
    ]
}

fn table(rows: &[Vec<String>]) -> String {
    table_on(Screen::of_stdout(), rows)
}

fn name(run: &EvalRun) -> String {
    if run.set.is_empty() { "as set".to_owned() } else { plain(&run.set.join(" ")) }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn times(latency: Latency) -> String {
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
    fn figures_stand_side_by_side() {
        let figures = |first| {
            Some(EvalMetrics {
                recall_at_1: first,
                recall_at_5: 0.75,
                recall_at_10: 1.0,
                mrr: 0.625,
            })
        };
        let run = |set: &[&str], first| EvalRun {
            set: set.iter().map(|pair| (*pair).to_owned()).collect(),
            known: None,
            probes: figures(first),
            answering: Latency { p50_ms: 0.44, p99_ms: 1.26 },
        };
        let reading = Latency { p50_ms: 5.0, p99_ms: 9.0 };
        let runs = vec![run(&[], 0.5), run(&["retrieval.fusion=rrf"], 0.25)];
        let screen = screen(&EvalReply {
            known: 0,
            probes: 8,
            reading,
            runs,
            degraded: Degraded::default(),
        });
        let lines: Vec<&str> = screen.lines().collect();
        assert!(
            lines[0].contains("as set") && lines[0].contains("retrieval.fusion=rrf"),
            "{screen}"
        );
        assert!(
            lines[1].contains("probes (8)")
                && lines[2].contains("50.0 %")
                && lines[2].contains("25.0 %"),
            "{screen}"
        );
        assert!(
            lines[5].contains("0.625")
                && lines[6].contains("0.4 / 1.3 ms")
                && !screen.contains("known"),
            "{screen}"
        );
    }
}
