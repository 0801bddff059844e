//! Every file that loci writes is in the table of docs/security-model.md, with its mode.
//!
//! Not here: files that are opened to others later (`storage_warnings`).

use crate::home::{TestHome, models};
use crate::hooks::run_hook;
use crate::in_time::OutputInTime;
use crate::wire::{kill_daemon, wait_until};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where the table says what is written.
const PAGE: &str = "../docs/security-model.md";
/// Rows that this test does not reach; `loading` checks the index snapshot, `transfer` the export,
/// `backup` what is there for a moment, `setup` the record of what clients got.
const NOT_REACHED: [&str; 20] = [
    // Only in a build with encryption: tests/it/encrypted.rs.
    "~/.loci/key",
    "~/.loci/key.new",
    // Only with an embedding API: tests/it/api_limit.rs.
    "~/.loci/memory.db-api-usage",
    "~/.loci/memory.db-api-usage-new",
    // Only where a person has answered: tests/it/guest.rs.
    "~/.loci/allowed-files",
    // Only where a project is isolated or off: engine/src/backups/restore.rs.
    "~/.loci/backups/policies",
    "~/.loci/backups/policies-copy",
    "~/.loci/setup.json",
    "~/.loci/memory.db-index",
    "~/.loci/quarantine/<time>/memory.db-index",
    "~/.loci/quarantine/<time>/memory.db-shm",
    "~/.loci/backups/.tmp-<id>.db",
    "~/.loci/backups/.tmp-<id>",
    "~/.loci/.restore-<id>",
    "~/.loci/memory.db-restoring",
    "FILE",
    // Where the user says: tests/it/import_from.rs.
    "DIR",
    "DIR/.loci-export",
    "DIR/<project>/index.md",
    "DIR/<project>/<type>/<memory>.md",
];

/// A row of the table: a path in which `<…>` stands for any name, and its mode.
struct Row {
    path: String,
    mode: u32,
}

/// The rows of the table with the columns `path` and `mode`.
fn rows(page: &str) -> Vec<Row> {
    let lines = page.lines().skip_while(|line| !line.starts_with("| path | mode |")).skip(2);
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let path = cells.next()?.trim_matches('`').to_owned();
        Some(Row { path, mode: u32::from_str_radix(cells.next()?, 8).ok()? })
    };
    lines.take_while(|line| line.starts_with('|')).filter_map(row).collect()
}

/// Whether a path is the one of a row.
fn fits(path: &str, row: &str) -> bool {
    let (mut path, mut row) = (path.split('/'), row.split('/'));
    loop {
        match (path.next(), row.next()) {
            (None, None) => return true,
            (Some(name), Some(pattern)) if name_fits(name, pattern) => {}
            _ => return false,
        }
    }
}

fn name_fits(name: &str, pattern: &str) -> bool {
    match (pattern.find('<'), pattern.find('>')) {
        (Some(start), Some(end)) => {
            let (before, after) = (&pattern[..start], &pattern[end + 1..]);
            name.len() > before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
        _ => name == pattern,
    }
}

/// Everything below a folder, and the folder.
fn walk(path: &Path, found: &mut Vec<PathBuf>) {
    found.push(path.to_owned());
    // A file may be removed by the daemon between its listing and its reading.
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        let entries = fs::read_dir(path).expect("the folder can be listed");
        entries.filter_map(Result::ok).for_each(|entry| walk(&entry.path(), found));
    }
}

/// The table, and the rows that were found on the disk so far.
struct Table {
    rows: Vec<Row>,
    found: BTreeSet<String>,
}

impl Table {
    /// Compares everything that a home contains with the table.
    fn compare(&mut self, home: &TestHome, moment: &str) {
        let mut paths = Vec::new();
        walk(&home.path(".loci"), &mut paths);
        walk(&home.path("run/loci"), &mut paths);
        for path in paths {
            let Ok(metadata) = path.symlink_metadata() else { continue };
            let inside = path.strip_prefix(home.path("")).expect("it is in the home");
            let shown = format!("~/{}", inside.display()).replace("~/run/", "$XDG_RUNTIME_DIR/");
            let row = self.rows.iter().find(|row| fits(&shown, &row.path));
            let row = row.unwrap_or_else(|| panic!("{moment}: {shown} is not in the table"));
            let mode = metadata.permissions().mode() & 0o7777;
            assert_eq!(mode, row.mode, "{moment}: {shown} has the mode {mode:o}");
            self.found.insert(row.path.clone());
        }
    }
}

#[test]
fn every_file_that_loci_writes_is_in_the_table_with_its_mode() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = fs::read_to_string(page).expect("the page can be read");
    let mut table = Table { rows: rows(&page), found: BTreeSet::new() };
    let home = TestHome::without_model().with("LOCI_MODELS", "");
    home.configure("[privacy]\nsecrets = \"allow\"");
    let fetched =
        home.command("locid").args(["model", "fetch", "--from"]).arg(models()).output_in_time();
    assert!(fetched.as_ref().is_ok_and(|output| output.status.success()), "{fetched:?}");
    table.compare(&home, "after the download");
    let mut agent = home.session();
    agent.store("semantic", "The ferry leaves at nine");
    agent.call("recall_memory", json!({"query": "ferry"})).expect("the call succeeds");
    wait_until("the reserve exists", || home.path(".loci/memory.db-reserve").exists());
    table.compare(&home, "while it serves");
    agent.store("semantic", &["The token is glp", "at-Zk4Qw8nV2xTbY6rLm0Pd"].concat());
    let erased = agent.store("semantic", "The bus leaves at ten");
    let restore = ["backup", "restore", "--yes"];
    for command in [
        &["backup", "create"][..],
        &["serve", "token", "add", "phone"],
        &["forget", &erased, "--hard", "--yes"],
        &["scan", "--redact", "--yes"],
        &["backup", "verify"],
        &restore,
    ] {
        let output = home.loci(command);
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
    table.compare(&home, "after a restore");
    for command in [&["compact"][..], &["scan"], &["doctor"], &["eval"], &["reset", "--yes"]] {
        let output = home.loci(command);
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
    table.compare(&home, "after a reset");
    agent.store("semantic", "Stored before the crash");
    kill_daemon(&home);
    let log = home.path(".loci/memory.db-wal");
    let length = log.metadata().expect("the log exists").len();
    let garbage = vec![7; usize::try_from(length).expect("it is small")];
    fs::write(&log, garbage).expect("the log is overwritten");
    assert!(home.loci(&["stats"]).status.success());
    table.compare(&home, "after the recovery");
    assert!(home.loci(&["ctl", "stop", "--hold"]).status.success());
    run_hook(home.command("loci"), "claude", "prompt", b"{}");
    table.compare(&home, "while it is held");
    assert!(home.loci(&["ctl", "start"]).status.success());
    let written = table.rows.iter().map(|row| row.path.as_str());
    let absent: Vec<&str> = written
        .filter(|path| !table.found.contains(*path) && !NOT_REACHED.contains(path))
        .collect();
    assert!(absent.is_empty(), "nothing writes these rows of the table: {absent:?}");
}

#[test]
fn a_row_stands_for_the_paths_that_fit_it() {
    let page = "| path | mode | content |\n|---|---|---|\n| `~/a/b-<time>.db` | 0600 | x |\n\n| `~/c` | 0600 | x |\n";
    let found = rows(page);
    assert_eq!((found.len(), found[0].path.as_str(), found[0].mode), (1, "~/a/b-<time>.db", 0o600));
    for (path, expected) in [
        ("~/a/b-1.db", true),
        ("~/a/b-.db", false),
        ("~/a/b-1.dbx", false),
        ("~/a/b-1.db/c", false),
        ("~/a", false),
    ] {
        assert_eq!(fits(path, &found[0].path), expected, "{path}");
    }
}
