//! `loci ctl ps`: lists the connected agents and the memory of their shims.

use crate::commands::ctl::status;
use crate::output::{Problem, escape_line, print_line, table};
use loci_proto::admin::SessionStatus;
use loci_proto::paths::Paths;
use serde_json::json;

/// Prints the sessions; never starts a daemon.
///
/// # Errors
/// `Absent` when none runs.
pub async fn run(paths: &Paths, as_json: bool) -> Result<(), Problem> {
    let sessions = status::fetch(paths).await?.sessions;
    if as_json {
        let rows: Vec<_> = sessions
            .iter()
            .map(|session| json!({"session": session, "rss_kib": session.pid.and_then(rss_kib)}))
            .collect();
        return print_line(json!(rows).to_string());
    }
    if sessions.is_empty() {
        return print_line("No agent is connected");
    }
    let heading = ["CLIENT", "PROJECT", "PID", "CALLS", "AGE", "MEMORY"].map(str::to_owned);
    let rows: Vec<[String; 6]> = std::iter::once(heading).chain(sessions.iter().map(row)).collect();
    print_line(table(&rows).trim_end())
}

fn row(session: &SessionStatus) -> [String; 6] {
    let memory = session
        .pid
        .and_then(rss_kib)
        .map_or("-".to_owned(), |kib| format!("{:.1} MiB", kib as f64 / 1024.0));
    let client = session.client.as_deref().unwrap_or("-");
    let (pid, calls) = (status::pid_text(session), session.calls.to_string());
    [
        escape_line(client),
        escape_line(&session.group),
        pid,
        calls,
        status::format_duration(session.age_s),
        memory,
    ]
}

/// Returns the resident memory of a process in KiB; `None` if unknown.
fn rss_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}
