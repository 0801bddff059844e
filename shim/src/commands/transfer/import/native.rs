//! Imports a file of `loci export`, `loci dump` or a backup: sends the file or standard input to the store. Also sends the lines that were made
//! of other programs' memories.

use crate::cli::import::Import;
use crate::client::call::VerbClient;
use crate::commands::short_lived;
use crate::commands::transfer::import::preview::RecordsPreview;
use crate::output::progress::Progress;
use crate::output::{Problem, Screen, confirm, counted, escape_line, print_line};
use http_body_util::channel::Sender;
use hyper::body;
use loci_proto::error::Exit;
use loci_proto::requests::import::{ImportReply, ImportRequest};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::ExitCode;
use tokio::sync::mpsc;

/// Bytes per read.
const CHUNK_BYTES: usize = 64 * 1024;

/// Imports a file.
///
/// # Errors
/// The file cannot be read, or the daemon cannot be reached or refuses a line, which the error names.
pub async fn run(args: &Import) -> Result<ExitCode, Problem> {
    if args.dry_run && args.from.is_none() {
        return Err(Problem::usage("--dry-run needs --from").hint(
            "Say what the file is: loci import --from dump --dry-run FILE, or --from export",
        ));
    }
    let [path] = args.paths.as_slice() else {
        return Err(Problem::new("Name one file")
            .hint("Import one file after the other; each is one act")
            .exit(Exit::Usage));
    };
    let client = VerbClient::of_process()?;
    let source = if is_database(path) {
        let arguments = ["lines".as_ref(), path.as_os_str()];
        Bytes::in_memory(short_lived::run(&arguments).await?.into_bytes())
    } else {
        open(path)?
    };
    if args.from.is_some() {
        let heading = format!("{}\n", escape_line(&path.to_string_lossy()));
        return ask_and_upload(&client, args, &heading, source).await;
    }
    import(&client, &request(args), source, args.json).await
}

fn request(args: &Import) -> ImportRequest {
    ImportRequest { skip_bad: args.skip_bad, own_texts: args.mine, ..ImportRequest::default() }
}

/// Shows what would be imported, asks, and imports it.
///
/// # Errors
/// There is no confirmation, or the daemon cannot be reached or refuses a line.
pub(super) async fn ask_and_upload(
    client: &VerbClient,
    args: &Import,
    heading: &str,
    source: Bytes,
) -> Result<ExitCode, Problem> {
    let (first, source) = source.twice()?;
    let request = ImportRequest { preview: true, ..request(args) };
    let preview = RecordsPreview::of(parse(&upload(client, &request, first).await?)?);
    if !args.json {
        let text = preview.text(Screen::of_stdout());
        print_line(format!("{heading}{text}").trim_end())?;
    }
    if args.dry_run {
        if args.json {
            print_line(preview.json().to_string())?;
        }
        return Ok(Exit::Ok.into());
    }
    confirm("Import them?", args.yes.into())?;
    import(client, &ImportRequest { preview: false, ..request }, source, args.json).await
}

async fn import(
    client: &VerbClient,
    request: &ImportRequest,
    source: Bytes,
    is_json: bool,
) -> Result<ExitCode, Problem> {
    let body = upload(client, request, source).await?;
    if is_json {
        print_line(String::from_utf8_lossy(&body))?;
    } else {
        print_line(report_text(&parse(&body)?).trim_end())?;
    }
    Ok(Exit::Ok.into())
}

/// Sends bytes to the store; returns its reply.
///
/// # Errors
/// The daemon cannot be reached, or refuses a line.
pub(super) async fn upload(
    client: &VerbClient,
    request: &ImportRequest,
    source: Bytes,
) -> Result<Vec<u8>, Problem> {
    let (sender, body) = client.prepare_upload("/import", request).await?;
    let message = if request.preview { "Comparing …" } else { "Importing …" };
    let sending = tokio::spawn(send(source, sender, message));
    let answer = client.post_streamed("/import", body).await;
    // The daemon may answer early, with a refusal: stop reading the file.
    sending.abort();
    answer?.read_all().await
}

/// Parses the reply.
///
/// # Errors
/// The daemon has another version.
pub(super) fn parse(body: &[u8]) -> Result<ImportReply, Problem> {
    Ok(serde_json::from_slice(body).map_err(io::Error::from)?)
}

/// The bytes to import.
pub(super) struct Bytes {
    reader: Box<dyn Read + Send>,
    /// Size in bytes; `None` if unknown.
    size: Option<u64>,
}

impl Bytes {
    /// Bytes in memory.
    pub fn in_memory(bytes: Vec<u8>) -> Self {
        let size = Some(bytes.len() as u64);
        Self { reader: Box::new(io::Cursor::new(bytes)), size }
    }

    /// Returns the same bytes twice. They are copied first: what is imported is what the person has seen.
    fn twice(mut self) -> Result<(Self, Self), Problem> {
        let failed = |error: io::Error| Problem::new("Cannot copy the input").because(&error);
        let mut copy = tempfile::tempfile().map_err(failed)?;
        let size = Some(io::copy(&mut self.reader, &mut copy).map_err(failed)?);
        let again = copy.try_clone().map_err(failed)?;
        // Both handles have one position: each is read from the beginning, one after the other.
        let of = |file: File| Self { reader: Box::new(FromStart { file, at: 0 }), size };
        Ok((of(copy), of(again)))
    }
}

/// Reads a file from its beginning, whatever another handle to it does.
struct FromStart {
    file: File,
    at: u64,
}

impl Read for FromStart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Returns whether a file is an SQLite database, as a backup is.
fn is_database(path: &Path) -> bool {
    let mut beginning = [0; 16];
    let is_file = path.is_file();
    is_file
        && File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok()
        && beginning == *b"SQLite format 3\0"
}

fn open(path: &Path) -> Result<Bytes, Problem> {
    if path == Path::new("-") {
        return Ok(Bytes { reader: Box::new(io::stdin()), size: None });
    }
    let read_error =
        |error: io::Error| Problem::new(format!("Cannot read {}", path.display())).because(&error);
    let file = File::open(path).map_err(read_error)?;
    let meta = file.metadata().map_err(read_error)?;
    if meta.is_dir() {
        return Err(Problem::new(format!("{} is a folder", path.display()))
            .hint("Use a file that loci export has written, or say what it is: loci import --from markdown FOLDER"));
    }
    let size = meta.is_file().then_some(meta.len());
    Ok(Bytes { reader: Box::new(file), size })
}

/// Reads the source on a thread, because a pipe may block, and sends it as the body of the request.
async fn send(
    mut source: Bytes,
    mut sender: Sender<body::Bytes, io::Error>,
    message: &'static str,
) {
    let mut progress = Progress::new("Sent", source.size);
    let (chunks_sender, mut chunks) = mpsc::channel::<io::Result<body::Bytes>>(2);
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            let chunk = match source.reader.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => Ok(body::Bytes::copy_from_slice(&buffer[..length])),
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
    progress.message(message);
}

pub(super) fn report_text(reply: &ImportReply) -> String {
    let mut text = format!(
        "{} added, {} changed, {} unchanged.\n",
        counted(reply.added, "memory", "memories"),
        reply.changed,
        reply.unchanged
    );
    let counts = [
        (reply.relations, "relation", "relations"),
        (reply.groups, "project", "projects"),
        (reply.log_lines, "log line", "log lines"),
        (reply.other, "other record", "other records"),
    ];
    let others: Vec<String> = counts
        .iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, one, many)| counted(*count, one, many))
        .collect();
    if !others.is_empty() {
        let _ = writeln!(text, "Also added: {}.", others.join(", "));
    }
    if reply.refused > 0 {
        let ids: Vec<&str> =
            reply.refused_ids.iter().map(loci_proto::memory::MemoryId::as_str).collect();
        let _ = writeln!(
            text,
            "{} refused because their memories were erased:\n  {}",
            counted(reply.refused, "line", "lines"),
            ids.join("\n  ")
        );
    }
    if reply.skipped > 0 {
        let _ = writeln!(text, "{} skipped:", counted(reply.skipped, "line", "lines"));
        for skipped in &reply.skipped_lines {
            let line =
                if skipped.line == 0 { String::new() } else { format!("line {}: ", skipped.line) };
            let _ = writeln!(text, "  {line}{}", escape_line(&skipped.reason));
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
        let expected = "2 memories added, 0 changed, 0 unchanged.\nAlso added: 1 relation.\n1 line skipped:\n  line 7: content is empty\\u{1b}[2J\nUndo: loci undo 9\n";
        assert_eq!(report_text(&reply), expected);
    }
}
