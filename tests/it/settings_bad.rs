//! Invalid configurations and environments: each is refused with its position and the next step, by
//! `locid` with 78 and by `loci` with 1; none is ignored silently.

use crate::home::TestHome;
use crate::in_time::{ExitInTime, OutputInTime};
use std::ffi::OsString;
use std::fs::{Permissions, set_permissions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::process::Output;

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Asserts that `locid` and `loci` refuse this home with these exit codes and texts.
fn assert_refused(home: &TestHome, exits: (i32, i32), expected: &[&str]) {
    let daemon = home.command("locid").output_in_time().expect("the command runs");
    let person = home.loci(&["list"]);
    for (output, exit) in [(&daemon, exits.0), (&person, exits.1)] {
        let stderr = stderr_of(output);
        assert_eq!(output.status.code(), Some(exit), "{expected:?}: {stderr}");
        for part in expected {
            assert!(stderr.contains(part), "{part} is not in: {stderr}");
        }
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
    assert!(!home.path(".loci/memory.db").exists(), "the refused start created a database");
}

const CONFIG: (i32, i32) = (78, 1);

#[test]
fn an_unreadable_configuration_is_refused() {
    let cases: &[(&[u8], &[&str])] = &[
        (b"[retrieval\nrrf_k = 5\n", &["config.toml:1:"]),
        (
            b"[retrieval]\nrrf_kk = 5\n",
            &["config.toml:2:1", "unknown key retrieval.rrf_kk", "Did you mean rrf_k?"],
        ),
        (
            b"[retreival]\nrrf_k = 5\n",
            &["config.toml:1:2", "unknown key retreival", "Did you mean retrieval?"],
        ),
        (
            b"[streams]\nwork = 1\n",
            &["config.toml:1:2", "unknown key streams", "#keys-of-loomem-and-local-memory"],
        ),
        (
            b"[embedding]\nmodel = \"multilingua\"\n",
            &["config.toml:2:1: embedding.model", "Did you mean multilingual?"],
        ),
        (
            b"[embedding]\nprovider = \"openai\"\n",
            &["config.toml:1:2: embedding.model must be the name of a model of openai"],
        ),
        (b"[retrieval]\nzzz = 5\n", &["config.toml:2:1", "Known here: default_max_results"]),
        (
            b"[retrieval]\nrrf_k = \"five\"\n",
            &["config.toml:2:9: retrieval.rrf_k: expected a number, found a string"],
        ),
        (
            b"\n[retrieval]\nrrf_k = 5\ndefault_max_results = \"5\"\n",
            &[
                "config.toml:4:23: retrieval.default_max_results: expected an integer, found a string",
            ],
        ),
        (
            b"[maintenance]\nenabled = 1\n",
            &["config.toml:2:11: maintenance.enabled: expected true or false, found an integer"],
        ),
        (
            b"[retrieval]\ndefault_max_results = 5.5\n",
            &[
                "config.toml:2:23: retrieval.default_max_results: expected an integer, found a number",
            ],
        ),
        (
            b"[storage]\ndb_path = [\"/a\"]\n",
            &["config.toml:2:11: storage.db_path: expected a string, found an array"],
        ),
        (b"retrieval = 5\n", &["config.toml:1:13: retrieval: expected a table, found an integer"]),
        (b"[retrieval]\nrrf_k = 5\nrrf_k = 6\n", &["config.toml:3:1", "duplicate key"]),
        (b"[server]\nlog_level = \"lo\xffud\"\n", &["config.toml:2:16", "not UTF-8"]),
    ];
    for (text, expected) in cases {
        let home = TestHome::without_model();
        std::fs::write(home.path(".loci/config.toml"), text).expect("the file is written");
        assert_refused(&home, CONFIG, expected);
    }
}

#[test]
fn a_value_out_of_range_is_refused_with_its_position_and_range() {
    let cases = [
        (
            "[maintenance]\nepisodic_decay_factor = 0",
            "config.toml:2:1: maintenance.episodic_decay_factor must be from 0.01 to 1, not 0",
        ),
        ("[maintenance]\nepisodic_decay_factor = 1.5", "must be from 0.01 to 1, not 1.5"),
        ("[maintenance]\nsemantic_decay_factor = -1", "must be from 0.01 to 1, not -1"),
        ("[maintenance]\nsemantic_decay_factor = nan", "must be from 0.01 to 1, not NaN"),
        (
            "[maintenance]\ninterval_days = 0",
            "config.toml:2:1: maintenance.interval_days must be from",
        ),
        (
            "[retrieval]\ndedup_threshold = 2",
            "retrieval.dedup_threshold must be from 0 to 1, not 2",
        ),
        ("[retrieval]\nrrf_k = 0", "retrieval.rrf_k must be from 1 to 1000, not 0"),
        ("[retrieval]\ndefault_max_results = 1000000", "must be from 1 to 20, not 1000000"),
        (
            "[retrieval]\nfusion = \"best\"",
            "config.toml:2:1: retrieval.fusion must be one of soft, weighted, rrf, not best",
        ),
        (
            "[server]\nlog_level = \"loud\"",
            "config.toml:2:1: server.log_level must be one of error",
        ),
        ("[ttl]\nepisodic = 0", "config.toml:2:1: ttl.episodic must be from"),
        (
            "[storage]\ndefault_group = \"\"",
            "config.toml:2:1: storage.default_group must not be empty",
        ),
        (
            "[storage]\ndb_path = \"memory.db\"",
            "config.toml:2:1: storage.db_path must be an absolute path or begin with ~/",
        ),
        ("[storage]\ndb_path = \"~anna/memory.db\"", "storage.db_path must be an absolute path"),
        ("[storage]\ndb_path = \":memory:\"", "storage.db_path must be an absolute path"),
        ("[storage]\ndb_path = \"file:x?mode=memory\"", "storage.db_path must be an absolute path"),
        (
            "[storage]\ndb_path = \"/tmp/a\\nb.db\"",
            "storage.db_path must not contain control characters",
        ),
        (
            "[embedding]\ncache_dir = \"models\"",
            "config.toml:2:1: embedding.cache_dir must be an absolute path",
        ),
    ];
    for (text, expected) in cases {
        let home = TestHome::without_model();
        home.configure_whole(text);
        let home = if text.contains("cache_dir") { home.with("LOCI_MODELS", "") } else { home };
        assert_refused(&home, CONFIG, &[expected]);
    }
}

#[test]
fn a_configuration_that_is_not_a_regular_file_is_refused() {
    let replaced = |with: fn(&std::path::Path)| {
        let home = TestHome::without_model();
        let file = home.path(".loci/config.toml");
        std::fs::remove_file(&file).expect("the file is removed");
        with(&file);
        home
    };
    assert_refused(
        &replaced(|file| std::fs::create_dir(file).expect("the folder is created")),
        CONFIG,
        &["config.toml is not a file"],
    );
    assert_refused(
        &replaced(|file| std::fs::write(file, vec![b'#'; 10 << 20]).expect("the file is written")),
        CONFIG,
        &["is too large", "10485760"],
    );
    assert_refused(
        &replaced(|file| {
            nix::unistd::mkfifo(file, nix::sys::stat::Mode::S_IRWXU).expect("the pipe is created");
        }),
        CONFIG,
        &["is not a file"],
    );
    assert_refused(
        &replaced(|file| symlink("/dev/zero", file).expect("the link is created")),
        CONFIG,
        &["is not a file"],
    );
    let open = |file: &std::path::Path| {
        std::fs::write(file, "").expect("the file is written");
        set_permissions(file, Permissions::from_mode(0o777)).expect("the permissions are set");
    };
    assert_refused(&replaced(open), CONFIG, &["is writable by everybody", "chmod 600"]);
    // An empty file, or a link to a file of one's own, is valid.
    let home = replaced(|file| {
        let real = file.with_file_name("dotfiles.toml");
        std::fs::write(&real, "").expect("the file is written");
        symlink(&real, file).expect("the link is created");
    });
    assert!(home.loci(&["list"]).status.success());
}

/// Only root can give files away; the build server is root in its container.
fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

#[test]
fn files_of_another_user_are_refused() {
    if !is_root() {
        loci_testkit::skipped::skip("not root: no file could be given to another user");
        return;
    }
    let home = TestHome::without_model();
    chown(home.path(".loci/config.toml"), Some(1234), Some(1234)).expect("the owner is changed");
    assert_refused(&home, CONFIG, &["config.toml belongs to another user"]);
    let home = TestHome::without_model();
    chown(home.path(".loci"), Some(1234), Some(1234)).expect("the owner is changed");
    assert_refused(&home, (70, 3), &[".loci belongs to another user"]);
    // As with sudo, which keeps the HOME of the calling user.
    let home = TestHome::without_model();
    std::fs::remove_dir_all(home.path(".loci")).expect("the folder is removed");
    chown(home.path(""), Some(1234), Some(1234)).expect("the owner is changed");
    let refused = home.loci(&["list"]);
    assert!(
        stderr_of(&refused).contains("HOME belongs to another user (uid 1234)")
            && stderr_of(&refused).contains("sudo -H"),
        "{}",
        stderr_of(&refused)
    );
    assert_eq!(refused.status.code(), Some(1));
    assert!(!home.path(".loci").exists(), "no folder was created");
    chown(home.path(""), Some(0), Some(0)).expect("the owner is changed");
}

#[test]
fn an_open_or_linked_data_folder_is_refused() {
    let home = TestHome::without_model();
    set_permissions(home.path(".loci"), Permissions::from_mode(0o777))
        .expect("the permissions are set");
    assert_refused(&home, (70, 3), &["is open to other users", "chmod 700"]);
    let home = TestHome::without_model();
    std::fs::rename(home.path(".loci"), home.path("elsewhere")).expect("the file is moved");
    symlink(home.path("elsewhere"), home.path(".loci")).expect("the link is created");
    assert_refused(&home, (70, 3), &["is not a folder"]);
}

#[test]
fn invalid_variables_are_refused() {
    let long = format!("/{}", "x/".repeat(3000));
    let cases: &[(&str, &str, (i32, i32), &str)] = &[
        (
            "LOCI_LOG_LEVEL",
            "loud",
            CONFIG,
            "LOCI_LOG_LEVEL must be one of error, warn, info, debug, trace, not loud",
        ),
        ("LOCI_DB", "memory.db", CONFIG, "LOCI_DB must be an absolute path"),
        ("LOCI_DB", ":memory:", CONFIG, "LOCI_DB must be an absolute path"),
        ("LOCI_DB", "file:x?mode=memory", CONFIG, "LOCI_DB must be an absolute path"),
        ("LOCI_DB", "/tmp/a\nb.db", CONFIG, "LOCI_DB must not contain control characters"),
        ("LOCI_DB", "/proc/loci/memory.db", (70, 3), "/proc/loci"),
        ("LOCI_DB", &long, (70, 3), "too long"),
        ("LOCI_HOME", "data", CONFIG, "LOCI_HOME must be an absolute path"),
        ("LOCI_CONFIG", "config.toml", CONFIG, "LOCI_CONFIG must be an absolute path"),
        ("XDG_RUNTIME_DIR", "run", CONFIG, "XDG_RUNTIME_DIR must be an absolute path"),
    ];
    for (name, value, exits, expected) in cases {
        let mut home = TestHome::without_model();
        let refused = |home: &TestHome| {
            [
                home.command("locid").output_in_time().expect("the command runs"),
                home.loci(&["list"]),
            ]
        };
        home = home.with(name, value);
        for (output, exit) in refused(&home).iter().zip([exits.0, exits.1]) {
            assert_eq!(output.status.code(), Some(exit), "{name}: {}", stderr_of(output));
            assert!(
                stderr_of(output).to_lowercase().contains(&expected.to_lowercase()),
                "{name}: {}",
                stderr_of(output)
            );
        }
        drop(home.with(name, if *name == "XDG_RUNTIME_DIR" { "/tmp" } else { "" }));
    }
}

#[test]
fn an_empty_variable_counts_as_unset_and_an_invalid_group_is_ignored_with_a_warning() {
    let home = TestHome::without_model().with("LOCI_DB", "");
    assert!(home.loci(&["add", "Kept", "--type", "semantic"]).status.success());
    assert!(home.path(".loci/memory.db").exists());
    for group in ["a\nb", &"x".repeat(4096), "   "] {
        let listed = home
            .command("loci")
            .arg("list")
            .env("LOCI_GROUP", group)
            .output_in_time()
            .expect("the command runs");
        assert!(
            listed.status.success() && stderr_of(&listed).contains("LOCI_GROUP is ignored"),
            "{listed:?}"
        );
    }
    let unusual = OsString::from_vec(b"caf\xe9".to_vec());
    assert!(
        home.command("loci")
            .arg("list")
            .env("LOCI_GROUP", unusual)
            .output_in_time()
            .expect("the command runs")
            .status
            .success()
    );
}

#[test]
fn unusual_paths_work() {
    let nested = TestHome::without_model();
    nested.configure(&format!(
        "[storage]\ndb_path = \"{}/a/../b/new/memory.db\"\n",
        nested.path("project").display()
    ));
    std::fs::create_dir(nested.path("project/a")).expect("the folder is created");
    let stored = nested.loci(&["add", "Kept", "--type", "semantic"]);
    assert!(stored.status.success(), "{}", stderr_of(&stored));
    assert!(nested.path("project/b/new/memory.db").exists());

    let home = TestHome::without_model();
    let mut without = home.command("loci");
    without.env_remove("XDG_RUNTIME_DIR").args(["add", "Kept", "--type", "semantic"]);
    assert!(without.output_in_time().expect("the command runs").status.success());
    assert!(home.path(".loci/run/locid.sock").exists());
    let mut stop = home.command("loci");
    assert!(
        stop.env_remove("XDG_RUNTIME_DIR")
            .args(["ctl", "stop"])
            .exit_in_time()
            .expect("the command runs")
            .success()
    );
}

#[test]
fn without_home_loci_home_is_required_and_sufficient() {
    let home = TestHome::without_model();
    let mut command = home.command("loci");
    command.env_remove("HOME").env("LOCI_HOME", home.path(".loci")).args(["list"]);
    let listed = command.output_in_time().expect("the command runs");
    assert!(listed.status.success(), "{}", stderr_of(&listed));
    let mut stop = home.command("loci");
    assert!(
        stop.env_remove("HOME")
            .env("LOCI_HOME", home.path(".loci"))
            .args(["ctl", "stop"])
            .exit_in_time()
            .expect("the command runs")
            .success()
    );
}

#[test]
fn locale_and_time_zone_change_no_answer() {
    let answers = |variables: &[(&str, &str)]| {
        let home = variables
            .iter()
            .fold(TestHome::without_model(), |home, (name, value)| home.with(name, value));
        let mut agent = home.session();
        agent.store_all(
            "semantic",
            [
                "ISTANBUL is the title of the file",
                "An Irish intern is in the office",
                "Straße und Öl",
            ],
        );
        let found = home.loci(&["search", "istanbul title IRISH", "--json"]);
        let listed = home.loci(&["list", "--text", "INTERN", "--json"]);
        let created = String::from_utf8_lossy(&listed.stdout).contains("Z\"");
        let found: serde_json::Value = serde_json::from_slice(&found.stdout).expect("valid JSON");
        let previews: Vec<String> = found["results"]
            .as_array()
            .expect("a JSON array")
            .iter()
            .map(|r| r["preview"].to_string())
            .collect();
        let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).expect("valid JSON");
        (previews, listed["total"].clone(), created)
    };
    let usual = answers(&[]);
    assert_eq!((usual.0.len(), usual.2), (2, true));
    for unusual in [
        &[("TZ", "Pacific/Kiritimati")][..],
        &[("TZ", "nonsense/+99")],
        &[("LANG", "C"), ("LC_ALL", "C")],
        &[("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8")],
    ] {
        assert_eq!(answers(unusual), usual, "{unusual:?}");
    }
}

#[test]
fn an_open_umask_makes_no_file_public() {
    let home = TestHome::without_model();
    std::fs::remove_dir_all(home.path(".loci")).expect("the folder is removed");
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", "umask 000; exec \"$0\" add Kept --type semantic"])
        .arg(crate::home::binaries().join("loci"));
    command
        .env_clear()
        .env("HOME", home.path(""))
        .env("XDG_RUNTIME_DIR", home.path("run"))
        .env("LOCI_MODELS", home.path("models"));
    let stored =
        command.current_dir(home.path("project")).output_in_time().expect("the command runs");
    assert!(stored.status.success(), "{}", stderr_of(&stored));
    let mut unchecked = vec![home.path(".loci"), home.path("run/loci")];
    let mut checked = 0;
    while let Some(path) = unchecked.pop() {
        let found = path.symlink_metadata().expect("the file exists");
        assert_eq!(found.mode() & 0o077, 0, "{} is open: {:o}", path.display(), found.mode());
        checked += 1;
        if found.is_dir() {
            unchecked.extend(
                std::fs::read_dir(&path)
                    .expect("the folder can be listed")
                    .map(|entry| entry.expect("the entry can be read").path()),
            );
        }
    }
    assert!(checked > 6, "{checked}");
}
