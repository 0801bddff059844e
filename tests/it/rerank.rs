//! A cross-encoder of the user's own orders the best results and decides about silence. The model is a tiny one (`onnx_model`).

use crate::home::{Agent, TestHome, models};
use crate::onnx_model::TinyCrossEncoder;
use crate::wire::wait_until;
use serde_json::{Value, json};

const TEXTS: [&str; 6] = [
    "The nightly backup of the database runs at two",
    "The backup of the mail server runs at four",
    "Backups are kept for two weeks",
    "Anna checks the backup of the database every Monday, says the harbor office",
    "The printer of the second floor needs toner",
    "Lunch is served at noon in the garden",
];
const QUERY: &str = "When does the backup of the database run?";

/// Writes a model that prefers texts with these words.
fn write_model(home: &TestHome, words: &[(&str, f32)]) {
    let tokenizer = models().join("all-MiniLM-L6-v2/tokenizer.json");
    let json = std::fs::read(tokenizer).expect("the tokenizer exists");
    TinyCrossEncoder::preferring(words, &json).write(&home.path("cross"), &json);
}

fn configure(home: &TestHome, keys: &str) {
    let path = home.path("cross");
    let path = path.display();
    home.configure_whole(&format!(
        "[retrieval]\nrerank = \"cross-encoder\"\nrerank_path = \"{path}\"\n{keys}\n[embedding]\ndownload = false\n"
    ));
    let output = home.loci(&["ctl", "restart"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn doctor(home: &TestHome) -> String {
    String::from_utf8_lossy(&home.loci(&["doctor"]).stdout).into_owned()
}

fn recall(agent: &mut Agent, limit: usize) -> Value {
    let arguments = json!({"query": QUERY, "max_results": limit, "dry_run": true, "explain": true});
    agent.call("recall_memory", arguments).expect("the call succeeds")
}

fn contents(reply: &Value) -> Vec<&str> {
    let results = reply["results"].as_array().expect("a JSON array").iter();
    results.filter_map(|result| result["content"].as_str()).collect()
}

#[test]
fn a_cross_encoder_orders_the_best_results_and_says_whether_they_answer() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", TEXTS);
    let before = recall(&mut agent, 2);
    assert_eq!(contents(&before)[0], TEXTS[0], "{before}");

    write_model(&home, &[("harbor", 3.0), ("mail", 1.0)]);
    configure(&home, "rerank_floor = 0.4");
    wait_until("the model is loaded", || doctor(&home).contains("the cross-encoder in"));
    let reply = recall(&mut agent, 2);
    // Its other tokens weigh nothing: the logistic function of 3.
    assert_eq!(contents(&reply), [TEXTS[3], TEXTS[1]], "{reply}");
    let best = &reply["results"][0];
    let score = best["score"].as_f64().expect("a number");
    assert!((score - 0.9526).abs() < 1e-3, "{reply}");
    let parts = best["why"]["parts"].as_array().expect("a JSON array");
    let sum: f64 = parts.iter().filter_map(|part| part["adds"].as_f64()).sum();
    assert!((sum - score).abs() < 1e-3, "{reply}");
    assert!(parts.iter().any(|part| part["step"] == "cross_encoder"), "{reply}");
    assert!(reply.get("weak").is_none(), "{reply}");

    // Every text has the logit 0 or less, so none is likely to answer.
    write_model(&home, &[("the", -4.0)]);
    configure(&home, "rerank_floor = 0.6");
    wait_until("the model is loaded", || doctor(&home).contains("the cross-encoder in"));
    let reply = recall(&mut agent, 5);
    assert_eq!(reply["weak"], true, "{reply}");
}

#[test]
fn without_its_files_results_have_the_order_of_the_search_and_say_so() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", TEXTS);
    let before = recall(&mut agent, 3);
    configure(&home, "");
    wait_until("the model is refused", || {
        doctor(&home).contains("the cross-encoder is not loaded")
    });
    let reply = recall(&mut agent, 3);
    assert_eq!(contents(&reply), contents(&before));
    assert!(reply["degraded"].to_string().contains("rerank"), "{reply}");
    assert!(doctor(&home).contains("tokenizer.json"), "{}", doctor(&home));
    let status = home.status();
    assert_eq!(status["degraded"], json!(["rerank"]), "{status}");
    assert!(status["warnings"].to_string().contains("tokenizer.json"), "{status}");
}

#[test]
fn a_cross_encoder_without_a_folder_is_refused_by_the_name_of_the_key() {
    let home = TestHome::new();
    home.configure_whole("[retrieval]\nrerank = \"cross-encoder\"\n");
    let output = home.loci(&["ctl", "restart"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && error.contains("retrieval.rerank_path"), "{error}");
}
