//! `loci import`: sends a file or standard input to the store.

use crate::cli::store_admin::{Import, ImportSource};
use crate::client::call::VerbClient;
use crate::commands::transfer::history;
use crate::output::progress::Progress;
use crate::output::{Problem, escape_line, print_line};
use http_body_util::channel::Sender;
use hyper::body::Bytes;
use loci_proto::error::Exit;
use loci_proto::requests::import::{ImportReply, ImportRequest};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tokio::sync::mpsc;

/// Bytes per read.
const CHUNK_BYTES: usize = 64 * 1024;

/// Imports a file.
///
/// # Errors
/// The file cannot be read, or the daemon cannot be reached or refuses a line, which the error names.
pub async fn run(args: Import) -> Result<ExitCode, Problem> {
    if let Some(ImportSource::History) = args.from {
        return history::run(args).await;
    }
    let source = open(&args.file.unwrap_or_else(|| PathBuf::from("-")))?;
    let client = VerbClient::of_process()?;
    let body = upload(&client, source, args.skip_bad).await?;
    if args.json {
        print_line(String::from_utf8_lossy(&body))?;
    } else {
        let reply: ImportReply = serde_json::from_slice(&body).map_err(io::Error::from)?;
        print_line(report_text(&reply).trim_end())?;
    }
    Ok(Exit::Ok.into())
}

/// Sends the bytes of a source to the daemon; returns the body of its answer.
///
/// # Errors
/// The daemon cannot be reached, or refuses a line.
pub(super) async fn upload(
    client: &VerbClient,
    source: Source,
    skip_bad: bool,
) -> Result<Vec<u8>, Problem> {
    let (sender, body) = client.prepare_upload("/import", &ImportRequest { skip_bad }).await?;
    let sending = tokio::spawn(send(source, sender));
    let answer = client.post_streamed("/import", body).await;
    // The daemon may answer early, with a refusal: stop reading the file.
    sending.abort();
    Ok(answer?.read_all().await?)
}

/// The bytes to import.
pub(super) struct Source {
    pub reader: Box<dyn Read + Send>,
    /// Size in bytes; `None` if unknown.
    pub size: Option<u64>,
}

fn open(path: &Path) -> Result<Source, Problem> {
    if path == Path::new("-") {
        return Ok(Source { reader: Box::new(io::stdin()), size: None });
    }
    let read_error =
        |error: io::Error| Problem::new(format!("Cannot read {}", path.display())).because(&error);
    let file = File::open(path).map_err(read_error)?;
    let meta = file.metadata().map_err(read_error)?;
    if meta.is_dir() {
        return Err(Problem::new(format!("{} is a folder", path.display()))
            .hint("Use a file that loci export has written"));
    }
    let size = meta.is_file().then_some(meta.len());
    Ok(Source { reader: Box::new(file), size })
}

/// Reads the source on a thread, because a pipe may block, and sends it as the body of the request.
async fn send(mut source: Source, mut sender: Sender<Bytes, io::Error>) {
    let mut progress = Progress::new("Sent", source.size);
    let (chunks_sender, mut chunks) = mpsc::channel::<io::Result<Bytes>>(2);
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let chunk = match source.reader.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => Ok(Bytes::copy_from_slice(&buffer[..length])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let has_failed = chunk.is_err();
            if chunks_sender.blocking_send(chunk).is_err() || has_failed {
                return;
            }
        }
    });
    while let Some(chunk) = chunks.recv().await {
        match chunk {
            Ok(bytes) => {
                progress.add(bytes.len());
                if sender.send_data(bytes).await.is_err() {
                    return;
                }
            }
            Err(error) => return sender.abort(error),
        }
    }
    progress.message("Importing …");
}

pub(super) fn report_text(reply: &ImportReply) -> String {
    let mut text = format!(
        "{} memories added, {} changed, {} unchanged.\n",
        reply.added, reply.changed, reply.unchanged
    );
    let counts = [
        (reply.relations, "relations"),
        (reply.groups, "groups"),
        (reply.log_lines, "log lines"),
        (reply.other, "other records"),
    ];
    let others: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    if !others.is_empty() {
        let _ = writeln!(text, "Also added: {}.", others.join(", "));
    }
    if reply.refused > 0 {
        let ids: Vec<&str> =
            reply.refused_ids.iter().map(loci_proto::memory::MemoryId::as_str).collect();
        let _ = writeln!(
            text,
            "{} lines refused because their memories were erased:\n  {}",
            reply.refused,
            ids.join("\n  ")
        );
    }
    if reply.skipped > 0 {
        let _ = writeln!(text, "{} lines skipped:", reply.skipped);
        for skipped in &reply.skipped_lines {
            let _ = writeln!(text, "  line {}: {}", skipped.line, escape_line(&skipped.reason));
        }
    }
    if !reply.redacted.is_empty() {
        let _ = writeln!(text, "Replaced:");
        for replaced in &reply.redacted {
            let _ = writeln!(text, "  {}", escape_line(replaced));
        }
    }
    for note in &reply.notes {
        let _ = writeln!(text, "Note: {}", escape_line(note));
    }
    if let Some(act) = reply.act {
        let _ = writeln!(text, "Undo: loci undo {act}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::requests::import::SkippedLine;

    #[test]
    fn the_report_lists_skipped_lines() {
        let skipped_lines =
            vec![SkippedLine { line: 7, reason: "content is empty\u{1b}[2J".to_owned() }];
        let reply = ImportReply {
            added: 2,
            relations: 1,
            skipped: 1,
            skipped_lines,
            act: Some(9),
            ..ImportReply::default()
        };
        let expected = "2 memories added, 0 changed, 0 unchanged.\nAlso added: 1 relations.\n1 lines skipped:\n  line 7: content is empty\\u{1b}[2J\nUndo: loci undo 9\n";
        assert_eq!(report_text(&reply), expected);
    }
}
