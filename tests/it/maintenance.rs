//! The lifecycle through the real binaries: plans and runs, cleanup, an agent's summary, and an
//! untrusted clock.

use crate::home::{Agent, TestHome, printed};
use crate::in_time::{ExitInTime, OutputInTime, in_time};
use crate::wire::{Daemon, signal};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const WEEK: [&str; 6] = [
    "Anna traced the slow mail gateway to a full disk on the relay host.",
    "The mail gateway was moved to a larger disk by Anna and Bruno.",
    "Bruno wrote the report about the outage of the mail gateway.",
    "The mail gateway dropped 14 messages while its disk was full.",
    "Alerts for the disk of the mail gateway now go to the on-call phone.",
    "Anna asked for a second relay host for the mail gateway.",
];

fn store_week(agent: &mut Agent, texts: &[&str]) -> Vec<String> {
    let one = |text: &&str| {
        let arguments =
            json!({"content": text, "type": "episodic", "metadata": {"event_date": "2025-03-05"}});
        agent.store_with(arguments)["id"].as_str().expect("the reply has an id").to_owned()
    };
    texts.iter().map(one).collect()
}

fn answer(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("no JSON: {}", String::from_utf8_lossy(&output.stdout)))
}

fn refused(home: &TestHome, arguments: &[&str]) -> String {
    let output = home.loci(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_run_does_what_its_plan_says_and_the_summary_is_found() {
    let home = TestHome::new();
    let mut agent = home.session();
    let ids = store_week(&mut agent, &WEEK);
    let plan = answer(&home, &["ctl", "maintenance", "plan", "--json"])["plan"].clone();
    assert_eq!((&plan["compacted"], &plan["steps"][0]["week"]), (&json!(6), &json!("2025-W10")));
    let done = answer(&home, &["compact", "--yes", "--json"])["done"].clone();
    assert_eq!(done.as_array().map(Vec::len), plan["steps"].as_array().map(Vec::len));
    for name in ["act", "cluster", "group", "scope", "week", "members"] {
        assert_eq!(done[0][name], plan["steps"][0][name], "{name}");
    }
    assert_eq!(done[0]["members"], json!(ids));
    let found = agent
        .call(
            "recall_memory",
            json!({"query": "What was wrong with the mail gateway?", "max_results": 20}),
        )
        .expect("the call succeeds");
    let summary = &found["results"][0];
    assert_eq!(
        (&summary["id"], &summary["metadata"]["method"]),
        (&done[0]["made"], &json!("extractive/1")),
        "{found}"
    );
    let text = summary["content"].as_str().expect("a JSON string");
    assert!(text.starts_with("2025-03-05: ") && text.lines().count() > 3, "{text}");
    assert_eq!(
        found["results"].as_array().map(Vec::len),
        Some(7),
        "the originals are found below it"
    );
    let shown = agent
        .call("recall_memory", json!({"ids": summary["metadata"]["source_ids"]}))
        .expect("the call succeeds");
    assert_eq!(shown["results"].as_array().map(Vec::len), Some(6));
    assert_eq!(
        agent.call("memory_stats", json!({})).expect("the call succeeds")["without_vector"],
        0,
        "the summary has its vector at once"
    );
    assert!(String::from_utf8_lossy(&home.loci(&["compact"]).stdout).contains("Nothing is due"));
}

#[test]
fn compact_shows_its_steps_with_texts_and_project_and_asks() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_week(&mut agent, &WEEK);
    let asked = home.loci(&["compact"]);
    let (stdout, stderr) =
        (String::from_utf8_lossy(&asked.stdout), String::from_utf8_lossy(&asked.stderr));
    assert_eq!(asked.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--yes") && stderr.contains("--dry-run"), "{stderr}");
    let projects = answer(&home, &["groups", "list", "--json"]);
    let project = projects["groups"][0]["name"].as_str().expect("the project has a name");
    let shown = home.loci(&["compact", "--dry-run"]);
    for printed in [&stdout, &String::from_utf8_lossy(&shown.stdout)] {
        assert!(
            printed.contains(&format!("6 episodes of 2025-W10 in {project} into")),
            "{printed}"
        );
        assert!(printed.contains(WEEK[0]) && printed.contains("… and 1 more"), "{printed}");
    }
    let stats = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(stats["compacted"], 0, "nothing was changed");
    let done = home.loci(&["compact", "--yes"]);
    assert!(done.status.success(), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stdout).contains(&format!("in {project} into")));
}

#[test]
fn a_pause_outlives_a_restart_and_every_status_says_so() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_week(&mut agent, &WEEK);
    assert!(home.loci(&["ctl", "maintenance", "pause"]).status.success());
    assert!(home.loci(&["ctl", "restart"]).status.success());
    assert!(home.status()["warnings"].to_string().contains("Maintenance is paused"));
    let stderr = refused(&home, &["compact", "--yes"]);
    assert!(stderr.contains("is paused") && stderr.contains("resume"), "{stderr}");
    assert!(home.loci(&["ctl", "maintenance", "resume"]).status.success());
    assert_eq!(
        answer(&home, &["compact", "--yes", "--json"])["done"][0]["members"]
            .as_array()
            .map(Vec::len),
        Some(6),
        "compaction also works without a model"
    );
}

#[test]
fn a_run_continues_after_a_kill() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let old = ["2025-03-05", "2025-03-12", "2025-03-19"];
    for date in old {
        for i in 0..5 {
            agent.store_with(
                json!({"content": format!("On {date} thing {i} happened"), "type": "episodic", "metadata": {"event_date": date}}),
            );
        }
    }
    let planned = answer(&home, &["compact", "--dry-run", "--json"])["plan"]["steps"].clone();
    let mut child = home
        .command("loci")
        .args(["compact", "--yes"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut first = String::new();
    let mut stdout = std::io::BufReader::new(child.stdout.as_mut().expect("the stream is open"));
    in_time("a line of the command", || std::io::BufRead::read_line(&mut stdout, &mut first))
        .expect("a line can be read");
    let pid = home.status()["pid"].as_u64().expect("a JSON number");
    std::process::Command::new("kill")
        .args(["-9", &pid.to_string()])
        .exit_in_time()
        .expect("the command runs");
    child.exit_in_time().expect("the process ends");
    let rest = answer(&home, &["compact", "--yes", "--json"])["done"].clone();
    let done = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(
        (&done["compacted"], &done["active_memories"]),
        (&json!(15), &json!(3)),
        "{first} {rest}"
    );
    assert!(rest.as_array().map(Vec::len) < planned.as_array().map(Vec::len));
}

#[test]
fn maintenance_enabled_runs_it_while_idle() {
    let home_with = |config: &str| {
        let home = TestHome::new();
        home.configure(config);
        store_week(&mut home.session(), &WEEK);
        home
    };
    let off = home_with("");
    let state = answer(&off, &["ctl", "maintenance", "status", "--json"]);
    assert_eq!((&state["enabled"], &state["next_run_at"]), (&json!(false), &Value::Null));
    let on = home_with("[maintenance]\nenabled = true\n");
    let deadline = Instant::now() + Duration::from_mins(1);
    let state = loop {
        let state = answer(&on, &["ctl", "maintenance", "status", "--json"]);
        if state["last_run_at"].is_string() {
            break state;
        }
        assert!(Instant::now() < deadline, "maintenance did not run: {state}");
        std::thread::yield_now();
    };
    assert!(state["next_run_at"].as_str() > state["last_run_at"].as_str(), "{state}");
    let compacted = |home: &TestHome| {
        home.session().call("memory_stats", json!({})).expect("the call succeeds")["compacted"]
            .clone()
    };
    assert_eq!((compacted(&on), compacted(&off)), (json!(6), json!(0)));
}

#[test]
fn a_run_starts_when_the_daemon_was_idle_for_the_configured_time() {
    let home = TestHome::new();
    home.configure("[maintenance]\nidle_minutes = 0.01\n");
    store_week(&mut home.session(), &WEEK);
    let deadline = Instant::now() + Duration::from_mins(1);
    let state = loop {
        let state = answer(&home, &["ctl", "maintenance", "status", "--json"]);
        if state["last_run_at"].is_string() {
            break state;
        }
        assert!(Instant::now() < deadline, "maintenance did not run: {state}");
        std::thread::yield_now();
    };
    let scheduled = (&state["enabled"], &state["next_run_at"], &state["idle_minutes"]);
    assert_eq!(scheduled, (&json!(false), &Value::Null, &json!(0.01)));
    let counts = home.session().call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(counts["compacted"], 6);
}

#[test]
fn what_was_forgotten_long_ago_is_in_the_plan_and_erased_by_a_run() {
    let home = TestHome::without_model();
    let day = |number: u32| format!("[maintenance]\npurge_forgotten_days = {number}\n");
    home.configure(&day(30));
    let mut agent = home.session();
    let ids = store_week(&mut agent, &WEEK[..2]);
    agent.call("forget_memory", json!({"memory_id": ids[0]})).expect("the memory is forgotten");
    let plan = || answer(&home, &["ctl", "maintenance", "plan", "--json"])["plan"].clone();
    assert_eq!(plan()["steps"], json!([]), "forgotten today");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    home.set_stored(&ids[0], "status_at", "0");
    let mut agent = home.session();
    let planned = plan();
    assert_eq!(
        (&planned["purged"], &planned["steps"][0]["members"]),
        (&json!(1), &json!([ids[0]]))
    );
    assert_eq!(planned["steps"][0]["texts"], json!([WEEK[0]]));
    let shown =
        String::from_utf8_lossy(&home.loci(&["ctl", "maintenance", "plan"]).stdout).into_owned();
    assert!(
        shown.contains("1 forgotten memory would be erased, which cannot be undone"),
        "{shown}"
    );
    let done = answer(&home, &["ctl", "maintenance", "run", "--json"])["done"].clone();
    assert_eq!((&done[0]["act"], &done[0]["members"]), (&json!("purge"), &json!([ids[0]])));
    let gone = agent.call("memory_inspect", json!({"memory_id": ids[0]}));
    assert!(gone.is_err(), "{gone:?}");
    assert!(agent.call("memory_inspect", json!({"memory_id": ids[1]})).is_ok());
    assert!(home.loci(&["restore", &ids[0]]).status.code() != Some(0));
    let backups = answer(&home, &["backup", "list", "--json"]);
    assert!(!backups.to_string().contains("\"maintenance\""), "{backups}");
}

#[test]
fn configured_rules_change_the_plan() {
    let planned = |config: &str, count: usize| {
        let home = TestHome::without_model();
        home.configure(config);
        store_week(&mut home.session(), &WEEK[..count]);
        answer(&home, &["compact", "--dry-run", "--json"])["plan"]["compacted"].clone()
    };
    assert_eq!([planned("", 4), planned("", 5)], [0, 5]);
    assert_eq!(planned("[maintenance]\ncompaction_min_group_size = 4\n", 4), 4);
    assert_eq!(planned("[maintenance]\ncompaction_age_days = 36500\n", 5), 0);
}

#[test]
fn cleanup_shows_its_list_and_asks_first() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store_with(
        json!({"content": "Hardly worth keeping", "type": "episodic", "confidence": 0.01}),
    );
    assert!(
        String::from_utf8_lossy(&home.loci(&["cleanup"]).stdout).contains("No memory has faded"),
        "a memory of today is not cleaned up"
    );
    let faded = answer(&home, &["cleanup", "--dry-run", "--json"]);
    assert_eq!(faded["memories"], json!([]));
}

/// Changes the database while no process has it open.
fn with_database(home: &TestHome, change: &str) {
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let conn =
        rusqlite::Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    assert_eq!(conn.execute(change, []).expect("the statement runs"), 1);
}

const LONG_AGO: &str = "UPDATE memories SET created_at = created_at - 31536000000, confidence_at = confidence_at - 31536000000 WHERE confidence < 0.1";

#[test]
fn a_cleanup_runs_only_after_a_yes() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let faded = agent.store_with(
        json!({"content": "Hardly worth keeping", "type": "episodic", "confidence": 0.09}),
    )["id"]
        .clone();
    agent.store("episodic", "Worth keeping");
    with_database(&home, LONG_AGO);
    assert_eq!(answer(&home, &["cleanup", "--dry-run", "--json"])["memories"][0]["id"], faded);
    let unasked = home.loci(&["cleanup"]);
    let stderr = String::from_utf8_lossy(&unasked.stderr);
    assert!(
        unasked.status.code() == Some(2)
            && stderr.contains("not a terminal")
            && stderr.contains("--yes"),
        "{stderr}"
    );
    let by_script =
        home.command("loci").env_remove("LOCI_PERSON").args(["cleanup", "--yes"]).output_in_time();
    let stderr = printed(&by_script.expect("loci runs"));
    assert!(stderr.contains("it has no terminal") && stderr.contains("loci cleanup"), "{stderr}");
    assert_eq!(agent.call("memory_stats", json!({})).expect("the call succeeds")["forgotten"], 0);
    let done = answer(&home, &["cleanup", "--yes", "--json"]);
    assert!(done["memories"][0]["id"] == faded && done["act"].is_i64(), "{done}");
    assert_eq!(agent.call("memory_stats", json!({})).expect("the call succeeds")["forgotten"], 1);
}

#[test]
fn a_clock_far_ahead_of_the_store_cleans_up_and_compacts_nothing() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store_with(
        json!({"content": "Hardly worth keeping", "type": "episodic", "confidence": 0.09}),
    );
    store_week(&mut agent, &WEEK);
    with_database(&home, LONG_AGO);
    with_database(
        &home,
        "INSERT OR REPLACE INTO meta(key, value) VALUES ('last_seen', '1600000000000')",
    );
    for command in [["cleanup", "--dry-run"], ["cleanup", "--yes"], ["compact", "--yes"]] {
        let stderr = refused(&home, &command);
        assert!(stderr.contains("the clock says") && stderr.contains("not trusted"), "{stderr}");
    }
    let counted = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!((&counted["forgotten"], &counted["compacted"]), (&json!(0), &json!(0)));
}

/// Ten years in milliseconds.
const TEN_YEARS: i64 = 10 * 365 * 86_400_000;

/// Moves everything that the store has recorded ten years back, which is the same as starting with a
/// clock ten years ahead.
fn move_ten_years_back(home: &TestHome) {
    let conn =
        rusqlite::Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    for change in [
        "UPDATE memories SET created_at = created_at - ?1, updated_at = updated_at - ?1, confidence_at = confidence_at - ?1",
        "UPDATE meta SET value = value - ?1 WHERE key IN ('last_seen', 'created_at')",
    ] {
        conn.execute(change, [TEN_YEARS]).expect("the statement runs");
    }
}

#[test]
fn a_run_shorter_than_a_housekeeping_tick_leaves_the_time_for_the_next_start() {
    for is_killed in [false, true] {
        let home = TestHome::without_model();
        let mut daemon = Daemon::start(&home, &mut home.command("locid"));
        let mut agent = home.session();
        agent.store_with(
            json!({"content": "Hardly worth keeping", "type": "episodic", "confidence": 0.09}),
        );
        signal(if is_killed { "-KILL" } else { "-TERM" }, [daemon.pid()]);
        daemon.wait_for_exit();
        drop(agent);
        move_ten_years_back(&home);
        for command in [["cleanup", "--dry-run"], ["cleanup", "--yes"]] {
            let stderr = refused(&home, &command);
            assert!(stderr.contains("the clock says"), "killed: {is_killed}: {stderr}");
        }
        let counted = home.session().call("memory_stats", json!({})).expect("the call succeeds");
        assert_eq!(counted["forgotten"], 0);
    }
}
