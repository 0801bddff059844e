//! `loci doctor`: looks at everything between an agent and its memories. What needs the database is asked of the daemon; where there is
//! none and none can be started, files are looked at from outside.

use crate::cli::store_admin::Doctor;
use crate::client::call::Door;
use crate::commands::ctl::status;
use crate::output::{Problem, Style, plain, say};
use crate::spawn::find_locid;
use loci_proto::error::Exit;
use loci_proto::paths::Paths;
use loci_proto::requests::doctor::{DoctorReply, DoctorRequest, Finding, Verdict};
use std::fmt::Write as _;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::ExitCode;
use tokio::process::Command;

/// Below this many bytes of free space a person should know.
const LITTLE: u64 = 512 << 20;
/// Below this many nothing can be relied on.
const TOO_LITTLE: u64 = 32 << 20;

/// Looks, and tells.
///
/// # Errors
/// When there is no place for a socket, or nobody to tell.
pub async fn run(asked: Doctor) -> Result<ExitCode, Problem> {
    let door = Door::of_process()?;
    let mut findings = Vec::new();
    match door.ready().await {
        Ok(()) => with_daemon(&door, &mut findings).await,
        Err(problem) => without_daemon(&door.paths, &problem, &mut findings).await,
    }
    findings.push(disk(&door.paths.home));
    let reply = DoctorReply { findings };
    if asked.json {
        say(serde_json::to_string(&reply).map_err(io::Error::from)?)?;
    } else {
        say(in_words(&reply.findings, Style::of(&io::stdout())).trim_end())?;
    }
    let failed = reply.findings.iter().any(|finding| finding.verdict == Verdict::Fail);
    Ok(if failed { Exit::Failed.into() } else { Exit::Ok.into() })
}

async fn with_daemon(door: &Door, findings: &mut Vec<Finding>) {
    match status::ask(&door.paths).await {
        Ok(status) if status.version == loci_proto::VERSION => {
            findings.push(Finding::ok(
                "daemon",
                format!("locid {} answers (pid {})", status.version, status.pid),
            ));
        }
        Ok(status) => findings.push(Finding::warn(
            "daemon",
            format!("locid {} answers, and this is loci {}", status.version, loci_proto::VERSION),
            "Run loci ctl restart",
        )),
        Err(reason) => findings.push(Finding::fail(
            "daemon",
            Problem::from(reason).what(),
            "Run loci ctl logs",
        )),
    }
    findings.extend([&door.paths.socket, &door.paths.admin_socket].map(|path| socket(path)));
    let looked = async { door.begin("/long/doctor", &DoctorRequest {}).await?.whole().await };
    match looked.await {
        Ok(answer) => match serde_json::from_slice::<DoctorReply>(&answer) {
            Ok(reply) => findings.extend(reply.findings),
            Err(error) => findings.push(Finding::fail(
                "database",
                format!("its answer cannot be read: {error}"),
                "Run loci ctl restart",
            )),
        },
        Err(problem) => {
            findings.push(Finding::fail("database", problem.what(), "Run loci ctl logs"))
        }
    }
}

async fn without_daemon(paths: &Paths, problem: &Problem, findings: &mut Vec<Finding>) {
    let next = "Mend what is named below, then run loci ctl start";
    findings.push(Finding::fail(
        "daemon",
        format!("it cannot be started: {}", problem.what()),
        next,
    ));
    findings.push(folder("socket", &paths.runtime));
    findings.push(folder("database", &paths.home));
    findings.push(database(&paths.db));
    findings.push(model().await);
    findings.push(Finding::warn(
        "index",
        "it is in the daemon, and cannot be looked at",
        "Run loci doctor again when the daemon runs",
    ));
}

fn socket(path: &Path) -> Finding {
    let next = "Run loci ctl restart";
    match std::fs::symlink_metadata(path) {
        Err(error) => Finding::fail("socket", format!("{}: {error}", path.display()), next),
        Ok(found) if !found.file_type().is_socket() => {
            Finding::fail("socket", format!("{} is no socket", path.display()), next)
        }
        Ok(found) if found.permissions().mode() & 0o077 != 0 => Finding::fail(
            "socket",
            format!("{} is open to others", path.display()),
            format!("chmod 600 {}", path.display()),
        ),
        Ok(_) => Finding::ok("socket", format!("{} is yours alone", path.display())),
    }
}

fn folder(part: &str, path: &Path) -> Finding {
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Finding::ok(part, format!("{shown} is not there yet"))
        }
        Err(error) => Finding::fail(part, format!("{shown}: {error}"), format!("ls -ld {shown}")),
        Ok(found) if !found.is_dir() => {
            Finding::fail(part, format!("{shown} is no folder"), "Move it away")
        }
        Ok(found) if found.uid() != nix::unistd::geteuid().as_raw() => Finding::fail(
            part,
            format!("{shown} belongs to another user"),
            "Run as its owner, or set LOCI_HOME",
        ),
        Ok(found) if found.mode() & 0o077 != 0 => {
            Finding::fail(part, format!("{shown} is open to others"), format!("chmod 700 {shown}"))
        }
        Ok(_) => Finding::ok(part, format!("{shown} is yours alone")),
    }
}

/// What the first bytes of the file tell; it is not opened as a database.
fn database(path: &Path) -> Finding {
    let shown = path.display();
    let mut header = [0; 100];
    match std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Finding::ok("database", format!("{shown} is not there yet"))
        }
        Err(error) => Finding::fail(
            "database",
            format!("{shown} cannot be read: {error}"),
            format!("ls -l {shown}"),
        ),
        Ok(()) if !header.starts_with(b"SQLite format 3\0") => Finding::fail(
            "database",
            format!("{shown} is no database"),
            "Move it away, or restore a backup",
        ),
        Ok(()) => {
            let schema = u32::from_be_bytes([header[60], header[61], header[62], header[63]]);
            Finding::ok(
                "database",
                format!(
                    "{shown} begins as a database of schema {schema}; its inside was not looked at"
                ),
            )
        }
    }
}

async fn model() -> Finding {
    let next = "Run loci model download";
    let locid = match find_locid() {
        Ok(locid) => locid,
        Err(reason) => return Finding::fail("model", reason, "Put locid beside loci"),
    };
    match Command::new(locid).args(["model", "status"]).output().await {
        Ok(output) if output.status.success() => Finding::ok("model", "every file is whole"),
        Ok(_) => Finding::warn(
            "model",
            "it is not here or not whole; searching goes by words alone",
            next,
        ),
        Err(error) => Finding::fail("model", format!("locid cannot be run: {error}"), next),
    }
}

fn disk(home: &Path) -> Finding {
    let Some(place) = home.ancestors().find(|path| path.exists()) else {
        return Finding::warn("disk", "there is none", "Set LOCI_HOME");
    };
    let shown = place.display();
    match nix::sys::statvfs::statvfs(place) {
        Err(error) => Finding::warn("disk", format!("{shown}: {error}"), format!("df {shown}")),
        Ok(found) => {
            let free = wide(found.blocks_available()) * wide(found.fragment_size());
            let text = format!("{} MiB are free under {shown}", free >> 20);
            match free {
                free if free < TOO_LITTLE => Finding::fail("disk", text, "Free some space"),
                free if free < LITTLE => Finding::warn("disk", text, "Free some space"),
                _ => Finding::ok("disk", text),
            }
        }
    }
}

/// Systems count blocks in numbers of different widths.
fn wide(number: impl Into<u64>) -> u64 {
    number.into()
}

fn in_words(findings: &[Finding], style: Style) -> String {
    let mut text = String::new();
    for finding in findings {
        let word = match finding.verdict {
            Verdict::Ok => "ok  ".to_owned(),
            Verdict::Warn => style.paint("warn"),
            Verdict::Fail => style.paint("fail"),
        };
        let _ = writeln!(text, "{word}  {:<9} {}", plain(&finding.part), plain(&finding.found));
        if let Some(next) = &finding.next_step {
            let _ = writeln!(text, "{:16}{}", "", plain(next));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_says_how_it_is_and_what_to_do() {
        let findings = [
            Finding::ok("daemon", "locid answers"),
            Finding::fail("disk", "1 MiB\u{1b} are free", "Free some space"),
        ];
        let expected = "ok    daemon    locid answers\nfail  disk      1 MiB\\u{1b} are free\n                Free some space\n";
        assert_eq!(in_words(&findings, Style::Plain), expected);
    }
}
