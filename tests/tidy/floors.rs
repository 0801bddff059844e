//! Crates and floors: who may depend on whom, and which library must never be reached from where.

use crate::keep;
use crate::repository::read;
use std::collections::{BTreeSet, HashMap};
use toml::{Table, Value};

/// A crate of the house.
struct Crate {
    package: &'static str,
    folder: &'static str,
    /// The crates of the house that lie below it.
    below: &'static [&'static str],
    /// Libraries that it does not reach, not even through another one.
    never: &'static [&'static str],
}

const HOUSE: [Crate; 5] = [
    Crate { package: "loci-proto", folder: "proto", below: &[], never: &["tokio", "rusqlite"] },
    Crate {
        package: "loci-engine",
        folder: "engine",
        below: &["loci-proto"],
        never: &["tokio", "axum", "rmcp", "ort", "clap"],
    },
    Crate { package: "locid", folder: "daemon", below: &["loci-engine", "loci-proto"], never: &[] },
    Crate {
        package: "loci",
        folder: "shim",
        below: &["loci-proto"],
        never: &["rmcp", "rusqlite", "ort", "tokenizers", "sqlite-vec"],
    },
    Crate {
        package: "loci-tests",
        folder: "tests",
        below: &["loci-proto", "loci-engine", "locid", "loci"],
        never: &[],
    },
];

fn table(text: &str) -> Table {
    text.parse().expect("cargo reads it too")
}

/// Every package that a manifest names as a dependency, of whatever kind and for whatever platform.
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

fn upwards(of: &Crate, manifest: &Table) -> Vec<String> {
    let ours = |name: &String| HOUSE.iter().any(|other| other.package == name);
    let above = dependencies(manifest)
        .into_iter()
        .filter(ours)
        .filter(|name| !of.below.contains(&name.as_str()));
    above
        .map(|name| format!("{}/Cargo.toml: {} depends on {name}", of.folder, of.package))
        .collect()
}

#[test]
fn crates_depend_only_on_those_below() {
    let made_up = "[dependencies]\nloci-proto = {}\n[target.'cfg(unix)'.dev-dependencies]\nx = { package = \"locid\" }\n[build-dependencies]\nserde = {}";
    assert_eq!(
        upwards(&HOUSE[1], &table(made_up)),
        ["engine/Cargo.toml: loci-engine depends on locid"]
    );
    assert_eq!(
        upwards(&HOUSE[2], &table("[dev-dependencies]\nloci-tests = {}")),
        ["daemon/Cargo.toml: locid depends on loci-tests"]
    );
    let rule = "proto stands on the ground, engine on proto, daemon on engine and proto, shim on proto alone, tests on the roof, and nobody \
                depends on tests. Move what both need down a floor. ARCHITECTURE.md draws the floors.";
    let of = |of: &Crate| upwards(of, &table(&read(&format!("{}/Cargo.toml", of.folder))));
    keep(rule, &HOUSE.iter().flat_map(of).collect::<Vec<_>>());
}

fn homeless(workspace: &Table) -> Vec<String> {
    let members =
        workspace.get("workspace").and_then(|table| table.get("members")).and_then(Value::as_array);
    let members = members.into_iter().flatten().filter_map(Value::as_str);
    members
        .filter(|member| !HOUSE.iter().any(|of| of.folder == *member))
        .map(|member| format!("Cargo.toml: {member}"))
        .collect()
}

#[test]
fn every_crate_has_a_floor() {
    assert_eq!(
        homeless(&table("[workspace]\nmembers = [\"proto\", \"attic\"]")),
        ["Cargo.toml: attic"]
    );
    let rule = "Every crate of the workspace has a floor. Give a new one its place in HOUSE of tests/tidy/floors.rs and in ARCHITECTURE.md.";
    keep(rule, &homeless(&table(&read("Cargo.toml"))));
}

type Graph = HashMap<String, Vec<String>>;

/// What each package depends on, by name, from `Cargo.lock`.
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
        // A version follows the name where there are several of it.
        let needs = needs.map(|need| need.split(' ').next().unwrap_or(need).to_owned());
        graph.entry(name.to_owned()).or_default().extend(needs);
    }
    graph
}

/// The shortest way from one package to another.
fn way(graph: &Graph, from: &str, to: &str) -> Option<Vec<String>> {
    let mut seen = BTreeSet::from([from.to_owned()]);
    let mut ways = vec![vec![from.to_owned()]];
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let end = way.last().map_or(from, String::as_str);
            for next in graph.get(end).into_iter().flatten() {
                let further: Vec<String> = way.iter().chain([next]).cloned().collect();
                if next == to {
                    return Some(further);
                }
                if seen.insert(next.clone()) {
                    longer.push(further);
                }
            }
        }
        ways = longer;
    }
    None
}

fn forbidden(of: &Crate, graph: &Graph) -> Vec<String> {
    of.never
        .iter()
        .filter_map(|library| way(graph, of.package, library))
        .map(|way| way.join(" -> "))
        .collect()
}

#[test]
fn libraries_stay_where_they_belong() {
    let made_up = "[[package]]\nname = \"loci\"\ndependencies = [\"innocent 1.0.0\"]\n[[package]]\nname = \"innocent\"\ndependencies = [\"rusqlite\"]";
    assert_eq!(forbidden(&HOUSE[3], &graph(&table(made_up))), ["loci -> innocent -> rusqlite"]);
    let graph = graph(&table(&read("Cargo.lock")));
    assert!(
        way(&graph, "locid", "rusqlite").is_some_and(|way| way.contains(&"loci-engine".to_owned())),
        "the lock file is understood"
    );
    let rule = "The engine never reaches tokio, axum, rmcp, ort or clap; the shim never rmcp, rusqlite, ort, tokenizers or sqlite-vec; \
                proto never tokio or rusqlite; not even through another crate. The engine stays synchronous and testable, the shim starts in \
                milliseconds, and the words of both sides stay free of both.";
    keep(rule, &HOUSE.iter().flat_map(|of| forbidden(of, &graph)).collect::<Vec<_>>());
}
