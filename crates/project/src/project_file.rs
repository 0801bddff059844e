//! Reads `.loci.toml`: `group = "name"` names the project, `isolated = true` keeps it to itself, `off = true` switches loci off in it.
//!
//! A file that a person has not allowed only tightens: its name, and `false`, do not apply.

use crate::allowed::{AllowedFiles, Answer, AskingFile};
use loci_proto::group::GroupName;
use loci_proto::hello::FileAsks;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The file name.
const FILE_NAME: &str = ".loci.toml";
/// The key that isolates the project.
const ISOLATED: &str = "isolated";
/// The key that switches loci off.
const OFF: &str = "off";
/// Maximum bytes read from a file of a project.
const MAX_BYTES: u64 = 64 * 1024;

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// The name of the project.
    pub group: Option<GroupName>,
    /// Whether the project keeps its memories to itself.
    pub isolated: Option<bool>,
    /// Whether loci is off in the project.
    pub off: Option<bool>,
    /// The folder of the nearest file that applies.
    #[serde(skip)]
    pub folder: PathBuf,
    /// A person has allowed one of the files.
    #[serde(skip)]
    pub is_allowed: bool,
    /// What the files ask a person for.
    #[serde(skip)]
    pub asks: Option<FileAsks>,
    /// The files that ask.
    #[serde(skip)]
    pub asking: Vec<AskingFile>,
}

impl ProjectFile {
    /// Takes out what only a person may allow, and returns it.
    fn only_tighten(&mut self) -> FileAsks {
        let is_false = |key: &mut Option<bool>| key.take_if(|value| !*value).is_some();
        FileAsks {
            name: self.group.take(),
            shares: is_false(&mut self.isolated),
            serves: is_false(&mut self.off),
        }
    }

    /// Adds what a file further up says.
    fn add(&mut self, outer: Self) {
        if self.group.is_none() && outer.group.is_some() {
            self.folder = outer.folder;
            self.group = outer.group;
        }
        self.isolated = self.isolated.or(outer.isolated);
        self.off = self.off.or(outer.off);
        self.is_allowed |= outer.is_allowed;
        self.asks = self.asks.take().or(outer.asks);
        self.asking.extend(outer.asking);
    }
}

/// Searches from the project folder up to the top of its working tree, which is known by `bases`; `None` without a file. The nearest file with a key counts. A file
/// that is ignored and contains a key that tightens isolates the project, or switches it off: a typing error must not share it.
pub fn find(
    project: &Path,
    (top, bases): (&Path, &[PathBuf]),
    allowed: &AllowedFiles,
    warnings: &mut Vec<String>,
) -> Option<ProjectFile> {
    let upwards = project.ancestors().take_while(|folder| folder.starts_with(top));
    let mut found: Option<ProjectFile> = None;
    for folder in upwards.filter(|folder| folder.join(FILE_NAME).is_file()) {
        let file = folder.join(FILE_NAME);
        let (mut contents, text) = match read(&file) {
            Ok((contents, text)) => (contents, text.into_bytes()),
            Err(fault) => (ignored(&file, &fault, warnings), Vec::new()),
        };
        folder.clone_into(&mut contents.folder);
        let part = file.strip_prefix(top).unwrap_or(&file);
        let places: Vec<PathBuf> = bases.iter().map(|base| base.join(part)).collect();
        match allowed.answer(&places, &text) {
            Some(Answer::Allowed) => contents.is_allowed = true,
            Some(Answer::Declined) => drop(contents.only_tighten()),
            None => {
                contents.asks = Some(contents.only_tighten());
                contents.asking.push(AskingFile { path: file, places, text });
            }
        }
        match &mut found {
            None => found = Some(contents),
            Some(nearest) => nearest.add(contents),
        }
    }
    if let Some(ProjectFile { asks: Some(asks), off, .. }) = &mut found {
        // Where nothing is off there is nothing to switch on.
        asks.serves &= *off == Some(true);
    }
    found
}

/// Returns what an ignored file still does.
fn ignored(file: &Path, fault: &Fault, warnings: &mut Vec<String>) -> ProjectFile {
    let Fault { reason, isolates, switches_off } = fault;
    let mut warning = format!("{} is ignored: {}", file.display(), reason.trim_end());
    for (applies, effect) in [(*isolates, "isolated"), (*switches_off, "off")] {
        if applies {
            warning.extend(["; the project is ", effect]);
        }
    }
    warnings.push(warning);
    let key = |applies: &bool| applies.then_some(true);
    ProjectFile { isolated: key(isolates), off: key(switches_off), ..ProjectFile::default() }
}

/// Why a file is ignored.
struct Fault {
    reason: String,
    /// The text contains the key that isolates the project, or could not be read.
    isolates: bool,
    /// The same for the key that switches loci off.
    switches_off: bool,
}

fn read(file: &Path) -> Result<(ProjectFile, String), Fault> {
    let unreadable =
        |error: io::Error| Fault { reason: error.to_string(), isolates: true, switches_off: true };
    let text = read_small(file).map_err(unreadable)?;
    let has_key_off = text.lines().any(|line| line.trim_start().starts_with(OFF));
    let fault = |reason: String| Fault {
        reason,
        isolates: text.contains(ISOLATED),
        switches_off: has_key_off,
    };
    let contents: ProjectFile =
        toml::from_str(&text).map_err(|error| fault(error.message().to_owned()))?;
    if let Some(name) = contents.group.as_ref().filter(|name| is_id(name)) {
        return Err(fault(format!(
            "{} is the id of a folder; a project can only set its own name",
            name.as_str()
        )));
    }
    Ok((contents, text))
}

/// Returns true for `g_` and 16 hexadecimal digits: the id that the daemon derives from a path.
fn is_id(name: &GroupName) -> bool {
    let digits = name.as_str().strip_prefix("g_").unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads an untrusted file: regular, UTF-8, at most 64 KiB.
pub fn read_small(file: &Path) -> io::Result<String> {
    if !file.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let mut text = String::new();
    let mut file = File::open(file)?.take(MAX_BYTES + 1);
    file.read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        Err(io::Error::other("it is longer than 64 KiB"))
    } else {
        Ok(text)
    }
}
