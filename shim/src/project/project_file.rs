//! Reads `.loci.toml`: one key, `group = "name"`, which names the project.

use loci_proto::group::GroupName;
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The file name.
const FILE_NAME: &str = ".loci.toml";
/// Maximum bytes read from a file of a project.
const MAX_BYTES: u64 = 64 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    group: Option<GroupName>,
}

/// Searches from the project folder up to the top of its working tree; the nearest file wins.
pub fn find(project: &Path, top: &Path, warnings: &mut Vec<String>) -> Option<GroupName> {
    let upwards = project.ancestors().take_while(|folder| folder.starts_with(top));
    let file = upwards.map(|folder| folder.join(FILE_NAME)).find(|file| file.is_file())?;
    match read(&file) {
        Ok(name) => name,
        Err(reason) => {
            warnings.push(format!("{} is ignored: {}", file.display(), reason.trim_end()));
            None
        }
    }
}

fn read(file: &Path) -> Result<Option<GroupName>, String> {
    let text = read_small(file).map_err(|e| e.to_string())?;
    let ProjectFile { group } = toml::from_str(&text).map_err(|e| e.message().to_owned())?;
    if let Some(name) = group.as_ref().filter(|name| is_id(name)) {
        return Err(format!(
            "{} is the id of a folder; a project can only set its own name",
            name.as_str()
        ));
    }
    Ok(group)
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
