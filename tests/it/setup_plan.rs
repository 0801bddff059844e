//! What `loci setup` shows and asks, which hooks it writes, and what `loci doctor` says of clients.

use crate::home::TestHome;
use crate::setup::{Case, case, home_of, put, read, run, stderr, tree, value};
use nix::fcntl::{Flock, FlockArg};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;

fn empty() -> TestHome {
    home_of(&Case { files: &[], ..*case("claude") })
}

fn program(home: &TestHome, name: &str, answer: &str) {
    let path = home.path("bin").join(name);
    put(&path, &format!("#!/bin/sh\necho {answer}\n"));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("the mode is set");
}

#[test]
fn without_a_name_the_installed_clients_are_found_and_the_plan_is_asked_once() {
    let home = empty();
    let output = home.loci(&["setup", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("No client that loci knows is installed"));
    program(&home, "gemini", "0.61.0");
    fs::create_dir(home.path(".codex")).expect("the folder is created");
    let before = tree(&home);
    let output = home.loci(&["setup"]);
    assert_eq!(output.status.code(), Some(2), "without a terminal nothing is written");
    assert!(stderr(&output).contains("--yes"), "{}", stderr(&output));
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(screen.contains("Codex (codex)\n  create ~/.codex/config.toml"), "{screen}");
    assert!(screen.contains("Gemini CLI (gemini)\n  create ~/.gemini/settings.json"), "{screen}");
    assert_eq!(tree(&home), before);
    let diff = run(&home, &["setup", "--dry-run"]);
    assert!(diff.contains("--- /dev/null\n+++ ") && diff.contains("+[mcp_servers.loci]"), "{diff}");
    assert_eq!(tree(&home), before);
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let home = home.with("PATH", path);
    let (code, screen) = home.at_terminal(&["setup", "codex"], "[y/N]", "n");
    assert_eq!(code, Some(1), "{screen}");
    assert_eq!(tree(&home), before);
    let (code, screen) = home.at_terminal(&["setup", "codex"], "[y/N]", "y");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.matches("[y/N]").count() == 1 && screen.contains("2 files changed"), "{screen}");
}

#[test]
fn two_commands_do_not_change_files_at_the_same_time() {
    let home = home_of(case("zed"));
    let file = home.path(".config/zed/settings.json");
    let before = read(&file);
    let folder = fs::File::open(home.path("")).expect("the home is opened");
    let lock = Flock::lock(folder, FlockArg::LockExclusiveNonblock).expect("nobody holds it");
    for arguments in [&["setup", "zed", "--yes"][..], &["uninstall", "--yes"], &["doctor", "--fix"]]
    {
        let output = home.loci(arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert!(said.contains("Another loci command is changing"), "{arguments:?}: {said}");
    }
    assert_eq!(read(&file), before);
    run(&home, &["setup", "zed", "--dry-run"]);
    drop(lock);
    run(&home, &["setup", "zed", "--yes"]);
    assert_ne!(read(&file), before);
}

#[test]
fn the_plan_is_printed_as_json_and_the_configuration_to_copy() {
    let home = home_of(case("claude"));
    let plan: Value =
        serde_json::from_str(&run(&home, &["setup", "claude", "--json", "--dry-run"]))
            .expect("valid JSON");
    assert_eq!(plan["written"], false);
    assert_eq!(plan["clients"], json!(["claude"]));
    assert_eq!(plan["changes"][0]["action"], "change");
    let plan: Value = serde_json::from_str(&run(&home, &["setup", "claude", "--json", "--yes"]))
        .expect("valid JSON");
    assert_eq!(
        (&plan["written"], plan["changes"].as_array().map(Vec::len)),
        (&json!(true), Some(2))
    );
    let generic: Value =
        serde_json::from_str(&run(&home, &["setup", "--print"])).expect("valid JSON");
    assert_eq!(generic["mcpServers"]["loci"]["args"], json!(["mcp"]));
    let codex = run(&home, &["setup", "codex", "--print"]);
    assert!(codex.contains("config.toml\n[mcp_servers.loci]\ncommand = \"/"), "{codex}");
}

#[test]
fn hooks_have_absolute_commands_without_a_version_and_optional_ones_are_asked_for() {
    let home = home_of(case("claude"));
    run(&home, &["setup", "claude", "--yes"]);
    let settings = home.path(".claude/settings.json");
    let commands = |event: &str| -> Vec<String> {
        let groups = value(&settings)["hooks"][event].as_array().cloned().unwrap_or_default();
        let command =
            |group: &Value| group["hooks"][0]["command"].as_str().unwrap_or_default().to_owned();
        groups.iter().map(command).collect()
    };
    let start = commands("SessionStart");
    assert!(
        start[0].starts_with('/') && start[0].ends_with("loci hook claude session-start"),
        "{start:?}"
    );
    assert!(!start[0].contains(env!("CARGO_PKG_VERSION")));
    assert_eq!(value(&settings)["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"], 2);
    assert_eq!(commands("Stop"), ["say done"], "the hook of the user stays, and stop is optional");
    assert!(commands("PreToolUse").is_empty());
    run(&home, &["setup", "claude", "--with", "stop", "--with", "pre-tool", "--yes"]);
    assert_eq!(commands("Stop").len(), 2);
    assert_eq!(commands("PreToolUse").len(), 1);
    let without = run(&home, &["setup", "claude", "--no-hooks", "--yes"]);
    assert!(without.contains("remove hooks.Stop"), "{without}");
    assert_eq!(commands("Stop"), ["say done"]);
    assert!(value(&settings)["hooks"].get("SessionStart").is_none());
    let text = read(&settings);
    assert!(!text.contains("autoMemory") && !text.contains("AUTO_MEMORY"));
    run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert_eq!(read(&settings), case("claude").files[1].1);
}

#[test]
fn a_hook_of_an_earlier_place_is_replaced_and_never_doubled() {
    let home = home_of(case("codex"));
    let hooks = "{\"hooks\": {\"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"/old/loci hook codex session-start\"}]}]}}";
    put(&home.path(".codex/hooks.json"), hooks);
    run(&home, &["setup", "codex", "--yes"]);
    let written = value(&home.path(".codex/hooks.json"));
    assert_eq!(written["hooks"]["SessionStart"].as_array().map(Vec::len), Some(1));
    assert!(!written.to_string().contains("/old/loci"), "{written}");
    assert!(!read(&home.path(".codex/config.toml")).contains("trusted_hash"));
}

#[test]
fn vs_code_has_hooks_of_its_own_only_while_claude_has_none() {
    let home = empty();
    run(&home, &["setup", "vscode", "--yes"]);
    let own = home.path(".copilot/hooks/loci-vscode.json");
    assert!(read(&own).contains("loci hook vscode session-start"));
    let screen = run(&home, &["setup", "claude", "--yes"]);
    assert!(
        screen.contains("VS Code (vscode)\n  delete ~/.copilot/hooks/loci-vscode.json"),
        "{screen}"
    );
    assert!(!own.exists());
    let screen = run(&home, &["setup", "vscode", "--yes"]);
    assert!(screen.contains("gets none of its own") && !own.exists(), "{screen}");
    run(&home, &["setup", "claude", "--remove", "--yes"]);
    run(&home, &["setup", "vscode", "--yes"]);
    assert!(own.exists());
    run(&home, &["setup", "--remove", "--yes"]);
    assert!(!home.path(".copilot").exists() && !home.path(".claude").exists());
}

#[test]
fn opencode_gets_the_plugin_of_its_version() {
    for (version, import, other) in [
        ("1.18.33", "export const LociPlugin", "Plugin.define"),
        ("v2.0.18", "Plugin.define", "LociPlugin"),
    ] {
        let home = home_of(case("opencode"));
        program(&home, "opencode", version);
        run(&home, &["setup", "opencode", "--yes"]);
        let plugin = read(&home.path(".config/opencode/plugins/loci.js"));
        assert!(plugin.contains(import) && !plugin.contains(other), "{version}");
        assert!(plugin.contains("const LOCI = \"/") && !plugin.contains("@LOCI@"), "{plugin}");
        let permission = value(&home.path(".config/opencode/opencode.json"));
        assert_eq!(permission["permission"]["loci_*"], "allow");
        put(&home.path(".config/opencode/plugins/loci.js"), &format!("{plugin}// mine\n"));
        let screen = run(&home, &["setup", "opencode", "--remove", "--yes"]);
        assert!(screen.contains("loci.js was changed by hand and stays"), "{screen}");
        run(&home, &["setup", "opencode", "--remove", "--force", "--yes"]);
        assert!(!home.path(".config/opencode/plugins").exists());
    }
}

#[test]
fn a_project_gets_files_of_its_own() {
    let home = empty();
    run(&home, &["setup", "claude", "--scope", "project", "--yes"]);
    let project = home.path("project");
    assert!(value(&project.join(".mcp.json"))["mcpServers"]["loci"].is_object());
    assert!(read(&project.join(".claude/settings.local.json")).contains("mcp__loci"));
    assert!(!home.path(".claude.json").exists());
    run(&home, &["setup", "claude", "--remove", "--scope", "user", "--yes"]);
    assert!(project.join(".mcp.json").exists(), "that of the project is of another scope");
    run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert_eq!(fs::read_dir(&project).expect("the folder is read").count(), 0);
    run(&home, &["setup", "devin", "--scope", "project", "--yes"]);
    let hooks = value(&project.join(".devin/hooks.v1.json"));
    let command = &hooks["SessionStart"][0]["hooks"][0]["command"];
    assert!(command.as_str().is_some_and(|text| text.ends_with("hook devin session-start")));
    assert_eq!(value(&project.join(".devin/config.json"))["hooks"], Value::Null);
    let again = run(&home, &["setup", "devin", "--scope", "project", "--dry-run"]);
    assert!(again.contains("Nothing would change"), "{again}");
    run(&home, &["setup", "devin", "--remove", "--yes"]);
    assert_eq!(fs::read_dir(&project).expect("the folder is read").count(), 0);
    let output = home.loci(&["setup", "claude-desktop", "--scope", "project", "--yes"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn variables_move_the_configuration() {
    let home = empty();
    let [codex, claude, xdg] =
        ["elsewhere/codex", "elsewhere/claude", "xdg"].map(|name| home.path(name));
    let home = home.with("CODEX_HOME", codex).with("CLAUDE_CONFIG_DIR", claude);
    let home = home.with("XDG_CONFIG_HOME", xdg);
    for (client, file) in [
        ("codex", "elsewhere/codex/config.toml"),
        ("claude", "elsewhere/claude/.claude.json"),
        ("claude", "elsewhere/claude/settings.json"),
        ("zed", "xdg/zed/settings.json"),
        ("devin", "xdg/devin/config.json"),
    ] {
        run(&home, &["setup", client, "--yes"]);
        assert!(read(&home.path(file)).contains("loci"), "{file}");
    }
}

fn findings(home: &TestHome, arguments: &[&str], part: &str) -> Vec<(String, String)> {
    let output = home.loci(&[&["doctor", "--json"], arguments].concat());
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let findings = reply["findings"].as_array().cloned().unwrap_or_default();
    let of_part = findings.iter().filter(|finding| finding["part"] == part);
    of_part.map(|finding| (text(&finding["verdict"]), text(&finding["found"]))).collect()
}

#[test]
fn doctor_checks_each_configured_client_and_writes_again_what_is_missing() {
    let home = home_of(case("claude"));
    assert!(findings(&home, &[], "claude").is_empty(), "a client without loci is not mentioned");
    run(&home, &["setup", "claude", "--yes"]);
    let found = findings(&home, &[], "claude");
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "ok");
    assert!(found[0].1.ends_with("; 5 hooks"), "{found:?}");

    let settings = home.path(".claude/settings.json");
    let mut changed = value(&settings);
    changed["hooks"].as_object_mut().expect("an object").remove("SessionStart");
    put(&settings, &changed.to_string());
    let found = findings(&home, &[], "claude");
    assert!(
        found
            .iter()
            .any(|(verdict, text)| verdict == "fail" && text.contains("hooks.SessionStart")),
        "{found:?}"
    );
    let found = findings(&home, &["--fix"], "claude");
    assert_eq!((found.len(), found[0].0.as_str()), (1, "ok"), "{found:?}");

    put(
        &home.path(".claude.json"),
        "{\"mcpServers\": {\"loci\": {\"command\": \"/gone/loci\", \"args\": [\"mcp\"]}}}",
    );
    let found = findings(&home, &[], "claude");
    assert!(found.iter().any(|(_, text)| text.contains("/gone/loci cannot be run")), "{found:?}");
    assert!(
        found.iter().any(|(_, text)| text.starts_with("starts different programs")),
        "{found:?}"
    );
}

#[test]
fn doctor_finds_another_version_a_missing_permission_and_the_plugin_beside_hooks() {
    let home = home_of(case("claude"));
    program(&home, "loci", "loci 0.0.1");
    let path = home.path("bin/loci");
    let server = json!({"mcpServers": {"loci": {"command": path, "args": ["mcp"]}}});
    put(&home.path(".claude.json"), &server.to_string());
    let found = findings(&home, &[], "claude");
    assert!(found.iter().any(|(_, text)| text.contains("is \"loci 0.0.1\"")), "{found:?}");
    assert!(found.iter().any(|(_, text)| text.contains("claude -p refuses")), "{found:?}");
    run(&home, &["setup", "claude", "--yes"]);
    let settings = home.path(".claude/settings.json");
    let mut changed = value(&settings);
    changed["enabledPlugins"] = json!({"loci@loci": true});
    put(&settings, &changed.to_string());
    let found = findings(&home, &[], "claude");
    assert!(found.iter().any(|(_, text)| text.contains("plugin loci and the hooks")), "{found:?}");
    let screen = run(&home, &["setup", "claude", "--yes"]);
    assert!(screen.contains("The plugin loci runs the hooks"), "{screen}");
    assert!(!read(&settings).contains("loci hook"), "{}", read(&settings));
}

#[test]
fn doctor_sees_a_client_that_has_only_the_plugin() {
    let home = empty();
    program(&home, "loci", &format!("loci {}", env!("CARGO_PKG_VERSION")));
    put(&home.path(".claude/settings.json"), "{\"enabledPlugins\": {\"loci@loci\": true}}");
    put(&home.path(".codex/config.toml"), "[plugins.\"loci@loci\"]\nenabled = true\n");
    for client in ["claude", "codex"] {
        let found = findings(&home, &[], client);
        assert_eq!((found.len(), found[0].0.as_str()), (1, "ok"), "{client}: {found:?}");
        assert!(found[0].1.contains("starts loci; hooks of the plugin"), "{client}: {found:?}");
    }
    let screen = run(&home, &["setup", "codex", "--yes"]);
    assert!(screen.contains("The plugin loci runs the hooks"), "{screen}");
    assert!(!home.path(".codex/hooks.json").exists());
    fs::remove_file(home.path("bin/loci")).expect("the program is removed");
    let found = findings(&home, &[], "claude");
    assert!(found.iter().any(|(_, text)| text.contains("loci cannot be run")), "{found:?}");
}

#[test]
fn a_hook_is_written_as_the_configuration_says_and_with_sets_its_switch() {
    let home = home_of(case("claude"));
    let config = home.path(".loci/config.toml");
    home.configure_whole("[hooks]\nprompt = false # quiet\n");
    run(&home, &["setup", "claude", "--yes"]);
    let settings = home.path(".claude/settings.json");
    let has = |event: &str| read(&settings).contains(&format!("loci hook claude {event}"));
    assert!(has("session-start") && !has("prompt") && !has("stop"));
    let screen = run(&home, &["setup", "claude", "--with", "stop", "--yes"]);
    assert!(screen.contains("hooks.stop = true") && has("stop"), "{screen}");
    assert_eq!(read(&config), "[hooks]\nprompt = false # quiet\nstop = true\n");
    let again = run(&home, &["setup", "claude", "--yes"]);
    assert!(again.contains("nothing to change") && has("stop"), "{again}");
}
