//! `loci setup` for every client, in a home with configuration files as their users have them.
//!
//! Not here: the clients themselves (`tests/clients`), the edit of a text (the unit tests of the shim).

use crate::home::TestHome;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

/// A client, its files, and where the server is in the first of them.
pub struct Case {
    pub client: &'static str,
    pub files: &'static [(&'static str, &'static str)],
    pub server: &'static str,
}

pub const CASES: [Case; 10] = [
    Case {
        client: "claude",
        files: &[
            (
                ".claude.json",
                "{\n  \"numStartups\": 12,\n  \"mcpServers\": {},\n  \"projects\": {\n    \"/work\": { \"allowedTools\": [] }\n  },\n  \"userID\": \"é\"\n}",
            ),
            (
                ".claude/settings.json",
                "{\n    \"model\": \"opus\",\n    \"permissions\": {\n        \"allow\": [\"Bash(ls:*)\", \"mcp__other\"],\n        \"deny\": []\n    },\n    \"hooks\": {\n        \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }]\n    }\n}\n",
            ),
        ],
        server: "/mcpServers/loci",
    },
    Case {
        client: "codex",
        files: &[(
            ".codex/config.toml",
            "# My Codex\nmodel = \"gpt-5\" # the big one\n\n[mcp_servers.docs]\ncommand = \"npx\" # keep\nargs = [\n  \"-y\", # yes\n  \"docs\",\n]\n\n[projects.\"/work\"]\ntrust_level = \"trusted\"\n",
        )],
        server: "/mcp_servers/loci",
    },
    Case {
        client: "cursor",
        files: &[
            (
                ".cursor/mcp.json",
                "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": { \"url\": \"x\" }\r\n\t}\r\n}\r\n",
            ),
            (
                ".cursor/permissions.json",
                "{\n  // what may run\n  \"mcpAllowlist\": [\"a:*\"], // all\n}\n",
            ),
        ],
        server: "/mcpServers/loci",
    },
    Case {
        client: "gemini",
        files: &[(
            ".gemini/settings.json",
            "{\n  // mine\n  \"theme\": \"Dracula\",\n  \"selectedAuthType\": \"none\"\n}\n",
        )],
        server: "/mcpServers/loci",
    },
    Case {
        client: "vscode",
        files: &[(
            ".config/Code/User/mcp.json",
            "{\n\t\"servers\": {\n\t\t\"a\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"x\"\n\t\t}\n\t},\n\t\"inputs\": []\n}",
        )],
        server: "/servers/loci",
    },
    Case {
        client: "devin",
        files: &[(
            ".config/devin/config.json",
            "\u{feff}{\n  // once Windsurf\n  \"agent\": { \"model\": \"swe\" },\n  \"permissions\": { \"allow\": [\"Exec(git)\"] },\n}\n",
        )],
        server: "/mcpServers/loci",
    },
    Case {
        client: "zed",
        files: &[(
            ".config/zed/settings.json",
            "// Zed settings\n//\n// see the documentation\n{\n  \"theme\": \"One Dark\",\n  \"context_servers\": {}, // none yet\n  \"vim_mode\": true, /* last */\n}\n",
        )],
        server: "/context_servers/loci",
    },
    Case {
        client: "opencode",
        files: &[(
            ".config/opencode/opencode.json",
            "{\n  \"$schema\": \"x\",\n  \"permission\": { \"bash\": \"ask\" }\n}\n",
        )],
        server: "/mcp/loci",
    },
    Case {
        client: "claude-desktop",
        files: &[(
            ".config/Claude/claude_desktop_config.json",
            "{\"mcpServers\":{\"a\":{\"command\":\"x\"}},\"scale\":1}",
        )],
        server: "/mcpServers/loci",
    },
    Case {
        client: "copilot",
        files: &[(".copilot/mcp-config.json", "{\n  \"mcpServers\": {}\n}\n")],
        server: "/mcpServers/loci",
    },
];

/// A home with the files of a case, and without clients on the search path.
pub fn home_of(case: &Case) -> TestHome {
    let home = TestHome::without_model();
    let bin = home.path("bin");
    fs::create_dir(&bin).expect("the folder is created");
    for (path, text) in case.files {
        put(&home.path(path), text);
    }
    home.with("PATH", bin)
}

pub fn case(client: &str) -> &'static Case {
    CASES.iter().find(|case| case.client == client).expect("the client has a case")
}

pub fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder is created");
    fs::write(path, text).expect("the file is written");
}

pub fn read(path: &Path) -> String {
    fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()))
}

/// All files below the home with their content, except those of loci.
pub fn tree(home: &TestHome) -> BTreeMap<PathBuf, String> {
    fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
        for entry in fs::read_dir(folder).expect("the folder is read") {
            let path = entry.expect("the entry is read").path();
            match path.is_dir() {
                _ if [".loci", "run"].iter().any(|name| path.ends_with(name)) => {}
                true => {
                    found.insert(path.clone(), "folder".to_owned());
                    collect(&path, found);
                }
                false => {
                    found.insert(path.clone(), read(&path));
                }
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(&home.path(""), &mut found);
    found
}

/// The value of a file in any of the formats.
pub fn value(path: &Path) -> Value {
    let text = read(path);
    let format = match path.extension() {
        Some(extension) if extension == "toml" => loci::setup::edit::Format::Toml,
        _ => loci::setup::edit::Format::Jsonc,
    };
    loci::setup::edit::parse(&text, format).expect("the file is valid")
}

pub fn run(home: &TestHome, arguments: &[&str]) -> String {
    let output = home.loci(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn program_of(server: &Value) -> PathBuf {
    let command = &server["command"];
    let program = command.as_str().or_else(|| command[0].as_str());
    PathBuf::from(program.unwrap_or_else(|| panic!("no command: {server}")))
}

#[test]
fn each_client_is_set_up_once_and_its_files_come_back_byte_for_byte() {
    for case in &CASES {
        let (home, client) = (home_of(case), case.client);
        let before = tree(&home);
        run(&home, &["setup", client, "--yes"]);
        let after = tree(&home);
        assert_ne!(after, before, "{client}");
        let path = home.path(case.files[0].0);
        let server = value(&path).pointer(case.server).cloned();
        let server = server.unwrap_or_else(|| panic!("{client}: {}", read(&path)));
        assert!(program_of(&server).is_absolute() && program_of(&server).is_file(), "{server}");
        assert!(server.to_string().contains("\"mcp\""), "{server}");
        for (path, text) in case.files {
            let edited = read(&home.path(path));
            let lines: Vec<&str> =
                edited.lines().map(|line| line.trim_end_matches([',', '\r'])).collect();
            for comment in text.lines().filter(|line| line.contains("//") || line.contains('#')) {
                let comment = comment.trim_end_matches([',', '\r']);
                let ends = comment.split("//").last().unwrap_or(comment);
                assert!(
                    lines.iter().any(|line| line.ends_with(ends)),
                    "{client} lost {comment:?}: {edited}"
                );
            }
        }
        let again = run(&home, &["setup", client, "--yes"]);
        assert!(again.contains("nothing to change"), "{again}");
        assert_eq!(tree(&home), after, "{client}: the second time changes nothing");
        run(&home, &["setup", client, "--remove", "--yes"]);
        assert_eq!(tree(&home), before, "{client}: the files are as before");
        assert!(!home.path(".loci/setup.json").exists());
    }
}

#[test]
fn a_client_without_files_gets_them_and_nothing_is_left_after_removal() {
    for case in &CASES {
        let (home, client) = (home_of(&Case { files: &[], ..*case }), case.client);
        let before = tree(&home);
        run(&home, &["setup", client, "--yes"]);
        let path = home.path(case.files[0].0);
        let mode = path.metadata().expect("the file exists").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{client}");
        let manifest = home.path(".loci/setup.json").metadata().expect("the manifest exists");
        assert_eq!(manifest.permissions().mode() & 0o777, 0o600);
        run(&home, &["setup", client, "--remove", "--yes"]);
        assert_eq!(tree(&home), before, "{client}");
    }
}

#[test]
fn only_entries_of_loci_go_after_the_user_has_changed_other_keys() {
    for case in &CASES {
        let (home, client) = (home_of(case), case.client);
        run(&home, &["setup", client, "--yes"]);
        let (path, original) = (home.path(case.files[0].0), case.files[0].1);
        let edited = read(&path);
        let expected = if client == "codex" {
            put(&path, &format!("{edited}\n[tui]\ntheme = \"dark\" # new\n"));
            format!("{original}\n[tui]\ntheme = \"dark\" # new\n")
        } else {
            put(&path, &edited.replacen('{', "{\"first\": [1, 2 ],", 1));
            original.replacen('{', "{\"first\": [1, 2 ],", 1)
        };
        run(&home, &["setup", client, "--remove", "--yes"]);
        assert_eq!(read(&path), expected, "{client}");
    }
}

#[test]
fn only_entries_of_loci_go_after_the_client_has_rewritten_its_file() {
    for case in &CASES {
        let (home, client) = (home_of(case), case.client);
        let path = home.path(case.files[0].0);
        let original = value(&path);
        run(&home, &["setup", client, "--yes"]);
        let changed = value(&path);
        let rewritten = if client == "codex" {
            toml::to_string(&changed).expect("it is written")
        } else {
            serde_json::to_string(&changed).expect("it is written")
        };
        put(&path, &rewritten);
        let again = run(&home, &["setup", client, "--yes"]);
        assert!(again.contains("nothing to change"), "{again}");
        run(&home, &["setup", client, "--remove", "--yes"]);
        assert_eq!(value(&path), original, "{client}: {}", read(&path));
    }
}

#[test]
fn an_entry_that_was_edited_or_moved_stays_unless_forced() {
    let home = home_of(case("claude"));
    run(&home, &["setup", "claude", "--yes"]);
    let path = home.path(".claude.json");
    let edited = read(&path).replace("\"env\": {}", "\"env\": {\"LOCI_GROUP\": \"mine\"}");
    put(&path, &edited);
    let again = run(&home, &["setup", "claude", "--yes"]);
    assert!(again.contains("mcpServers.loci was changed by hand and stays"), "{again}");
    assert_eq!(read(&path), edited);
    let removed = run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert!(removed.contains("was changed by hand and stays; --force removes it"), "{removed}");
    assert_eq!(read(&path), edited);
    assert_eq!(read(&home.path(".claude/settings.json")), case("claude").files[1].1);
    run(&home, &["setup", "claude", "--remove", "--force", "--yes"]);
    assert!(value(&path)["mcpServers"].get("loci").is_none(), "{}", read(&path));

    let home = home_of(case("claude"));
    run(&home, &["setup", "claude", "--yes"]);
    let path = home.path(".claude.json");
    let mut moved = value(&path);
    let server = moved["mcpServers"].take();
    moved["projects"]["/work"]["mcpServers"] = server;
    put(&path, &moved.to_string());
    let removed = run(&home, &["setup", "claude", "--remove", "--yes"]);
    assert!(removed.contains("was moved to projects./work.mcpServers.loci and stays"), "{removed}");
    run(&home, &["setup", "claude", "--remove", "--force", "--yes"]);
    assert!(!read(&path).contains("loci"), "{}", read(&path));
}

#[test]
fn a_broken_file_is_refused_with_line_and_column_and_left_alone() {
    let broken = [
        (".claude.json", "{\n  \"a\": 1\n  \"b\": 2\n}", "claude", "line 2, column 9"),
        (".claude/settings.json", "{ // no comments here\n}", "claude", "line 1, column 3"),
        (".codex/config.toml", "a = 1\n[mcp_servers\n", "codex", "line 2"),
        (".config/zed/settings.json", "{\n  \"a\": [1, 2\n", "zed", "line 2"),
        (".gemini/settings.json", "[]", "gemini", "the file is not an object"),
    ];
    for (path, text, client, place) in broken {
        let home = home_of(&Case { files: &[], ..*case(client) });
        put(&home.path(path), text);
        let before = tree(&home);
        let output = home.loci(&["setup", client, "--yes"]);
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(place), "{}", stderr(&output));
        assert!(stderr(&output).contains("Nothing was written"), "{}", stderr(&output));
        assert_eq!(tree(&home), before);
    }
}

#[test]
fn one_broken_file_does_not_keep_the_other_clients_from_being_set_up() {
    let home = home_of(case("gemini"));
    put(&home.path(".codex/config.toml"), "a = = 1");
    let output = home.loci(&["setup", "--yes"]);
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{screen}");
    assert!(screen.contains("config.toml is not valid TOML: line 1, column 5"), "{screen}");
    assert!(read(&home.path(".gemini/settings.json")).contains("loci"));
    assert_eq!(read(&home.path(".codex/config.toml")), "a = = 1");
}

#[test]
fn a_server_of_another_program_is_not_replaced_and_one_of_loci_is() {
    let home = home_of(case("claude-desktop"));
    let path = home.path(case("claude-desktop").files[0].0);
    put(&path, "{\"mcpServers\": {\"loci\": {\"command\": \"npx\", \"args\": [\"other\"]}}}");
    let output = home.loci(&["setup", "claude-desktop", "--yes"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("another server with the name loci"), "{}", stderr(&output));
    let by_hand = "{\"mcpServers\": {\"loci\": {\"command\": \"loci\",  \"args\": [\"mcp\"]}}}";
    put(&path, by_hand);
    run(&home, &["setup", "claude-desktop", "--yes"]);
    assert!(program_of(&value(&path)["mcpServers"]["loci"]).is_absolute());
    put(&path, &read(&path).replacen('{', "{\"x\": 1, ", 1));
    run(&home, &["setup", "claude-desktop", "--remove", "--yes"]);
    assert_eq!(read(&path), by_hand.replacen('{', "{\"x\": 1, ", 1), "what it replaced is back");
}

#[test]
fn a_link_stays_a_link_and_a_file_keeps_its_mode() {
    let home = home_of(case("zed"));
    let (path, real) = (home.path(".config/zed/settings.json"), home.path("dotfiles/zed.json"));
    fs::create_dir(home.path("dotfiles")).expect("the folder is created");
    fs::rename(&path, &real).expect("the file is moved");
    symlink(&real, &path).expect("the link is created");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).expect("the mode is set");
    run(&home, &["setup", "zed", "--yes"]);
    assert!(path.is_symlink() && read(&real).contains("loci"));
    assert_eq!(real.metadata().expect("it exists").permissions().mode() & 0o777, 0o640);
    run(&home, &["setup", "zed", "--remove", "--yes"]);
    assert!(path.is_symlink());
    assert_eq!(read(&real), case("zed").files[0].1);
}

#[test]
fn the_entry_of_each_client_is_as_its_own_command_writes_it() {
    let expected = |client: &str, program: &str| match client {
        "claude" => json!({"type": "stdio", "command": program, "args": ["mcp"], "env": {}}),
        "copilot" => json!({"tools": ["*"], "type": "local", "command": program, "args": ["mcp"]}),
        // The home of a test has its own folder for sockets; of an ordinary one no variable is passed on.
        "codex" => {
            json!({"command": program, "args": ["mcp"], "env_vars": ["LOCI_MODELS", "XDG_RUNTIME_DIR"]})
        }
        "gemini" => json!({"command": program, "args": ["mcp"]}),
        _ => panic!("{client} has no command"),
    };
    for client in ["claude", "codex", "copilot", "gemini"] {
        let home = home_of(case(client));
        run(&home, &["setup", client, "--no-permission", "--no-hooks", "--yes"]);
        let server = value(&home.path(case(client).files[0].0));
        let server = server.pointer(case(client).server).expect("the server is there");
        let program = program_of(server);
        assert_eq!(*server, expected(client, &program.to_string_lossy()), "{client}");
    }
}
