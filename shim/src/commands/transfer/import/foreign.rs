//! Imports the memories of another program: sends what `locid read` read to the daemon for a preview, shows it, asks, and sends it again.
//!
//! Not here: what becomes of a memory (the daemon).

use crate::cli::import::Import;
use crate::client::call::{VerbClient, agent_session_of_process};
use crate::commands::short_lived;
use crate::commands::transfer::import::native::{self, Source};
use crate::commands::transfer::import::preview;
use crate::output::{Problem, confirm, print_line};
use crate::project::{self, Environment};
use loci_proto::error::Exit;
use loci_proto::foreign::{
    self, ForeignLine, ForeignMemory, ForeignProject, Format, LocalProject, Reading,
};
use loci_proto::requests::export::FORMAT_VERSION;
use loci_proto::requests::import::{ForeignImport, ImportChange, ImportReply, ImportRequest};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;

/// Imports from one program.
///
/// # Errors
/// Nothing can be read, there is no confirmation, or the daemon cannot be reached or refuses the lines.
pub async fn run(format: Format, args: &Import) -> Result<ExitCode, Problem> {
    let reading = read(format, args).await?;
    if !reading.records.is_empty() {
        let heading = preview::of_files(&reading);
        let source = Source::of_bytes(export_lines(&reading.records));
        let client = VerbClient::of_process()?;
        let code = native::ask_and_upload(&client, args, &heading, source).await?;
        // A folder of an export may hold other notes.
        if reading.memories.is_empty() {
            return Ok(code);
        }
    }
    let client = VerbClient::of_process()?;
    let lines = lines_of(&reading);
    let from = foreign::Source::Memories(format);
    let request = request(from, args);
    let previewed =
        send(&client, &ImportRequest { preview: true, ..request.clone() }, &lines).await?;
    let planned = previewed.preview.unwrap_or_default();
    let shown = preview::Preview { format, reading: &reading, planned: &planned };
    if !args.json {
        print_line(shown.text().trim_end())?;
    }
    let is_changed = |change| matches!(change, ImportChange::New | ImportChange::Changed);
    if args.dry_run || !planned.memories.iter().any(|memory| is_changed(memory.change)) {
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
pub(super) fn request(from: foreign::Source, args: &Import) -> ImportRequest {
    // A person sees the preview and says yes; a script says it for nobody.
    let asked = agent_session_of_process().is_none() && !args.yes && io::stdin().is_terminal();
    ImportRequest {
        skip_bad: true,
        own_texts: args.mine,
        preview: false,
        foreign: Some(ForeignImport { from, asked, group: args.group.clone() }),
    }
}

/// Sends lines; returns the reply.
pub(super) async fn send(
    client: &VerbClient,
    request: &ImportRequest,
    lines: &[u8],
) -> Result<ImportReply, Problem> {
    let source = Source::of_bytes(lines.to_vec());
    native::parse(&native::upload(client, request, source).await?)
}

/// Returns lines of an import from another program.
pub(super) fn to_bytes<'a>(lines: impl IntoIterator<Item = &'a ForeignLine>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        // It has only text keys, and a vector takes all bytes.
        let _ = serde_json::to_writer(&mut bytes, line);
        bytes.push(b'\n');
    }
    bytes
}

fn lines_of(reading: &Reading) -> Vec<u8> {
    let files = reading.files.iter().map(|path| ForeignLine::File { path: path.clone() });
    let projects: BTreeSet<&ForeignProject> =
        reading.memories.iter().filter_map(|memory| memory.project.as_ref()).collect();
    let projects = projects.into_iter().filter_map(local).map(ForeignLine::Project);
    let memory = |memory: &ForeignMemory| ForeignLine::Memory(Box::new(memory.clone()));
    let lines: Vec<ForeignLine> =
        files.chain(projects).chain(reading.memories.iter().map(memory)).collect();
    to_bytes(&lines)
}

/// Returns what a project of a source is on this machine; `None` for one without a folder here.
fn local(project: &ForeignProject) -> Option<LocalProject> {
    let (folder, needs_repository) = match project {
        ForeignProject::Folder(folder) => (folder, false),
        ForeignProject::RepositoryOf(folder) => (folder, true),
        ForeignProject::Named(_) => return None,
    };
    let path = Path::new(folder);
    if !needs_repository && !path.is_dir() {
        return None;
    }
    let environment = Environment::at(path.to_path_buf());
    let found = project::find(&Environment { loci_group: None, project_dir: None, ..environment });
    if needs_repository && found.checkout.is_none() && !found.has_file {
        return None;
    }
    let (off, opted_in) = (found.off, found.has_file);
    Some(LocalProject { project: project.clone(), hint: found.hint, off, opted_in })
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

/// Reads the program's memories.
async fn read(format: Format, args: &Import) -> Result<Reading, Problem> {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    let mut arguments: Vec<OsString> = vec!["read".into(), "--from".into(), format.as_str().into()];
    arguments.extend(["--home".into(), home.unwrap_or_default().into_os_string(), "--".into()]);
    arguments.extend(args.paths.iter().map(|path| path.clone().into_os_string()));
    short_lived::parse(&short_lived::run(&arguments).await?)
}
