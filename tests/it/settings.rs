//! Each configuration key has an effect: two runs that differ only in that key.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use serde_json::{Value, json};

fn home_with(config: &str) -> TestHome {
    let home = TestHome::without_model();
    home.configure(config);
    home
}

fn recall_three(home: &TestHome) -> Value {
    let mut agent = home.session();
    for text in ["apple one", "apple two and a half", "apple three, which is the last of them all"]
    {
        agent.store("semantic", text);
    }
    agent.call("recall_memory", json!({"query": "apple"})).expect("the call succeeds")
}

#[test]
fn default_max_results_limits_the_results() {
    let count = |config| {
        recall_three(&home_with(config))["results"].as_array().expect("a JSON array").len()
    };
    assert_eq!(count(""), 3);
    assert_eq!(count("[retrieval]\ndefault_max_results = 2\n"), 2);
}

#[test]
fn recall_token_budget_limits_full_texts() {
    let left_out = |config| recall_three(&home_with(config)).get("omitted_count").is_some();
    assert!(!left_out(""));
    assert!(left_out("[retrieval]\nrecall_token_budget = 60\n"));
}

#[test]
fn preload_token_budget_limits_previews() {
    let left_out = |config| {
        let home = home_with(config);
        recall_three(&home);
        let answer = home
            .session()
            .call("recall_memory", json!({"query": "apple", "summary_only": true}))
            .expect("the call succeeds");
        answer.get("omitted_count").is_some()
    };
    assert!(!left_out(""));
    assert!(left_out("[retrieval]\npreload_token_budget = 80\n"));
}

#[test]
fn fusion_and_rrf_k_change_the_score() {
    let best = |config| {
        recall_three(&home_with(config))["results"][0]["score"].as_f64().expect("a JSON number")
    };
    assert!((best("[retrieval]\nfusion = \"rrf\"\n") - 1.0 / 61.0).abs() < 1e-4);
    assert!((best("[retrieval]\nfusion = \"rrf\"\nrrf_k = 9\n") - 0.1).abs() < 1e-4);
    assert!((best("") - 1.0 / 61.0).abs() > 1e-3);
}

#[test]
fn vector_weight_changes_the_order() {
    let first = |weight: &str| {
        let home = TestHome::new();
        home.configure(&format!("[retrieval]\nfusion = \"weighted\"\nvector_weight = {weight}\n"));
        let mut agent = home.session();
        agent.store_all(
            "semantic",
            [
                "The vet prescribed drops for the cat's left eye",
                "Problem: the vision statement of the marketing department",
            ],
        );
        agent.recall("medicine for a pet's vision problem").remove(0)
    };
    assert!(first("0.0").starts_with("Problem"), "keywords decide");
    assert!(first("1.0").starts_with("The vet"), "the vector decides");
}

#[test]
fn a_ttl_applies_to_its_type_only() {
    let ends = |config: &str, kind: &str| {
        let home = home_with(config);
        home.session()
            .store_with(json!({"content": "It expires", "type": kind, "metadata": {"name": "It"}}))
            .get("expires_at")
            .cloned()
    };
    for kind in ["episodic", "semantic", "procedural", "entity"] {
        let other = if kind == "entity" { "episodic" } else { "entity" };
        assert_eq!(ends(&format!("[ttl]\n{other} = 3600\n"), kind), None, "{kind}");
        assert!(ends(&format!("[ttl]\n{kind} = 3600\n"), kind).is_some(), "{kind}");
    }
}

#[test]
fn cache_dir_is_the_models_folder() {
    let degraded = |config: &str| {
        let home = TestHome::without_model().with("LOCI_MODELS", "");
        home.configure_whole(&format!("[embedding]\ndownload = false\n{config}"));
        home.session()
            .store_with(json!({"content": "Where is the model?", "type": "semantic"}))
            .contains_key("degraded")
    };
    assert!(degraded(""));
    assert!(!degraded(&format!("cache_dir = \"{}\"\n", crate::home::models().display())));
}

#[test]
fn download_fetches_the_model_at_first_use() {
    let is_downloaded = |download: bool| {
        let home = TestHome::without_model();
        // It accepts the connection and stays silent, so that the download is still running when
        // the reply comes.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = silent.local_addr().expect("the listener has an address").port();
        home.configure_whole(&format!(
            "[embedding]\ndownload = {download}\nurl = \"http://127.0.0.1:{port}/\"\n"
        ));
        let home = home.with("PATH", "/nowhere");
        let stored = home
            .session()
            .store_with(json!({"content": "Is the model downloaded?", "type": "semantic"}));
        stored["hint"].as_str().expect("a JSON string").contains("being downloaded")
    };
    assert!(!is_downloaded(false));
    assert!(is_downloaded(true));
}

#[test]
fn dedup_threshold_decides_what_is_merged() {
    let merged = |config: &str| {
        let home = TestHome::new();
        home.configure(config);
        let mut agent = home.session();
        agent.store("semantic", "The user prefers dark roast coffee");
        agent.store_with(
            json!({"content": "The user prefers a dark roast coffee", "type": "semantic"}),
        )["deduplicated"]
            .clone()
    };
    assert_eq!(merged(""), true);
    assert_eq!(merged("[retrieval]\ndedup_threshold = 1.0\n"), false);
}

#[test]
fn default_group_applies_to_sessions_without_a_project() {
    let seen_in = |config: &str, group: &str| {
        let home = home_with(config);
        let mut agent = home.session_in(".");
        agent.store("episodic", "Stored in no project");
        let answer = agent.call("recall_memory", json!({"query": "stored", "group": group}));
        answer.map(|answer| answer["results"].as_array().expect("a JSON array").len())
    };
    let attic = "[storage]\ndefault_group = \"attic\"\n";
    assert_eq!(seen_in("", "default"), Ok(1));
    assert_eq!(seen_in(attic, "attic"), Ok(1));
    let error = seen_in(attic, "default").expect_err("nothing is stored there");
    assert!(error.starts_with("not_found: group names no project: default"), "{error}");
}

#[test]
fn db_path_moves_the_database() {
    let home = home_with("[storage]\ndb_path = \"~/elsewhere/memories.db\"\n");
    home.session().store("semantic", "It is somewhere else");
    assert!(
        home.status()["database"]
            .as_str()
            .expect("a JSON string")
            .ends_with("elsewhere/memories.db")
    );
    assert!(home.path("elsewhere/memories.db").exists() && !home.path(".loci/memory.db").exists());
}

#[test]
fn variables_of_another_program_have_no_effect() {
    let home = TestHome::without_model();
    let other = home.path("other.db");
    let home = home.with("LOCI_MEMORY_DB", &other).with("LOCI_MEMORY_GROUP", "other");
    let mut agent = home.session();
    agent.store("episodic", "Of the project that the folder says");
    assert!(!other.exists() && home.path(".loci/memory.db").exists());
    let elsewhere = agent.call("recall_memory", json!({"query": "project", "group": "other"}));
    let error = elsewhere.expect_err("there is no such project");
    assert!(error.starts_with("not_found: group"), "{error}");
}

#[test]
fn log_level_reduces_the_log() {
    let lines = |config| {
        let home = home_with(config);
        drop(home.session());
        home.log().lines().count()
    };
    assert!(lines("[server]\nlog_level = \"error\"\n") < lines(""));
}

#[test]
fn an_unknown_key_is_refused_with_its_position_and_the_session_survives() {
    let home = home_with("[retrieval]\nrrf_kk = 5\n");
    let run = home.command("locid").output_in_time().expect("the command runs");
    assert_eq!(run.status.code(), Some(78));
    let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(stderr.contains("config.toml:2:1") && stderr.contains("rrf_kk"), "{stderr}");
    home.configure("");
    home.session().store("semantic", "Mended");
}
