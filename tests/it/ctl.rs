//! `loci ctl` as a person uses it while agents work.

use crate::home::{Agent, TestHome};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn ps_lists_the_agents_with_what_their_shims_cost() {
    let home = TestHome::without_model();
    let mut agent = home.session_in("garden");
    agent.store("semantic", "Named");
    let table = String::from_utf8(home.loci(&["ctl", "ps"]).stdout).expect("the output is UTF-8");
    let row = table.lines().nth(1).expect("the table has a row");
    for part in ["it 1", "garden", &agent.pid().to_string(), "MiB"] {
        assert!(row.contains(part), "{part} in {table}");
    }
    let rows: Value =
        serde_json::from_slice(&home.loci(&["ctl", "ps", "--json"]).stdout).expect("valid JSON");
    assert_eq!(
        (&rows[0]["session"]["group"], &rows[0]["session"]["calls"]),
        (&json!("garden"), &json!(1))
    );
    assert!(rows[0]["rss_kib"].as_u64().expect("a JSON number") > 0);
}

#[test]
fn a_restart_replaces_the_daemon_and_the_session_continues() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Before the restart");
    let first = home.status()["pid"].clone();
    assert!(home.loci(&["ctl", "restart"]).status.success());
    assert_ne!(home.status()["pid"], first);
    assert_eq!(agent.recall("restart"), ["Before the restart"]);
}

#[test]
fn a_stop_succeeds_even_if_an_agent_starts_the_daemon_again() {
    let home = TestHome::without_model();
    let done = Arc::new(AtomicBool::new(false));
    let busy = [home.session(), home.session()].map(|mut agent| {
        let done = Arc::clone(&done);
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                agent.call("memory_stats", json!({})).expect("the call succeeds");
            }
        })
    });
    for _ in 0..3 {
        let (before, stopped) = (home.status()["pid"].clone(), home.loci(&["ctl", "stop"]));
        let output_text = String::from_utf8_lossy(&stopped.stdout).into_owned()
            + &String::from_utf8_lossy(&stopped.stderr);
        assert!(
            stopped.status.success() && output_text.starts_with("locid has stopped"),
            "{output_text}"
        );
        assert!(home.loci(&["ctl", "start"]).status.success());
        assert_ne!(home.status()["pid"], before);
    }
    done.store(true, Ordering::Relaxed);
    for agent in busy {
        agent.join().expect("the thread does not panic");
    }
}

#[test]
fn a_hold_lasts_until_start_and_each_call_says_so() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Before the hold");
    assert!(home.loci(&["ctl", "stop", "--hold"]).status.success());
    let error = agent.call("memory_stats", json!({})).expect_err("the call fails");
    assert!(error.contains("--hold") && error.contains("loci ctl start"), "{error}");
    assert_eq!(home.loci(&["ctl", "status"]).status.code(), Some(3));
    let mut late = Agent::bare(home.command("loci").arg("mcp"));
    assert!(
        late.request("tools/list", json!({}))["result"]["tools"].is_array(),
        "a new session has its tools"
    );
    assert!(home.loci(&["ctl", "start"]).status.success());
    assert_eq!(agent.recall("hold"), ["Before the hold"]);
}

#[test]
fn a_drained_daemon_exits_and_the_next_call_starts_another() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Before the drain");
    assert!(home.loci(&["ctl", "drain"]).status.success());
    assert_eq!(agent.recall("drain"), ["Before the drain"]);
}

#[test]
fn a_restart_with_a_broken_configuration_is_refused_and_the_daemon_goes_on() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "Stored before the restart");
    let before = home.status()["pid"].clone();
    home.configure_whole("[maintenance]\nenabled = \"maybe\"\n");
    for command in [&["ctl", "restart"][..], &["model", "use", "fast"]] {
        let output = home.loci(command);
        let said = crate::home::printed(&output);
        assert!(!output.status.success(), "{said}");
        let mistake = "config.toml:2:11: maintenance.enabled";
        assert!(said.contains(mistake), "{command:?}: {said}");
        assert_eq!(home.status()["pid"], before, "{command:?}");
    }
    assert_eq!(agent.recall("restart").len(), 1);
    let said = crate::home::printed(&home.loci(&["doctor"]));
    assert!(said.contains("config.toml:2:11: maintenance.enabled"), "{said}");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let findings = crate::home::printed(&home.loci(&["doctor"]));
    let line = findings.lines().find(|line| line.starts_with("fail  config"));
    assert!(line.is_some_and(|line| line.contains("maintenance.enabled")), "{findings}");
    assert!(!findings.contains("model download"), "{findings}");
}
