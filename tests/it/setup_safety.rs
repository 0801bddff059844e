//! What `loci setup` must not break: hooks and additions of the user, files of others, and a client when another one cannot be written.

use crate::home::TestHome;
use crate::in_time::{ExitInTime, OutputInTime};
use crate::setup::{Case, case, home_of, put, read, run, stderr, tree, value};
use serde_json::{Value, json};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

fn empty() -> TestHome {
    home_of(&Case { files: &[], ..*case("claude") })
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("the mode is set");
}

fn start_hooks(home: &TestHome) -> Vec<String> {
    let groups = value(&home.path(".claude/settings.json"))["hooks"]["SessionStart"].clone();
    let groups = groups.as_array().cloned().unwrap_or_default();
    let hooks =
        groups.iter().flat_map(|group| group["hooks"].as_array().cloned().unwrap_or_default());
    hooks.map(|hook| hook["command"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn a_group_of_hooks_keeps_the_commands_of_the_user() {
    let home = empty();
    let settings = home.path(".claude/settings.json");
    put(
        &settings,
        "{\"hooks\": {\"SessionStart\": [{\"hooks\": [\n  {\"type\": \"command\", \"command\": \"/opt/loci hook claude session-start\"},\n  {\"type\": \"command\", \"command\": \"/home/me/check-vpn.sh\"}]}]}}",
    );
    run(&home, &["setup", "claude", "--yes"]);
    let commands = start_hooks(&home);
    assert_eq!((commands.len(), commands[0].as_str()), (2, "/home/me/check-vpn.sh"));
    put(&settings, &read(&settings).replacen('{', "{\"model\": \"opus\", ", 1));
    run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert_eq!(start_hooks(&home), ["/home/me/check-vpn.sh"]);
    assert!(!read(&settings).contains("hook claude"), "{}", read(&settings));

    let home = empty();
    let settings = home.path(".claude/settings.json");
    put(
        &settings,
        "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"command\": \"/opt/loci hook claude session-start\"}]}]}}",
    );
    run(&home, &["setup", "claude", "--yes"]);
    put(&settings, &read(&settings).replacen('{', "{\"model\": \"opus\", ", 1));
    run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert_eq!(value(&settings)["hooks"], json!({}), "no empty array is left");
}

#[test]
fn what_was_added_to_an_entry_by_hand_stays_and_is_named() {
    let home = empty();
    let file = home.path(".claude.json");
    let by_hand = "{\"mcpServers\": {\"loci\": {\"command\": \"loci\", \"args\": [\"mcp\", \"--incognito\"], \"env\": {\"LOCI_HOME\": \"/data/work\", \"LOCI_GROUP\": \"client-x\"}}}}";
    put(&file, by_hand);
    let hook = "LOCI_HOME=/data/work /opt/loci hook claude session-start";
    let hooks = json!({"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": hook, "timeout": 9}]}]}});
    put(&home.path(".claude/settings.json"), &hooks.to_string());
    let screen = run(&home, &["setup", "claude", "--yes"]);
    for name in ["--incognito", "LOCI_HOME", "LOCI_GROUP"] {
        assert!(screen.contains(name), "{name}: {screen}");
    }
    assert!(!screen.contains("client-x"), "the value of a variable is not shown: {screen}");
    assert!(screen.contains(&format!("hooks.SessionStart runs {hook}")), "{screen}");
    let server = &value(&file)["mcpServers"]["loci"];
    assert_eq!(server["args"], json!(["mcp", "--incognito"]));
    assert_eq!(server["env"], json!({"LOCI_HOME": "/data/work", "LOCI_GROUP": "client-x"}));
    assert!(server["command"].as_str().is_some_and(|program| program.starts_with('/')));
    assert_eq!(start_hooks(&home), [hook], "one hook of loci, as it was");
    let again = run(&home, &["setup", "claude", "--yes"]);
    assert!(again.contains("nothing to change"), "{again}");
    run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert_eq!(read(&file), by_hand);
    assert_eq!(start_hooks(&home), [hook]);
}

#[test]
fn entries_whose_record_was_lost_are_recorded_again_and_removed() {
    for client in ["claude", "codex", "cursor", "opencode", "zed"] {
        let home = home_of(case(client));
        let original = value(&home.path(case(client).files[0].0));
        run(&home, &["setup", client, "--yes"]);
        let written = tree(&home);
        fs::remove_file(home.path(".loci/setup.json")).expect("the record is removed");
        let again = run(&home, &["setup", client, "--yes"]);
        assert!(again.contains("nothing to change") && again.contains("are recorded"), "{again}");
        assert_eq!(tree(&home), written, "{client}");
        for arguments in [&["setup", "--remove", "--yes"][..], &["uninstall", "--yes"]] {
            let found = run(&home, arguments);
            let now = value(&home.path(case(client).files[0].0));
            let server = |document: &Value| document.pointer(case(client).server).cloned();
            assert_eq!(server(&now), server(&original), "{client}: {found}");
            for (path, text) in tree(&home) {
                assert!(!text.contains("loci hook"), "{client}: {}: {text}", path.display());
            }
            run(&home, &["setup", client, "--yes"]);
            fs::remove_file(home.path(".loci/setup.json")).expect("the record is removed");
        }
    }
}

#[test]
fn an_entry_by_hand_that_was_never_recorded_is_named_and_removed_by_force() {
    let home = empty();
    run(&home, &["setup", "claude", "--yes"]);
    let file = home.path(".claude.json");
    put(&file, &read(&file).replace("\"mcp\"", "\"mcp\", \"--incognito\""));
    fs::remove_file(home.path(".loci/setup.json")).expect("the record is removed");
    let screen = run(&home, &["setup", "--remove", "--yes"]);
    let note = "mcpServers.loci in ~/.claude.json starts loci, is not as loci setup writes it";
    assert!(screen.contains(note), "{screen}");
    let left = run(&home, &["uninstall", "--yes"]);
    assert!(left.contains("loci setup claude --remove --force takes it out"), "{left}");
    run(&home, &["setup", "claude", "--remove", "--force", "--yes"]);
    assert!(!read(&file).contains("incognito"), "{}", read(&file));
}

#[test]
fn a_client_that_cannot_be_written_is_left_whole_and_the_others_are_set_up() {
    let home = home_of(case("claude"));
    put(&home.path(".gemini/settings.json"), "{}");
    let settings = home.path(".claude/settings.json");
    set_mode(&settings, 0o444);
    let before = read(&home.path(".claude.json"));
    let output = home.loci(&["setup", "--yes"]);
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{screen}");
    assert!(screen.contains("settings.json cannot be written: it is read-only"), "{screen}");
    assert_eq!(read(&home.path(".claude.json")), before, "nothing of that client is written");
    assert!(read(&home.path(".gemini/settings.json")).contains("loci"));
    assert!(!read(&home.path(".loci/setup.json")).contains("claude"));
    set_mode(&settings, 0o644);
    run(&home, &["setup", "--yes"]);
    set_mode(&settings, 0o444);
    let output = home.loci(&["setup", "--remove", "--yes"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(read(&home.path(".gemini/settings.json")), "{}");
    assert!(read(&home.path(".loci/setup.json")).contains("settings.json"), "it is still recorded");
}

#[test]
fn files_of_a_command_that_was_killed_are_removed_later() {
    let home = home_of(case("codex"));
    let old = SystemTime::now() - Duration::from_hours(1);
    let folder = home.path(".codex");
    for (name, is_old) in
        [(".loci-setup-aaaaaa", true), (".loci-setup-bbbbbb", false), ("loci-setup-c", true)]
    {
        put(&folder.join(name), "secret");
        let file = File::options().write(true).open(folder.join(name)).expect("it is opened");
        let time = if is_old { old } else { SystemTime::now() };
        file.set_modified(time).expect("the time is set");
    }
    run(&home, &["setup", "codex", "--dry-run"]);
    assert!(folder.join(".loci-setup-aaaaaa").exists(), "a dry run deletes nothing");
    run(&home, &["setup", "codex", "--yes"]);
    assert!(!folder.join(".loci-setup-aaaaaa").exists());
    assert!(folder.join(".loci-setup-bbbbbb").exists(), "another command may be writing it");
    assert!(folder.join("loci-setup-c").exists(), "its name is not one of loci");
}

#[test]
fn without_hooks_the_plugin_of_opencode_goes_too() {
    let home = home_of(case("opencode"));
    let plugin = home.path(".config/opencode/plugins/loci.js");
    run(&home, &["setup", "opencode", "--yes"]);
    assert!(plugin.exists());
    let screen = run(&home, &["setup", "opencode", "--no-hooks", "--yes"]);
    assert!(screen.contains("delete ~/.config/opencode/plugins/loci.js"), "{screen}");
    assert!(!plugin.exists());
    assert!(value(&home.path(".config/opencode/opencode.json"))["mcp"]["loci"].is_object());
}

#[test]
fn a_link_in_a_project_does_not_lead_out_of_it() {
    let home = empty();
    let project = home.path("project");
    let private = home.path("private.json");
    put(&private, "{\"secret\": 1}");
    put(&home.path(".claude/settings.json"), "{}");
    fs::create_dir_all(project.join(".claude")).expect("the folder is created");
    symlink("../private.json", project.join(".mcp.json")).expect("the link is created");
    let before = tree(&home);
    let output = home.loci(&["setup", "claude", "--scope", "project", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("leads out of the project"), "{}", stderr(&output));
    assert_eq!(tree(&home), before);
    fs::remove_file(project.join(".mcp.json")).expect("the link is removed");
    let link = project.join(".claude/settings.local.json");
    symlink("../../.claude/settings.json", &link).expect("the link is created");
    let output = home.loci(&["setup", "claude", "--scope", "project", "--yes"]);
    assert!(stderr(&output).contains("leads out of the project"), "{}", stderr(&output));
    assert_eq!(read(&home.path(".claude/settings.json")), "{}");
    assert!(!project.join(".mcp.json").exists());
}

#[test]
fn the_plan_shows_where_a_link_leads() {
    let home = home_of(case("zed"));
    let (path, real) = (home.path(".config/zed/settings.json"), home.path("dotfiles/zed.json"));
    fs::create_dir(home.path("dotfiles")).expect("the folder is created");
    fs::rename(&path, &real).expect("the file is moved");
    symlink(&real, &path).expect("the link is created");
    let screen = run(&home, &["setup", "zed", "--yes"]);
    assert!(
        screen.contains("change ~/.config/zed/settings.json -> ~/dotfiles/zed.json"),
        "{screen}"
    );
    let plan: Value =
        serde_json::from_str(&run(&home, &["setup", "zed", "--remove", "--json", "--yes"]))
            .expect("valid JSON");
    assert!(
        plan["changes"][0]["target"]
            .as_str()
            .is_some_and(|path| path.ends_with("dotfiles/zed.json"))
    );
}

#[test]
fn a_file_with_hard_links_is_refused_and_a_created_file_that_became_a_link_keeps_its_target() {
    let home = home_of(case("zed"));
    let path = home.path(".config/zed/settings.json");
    let before = read(&path);
    fs::hard_link(&path, home.path("backup.json")).expect("the link is created");
    let output = home.loci(&["setup", "zed", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("it has 2 hard links"), "{}", stderr(&output));
    assert_eq!((read(&path), path.metadata().expect("it exists").nlink()), (before, 2));

    let home = empty();
    run(&home, &["setup", "claude", "--yes"]);
    let (path, real) = (home.path(".claude/settings.json"), home.path("dotfiles/claude.json"));
    fs::create_dir(home.path("dotfiles")).expect("the folder is created");
    fs::rename(&path, &real).expect("the file is moved");
    symlink(&real, &path).expect("the link is created");
    run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert!(path.is_symlink(), "the link of the user stays");
    assert_eq!(value(&real), json!({}));
}

#[test]
fn a_program_whose_path_is_not_text_is_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let home = home_of(case("zed"));
    let before = tree(&home);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join(OsStr::from_bytes(b"b\xffn"));
    fs::create_dir(&program).expect("the folder is created");
    let program = program.join("loci");
    // By another process: a file that this one writes is busy while another test starts a program.
    let copied =
        Command::new("cp").arg(crate::home::binaries().join("loci")).arg(&program).exit_in_time();
    assert!(copied.expect("cp runs").success(), "the program is copied");
    let mut command = home.command_at(&program);
    let output = command.args(["setup", "zed", "--yes"]).output_in_time().expect("it runs");
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("is not UTF-8"), "{}", stderr(&output));
    assert_eq!(tree(&home), before);
}

#[test]
fn a_timeout_that_was_changed_in_a_hook_stays_unless_forced() {
    let home = empty();
    let file = home.path(".claude/settings.json");
    put(&file, "{}");
    run(&home, &["setup", "claude", "--yes"]);
    let timeout = || value(&file)["hooks"]["SessionStart"][0]["hooks"][0]["timeout"].clone();
    put(&file, &read(&file).replacen("\"timeout\": 5", "\"timeout\": 30", 1));
    for _ in 0..2 {
        let screen = run(&home, &["setup", "claude", "--yes"]);
        assert!(timeout() == 30 && !screen.contains("remove"), "{screen}");
    }
    run(&home, &["setup", "claude", "--force", "--yes"]);
    assert_eq!(timeout(), 5);
    run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert_eq!(value(&file), json!({}));
}
