//! Rules for single Rust files: header comment, length, and where `unsafe`, SQL, the clock and MCP
//! may be used. Not here: rules for crates and their dependencies (`layers`).

use crate::assert_rule;
use crate::repository::sources;
use crate::rust::Source;

/// Maximum number of lines of a file.
const MAX_LINES: usize = 500;
/// Module names that do not say what the module contains.
const VAGUE_NAMES: [&str; 7] = ["util", "utils", "common", "helper", "helpers", "misc", "stuff"];
/// Files that may contain `unsafe`, each with the reason.
const UNSAFE: [(&str, &str); 13] = [
    (
        "daemon/src/embedding/model_thread.rs",
        "`_exit` ends a process whose model does not return, without its static destructors",
    ),
    ("daemon/src/embedding/resident_memory.rs", "`mallopt` and `madvise` are C functions"),
    (
        "daemon/src/embedding/onnx.rs",
        "ONNX Runtime's telemetry can only be switched off by an environment variable",
    ),
    ("engine/src/db/cipher.rs", "the head of a file is read through the descriptor of SQLite"),
    (
        "engine/src/db/connection.rs",
        "a SQLite extension is registered through a pointer to a C function",
    ),
    (
        "crates/search/src/index/huge_pages.rs",
        "`madvise` takes the address of the memory that should use huge pages",
    ),
    (
        "crates/base/src/kernels/mod.rs",
        "calls functions that are compiled for instructions this processor has",
    ),
    ("crates/base/src/kernels/avx2.rs", "AVX2 instructions read and write 32 bytes at once"),
    ("crates/base/src/kernels/avx512.rs", "AVX-512 instructions read and write 64 bytes at once"),
    ("shim/src/relay/file_pages.rs", "`madvise` takes the address of the pages to release"),
    ("shim/src/spawn/mod.rs", "`setsid` runs between fork and exec"),
    ("tests/it/call_filter.rs", "a system call filter is installed between fork and exec"),
    ("tests/it/terminal.rs", "a program gets its terminal between fork and exec"),
];
/// Functions that read the clock or the environment.
const CLOCK_AND_ENVIRONMENT: [&str; 6] =
    ["SystemTime::now", "Instant::now", "Utc::now", "Local::now", "env::", "std::env"];
/// First words of SQL statements, in the upper case this repository uses.
const SQL: [&str; 8] =
    ["SELECT", "INSERT", "UPDATE", "DELETE", "PRAGMA", "CREATE", "DROP", "ALTER"];

fn violations_in(sources: &[Source], rule: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    sources.iter().flat_map(rule).collect()
}

fn at(source: &Source, mut lines: Vec<usize>, what: &str) -> Vec<String> {
    lines.dedup();
    lines.into_iter().map(|line| format!("{}:{line}: {what}", source.path)).collect()
}

fn missing_header(source: &Source) -> Vec<String> {
    let first = source.text.lines().next().unwrap_or_default();
    let has_header = first.strip_prefix("//! ").is_some_and(|sentence| !sentence.trim().is_empty());
    if has_header {
        Vec::new()
    } else {
        vec![format!("{}:1: does not begin with `//! `", source.path)]
    }
}

#[test]
fn every_file_begins_with_a_header_comment() {
    assert_eq!(
        missing_header(&Source::new("a.rs", "//! Parses guest lists.\n")),
        Vec::<String>::new()
    );
    for without in ["use std::fs;\n", "\n//! Late.\n", "//!\n//! Empty.\n", ""] {
        assert_eq!(missing_header(&Source::new("a.rs", without)).len(), 1, "{without:?}");
    }
    let rule = "Every Rust file, tests included, begins with `//! `: one sentence that says what the module does, then what is deliberately not in it.";
    assert_rule(rule, &violations_in(&sources(), missing_header));
}

fn too_long(source: &Source) -> Vec<String> {
    let lines = source.text.lines().count();
    if lines > MAX_LINES { vec![format!("{}: {lines} lines", source.path)] } else { Vec::new() }
}

#[test]
fn no_file_is_longer_than_500_lines() {
    assert!(too_long(&Source::new("a.rs", &"x\n".repeat(MAX_LINES))).is_empty());
    assert_eq!(too_long(&Source::new("a.rs", &"x\n".repeat(MAX_LINES + 1))).len(), 1);
    assert_rule(
        "A Rust file has at most 500 lines; aim for 300. Split it by responsibility.",
        &violations_in(&sources(), too_long),
    );
}

fn vague_names(source: &Source) -> Vec<String> {
    let bad = source.modules().into_iter().filter(|module| VAGUE_NAMES.contains(&module.as_str()));
    bad.map(|module| format!("{}: {module}", source.path)).collect()
}

#[test]
fn no_module_has_a_vague_name() {
    assert_eq!(vague_names(&Source::new("x/src/utils.rs", "//! x\n")).len(), 1);
    assert_eq!(vague_names(&Source::new("x/src/helpers/a.rs", "//! x\n")).len(), 1);
    assert_eq!(vague_names(&Source::new("x/src/a.rs", "pub mod common {}\n")).len(), 1);
    assert!(
        vague_names(&Source::new("x/src/commons.rs", "// mod utils;\nlet common = 1;")).is_empty()
    );
    let rule = "No module is called utils, common, helpers or similar: such a name fits any code. Name the module after what it contains.";
    assert_rule(rule, &violations_in(&sources(), vague_names));
}

fn ignored_tests(source: &Source) -> Vec<String> {
    at(source, source.lines_with(&["#[ignore", "ignore)]"]), "ignored test")
}

#[test]
fn no_test_is_ignored() {
    assert_eq!(
        ignored_tests(&Source::new(
            "a.rs",
            "#[ignore]\nfn a() {}\n#[ignore = \"slow\"]\nfn b() {}"
        ))
        .len(),
        2
    );
    assert_eq!(
        ignored_tests(&Source::new("a.rs", "#[cfg_attr(x, ignore)] // #[ignore]\nfn a() {}")).len(),
        1
    );
    assert!(ignored_tests(&Source::new("a.rs", "let ignore = 1; // #[ignore]")).is_empty());
    assert_rule(
        "No test is ignored: a test that does not run proves nothing. Fix it or delete it.",
        &violations_in(&sources(), ignored_tests),
    );
}

fn unfinished(source: &Source) -> Vec<String> {
    at(source, source.lines_with(&["todo!", "unimplemented!", "dbg!"]), "unfinished")
}

#[test]
fn no_code_is_left_unfinished() {
    assert_eq!(
        unfinished(&Source::new("a.rs", "todo!();\nunimplemented!();\n// todo!()\n\"todo!\""))
            .len(),
        2
    );
    let rule = "No `todo!`, `unimplemented!` or `dbg!`: return an error for what is not built, and use the log for debugging output.";
    assert_rule(rule, &violations_in(&sources(), unfinished));
}

fn sleeping_tests(source: &Source) -> Vec<String> {
    at(source, source.test_lines_with(&["thread::sleep"]), "test sleeps")
}

#[test]
fn no_test_sleeps() {
    let sleep = "std::thread::sleep(a);\n";
    assert_eq!(
        sleeping_tests(&Source::new("a.rs", &format!("#[cfg(test)]\nmod tests {{ {sleep} }}")))
            .len(),
        1
    );
    assert!(
        sleeping_tests(&Source::new("a.rs", sleep)).is_empty(),
        "outside tests, clippy forbids it"
    );
    let rule = "No test calls `thread::sleep`: it makes the test slow, and flaky on a slower machine. Wait for the event itself, with a deadline.";
    assert_rule(rule, &violations_in(&sources(), sleeping_tests));
}

/// Waits that end only when something else does.
const UNBOUNDED: [&str; 4] = [".output()", ".wait()", ".wait_with_output()", ".recv()"];

fn unbounded_waits(source: &Source) -> Vec<String> {
    if !source.path.starts_with("tests/it/") || source.path == "tests/it/in_time.rs" {
        return Vec::new();
    }
    // `TestHome::status` waits with a bound.
    let of_a_command = |line: &usize| {
        source.text.lines().nth(line - 1).is_some_and(|text| !text.contains("home.status()"))
    };
    let statuses = source.lines_with(&[".status()"]).into_iter().filter(of_a_command);
    at(
        source,
        source.lines_with(&UNBOUNDED).into_iter().chain(statuses).collect(),
        "wait without a bound",
    )
}

#[test]
fn no_test_of_the_programs_waits_without_a_bound() {
    let wait = "let output = command.output();\nchild.wait();\nkill.status();\nhome.status();\n";
    assert_eq!(unbounded_waits(&Source::new("tests/it/a.rs", wait)).len(), 3);
    assert!(unbounded_waits(&Source::new("daemon/src/a.rs", wait)).is_empty());
    let rule = "A test of the programs waits with `exit_in_time`, `output_in_time`, `in_time` or `recv_timeout`: after 120 s it fails and says what it waited for.";
    assert_rule(rule, &violations_in(&sources(), unbounded_waits));
}

fn unexpected_unsafe(source: &Source) -> Vec<String> {
    let allowed = UNSAFE.iter().any(|(path, _)| *path == source.path);
    if allowed { Vec::new() } else { at(source, source.lines_with(&["unsafe"]), "unsafe code") }
}

fn unsafe_without_a_reason(source: &Source) -> Vec<String> {
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
fn unsafe_is_confined_to_listed_files_and_explained() {
    assert_eq!(
        unexpected_unsafe(&Source::new("a.rs", "fn a() { unsafe { b() } } // unsafe")).len(),
        1
    );
    assert!(unexpected_unsafe(&Source::new(UNSAFE[0].0, "unsafe {}")).is_empty());
    assert_eq!(unsafe_without_a_reason(&Source::new("a.rs", "unsafe { b() }")).len(), 1);
    assert!(
        unsafe_without_a_reason(&Source::new(
            "a.rs",
            "// SAFETY: b has no preconditions.\nunsafe { b() }"
        ))
        .is_empty()
    );
    let sources = sources();
    let has_none = |path: &&str| {
        !sources
            .iter()
            .any(|source| source.path == *path && !source.lines_with(&["unsafe"]).is_empty())
    };
    let stale = UNSAFE
        .iter()
        .map(|(path, _)| *path)
        .filter(has_none)
        .map(|path| format!("{path}: has no unsafe code; remove it from UNSAFE"));
    let violations = violations_in(&sources, |source| {
        [unexpected_unsafe(source), unsafe_without_a_reason(source)].concat()
    });
    let rule = "`unsafe` is used only in the files that UNSAFE of tests/tidy/code.rs lists with a reason, and each block has a SAFETY comment.";
    assert_rule(rule, &violations.into_iter().chain(stale).collect::<Vec<_>>());
}

/// Whether the literal has an SQL keyword followed by another word; `DELETE` alone may be an HTTP
/// method.
fn is_sql(literal: &str) -> bool {
    let words: Vec<&str> = literal.split_whitespace().collect();
    words
        .iter()
        .take(words.len().saturating_sub(1))
        .any(|word| SQL.contains(&word.trim_start_matches('(')))
}

fn unexpected_sql(source: &Source) -> Vec<String> {
    let databases = ["engine/src/db/", "crates/import/src/db/", "tests/"];
    if databases.iter().any(|folder| source.path.starts_with(folder)) {
        return Vec::new();
    }
    at(
        source,
        source.literals().iter().filter(|(_, text)| is_sql(text)).map(|(line, _)| *line).collect(),
        "SQL",
    )
}

#[test]
fn sql_is_confined_to_the_database_module() {
    let text = "conn.execute(\"DELETE FROM memories\", []);\nlet m = \"DELETE\"; // SELECT a FROM b\nlet q = r\"\nWITH x AS (SELECT 1)\";";
    assert_eq!(unexpected_sql(&Source::new("daemon/src/a.rs", text)).len(), 2);
    assert_eq!(unexpected_sql(&Source::new("engine/src/operations/store.rs", text)).len(), 2);
    assert!(unexpected_sql(&Source::new("engine/src/db/memories.rs", text)).is_empty());
    let rule = "SQL text is allowed only under engine/src/db and crates/import/src/db, so that no other module depends on the table layout. \
                Add a function there and call it.";
    assert_rule(rule, &violations_in(&sources(), unexpected_sql));
}

fn clock_or_environment(source: &Source) -> Vec<String> {
    let pure = ["engine/src/", "crates/base/src/", "crates/import/src/", "crates/search/src/"];
    if !pure.iter().any(|folder| source.path.starts_with(folder)) {
        return Vec::new();
    }
    at(
        source,
        source.product_lines_with(&CLOCK_AND_ENVIRONMENT),
        "reads the clock or the environment",
    )
}

#[test]
fn the_engine_reads_no_clock_and_no_environment() {
    let text = "let a = SystemTime::now();\nlet b = std::env::var(\"X\");\nuse std::env;\nlet id = Uuid::now_v7();\nlet v = env!(\"X\");";
    let found = clock_or_environment(&Source::new("engine/src/a.rs", text));
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(clock_or_environment(&Source::new("daemon/src/a.rs", text)).is_empty());
    assert!(
        clock_or_environment(&Source::new(
            "engine/src/a.rs",
            "#[cfg(test)]\nmod tests { fn a() { Instant::now() } }"
        ))
        .is_empty()
    );
    let rule = "The engine, base and search read no clock and no environment: callers pass `now` and the settings, so that a test can choose any date. \
                `Uuid::now_v7` is allowed: the timestamp in an id only keeps new ids close together in the database, and no result depends on it.";
    assert_rule(rule, &violations_in(&sources(), clock_or_environment));
}

/// Where rmcp may be used: the agents' interface, its HTTP routes, and the example for MCP's conformance suite.
const MCP: [&str; 3] = [
    "daemon/src/interface/agents/",
    "daemon/src/interface/http/routes.rs",
    "daemon/examples/conformance.rs",
];

fn unexpected_mcp(source: &Source) -> Vec<String> {
    if MCP.iter().any(|prefix| source.path.starts_with(prefix)) {
        return Vec::new();
    }
    let lines = source.after("rmcp").into_iter().map(|(line, _)| line);
    at(source, lines.collect(), "rmcp")
}

#[test]
fn mcp_is_confined_to_the_agents_interface() {
    let uses = "use rmcp::model::Tool;";
    assert!(unexpected_mcp(&Source::new("daemon/src/interface/agents/mcp.rs", uses)).is_empty());
    assert_eq!(unexpected_mcp(&Source::new("daemon/src/service/mod.rs", uses)).len(), 1);
    let text = "let filter = \"rmcp=off\"; // rmcp";
    assert!(unexpected_mcp(&Source::new("daemon/src/process/telemetry.rs", text)).is_empty());
    let rule = "Only daemon/src/interface/agents and the HTTP routes use rmcp: the protocol changes often, and a change \
                must stay inside this module.";
    assert_rule(rule, &violations_in(&sources(), unexpected_mcp));
}
