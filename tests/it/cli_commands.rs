//! The effect of each command about memories, checked through its JSON.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use serde_json::{Value, json};

/// The reply of a command that succeeds.
fn done(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home
        .command("loci")
        .args(arguments)
        .arg("--json")
        .output_in_time()
        .expect("the command runs");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    assert_eq!(text.lines().count(), 1, "one line: {text}");
    serde_json::from_str(&text).expect("valid JSON")
}

/// The exit code and the problem of a command that fails.
fn refused(home: &TestHome, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = home
        .command("loci")
        .args(arguments)
        .arg("--json")
        .output_in_time()
        .expect("the command runs");
    let problem: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    (output.status.code(), problem["error"].clone())
}

fn id(reply: &Value) -> String {
    reply["id"].as_str().expect("the reply has an id").to_owned()
}

fn previews(reply: &Value, of: &str) -> Vec<String> {
    reply[of]
        .as_array()
        .expect("a JSON array")
        .iter()
        .map(|memory| memory["preview"].as_str().expect("a JSON string").to_owned())
        .collect()
}

#[test]
fn an_added_memory_has_all_given_attributes() {
    let home = TestHome::without_model();
    let old = id(&done(&home, &["add", "The server is called heron", "--type", "semantic"]));
    let details = r#"{"category": "servers"}"#;
    let flags =
        ["--metadata", details, "--supersedes", &old[28..], "--confidence", "0.5", "--ttl", "30d"];
    let added = done(
        &home,
        &[&["add", "The server is called egret", "--type", "semantic"][..], &flags].concat(),
    );
    assert_eq!(added["superseded"], json!(old));
    let shown = &done(&home, &["inspect", &id(&added)])["memory"];
    assert_eq!(
        (&shown["metadata"], &shown["confidence"]),
        (&json!({"category": "servers"}), &json!(0.5))
    );
    assert!(shown["expires_at"].is_string());
    let dated = done(
        &home,
        &[
            "add",
            "Until the end of 2090",
            "--type",
            "episodic",
            "--expires",
            "2090-12-31",
            "--group",
            "attic",
        ],
    );
    let shown = &done(&home, &["inspect", &id(&dated), "--group", "attic"])["memory"];
    assert_eq!(
        (&shown["group"], shown["expires_at"].as_str().map(|at| at.starts_with("2091-01-01"))),
        (&json!("attic"), Some(true))
    );
}

#[test]
fn edit_changes_each_part_and_undo_reverts_it() {
    let home = TestHome::new();
    let memory = id(&done(&home, &["add", "The server is called heron", "--type", "semantic"]));
    let before = done(&home, &["inspect", &memory])["memory"].clone();
    for (arguments, changed) in [
        (&["--content", "The server is called egret"][..], "content"),
        (&["--metadata", r#"{"category": "servers"}"#], "metadata"),
        (&["--scope", "group"], "scope"),
        (&["--confidence", "0.25"], "confidence"),
        (&["--expires", "2090-12-31"], "expires_at"),
    ] {
        assert_eq!(
            done(&home, &[&["edit", &memory][..], arguments].concat())["changed"],
            json!([changed])
        );
    }
    assert_eq!(
        previews(&done(&home, &["search", "egret"]), "results"),
        ["The server is called egret"]
    );
    for _ in 0..5 {
        let undone = done(&home, &["undo", "--last", "--yes"]);
        assert_eq!(undone["undone"][0]["act"], "edit", "{undone}");
    }
    let after = done(&home, &["inspect", &memory])["memory"].clone();
    for field in ["content", "metadata", "scope", "expires_at", "confidence"] {
        assert_eq!(after[field], before[field], "{field}");
    }
}

#[test]
fn forget_where_forgets_only_matching_memories_as_one_act() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store_all("episodic", ["An old thing of ours", "A new thing of ours"]);
    agent.store("semantic", "An old fact");
    let mut other = home.session_in("garden");
    other.store("episodic", "An old thing of the garden");
    other.store("semantic", "A fact from the garden");
    let all = |home: &TestHome| done(home, &["list", "--all-groups"])["total"].clone();
    assert_eq!(all(&home), 5);
    let forgotten = done(
        &home,
        &["forget", "--where", "text:OLD type:episodic", "--yes", "--reason", "spring"],
    );
    assert_eq!(
        (forgotten["forgotten"].as_array().map(Vec::len), all(&home)),
        (Some(1), json!(4)),
        "the memory of the other project is kept"
    );
    assert_eq!(
        previews(&done(&home, &["list", "--status", "forgotten"]), "memories"),
        ["An old thing of ours"]
    );
    assert_eq!(done(&home, &["forget", "--where", "older:1d", "--yes"]), json!({"forgotten": []}));
    assert_eq!(
        done(&home, &["forget", "--where", "confidence:<0.5", "--yes"]),
        json!({"forgotten": []})
    );
    // `--group` with an id: the memories stored in that project, global or not, and no others.
    let listed = done(&home, &["list", "--all-groups", "--text", "garden"]);
    let garden = done(&home, &["history", "--limit", "1"])["acts"][0]["group"].clone();
    assert!(garden.is_string() && listed["total"] == 2);
    let part = listed["memories"][1]["id"].as_str().expect("the reply has an id")[28..].to_owned();
    let (code, problem) = refused(&home, &["forget", &part]);
    let hint = problem["hint"].as_str().expect("a JSON string");
    assert_eq!(
        (code, problem["message"].as_str()),
        (Some(1), Some("This memory belongs to another project, garden"))
    );
    let group = hint.strip_prefix("Add --group ").expect("the hint names the group");
    let swept = done(&home, &["forget", "--where", "type:semantic", "--group", group, "--yes"]);
    assert_eq!(swept["forgotten"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        previews(&done(&home, &["list", "--type", "semantic"]), "memories"),
        ["An old fact"]
    );
    done(&home, &["forget", &part, "--group", group]);
    assert_eq!(
        done(&home, &["undo", "--since", "1h", "--yes"])["undone"].as_array().map(Vec::len),
        Some(3)
    );
    assert_eq!(all(&home), 5);
}

#[test]
fn a_hard_forget_leaves_nothing_to_restore() {
    let home = TestHome::without_model();
    let memory = id(&done(&home, &["add", "A secret of the heron", "--type", "semantic"]));
    let gone = done(&home, &["forget", &memory[28..], "--hard", "--yes"]);
    assert_eq!((&gone["status"], &gone["act"]), (&json!("deleted"), &Value::Null));
    assert_eq!(done(&home, &["forget", &memory, "--hard", "--yes"])["already_forgotten"], true);
    assert_eq!(refused(&home, &["restore", &memory]).1["code"], "not_found");
    assert_eq!(done(&home, &["list", "--status", "all"])["total"], 0);
}

#[test]
fn relations_are_kept_with_their_evidence() {
    let home = TestHome::without_model();
    let entity = |name: &str| {
        let details = json!({"name": name, "entity_type": "thing"}).to_string();
        id(&done(
            &home,
            &["add", &format!("{name} is known"), "--type", "entity", "--metadata", &details],
        ))
    };
    let (anna, initech) = (entity("Anna"), entity("Initech"));
    let evidence = id(&done(&home, &["add", "She signed in May", "--type", "episodic"]));
    let made = done(
        &home,
        &[
            "relate",
            &anna,
            "works_at",
            &initech[28..],
            "--evidence",
            &evidence[28..],
            "--confidence",
            "0.75",
        ],
    );
    assert_eq!(made["created"], true);
    let relations = &done(&home, &["inspect", &anna])["relations"];
    assert_eq!(
        (&relations[0]["object"]["id"], &relations[0]["evidence"], &relations[0]["confidence"]),
        (&json!(initech), &json!([evidence]), &json!(0.75))
    );
    assert_eq!(refused(&home, &["relate", &anna, "works_at", &evidence]).1["code"], "invalid");
    assert_eq!(done(&home, &["undo", "--last", "--yes"])["undone"][0]["act"], "relate");
    assert_eq!(done(&home, &["inspect", &anna])["relations"], json!([]));
}

#[test]
fn pages_follow_one_another_and_hold_everything_once() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let stored: Vec<String> =
        (0..7).map(|n| agent.store("semantic", &format!("Memory number {n}"))).collect();
    let (mut seen, mut before) = (Vec::new(), None::<String>);
    loop {
        let mut arguments = vec!["list", "--limit", "3"];
        arguments
            .extend(before.as_deref().map(|before| ["--before", before]).into_iter().flatten());
        let page = done(&home, &arguments);
        seen.extend(page["memories"].as_array().expect("a JSON array").iter().map(id));
        match page["next"].as_i64() {
            Some(next) => before = Some(next.to_string()),
            None => break,
        }
    }
    assert!(seen.iter().eq(stored.iter().rev()));
    for memory in &stored[..3] {
        done(&home, &["pin", memory]);
    }
    let first = done(&home, &["history", "--limit", "2"]);
    let next = first["next"].as_i64().expect("there is a next page").to_string();
    assert_eq!(
        done(&home, &["history", "--limit", "2", "--before", &next])["acts"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
    assert_eq!(
        done(&home, &["history", &stored[1][28..]])["acts"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(done(&home, &["list", "--status", "pinned"])["total"], 3);
}

#[test]
fn search_flags_filter_the_results() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("episodic", "The apple fell");
    agent.store_with(
        json!({"content": "An apple is a fruit", "type": "semantic", "confidence": 0.3}),
    );
    home.session_in("garden").store("episodic", "The apple of the garden");
    let found = |arguments: &[&str]| {
        previews(&done(&home, &[&["search", "apple"][..], arguments].concat()), "results").len()
    };
    assert_eq!(found(&[]), 2);
    assert_eq!(found(&["--type", "semantic"]), 1);
    assert_eq!(found(&["--scope", "group"]), 1);
    assert_eq!(found(&["--min-confidence", "0.5"]), 1);
    assert_eq!(found(&["--limit", "1"]), 1);
    let full = done(&home, &["search", "the", "apple", "--full", "--limit", "1"]);
    assert!(full["results"][0]["content"].is_string() && full["results"][0]["preview"].is_null());
}

#[test]
fn the_command_line_finds_the_project_as_an_agent_session_does() {
    let home = TestHome::without_model();
    home.session().store("episodic", "Seen in the project alone");
    assert_eq!(done(&home, &["list"])["total"], 1);
    let elsewhere = |name: &str, value: &str| {
        let output = home
            .command("loci")
            .args(["list", "--json"])
            .env(name, value)
            .output_in_time()
            .expect("the command runs");
        serde_json::from_slice::<Value>(&output.stdout).expect("valid JSON")["total"].clone()
    };
    assert_eq!(elsewhere("LOCI_GROUP", "attic"), 0);
    std::fs::create_dir(home.path("garden")).expect("the folder is created");
    assert_eq!(
        elsewhere("CLAUDE_PROJECT_DIR", home.path("garden").to_str().expect("the path is UTF-8")),
        0
    );
    assert_eq!(
        elsewhere("CLAUDE_PROJECT_DIR", home.path("project").to_str().expect("the path is UTF-8")),
        1
    );
}

/// The names that docs/cli.md has in the row of a command.
fn documented(command: &str) -> Vec<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md"))
        .expect("the file can be read");
    let names =
        |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let row = rows
        .map(|(commands, reply)| (names(commands), reply))
        .find(|(commands, _)| commands.iter().any(|name| name == command));
    names(row.unwrap_or_else(|| panic!("{command} is not documented")).1)
}

/// Collects every key of a reply, except those inside of free-form values.
fn names(reply: &Value, found: &mut Vec<String>) {
    match reply {
        Value::Array(all) => all.iter().for_each(|one| names(one, found)),
        Value::Object(fields) => {
            for (name, value) in fields {
                found.push(name.clone());
                let free_form = [
                    "metadata",
                    "details",
                    "relations",
                    "versions",
                    "log",
                    "mentions",
                    "by_type",
                    "by_scope",
                    "model",
                    "queues",
                    "sessions",
                ];
                if !free_form.contains(&name.as_str()) {
                    names(value, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn replies_are_as_the_page_documents_them() {
    let home = TestHome::without_model();
    let added =
        done(&home, &["add", "The server is called heron", "--type", "semantic", "--ttl", "30d"]);
    let memory = id(&added);
    let person = r#"{"name": "Anna", "entity_type": "person"}"#;
    let anna =
        id(&done(&home, &["add", "Anna is known", "--type", "entity", "--metadata", person]));
    let bob = id(&done(
        &home,
        &["add", "Bob is known", "--type", "entity", "--metadata", &person.replace("Anna", "Bob")],
    ));
    crate::bridge::claude_memory(&home, "- The pond of the garden is green\n");
    let replies = [
        ("add", added),
        ("search", done(&home, &["search", "heron"])),
        ("search", done(&home, &["search", "heron", "--full"])),
        ("search", done(&home, &["search", "known", "--associations", "--cluster", "--explain"])),
        ("topics", done(&home, &["topics"])),
        ("wander", done(&home, &["wander", &anna])),
        ("edit", done(&home, &["edit", &memory, "--content", "The server is called egret"])),
        ("pin", done(&home, &["pin", &memory])),
        ("confirm", done(&home, &["confirm", &memory])),
        ("list", done(&home, &["list", "--limit", "1"])),
        ("relate", done(&home, &["relate", &anna, "knows", &bob])),
        ("forget", done(&home, &["forget", &memory, "--reason", "old"])),
        ("inspect", done(&home, &["inspect", &memory, "--log"])),
        ("restore", done(&home, &["restore", &memory])),
        ("move", done(&home, &["move", &anna, "--to", "attic", "--create"])),
        ("undo", done(&home, &["undo", "--last", "--yes"])),
        ("stats", done(&home, &["stats"])),
        ("history", done(&home, &["history", "--limit", "1"])),
        ("diff", done(&home, &["diff", "--since", "1h"])),
        ("list", done(&home, &["list", "--as-of", "1s", "--limit", "1"])),
        ("supersede", done(&home, &["supersede", &anna, &bob])),
        ("review", done(&home, &["review"])),
        ("review --candidates", done(&home, &["review", "--candidates"])),
        ("fix", done(&home, &["fix", "error: Anna is known"])),
        ("how", done(&home, &["how", "pnpm"])),
        ("reject", done(&home, &["reject", &bob, "--why", "it failed"])),
        ("undo", done(&home, &["undo", "--last", "--yes"])),
        ("import --from --dry-run", done(&home, &["import", "--from", "history", "--dry-run"])),
        ("undo", done(&home, &["undo", "--last", "--yes"])),
        ("redo", done(&home, &["redo", "--yes"])),
        ("re-embed", done(&home, &["re-embed", "--dry-run"])),
        ("config show", done(&home, &["config", "show"])),
        ("brief", done(&home, &["brief"])),
        ("recall", done(&home, &["recall", "--for-hook", "who is known"])),
        ("ctl status", done(&home, &["ctl", "status"])),
        ("ctl cost", done(&home, &["ctl", "cost"])),
        ("groups on", done(&home, &["groups", "on"])),
        ("injected", done(&home, &["injected"])),
        ("bridge claude", done(&home, &["bridge", "claude", "--on", "--yes"])),
        ("bridge status", done(&home, &["bridge", "status", "--scan"])),
        ("bridge history", done(&home, &["bridge", "history", "MEMORY.md"])),
        ("bridge restore", done(&home, &["bridge", "restore"])),
        ("update --check", done(&home, &["update", "--check"])),
        ("uninstall", done(&home, &["uninstall", "--dry-run"])),
    ];
    for (command, reply) in replies {
        let (documented, mut reply_names) = (documented(command), Vec::new());
        names(&reply, &mut reply_names);
        let missing: Vec<&String> =
            reply_names.iter().filter(|name| !documented.contains(name)).collect();
        assert!(
            !reply_names.is_empty() && missing.is_empty(),
            "{command} returns undocumented names {missing:?}: {reply}"
        );
    }
}

#[test]
fn model_status_json_has_the_exit_code_of_model_status() {
    let status = |home: &TestHome| {
        let output = home.loci(&["model", "status", "--json"]);
        let without_json = home.loci(&["model", "status"]);
        assert_eq!(output.status.code(), without_json.status.code());
        let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
        assert_eq!(text.lines().count(), 1, "{text}");
        (output.status.code(), serde_json::from_str::<Value>(&text).expect("valid JSON"))
    };
    let home = TestHome::without_model();
    let (exit, missing) = status(&home);
    assert_eq!((exit, &missing["complete"]), (Some(1), &json!(false)), "{missing}");
    assert_eq!(missing["folder"], json!(home.path("models")));
    let (exit, present) = status(&TestHome::new());
    assert_eq!((exit, &present["complete"]), (Some(0), &json!(true)), "{present}");
    for (reply, condition) in [(&missing, "missing"), (&present, "present")] {
        assert_eq!(reply["id"], "all-MiniLM-L6-v2");
        let files = reply["files"].as_array().expect("a JSON array");
        assert!(files.len() >= 2, "{reply}");
        for file in files {
            assert_eq!(file["condition"], condition, "{file}");
            assert!(file["size"].as_u64().is_some_and(|size| size > 0), "{file}");
            assert_eq!(file["sha256"].as_str().map(str::len), Some(64), "{file}");
            assert!(
                file["path"].as_str().is_some_and(
                    |path| path.ends_with(file["name"].as_str().expect("a JSON string"))
                )
            );
        }
        let (documented, mut reply_names) = (documented("model status"), Vec::new());
        names(reply, &mut reply_names);
        let missing: Vec<_> =
            reply_names.iter().filter(|name| !documented.contains(name)).collect();
        assert!(missing.is_empty(), "{missing:?} are not documented");
    }
}
