//! One frame of `loci top` as lines: for the terminal, and for a pipe.

use crate::commands::ctl::status::{format_duration, pid_text};
use crate::commands::top::sample::{Samples, delivered};
use crate::output::local_time::minute;
use crate::output::{Ink, Screen, escape_line, table_on};
use crate::tui::line::InkLine;
use loci_proto::admin::{HookClientStatus, SessionStatus, Status, VerbLatency};

/// The heights of a sparkline.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Milliseconds from which a latency is marked.
const SLOW_MS: f64 = 250.0;

/// Returns the lines for a width.
pub fn lines(samples: &Samples, width: usize) -> Vec<InkLine> {
    let Some(status) = &samples.latest else {
        let reason = samples.lost.as_deref().unwrap_or("waiting for the daemon");
        return vec![InkLine::inked(format!("loci top  {}", escape_line(reason)), Ink::Red)];
    };
    let mut lines = head(samples, status, width);
    let screen = Screen::plain(width);
    section(&mut lines, "Sessions", status.sessions.len(), &sessions(samples, status, screen));
    section(&mut lines, "Calls", status.latencies.len(), &latencies(status, screen));
    section(&mut lines, "Hooks", status.hooks.clients.len(), &hooks(status, screen));
    for warning in &status.warnings {
        lines.push(InkLine::inked(format!("Warning: {}", escape_line(warning)), Ink::Yellow));
    }
    for line in &mut lines {
        line.cut(width);
    }
    lines
}

fn head(samples: &Samples, status: &Status, width: usize) -> Vec<InkLine> {
    let up = format_duration(status.uptime_s);
    let title =
        format!("loci top   locid {} (pid {}, up {up})", escape_line(&status.version), status.pid);
    let mut lines = vec![InkLine::inked(title, Ink::Bold)];
    if let Some(reason) = &samples.lost {
        let text = format!("The daemon does not answer: {}", escape_line(reason));
        lines.push(InkLine::inked(text, Ink::Red));
    }
    let grown = i128::from(status.memories) - i128::from(samples.memories_at_first);
    let watched = format_duration(samples.watched_seconds());
    let injected = delivered(status);
    let new = injected.saturating_sub(samples.delivered_at_first);
    let queues = &status.queues;
    lines.push(InkLine::labelled(
        "memories",
        &format!("{} ({grown:+} in {watched})", status.memories),
    ));
    lines.push(InkLine::labelled(
        "injected",
        &format!("{injected} ({new:+} in {watched}), {} missed", status.hooks.missed),
    ));
    lines.push(InkLine::labelled(
        "queues",
        &format!(
            "{} to write, {} to read, {} to embed",
            queues.writer, queues.readers, queues.embedding
        ),
    ));
    let model = format!("{}, {}", escape_line(&status.model.id), escape_line(&status.model.state));
    lines.push(InkLine::labelled("model", &model));
    if let Some(progress) = &status.re_embedding {
        lines.push(InkLine::labelled("vectors", &escape_line(&progress.sentence())));
    }
    if !samples.calls_per_second.is_empty() {
        let now = samples.calls_per_second.back().copied().unwrap_or_default();
        let room = width.saturating_sub(24).clamp(1, 60);
        lines.push(InkLine::labelled(
            "calls/s",
            &format!("{now:>6.1} {}", sparkline(samples, room)),
        ));
    }
    if !status.degraded.is_empty() {
        lines
            .push(InkLine::inked(format!("Degraded: {}", status.degraded.join(", ")), Ink::Yellow));
    }
    lines
}

/// Returns the calls per second as bars, the latest last.
fn sparkline(samples: &Samples, width: usize) -> String {
    let values: Vec<f64> =
        samples.calls_per_second.iter().rev().take(width).rev().copied().collect();
    let highest = values.iter().copied().fold(1.0, f64::max);
    let bar = |value: &f64| {
        let share = value / highest * (HEIGHTS.len() - 1) as f64;
        // The values are finite and not negative.
        let at = HEIGHTS.iter().enumerate().rfind(|(at, _)| *at as f64 <= share.ceil());
        at.map_or(HEIGHTS[0], |(_, bar)| *bar)
    };
    values.iter().map(bar).collect()
}

fn section(lines: &mut Vec<InkLine>, title: &str, count: usize, table: &str) {
    lines.push(InkLine::plain(""));
    lines.push(InkLine::inked(format!("{title} ({count})"), Ink::Bold));
    let mut rows = table.lines();
    lines.extend(rows.next().map(|heading| InkLine::inked(heading, Ink::Dim)));
    lines.extend(rows.map(|row| {
        let is_slow = row.ends_with('!');
        if is_slow { InkLine::inked(row, Ink::Yellow) } else { InkLine::plain(row) }
    }));
}

fn sessions(samples: &Samples, status: &Status, screen: Screen) -> String {
    let row = |session: &SessionStatus| {
        [
            escape_line(session.client.as_deref().unwrap_or("-")),
            escape_line(&session.group),
            pid_text(session),
            session.calls.to_string(),
            format!("{:+}", samples.new_calls(session)),
            format_duration(session.age_s),
        ]
    };
    let mut busiest: Vec<&SessionStatus> = status.sessions.iter().collect();
    busiest.sort_by_key(|session| (std::cmp::Reverse(samples.new_calls(session)), session.age_s));
    titled(
        ["CLIENT", "PROJECT", "PID", "CALLS", "NEW", "AGE"],
        busiest.into_iter().map(row),
        screen,
    )
}

fn latencies(status: &Status, screen: Screen) -> String {
    let row = |verb: &VerbLatency| {
        let slow = if verb.p99_ms >= SLOW_MS { "!" } else { "" };
        [
            escape_line(&verb.verb),
            verb.calls.to_string(),
            verb.failed.to_string(),
            format!("{:.1}", verb.p50_ms),
            format!("{:.1}", verb.p99_ms),
            format!("{:.1}", verb.max_ms),
            slow.to_owned(),
        ]
    };
    let mut called: Vec<&VerbLatency> = status.latencies.iter().collect();
    called.sort_by_key(|verb| std::cmp::Reverse(verb.calls));
    let heading = ["VERB", "CALLS", "FAILED", "P50 MS", "P99 MS", "MAX MS", ""];
    titled(heading, called.into_iter().map(row), screen)
}

fn hooks(status: &Status, screen: Screen) -> String {
    let row = |client: &HookClientStatus| {
        [
            escape_line(&client.client),
            client.delivered.to_string(),
            client.missed.to_string(),
            client.last_event.as_deref().map_or_else(|| "never".to_owned(), minute),
            client.last_delivery.as_deref().map_or_else(|| "never".to_owned(), minute),
        ]
    };
    let heading = ["CLIENT", "DELIVERED", "MISSED", "LAST EVENT", "LAST DELIVERY"];
    titled(heading, status.hooks.clients.iter().map(row), screen)
}

fn titled<const N: usize>(
    heading: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
    screen: Screen,
) -> String {
    let heading = heading.map(str::to_owned);
    let rows: Vec<[String; N]> = std::iter::once(heading).chain(rows).collect();
    if rows.len() == 1 { String::new() } else { table_on(screen, &rows) }
}
