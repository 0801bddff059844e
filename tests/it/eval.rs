//! `loci eval`: measures a store with questions whose answers are known, without side effects.

use crate::home::TestHome;
use serde_json::{Value, json};

const NOTES: [&str; 6] = [
    "The nightly backup of the database runs at two o'clock and keeps fourteen copies",
    "Customers complain when invoices arrive late in the month",
    "The office plants are watered by the caretaker every Monday morning",
    "Error E4017 in the importer means that the file has a byte order mark",
    "Marta prefers video calls to long threads of letters",
    "The mobile app caches map tiles for a whole week",
];

fn eval(home: &TestHome, more: &[&str]) -> Value {
    let arguments: Vec<&str> = ["eval", "--json"].iter().chain(more).copied().collect();
    let output = home.loci(&arguments);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

/// Returns the figures without times, which differ from run to run.
fn figures(mut reply: Value) -> Value {
    reply.as_object_mut().expect("a JSON object").remove("encode_latency");
    let runs = reply["runs"].as_array_mut().expect("a JSON array").iter_mut();
    runs.for_each(|run| drop(run.as_object_mut().expect("a JSON object").remove("search_latency")));
    reply
}

/// Recalls previews, then reads the memory with this text in full.
fn read_after_preview(agent: &mut crate::home::Agent, query: &str, text: &str) -> Value {
    let previewed = agent
        .call("recall_memory", json!({"query": query, "summary_only": true}))
        .expect("the call succeeds");
    let results = previewed["results"].as_array().expect("a JSON array");
    let is_preview_of_text = |result: &&Value| {
        result["preview"].as_str().is_some_and(|preview| text.starts_with(preview))
    };
    let id =
        results.iter().find(is_preview_of_text).expect("the memory is previewed")["id"].clone();
    agent.call("recall_memory", json!({"ids": [id]})).expect("the call succeeds");
    id
}

#[test]
fn a_memory_read_after_its_preview_is_a_known_answer_until_its_hard_delete() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("episodic", NOTES);
    read_after_preview(&mut agent, "Who takes care of our greenery?", NOTES[2]);
    let id = read_after_preview(&mut agent, "clients unhappy about slow billing", NOTES[1]);
    read_after_preview(&mut agent, "clients unhappy about slow billing", NOTES[1]);
    let reply = figures(eval(&home, &["--probes", "0"]));
    assert_eq!((&reply["known"], &reply["probes"]), (&json!(2), &json!(0)));
    assert_eq!(
        reply["runs"][0]["known"],
        json!({"recall_at_1": 1.0, "recall_at_5": 1.0, "recall_at_10": 1.0, "mrr": 1.0})
    );
    // Read in full by a query, or by an id that no preview showed: no feedback.
    agent.recall("backup");
    agent
        .call("recall_memory", json!({"query": "backup", "summary_only": true, "dry_run": true}))
        .expect("the call succeeds");
    assert_eq!(eval(&home, &["--probes", "0"])["known"], 2);
    agent
        .call("forget_memory", json!({"memory_id": id, "hard_delete": true}))
        .expect("the call succeeds");
    assert_eq!(eval(&home, &["--probes", "0"])["known"], 1);
    let database = home.path(".loci/memory.db");
    for file in [database.clone(), database.with_extension("db-wal")] {
        let bytes = std::fs::read(file).unwrap_or_default();
        assert!(
            !bytes.windows(15).any(|window| window == b"clients unhappy"),
            "the hard delete left the query in the file"
        );
    }
}

#[test]
fn eval_compares_two_settings_with_the_same_questions_and_counts_no_access() {
    let home = TestHome::new();
    let mut agent = home.session();
    let ids: Vec<String> = NOTES.iter().map(|note| agent.store("episodic", note)).collect();
    let arguments = [
        "--probes",
        "5",
        "--seed",
        "3",
        "--set",
        "retrieval.fusion=weighted",
        "--set",
        "retrieval.vector_weight=0",
    ];
    let reply = figures(eval(&home, &arguments));
    assert_eq!(reply, figures(eval(&home, &arguments)));
    assert_eq!((&reply["probes"], &reply["known"]), (&json!(5), &json!(0)));
    assert_eq!(
        reply["runs"][1]["set"],
        json!(["retrieval.fusion=weighted", "retrieval.vector_weight=0"])
    );
    assert_eq!(reply["runs"][0]["probes"]["recall_at_5"], 1.0, "{reply}");
    for id in &ids {
        let shown =
            agent.call("memory_inspect", json!({"memory_id": id})).expect("the call succeeds");
        assert_eq!(shown["memory"]["access_count"], 0);
    }
    let config = home.loci(&["config", "show", "--json"]);
    assert!(
        String::from_utf8_lossy(&config.stdout).contains("\"soft\""),
        "the configuration is unchanged"
    );
}

#[test]
fn keywords_alone_find_less_where_no_word_is_shared() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("episodic", NOTES);
    read_after_preview(&mut agent, "Who takes care of our greenery?", NOTES[2]);
    let set = [
        "--probes",
        "0",
        "--set",
        "retrieval.fusion=weighted",
        "--set",
        "retrieval.vector_weight=0",
    ];
    let reply = eval(&home, &set);
    assert_eq!(
        (&reply["runs"][0]["known"]["mrr"], &reply["runs"][1]["known"]["mrr"]),
        (&json!(1.0), &json!(0.0)),
        "{reply}"
    );
}

#[test]
fn an_invalid_eval_setting_is_refused_by_name() {
    let home = TestHome::without_model();
    for (set, expected) in [
        ("fusion", "set must be KEY=VALUE"),
        ("maintenance.enabled=true", "names a key that ranking does not use"),
        ("retrieval.fusion=best", "retrieval.fusion must be one of soft, weighted, rrf"),
    ] {
        let output = home.loci(&["eval", "--set", set]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(1) && error.contains(expected), "{error}");
    }
    let twice = ["eval", "--set", "retrieval.fusion=rrf", "--set", "retrieval.fusion=weighted"];
    let output = home.loci(&twice);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && error.contains("set has retrieval.fusion twice"),
        "{error}"
    );
    assert_eq!(home.loci(&["eval", "--probes", "2001"]).status.code(), Some(2));
}
