//! Dependencies and releases: every package comes from the registry under an accepted licence, and
//! the bill of materials and the checksums of a release are complete.
//!
//! Not here: licences of packages for other platforms (`cargo deny`), advisories.

use crate::assert_rule;
use crate::repository::{read, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use toml::Table;

/// A package of Cargo.lock.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

fn locked(lock: &str) -> Vec<Locked> {
    let table: Table = lock.parse().expect("cargo accepts the file");
    let packages = table["package"].as_array().expect("a TOML array");
    let text = |package: &toml::Value, key: &str| {
        package.get(key).and_then(toml::Value::as_str).map(str::to_owned)
    };
    let read = |package: &toml::Value| Locked {
        name: text(package, "name").expect("a package has a name"),
        version: text(package, "version").expect("a package has a version"),
        source: text(package, "source"),
        checksum: text(package, "checksum"),
    };
    packages.iter().map(read).collect()
}

/// The packages that come from elsewhere than the one registry, or have no checksum.
fn foreign(packages: &[Locked], members: &BTreeSet<String>) -> Vec<String> {
    let registries: BTreeSet<&String> = packages.iter().filter_map(|p| p.source.as_ref()).collect();
    let mut found: Vec<String> = packages
        .iter()
        .filter(|package| match &package.source {
            None => !members.contains(&package.name),
            Some(source) => !source.starts_with("registry+") || package.checksum.is_none(),
        })
        .map(|package| format!("{} {}", package.name, package.version))
        .collect();
    if registries.len() > 1 {
        found.push(format!("{} registries", registries.len()));
    }
    found
}

fn members() -> BTreeSet<String> {
    let manifest: Table = read("Cargo.toml").parse().expect("cargo accepts the file");
    let folders = manifest["workspace"]["members"].as_array().expect("a TOML array");
    let name = |folder: &toml::Value| {
        let path = format!("{}/Cargo.toml", folder.as_str().expect("a TOML string"));
        let manifest: Table = read(&path).parse().expect("cargo accepts the file");
        manifest["package"]["name"].as_str().expect("a TOML string").to_owned()
    };
    folders.iter().map(name).collect()
}

#[test]
fn every_dependency_comes_from_the_registry_with_a_checksum() {
    let package = |source: &str, sum: &str| {
        format!("[[package]]\nname = \"a\"\nversion = \"1\"\n{source}\n{sum}\n")
    };
    let registry = "source = \"registry+x\"";
    let none = BTreeSet::new();
    let check = |text: &str| foreign(&locked(text), &none).len();
    assert_eq!(check(&package(registry, "checksum = \"0\"")), 0);
    assert_eq!(check(&package(registry, "")), 1);
    assert_eq!(check(&package("source = \"git+x\"", "checksum = \"0\"")), 1);
    assert_eq!(check(&package("", "")), 1);
    let rule = "Every package of Cargo.lock outside the workspace comes from the one registry and has a checksum.";
    assert_rule(rule, &foreign(&locked(&read("Cargo.lock")), &members()));
}

fn bill_of_materials() -> Value {
    let output = Command::new("python3")
        .arg("release/sbom.py")
        .current_dir(root())
        .output()
        .expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

/// What a bill of materials lists and Cargo.lock does not have, or the reverse.
fn differences(bill: &Value, packages: &[Locked]) -> Vec<String> {
    let components = bill["components"].as_array().expect("a JSON array");
    let key = |name: &str, version: &str, sum: &str| format!("{name} {version} {sum}");
    let listed: Vec<String> = components
        .iter()
        .map(|component| {
            let sum = component["hashes"][0]["content"].as_str().unwrap_or_default();
            let text = |name: &str| component[name].as_str().expect("a JSON string");
            key(text("name"), text("version"), sum)
        })
        .collect();
    let expected: BTreeSet<String> = packages
        .iter()
        .map(|p| key(&p.name, &p.version, p.checksum.as_deref().unwrap_or_default()))
        .collect();
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    let repeated = (unique.len() != listed.len()).then(|| "a package twice".to_owned());
    expected.symmetric_difference(&unique).cloned().chain(repeated).collect()
}

#[test]
fn the_bill_of_materials_lists_every_package_of_the_lock_file() {
    let bill = bill_of_materials();
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let packages = locked(&read("Cargo.lock"));
    assert_eq!(differences(&bill, &packages[1..]).len(), 1);
    let rule =
        "release/sbom.py lists every package of Cargo.lock once, with its version and checksum.";
    assert_rule(rule, &differences(&bill, &packages));
    let references = |key: &str, of: &Value| -> BTreeSet<String> {
        let entries = of.as_array().expect("a JSON array").iter();
        entries.filter_map(|entry| entry[key].as_str()).map(str::to_owned).collect()
    };
    let known = references("bom-ref", &bill["components"]);
    assert_eq!(references("ref", &bill["dependencies"]), known);
    let targets = bill["dependencies"].as_array().expect("a JSON array").iter();
    let targets = targets.flat_map(|entry| entry["dependsOn"].as_array().expect("a JSON array"));
    let unknown: Vec<&Value> =
        targets.filter(|target| !target.as_str().is_some_and(|t| known.contains(t))).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    // Two runs are equal, so that two builds of one commit are.
    assert_eq!(bill_of_materials(), bill);
}

/// Whether a licence expression can be met with the accepted licences.
fn is_accepted(expression: &str, accepted: &BTreeSet<String>) -> bool {
    let expression = expression.trim();
    if let Some(parts) = split_outside_brackets(expression, " OR ") {
        return parts.iter().any(|part| is_accepted(part, accepted));
    }
    if let Some(parts) = split_outside_brackets(expression, " AND ") {
        return parts.iter().all(|part| is_accepted(part, accepted));
    }
    match expression.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => is_accepted(inner, accepted),
        None => accepted.contains(expression),
    }
}

/// The parts between the separators that are not in brackets; `None` if there is none.
fn split_outside_brackets<'a>(text: &'a str, separator: &str) -> Option<Vec<&'a str>> {
    let is_outside = |at: usize| {
        let before = &text[..at];
        before.matches('(').count() == before.matches(')').count()
    };
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in text.match_indices(separator).filter(|(at, _)| is_outside(*at)) {
        parts.push(&text[start..at]);
        start = at + separator.len();
    }
    parts.push(&text[start..]);
    (parts.len() > 1).then_some(parts)
}

#[test]
fn every_package_of_this_build_has_an_accepted_licence() {
    let accepted = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let some: BTreeSet<String> = accepted(&["MIT", "ISC"]);
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0", false),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND ISC", true),
        ("Apache-2.0 WITH LLVM-exception OR (GPL-3.0 AND MIT)", false),
    ] {
        assert_eq!(is_accepted(expression, &some), expected, "{expression}");
    }
    let rules: Table = read("deny.toml").parse().expect("cargo-deny accepts the file");
    let allowed = rules["licenses"]["allow"].as_array().expect("a TOML array");
    let allowed: BTreeSet<String> =
        allowed.iter().filter_map(|name| name.as_str()).map(str::to_owned).collect();
    let bill = bill_of_materials();
    let licences: BTreeMap<&str, &str> = bill["components"]
        .as_array()
        .expect("a JSON array")
        .iter()
        .filter_map(|c| Some((c["bom-ref"].as_str()?, c["licenses"][0]["expression"].as_str()?)))
        .collect();
    assert!(licences.len() > 100, "cargo names the licences of {} packages", licences.len());
    let refused = licences.iter().filter(|(_, licence)| !is_accepted(licence, &allowed));
    let refused: Vec<String> =
        refused.map(|(name, licence)| format!("{name}: {licence}")).collect();
    assert_rule("Every package of the build has a licence that deny.toml allows.", &refused);
}

#[test]
fn the_checksums_of_a_release_find_a_changed_file() {
    let folder = tempfile::tempdir().expect("the folder is created");
    let (binaries, release) = (folder.path().join("binaries"), folder.path().join("release"));
    fs::create_dir(&binaries).expect("the folder is created");
    for name in ["loci", "locid"] {
        fs::write(binaries.join(name), name).expect("the file is written");
    }
    let mut collect = Command::new(root().join("release/checksums.sh"));
    let output = collect.args([&binaries, &release]).output().expect("the script runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let is_whole = || {
        let mut check = Command::new("sha256sum");
        check.args(["--check", "--strict", "SHA256SUMS"]).current_dir(&release);
        check.output().expect("sha256sum runs").status.success()
    };
    let sums = fs::read_to_string(release.join("SHA256SUMS")).expect("the file can be read");
    let names: Vec<&str> = sums.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert_eq!(names, ["loci", "locid", "sbom.cdx.json"]);
    assert!(is_whole());
    fs::write(release.join("loci"), "another").expect("the file is written");
    assert!(!is_whole());
}
