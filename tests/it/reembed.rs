//! A change of the embedding model: another model takes over while sessions store and recall, and the earlier one comes back. The second
//! model is made by the tests (`onnx_model`) and runs in ONNX Runtime like any other.

use crate::home::{Agent, TestHome, models};

use crate::onnx_model::TinyModel;
use crate::wire::{kill_daemon, wait_until};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const KEYS: &str = "The spare keys hang behind the door";
const PINNED: &str = "all-MiniLM-L6-v2";

const QUESTIONS: [&str; 4] = [
    "Which room has the number 7?",
    "Where is the projector of room 12?",
    "who keeps the spare keys",
    "the meeting on Tuesday",
];

/// Returns the tokenizer of the pinned model.
fn bert_tokenizer() -> Vec<u8> {
    std::fs::read(models().join("all-MiniLM-L6-v2/tokenizer.json")).expect("the file exists")
}

/// Configures the model of a folder.
fn use_custom(home: &TestHome, folder: &Path) {
    let folder = folder.display();
    home.configure_whole(&format!(
        "[embedding]\ndownload = false\nmodel = \"custom\"\npath = \"{folder}\"\n"
    ));
}

fn use_pinned(home: &TestHome) {
    home.configure("");
}

fn restart(home: &TestHome) {
    let output = home.loci(&["ctl", "restart"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn text(number: usize) -> String {
    match number % 3 {
        0 => format!("Room {number} has a projector and {number} chairs"),
        1 => format!("The spare key of room {number} is with team {}", number * 7),
        _ => format!("Meeting {number} moved to Tuesday, floor {}", number % 9),
    }
}

fn store_texts(agent: &mut Agent, numbers: std::ops::Range<usize>) {
    for number in numbers {
        agent.store("semantic", &text(number));
    }
}

/// The results of one question: contents and scores, best first.
type Answer = Vec<(String, u64)>;

/// Answers of all questions, which must not be degraded.
fn answers(agent: &mut Agent) -> Vec<Answer> {
    let mut answers = Vec::new();
    for question in QUESTIONS {
        let arguments = json!({"query": question, "max_results": 8, "dry_run": true});
        let reply = agent.call("recall_memory", arguments).expect("the call succeeds");
        assert!(reply.get("degraded").is_none(), "{reply}");
        let results = reply["results"].as_array().expect("a JSON array").iter();
        let answer = results.map(|result| {
            let content = result["content"].as_str().expect("a JSON string").to_owned();
            (content, result["score"].as_f64().expect("a number").to_bits())
        });
        answers.push(answer.collect());
    }
    assert!(answers.iter().map(Answer::len).sum::<usize>() > QUESTIONS.len());
    answers
}

/// Asserts that each answer is the earlier or the later one; returns how many are the later one.
fn count_changed(now: &[Answer], before: &[Answer], after: &[Answer]) -> usize {
    let is_changed = |number: usize| {
        let answer = &now[number];
        assert!(*answer == before[number] || *answer == after[number], "{answer:?}");
        *answer == after[number]
    };
    (0..QUESTIONS.len()).filter(|number| is_changed(*number)).count()
}

/// Waits until the vectors of a model are used and no memories are being encoded; returns the model's id.
fn wait_for_model(home: &TestHome, is_expected: impl Fn(&str) -> bool) -> String {
    let mut id = String::new();
    wait_until("the model is in use", || {
        let status = home.status();
        // A daemon that has just started does not know the id of its model yet.
        status["model"]["id"].as_str().unwrap_or_default().clone_into(&mut id);
        is_expected(&id)
            && status.get("re_embedding").is_none()
            && status["model"]["state"] == "ready"
    });
    id
}

fn is_custom(id: &str) -> bool {
    id.starts_with("custom-")
}

fn export(home: &TestHome) -> Vec<u8> {
    let output = home.loci(&["export"]);
    assert!(output.status.success());
    output.stdout
}

fn reembed(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(&[&["re-embed", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

/// Returns the findings of `loci doctor` about a part that are not ok.
fn faults(home: &TestHome) -> Vec<(String, String, String)> {
    let output = home.loci(&["doctor", "--json"]);
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let findings = reply["findings"].as_array().expect("a JSON array").iter();
    findings
        .filter(|finding| finding["verdict"] != "ok" && finding["part"] != "disk")
        .map(|finding| (text(finding, "part"), text(finding, "found"), text(finding, "next_step")))
        .collect()
}

fn assert_healthy(home: &TestHome) {
    let faults = faults(home);
    assert!(faults.is_empty(), "{faults:?}");
}

/// Returns a home whose store was filled with the custom model from the start, and its answers.
fn fresh_answers(folder: &Path, count: usize) -> Vec<Answer> {
    let fresh = TestHome::new();
    use_custom(&fresh, folder);
    let mut agent = fresh.session();
    wait_for_model(&fresh, is_custom);
    store_texts(&mut agent, 0..count);
    let answers = answers(&mut agent);
    assert_healthy(&fresh);
    answers
}

/// Changes to the model of a folder while a session asks; returns whether the earlier vectors answered at first. If not, changes back and
/// deletes the vectors, so that the change can be made again.
fn change_model(
    home: &TestHome,
    agent: &mut Agent,
    folder: &Path,
    answered: [&[Answer]; 2],
) -> bool {
    use_custom(home, folder);
    // The next call starts the daemon again. Calls come first, so few memories are encoded at a time.
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let (mut served_first, mut changed, start) = (false, 0, Instant::now());
    while changed < QUESTIONS.len() {
        assert!(start.elapsed() < Duration::from_mins(1), "the model is not changed in time");
        let now = count_changed(&answers(agent), answered[0], answered[1]);
        assert!(now >= changed, "no answer goes back to the earlier vectors");
        (served_first, changed) = (served_first || now == 0, now);
    }
    if !served_first {
        use_pinned(home);
        restart(home);
        wait_for_model(home, |id| id == PINNED);
        assert_eq!(reembed(home, &["--drop-kept"])["kept"], json!([]));
    }
    served_first
}

#[test]
fn recalls_equal_those_before_until_the_change_and_then_those_of_a_fresh_store() {
    const COUNT: usize = 100;
    let home = TestHome::new();
    let folder = home.path("tiny");
    TinyModel { has_token_types: true, ..TinyModel::new(1) }.write(&folder, &bert_tokenizer());
    let mut agent = home.session();
    store_texts(&mut agent, 0..COUNT);
    let (before, exported) = (answers(&mut agent), export(&home));

    let after = fresh_answers(&folder, COUNT);
    assert!(before.iter().zip(&after).all(|(before, after)| before != after));
    // On a busy machine the change can be complete before the earlier model is loaded, and so before the first answer.
    let served_first = (0..10).any(|_| change_model(&home, &mut agent, &folder, [&before, &after]));
    assert!(served_first, "the earlier vectors served first");
    assert_eq!(answers(&mut agent), after);
    let id = wait_for_model(&home, is_custom);
    assert!(export(&home) == exported, "the export is equal byte for byte");
    assert_healthy(&home);

    // The earlier vectors are still there: the way back encodes nothing.
    let state = reembed(&home, &["--dry-run"]);
    assert_eq!(
        (&state["active"]["id"], &state["kept"][0]["id"], &state["to_encode"]),
        (&json!(id), &json!(PINNED), &json!(0)),
        "{state}"
    );
    use_pinned(&home);
    restart(&home);
    wait_for_model(&home, |id| id == PINNED);
    assert_eq!(answers(&mut agent), before);
    assert!(export(&home) == exported);
    assert_healthy(&home);
}

/// Stores and recalls until stopped; returns how many memories were stored.
fn store_and_recall(agent: &mut Agent, number: usize, is_done: &AtomicBool) -> usize {
    let mut stored = 0;
    while !is_done.load(Ordering::Acquire) {
        agent.store("episodic", &format!("Session {number} noted entry {stored} about lamps"));
        stored += 1;
        let arguments = json!({"query": "Which room has a projector?", "max_results": 3});
        let reply = agent.call("recall_memory", arguments).expect("the call succeeds");
        let found = reply["results"].as_array().expect("a JSON array");
        // A memory that was stored at the moment of the change is encoded a moment later, and the reply says so.
        let degraded = reply.get("degraded").unwrap_or(&Value::Null);
        assert!(*degraded == Value::Null || *degraded == json!(["vectors"]), "{reply}");
        assert!(!found.is_empty(), "{reply}");
    }
    stored
}

#[test]
fn sessions_store_and_recall_all_the_time_and_every_memory_is_in_the_new_set() {
    let home = TestHome::new();
    let folder = home.path("tiny");
    TinyModel::new(2).write(&folder, &bert_tokenizer());
    let mut agent = home.session();
    store_texts(&mut agent, 0..40);
    let is_done = AtomicBool::new(false);
    let stored: usize = std::thread::scope(|scope| {
        let busy: Vec<_> = (0..2)
            .map(|number| {
                let (mut agent, is_done) = (home.session(), &is_done);
                scope.spawn(move || store_and_recall(&mut agent, number, is_done))
            })
            .collect();
        use_custom(&home, &folder);
        restart(&home);
        wait_for_model(&home, is_custom);
        use_pinned(&home);
        restart(&home);
        wait_for_model(&home, |id| id == PINNED);
        is_done.store(true, Ordering::Release);
        busy.into_iter().map(|session| session.join().expect("the session ends")).sum()
    });
    let stats = |agent: &mut Agent| agent.call("memory_stats", json!({})).expect("is counted");
    wait_until("every memory has a vector", || stats(&mut agent)["without_vector"] == 0);
    assert_eq!(stats(&mut agent)["total_memories"], 40 + stored);
    assert_healthy(&home);
}

#[test]
fn a_daemon_that_is_killed_at_any_moment_of_the_change_completes_it() {
    const COUNT: usize = 200;
    let home = TestHome::new();
    let folder = home.path("tiny");
    TinyModel::new(3).write(&folder, &bert_tokenizer());
    let mut agent = home.session();
    store_texts(&mut agent, 0..COUNT);
    let before = answers(&mut agent);
    let after = fresh_answers(&folder, COUNT);
    use_custom(&home, &folder);
    restart(&home);
    let mut moments = HashSet::new();
    for _ in 0..6 {
        // Killed at a moment that no kill has met, or after the end. The call starts the daemon again.
        wait_until("another moment of the change", || {
            let status = home.status();
            let model = status["model"]["id"].as_str().unwrap_or_default().to_owned();
            let is_over = is_custom(&model);
            moments.insert((status["re_embedding"]["done"].to_string(), model)) || is_over
        });
        kill_daemon(&home);
        count_changed(&answers(&mut agent), &before, &after);
    }
    assert!(moments.len() > 1, "the kills met different moments: {moments:?}");
    assert!(!answers(&mut agent).is_empty());
    wait_for_model(&home, is_custom);
    assert_eq!(answers(&mut agent), after);
    assert_healthy(&home);
}

#[test]
fn without_the_files_of_the_earlier_model_keywords_serve_until_the_change() {
    let home = TestHome::new();
    let folder = home.path("tiny");
    TinyModel::new(4).write(&folder, &bert_tokenizer());
    use_custom(&home, &folder);
    let mut agent = home.session();
    let first = wait_for_model(&home, is_custom);
    store_texts(&mut agent, 0..40);
    let before = answers(&mut agent);
    // Another version in the same folder is another model.
    TinyModel::new(5).write(&folder, &bert_tokenizer());
    restart(&home);
    let reply = agent
        .call("recall_memory", json!({"query": "projector of room 12"}))
        .expect("the call succeeds");
    assert_eq!(reply["degraded"], json!(["embedding"]), "{reply}");
    assert!(reply["results"].to_string().contains("Room 12"), "{reply}");
    let second = wait_for_model(&home, |id| is_custom(id) && id != first);
    assert_ne!(answers(&mut agent), before);
    assert_healthy(&home);
    // The way back needs the earlier files.
    let refused = home.loci(&["re-embed", "--cancel"]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && stderr.contains("another version"), "{stderr}");
    assert_eq!(wait_for_model(&home, is_custom), second);
}

#[test]
fn a_model_that_cannot_be_used_is_reported_and_the_earlier_one_serves() {
    let home = TestHome::new();
    let folder = home.path("broken");
    let mut agent = home.session();
    store_texts(&mut agent, 0..10);
    let before = answers(&mut agent);
    TinyModel { dimensions: 768, ..TinyModel::new(6) }.write(&folder, &bert_tokenizer());
    use_custom(&home, &folder);
    restart(&home);
    assert_eq!(answers(&mut agent), before);
    let found = faults(&home);
    let (part, text, next_step) = &found[0];
    assert_eq!(part, "model", "{found:?}");
    for expected in ["embedding.path", "768 dimensions", "384"] {
        assert!(text.contains(expected), "{expected}: {found:?}");
    }
    assert!(next_step.contains("embedding.path"), "{found:?}");
    let refused = home.loci(&["re-embed"]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && stderr.contains("768 dimensions"), "{stderr}");

    let whole = TinyModel::new(6).bytes();
    std::fs::write(folder.join("model.onnx"), &whole[..whole.len() / 2]).expect("is written");
    restart(&home);
    assert_eq!(answers(&mut agent), before);
    let found = faults(&home);
    assert!(
        found[0].1.contains("embedding.path") && found[0].1.contains("model.onnx"),
        "{found:?}"
    );

    std::fs::remove_file(folder.join("tokenizer.json")).expect("the file is removed");
    restart(&home);
    assert_eq!(answers(&mut agent), before);
    let found = faults(&home);
    assert!(found[0].1.contains("tokenizer.json: the file is missing"), "{found:?}");

    // A store that has no vectors of another model is searched by keywords.
    let empty = TestHome::new();
    use_custom(&empty, &folder);
    let mut agent = empty.session();
    let stored = agent.store_with(json!({"content": KEYS, "type": "semantic"}));
    assert_eq!(stored["degraded"], json!(["embedding"]));
    assert!(stored["hint"].to_string().contains("embedding.path"), "{stored:?}");
    TinyModel::new(6).write(&folder, &bert_tokenizer());
    let looked = empty.loci(&["model", "download"]);
    assert!(looked.status.success(), "{}", String::from_utf8_lossy(&looked.stderr));
    wait_for_model(&empty, is_custom);
    let stats = |agent: &mut Agent| agent.call("memory_stats", json!({})).expect("is counted");
    wait_until("the memory has a vector", || stats(&mut agent)["without_vector"] == 0);
}

#[test]
fn the_command_encodes_again_cancels_and_drops_what_is_kept() {
    let home = TestHome::new();
    let folder = home.path("tiny");
    TinyModel::new(7).write(&folder, &bert_tokenizer());
    let mut agent = home.session();
    store_texts(&mut agent, 0..12);
    let before = answers(&mut agent);
    let state = reembed(&home, &["--dry-run"]);
    assert_eq!((&state["to_encode"], &state["kept"]), (&json!(0), &json!([])), "{state}");
    assert_eq!(reembed(&home, &["--dry-run", "--force"])["to_encode"], 12);
    let state = reembed(&home, &["--force", "--wait"]);
    assert_eq!((&state["active"]["id"], &state["kept"][0]["id"]), (&json!(PINNED), &json!(PINNED)));
    assert_eq!(answers(&mut agent), before, "the same model gives the same vectors");
    assert_eq!(reembed(&home, &["--drop-kept"])["kept"], json!([]));

    use_custom(&home, &folder);
    restart(&home);
    let state = reembed(&home, &["--wait"]);
    assert!(is_custom(state["active"]["id"].as_str().expect("a JSON string")), "{state}");
    assert_ne!(answers(&mut agent), before);
    let state = reembed(&home, &["--cancel", "--wait"]);
    assert_eq!((&state["active"]["id"], &state["declined"]), (&json!(PINNED), &json!(true)));
    assert_eq!(answers(&mut agent), before);
    restart(&home);
    assert_eq!(answers(&mut agent), before, "the declined model stays unused");
    let found = faults(&home);
    assert!(found[0].1.contains("not of the configured model"), "{found:?}");
    let state = reembed(&home, &["--wait"]);
    assert!(is_custom(state["active"]["id"].as_str().expect("a JSON string")), "{state}");
    let shown = home.loci(&["re-embed", "--dry-run"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("are kept until") && shown.contains(PINNED), "{shown}");
}
