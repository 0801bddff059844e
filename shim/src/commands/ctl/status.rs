//! `loci ctl status`: prints the state of the daemon and its sessions.

use crate::client::admin;
use crate::client::admin::RequestError;
use crate::client::unreachable::Unreachable;
use crate::output::local_time::{date_time, minute};
use crate::output::{Problem, escape_line, print_line, table};
use loci_proto::admin::{BackupStatus, HookClientStatus, SessionStatus, Status, SwitchStatus};
use loci_proto::off::OffReason;
use loci_proto::paths::Paths;

/// Prints the state; never starts a daemon.
///
/// # Errors
/// `Absent` when none runs.
pub async fn run(paths: &Paths, json: bool) -> Result<(), Problem> {
    let answer = admin::get(paths, "/status").await?;
    if json {
        return print_line(String::from_utf8_lossy(&answer));
    }
    print_line(status_text(&parse(&answer)?).trim_end())
}

/// Fetches the state of the daemon.
///
/// # Errors
/// `Absent` when none runs.
pub async fn fetch(paths: &Paths) -> Result<Status, RequestError> {
    parse(&admin::get(paths, "/status").await?)
}

fn parse(answer: &[u8]) -> Result<Status, RequestError> {
    let unreadable = |error: serde_json::Error| {
        Unreachable::Broken(format!("its status cannot be parsed: {error}"))
    };
    Ok(serde_json::from_slice(answer).map_err(unreadable)?)
}

fn status_text(status: &Status) -> String {
    let Status { version, pid, uptime_s, database, model, memories, queues, .. } = status;
    let uptime = format_duration(*uptime_s);
    let checksum =
        model.sha256.get(..12).map(|start| format!(", SHA-256 {start}…")).unwrap_or_default();
    let mut text = format!("locid {version} is running (pid {pid}, up {uptime})\n\n");
    let mut row =
        |name: &str, value: String| text.extend([&format!("  {name:<10}"), value.as_str(), "\n"]);
    row("database", escape_line(database));
    if status.degraded.iter().any(|part| part == "store") {
        row("store", "not open yet; what follows is not known".to_owned());
    } else {
        row("memories", memories.to_string());
    }
    if let Some(index) = status.index.as_ref().filter(|index| index.state != "ready") {
        row(
            "index",
            format!(
                "{} ({} of {})",
                escape_line(&index.state),
                format_count(index.read),
                format_count(index.of)
            ),
        );
    }
    row("model", format!("{}, {}{checksum}", model.id, model.state));
    if let Some(progress) = &status.re_embedding {
        row("vectors", escape_line(&progress.sentence()));
    }
    row(
        "queued",
        format!(
            "{} to write, {} to read, {} to embed",
            queues.writer, queues.readers, queues.embedding
        ),
    );
    if let Some(at) = &status.last_full_check {
        row("checked", date_time(at));
    }
    row("backups", backups_text(&status.backups));
    if let Some(switches) = switches_text(&status.switches) {
        row("off", switches);
    }
    for client in &status.hooks.clients {
        row("hooks", hooks_text(client));
    }
    if let Some(http) = &status.http {
        row("http", escape_line(&http.url));
    }
    for viewer in &status.viewers {
        row("viewer", escape_line(viewer));
    }
    row("sessions", status.sessions.len().to_string());
    text.push_str(&sessions_table(&status.sessions));
    if !status.degraded.is_empty() {
        text.extend(["\nDegraded: ", &status.degraded.join(", "), "\n"]);
    }
    for warning in &status.warnings {
        text.extend(["\nWarning: ", &escape_line(warning), "\n"]);
    }
    text
}

/// Says where loci is off; `None` if nowhere.
fn switches_text(switches: &SwitchStatus) -> Option<String> {
    let mut parts: Vec<String> = switches.off.iter().map(|name| escape_line(name)).collect();
    if switches.opt_in {
        parts.push("projects without a .loci.toml (projects.opt_in)".to_owned());
    }
    match switches.incognito {
        0 => {}
        1 => parts.push("1 incognito session".to_owned()),
        count => parts.push(format!("{count} incognito sessions")),
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns the hooks of one client as `claude, last 2026-11-21 09:30, delivered 12, missed 0`.
fn hooks_text(client: &HookClientStatus) -> String {
    let last = client.last_event.as_deref().map_or_else(|| "never".to_owned(), minute);
    let delivered = client.last_delivery.as_deref().map(|time| format!(" (last {})", minute(time)));
    let (name, delivered) = (escape_line(&client.client), delivered.unwrap_or_default());
    format!(
        "{name}, last {last}, delivered {}{delivered}, missed {}",
        client.delivered, client.missed
    )
}

fn backups_text(backups: &BackupStatus) -> String {
    let minute = |time: &Option<String>| time.as_deref().map_or_else(|| "never".to_owned(), minute);
    if backups.count == 0 {
        return "none".to_owned();
    }
    format!(
        "{}, the last {}, verified {}, tested {}",
        backups.count,
        minute(&backups.last),
        minute(&backups.last_verified),
        minute(&backups.last_drill)
    )
}

fn off_mark(session: &SessionStatus) -> &'static str {
    match session.off {
        Some(OffReason::Incognito) => " (incognito)",
        Some(_) => " (off)",
        None => "",
    }
}

fn sessions_table(sessions: &[SessionStatus]) -> String {
    if sessions.is_empty() {
        return String::new();
    }
    let heading = ["CLIENT", "PROJECT", "PID", "CALLS", "SINCE"].map(str::to_owned);
    let row = |session: &SessionStatus| {
        let client = session.client.as_deref().unwrap_or("-");
        [
            escape_line(client),
            escape_line(&session.group) + off_mark(session),
            pid_text(session),
            session.calls.to_string(),
            date_time(&session.since),
        ]
    };
    let rows: Vec<_> = std::iter::once(heading).chain(sessions.iter().map(row)).collect();
    format!("\n{}", table(&rows))
}

/// Returns the process id of a session's shim; a client over HTTP has none.
pub(crate) fn pid_text(session: &SessionStatus) -> String {
    session.pid.map_or("HTTP".to_owned(), |pid| pid.to_string())
}

/// Formats a number as `12,345`.
fn format_count(number: usize) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// Formats a duration with at most two units: `3 d 4 h`, `5 min 6 s`.
pub(crate) fn format_duration(seconds: u64) -> String {
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::admin::{
        HookStatus, IndexStatus, ModelStatus, QueueLengths, ReembeddingStatus,
    };
    use loci_proto::http::{HttpStatus, OpenedBy};

    fn status() -> Status {
        let session = |client: Option<&str>, group: &str, calls| SessionStatus {
            client: client.map(str::to_owned),
            group: group.to_owned(),
            pid: (group == "shop").then_some(4242),
            calls,
            since: "2026-11-21T09:30:00Z".to_owned(),
            age_s: 60,
            id: "0199c2aa-7c1e-7000-8000-0123456789ab".to_owned(),
            off: None,
        };
        Status {
            version: "0.1.0".to_owned(),
            pid: 77,
            uptime_s: 11_520,
            database: "/home/anna/.loci/memory.db".to_owned(),
            model: ModelStatus {
                id: "all-MiniLM-L6-v2".to_owned(),
                sha256: "53aa51172d142c89".repeat(4),
                state: "ready".to_owned(),
            },
            re_embedding: Some(ReembeddingStatus {
                from: "all-MiniLM-L6-v2".to_owned(),
                to: "custom-0f1e2d3c4b5a6978".to_owned(),
                done: 1_024,
                total: 10_000,
                state: "running".to_owned(),
            }),
            memories: 132,
            index: Some(IndexStatus {
                state: "loading".to_owned(),
                read: 950,
                of: 1_000_000,
                from: None,
            }),
            sessions: vec![
                session(Some("Claude Code"), "shop", 17),
                session(None, "notes\x1b[2J", 0),
            ],
            queues: QueueLengths { writer: 0, readers: 1, embedding: 0 },
            degraded: vec!["embedding".to_owned()],
            last_full_check: None,
            warnings: vec!["The disk is nearly full".to_owned()],
            storage: Vec::new(),
            backups: BackupStatus {
                count: 2,
                last: Some("2026-11-21T09:30:00.000Z".to_owned()),
                last_verified: Some("2026-11-21T09:30:00.000Z".to_owned()),
                ..BackupStatus::default()
            },
            switches: SwitchStatus::default(),
            hooks: HookStatus {
                missed: 1,
                clients: vec![HookClientStatus {
                    client: "claude".to_owned(),
                    last_event: Some("2026-11-21T09:30:00.000Z".to_owned()),
                    last_delivery: Some("2026-11-21T09:29:00.000Z".to_owned()),
                    delivered: 12,
                    missed: 1,
                }],
            },
            latencies: Vec::new(),
            http: Some(HttpStatus {
                url: "http://127.0.0.1:7433/mcp".to_owned(),
                opened_by: OpenedBy::Config,
            }),
            viewers: vec!["http://127.0.0.1:40123/".to_owned()],
        }
    }

    #[test]
    fn the_status_text_is_aligned_and_escaped() {
        let expected = "\
locid 0.1.0 is running (pid 77, up 3 h 12 min)

  database  /home/anna/.loci/memory.db
  memories  132
  index     loading (950 of 1,000,000)
  model     all-MiniLM-L6-v2, ready, SHA-256 53aa51172d14…
  vectors   re-embedding 1,024 of 10,000, by custom-0f1e2d3c4b5a6978
  queued    0 to write, 1 to read, 0 to embed
  backups   2, the last MINUTE, verified MINUTE, tested never
  hooks     claude, last MINUTE, delivered 12 (last EARLIER), missed 1
  http      http://127.0.0.1:7433/mcp
  viewer    http://127.0.0.1:40123/
  sessions  2

  CLIENT       PROJECT         PID   CALLS  SINCE
  Claude Code  shop            4242     17  TIME
  -            notes\\u{1b}[2J  HTTP      0  TIME

Degraded: embedding

Warning: The disk is nearly full
";
        // The time zone is that of the machine.
        let expected = expected
            .replace("MINUTE", &minute("2026-11-21T09:30:00Z"))
            .replace("EARLIER", &minute("2026-11-21T09:29:00Z"))
            .replace("TIME", &date_time("2026-11-21T09:30:00Z"));
        assert_eq!(status_text(&status()), expected);
    }

    #[test]
    fn durations_have_at_most_two_units() {
        assert_eq!(
            [7, 67, 7_260, 180_000].map(format_duration),
            ["7 s", "1 min 7 s", "2 h 1 min", "2 d 2 h"]
        );
    }
}
