//! `loci import`: a file, or standard input, into the store.

use crate::cli::store_admin::Import;
use crate::client::call::Door;
use crate::output::progress::Progress;
use crate::output::{Problem, plain, say};
use http_body_util::channel::Sender;
use hyper::body::Bytes;
use loci_proto::error::Exit;
use loci_proto::requests::import::{ImportReply, ImportRequest};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;
use tokio::sync::mpsc;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Brings a file into the store.
///
/// # Errors
/// A file that cannot be read; what the daemon refuses, naming the line.
pub async fn run(asked: Import) -> Result<ExitCode, Problem> {
    let (source, total) = open(&asked.file)?;
    let door = Door::of_process()?;
    let (sender, body) =
        door.begin_sending("/import", &ImportRequest { skip_bad: asked.skip_bad }).await?;
    let sending = tokio::spawn(send(source, sender, Progress::new("Sent", total)));
    let answer = door.exchange("/import", body).await;
    // Where it was refused early, the rest is not read any more.
    sending.abort();
    let whole = answer?.whole().await?;
    if asked.json {
        say(String::from_utf8_lossy(&whole))?;
    } else {
        let reply: ImportReply = serde_json::from_slice(&whole).map_err(io::Error::from)?;
        say(in_words(&reply).trim_end())?;
    }
    Ok(Exit::Ok.into())
}

type Source = Box<dyn Read + Send>;

fn open(path: &Path) -> Result<(Source, Option<u64>), Problem> {
    if path == Path::new("-") {
        return Ok((Box::new(io::stdin()), None));
    }
    let unread = |error: io::Error| {
        Problem::new(format!("{} cannot be read", path.display())).because(&error)
    };
    let file = File::open(path).map_err(unread)?;
    let found = file.metadata().map_err(unread)?;
    if found.is_dir() {
        return Err(Problem::new(format!("{} is a folder", path.display()))
            .hint("Name a file that loci export has written"));
    }
    let total = found.is_file().then_some(found.len());
    Ok((Box::new(file), total))
}

/// Sends what a thread reads; reading may wait for as long as a pipe stays silent.
async fn send(mut source: Source, mut sender: Sender<Bytes, io::Error>, mut progress: Progress) {
    let (read, mut pieces) = mpsc::channel::<io::Result<Bytes>>(2);
    std::thread::spawn(move || {
        let mut buffer = vec![0; PIECE];
        loop {
            let piece = match source.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => Ok(Bytes::copy_from_slice(&buffer[..length])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let last = piece.is_err();
            if read.blocking_send(piece).is_err() || last {
                return;
            }
        }
    });
    while let Some(piece) = pieces.recv().await {
        match piece {
            Ok(bytes) => {
                progress.add(bytes.len());
                if sender.send_data(bytes).await.is_err() {
                    return;
                }
            }
            Err(error) => return sender.abort(error),
        }
    }
    progress.say("Importing …");
}

fn in_words(reply: &ImportReply) -> String {
    let mut text = format!(
        "{} memories are new, {} were changed, {} were known.\n",
        reply.added, reply.changed, reply.unchanged
    );
    let mut beside = Vec::new();
    let parts = [
        (reply.relations, "relations"),
        (reply.groups, "groups"),
        (reply.log_lines, "lines of the log"),
        (reply.other, "smaller records"),
    ];
    beside.extend(
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
    );
    if !beside.is_empty() {
        let _ = writeln!(text, "Also new: {}.", beside.join(", "));
    }
    if reply.refused > 0 {
        let ids: Vec<&str> =
            reply.refused_ids.iter().map(loci_proto::memory::MemoryId::as_str).collect();
        let _ = writeln!(
            text,
            "{} lines were refused, because their memories were removed for good:\n  {}",
            reply.refused,
            ids.join("\n  ")
        );
    }
    if reply.skipped > 0 {
        let _ = writeln!(text, "{} lines were left out:", reply.skipped);
        for skipped in &reply.skipped_lines {
            let _ = writeln!(text, "  line {}: {}", skipped.line, plain(&skipped.reason));
        }
    }
    for note in &reply.notes {
        let _ = writeln!(text, "Note: {}", plain(note));
    }
    if let Some(act) = reply.act {
        let _ = writeln!(text, "loci undo {act} takes it back.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::requests::import::SkippedLine;

    #[test]
    fn the_report_names_what_was_left_out() {
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
        let expected = "2 memories are new, 0 were changed, 0 were known.\nAlso new: 1 relations.\n1 lines were left out:\n  line 7: content is empty\\u{1b}[2J\nloci undo 9 takes it back.\n";
        assert_eq!(in_words(&reply), expected);
    }
}
