//! Sessions of clients with hooks over time: 200 of them, events at the same time, facts that are edited, plugins that start again.

use crate::home::{Agent, TestHome};
use crate::hooks::{HERON, QUESTION, home_with_model, json_of, prompt, run_hook, start};
use crate::in_time::OutputInTime;
use crate::wire::{connections, wait_until};
use loci_testkit::skipped::skip;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Sessions in all, and how many are open at the same time.
const SESSIONS: usize = 200;
const AT_ONCE: usize = 8;

/// Opens a session as a client does, with its MCP server, and kills it.
fn open_and_kill(home: &TestHome, number: usize) {
    let session = format!("session-{number}");
    let hook = |event: &str, prompt: &str| {
        let input =
            json!({"session_id": session, "source": "startup", "prompt": prompt}).to_string();
        run_hook(home.command("loci"), "claude", event, input.as_bytes())
    };
    hook("session-start", "");
    let agent = Agent::bare(home.command("loci").arg("mcp"));
    hook("prompt", "Where are the screws of size 3?");
    hook("subagent-start", "");
    if number.is_multiple_of(2) {
        hook("session-end", "");
    }
    // Dropped without a word, as a client that crashes.
    drop(agent);
}

#[test]
fn two_hundred_sessions_leave_one_daemon_and_no_process() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The screws of size 3 are in the red drawer");
    let pid = home.status()["pid"].clone();
    std::thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let home = &home;
            scope.spawn(move || {
                (worker..SESSIONS).step_by(AT_ONCE).for_each(|n| open_and_kill(home, n));
            });
        }
    });
    wait_until("all connections are closed", || connections(&home) == 0);
    let status = home.status();
    assert_eq!(status["pid"], pid);
    let pid = pid.as_u64().expect("a process id");
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    assert_eq!(children.unwrap_or_default().trim(), "", "the daemon has no child");
    assert_eq!(status["hooks"]["clients"][0]["missed"].as_u64(), Some(0), "{status}");
    // Receipts are written after the answers.
    wait_until("every session has got its brief", || {
        home.status()["hooks"]["clients"][0]["delivered"].as_u64() == Some(SESSIONS as u64)
    });
}

/// Runs events of one session at the same time; returns how often they give the memory.
fn given_at_once(home: &TestHome, session: &str, events: &[&str]) -> usize {
    std::thread::scope(|scope| {
        let run = |event: &&str| {
            let (event, home) = ((*event).to_owned(), &home);
            scope.spawn(move || match event.as_str() {
                "prompt" => prompt(home, session, QUESTION),
                _ => start(home, session, "startup"),
            })
        };
        let running: Vec<_> = events.iter().map(run).collect();
        let texts = running.into_iter().map(|run| run.join().expect("the hook ends"));
        texts.map(|text| text.matches("heron").count()).sum()
    })
}

#[test]
fn events_at_the_same_time_give_a_memory_once() {
    let (home, mut agent) = home_with_model();
    agent.store("semantic", HERON);
    for number in 0..6 {
        let starts = ["session-start"; 4];
        assert_eq!(given_at_once(&home, &format!("starts-{number}"), &starts), 1);
        let prompts = ["prompt"; 4];
        assert_eq!(given_at_once(&home, &format!("prompts-{number}"), &prompts), 1);
        let both = ["session-start", "prompt"];
        assert_eq!(given_at_once(&home, &format!("both-{number}"), &both), 1);
    }
}

#[test]
fn an_edited_memory_is_given_again_to_a_session_that_has_the_old_text() {
    let (home, mut agent) = home_with_model();
    let id = agent.store("semantic", HERON);
    assert!(start(&home, "a", "startup").contains("heron"));
    assert_eq!(prompt(&home, "a", QUESTION), "");
    let text = "The staging server of the shop is called egret.";
    assert!(home.loci(&["edit", &id, "--content", text]).status.success());
    // The newest event is the prompt, which gave nothing.
    let events = json_of(&home, &["injected", "--json"])["receipts"].clone();
    let shown = &events[1]["memories"][0];
    assert_eq!((&shown["id"], &shown["edited"]), (&json!(id), &json!(true)), "{events}");
    wait_until("the edited text is encoded", || {
        json_of(&home, &["stats", "--json"])["without_vector"] == 0
    });
    assert!(prompt(&home, "a", QUESTION).contains("egret"));
    assert_eq!(prompt(&home, "a", QUESTION), "");
    // The record in the database knows it too.
    assert!(home.loci(&["ctl", "restart"]).status.success());
    let mut others = 0..;
    wait_until("the model is ready", || {
        let other = format!("other-{:?}", others.next());
        prompt(&home, &other, QUESTION).contains("egret")
    });
    assert_eq!(prompt(&home, "a", QUESTION), "");
}

/// Nests folders below `project`, each with a file that takes long to read.
fn nest_slow_folders(home: &TestHome) -> std::path::PathBuf {
    let mut folder = home.path("project");
    fs::create_dir_all(folder.join(".git")).expect("the folder is created");
    fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").expect("it is written");
    let key = |n: u32| format!("k{n}.a.b.c.d.e = {{a=1,b=2,c=[1,2,3]}}\n");
    let keys = (0..1100).map(key).collect::<Vec<_>>().concat();
    let file = home.path("slow.toml");
    fs::write(&file, keys).expect("the file is written");
    for _ in 0..900 {
        folder.push("a");
        fs::create_dir(&folder).expect("the folder is created");
        fs::hard_link(&file, folder.join(".loci.toml")).expect("the link is created");
    }
    folder
}

#[test]
fn files_of_a_project_that_are_slow_cost_no_more_than_the_deadline() {
    let home = TestHome::without_model();
    home.session().store("semantic", HERON);
    let input = json!({"session_id": "a", "prompt": QUESTION, "cwd": nest_slow_folders(&home)});
    let began = Instant::now();
    let answer = run_hook(home.command("loci"), "claude", "prompt", input.to_string().as_bytes());
    let took = began.elapsed();
    assert_eq!(answer, json!({}));
    assert!(took < Duration::from_millis(1700), "{took:?}");
    assert!(!home.path(".loci/missed-hooks").exists(), "it may be a project that is off");
}

/// Runs the plugin of `OpenCode` in a stand-in of its host, which is started twice with one session; returns what the model was given.
fn opencode(home: &TestHome, plugin: &str, script: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let source = fs::read_to_string(root.join("plugin/opencode").join(plugin));
    let loci = home.command("loci");
    let program = loci.get_program().to_str().expect("the path is UTF-8");
    let source = source.expect("the plugin can be read").replace("@LOCI@", program);
    let folder = home.path("plugin/node_modules/@opencode/plugin");
    fs::create_dir_all(&folder).expect("the folder is created");
    let write = |file: &Path, text: &str| fs::write(file, text).expect("the file is written");
    write(&folder.join("package.json"), r#"{"main": "index.mjs"}"#);
    write(&folder.join("index.mjs"), "export const Plugin = { define: (plugin) => plugin }");
    write(&home.path("plugin/plugin.mjs"), &source);
    write(&home.path("plugin/host.mjs"), script);
    let mut host = home.command_at("node".as_ref());
    host.arg(home.path("plugin/host.mjs")).arg(home.path("project"));
    let output = host.output_in_time().expect("node runs");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    serde_json::from_slice(&output.stdout).expect("the host prints JSON")
}

fn has_node() -> bool {
    let has = Command::new("node").arg("--version").output_in_time().is_ok();
    if !has {
        skip("node is not installed; no plugin was run");
    }
    has
}

const OPENCODE_2: &str = r#"
import plugin from "./plugin.mjs"
const boot = async () => {
  const hooks = {}
  await plugin.setup({ directory: process.argv[2], session: { hook: async (name, run) => { hooks[name] = run } } })
  return hooks
}
const said = ["hello there", "What is the staging server of the shop called?", "thanks, now the weather in the garden"]
const turn = async (hooks, count) => {
  const messages = said.slice(0, count).flatMap((content) => [{ role: "user", content }, { role: "assistant", content: "x" }]).slice(0, -1)
  const event = { sessionID: "s", messages, system: [] }
  await hooks.context(event)
  return event.system.map((part) => part.text).join("|")
}
let hooks = await boot()
const given = [await turn(hooks, 1), await turn(hooks, 2), await turn(hooks, 3)]
hooks = await boot()
said.push(said[1])
given.push(await turn(hooks, 4))
process.stdout.write(JSON.stringify(given))
"#;

const OPENCODE_1: &str = r#"
import { LociPlugin } from "./plugin.mjs"
const system = async () => {
  const hooks = await LociPlugin({ directory: process.argv[2] })
  const output = { system: [] }
  await hooks["experimental.chat.system.transform"]({ sessionID: "one" }, output)
  return output.system.join("|")
}
process.stdout.write(JSON.stringify([await system(), await system()]))
"#;

#[test]
fn what_opencode_was_given_stays_with_its_session_and_comes_again_after_a_restart() {
    if !has_node() {
        return;
    }
    let (home, mut agent) = home_with_model();
    agent.store("semantic", HERON);
    for given in opencode(&home, "loci-v1.js", OPENCODE_1) {
        assert!(given.contains("heron"), "{given}");
    }
    home.configure("[hooks]\nsession_start = false\n");
    assert!(home.loci(&["ctl", "reload"]).status.success());
    let given = opencode(&home, "loci-v2.js", OPENCODE_2);
    let has: Vec<bool> = given.iter().map(|text| text.contains("heron")).collect();
    assert_eq!(has, [false, true, true, true], "{given:?}");
    home.configure("");
    assert!(home.loci(&["ctl", "reload"]).status.success());
    for given in opencode(&home, "loci-v2.js", &OPENCODE_2.replace("\"s\"", "\"t\"")) {
        assert_eq!(given.matches("heron").count(), 1, "{given}");
    }
}
