//! Imports the memories of another program: sends what `locid read` read to the daemon for a preview, shows it, asks, and sends it again.
//!
//! Not here: what becomes of a memory (the daemon).

use crate::cli::import::Import;
use crate::client::call::VerbClient;
use crate::commands::short_lived;
use crate::commands::transfer::import::native::{self, Bytes};
use crate::commands::transfer::import::preview::{self, Preview};
use crate::output::{Problem, confirm, print_line};
use crate::speaker;
use loci_proto::error::Exit;
use loci_proto::foreign::{ForeignLine, ForeignMemory, ImportSource, Reading};
use loci_proto::requests::export::FORMAT_VERSION;
use loci_proto::requests::import::{ForeignImport, ImportReply, ImportRequest};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// Imports from one program, or from transcripts.
///
/// # Errors
/// Nothing can be read, there is no confirmation, or the daemon cannot be reached or refuses the lines.
pub async fn run(from: ImportSource, args: &Import) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let reading = read(from, args).await?;
    if !reading.records.is_empty() {
        let heading = preview::of_files(&reading);
        let bytes = Bytes::in_memory(export_lines(&reading.records));
        let code = native::ask_and_upload(&client, args, &heading, bytes).await?;
        // A folder of an export may hold other notes.
        if reading.memories.is_empty() {
            return Ok(code);
        }
    }
    let lines = lines_of(&reading);
    let request = request(from, args);
    let preview = ImportRequest { preview: true, ..request.clone() };
    let planned = send(&client, &preview, &lines).await?.preview.unwrap_or_default();
    let shown = Preview { from, reading: &reading, planned: &planned };
    if !args.json {
        print_line(shown.text().trim_end())?;
    }
    if args.dry_run || !shown.changes_something() {
        if args.json {
            print_line(shown.json().to_string())?;
        }
        return Ok(Exit::Ok.into());
    }
    confirm("Import them?", args.yes.into())?;
    let reply = send(&client, &request, &lines).await?;
    if args.json {
        print_line(json!({"preview": shown.json(), "import": reply}).to_string())?;
    } else {
        print_line(native::report_text(&reply).trim_end())?;
    }
    Ok(Exit::Ok.into())
}

/// Returns the request for what was read.
fn request(from: ImportSource, args: &Import) -> ImportRequest {
    // A person sees the preview and says yes; a script says it for nobody.
    let asked = speaker::of_process().is_person() && !args.yes && io::stdin().is_terminal();
    ImportRequest {
        skip_bad: true,
        own_texts: args.mine,
        preview: false,
        foreign: Some(ForeignImport { from, asked, group: args.group.clone() }),
    }
}

/// Sends lines; returns the reply.
async fn send(
    client: &VerbClient,
    request: &ImportRequest,
    lines: &[u8],
) -> Result<ImportReply, Problem> {
    let bytes = Bytes::in_memory(lines.to_vec());
    native::parse(&native::upload(client, request, bytes).await?)
}

/// Returns the lines of what was read.
fn lines_of(reading: &Reading) -> Vec<u8> {
    let files = reading.files.iter().map(|path| ForeignLine::File { path: path.clone() });
    let projects = reading.projects.iter().cloned().map(ForeignLine::Project);
    let memory = |memory: &ForeignMemory| ForeignLine::Memory(Box::new(memory.clone()));
    let mut bytes = Vec::new();
    for line in files.chain(projects).chain(reading.memories.iter().map(memory)) {
        // It has only text keys, and a vector takes all bytes.
        let _ = serde_json::to_writer(&mut bytes, &line);
        bytes.push(b'\n');
    }
    bytes
}

/// Returns records that loci itself has written as the lines of an export.
fn export_lines(records: &[Value]) -> Vec<u8> {
    let mut text = json!({"loci": "export", "version": FORMAT_VERSION}).to_string();
    for record in records {
        text.push('\n');
        text.push_str(&record.to_string());
    }
    let end = json!({"kind": "end", "lines": records.len() + 1});
    format!("{text}\n{end}\n").into_bytes()
}

/// Reads the memories of a program, or transcripts.
async fn read(from: ImportSource, args: &Import) -> Result<Reading, Problem> {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    let mut arguments: Vec<OsString> =
        vec!["read".into(), "--from".into(), from.to_string().into()];
    arguments.extend(["--home".into(), home.unwrap_or_default().into_os_string()]);
    if from == ImportSource::Transcripts {
        let since = args.since.map(|seconds| now().saturating_sub(seconds.saturating_mul(1000)));
        arguments.extend(["--since".into(), since.unwrap_or(0).to_string().into()]);
        for client in &args.client {
            arguments.extend(["--client".into(), client.as_str().into()]);
        }
    }
    arguments.push("--".into());
    arguments.extend(args.paths.iter().map(|path| path.clone().into_os_string()));
    short_lived::parse(&short_lived::run(&arguments).await?)
}

fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}
