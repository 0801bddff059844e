//! How this loci was installed, found by what the installer left beside the programs, and the commands that update and remove it.
//!
//! Nothing here uses the network, and no command is run but `dpkg-query`.

use crate::installation::shell::{quoted, quoted_path};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// Name of the packages for pip, npm, Debian and cargo.
pub const PACKAGE: &str = "loci-local";
/// The receipt of `install.sh`, relative to the folder above that of the programs.
const RECEIPT: &str = "share/loci/install.json";

/// What installed loci.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Installer {
    /// `uv tool install`
    UvTool,
    /// `uvx`, which keeps programs in a cache.
    Uvx,
    /// `pipx install`
    Pipx,
    /// `uv pip install` into a virtual environment.
    UvPip,
    /// `pip install`
    Pip,
    /// `npm install`
    Npm,
    /// `npx`, which keeps programs in a cache.
    Npx,
    /// `brew install`
    Homebrew,
    /// An `.mcpb` bundle.
    Bundle,
    /// A Debian package.
    Deb,
    /// `cargo install`
    Cargo,
    /// `install.sh`
    Script,
    /// `cargo build`: the programs in a build folder.
    Build,
    /// None of these left a trace.
    Unknown,
}

impl Installer {
    /// Returns the name that people know.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::UvTool => "uv tool install",
            Self::Uvx => "uvx",
            Self::Pipx => "pipx",
            Self::UvPip => "uv pip",
            Self::Pip => "pip",
            Self::Npm => "npm",
            Self::Npx => "npx",
            Self::Homebrew => "Homebrew",
            Self::Bundle => "a bundle of Claude Desktop",
            Self::Deb => "a Debian package",
            Self::Cargo => "cargo install",
            Self::Script => "install.sh",
            Self::Build => "a build of the source",
            Self::Unknown => "an unknown way",
        }
    }

    /// Whether the programs may vanish or move without being uninstalled.
    #[must_use]
    pub fn is_temporary(self) -> bool {
        matches!(self, Self::Uvx | Self::Npx)
    }
}

/// How the programs came onto this machine.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Origin {
    /// What installed them.
    pub installer: Installer,
    /// The file of `loci`.
    pub program: PathBuf,
    /// The shell command that updates them.
    pub update: String,
    /// The shell command that removes them.
    pub remove: String,
}

/// Finds out how the running `loci` was installed.
#[must_use]
pub fn of_process() -> Origin {
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from("loci"));
    of_program(&program.canonicalize().unwrap_or(program))
}

/// Finds out how the program at this canonical path was installed.
#[must_use]
pub fn of_program(program: &Path) -> Origin {
    let known = [bundle, node, homebrew, script, python, cargo, debian, build];
    let (installer, update, remove) =
        known.iter().find_map(|find| find(program)).unwrap_or_else(|| unknown(program));
    Origin { installer, program: program.to_owned(), update, remove }
}

/// An installer with its commands for an update and for a removal.
type Found = (Installer, String, String);

/// The folder above that of the programs, for example that of a virtual environment.
fn root(program: &Path) -> Option<&Path> {
    program.parent()?.parent()
}

fn python(program: &Path) -> Option<Found> {
    let root = root(program)?;
    let is_in_uv_cache = has_component(program, |name| name.starts_with("archive-v"));
    if root.join("uv-receipt.toml").is_file() {
        let name = quoted(&root.file_name()?.to_string_lossy());
        let update = format!("uv tool upgrade {name}");
        return Some((Installer::UvTool, update, format!("uv tool uninstall {name}")));
    }
    if root.join("pipx_metadata.json").is_file() {
        let name = quoted(&root.file_name()?.to_string_lossy());
        return Some((
            Installer::Pipx,
            format!("pipx upgrade {name}"),
            format!("pipx uninstall {name}"),
        ));
    }
    let Ok(settings) = fs::read_to_string(root.join("pyvenv.cfg")) else {
        return pip_without_environment(root);
    };
    if is_in_uv_cache {
        let update = format!("uvx --refresh-package {PACKAGE} --from {PACKAGE} loci --version");
        return Some((Installer::Uvx, update, format!("uv cache clean {PACKAGE}")));
    }
    let python = quoted_path(&root.join("bin/python"));
    if settings.lines().any(|line| line.starts_with("uv =")) {
        return Some((
            Installer::UvPip,
            format!("uv pip install --python {python} --upgrade {PACKAGE}"),
            format!("uv pip uninstall --python {python} {PACKAGE}"),
        ));
    }
    Some((
        Installer::Pip,
        format!("{python} -m pip install --upgrade {PACKAGE}"),
        format!("{python} -m pip uninstall {PACKAGE}"),
    ))
}

/// `pip install --user`, and pip without a virtual environment.
fn pip_without_environment(root: &Path) -> Option<Found> {
    let start = format!("{}-", PACKAGE.replace('-', "_"));
    let is_ours = |name: &str| name.starts_with(&start) && name.ends_with(".dist-info");
    let pythons = names(&root.join("lib")).into_iter().filter(|name| name.starts_with("python"));
    let python = pythons.into_iter().find(|python| {
        ["site-packages", "dist-packages"].iter().any(|folder| {
            names(&root.join("lib").join(python).join(folder)).iter().any(|name| is_ours(name))
        })
    })?;
    let python = quoted(&python);
    let is_of_user = std::env::home_dir().is_some_and(|home| root.starts_with(home));
    let user = if is_of_user { " --user" } else { "" };
    Some((
        Installer::Pip,
        format!("{python} -m pip install{user} --upgrade {PACKAGE}"),
        format!("{python} -m pip uninstall {PACKAGE}"),
    ))
}

fn node(program: &Path) -> Option<Found> {
    let modules = program
        .ancestors()
        .filter(|path| path.file_name().is_some_and(|name| name == "node_modules"));
    let folder = modules.last()?.parent()?;
    if has_component(folder, |name| name == "_npx") {
        return Some((
            Installer::Npx,
            format!("npx --yes {PACKAGE}@latest --version"),
            format!("rm -r {}", quoted_path(folder)),
        ));
    }
    let place = if folder.file_name().is_some_and(|name| name == "lib") {
        "--global".to_owned()
    } else {
        format!("--prefix {}", quoted_path(folder))
    };
    Some((
        Installer::Npm,
        format!("npm install {place} {PACKAGE}@latest"),
        format!("npm uninstall {place} {}", node_packages(folder)),
    ))
}

/// The package, and the one with the programs of this platform if it was installed by itself.
fn node_packages(folder: &Path) -> String {
    let own = names(&folder.join("node_modules/@loci-local"));
    let own = own.iter().map(|name| quoted(&format!("@loci-local/{name}")));
    std::iter::once(PACKAGE.to_owned()).chain(own).collect::<Vec<_>>().join(" ")
}

fn homebrew(program: &Path) -> Option<Found> {
    let mut names = program.components().skip_while(|name| name.as_os_str() != "Cellar").skip(1);
    let formula = quoted(&names.next()?.as_os_str().to_string_lossy());
    Some((
        Installer::Homebrew,
        format!("brew upgrade {formula}"),
        format!("brew uninstall {formula}"),
    ))
}

fn bundle(program: &Path) -> Option<Found> {
    let manifest = fs::read(root(program)?.join("manifest.json")).ok()?;
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).ok()?;
    manifest.get("manifest_version")?;
    Some((
        Installer::Bundle,
        "Open the new .mcpb file with Claude Desktop".to_owned(),
        "Remove the extension loci in the settings of Claude Desktop".to_owned(),
    ))
}

/// What `install.sh` writes.
#[derive(Debug, Deserialize)]
struct Receipt {
    /// Address or folder of the releases.
    source: String,
    /// The folder of the programs.
    bin: PathBuf,
    /// Every file that was installed.
    files: Vec<PathBuf>,
}

fn script(program: &Path) -> Option<Found> {
    let path = root(program)?.join(RECEIPT);
    let receipt: Receipt = serde_json::from_slice(&fs::read(&path).ok()?).ok()?;
    if receipt.bin.canonicalize().ok().as_deref() != program.parent() {
        return None;
    }
    let source = receipt.source.trim_end_matches('/');
    let script = format!("{source}/install.sh");
    let (from, read) = (quoted(source), quoted(&script));
    let prefix = quoted_path(root(program)?);
    let fetch = if source.contains("://") { "curl -fsSL" } else { "cat" };
    let remove = format!("cd {prefix} && {}", remove_files(root(program)?, &receipt.files));
    Some((
        Installer::Script,
        format!("{fetch} {read} | sh -s -- --from {from} --prefix {prefix}"),
        remove,
    ))
}

/// The command that removes the files of the receipt, to be run in `root`. Manual pages, one for each command, are named by one pattern.
fn remove_files(root: &Path, files: &[PathBuf]) -> String {
    const PAGES: (&str, &str, &str) = ("share/man/man1/", "loci-", ".1");
    let is_page = |path: &str| {
        let name = path.strip_prefix(PAGES.0);
        name.is_some_and(|name| name.starts_with(PAGES.1) && name.ends_with(PAGES.2))
    };
    let relative =
        |path: &PathBuf| path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
    let (pages, rest): (Vec<String>, Vec<String>) =
        files.iter().map(relative).partition(|path| is_page(path));
    let mut words: Vec<String> = rest.iter().map(|path| quoted(path)).collect();
    if !pages.is_empty() {
        words.push(format!("{}{}*{}", PAGES.0, PAGES.1, PAGES.2));
    }
    format!("rm {} {RECEIPT} && rmdir share/loci", words.join(" "))
}

fn debian(program: &Path) -> Option<Found> {
    if !program.starts_with("/usr") && !program.starts_with("/opt") {
        return None;
    }
    let mut query = Command::new("dpkg-query");
    query.arg("--search").arg(program).stdin(Stdio::null()).stderr(Stdio::null());
    let output = query.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let package = quoted(text.split_once(':')?.0);
    Some((
        Installer::Deb,
        format!("sudo apt install ./{package}_VERSION_ARCHITECTURE.deb"),
        format!("sudo apt remove {package}"),
    ))
}

/// The file in which `cargo install` lists what it installed.
#[derive(Debug, Deserialize)]
struct CargoInstalls {
    /// Programs by `name version (source)`.
    v1: std::collections::BTreeMap<String, Vec<String>>,
}

fn cargo(program: &Path) -> Option<Found> {
    let root = root(program)?;
    let installs = fs::read_to_string(root.join(".crates.toml")).ok()?;
    let installs: CargoInstalls = toml::from_str(&installs).ok()?;
    let name = program.file_name()?.to_str()?;
    let (package, _) =
        installs.v1.iter().find(|(_, programs)| programs.iter().any(|p| p == name))?;
    let (crate_name, source) = (package.split(' ').next()?, package.split_once("(path+file://"));
    let place = if root.ends_with(".cargo") {
        String::new()
    } else {
        format!(" --root {}", quoted_path(root))
    };
    let what = match source {
        Some((_, path)) => format!("--path {}", quoted(path.trim_end_matches(')'))),
        None => quoted(crate_name),
    };
    Some((
        Installer::Cargo,
        format!("cargo install --locked{place} {what}"),
        format!("cargo uninstall{place} {}", quoted(crate_name)),
    ))
}

fn build(program: &Path) -> Option<Found> {
    let folder = program.parent()?;
    let is_build = folder.join(".fingerprint").is_dir() || folder.join(".cargo-lock").is_file();
    let source = is_build.then(|| root(folder))??;
    let source = quoted_path(source);
    Some((
        Installer::Build,
        format!("cd {source} && git pull && cargo build --release --locked"),
        format!("cd {source} && cargo clean"),
    ))
}

fn unknown(program: &Path) -> Found {
    let folder = quoted_path(program.parent().unwrap_or(program));
    (
        Installer::Unknown,
        format!("Replace loci and locid in {folder} by those of the new version"),
        format!("rm {folder}/loci {folder}/locid"),
    )
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn has_component(path: &Path, is_wanted: impl Fn(&str) -> bool) -> bool {
    path.components().any(
        |part| matches!(part, Component::Normal(name) if name.to_str().is_some_and(&is_wanted)),
    )
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
