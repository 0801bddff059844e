//! The configuration of a running daemon: shown with the source of each value, and reloaded on
//! request.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

fn shown_config(home: &TestHome) -> Value {
    serde_json::from_slice(&home.loci(&["config", "show", "--json"]).stdout).expect("valid JSON")
}

fn key(shown_config: &Value, name: &str) -> Value {
    let keys = shown_config["keys"].as_array().expect("a JSON array");
    keys.iter()
        .find(|key| key["key"] == name)
        .unwrap_or_else(|| panic!("{name} is not shown: {shown_config}"))
        .clone()
}

fn reload(home: &TestHome) -> Result<Value, String> {
    let output = home.loci(&["ctl", "reload", "--json"]);
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(1));
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(serde_json::from_slice(&output.stdout).expect("valid JSON"))
}

#[test]
fn every_key_is_shown_with_its_source() {
    let home = TestHome::without_model().with("LOCI_LOG_LEVEL", "warn");
    home.configure_whole("# mine\n[retrieval]\nrrf_k = 30\n\n[server]\nlog_level = \"debug\"\n[ttl]\nepisodic = 60\n");
    let shown_config = shown_config(&home);
    assert_eq!(shown_config["exists"], true);
    assert!(shown_config["file"].as_str().expect("a JSON string").ends_with(".loci/config.toml"));
    assert_eq!(
        key(&shown_config, "retrieval.rrf_k"),
        json!({"key": "retrieval.rrf_k", "value": 30.0, "from": "config.toml:3"})
    );
    assert_eq!(key(&shown_config, "ttl.episodic")["from"], "config.toml:8");
    assert_eq!(
        key(&shown_config, "server.log_level"),
        json!({"key": "server.log_level", "value": "warn", "from": "LOCI_LOG_LEVEL"})
    );
    assert_eq!(key(&shown_config, "embedding.cache_dir")["from"], "LOCI_MODELS");
    assert_eq!(
        key(&shown_config, "retrieval.fusion"),
        json!({"key": "retrieval.fusion", "value": "soft", "from": "default"})
    );
    assert_eq!(
        key(&shown_config, "storage.db_path")["value"],
        home.path(".loci/memory.db").to_str().expect("the path is UTF-8")
    );
    let example =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../config.example.toml"))
            .expect("the file can be read");
    let count = example
        .lines()
        .filter(|line| {
            line.trim_start_matches("# ")
                .split_once(" = ")
                .is_some_and(|(key, _)| !key.contains(' '))
        })
        .count();
    assert_eq!(
        shown_config["keys"].as_array().expect("a JSON array").len(),
        count,
        "the example has the same number of keys"
    );
}

#[test]
fn a_variable_overrides_the_file_and_is_named_as_source() {
    let home = TestHome::without_model();
    let elsewhere = home.path("elsewhere.db");
    let home = home.with("LOCI_DB", &elsewhere);
    home.configure("[storage]\ndb_path = \"/nowhere/memory.db\"\n");
    assert_eq!(key(&shown_config(&home), "storage.db_path")["from"], "LOCI_DB");
    assert_eq!(
        key(&shown_config(&home), "storage.db_path")["value"],
        elsewhere.to_str().expect("the path is UTF-8")
    );
}

fn result_count(home: &TestHome) -> usize {
    let answer =
        home.session().call("recall_memory", json!({"query": "apple"})).expect("the call succeeds");
    answer["results"].as_array().expect("a JSON array").len()
}

fn home_with_three_memories() -> TestHome {
    let home = TestHome::without_model();
    home.session().store_all(
        "semantic",
        ["apple one", "apple two and a half", "apple three, which is the last of them all"],
    );
    home
}

#[test]
fn a_change_takes_effect_without_a_restart() {
    let home = home_with_three_memories();
    let pid = home.status()["pid"].clone();
    assert_eq!(result_count(&home), 3);
    home.configure("[retrieval]\ndefault_max_results = 2\n");
    assert_eq!(result_count(&home), 3, "the file is read only on request");
    let reply = reload(&home).expect("the reload succeeds");
    assert_eq!(
        reply["changed"],
        json!([{"key": "retrieval.default_max_results", "was": 5, "is": 2, "waits": false}])
    );
    assert_eq!(result_count(&home), 2);
    assert_eq!(key(&shown_config(&home), "retrieval.default_max_results")["from"], "config.toml:2");
    assert_eq!(reload(&home).expect("the reload succeeds")["changed"], json!([]));
    assert_eq!(home.status()["pid"], pid);
}

#[test]
fn an_invalid_file_is_refused_and_the_old_values_stay() {
    let home = home_with_three_memories();
    home.configure("[retrieval]\ndefault_max_results = 2\n");
    reload(&home).expect("the reload succeeds");
    for (text, expected) in [
        (
            "[retrieval]\ndefault_max_resluts = 1\n",
            "config.toml:2:1: unknown key retrieval.default_max_resluts. Did you mean default_max_results?",
        ),
        (
            "[retrieval]\ndefault_max_results = 0\n",
            "config.toml:2:1: retrieval.default_max_results must be from 1 to 20, not 0",
        ),
        ("[retrieval\n", "config.toml:1:"),
    ] {
        home.configure(text);
        let error = reload(&home).expect_err("the reload fails");
        assert!(error.replace("\nHint:", ".").contains(expected), "{error}");
        assert_eq!(result_count(&home), 2);
    }
}

#[test]
fn keys_that_need_a_restart_are_named() {
    let home = home_with_three_memories();
    home.configure("[storage]\ndefault_group = \"attic\"\n");
    let reply = reload(&home).expect("the reload succeeds");
    assert_eq!(
        reply["changed"],
        json!([{"key": "storage.default_group", "was": "default", "is": "attic", "waits": true}])
    );
    let pending_key = key(&shown_config(&home), "storage.default_group");
    assert_eq!(
        (&pending_key["value"], &pending_key["from"], &pending_key["waits"]),
        (&json!("default"), &json!("default"), &json!("attic"))
    );
    let stored_in = || {
        let mut command = home.command("loci");
        command.current_dir(home.path("")).args([
            "add",
            "In no project",
            "--type",
            "episodic",
            "--json",
        ]);
        assert!(command.output_in_time().expect("the command runs").status.success());
        let listed: Value =
            serde_json::from_slice(&home.loci(&["list", "--all-groups", "--json"]).stdout)
                .expect("valid JSON");
        listed["memories"][0]["group"].clone()
    };
    assert_eq!(stored_in(), "default");
    assert!(home.loci(&["ctl", "restart"]).status.success());
    assert_eq!(key(&shown_config(&home), "storage.default_group")["value"], "attic");
    assert_eq!(stored_in(), "attic");
}

#[test]
fn a_reload_names_the_keys_of_a_section_that_is_new_or_gone() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The kettle is red");
    home.configure("[groups.shop]\nwords = [\"Heron\"]\n");
    let changed = reload(&home).expect("the reload succeeds")["changed"].clone();
    let words = |changed: &Value| {
        let changed = changed.as_array().expect("a JSON array");
        changed.iter().find(|key| key["key"] == "groups.shop.words").cloned().expect("the key")
    };
    assert_eq!(words(&changed)["is"], json!(["Heron"]), "{changed}");
    home.configure("");
    let changed = reload(&home).expect("the reload succeeds")["changed"].clone();
    let gone = words(&changed);
    assert_eq!((&gone["was"], &gone["is"]), (&json!(["Heron"]), &json!(null)), "{changed}");
}

#[test]
fn the_log_level_changes_at_once() {
    let home = home_with_three_memories();
    home.configure("[server]\nlog_level = \"error\"\n");
    reload(&home).expect("the reload succeeds");
    let quiet = home.log().lines().count();
    reload(&home).expect("the reload succeeds");
    send_sighup(&home);
    home.loci(&["ctl", "stop"]);
    assert_eq!(home.log().lines().count(), quiet, "{}", home.log());
}

fn send_sighup(home: &TestHome) {
    let pid = i32::try_from(home.status()["pid"].as_i64().expect("the status has a pid"))
        .expect("the pid fits");
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGHUP)
        .expect("the signal is sent");
}

#[test]
fn sighup_reloads_the_configuration_and_sigusr1_does_nothing() {
    let home = home_with_three_memories();
    let pid = home.status()["pid"].clone();
    home.configure("[retrieval]\ndefault_max_results = 1\n");
    let process = nix::unistd::Pid::from_raw(
        i32::try_from(pid.as_i64().expect("the status has a pid")).expect("the pid fits"),
    );
    nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGUSR1).expect("the signal is sent");
    send_sighup(&home);
    let deadline = Instant::now() + Duration::from_secs(20);
    while result_count(&home) != 1 {
        assert!(Instant::now() < deadline, "{}", home.log());
    }
    home.configure("[retrieval]\nnonsense = 1\n");
    send_sighup(&home);
    while !home.log().contains("nonsense") {
        assert!(Instant::now() < deadline, "{}", home.log());
        home.status();
    }
    assert_eq!((result_count(&home), &home.status()["pid"]), (1, &pid));
}

#[test]
fn without_a_daemon_nothing_is_reloaded_and_none_is_started() {
    let home = TestHome::without_model();
    let refused = home.loci(&["ctl", "reload", "--json"]);
    assert_eq!(refused.status.code(), Some(3));
    let problem: Value = serde_json::from_slice(&refused.stdout).expect("valid JSON");
    assert_eq!(problem["error"]["code"], "unreachable");
    assert_eq!(home.loci(&["ctl", "status"]).status.code(), Some(3));
}
