//! `loci uninstall`: what goes, what stays, and that nothing outside loci's own files is deleted.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use crate::wire::wait_until;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Runs `loci uninstall --json` with flags; returns its report.
fn uninstall(home: &TestHome, flags: &[&str]) -> Value {
    let output = home.loci(&[&["uninstall", "--json"], flags].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

/// Every file and folder below a folder, with the contents of files.
fn tree(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be listed") {
            let path = entry.expect("the entry can be read").path();
            let kind = path.symlink_metadata().expect("it exists").file_type();
            if kind.is_dir() {
                folders.push(path.clone());
            }
            let content = kind.is_file().then(|| fs::read(&path).expect("the file can be read"));
            found.push((path, content));
        }
    }
    found.sort();
    found
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .map(|entry| {
            entry.expect("the entry can be read").file_name().to_string_lossy().into_owned()
        })
        .collect();
    names.sort();
    names
}

fn kept(report: &Value, path: &Path) -> String {
    let kept = report["kept"].as_array().expect("a JSON array");
    let entry = kept.iter().find(|kept| kept["path"] == path.to_str().expect("the path is UTF-8"));
    entry.map_or_else(String::new, |kept| kept["why"].as_str().unwrap_or_default().to_owned())
}

#[test]
fn the_memories_stay_and_are_found_again_after_a_new_installation() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Stored before the removal");
    let report = uninstall(&home, &["--yes"]);
    assert_eq!(report["daemon"], true);
    assert_eq!(home.loci(&["ctl", "status"]).status.code(), Some(3), "the daemon has ended");
    assert_eq!(names(&home.path("run")), [""; 0], "sockets and locks are gone");
    assert!(!home.path(".loci/logs").exists());
    assert_eq!(kept(&report, &home.path(".loci/memory.db")), "your memories");
    assert_eq!(kept(&report, &home.path(".loci/config.toml")), "your configuration");
    assert_eq!(home.session().recall("removal"), ["Stored before the removal"]);
}

#[test]
fn a_dry_run_and_a_refusal_change_nothing() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Stored before the dry run");
    wait_until("the reserve exists", || home.path(".loci/memory.db-reserve").exists());
    let before: Vec<PathBuf> =
        tree(&home.path(".loci")).into_iter().map(|(path, _)| path).collect();
    let (pid, report) =
        (home.status()["pid"].clone(), uninstall(&home, &["--dry-run", "--delete-data"]));
    let removed = report["removed"].as_array().expect("a JSON array");
    for path in [home.path(".loci/memory.db"), home.path("run/loci/locid.sock")] {
        assert!(removed.contains(&json!(path)), "{path:?} in {removed:?}");
    }
    for flags in [&["uninstall"][..], &["uninstall", "--delete-data"]] {
        let output = home.loci(flags);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains("Add --yes"), "{text}");
    }
    let (code, screen) = home.at_terminal(&["uninstall"], "[y/N]", "n");
    assert_eq!(code, Some(1), "{screen}");
    let after: Vec<PathBuf> = tree(&home.path(".loci")).into_iter().map(|(path, _)| path).collect();
    assert_eq!((home.status()["pid"].clone(), after), (pid, before));
}

#[test]
fn with_delete_data_nothing_is_left() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Deleted in the end");
    let forgotten = agent.store("semantic", "Erased before");
    drop(agent);
    for command in [
        &["backup", "create"][..],
        &["forget", &forgotten, "--hard", "--yes"],
        &["backup", "restore", "--yes"],
        &["ctl", "stop", "--hold"],
    ] {
        assert!(home.loci(command).status.success(), "{command:?}");
    }
    assert!(home.path(".loci/quarantine").exists(), "the restore kept the earlier files");
    let report = uninstall(&home, &["--delete-data", "--yes"]);
    assert_eq!(report["daemon"], false);
    assert!(!home.path(".loci").exists(), "left: {:?}", names(&home.path(".loci")));
    assert_eq!(names(&home.path("run")), [""; 0]);
    assert_eq!(report["kept"].as_array().expect("a JSON array").len(), 1, "{report}");
    assert!(kept(&report, &home.path("models")).contains("not in the data folder"), "{report}");
}

#[test]
fn the_deletion_is_typed_and_an_export_is_offered_first() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Exported in time");
    let file = home.path("project/all.jsonl");
    let flags = ["uninstall", "--delete-data", "--export", file.to_str().expect("UTF-8")];
    let (code, screen) = home.at_terminal(&flags, "Type delete", "y");
    assert_eq!(code, Some(1), "{screen}");
    assert!(home.path(".loci/memory.db").exists() && !file.exists(), "{screen}");
    // An empty answer to the offer of an export, and a wrong one to the question.
    let (code, screen) = home.at_terminal(&["uninstall", "--delete-data"], "Export all", "\nno");
    assert!(code == Some(1) && screen.contains("Export all memories first?"), "{screen}");
    let (code, screen) = home.at_terminal(&flags, "Type delete", "delete");
    assert_eq!(code, Some(0), "{screen}");
    let exported = fs::read_to_string(&file).expect("the export exists");
    assert!(exported.contains("Exported in time"));
    assert!(!home.path(".loci").exists(), "{screen}");
}

#[test]
fn a_failed_export_deletes_nothing() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Kept because the export failed");
    let flags = ["uninstall", "--delete-data", "--yes", "--export", "/nowhere/all.jsonl"];
    assert_eq!(home.loci(&flags).status.code(), Some(1));
    assert_eq!(home.session().recall("export"), ["Kept because the export failed"]);
}

#[test]
fn files_that_loci_did_not_write_stay() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Deleted");
    assert!(home.loci(&["backup", "create"]).status.success());
    let mine = [
        "notes.txt",
        "backups/letter.txt",
        "backups/memory-of-grandma.db",
        "backups/memory-export.json",
        "backups/.tmp-work/thesis.txt",
        "memory.db.old",
        ".restore-memory.db-mine/a.db",
        "quarantine/mine/a.db",
        "models/all-MiniLM-L6-v2/notes.txt",
        "models/onnxruntime-mybuild/src.c",
        "models/.fetch-list/urls.txt",
    ];
    for name in mine {
        let path = home.path(".loci").join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it is created");
        fs::write(path, "mine").expect("the file is written");
    }
    let report = uninstall(&home, &["--delete-data", "--yes"]);
    for name in mine {
        assert!(home.path(".loci").join(name).exists(), "{name}");
    }
    assert_eq!(kept(&report, &home.path(".loci/notes.txt")), "loci did not write it");
    let left = [".tmp-work", "letter.txt", "memory-export.json", "memory-of-grandma.db"];
    assert_eq!(names(&home.path(".loci/backups")), left);
    assert!(!home.path(".loci/memory.db").exists());
}

#[test]
fn an_export_into_the_data_folder_is_refused() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Kept because the export would be deleted too");
    fs::create_dir_all(home.path(".loci/backups")).expect("the folder is created");
    let export = home.path(".loci/backups/memory-export.json");
    let export = export.to_str().expect("the path is UTF-8");
    let output = home.loci(&["uninstall", "--delete-data", "--yes", "--export", export]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("outside"), "{text}");
    assert_eq!(home.session().recall("export").len(), 1);
}

#[test]
fn links_with_names_of_the_users_stay_and_a_home_folder_is_refused() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Deleted");
    let (link, notes) = (home.path(".loci/my-notes"), home.path("notes"));
    fs::create_dir(&notes).expect("the folder is created");
    symlink(&notes, &link).expect("the link is created");
    let report = uninstall(&home, &["--delete-data", "--yes"]);
    assert!(link.is_symlink(), "{report}");
    assert_eq!(kept(&report, &link), "loci did not write it");

    let folder = home.path("");
    let home = home.with("LOCI_HOME", &folder);
    crate::home::private(&folder);
    home.session().store("semantic", "In the home folder");
    let output = home.loci(&["uninstall", "--delete-data", "--yes"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("home folder"), "{text}");
    assert!(folder.join("memory.db").exists());
}

#[test]
fn an_agent_does_not_delete_the_memories() {
    let home = TestHome::without_model();
    home.session().store("semantic", "An agent runs commands too");
    let output = home
        .command("loci")
        .env("CLAUDE_CODE_SESSION_ID", "of-an-agent")
        .args(["uninstall", "--delete-data", "--yes"])
        .output_in_time()
        .expect("loci runs");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("agent"), "{text}");
    assert_eq!(home.session().recall("commands").len(), 1);
}

#[test]
fn nothing_is_removed_if_the_daemon_does_not_stop() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The daemon hangs");
    let settings = home.path(".claude/settings.json");
    fs::create_dir_all(home.path(".claude")).expect("the folder is created");
    assert!(home.loci(&["setup", "claude", "--yes"]).status.success());
    let pid = home.status()["pid"].as_i64().expect("the daemon runs");
    let pid = nix::unistd::Pid::from_raw(i32::try_from(pid).expect("a process id"));
    nix::sys::signal::kill(pid, nix::sys::signal::SIGSTOP).expect("the daemon is stopped");
    let output = home.loci(&["uninstall", "--yes"]);
    nix::sys::signal::kill(pid, nix::sys::signal::SIGCONT).expect("the daemon continues");
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(settings.exists() && home.path(".loci/setup.json").exists());
}

#[test]
fn a_database_and_a_model_elsewhere_are_deleted_and_kept_by_their_names() {
    let home = TestHome::without_model();
    let elsewhere = home.path("data");
    fs::create_dir(&elsewhere).expect("the folder is created");
    fs::write(elsewhere.join("book.txt"), "mine").expect("the file is written");
    let path = elsewhere.join("agents.db");
    home.configure(&format!("[storage]\ndb_path = \"{}\"", path.display()));
    home.session().store("semantic", "In another folder");
    assert!(path.exists());
    let report = uninstall(&home, &["--yes"]);
    assert_eq!(kept(&report, &path), "your memories");
    let report = uninstall(&home, &["--delete-data", "--yes"]);
    assert_eq!(names(&elsewhere), ["book.txt"], "{report}");
    assert!(kept(&report, &home.path("models")).contains("not in the data folder"));
    assert!(home.path("models").exists() && !home.path(".loci").exists());
}

#[test]
fn a_file_that_is_no_database_of_loci_stays() {
    let home = TestHome::without_model();
    let path = home.path("letters.db");
    let database = rusqlite::Connection::open(&path).expect("the database opens");
    database
        .execute_batch("CREATE TABLE letters (text); PRAGMA user_version = 3")
        .expect("it runs");
    drop(database);
    home.configure(&format!("[storage]\ndb_path = \"{}\"", path.display()));
    let report = uninstall(&home, &["--delete-data", "--yes"]);
    assert!(kept(&report, &path).contains("not a database of loci"), "{report}");
    assert!(path.exists());
}

#[test]
fn symbolic_links_are_removed_but_not_followed() {
    let home = TestHome::without_model();
    let (disk, models) = (home.path("disk"), home.path("shared"));
    for folder in [&disk.join("loci"), &models] {
        fs::create_dir_all(folder).expect("the folder is created");
        crate::home::private(folder);
    }
    fs::write(models.join("weights.bin"), "mine").expect("the file is written");
    fs::write(disk.join("photo.jpg"), "mine").expect("the file is written");
    symlink(&disk, home.path("link")).expect("the link is created");
    symlink(&models, disk.join("loci/models")).expect("the link is created");
    let data = home.path("link/loci");
    let home = home.with("LOCI_HOME", data).with("LOCI_MODELS", "");
    let settings = "[embedding]\ndownload = false\n";
    fs::write(disk.join("loci/config.toml"), settings).expect("the file is written");
    home.session().store("semantic", "On another disk");
    assert!(disk.join("loci/memory.db").exists());
    let report = uninstall(&home, &["--delete-data", "--yes"]);
    assert_eq!(names(&disk), ["photo.jpg"], "{report}");
    assert_eq!(names(&models), ["weights.bin"]);
    assert!(kept(&report, &models).contains("is a symbolic link to it"), "{report}");
    assert!(home.path("link").is_symlink());
}

#[test]
fn a_broken_configuration_stops_the_deletion_of_data_only() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Where the database is, is not known");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    home.configure("[storage]\ndb_pth = \"/x\"");
    let output = home.loci(&["uninstall", "--delete-data", "--yes"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && text.contains("db_pth"), "{text}");
    assert!(home.path(".loci/memory.db").exists());
    uninstall(&home, &["--yes"]);
    home.configure("");
}

#[test]
fn entries_of_clients_are_removed_and_changed_ones_named() {
    let home = TestHome::without_model();
    let (settings, cursor) = (home.path(".claude/settings.json"), home.path(".cursor/mcp.json"));
    fs::create_dir_all(settings.parent().expect("a folder")).expect("the folder is created");
    fs::write(&settings, "{ \"model\": \"opus\" }").expect("the file is written");
    for client in ["claude", "cursor"] {
        let output = home.loci(&["setup", client, "--yes"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = fs::read_to_string(&cursor).expect("setup has written it");
    let changed = text.replace("\"mcp\"", "\"mcp\", \"--incognito\"");
    assert_ne!(changed, text);
    fs::write(&cursor, &changed).expect("the file is written");

    let planned = uninstall(&home, &["--dry-run"]);
    assert!(planned["clients"].to_string().contains("settings.json"), "{planned}");
    assert!(fs::read_to_string(&settings).expect("it is there").contains("loci"));
    let report = uninstall(&home, &["--yes"]);
    assert_eq!(fs::read_to_string(&settings).expect("it stays"), "{ \"model\": \"opus\" }");
    assert!(!home.path(".claude.json").exists(), "{report}");
    assert_eq!(fs::read_to_string(&cursor).expect("it stays"), changed);
    assert!(report["left"].to_string().contains("mcp.json"), "{report}");
    assert_eq!(report["next"], json!(["loci setup --remove --force"]));
}

#[test]
fn a_no_at_the_question_for_a_file_is_no_file_name() {
    for typed in ["n", "No", ""] {
        let home = TestHome::without_model();
        home.session().store("semantic", "Deleted without an export");
        let (code, screen) = home.at_terminal(
            &["uninstall", "--delete-data"],
            "no export: ",
            &format!("{typed}\ndelete"),
        );
        assert_eq!(code, Some(0), "{screen}");
        assert_eq!(names(&home.path("project")), [""; 0], "{typed}");
        assert!(!home.path(".loci/memory.db").exists(), "{screen}");
    }
}

#[test]
fn a_yes_at_the_question_for_a_file_asks_for_its_name_again() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Exported before the removal");
    let (code, screen) =
        home.at_terminal(&["uninstall", "--delete-data"], "no export: ", "y\nkept.jsonl\ndelete");
    assert_eq!(
        (code, names(&home.path("project"))),
        (Some(0), vec!["kept.jsonl".to_owned()]),
        "{screen}"
    );
}
