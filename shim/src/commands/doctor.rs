//! `loci doctor`: checks daemon, sockets, database, model, disk and the clients' configuration. The daemon checks the database; if the daemon cannot be
//! started, the command checks the files itself, without opening the database. With `--offline` a short-lived `locid` opens it.

use crate::cli::store_admin::Doctor;
use crate::client::call::VerbClient;
use crate::commands::backup::offline;
use crate::commands::ctl::status;
use crate::commands::short_lived;
use crate::output::local_time::minute;
use crate::output::{Problem, Style, confirm, escape_line, print_line};
use crate::setup::check::{Checked, check};
use crate::setup::client::Client;
use crate::setup::environment::{Environment, own_path};
use crate::setup::manifest::Manifest;
use crate::setup::repair::repair;
use crate::spawn::{self, find_locid};
use crate::speaker::{self, require_person};
use loci_proto::admin::HookStatus;
use loci_proto::error::Exit;
use loci_proto::paths::Paths;
use loci_proto::requests::backup::RecoverReply;
use loci_proto::requests::doctor::{DoctorReply, DoctorRequest, Finding, Verdict};
use std::fmt::Write as _;
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::process::Command;

/// The next step for a database that is missing or damaged.
const RESTORE_HINT: &str =
    "Run loci backup restore, or loci doctor --recover: both keep the present files aside";
/// The first bytes of an encrypted database.
const ENCRYPTED: &[u8] = b"loci enc";
/// Free bytes below which doctor warns.
const WARN_FREE_BYTES: u64 = 512 << 20;
/// Free bytes below which doctor fails.
const FAIL_FREE_BYTES: u64 = 32 << 20;

/// How long a daemon that refuses a call may take to end, if it does.
const LEAVES_WITHIN: Duration = Duration::from_secs(1);
/// Time between two questions whether it is there.
const LEAVING_POLL: Duration = Duration::from_millis(50);

/// Runs all checks and prints the findings.
///
/// # Errors
/// When the paths cannot be resolved, or output cannot be written.
pub async fn run(args: Doctor) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    if args.dismiss {
        return dismiss(&client, args.json).await;
    }
    if args.recover {
        return recover(&client, &args).await;
    }
    let mut findings = Vec::new();
    if args.offline {
        check_offline(&client.paths, args.deep, &mut findings).await?;
    } else {
        match client.wait_until_ready().await {
            Ok(()) => {
                // A daemon whose store cannot be opened answers for a moment, and is gone at the call.
                if let Err(gone) = check_with_daemon(&client, &args, &mut findings).await {
                    findings.clear();
                    check_without_daemon(&client.paths, &gone, &mut findings).await;
                }
            }
            Err(problem) => check_without_daemon(&client.paths, &problem, &mut findings).await,
        }
    }
    findings.push(Finding::ok("you", speaker::of_process().label()));
    findings.push(check_disk(&client.paths.home));
    let hooks = status::fetch(&client.paths).await.map(|status| status.hooks).unwrap_or_default();
    check_clients(&client.paths.home, args.fix, &hooks, &mut findings);
    let reply = DoctorReply { findings, dismissed: None };
    if args.json {
        print_line(serde_json::to_string(&reply).map_err(io::Error::from)?)?;
    } else {
        print_line(findings_text(&reply.findings, Style::of(&io::stdout())).trim_end())?;
    }
    let failed = reply.findings.iter().any(|finding| finding.verdict == Verdict::Fail);
    Ok(if failed { Exit::Failed.into() } else { Exit::Ok.into() })
}

/// Removes the lasting notices.
async fn dismiss(client: &VerbClient, json: bool) -> Result<ExitCode, Problem> {
    let request = DoctorRequest { dismiss: true, ..DoctorRequest::default() };
    let raw = client.ask(&request).await?;
    if json {
        print_line(raw.as_str())?;
    } else {
        let reply: DoctorReply = raw.parse()?;
        print_line(match reply.dismissed.unwrap_or_default() {
            0 => "There are no notices".to_owned(),
            1 => "1 notice removed".to_owned(),
            count => format!("{count} notices removed"),
        })?;
    }
    Ok(Exit::Ok.into())
}

/// Recovers a damaged database: the newest whole backup, and what can be read of the damaged files.
async fn recover(client: &VerbClient, args: &Doctor) -> Result<ExitCode, Problem> {
    require_person("Only a person may replace a damaged store", "loci doctor --recover")?;
    let question = "A damaged database is moved to the quarantine, and the newest whole backup with what can be read of it takes its place.\nRecover?";
    confirm(question, args.yes.into())?;
    let reply = offline::run_alone(client, &["recover"]).await?;
    if args.json {
        print_line(&reply)?;
    } else {
        let RecoverReply { report, .. } = offline::parse(&reply)?;
        print_line(escape_line(&report))?;
    }
    Ok(Exit::Ok.into())
}

/// Adds what the daemon finds.
///
/// # Errors
/// The daemon is not there any more; the findings up to then say nothing.
async fn check_with_daemon(
    client: &VerbClient,
    args: &Doctor,
    findings: &mut Vec<Finding>,
) -> Result<(), Problem> {
    match status::fetch(&client.paths).await {
        Ok(status) if status.version == loci_proto::VERSION => {
            findings.push(Finding::ok(
                "daemon",
                format!("locid {} answers (pid {})", status.version, status.pid),
            ));
        }
        Ok(status) => findings.push(Finding::warn(
            "daemon",
            format!("locid {} answers, but this is loci {}", status.version, loci_proto::VERSION),
            "Run loci ctl restart",
        )),
        Err(reason) => findings.push(Finding::fail(
            "daemon",
            Problem::from(reason).message(),
            "Run loci ctl logs",
        )),
    }
    findings
        .extend([&client.paths.socket, &client.paths.admin_socket].map(|path| check_socket(path)));
    let daemon_findings = async {
        let request = DoctorRequest { dismiss: false, fix: args.fix, deep: args.deep };
        client.call_streamed("/long/doctor", &request).await?.read_all().await
    };
    match daemon_findings.await {
        Ok(answer) => match serde_json::from_slice::<DoctorReply>(&answer) {
            Ok(reply) => {
                findings.extend(reply.findings);
                add_configuration(findings).await;
            }
            Err(error) => findings.push(Finding::fail(
                "database",
                format!("the daemon's answer cannot be parsed: {error}"),
                "Run loci ctl restart",
            )),
        },
        Err(problem) if problem.exit_code() == Exit::Unreachable => return Err(problem),
        Err(problem) if is_leaving(&client.paths).await => return Err(problem),
        Err(problem) => {
            let next_step = problem.next_step().unwrap_or("Run loci ctl logs").to_owned();
            findings.push(Finding::fail("database", problem.message(), next_step));
        }
    }
    Ok(())
}

/// Returns whether the daemon that has just refused a call ends: one whose store cannot be opened says so and goes.
async fn is_leaving(paths: &Paths) -> bool {
    let gone = async {
        while status::fetch(paths).await.is_ok() {
            tokio::time::sleep(LEAVING_POLL).await;
        }
    };
    tokio::time::timeout(LEAVES_WITHIN, gone).await.is_ok()
}

/// Has a short-lived `locid` check the files. Meanwhile no daemon is started: calls of agents wait.
async fn check_offline(
    paths: &Paths,
    deep: bool,
    findings: &mut Vec<Finding>,
) -> Result<(), Problem> {
    // Without the lock a daemon that starts meanwhile is refused, and started again.
    let _no_start = if paths.runtime.is_dir() { spawn::hold_start(paths).await.ok() } else { None };
    let arguments: &[&str] = if deep { &["doctor", "--deep"] } else { &["doctor"] };
    let reply: DoctorReply = short_lived::parse(&short_lived::run(arguments).await?)?;
    findings.push(Finding::ok("daemon", "none runs; the files were read without it"));
    findings.extend(reply.findings);
    let place = findings.iter().position(|finding| finding.part == "config");
    findings.insert(place.map_or(findings.len(), |place| place + 1), check_model().await);
    Ok(())
}

async fn check_without_daemon(paths: &Paths, problem: &Problem, findings: &mut Vec<Finding>) {
    let next_step = "Fix the findings below, then run loci ctl start";
    findings.push(Finding::fail(
        "daemon",
        format!("cannot be started: {}", problem.message()),
        next_step,
    ));
    let is_configured = add_configuration(findings).await;
    findings.push(check_folder("socket", &paths.runtime));
    findings.push(check_folder("database", &paths.home));
    findings.push(check_database(&paths.db));
    if is_configured {
        findings.push(check_model().await);
    }
    findings.push(Finding::warn(
        "index",
        "only the daemon can check it",
        "Run loci doctor again when the daemon runs",
    ));
}

/// Adds a mistake in the configuration; returns whether there is none. Where the model is, only a configuration without one says.
async fn add_configuration(findings: &mut Vec<Finding>) -> bool {
    let Err(problem) = short_lived::places().await else { return true };
    findings.push(Finding::fail(
        "config",
        problem.message(),
        "Correct the file, then run loci doctor",
    ));
    false
}

fn check_socket(path: &Path) -> Finding {
    let next_step = "Run loci ctl restart";
    match std::fs::symlink_metadata(path) {
        Err(error) => Finding::fail("socket", format!("{}: {error}", path.display()), next_step),
        Ok(meta) if !meta.file_type().is_socket() => {
            Finding::fail("socket", format!("{} is not a socket", path.display()), next_step)
        }
        Ok(meta) if meta.permissions().mode() & 0o077 != 0 => Finding::fail(
            "socket",
            format!("{} is open to others", path.display()),
            format!("chmod 600 {}", path.display()),
        ),
        Ok(_) => Finding::ok("socket", format!("{} is private", path.display())),
    }
}

fn check_folder(part: &str, path: &Path) -> Finding {
    let shown = path.display();
    match std::fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Finding::ok(part, format!("{shown} does not exist yet"))
        }
        Err(error) => Finding::fail(part, format!("{shown}: {error}"), format!("ls -ld {shown}")),
        Ok(meta) if !meta.is_dir() => {
            Finding::fail(part, format!("{shown} is not a folder"), "Move it away")
        }
        Ok(meta) if meta.uid() != nix::unistd::geteuid().as_raw() => Finding::fail(
            part,
            format!("{shown} belongs to another user"),
            "Run as its owner, or set LOCI_HOME",
        ),
        Ok(meta) if meta.mode() & 0o077 != 0 => {
            Finding::fail(part, format!("{shown} is open to others"), format!("chmod 700 {shown}"))
        }
        Ok(_) => Finding::ok(part, format!("{shown} is private")),
    }
}

/// Checks the file header; does not open the database.
fn check_database(path: &Path) -> Finding {
    let shown = path.display();
    let identity = path.with_file_name(format!(
        "{}-identity",
        path.file_name().unwrap_or_default().to_string_lossy()
    ));
    let mut header = [0; 100];
    match std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && identity.exists() => {
            Finding::fail("database", format!("{shown} is missing"), RESTORE_HINT)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Finding::ok("database", format!("{shown} does not exist yet"))
        }
        Err(error) => Finding::fail(
            "database",
            format!("cannot read {shown}: {error}"),
            format!("ls -l {shown}"),
        ),
        Ok(()) if header.starts_with(ENCRYPTED) => Finding::ok(
            "database",
            format!("{shown} has the header of an encrypted database; its content was not checked"),
        ),
        Ok(()) if !header.starts_with(b"SQLite format 3\0") => {
            Finding::fail("database", format!("{shown} is not a database"), RESTORE_HINT)
        }
        Ok(()) => {
            let schema = u32::from_be_bytes([header[60], header[61], header[62], header[63]]);
            Finding::ok(
                "database",
                format!(
                    "{shown} has the header of a database with schema {schema}; its content was not checked"
                ),
            )
        }
    }
}

async fn check_model() -> Finding {
    let next_step = "Run loci model download";
    let locid = match find_locid() {
        Ok(locid) => locid,
        Err(reason) => return Finding::fail("model", reason, "Put locid into the folder of loci"),
    };
    match Command::new(locid).args(["model", "status"]).output().await {
        Ok(output) if output.status.success() => Finding::ok("model", "every file is complete"),
        Ok(output) if output.status.code() != Some(1) => {
            let error = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Finding::fail("model", format!("was not checked: {error}"), "Fix the error it names")
        }
        Ok(_) => {
            Finding::warn("model", "missing or incomplete; search uses keywords only", next_step)
        }
        Err(error) => Finding::fail("model", format!("cannot run locid: {error}"), next_step),
    }
}

fn check_disk(home: &Path) -> Finding {
    let Some(folder) = home.ancestors().find(|path| path.exists()) else {
        return Finding::warn("disk", "no parent folder of the home exists", "Set LOCI_HOME");
    };
    let shown = folder.display();
    match nix::sys::statvfs::statvfs(folder) {
        Err(error) => Finding::warn("disk", format!("{shown}: {error}"), format!("df {shown}")),
        Ok(stats) => {
            let free = to_u64(stats.blocks_available()) * to_u64(stats.fragment_size());
            let text = format!("{} MiB free under {shown}", free >> 20);
            match free {
                free if free < FAIL_FREE_BYTES => Finding::fail("disk", text, "Free some space"),
                free if free < WARN_FREE_BYTES => Finding::warn("disk", text, "Free some space"),
                _ => Finding::ok("disk", text),
            }
        }
    }
}

/// Checks the configuration of clients. With `fix`, entries that are missing are written again first.
fn check_clients(home: &Path, fix: bool, hooks: &HookStatus, findings: &mut Vec<Finding>) {
    let Some(environment) = Environment::of_process() else { return };
    let Ok(loci) = own_path(&environment) else { return };
    if fix {
        match repair(home, &environment, &loci) {
            Ok((changed, problems)) => {
                let done = |path: &PathBuf| {
                    Finding::ok("clients", format!("{} was written again", path.display()))
                };
                findings.extend(changed.iter().map(done));
                findings.extend(problems.iter().map(client_problem));
            }
            Err(problem) => findings.push(client_problem(&problem)),
        }
    }
    match Manifest::read(home) {
        Ok(manifest) => findings.extend(check(&Checked {
            environment: &environment,
            manifest: &manifest,
            loci: &loci,
            last_delivery: &|client| last_delivery(hooks, client),
        })),
        Err(problem) => findings.push(client_problem(&problem)),
    }
}

/// Returns when a hook last delivered something to a client, in words.
fn last_delivery(hooks: &HookStatus, client: Client) -> Option<String> {
    let status = hooks.clients.iter().find(|status| status.client == client.name())?;
    let at = status.last_delivery.as_deref()?;
    Some(format!("last delivery {}", minute(at)))
}

fn client_problem(problem: &Problem) -> Finding {
    let next_step = problem.next_step().unwrap_or("Run loci setup").to_owned();
    Finding::fail("clients", problem.message(), next_step)
}

/// Converts a block count, whose integer type differs between systems.
fn to_u64(number: impl Into<u64>) -> u64 {
    number.into()
}

fn findings_text(findings: &[Finding], style: Style) -> String {
    let mut text = String::new();
    for finding in findings {
        let verdict = match finding.verdict {
            Verdict::Ok => "ok  ".to_owned(),
            Verdict::Warn => style.bold("warn"),
            Verdict::Fail => style.bold("fail"),
        };
        let _ = writeln!(
            text,
            "{verdict}  {:<9} {}",
            escape_line(&finding.part),
            escape_line(&finding.found)
        );
        if let Some(next) = &finding.next_step {
            let _ = writeln!(text, "{:16}{}", "", escape_line(next));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_verdict_and_the_next_step() {
        let findings = [
            Finding::ok("daemon", "locid answers"),
            Finding::fail("disk", "1 MiB\u{1b} are free", "Free some space"),
        ];
        let expected = "ok    daemon    locid answers\nfail  disk      1 MiB\\u{1b} are free\n                Free some space\n";
        assert_eq!(findings_text(&findings, Style::Plain), expected);
    }
}
