//! `loci export --format markdown`: creates the files that the daemon sends, in one folder.
//!
//! A list of the files is kept in the folder, so that a later export replaces these and nothing else.

use crate::client::call::VerbClient;
use crate::commands::transfer::failed_export::failure;
use crate::output::{Problem, counted, print_line};
use loci_proto::error::Exit;
use loci_proto::requests::export::{ExportRequest, Layout};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

/// The list of the files of an export.
pub(super) const LIST: &str = ".loci-export";

/// One file as the daemon sends it.
#[derive(Debug, Deserialize)]
struct ExportedFile {
    path: String,
    text: String,
}

/// Exports the store to a folder.
///
/// # Errors
/// No daemon, a folder with other files, or a write error. Files of an earlier export may be replaced already then.
pub async fn run(folder: &Path, force: bool, as_of: Option<String>) -> Result<ExitCode, Problem> {
    let earlier = earlier_files(folder, force)?;
    let request = ExportRequest { layout: Layout::Markdown, vectors: false, as_of };
    let mut answer = VerbClient::of_process()?.call_streamed("/export", &request).await?;
    let (mut rest, mut written) = (Vec::new(), BTreeSet::new());
    while let Some(chunk) = answer.next_chunk().await? {
        rest.extend_from_slice(&chunk);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = rest.drain(..=end).collect();
            if let Ok(file) = serde_json::from_slice::<ExportedFile>(&line) {
                write_file(folder, &file)?;
                written.insert(file.path);
            }
        }
    }
    if let Some(failure) = failure(&rest) {
        return Err(failure.into());
    }
    for path in earlier.difference(&written).filter(|path| !has_link(folder, path)) {
        let _ = fs::remove_file(folder.join(path));
    }
    let list: String = written.iter().flat_map(|path| [path.as_str(), "\n"]).collect();
    write_file(folder, &ExportedFile { path: LIST.to_owned(), text: list })?;
    let files = counted(written.len(), "file", "files");
    print_line(format!("{files} written to {}", folder.display()))?;
    Ok(Exit::Ok.into())
}

/// Returns the files of an earlier export in the folder.
fn earlier_files(folder: &Path, force: bool) -> Result<BTreeSet<String>, Problem> {
    let Ok(mut entries) = fs::read_dir(folder) else {
        return if fs::symlink_metadata(folder).is_ok() {
            Err(Problem::new(format!("{} is not a folder", folder.display()))
                .hint("Name a folder that does not exist yet"))
        } else {
            Ok(BTreeSet::new())
        };
    };
    let list = fs::read_to_string(folder.join(LIST));
    match list {
        Ok(list) if force => {
            Ok(list.lines().filter(|path| is_inside(path)).map(str::to_owned).collect())
        }
        Ok(_) => Err(Problem::new(format!("{} has an earlier export", folder.display()))
            .hint("Add --force to replace it, or name another folder")),
        Err(_) if entries.next().is_none() => Ok(BTreeSet::new()),
        Err(_) => Err(Problem::new(format!("{} is not empty", folder.display()))
            .hint("Name a new folder, so that no file of yours is replaced")),
    }
}

/// Returns whether a path stays inside the folder.
fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

fn write_file(folder: &Path, file: &ExportedFile) -> Result<(), Problem> {
    let path: PathBuf = folder.join(&file.path);
    let problem = |error: &std::io::Error| {
        Problem::new(format!("Cannot write {}", path.display())).because(error)
    };
    if !is_inside(&file.path) {
        return Err(Problem::new(format!("{} is outside the folder", file.path)));
    }
    if has_link(folder, &file.path) {
        let message = format!("{} lies behind a symbolic link", path.display());
        return Err(Problem::new(message).hint("Remove the link, or name another folder"));
    }
    if let Some(parent) = path.parent() {
        let created = fs::DirBuilder::new().recursive(true).mode(0o700).create(parent);
        created.map_err(|error| problem(&error))?;
    }
    // The new file takes the name, so that what a link of that name points to stays.
    let parent = path.parent().unwrap_or(folder);
    let written =
        tempfile::Builder::new().permissions(fs::Permissions::from_mode(0o600)).tempfile_in(parent);
    let written = written.and_then(|mut out| {
        out.write_all(file.text.as_bytes())?;
        out.persist(&path).map_err(|error| error.error)
    });
    written.map(|_| ()).map_err(|error| problem(&error))
}

/// Returns whether a folder between the export's folder and the file is a symbolic link.
fn has_link(folder: &Path, path: &str) -> bool {
    let parents = Path::new(path).ancestors().skip(1).filter(|part| !part.as_os_str().is_empty());
    parents.map(|part| folder.join(part)).any(|part| part.is_symlink())
}
