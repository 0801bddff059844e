//! Where loci is off: by a project's file, by a person, in opt-in mode, and in an incognito session.

use crate::home::{Agent, TestHome};
use crate::hooks::run_hook;
use crate::in_time::OutputInTime;
use serde_json::{Value, json};
use std::fs;
use std::process::{Output, Stdio};

fn project_file(home: &TestHome, folder: &str, text: &str) {
    fs::create_dir_all(home.path(folder)).expect("the folder is created");
    fs::write(home.path(folder).join(".loci.toml"), text).expect("the file is written");
}

fn loci_in(home: &TestHome, folder: &str, arguments: &[&str]) -> Output {
    fs::create_dir_all(home.path(folder)).expect("the folder is created");
    let mut command = home.command("loci");
    command.current_dir(home.path(folder)).args(arguments).stdin(Stdio::null());
    command.output_in_time().expect("loci runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Calls every tool; returns the reason, which is the same for all.
fn reason_of_every_tool(agent: &mut Agent) -> String {
    let id = "0199c2aa-7c1e-7000-8000-0123456789ab";
    let mut reasons: Vec<String> = Vec::new();
    for (tool, arguments) in [
        ("store_memory", json!({"content": "The heron nests here", "type": "semantic"})),
        ("recall_memory", json!({"query": "heron"})),
        ("recall_memory", json!({"ids": [id]})),
        ("memory_stats", json!({})),
        ("memory_inspect", json!({"memory_id": id})),
        ("forget_memory", json!({"memory_id": id})),
        ("restore_memory", json!({"memory_id": id})),
        ("store_relation", json!({"subject_id": id, "predicate": "knows", "object_id": id})),
        ("compact_memories", json!({})),
    ] {
        let reply = agent.call(tool, arguments).expect("it is no error");
        assert_eq!(reply["off"], true, "{tool}: {reply}");
        assert!(reply["next_step"].as_str().is_some_and(|step| !step.is_empty()), "{reply}");
        reasons.push(reply["reason"].as_str().expect("a JSON string").to_owned());
    }
    let brief = agent.request("resources/read", json!({"uri": "loci://group"}));
    assert!(brief["error"]["message"].to_string().contains("off: loci is off"), "{brief}");
    reasons.dedup();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
    reasons.swap_remove(0)
}

fn tools(agent: &mut Agent) -> String {
    agent.request("tools/list", json!({}))["result"]["tools"].to_string()
}

/// Number of memories, and the rows that say that a session was there.
fn traces(home: &TestHome) -> (i64, i64) {
    let database = rusqlite::Connection::open(home.path(".loci/memory.db")).expect("it opens");
    let count = |sql: &str| database.query_row(sql, [], |row| row.get(0)).expect("it is counted");
    (
        count("SELECT count(*) FROM memories"),
        count("SELECT (SELECT count(*) FROM folders) + (SELECT count(*) FROM groups)"),
    )
}

#[test]
fn a_project_with_off_in_its_file_is_neither_read_nor_written() {
    let home = TestHome::without_model();
    let mut served = home.session_in("shop");
    served.store("semantic", "The heron of the shop is grey");
    let before = traces(&home);
    project_file(&home, "quiet", "off = true\n");
    let mut agent = home.session_in("quiet/part");
    assert_eq!(tools(&mut agent), tools(&mut served), "the tools stay");
    drop(agent);
    let mut agent = home.session_in("quiet");
    let reason = reason_of_every_tool(&mut agent);
    assert_eq!(reason, "loci is off in quiet: its .loci.toml has off = true");
    assert_eq!(traces(&home), before, "nothing was recorded");
    assert_eq!(home.status()["sessions"][1]["off"], "project_file");
    let doctor = printed(&loci_in(&home, "quiet", &["doctor"]));
    assert!(doctor.contains("its .loci.toml has off = true"), "{doctor}");
    let stats = printed(&loci_in(&home, "quiet", &["stats"]));
    assert!(stats.contains("loci is off in quiet"), "{stats}");
    for refused in [&["search", "heron"][..], &["add", "x", "--type", "semantic"]] {
        let output = loci_in(&home, "quiet", refused);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert!(printed(&output).contains("loci is off in quiet"), "{output:?}");
    }
    // A person may still look.
    assert!(loci_in(&home, "quiet", &["list", "--all-groups"]).status.success());
    assert_eq!(served.recall("heron").len(), 1, "other projects are served");
}

#[test]
fn a_broken_file_with_the_key_switches_off_and_the_nearest_key_decides() {
    let home = TestHome::without_model();
    project_file(&home, "broken", "off = yes\n");
    assert!(reason_of_every_tool(&mut home.session_in("broken")).contains("broken"));
    fs::create_dir_all(home.path("mono/.git")).expect("the folder is created");
    fs::write(home.path("mono/.git/HEAD"), "ref: refs/heads/main\n").expect("it is written");
    project_file(&home, "mono", "off = true\n");
    project_file(&home, "mono/api", "off = false\n");
    assert!(reason_of_every_tool(&mut home.session_in("mono/web")).contains("mono"));
    assert!(reason_of_every_tool(&mut home.session_in("mono/api")).contains("mono"), "not allowed");
    home.allow("mono/api");
    assert_eq!(home.session_in("mono/api").recall("heron"), [""; 0]);
    // The file of one repository switches off nothing but itself.
    assert_eq!(home.session_in("shop").recall("heron"), [""; 0]);
}

#[test]
fn a_person_switches_a_project_off_and_on() {
    let home = TestHome::without_model();
    let mut agent = home.session_in("shop");
    agent.store("episodic", "The heron of the shop is grey");
    let off = printed(&loci_in(&home, "", &["groups", "off", "shop"]));
    assert!(off.contains("loci is off in shop"), "{off}");
    assert_eq!(reason_of_every_tool(&mut agent), "loci is off in shop: a person switched it off");
    assert_eq!(home.status()["switches"]["off"], json!(["shop"]));
    let status = printed(&loci_in(&home, "", &["ctl", "status"]));
    assert!(status.contains("off       shop"), "{status}");
    let groups = printed(&loci_in(&home, "", &["groups", "list"]));
    assert!(groups.contains("shop (off)"), "{groups}");
    // Nor from another project, nor by a merge, nor for an agent.
    let id = home.loci(&["groups", "list", "--json"]);
    let id: Value = serde_json::from_slice(&id.stdout).expect("valid JSON");
    let id = id["groups"][0]["id"].as_str().expect("a JSON string").to_owned();
    let mut other = home.session_in("other");
    let named = other.call("recall_memory", json!({"query": "heron", "group": id}));
    assert_eq!(named.expect("it is no error")["off"], true);
    other.store("semantic", "The other project exists");
    let merged = loci_in(&home, "", &["groups", "merge", "shop", "other", "--yes"]);
    assert!(printed(&merged).contains("Switch it on first"), "{merged:?}");
    let mut by_agent = home.command("loci");
    by_agent.env("CLAUDE_CODE_SESSION_ID", "0199c2aa-7c1e-7000-8000-0123456789ab");
    let by_agent = by_agent.args(["groups", "on", "shop"]).output_in_time().expect("loci runs");
    assert!(printed(&by_agent).contains("only a person"), "{by_agent:?}");
    // The switch outlives the daemon and a move of the folder.
    assert!(home.loci(&["ctl", "restart"]).status.success());
    fs::rename(home.path("shop"), home.path("store")).expect("the folder is renamed");
    assert!(reason_of_every_tool(&mut home.session_in("store")).contains("a person"));
    assert!(loci_in(&home, "store", &["groups", "on"]).status.success());
    assert_eq!(home.session_in("store").recall("heron").len(), 1);
}

#[test]
fn a_backup_does_not_switch_a_project_on() {
    let home = TestHome::without_model();
    home.session_in("shop").store("episodic", "The heron of the shop is grey");
    assert!(home.loci(&["backup", "create"]).status.success());
    assert!(loci_in(&home, "shop", &["groups", "off"]).status.success());
    let restored = home.loci(&["backup", "restore", "--yes"]);
    assert!(restored.status.success(), "{restored:?}");
    assert!(reason_of_every_tool(&mut home.session_in("shop")).contains("a person"));
}

#[test]
fn in_opt_in_mode_only_projects_with_a_file_or_a_switch_are_served() {
    let home = TestHome::without_model();
    home.configure("[projects]\nopt_in = true\n");
    project_file(&home, "chosen", "");
    let reason = reason_of_every_tool(&mut home.session_in("chosen"));
    assert!(reason.contains("that a person has allowed"), "a clone does not choose: {reason}");
    home.allow("chosen");
    home.session_in("chosen").store("episodic", "The heron is grey");
    let reason = reason_of_every_tool(&mut home.session_in("shop"));
    assert!(
        reason.contains("only projects with a .loci.toml that a person has allowed are served"),
        "{reason}"
    );
    assert_eq!(home.status()["switches"]["opt_in"], true);
    assert!(loci_in(&home, "shop", &["groups", "on"]).status.success());
    home.session_in("shop").store("episodic", "The egret is white");
}

#[test]
fn an_incognito_session_leaves_nothing() {
    let home = TestHome::without_model();
    home.session_in("shop").store("episodic", "The heron is grey");
    let before = traces(&home);
    fs::create_dir_all(home.path("new")).expect("the folder is created");
    let mut by_variable = home.command("loci");
    by_variable.env("LOCI_INCOGNITO", "1").arg("mcp").current_dir(home.path("new"));
    let mut by_flag = home.command("loci");
    by_flag.args(["mcp", "--incognito"]).current_dir(home.path("new"));
    for command in [&mut by_variable, &mut by_flag] {
        let reason = reason_of_every_tool(&mut Agent::bare(command));
        assert_eq!(reason, "loci is off: this session is incognito");
    }
    assert_eq!(traces(&home), before);
}

#[test]
fn a_running_session_becomes_incognito_and_stays_so() {
    let home = TestHome::without_model();
    let mut agent = home.session_in("shop");
    agent.store("episodic", "The heron is grey");
    let pid = agent.pid().to_string();
    let changed = printed(&home.loci(&["ctl", "incognito", &pid]));
    assert!(changed.contains("is incognito"), "{changed}");
    assert_eq!(reason_of_every_tool(&mut agent), "loci is off: this session is incognito");
    assert_eq!(home.status()["switches"]["incognito"], 1);
    assert!(home.loci(&["ctl", "restart"]).status.success());
    assert_eq!(reason_of_every_tool(&mut agent), "loci is off: this session is incognito");
    assert_eq!(home.session_in("shop").recall("heron").len(), 1, "only this session");
    assert!(home.loci(&["ctl", "incognito", &pid, "--off"]).status.success());
    assert_eq!(agent.recall("heron").len(), 1);
    let unknown = printed(&home.loci(&["ctl", "incognito", "99999999"]));
    assert!(unknown.contains("names no connected session"), "{unknown}");
}

/// Runs a hook of Claude Code in `shop`; returns what it adds.
fn hook(home: &TestHome, event: &str, session: &str, source: &str) -> String {
    let input = json!({"session_id": session, "source": source}).to_string();
    let mut command = home.command("loci");
    command.current_dir(home.path("shop"));
    let answer = run_hook(command, "claude", event, input.as_bytes());
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn hooks_of_a_session_that_became_incognito_add_nothing() {
    let home = TestHome::without_model();
    home.session_in("shop").store("semantic", "The heron is grey");
    assert!(hook(&home, "session-start", "first", "startup").contains("heron"));
    assert!(home.loci(&["ctl", "incognito", "first"]).status.success());
    assert_eq!(hook(&home, "session-start", "first", "compact"), "");
    let receipts = home.loci(&["injected", "first", "--all", "--json"]);
    let receipts: Value = serde_json::from_slice(&receipts.stdout).expect("valid JSON");
    assert_eq!(receipts["off"], "incognito");
    assert_eq!(receipts["receipts"].as_array().map(Vec::len), Some(1), "{receipts}");
    assert!(hook(&home, "session-start", "second", "startup").contains("heron"));
    assert!(home.loci(&["ctl", "incognito", "first", "--off"]).status.success());
    assert!(hook(&home, "session-start", "first", "compact").contains("heron"));
}

#[test]
fn a_server_that_names_an_ended_session_belongs_to_the_next_one_of_its_process() {
    let home = TestHome::without_model();
    home.session_in("shop").store("semantic", "The heron is grey");
    let mut server = home.command("loci");
    server.env("CLAUDE_CODE_SESSION_ID", "first").arg("mcp").current_dir(home.path("shop"));
    let mut agent = Agent::bare(&mut server);
    hook(&home, "session-start", "first", "startup");
    hook(&home, "session-start", "second", "startup");
    assert!(home.loci(&["ctl", "incognito", "second"]).status.success());
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    agent.request("initialize", hello);
    assert_eq!(agent.recall("heron").len(), 1, "the first session still runs");
    hook(&home, "session-end", "first", "");
    assert!(home.loci(&["ctl", "incognito", "second"]).status.success());
    assert_eq!(reason_of_every_tool(&mut agent), "loci is off: this session is incognito");
    // An incognito session ends too, and the next one of the process is still off.
    hook(&home, "session-end", "second", "");
    assert_eq!(hook(&home, "session-start", "third", "clear"), "");
    assert!(home.loci(&["ctl", "incognito", "third", "--off"]).status.success());
    assert!(hook(&home, "session-start", "third", "compact").contains("heron"));
}

/// Makes a folder a repository, or another one.
fn repository(home: &TestHome, folder: &str) {
    fs::create_dir_all(home.path(folder).join(".git")).expect("the folder is created");
    fs::write(home.path(folder).join(".git/HEAD"), "ref: refs/heads/main\n")
        .expect("it is written");
}

/// What an agent can do to a project that a person has switched off, and where it works then.
type Change = (fn(&TestHome, &str), &'static str);

const CHANGES: [Change; 6] = [
    (|home, folder| project_file(home, folder, "group = \"renamed\"\n"), ""),
    (|home, folder| repository(home, &format!("{folder}/nested")), "nested"),
    (
        |home, folder| {
            fs::remove_dir_all(home.path(folder).join(".git")).expect("it is removed");
        },
        "",
    ),
    (
        |home, folder| {
            fs::remove_dir_all(home.path(folder).join(".git")).expect("it is removed");
            repository(home, folder);
        },
        "src/deep",
    ),
    (
        |home, folder| {
            project_file(home, folder, "group = \"renamed\"\n");
            let (from, to) = (home.path(folder), home.path("elsewhere"));
            fs::rename(from, &to).expect("the folder is renamed");
            std::os::unix::fs::symlink(&to, home.path(folder)).expect("the link is created");
        },
        "",
    ),
    (|home, folder| project_file(home, &format!("{folder}/src"), "group = \"part\"\n"), "src"),
];

#[test]
fn a_project_stays_off_whatever_it_is_called_until_a_person_switches_it_on() {
    let home = TestHome::without_model();
    for (number, (change, folder)) in CHANGES.iter().enumerate() {
        let project = format!("shop{number}");
        repository(&home, &project);
        home.session_in(&project).store("episodic", "The heron of the shop is grey");
        // From inside, and by its name from elsewhere.
        let (at, named) = (project.as_str(), ["groups", "off", project.as_str()]);
        let off = if number % 2 == 0 {
            loci_in(&home, at, &["groups", "off"])
        } else {
            loci_in(&home, "", &named)
        };
        assert!(off.status.success(), "{off:?}");
        change(&home, &project);
        let folder = format!("{project}/{folder}");
        let reason = reason_of_every_tool(&mut home.session_in(&folder));
        assert!(reason.contains("a person switched it off"), "{number}: {reason}");
        assert!(loci_in(&home, &project, &["groups", "on"]).status.success());
        let stored = home
            .session_in(&project)
            .call("store_memory", json!({"content": "The heron is back", "type": "episodic"}));
        assert!(stored.is_ok_and(|reply| reply["off"].is_null()), "{number}");
    }
}

#[test]
fn a_folder_without_git_stays_off_and_so_does_a_session_with_a_name() {
    let home = TestHome::without_model();
    home.session_in("notes").store("episodic", "The heron is grey");
    home.session_in("other").store("semantic", "The egret is white");
    assert!(loci_in(&home, "notes", &["groups", "off"]).status.success());
    let mut named = home.command("loci");
    named.env("LOCI_GROUP", "team").arg("mcp").current_dir(home.path("notes"));
    let reason = reason_of_every_tool(&mut Agent::bare(&mut named));
    assert_eq!(reason, "loci is off in team: a person switched it off");
    repository(&home, "notes");
    assert!(reason_of_every_tool(&mut home.session_in("notes")).contains("a person"));
    assert_eq!(home.session_in("other").recall("egret").len(), 1, "only this folder");
    // A part that a person switches on is served, and its project is not.
    project_file(&home, "notes/part", "group = \"part\"\n");
    home.allow("notes/part");
    assert!(loci_in(&home, "notes/part", &["groups", "on"]).status.success());
    home.session_in("notes/part").store("episodic", "The part is served");
    assert!(reason_of_every_tool(&mut home.session_in("notes")).contains("a person"));
    // A backup from before does not switch the folder on.
    assert!(home.loci(&["backup", "create"]).status.success());
    assert!(loci_in(&home, "notes/part", &["groups", "off"]).status.success());
    assert!(home.loci(&["backup", "restore", "--yes"]).status.success());
    fs::remove_file(home.path("notes/part/.loci.toml")).expect("the file is removed");
    assert!(reason_of_every_tool(&mut home.session_in("notes/part")).contains("a person"));
}

#[test]
fn incognito_lasts_over_every_clear_and_a_restart_of_the_daemon() {
    let home = TestHome::without_model();
    home.session_in("shop").store("semantic", "The heron is grey");
    let mut server = home.command("loci");
    server.env("CLAUDE_CODE_SESSION_ID", "s1").arg("mcp").current_dir(home.path("shop"));
    let mut agent = Agent::bare(&mut server);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "it", "version": "1"}});
    agent.request("initialize", hello);
    assert!(hook(&home, "session-start", "s1", "startup").contains("heron"));
    assert!(home.loci(&["ctl", "incognito", "s1"]).status.success());
    let clear = |from: &str, to: &str| {
        hook(&home, "session-end", from, "");
        hook(&home, "session-start", to, "clear") + &hook(&home, "prompt", to, "")
    };
    assert_eq!(clear("s1", "s2"), "");
    assert_eq!(clear("s2", "s3"), "");
    for restarted in ["s3", "s4"] {
        assert!(home.loci(&["ctl", "restart"]).status.success());
        assert_eq!(reason_of_every_tool(&mut agent), "loci is off: this session is incognito");
        let next = format!("s{}", restarted[1..].parse::<u8>().expect("a number") + 1);
        assert_eq!(clear(restarted, &next), "", "{next}");
        // What the agent runs in its shell.
        let mut shell = home.command("loci");
        shell.current_dir(home.path("shop")).env("CLAUDE_CODE_SESSION_ID", &next);
        let added = shell.args(["add", "--type", "semantic", "A secret"]).output_in_time();
        let added = added.expect("loci runs");
        assert!(printed(&added).contains("incognito"), "{added:?}");
    }
    let receipts = home.loci(&["injected", "--all", "--json"]);
    let receipts: Value = serde_json::from_slice(&receipts.stdout).expect("valid JSON");
    assert_eq!(receipts["receipts"].as_array().map(Vec::len), Some(1), "{receipts}");
}

#[test]
fn hooks_note_nothing_of_a_session_that_is_off_and_start_no_daemon() {
    let home = TestHome::without_model();
    project_file(&home, "shop", "off = true\n");
    for event in ["session-start", "prompt", "session-end"] {
        assert_eq!(hook(&home, event, "secret", "startup"), "");
    }
    let input = json!({"session_id": "secret", "prompt": "What is the secret?"}).to_string();
    for event in ["session-start", "prompt"] {
        let mut incognito = home.command("loci");
        incognito.env("LOCI_INCOGNITO", "1");
        assert_eq!(run_hook(incognito, "claude", event, input.as_bytes()), json!({}));
    }
    assert!(!home.path(".loci/missed-hooks").exists());
    assert_eq!(home.loci(&["ctl", "status"]).status.code(), Some(3), "no daemon was started");
    // A project that is on has its events noted.
    run_hook(home.command("loci"), "claude", "prompt", input.as_bytes());
    assert!(home.path(".loci/missed-hooks").exists());
}
