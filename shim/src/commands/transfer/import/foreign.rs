//! Imports the memories of another program: reads them, compares them with what is stored, shows what would happen, asks, and sends them
//! as lines of an export. `locid read` reads the program's files.

use crate::cli::import::Import;
use crate::client::call::{VerbClient, agent_session_of_process};
use crate::commands::short_lived;
use crate::commands::transfer::import::existing::Existing;
use crate::commands::transfer::import::native::{self, Source};
use crate::commands::transfer::import::plan::Plan;
use crate::commands::transfer::import::projects::Projects;
use crate::commands::transfer::import::records_preview::RecordsPreview;
use crate::commands::transfer::import::{lines, preview};
use crate::output::{Problem, confirm, print_line};
use loci_proto::error::Exit;
use loci_proto::foreign::{Format, Reading};
use loci_proto::requests::import::ImportRequest;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

/// Imports from one program.
///
/// # Errors
/// Nothing can be read, there is no confirmation, or the daemon cannot be reached or refuses the lines.
pub async fn run(format: Format, args: &Import) -> Result<ExitCode, Problem> {
    let mut reading = read(format, args).await?;
    if !reading.records.is_empty() {
        let code = records(args, &reading).await?;
        // A folder of an export may hold other notes.
        if reading.memories.is_empty() {
            return Ok(code);
        }
    }
    if agent_session_of_process().is_some() {
        // An agent cannot say that a text is the person's.
        reading.memories.iter_mut().for_each(|memory| memory.by_person = false);
    } else if args.mine {
        reading.memories.iter_mut().for_each(|memory| memory.by_person = true);
    }
    let client = VerbClient::of_process()?;
    let existing = Existing::load(&client).await?;
    let mut projects = Projects::new(&client, &existing.groups, args.group.as_ref()).await?;
    let plan = Plan::new(format, reading, &existing, &mut projects, is_asked(args));
    let preview = preview::json(format, &plan, &projects);
    if !args.json {
        print_line(preview::text(format, &plan, &projects).trim_end())?;
    }
    if args.dry_run || !plan.changes_something() {
        if args.json {
            print_line(preview.to_string())?;
        }
        return Ok(Exit::Ok.into());
    }
    confirm("Import them?", args.yes.into())?;
    let request = ImportRequest { skip_bad: true, own_texts: true };
    let source = Source::of_bytes(lines::of_plan(&plan, &projects));
    let body = native::upload(&client, &request, source).await?;
    if args.json {
        let reply: Value = serde_json::from_slice(&body).map_err(io::Error::from)?;
        print_line(json!({"preview": preview, "import": reply}).to_string())?;
    } else {
        print_line(native::report_text(&native::parse(&body)?).trim_end())?;
    }
    Ok(Exit::Ok.into())
}

/// Returns whether a person sees the preview and says yes; a script says it for nobody.
fn is_asked(args: &Import) -> bool {
    agent_session_of_process().is_none() && !args.yes && io::stdin().is_terminal()
}

/// Imports records that loci itself has written, as a file of them.
async fn records(args: &Import, reading: &Reading) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let mut compared = RecordsPreview::load(&client, args.mine).await?;
    let bytes = lines::of_records(&reading.records);
    bytes.split(|byte| *byte == b'\n').for_each(|line| compared.add(line));
    let heading = preview::of_records(reading);
    native::ask_and_upload(&client, args, &heading, &compared, Source::of_bytes(bytes)).await
}

/// Reads the program's memories.
async fn read(format: Format, args: &Import) -> Result<Reading, Problem> {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    let mut arguments: Vec<OsString> = vec!["read".into(), "--from".into(), format.as_str().into()];
    arguments.extend(["--home".into(), home.unwrap_or_default().into_os_string(), "--".into()]);
    arguments.extend(args.paths.iter().map(|path| path.clone().into_os_string()));
    short_lived::parse(&short_lived::run(&arguments).await?)
}
