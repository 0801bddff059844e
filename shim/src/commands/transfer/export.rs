//! `loci export`: the whole store on standard output, or in a file that is there whole or not at all.

use crate::cli::store_admin::Export;
use crate::client::call::Door;
use crate::client::stream::Answer;
use crate::output::Problem;
use crate::output::progress::Progress;
use loci_proto::error::Exit;
use loci_proto::requests::export::{ExportRequest, Layout};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Writes the store down.
///
/// # Errors
/// No daemon; a file that is in the way; a disk that is full. No half file is left then.
pub async fn run(asked: Export) -> Result<ExitCode, Problem> {
    let file = asked.output.as_deref().map(|path| place(path, asked.force)).transpose()?;
    let layout = if asked.format == "json" { Layout::Document } else { Layout::Lines };
    let answer = Door::of_process()?
        .begin("/export", &ExportRequest { layout, vectors: asked.vectors })
        .await?;
    match file {
        None => {
            let mut out = io::stdout().lock();
            copy(answer, &mut out, None).await?;
            out.flush()?;
        }
        Some(file) => into_file(answer, &file, asked.force).await?,
    }
    Ok(Exit::Ok.into())
}

async fn copy(
    mut answer: Answer,
    out: &mut impl Write,
    mut progress: Option<Progress>,
) -> Result<u64, Problem> {
    let mut written = 0;
    while let Some(piece) = answer.piece().await? {
        out.write_all(&piece)?;
        written += piece.len() as u64;
        if let Some(progress) = &mut progress {
            progress.add(piece.len());
        }
    }
    Ok(written)
}

/// The path of the file, if it may be written.
fn place(path: &Path, force: bool) -> Result<PathBuf, Problem> {
    let refuse =
        |why: &str, hint: &str| Err(Problem::new(format!("{} {why}", path.display())).hint(hint));
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            refuse("is a link, and what it leads to may be another's", "Name the file itself")
        }
        Ok(found) if found.is_dir() => refuse("is a folder", "Name a file in it"),
        Ok(found) if !found.is_file() => {
            refuse("is no file", "Leave --output out and redirect: loci export > ...")
        }
        Ok(_) if !force => {
            refuse("is there already", "Name another file, or add --force to replace it")
        }
        _ => Ok(path.to_path_buf()),
    }
}

async fn into_file(answer: Answer, path: &Path, force: bool) -> Result<(), Problem> {
    let unwritten = |error: &io::Error| {
        Problem::new(format!("{} cannot be written", path.display()))
            .because(error)
            .hint("Nothing was left of it")
    };
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // For its owner alone from the first byte, whatever the umask; removed when this ends early.
    let mut temporary = tempfile::Builder::new()
        .prefix(".loci-export-")
        .tempfile_in(folder)
        .map_err(|e| unwritten(&e))?;
    copy(answer, &mut temporary, Some(Progress::new("Written", None)))
        .await
        .map_err(|problem| problem.hint(format!("Nothing was left of {}", path.display())))?;
    temporary.as_file().sync_all().map_err(|e| unwritten(&e))?;
    let kept = if force { temporary.persist(path) } else { temporary.persist_noclobber(path) };
    kept.map_err(|e| unwritten(&e.error))?;
    // The name is on the disk too; a folder that cannot be opened loses nothing that was promised.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}
