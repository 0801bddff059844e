//! Lines that are only added, in two files next to the backups that say the same. Each line has its checksum, so that a damaged one is known
//! and the other file tells what it said.
//!
//! Not here: what the lines say (`forgotten_ids`, `redactions`, `policies`).

use crate::backups::manifest::{failed, sync_folder};
use crate::backups::side_file;
use crate::error::Result;
use std::fs::DirBuilder;
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Ends the name of the second file.
const COPY: &str = "-copy";
/// Stands before the checksum of a line.
const MARK: &str = " ~";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// The lines of one of the two files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FileLines {
    /// Those that are as they were written, without their checksums. A line of an earlier version has none and is taken as it is.
    pub lines: Vec<String>,
    /// Number of damaged lines.
    pub damaged: usize,
    /// A damaged line comes after all of them.
    pub ends_damaged: bool,
}

fn paths(folder: &Path, name: &str) -> [PathBuf; 2] {
    [folder.join(name), folder.join(format!("{name}{COPY}"))]
}

fn checksum(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..DIGITS].to_owned()
}

/// Returns a line without its checksum; `None` if it is damaged. A line that was cut has lost its checksum: `is_whole` tells it from one of
/// an earlier version.
fn read_line(line: &str, is_whole: impl Fn(&str) -> bool) -> Option<&str> {
    match line.rsplit_once(MARK) {
        Some((text, sum)) => (checksum(text) == sum).then_some(text),
        None => is_whole(line).then_some(line),
    }
}

/// Returns the lines of each of the two files that exists. `is_whole` knows a line of an earlier version.
///
/// # Errors
/// `File` if there is one and none can be read.
pub(crate) fn read(
    folder: &Path,
    name: &str,
    is_whole: impl Fn(&str) -> bool,
) -> Result<Vec<FileLines>> {
    let (mut found, mut fault) = (Vec::new(), None);
    for path in paths(folder, name) {
        match side_file::read(&path) {
            Ok(None) => {}
            Ok(Some(bytes)) => found.push(lines_of(&bytes, &is_whole)),
            Err(error) => fault = fault.or(Some(failed(&path, error))),
        }
    }
    match fault {
        Some(fault) if found.is_empty() => Err(fault),
        _ => Ok(found),
    }
}

fn lines_of(bytes: &[u8], is_whole: impl Fn(&str) -> bool) -> FileLines {
    let mut file = FileLines::default();
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()) {
        let text = std::str::from_utf8(line).ok();
        let whole = text.and_then(|line| read_line(line.trim(), &is_whole));
        file.ends_damaged = whole.is_none();
        file.damaged += usize::from(whole.is_none());
        file.lines.extend(whole.map(str::to_owned));
    }
    file
}

/// Writes one of the two files anew from the other where it is missing, damaged or shorter.
///
/// # Errors
/// `File`.
pub(crate) fn complete(folder: &Path, name: &str) -> Result<()> {
    let [first, second] = paths(folder, name);
    for (from, to) in [(&first, &second), (&second, &first)] {
        let copy = || -> io::Result<()> {
            let Some(bytes) = side_file::read(from)? else { return Ok(()) };
            let whole = lines_of(&bytes, |_| false);
            let other = side_file::read(to)?.map(|bytes| lines_of(&bytes, |_| false));
            let is_better = other.is_none_or(|other| {
                whole.damaged == 0 && (other.damaged > 0 || other.lines.len() < whole.lines.len())
            });
            if !is_better {
                return Ok(());
            }
            let new = to.with_extension("new");
            let _ = std::fs::remove_file(&new);
            let mut file = side_file::append(&new)?;
            file.write_all(&bytes)?;
            file.sync_all()?;
            std::fs::rename(&new, to)
        };
        copy().map_err(|error| failed(to, error))?;
    }
    Ok(())
}

/// Adds lines to both files, on the disk before it returns.
///
/// # Errors
/// `File`.
pub(crate) fn append(folder: &Path, name: &str, lines: &[String]) -> Result<()> {
    let create = || DirBuilder::new().recursive(true).mode(0o700).create(folder);
    create().map_err(|error| failed(folder, error))?;
    complete(folder, name)?;
    // A line that was cut by a crash ends here.
    let mut text = String::from("\n");
    for line in lines {
        text.extend([line.as_str(), MARK, &checksum(line), "\n"]);
    }
    for path in paths(folder, name) {
        let write = || -> io::Result<()> {
            let mut file = side_file::append(&path)?;
            file.write_all(text.as_bytes())?;
            file.sync_data()
        };
        write().map_err(|error| failed(&path, error))?;
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written() -> (tempfile::TempDir, Vec<String>) {
        let folder = tempfile::tempdir().expect("the folder is created");
        let lines: Vec<String> =
            (0..5).map(|number| format!("line {number} of the file")).collect();
        for line in &lines {
            append(folder.path(), "x", std::slice::from_ref(line)).expect("it is written");
        }
        (folder, lines)
    }

    /// Every line that is whole in one of the two files.
    fn known(folder: &Path) -> Vec<String> {
        let files = read(folder, "x", |_| false).expect("it is read");
        let mut lines: Vec<String> = files.into_iter().flat_map(|file| file.lines).collect();
        lines.sort();
        lines.dedup();
        lines
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn one_changed_cut_or_removed_byte_loses_no_line(
            is_copy: bool, way in 0_u8..4, at in 0_usize..400, byte: u8,
        ) {
            let (folder, lines) = FILES.with(Clone::clone);
            let path = &paths(&folder, "x")[usize::from(is_copy)];
            let whole = std::fs::read(path).expect("it is there");
            let mut bytes = whole.clone();
            let at = at % bytes.len();
            match way {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                2 => drop(bytes.remove(at)),
                _ => bytes.insert(at, byte),
            }
            std::fs::write(path, &bytes).expect("it is written");
            let found = known(&folder);
            std::fs::write(path, &whole).expect("it is written");
            prop_assert_eq!(found, lines);
        }
    }

    thread_local! {
        static FILES: (PathBuf, Vec<String>) = {
            let (folder, lines) = written();
            (folder.keep(), lines)
        };
    }

    #[test]
    fn a_missing_file_is_written_anew_and_lines_of_before_are_kept() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let [first, second] = paths(folder.path(), "x");
        std::fs::write(&first, "old 1\nold 2\nol").expect("it is written");
        append(folder.path(), "x", &["new 3".to_owned()]).expect("it is written");
        for gone in [&first, &second] {
            std::fs::remove_file(gone).expect("it is removed");
            complete(folder.path(), "x").expect("it is completed");
            let files = read(folder.path(), "x", |line| line.len() == 5).expect("it is read");
            let lines = ["old 1", "old 2", "new 3"].map(str::to_owned).to_vec();
            let expected = FileLines { lines, damaged: 1, ends_damaged: false };
            assert_eq!(files, [expected.clone(), expected]);
        }
    }
}
