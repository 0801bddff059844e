//! Rules about Rust files: how they begin, how long they are, which words stand where. Not here: crates and what they depend on.

use crate::keep;
use crate::repository::sources;
use crate::rust::Source;

/// Most lines of a room that can still be seen across.
const MOST_LINES: usize = 500;
/// Names that say nothing about what is inside.
const NAMES_OF_NOTHING: [&str; 7] =
    ["util", "utils", "common", "helper", "helpers", "misc", "stuff"];
/// Where `unsafe` stands, and why it has to.
const UNSAFE: [(&str, &str); 10] = [
    (
        "daemon/src/embedding/resident_memory.rs",
        "the C library and the kernel are told what the process can do without",
    ),
    (
        "daemon/src/embedding/onnx.rs",
        "ONNX Runtime is told to send nothing by a variable of the environment alone",
    ),
    (
        "engine/src/db/connection.rs",
        "an extension is made known to SQLite by a pointer to a C function",
    ),
    (
        "engine/src/index/huge_pages.rs",
        "the kernel is told by an address which memory is to be of large pages",
    ),
    (
        "engine/src/kernels/mod.rs",
        "loops are compiled for the instructions that this processor has",
    ),
    (
        "engine/src/kernels/avx2.rs",
        "a processor's own instructions read and write 32 bytes at once",
    ),
    (
        "engine/src/kernels/avx512.rs",
        "a processor's own instructions read and write 64 bytes at once",
    ),
    (
        "shim/src/relay/code_pages.rs",
        "the kernel is told by an address which code of this process may go",
    ),
    ("shim/src/spawn/mod.rs", "the daemon's session is made between fork and exec"),
    ("tests/it/privacy.rs", "a filter of system calls is put on between fork and exec"),
];
/// Ways to the clock and to the environment.
const CLOCK_AND_ENVIRONMENT: [&str; 6] =
    ["SystemTime::now", "Instant::now", "Utc::now", "Local::now", "env::", "std::env"];
/// First words of SQL statements, as they are written here.
const SQL: [&str; 8] =
    ["SELECT", "INSERT", "UPDATE", "DELETE", "PRAGMA", "CREATE", "DROP", "ALTER"];

fn broken_in(sources: &[Source], rule: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    sources.iter().flat_map(rule).collect()
}

fn at(source: &Source, mut lines: Vec<usize>, what: &str) -> Vec<String> {
    lines.dedup();
    lines.into_iter().map(|line| format!("{}:{line}: {what}", source.path)).collect()
}

fn no_head(source: &Source) -> Vec<String> {
    let first = source.text.lines().next().unwrap_or_default();
    let says_something =
        first.strip_prefix("//! ").is_some_and(|sentence| !sentence.trim().is_empty());
    if says_something {
        Vec::new()
    } else {
        vec![format!("{}:1: does not begin with `//! `", source.path)]
    }
}

#[test]
fn every_file_begins_with_what_it_is_for() {
    assert_eq!(no_head(&Source::new("a.rs", "//! A room for guests.\n")), Vec::<String>::new());
    for without in ["use std::fs;\n", "\n//! Late.\n", "//!\n//! Empty.\n", ""] {
        assert_eq!(no_head(&Source::new("a.rs", without)).len(), 1, "{without:?}");
    }
    let rule = "Every Rust file begins with `//! `: one sentence what this room is for, then what is deliberately not here. Test files too.";
    keep(rule, &broken_in(&sources(), no_head));
}

fn too_long(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if lines > MOST_LINES { vec![format!("{}: {lines} lines", source.path)] } else { Vec::new() }
}

#[test]
fn no_file_is_longer_than_500_lines() {
    assert!(too_long(&Source::new("a.rs", &"x\n".repeat(MOST_LINES))).is_empty());
    assert_eq!(too_long(&Source::new("a.rs", &"x\n".repeat(MOST_LINES + 1))).len(), 1);
    keep(
        "A Rust file has at most 500 lines, better 300. Split it by what its parts are for.",
        &broken_in(&sources(), too_long),
    );
}

fn name_of_nothing(source: &Source) -> Vec<String> {
    let bad =
        source.modules().into_iter().filter(|module| NAMES_OF_NOTHING.contains(&module.as_str()));
    bad.map(|module| format!("{}: {module}", source.path)).collect()
}

#[test]
fn no_module_is_named_after_nothing() {
    assert_eq!(name_of_nothing(&Source::new("x/src/utils.rs", "//! x\n")).len(), 1);
    assert_eq!(name_of_nothing(&Source::new("x/src/helpers/a.rs", "//! x\n")).len(), 1);
    assert_eq!(name_of_nothing(&Source::new("x/src/a.rs", "pub mod common {}\n")).len(), 1);
    assert!(
        name_of_nothing(&Source::new("x/src/commons.rs", "// mod utils;\nlet common = 1;"))
            .is_empty()
    );
    let rule = "No module is called utils, common, helpers or the like: such a name takes in everything. Name it after what is in it.";
    keep(rule, &broken_in(&sources(), name_of_nothing));
}

fn ignored_test(source: &Source) -> Vec<String> {
    at(source, source.lines_with(&["#[ignore", "ignore)]"]), "an ignored test")
}

#[test]
fn no_test_is_ignored() {
    assert_eq!(
        ignored_test(&Source::new("a.rs", "#[ignore]\nfn a() {}\n#[ignore = \"slow\"]\nfn b() {}"))
            .len(),
        2
    );
    assert_eq!(
        ignored_test(&Source::new("a.rs", "#[cfg_attr(x, ignore)] // #[ignore]\nfn a() {}")).len(),
        1
    );
    assert!(ignored_test(&Source::new("a.rs", "let ignore = 1; // #[ignore]")).is_empty());
    keep(
        "No test is ignored: a test that does not run proves nothing. Mend it or take it away.",
        &broken_in(&sources(), ignored_test),
    );
}

fn unfinished(source: &Source) -> Vec<String> {
    at(source, source.lines_with(&["todo!", "unimplemented!", "dbg!"]), "unfinished")
}

#[test]
fn nothing_is_left_unfinished() {
    assert_eq!(
        unfinished(&Source::new("a.rs", "todo!();\nunimplemented!();\n// todo!()\n\"todo!\""))
            .len(),
        2
    );
    let rule = "No `todo!`, `unimplemented!` or `dbg!`: what is not built is refused with a sentence, and what is looked at goes to the log.";
    keep(rule, &broken_in(&sources(), unfinished));
}

fn sleeping_test(source: &Source) -> Vec<String> {
    at(source, source.test_lines_with(&["thread::sleep"]), "a test that sleeps")
}

#[test]
fn no_test_sleeps() {
    let sleep = "std::thread::sleep(a);\n";
    assert_eq!(
        sleeping_test(&Source::new("a.rs", &format!("#[cfg(test)]\nmod tests {{ {sleep} }}")))
            .len(),
        1
    );
    assert!(
        sleeping_test(&Source::new("a.rs", sleep)).is_empty(),
        "clippy looks after the product"
    );
    let rule = "No test sleeps on its thread: it would be slow, and wrong on a slower machine. Wait for the event itself, with a deadline.";
    keep(rule, &broken_in(&sources(), sleeping_test));
}

fn unsafe_elsewhere(source: &Source) -> Vec<String> {
    let allowed = UNSAFE.iter().any(|(path, _)| *path == source.path);
    if allowed { Vec::new() } else { at(source, source.lines_with(&["unsafe"]), "unsafe code") }
}

fn without_a_reason(source: &Source) -> Vec<String> {
    let opened = source
        .after("unsafe")
        .into_iter()
        .filter(|(_, rest)| rest.trim_start().starts_with('{'))
        .count();
    let reasons = source.text.matches("// SAFETY: ").count();
    if reasons >= opened {
        Vec::new()
    } else {
        vec![format!("{}: {opened} unsafe blocks, {reasons} SAFETY comments", source.path)]
    }
}

#[test]
fn unsafe_stands_in_few_files_and_says_why() {
    assert_eq!(
        unsafe_elsewhere(&Source::new("a.rs", "fn a() { unsafe { b() } } // unsafe")).len(),
        1
    );
    assert!(unsafe_elsewhere(&Source::new(UNSAFE[0].0, "unsafe {}")).is_empty());
    assert_eq!(without_a_reason(&Source::new("a.rs", "unsafe { b() }")).len(), 1);
    assert!(
        without_a_reason(&Source::new("a.rs", "// SAFETY: b is harmless.\nunsafe { b() }"))
            .is_empty()
    );
    let sources = sources();
    let idle = |path: &&str| {
        !sources
            .iter()
            .any(|source| source.path == *path && !source.lines_with(&["unsafe"]).is_empty())
    };
    let gone = UNSAFE
        .iter()
        .map(|(path, _)| *path)
        .filter(idle)
        .map(|path| format!("{path}: has no unsafe code; take it off the list"));
    let broken =
        broken_in(&sources, |source| [unsafe_elsewhere(source), without_a_reason(source)].concat());
    let rule = "`unsafe` stands only in the files that UNSAFE of tests/tidy/code.rs names with a reason, each block with its SAFETY comment.";
    keep(rule, &broken.into_iter().chain(gone).collect::<Vec<_>>());
}

/// A word of SQL with something after it: `DELETE` alone may be a method of HTTP.
fn is_sql(literal: &str) -> bool {
    let words: Vec<&str> = literal.split_whitespace().collect();
    words
        .iter()
        .take(words.len().saturating_sub(1))
        .any(|word| SQL.contains(&word.trim_start_matches('(')))
}

fn sql_elsewhere(source: &Source) -> Vec<String> {
    if source.path.starts_with("engine/src/db/") || source.path.starts_with("tests/") {
        return Vec::new();
    }
    at(
        source,
        source.literals().iter().filter(|(_, text)| is_sql(text)).map(|(line, _)| *line).collect(),
        "SQL",
    )
}

#[test]
fn sql_stands_only_in_the_database_room() {
    let text = "conn.execute(\"DELETE FROM memories\", []);\nlet m = \"DELETE\"; // SELECT a FROM b\nlet q = r\"\nWITH x AS (SELECT 1)\";";
    assert_eq!(sql_elsewhere(&Source::new("daemon/src/a.rs", text)).len(), 2);
    assert_eq!(sql_elsewhere(&Source::new("engine/src/operations/store.rs", text)).len(), 2);
    assert!(sql_elsewhere(&Source::new("engine/src/db/memories.rs", text)).is_empty());
    let rule = "SQL text stands only under engine/src/db: there it is found, and no other room decides what a table looks like. \
                Write a function there and call it.";
    keep(rule, &broken_in(&sources(), sql_elsewhere));
}

fn time_or_environment(source: &Source) -> Vec<String> {
    if !source.path.starts_with("engine/src/") {
        return Vec::new();
    }
    at(source, source.product_lines_with(&CLOCK_AND_ENVIRONMENT), "the clock or the environment")
}

#[test]
fn the_engine_reads_no_clock_and_no_environment() {
    let text = "let a = SystemTime::now();\nlet b = std::env::var(\"X\");\nuse std::env;\nlet id = Uuid::now_v7();\nlet v = env!(\"X\");";
    let found = time_or_environment(&Source::new("engine/src/a.rs", text));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(time_or_environment(&Source::new("daemon/src/a.rs", text)).is_empty());
    assert!(
        time_or_environment(&Source::new(
            "engine/src/a.rs",
            "#[cfg(test)]\nmod tests { fn a() { Instant::now() } }"
        ))
        .is_empty()
    );
    let rule = "The engine reads no clock and no environment: it is handed `now` and its settings, so that a test can be any day. \
                `Uuid::now_v7` is allowed: the moment in an id serves only to keep new ids near each other, and no answer depends on it.";
    keep(rule, &broken_in(&sources(), time_or_environment));
}

fn mcp_elsewhere(source: &Source) -> Vec<String> {
    let rooms =
        ["daemon/src/mcp/", "daemon/src/interface/agents/transport.rs", "daemon/src/transport/"];
    if rooms.iter().any(|room| source.path.starts_with(room)) {
        return Vec::new();
    }
    let start = |rest: &str| {
        source.path == "daemon/src/interface/agents/listen.rs"
            && rest == "::service::serve_directly_with_ct;"
    };
    let lines =
        source.after("rmcp").into_iter().filter(|(_, rest)| !start(rest)).map(|(line, _)| line);
    at(source, lines.collect(), "rmcp")
}

#[test]
fn mcp_is_known_to_two_rooms() {
    let start = "use rmcp::service::serve_directly_with_ct;\n";
    assert!(
        mcp_elsewhere(&Source::new("daemon/src/interface/agents/mcp.rs", "use rmcp::model::Tool;"))
            .is_empty()
    );
    assert!(mcp_elsewhere(&Source::new("daemon/src/interface/agents/listen.rs", start)).is_empty());
    assert_eq!(
        mcp_elsewhere(&Source::new(
            "daemon/src/interface/agents/listen.rs",
            &format!("{start}use rmcp::model::Tool;")
        ))
        .len(),
        1
    );
    assert_eq!(mcp_elsewhere(&Source::new("daemon/src/service/mod.rs", start)).len(), 1);
    assert!(
        mcp_elsewhere(&Source::new(
            "daemon/src/process/telemetry.rs",
            "let filter = \"rmcp=off\"; // rmcp"
        ))
        .is_empty()
    );
    let rule = "Only daemon/src/mcp and daemon/src/transport* name rmcp, and listen.rs its one function serve_directly_with_ct: \
                the protocol changes often, and a change must not pass through the house.";
    keep(rule, &broken_in(&sources(), mcp_elsewhere));
}
