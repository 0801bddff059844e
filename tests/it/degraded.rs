//! Without a model: search uses keywords and replies say so; vectors are added once a model is
//! installed.

use crate::home::{TestHome, models};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

#[test]
fn without_a_model_keywords_find_and_every_recall_says_so() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let stored = agent.store_with(
        json!({"content": "The parking permit is in the blue folder", "type": "semantic"}),
    );
    assert_eq!(stored["degraded"], json!(["embedding"]));
    let answer = agent
        .call("recall_memory", json!({"query": "Where is the parking permit?"}))
        .expect("the call succeeds");
    assert_eq!(answer["results"][0]["content"], "The parking permit is in the blue folder");
    assert_eq!(answer["degraded"], json!(["embedding"]));
    let hint = answer["hint"].as_str().expect("a JSON string");
    assert!(hint.contains("loci model download") && !hint.contains('\n'), "{hint}");
    let status = home.status();
    assert_eq!(
        (&status["model"]["state"], &status["degraded"]),
        (&json!("missing"), &json!(["embedding"]))
    );
    assert_eq!(
        agent.call("memory_stats", json!({})).expect("the call succeeds")["without_vector"],
        1
    );
}

#[test]
fn a_truncated_model_is_reported_and_keywords_still_find() {
    let home = TestHome::without_model();
    copy_model(&models(), &home.path("models"));
    let weights = home.path("models/all-MiniLM-L6-v2/model.safetensors");
    let file = std::fs::OpenOptions::new().write(true).open(&weights).expect("the file opens");
    file.set_len(1_000_000).expect("the file is truncated");
    let mut agent = home.session();
    agent.store("semantic", "The spare key hangs behind the door");
    let answer =
        agent.call("recall_memory", json!({"query": "spare key"})).expect("the call succeeds");
    assert_eq!(
        (answer["results"].as_array().expect("a JSON array").len(), &answer["degraded"]),
        (1, &json!(["embedding"]))
    );
    assert!(answer["hint"].as_str().expect("a JSON string").contains("loci model download"));
}

#[test]
fn a_memory_stored_without_a_model_gets_its_vector_when_the_model_is_installed() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("episodic", "The vet prescribed drops for the cat's left eye");
    copy_model(&models(), &home.path("models"));
    let found = home.loci(&["model", "download"]);
    assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr));
    // The daemon loads the model after `reload`, and encodes; recall until it has.
    let (question, start) =
        (json!({"query": "medicine for a pet's vision problem"}), Instant::now());
    let answers = std::iter::repeat_with(|| {
        agent.call("recall_memory", question.clone()).expect("the call succeeds")
    });
    let answered =
        answers.take_while(|_| start.elapsed() < Duration::from_mins(1)).find(|answer| {
            let by_meaning =
                answer["results"].as_array().is_some_and(|results| !results.is_empty());
            by_meaning && answer.get("degraded").is_none()
        });
    assert!(answered.is_some(), "no vector was added: {}", home.log());
    assert_eq!(
        agent.call("memory_stats", json!({})).expect("the call succeeds")["without_vector"],
        0
    );
}

#[test]
fn a_recall_says_that_imported_memories_are_not_encoded_yet() {
    let home = TestHome::new().with("LOCI_GROUP", "shop");
    let mut agent = home.session();
    let line = |n: usize| {
        json!({"kind": "memory", "id": format!("01953a2b-7c1e-7000-8000-{n:012}"), "type": "episodic", "scope": "group", "group": "shop",
            "status": "active", "status_at": 1_760_000_000_000_i64, "confidence": 1.0, "confidence_at": 1_760_000_000_000_i64,
            "created_at": 1_760_000_000_000_i64, "updated_at": 1_760_000_000_000_i64,
            "content": format!("Box {n} in the cellar holds {} jars of plums", n * 7)})
        .to_string()
    };
    let header = json!({"loci": "export", "version": 2}).to_string();
    let group =
        json!({"kind": "group", "id": "shop", "name": "shop", "created_at": 1_760_000_000_000_i64});
    let head = [header, group.to_string()].into_iter();
    let mut lines: Vec<String> = head.chain((0..300).map(line)).collect();
    lines.push(json!({"kind": "end", "lines": 302}).to_string());
    let file = home.path("boxes.jsonl");
    std::fs::write(&file, lines.join("\n") + "\n").expect("the file is written");
    agent.store("episodic", "Plums are in the cellar");
    let path = file.to_str().expect("the path is UTF-8");
    let imported = home.loci(&["import", path]);
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let query = json!({"query": "Where are the plums?"});
    let first = agent.call("recall_memory", query.clone()).expect("the call succeeds");
    assert_eq!(first["degraded"], json!(["vectors"]), "{first}");
    assert!(first["hint"].as_str().is_some_and(|hint| hint.contains("not encoded yet")), "{first}");
    let start = Instant::now();
    let encoded = std::iter::repeat_with(|| {
        agent.call("recall_memory", query.clone()).expect("the call succeeds")
    })
    .take_while(|_| start.elapsed() < Duration::from_mins(1))
    .find(|answer| answer.get("degraded").is_none());
    assert!(encoded.is_some(), "the memories were not encoded: {}", home.log());
}

/// Copies the files, since the runtime refuses linked weights.
fn copy_model(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("the folder can be listed") {
        let entry = entry.expect("the entry can be read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("the file has a type").is_dir() {
            std::fs::create_dir_all(&target).expect("the folder is created");
            copy_model(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), &target).expect("the file is copied");
        }
    }
}
