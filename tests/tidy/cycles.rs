//! The files of a crate use each other without cycles. Not here: cycles between crates, which cargo
//! rejects.
//!
//! A file uses another one if it names one of its items by a path or an import. Names that only a
//! macro writes, methods that are called on a value, and paths in literals (`#[serde(with = "…")]`)
//! are not seen.

use crate::assert_rule;
use crate::layers;
use crate::names::{self, Import, Names, Position};
use crate::repository::sources;
use crate::rust::Source;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// How many re-exports are followed from a name to its definition.
const MAX_REEXPORTS: usize = 8;

type Path = Vec<String>;

/// The modules of a crate.
struct Modules<'a> {
    files: Vec<&'a Source>,
    names: Vec<Names>,
    /// The file of each module, by its path below the root of the crate. Modules in braces
    /// included.
    file_of: BTreeMap<Path, usize>,
}

/// What a path leads to.
enum Target {
    Module(usize),
    Item(usize),
}

impl<'a> Modules<'a> {
    fn new(files: Vec<&'a Source>) -> Self {
        let names: Vec<Names> =
            files.iter().map(|file| names::read(&file.product_code())).collect();
        let mut file_of = BTreeMap::new();
        for (at, file) in files.iter().enumerate() {
            let module = module_of(&file.path);
            for inline in &names[at].inline_modules {
                file_of.insert([module.clone(), inline.clone()].concat(), at);
            }
            file_of.insert(module, at);
        }
        Self { files, names, file_of }
    }

    fn imports<'b>(&'b self, module: &'b [String]) -> impl Iterator<Item = &'b Import> {
        let file = self.file_of[module];
        let depth = module_of(&self.files[file].path).len();
        let imports = self.names[file].imports.iter();
        imports.filter(move |import| import.position.inline_modules == module[depth..])
    }

    /// The path below the root of the crate; `None` if it leads out of the crate or names no
    /// module.
    fn absolute(&self, module: &[String], path: &[String], follow: usize) -> Option<Path> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" if rest.is_empty() => return Some(module.to_vec()),
            "self" => return Some([module, rest].concat()),
            "super" => {
                let (_, parent) = module.split_last()?;
                let is_chain = rest.first().is_some_and(|next| next == "super");
                return if is_chain {
                    self.absolute(parent, rest, follow)
                } else {
                    Some([parent, rest].concat())
                };
            }
            _ => {}
        }
        if self.file_of.contains_key(&[module, &path[..1]].concat()) {
            return Some([module, path].concat());
        }
        let import = self.imports(module).find(|import| import.name == *first)?;
        let imported = self.absolute(module, &import.path, follow.checked_sub(1)?)?;
        Some([&imported, rest].concat())
    }

    /// What an absolute path leads to, through re-exports.
    fn target(&self, path: &[String], follow: usize) -> Option<Target> {
        let length =
            (0..=path.len()).rev().find(|length| self.file_of.contains_key(&path[..*length]))?;
        let (module, rest) = path.split_at(length);
        let file = self.file_of[module];
        let Some((item, members)) = rest.split_first() else { return Some(Target::Module(file)) };
        let follow = follow.checked_sub(1)?;
        let named = self.imports(module).find(|import| import.name == *item);
        let reexported = named.and_then(|import| self.absolute(module, &import.path, follow));
        if let Some(original) = reexported.filter(|original| original != path) {
            return self.target(&[&original, members].concat(), follow);
        }
        let globs = self.imports(module).filter(|import| import.name == "*" && import.is_public);
        let sources = globs.filter_map(|glob| self.absolute(module, &glob.path, follow));
        let origin = sources
            .filter_map(|source| self.file_of.get(&source))
            .find(|source| self.files[**source].defines(item));
        Some(Target::Item(origin.copied().unwrap_or(file)))
    }

    /// Every use of another file, with one line of evidence.
    fn uses(&self) -> Graph {
        let mut graph = Graph::new();
        for (from, names) in self.names.iter().enumerate() {
            let mut add = |path: &[String], position: &Position, is_glob: bool| {
                let module =
                    [module_of(&self.files[from].path), position.inline_modules.clone()].concat();
                let absolute = self.absolute(&module, path, MAX_REEXPORTS);
                let to = match absolute.and_then(|path| self.target(&path, MAX_REEXPORTS)) {
                    Some(Target::Item(file)) => file,
                    Some(Target::Module(file)) if is_glob => file,
                    _ => return,
                };
                if to != from {
                    let evidence = format!("line {}: {}", position.line, path.join("::"));
                    let (from, to) = (self.files[from].path.clone(), self.files[to].path.clone());
                    graph.entry(from).or_default().entry(to).or_default().push(evidence);
                }
            };
            for import in names.imports.iter().filter(|import| !import.is_public) {
                add(&import.path, &import.position, import.name == "*");
            }
            let reexported: BTreeSet<&String> = names
                .imports
                .iter()
                .filter(|import| import.is_public)
                .map(|import| &import.name)
                .collect();
            for mention in &names.mentions {
                if mention.path.len() > 1 || reexported.contains(&mention.path[0]) {
                    add(&mention.path, &mention.position, false);
                }
            }
        }
        graph
    }
}

/// The module path of a file below `src`.
fn module_of(path: &str) -> Path {
    let below = path.split_once("/src/").map_or(path, |(_, below)| below);
    let names = below.trim_end_matches(".rs").split('/');
    names.filter(|name| !["lib", "mod"].contains(name)).map(str::to_owned).collect()
}

/// From file to file, with every place where the first uses the second.
type Graph = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// The shortest cycle through a file, beginning with it.
fn cycle_through(graph: &Graph, start: &str) -> Option<Vec<String>> {
    let mut previous: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for next in graph.get(file).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut cycle = vec![file.to_owned()];
                while let Some(before) = previous.get(cycle[cycle.len() - 1].as_str()) {
                    cycle.push((*before).to_owned());
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !previous.contains_key(next.as_str()) {
                previous.insert(next, file);
                queue.push_back(next);
            }
        }
    }
    None
}

/// Cycles such that none is left once each is cut at the use with the fewest places, shortest
/// first.
fn cycles(mut graph: Graph) -> Vec<String> {
    let mut found = Vec::new();
    loop {
        let shortest =
            graph.keys().filter_map(|start| cycle_through(&graph, start)).min_by_key(Vec::len);
        let Some(cycle) = shortest else { return found };
        let mut text = format!("{} -> {}", cycle.join(" -> "), cycle[0]);
        let pairs = cycle.iter().zip(cycle.iter().cycle().skip(1));
        let weakest = pairs.clone().min_by_key(|(from, to)| graph[*from][*to].len());
        for (from, to) in pairs {
            let places = &graph[from][to];
            let mark = if weakest == Some((from, to)) { "  <- fewest places" } else { "" };
            let _ = write!(text, "\n      {from} {}{mark}", summary(places));
        }
        found.push(text);
        if let Some((from, to)) = weakest.map(|(from, to)| (from.clone(), to.clone())) {
            graph.get_mut(&from).and_then(|uses| uses.remove(&to));
        }
    }
}

/// The first place, and the number of the others.
fn summary(places: &[String]) -> String {
    match places {
        [] => String::new(),
        [only] => only.clone(),
        [first, others @ ..] => format!("{first} (and {} more)", others.len()),
    }
}

fn cycles_of(folder: &str, sources: &[Source]) -> Vec<String> {
    let start = format!("{folder}/src/");
    let main = format!("{folder}/src/main.rs");
    let files =
        sources.iter().filter(|source| source.path.starts_with(&start) && source.path != main);
    cycles(Modules::new(files.collect()).uses())
}

#[test]
fn no_files_of_a_crate_use_each_other_in_a_cycle() {
    let sources = sources();
    let found: Vec<String> =
        layers::folders().iter().flat_map(|folder| cycles_of(folder, &sources)).collect();
    let rule = "Files of one crate do not use each other in a cycle, parents and children included: a reader can then start with the \
                file that uses no other. Move the shared type or function to a file below both. Cutting each cycle below at the use \
                with the fewest places would remove all cycles.";
    assert_rule(&format!("{rule} {} cycles.", found.len()), &found);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The uses between files given as path below `x/src` and text, as `from > to`.
    fn uses(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(&format!("x/src/{path}"), text)).collect();
        let short =
            |path: &str| path.trim_start_matches("x/src/").trim_end_matches(".rs").to_owned();
        let graph = Modules::new(sources.iter().collect()).uses();
        let pairs = graph.iter().flat_map(|(from, to)| to.keys().map(move |to| (from, to)));
        pairs.map(|(from, to)| format!("{} > {}", short(from), short(to))).collect()
    }

    #[test]
    fn imports_and_paths_are_uses_of_the_defining_file() {
        let b = ("b/mod.rs", "pub mod c;\npub struct B;");
        let c = ("b/c.rs", "pub fn d() {}\npub struct C;");
        for (text, expected) in [
            ("use crate::b::B;", "a > b/mod"),
            ("use crate::b::{c::{self, C}};", "a > b/c"),
            ("use crate::b;\nfn e() { b::c::d() }", "a > b/c"),
            ("use crate::b::c as f;\nfn e() { f::C::new() }", "a > b/c"),
            ("fn e() { super::b::c::d() }", "a > b/c"),
            ("use crate::b::c::*;", "a > b/c"),
            ("mod g { fn e() { super::super::b::B } }", "a > b/mod"),
        ] {
            assert_eq!(
                uses(&[("lib.rs", "mod a;\nmod b;"), ("a.rs", text), b, c]),
                [expected],
                "{text}"
            );
        }
        for text in [
            "use crate::b;",
            "use std::b::B;",
            "#[cfg(test)]\nmod tests { use crate::b::B; }",
            "pub use crate::b::B;",
            "// crate::b::B\nfn e(b: u8) { b.c.d() }",
        ] {
            assert_eq!(
                uses(&[("a.rs", text), ("lib.rs", ""), b, c]),
                Vec::<String>::new(),
                "{text}"
            );
        }
    }

    #[test]
    fn a_reexport_is_a_use_of_the_original_file() {
        let lib = ("lib.rs", "mod a;\nmod b;\npub use b::B;\npub use b::*;");
        let b = ("b.rs", "pub struct B;\npub fn d() {}");
        assert_eq!(uses(&[lib, ("a.rs", "use crate::B;"), b]), ["a > b"]);
        assert_eq!(uses(&[lib, ("a.rs", "fn e() { crate::d() }"), b]), ["a > b"]);
        let lib_with_use = ("lib.rs", "mod b;\npub use b::B;\nfn e(b: &B) {}");
        assert_eq!(uses(&[lib_with_use, b]), ["lib > b"]);
    }

    #[test]
    fn parents_and_children_are_files_like_others() {
        let parent = ("b/mod.rs", "mod c;\nfn e() { c::d() }\npub struct B;");
        let child = ("b/c.rs", "use super::B;\npub fn d() {}");
        assert_eq!(
            uses(&[("lib.rs", "mod b;"), parent, child]),
            ["b/mod > b/c", "b/c > b/mod"].map(str::to_owned).into_iter().rev().collect::<Vec<_>>()
        );
    }

    #[test]
    fn each_cycle_is_found_and_cut_once() {
        let arrows = |pairs: &[(&str, &str, usize)]| {
            let mut graph = Graph::new();
            for (from, to, places) in pairs {
                let evidence = vec!["line 1: x".to_owned(); *places];
                graph.entry((*from).to_owned()).or_default().insert((*to).to_owned(), evidence);
            }
            cycles(graph)
        };
        assert!(arrows(&[("a", "b", 1), ("b", "c", 1), ("a", "c", 1)]).is_empty());
        let found =
            arrows(&[("a", "b", 2), ("b", "c", 1), ("c", "a", 3), ("b", "a", 1), ("d", "a", 1)]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("a -> b -> a\n")
                && found[0].contains("a line 1: x (and 1 more)\n")
        );
        assert!(found[0].ends_with("b line 1: x  <- fewest places"), "{found:?}");
        assert!(found[1].starts_with("a -> b -> c -> a\n"));
    }
}
