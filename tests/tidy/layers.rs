//! Layers: which crate may depend on which, and which libraries a crate must not depend on, even
//! indirectly.

use crate::assert_rule;
use crate::repository::read;
use std::collections::{BTreeSet, HashMap};
use toml::{Table, Value};

/// A crate of the workspace.
struct Crate {
    package: &'static str,
    folder: &'static str,
    /// The crates of the workspace that it may depend on.
    may_use: &'static [&'static str],
    /// Libraries that it must not depend on, directly or indirectly.
    must_not_reach: &'static [&'static str],
}

const CRATES: [Crate; 7] = [
    Crate {
        package: "loci-proto",
        folder: "proto",
        may_use: &[],
        must_not_reach: &["tokio", "rusqlite"],
    },
    Crate {
        package: "loci-engine",
        folder: "engine",
        may_use: &["loci-proto"],
        must_not_reach: &["tokio", "axum", "rmcp", "ort", "clap"],
    },
    Crate {
        package: "locid",
        folder: "daemon",
        may_use: &["loci-engine", "loci-proto"],
        must_not_reach: &[],
    },
    Crate {
        package: "loci",
        folder: "shim",
        may_use: &["loci-proto"],
        must_not_reach: &["rmcp", "rusqlite", "ort", "tokenizers", "sqlite-vec"],
    },
    Crate {
        package: "loci-client",
        folder: "client",
        may_use: &["loci-proto"],
        must_not_reach: &["tokio", "rusqlite"],
    },
    Crate {
        package: "loci-local",
        folder: "packaging/cargo",
        may_use: &["locid", "loci"],
        must_not_reach: &[],
    },
    Crate {
        package: "loci-tests",
        folder: "tests",
        may_use: &["loci-proto", "loci-client", "loci-engine", "locid", "loci"],
        must_not_reach: &[],
    },
];

fn table(text: &str) -> Table {
    text.parse().expect("cargo accepts the file")
}

/// Every package that a manifest names as a dependency, of any kind and for any platform.
fn dependencies(manifest: &Table) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (key, value) in manifest {
        match value {
            Value::Table(table) if key.ends_with("dependencies") => {
                let renamed =
                    |value: &Value| value.get("package").and_then(Value::as_str).map(str::to_owned);
                found.extend(
                    table
                        .iter()
                        .map(|(name, value)| renamed(value).unwrap_or_else(|| name.clone())),
                );
            }
            Value::Table(table) if key == "target" => {
                found.extend(table.values().filter_map(Value::as_table).flat_map(dependencies));
            }
            _ => {}
        }
    }
    found
}

fn upward_dependencies(krate: &Crate, manifest: &Table) -> Vec<String> {
    let in_workspace = |name: &String| CRATES.iter().any(|other| other.package == name);
    let forbidden = dependencies(manifest)
        .into_iter()
        .filter(in_workspace)
        .filter(|name| !krate.may_use.contains(&name.as_str()));
    forbidden
        .map(|name| format!("{}/Cargo.toml: {} depends on {name}", krate.folder, krate.package))
        .collect()
}

#[test]
fn crates_depend_only_on_lower_layers() {
    let made_up = "[dependencies]\nloci-proto = {}\n[target.'cfg(unix)'.dev-dependencies]\nx = { package = \"locid\" }\n[build-dependencies]\nserde = {}";
    assert_eq!(
        upward_dependencies(&CRATES[1], &table(made_up)),
        ["engine/Cargo.toml: loci-engine depends on locid"]
    );
    assert_eq!(
        upward_dependencies(&CRATES[2], &table("[dev-dependencies]\nloci-tests = {}")),
        ["daemon/Cargo.toml: locid depends on loci-tests"]
    );
    let rule = "proto depends on no other crate, engine on proto, daemon on engine and proto, shim on proto; tests may depend on all, and no crate \
                on tests. Move code that two crates need to a lower layer. ARCHITECTURE.md shows the layers.";
    let violations = |krate: &Crate| {
        upward_dependencies(krate, &table(&read(&format!("{}/Cargo.toml", krate.folder))))
    };
    assert_rule(rule, &CRATES.iter().flat_map(violations).collect::<Vec<_>>());
}

fn without_layer(workspace: &Table) -> Vec<String> {
    let members =
        workspace.get("workspace").and_then(|table| table.get("members")).and_then(Value::as_array);
    let members = members.into_iter().flatten().filter_map(Value::as_str);
    members
        .filter(|member| !CRATES.iter().any(|krate| krate.folder == *member))
        .map(|member| format!("Cargo.toml: {member}"))
        .collect()
}

#[test]
fn every_crate_has_a_layer() {
    assert_eq!(
        without_layer(&table("[workspace]\nmembers = [\"proto\", \"example\"]")),
        ["Cargo.toml: example"]
    );
    let rule = "Every crate of the workspace has a layer. Add a new one to CRATES of tests/tidy/layers.rs and to ARCHITECTURE.md.";
    assert_rule(rule, &without_layer(&table(&read("Cargo.toml"))));
}

type Graph = HashMap<String, Vec<String>>;

/// The direct dependencies of each package, by name, from `Cargo.lock`.
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
        .must_not_reach
        .iter()
        .filter_map(|library| shortest_path(graph, krate.package, library))
        .map(|path| path.join(" -> "))
        .collect()
}

#[test]
fn libraries_stay_out_of_forbidden_crates() {
    let made_up = "[[package]]\nname = \"loci\"\ndependencies = [\"middle 1.0.0\"]\n[[package]]\nname = \"middle\"\ndependencies = [\"rusqlite\"]";
    assert_eq!(
        forbidden_paths(&CRATES[3], &graph(&table(made_up))),
        ["loci -> middle -> rusqlite"]
    );
    let graph = graph(&table(&read("Cargo.lock")));
    assert!(
        shortest_path(&graph, "locid", "rusqlite")
            .is_some_and(|path| path.contains(&"loci-engine".to_owned())),
        "the lock file is parsed"
    );
    let rule = "The engine never reaches tokio, axum, rmcp, ort or clap; the shim never rmcp, rusqlite, ort, tokenizers or sqlite-vec; \
                proto never tokio or rusqlite; not even through another crate. This keeps the engine synchronous and testable, and the shim small and \
                quick to start.";
    assert_rule(
        rule,
        &CRATES.iter().flat_map(|krate| forbidden_paths(krate, &graph)).collect::<Vec<_>>(),
    );
}
