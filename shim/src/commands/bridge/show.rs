//! `loci bridge status`, `list` and `history`: what is watched, the files, and their versions.

use crate::cli::bridge::History;
use crate::client::call::VerbClient;
use crate::output::{
    Problem, Screen, escape_line, escape_lines, print_bytes, print_line, table_on, wrap,
};
use loci_proto::requests::bridge::{
    BridgeClient, BridgeClientStatus, BridgeFile, BridgeFileReply, BridgeFileRequest, BridgeReply,
    BridgeRequest, BridgeVersion,
};
use std::fmt::Write as _;
use std::path::Path;

pub async fn status(client: &VerbClient, scan: bool, json: bool) -> Result<(), Problem> {
    let raw_reply = client.ask(&BridgeRequest { scan, files: false }).await?;
    if json {
        return print_line(raw_reply.as_str());
    }
    let reply: BridgeReply = raw_reply.parse()?;
    print_line(status_text(&reply).trim_end())
}

/// Prints the state of one client.
pub async fn status_of(
    client: &VerbClient,
    watched: BridgeClient,
    json: bool,
) -> Result<(), Problem> {
    let raw_reply = client.ask(&BridgeRequest::default()).await?;
    if json {
        return print_line(raw_reply.as_str());
    }
    let mut reply: BridgeReply = raw_reply.parse()?;
    let name = watched.as_str();
    reply.clients.retain(|client| client.client == name);
    if reply.clients.is_empty() {
        return print_line(format!(
            "The memory of {name} is not watched. Switch it on: loci bridge {name} --on"
        ));
    }
    print_line(status_text(&reply).trim_end())
}

fn status_text(reply: &BridgeReply) -> String {
    if reply.clients.is_empty() {
        return "No client is watched. Switch it on: loci bridge claude --on".to_owned();
    }
    let heading = ["CLIENT", "FILES", "DELETED", "VERSIONS", "IMPORTED", "LAST READ", "FOLDER"];
    let row = |client: &BridgeClientStatus| {
        [
            client.client.clone(),
            client.files.to_string(),
            client.gone.to_string(),
            client.versions.to_string(),
            client.imported.to_string(),
            client.scanned_at.as_deref().map_or_else(|| "never".to_owned(), minute),
            escape_line(&client.folder),
        ]
    };
    let heading = heading.map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(reply.clients.iter().map(row)).collect();
    let mut text = table_on(Screen::of_stdout(), &rows);
    let (kept, max) = (reply.kept_bytes.div_ceil(1 << 10), reply.max_bytes >> 10);
    let seconds = reply.interval_seconds;
    let mut sentences = vec![format!(
        "The files are looked at every {seconds} s while a daemon runs, and when a session starts. Versions take {kept} of {max} KiB."
    )];
    if reply.reworded > 0 {
        let (texts, were, files, wait) = match reply.reworded {
            1 => ("text", "was", "its file", "wording waits"),
            _ => ("texts", "were", "their files", "wordings wait"),
        };
        sentences.push(format!(
            "{} {texts} that you confirmed {were} reworded in {files}. The new {wait} for you: loci list --held --all-groups, then loci confirm ID.",
            reply.reworded
        ));
    }
    let problem = |problem: &String| format!("Not kept: {}", escape_line(problem));
    sentences.extend(reply.problems.iter().map(problem));
    for sentence in sentences {
        for line in wrap(&sentence, Screen::of_stdout().width) {
            let _ = writeln!(text, "{}", &sentence[line]);
        }
    }
    text
}

pub async fn list(client: &VerbClient, json: bool) -> Result<(), Problem> {
    let raw_reply = client.ask(&BridgeRequest { scan: false, files: true }).await?;
    if json {
        return print_line(raw_reply.as_str());
    }
    let reply: BridgeReply = raw_reply.parse()?;
    if reply.files.is_empty() {
        return print_line("No memory file is kept. Switch it on: loci bridge claude --on");
    }
    let row = |file: &BridgeFile| {
        [
            file.client.clone(),
            file.project.as_deref().map_or_else(|| "-".to_owned(), escape_line),
            file.versions.to_string(),
            minute(&file.changed_at),
            format!("{}{}", escape_line(short(file)), if file.gone { " (deleted)" } else { "" }),
        ]
    };
    let heading = ["CLIENT", "PROJECT", "VERSIONS", "CHANGED", "FILE"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(reply.files.iter().map(row)).collect();
    print_line(table_on(Screen::of_stdout(), &rows).trim_end())
}

pub async fn history(client: &VerbClient, args: &History) -> Result<(), Problem> {
    let file = in_full(&args.file);
    let request = BridgeFileRequest { file, version: args.version };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_line(raw_reply.as_str());
    }
    let reply: BridgeFileReply = raw_reply.parse()?;
    if let Some(text) = &reply.text {
        return print_bytes(escape_lines(text).as_bytes());
    }
    let row = |version: &BridgeVersion| {
        let what = match (version.deleted, version.replaced) {
            (true, _) => "deleted by the client".to_owned(),
            (false, 0) => format!("{} bytes", version.bytes),
            (false, 1) => format!("{} bytes, 1 part not kept", version.bytes),
            (false, n) => format!("{} bytes, {n} parts not kept", version.bytes),
        };
        [version.number.to_string(), minute(&version.at), what]
    };
    let heading = ["VERSION", "SEEN", "CONTENT"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(reply.versions.iter().map(row)).collect();
    let table = table_on(Screen::of_stdout(), &rows);
    print_line(format!("{}\n{}", escape_line(&reply.path), table.trim_end()))
}

/// Returns the path that a person typed in full if it is one of a file here; else what was typed.
pub fn in_full(typed: &str) -> String {
    let path = Path::new(typed);
    let full = std::env::current_dir().ok().map(|folder| folder.join(path));
    match full.and_then(|full| full.canonicalize().ok()) {
        Some(full) if full.is_file() => full.to_string_lossy().into_owned(),
        _ => typed.to_owned(),
    }
}

/// Returns the end of a path that tells the files of a project apart.
fn short(file: &BridgeFile) -> &str {
    let below = file.path.split_once("/projects/").map_or(file.path.as_str(), |(_, below)| below);
    match (below.split_once('/'), &file.project) {
        (Some((_, in_project)), Some(_)) if below.len() < file.path.len() => in_project,
        _ => file.path.split_once("/memories/").map_or(below, |(_, below)| below),
    }
}

/// Returns a time without its seconds.
fn minute(time: &str) -> String {
    time.chars().take(16).collect::<String>().replace('T', " ")
}
