//! Layers: which crate may depend on which, and which libraries a crate must not depend on, even
//! indirectly. Both are read from the manifests.

use crate::assert_rule;
use crate::repository::read;
use std::collections::{BTreeSet, HashMap};
use toml::{Table, Value};

/// The crate that only tests may use.
const TESTKIT: &str = "loci-testkit";

/// A crate of the workspace, as its manifest says.
struct Crate {
    package: String,
    /// Relative to the repository.
    folder: String,
    manifest: Table,
}

impl Crate {
    /// Libraries that it must not depend on, directly or indirectly.
    fn must_not_reach(&self) -> Vec<String> {
        let metadata = self.manifest.get("package").and_then(|table| table.get("metadata"));
        strings(metadata.and_then(|table| table.get("tidy")?.get("must-not-reach")))
    }
}

fn table(text: &str) -> Table {
    text.parse().expect("cargo accepts the file")
}

fn strings(value: Option<&Value>) -> Vec<String> {
    let values = value.and_then(Value::as_array).into_iter().flatten();
    values.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The folders of the crates, from the lowest layer to the highest.
pub fn folders() -> Vec<String> {
    strings(table(&read("Cargo.toml")).get("workspace").and_then(|table| table.get("members")))
}

fn package(folder: &str, manifest: Table) -> Crate {
    let name = manifest.get("package").and_then(|table| table.get("name")?.as_str());
    Crate {
        package: name.expect("a crate has a name").to_owned(),
        folder: folder.to_owned(),
        manifest,
    }
}

fn crates() -> Vec<Crate> {
    let read = |folder: &String| package(folder, table(&read(&format!("{folder}/Cargo.toml"))));
    folders().iter().map(read).collect()
}

/// Every package that a manifest names as a dependency, of any kind and for any platform.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (key, value) in manifest {
        match value {
            Value::Table(table) if key.ends_with("dependencies") => {
                let renamed =
                    |value: &Value| value.get("package").and_then(Value::as_str).map(str::to_owned);
                let names = table
                    .iter()
                    .map(|(name, value)| renamed(value).unwrap_or_else(|| name.clone()));
                // Tests of every layer use it; it is no part of a product.
                found.extend(names.filter(|name| key != "dev-dependencies" || name != TESTKIT));
            }
            Value::Table(table) if key == "target" => {
                found.extend(table.values().filter_map(Value::as_table).flat_map(dependencies));
            }
            _ => {}
        }
    }
    found
}

/// Dependencies on crates of the same or a higher layer, or on tests.
fn upward_dependencies(crates: &[Crate]) -> Vec<String> {
    let mut found = Vec::new();
    for (layer, krate) in crates.iter().enumerate() {
        for name in dependencies(&krate.manifest) {
            let at = crates.iter().position(|other| other.package == name);
            let is_testkit = name == TESTKIT && krate.folder != "tests";
            if at.is_some_and(|at| at >= layer || is_testkit) {
                found.push(format!(
                    "{}/Cargo.toml: {} depends on {name}",
                    krate.folder, krate.package
                ));
            }
        }
    }
    found
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let made_up = |name: &str, rest: &str| {
        package(name, table(&format!("[package]\nname = \"{name}\"\n{rest}")))
    };
    let crates = [
        made_up("low", "[target.'cfg(unix)'.dev-dependencies]\nx = { package = \"high\" }"),
        made_up(TESTKIT, "[dependencies]\nlow = {}"),
        made_up("middle", "[dev-dependencies]\nloci-testkit = {}\n[build-dependencies]\nlow = {}"),
        made_up("high", "[dependencies]\nloci-testkit = {}"),
    ];
    assert_eq!(
        upward_dependencies(&crates),
        ["low/Cargo.toml: low depends on high", "high/Cargo.toml: high depends on loci-testkit"]
    );
    let rule = "The members of the workspace are listed in Cargo.toml from the lowest layer to the highest. A crate depends only on those before it; \
                loci-testkit is for tests. Move code that two crates need to a lower layer. ARCHITECTURE.md shows the layers.";
    assert_rule(rule, &upward_dependencies(&self::crates()));
    let packaged = crates_named(&self::crates(), "loci-local");
    assert_eq!(
        packaged,
        ["loci", "locid"],
        "the packaged programs call their crates and nothing else"
    );
}

/// The crates of the workspace that a crate names as dependencies.
fn crates_named(crates: &[Crate], package: &str) -> Vec<String> {
    let krate = crates.iter().find(|krate| krate.package == package).expect("the crate exists");
    let is_crate = |name: &String| crates.iter().any(|krate| krate.package == *name);
    dependencies(&krate.manifest).into_iter().filter(is_crate).collect()
}

type Graph = HashMap<String, Vec<String>>;

/// The direct dependencies of each package, by name, from `Cargo.lock`; none of [`TESTKIT`], through
/// which tests reach what the product does not.
fn graph(lock: &Table) -> Graph {
    let mut graph = Graph::new();
    for package in lock.get("package").and_then(Value::as_array).into_iter().flatten() {
        let Some(name) = package.get("name").and_then(Value::as_str) else { continue };
        let needs = package
            .get("dependencies")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        // The name is followed by a version where the lock file has several.
        let needs = needs.map(|need| need.split(' ').next().unwrap_or(need).to_owned());
        graph.entry(name.to_owned()).or_default().extend(needs);
    }
    graph.remove(TESTKIT);
    graph
}

/// The shortest path of dependencies from one package to another.
fn shortest_path(graph: &Graph, from: &str, to: &str) -> Option<Vec<String>> {
    let mut seen = BTreeSet::from([from.to_owned()]);
    let mut paths = vec![vec![from.to_owned()]];
    while !paths.is_empty() {
        let mut longer = Vec::new();
        for path in paths {
            let end = path.last().map_or(from, String::as_str);
            for next in graph.get(end).into_iter().flatten() {
                let extended: Vec<String> = path.iter().chain([next]).cloned().collect();
                if next == to {
                    return Some(extended);
                }
                if seen.insert(next.clone()) {
                    longer.push(extended);
                }
            }
        }
        paths = longer;
    }
    None
}

fn forbidden_paths(krate: &Crate, graph: &Graph) -> Vec<String> {
    krate
        .must_not_reach()
        .iter()
        .filter_map(|library| shortest_path(graph, &krate.package, library))
        .map(|path| path.join(" -> "))
        .collect()
}

#[test]
fn libraries_stay_out_of_forbidden_crates() {
    let made_up = "[[package]]\nname = \"loci\"\ndependencies = [\"middle 1.0.0\"]\n[[package]]\nname = \"middle\"\ndependencies = [\"rusqlite\"]";
    let manifest = "[package]\nname = \"loci\"\n[package.metadata.tidy]\nmust-not-reach = [\"ort\", \"rusqlite\"]";
    assert_eq!(
        forbidden_paths(&package("shim", table(manifest)), &graph(&table(made_up))),
        ["loci -> middle -> rusqlite"]
    );
    let graph = graph(&table(&read("Cargo.lock")));
    assert!(
        shortest_path(&graph, "locid", "rusqlite")
            .is_some_and(|path| path.contains(&"loci-engine".to_owned())),
        "the lock file is parsed"
    );
    let crates = crates();
    assert!(
        crates.iter().filter(|krate| !krate.must_not_reach().is_empty()).count() == 9,
        "the manifests say what a crate must not reach"
    );
    let rule = "A crate never depends on what `[package.metadata.tidy] must-not-reach` of its manifest names, not even through another crate. This keeps \
                base and search pure, the engine synchronous, and the shim small and quick to start.";
    assert_rule(
        rule,
        &crates.iter().flat_map(|krate| forbidden_paths(krate, &graph)).collect::<Vec<_>>(),
    );
}
