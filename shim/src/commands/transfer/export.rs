//! `loci export` and `loci dump`: write the store to standard output, or to a file that is either complete or not created. Markdown files
//! are written by `markdown_folder`.

use crate::cli::store_admin::{Dump, Export};
use crate::client::call::VerbClient;
use crate::client::stream::StreamedAnswer;
use crate::commands::reply_text::print_as_of;
use crate::commands::transfer::failed_export::failure;
use crate::commands::transfer::markdown_folder;
use crate::output::progress::Progress;
use crate::output::{Problem, print_note};
use loci_proto::error::Exit;
use loci_proto::requests::export::{ExportRequest, Layout};
use loci_proto::requests::list::{ListReply, ListRequest};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Exports the store.
///
/// # Errors
/// No daemon, an existing file, or a write error. No partial file is left.
pub async fn run(args: Export) -> Result<ExitCode, Problem> {
    if let Some(as_of) = &args.as_of {
        print_history(as_of).await?;
    }
    if let ("markdown", Some(folder)) = (args.format.as_str(), args.output.as_deref()) {
        return markdown_folder::run(folder, args.force, args.as_of).await;
    }
    let file = args.output.as_deref().map(|path| check_target(path, args.force)).transpose()?;
    let layout = if args.format == "json" { Layout::Document } else { Layout::Lines };
    write(&ExportRequest { layout, vectors: args.vectors, as_of: args.as_of }, file, args.force)
        .await
}

/// Dumps the store.
///
/// # Errors
/// As [`run`]; an existing file is replaced.
pub async fn dump(args: Dump) -> Result<ExitCode, Problem> {
    let file = args.output.as_deref().map(|path| check_target(path, true)).transpose()?;
    write(&ExportRequest { layout: Layout::Dump, ..ExportRequest::default() }, file, true).await
}

/// Prints how far back the history of the store goes.
async fn print_history(as_of: &str) -> Result<(), Problem> {
    let request = ListRequest {
        as_of: Some(as_of.to_owned()),
        limit: Some(1),
        uncounted: true,
        ..ListRequest::default()
    };
    let reply: ListReply = VerbClient::of_process()?.call(&request).await?;
    print_as_of(reply.as_of.as_ref());
    Ok(())
}

async fn write(
    request: &ExportRequest,
    file: Option<PathBuf>,
    force: bool,
) -> Result<ExitCode, Problem> {
    let answer = VerbClient::of_process()?.call_streamed("/export", request).await?;
    let end = match file {
        None => {
            let mut out = io::stdout().lock();
            let end = copy(answer, &mut out, None).await?;
            out.flush()?;
            end
        }
        Some(file) => write_file(answer, &file, force).await?,
    };
    match left_out(&end) {
        0 => {}
        1 => print_note("Note:", "1 damaged row was left out. Run loci doctor"),
        count => {
            print_note("Note:", &format!("{count} damaged rows were left out. Run loci doctor"));
        }
    }
    Ok(Exit::Ok.into())
}

/// Bytes of the end of an export that contain its last line.
const END_BYTES: usize = 4096;

/// Returns how many rows the last line of an export says were left out.
fn left_out(end: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(end);
    let digits = text.rsplit_once("\"left_out\":").map(|(_, rest)| rest);
    let digits = digits.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
    digits.flatten().and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Writes the export to `out`; returns the last bytes of it.
async fn copy(
    mut answer: StreamedAnswer,
    out: &mut impl Write,
    mut progress: Option<Progress>,
) -> Result<Vec<u8>, Problem> {
    let mut end = Vec::new();
    while let Some(chunk) = answer.next_chunk().await? {
        out.write_all(&chunk)?;
        end.extend_from_slice(&chunk);
        end.drain(..end.len().saturating_sub(END_BYTES));
        if let Some(progress) = &mut progress {
            progress.add(chunk.len());
        }
    }
    match failure(&end) {
        Some(failure) => Err(failure.into()),
        None => Ok(end),
    }
}

/// Returns the path if it does not exist, or `force` allows to replace the file.
fn check_target(path: &Path, force: bool) -> Result<PathBuf, Problem> {
    let refuse = |reason: &str, hint: &str| {
        Err(Problem::new(format!("{} {reason}", path.display())).hint(hint))
    };
    match std::fs::symlink_metadata(path) {
        Ok(meta) if meta.is_symlink() => {
            refuse("is a symbolic link", "Use the path of the file itself")
        }
        Ok(meta) if meta.is_dir() => refuse("is a folder", "Use the path of a file in it"),
        Ok(meta) if !meta.is_file() => {
            refuse("is not a regular file", "Redirect instead of --output: loci export > ...")
        }
        Ok(_) if !force => {
            refuse("already exists", "Use another path, or add --force to replace it")
        }
        _ => Ok(path.to_path_buf()),
    }
}

async fn write_file(answer: StreamedAnswer, path: &Path, force: bool) -> Result<Vec<u8>, Problem> {
    let write_error = |error: &io::Error| {
        Problem::new(format!("Cannot write {}", path.display()))
            .because(error)
            .hint("No partial file was left")
    };
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The file has mode 0600 from its creation, and is removed if this function returns early.
    let mut temporary = tempfile::Builder::new()
        .prefix(".loci-export-")
        .tempfile_in(folder)
        .map_err(|e| write_error(&e))?;
    let end = copy(answer, &mut temporary, Some(Progress::new("Written", None))).await.map_err(
        |problem| problem.or_hint(format!("No partial file was left at {}", path.display())),
    )?;
    temporary.as_file().sync_all().map_err(|e| write_error(&e))?;
    let persisted = if force { temporary.persist(path) } else { temporary.persist_noclobber(path) };
    persisted.map_err(|e| write_error(&e.error))?;
    // Also sync the directory entry; a failure is not reported, because the data itself is synced.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(end)
}
