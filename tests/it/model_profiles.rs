//! The models that `embedding.model` selects by name, through the real programs: files from a folder, a change to each while sessions recall,
//! and the way back. Models without a pinned file are tiny ones of the same shape (`onnx_model`).

use crate::home::{Agent, TestHome, fetch_model, models};
use crate::onnx_model::{TinyModel, unigram_tokenizer};
use crate::wire::wait_until;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::os::unix::fs::symlink;
use std::path::Path;

const PINNED: &str = "all-MiniLM-L6-v2";
const TEXTS: [&str; 5] = [
    "The spare keys hang behind the door",
    "Zapasowe klucze wiszą za drzwiami",
    "备用钥匙挂在门后",
    "The projector of room 12 is broken",
    "Meetings moved to Tuesday, floor 3",
];

/// Returns a home with a models folder of its own, in which the pinned files are links to those of this machine.
fn home_with_links() -> TestHome {
    let home = TestHome::without_model();
    for entry in std::fs::read_dir(models()).expect("the folder exists").flatten() {
        if entry.path().is_dir() {
            symlink(entry.path(), home.path("models").join(entry.file_name())).expect("is linked");
        }
    }
    home
}

fn use_model(home: &TestHome, model: &str) {
    home.configure_whole(&format!("[embedding]\ndownload = false\n{model}\n"));
    let output = home.loci(&["ctl", "restart"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Waits until the vectors of a model are used and no memories are being encoded; recalls without a gap meanwhile. Returns the model, and the
/// models that replies named meanwhile.
fn wait_for_model(
    home: &TestHome,
    agent: &mut Agent,
    is_expected: impl Fn(&str) -> bool,
) -> (String, HashSet<String>) {
    let (mut id, mut named) = (String::new(), HashSet::new());
    wait_until("the model is in use", || {
        let arguments = json!({"query": "Where are the spare keys?", "dry_run": true});
        let reply = agent.call("recall_memory", arguments).expect("the call succeeds");
        assert!(reply["results"].as_array().is_some_and(|results| !results.is_empty()), "{reply}");
        named.extend(reply["model"].as_str().map(str::to_owned));
        let status = home.status();
        status["model"]["id"].as_str().unwrap_or_default().clone_into(&mut id);
        is_expected(&id)
            && status.get("re_embedding").is_none()
            && status["model"]["state"] == "ready"
    });
    (id, named)
}

/// Returns contents and scores of the results, best first.
fn answer(agent: &mut Agent, query: &str) -> Vec<(String, u64)> {
    let arguments = json!({"query": query, "max_results": 5, "dry_run": true});
    let reply = agent.call("recall_memory", arguments).expect("the call succeeds");
    let results = reply["results"].as_array().expect("a JSON array").iter();
    let pair = |result: &Value| {
        let content = result["content"].as_str().expect("a JSON string").to_owned();
        (content, result["score"].as_f64().expect("a number").to_bits())
    };
    results.map(pair).collect()
}

fn model_status(home: &TestHome) -> Value {
    let output = home.loci(&["model", "status", "--json"]);
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

/// Installs a model from a folder.
fn install(home: &TestHome, from: &Path) {
    let from = from.to_str().expect("the path is UTF-8");
    let output = home.loci(&["model", "download", "--from", from]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let status = model_status(home);
    assert_eq!(status["complete"], true, "{status}");
    let files = status["files"].as_array().expect("a JSON array");
    let unpinned = files.iter().filter(|file| file["unpinned"] == true).count();
    assert_eq!(unpinned, 2, "{status}");
}

#[test]
fn a_store_changes_to_the_large_model_and_back() {
    let home = home_with_links();
    let mut agent = home.session();
    agent.store_all("semantic", TEXTS);
    let before = answer(&mut agent, "Where are the spare keys?");

    let bert = std::fs::read(models().join(PINNED).join("tokenizer.json")).expect("it exists");
    let tiny = TinyModel { has_token_types: true, ..TinyModel::new(21) };
    TinyModel { dimensions: 768, ..tiny }.write(&home.path("from-large"), &bert);
    let mut ids: Vec<String> = Vec::new();
    for (model, start, from) in [
        ("model = \"large\"", "large-", "from-large"),
        ("model = \"large\"\ndimensions = 384", "large-", "from-large"),
    ] {
        use_model(&home, model);
        install(&home, &home.path(from));
        use_model(&home, model);
        let is_new = |id: &str| id.starts_with(start) && ids.iter().all(|earlier| earlier != id);
        let (id, _) = wait_for_model(&home, &mut agent, is_new);
        let now = answer(&mut agent, "Where are the spare keys?");
        assert_ne!(now, before, "{id}");
        wait_until("every memory has a vector", || {
            agent.call("memory_stats", json!({})).expect("is counted")["without_vector"] == 0
        });
        ids.push(id);
    }

    use_model(&home, "model = \"minilm\"");
    wait_for_model(&home, &mut agent, |id| id == PINNED);
    assert_eq!(answer(&mut agent, "Where are the spare keys?"), before);
}

#[test]
fn a_changed_file_of_a_model_with_a_name_is_refused_and_the_earlier_model_serves() {
    let home = home_with_links();
    let mut agent = home.session();
    agent.store_all("semantic", TEXTS);
    let before = answer(&mut agent, "Where are the spare keys?");
    let tiny = |seed| TinyModel { dimensions: 768, ..TinyModel::new(seed) };
    tiny(22).write(&home.path("from"), &unigram_tokenizer(&TEXTS));
    home.configure_whole("[embedding]\ndownload = false\nmodel = \"large\"\n");
    install(&home, &home.path("from"));
    let file = home.path("models/nomic-embed-text-v1.5/model.onnx");
    std::fs::write(file, tiny(23).bytes()).expect("the file is written");
    use_model(&home, "model = \"large\"");
    wait_until("the model is refused", || {
        home.status()["warnings"].to_string().contains("changed since it was installed")
            || doctor(&home).contains("changed since it was installed")
    });
    assert_eq!(answer(&mut agent, "Where are the spare keys?"), before);
    let wrong = |file: &Value| file["condition"] == "wrong" && file["name"] == "model.onnx";
    let status = model_status(&home);
    assert!(status["files"].as_array().is_some_and(|files| files.iter().any(wrong)), "{status}");
}

fn doctor(home: &TestHome) -> String {
    String::from_utf8_lossy(&home.loci(&["doctor"]).stdout).into_owned()
}

#[test]
fn a_store_changes_to_the_model_in_blocks_and_back() {
    let home = home_with_links();
    let mut agent = home.session();
    agent.store_all("semantic", TEXTS);
    let before = answer(&mut agent, "Where are the spare keys?");
    use_model(&home, "model = \"minilm-fast\"");
    let (id, _) = wait_for_model(&home, &mut agent, |id| id == "all-MiniLM-L6-v2-fast");
    let contents = |answer: &[(String, u64)]| answer.iter().map(|(text, _)| text.clone()).next();
    let fast = answer(&mut agent, "Where are the spare keys?");
    assert_eq!(contents(&fast), contents(&before));
    assert_ne!(fast, before, "the vectors differ slightly");
    let status = model_status(&home);
    assert_eq!((&status["id"], &status["complete"]), (&json!(id), &json!(true)), "{status}");
    use_model(&home, "model = \"minilm\"");
    wait_for_model(&home, &mut agent, |id| id == PINNED);
    assert_eq!(answer(&mut agent, "Where are the spare keys?"), before);
}

#[test]
fn a_store_changes_to_the_multilingual_model_by_one_command_and_back() {
    let config = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(&config, "[embedding]\nmodel = \"multilingual\"\n").expect("it is written");
    fetch_model(&models(), Some(config.path()));
    let home = home_with_links();
    home.configure_whole("# mine\n[embedding]\ndownload = false\n");
    let mut agent = home.session();
    agent.store_all("semantic", TEXTS);
    let offered = doctor(&home);
    assert!(
        offered.contains("2 of the 5 newest memories")
            && offered.contains("loci model use multilingual"),
        "{offered}"
    );

    for number in 0..100 {
        agent.store("semantic", &format!("Room {number} has {number} chairs and a window"));
    }
    let before = answer(&mut agent, "Where are the spare keys?");
    let output = home.loci(&["model", "use", "multilingual"]);
    assert!(output.status.success(), "{output:?}");
    let (id, named) = wait_for_model(&home, &mut agent, |id| id == "multilingual-e5-small-q4");
    assert_eq!(named, HashSet::from([PINNED.to_owned()]), "replies name the model that serves");
    let compared =
        home.loci(&["eval", "--models", "minilm,multilingual", "--probes", "9", "--json"]);
    let compared: Value = serde_json::from_slice(&compared.stdout).expect("valid JSON");
    let models = compared["models"].as_array().expect("a JSON array").iter();
    let models = models.map(|model| (&model["model"], &model["probes"], model.get("degraded")));
    let (minilm, multilingual, nine) = (json!("minilm"), json!("multilingual"), json!(9));
    assert_eq!(models.collect::<Vec<_>>(), [(&minilm, &nine, None), (&multilingual, &nine, None)]);
    assert!(doctor(&home).contains(&format!("{id} is ready")));
    assert!(!doctor(&home).contains("loci model use"));
    // Another language finds the English memory, and the other way round.
    let first = |agent: &mut Agent, query: &str| answer(agent, query).remove(0).0;
    assert_eq!(first(&mut agent, "Welches Gerät ist kaputt?"), TEXTS[3]);
    assert_eq!(first(&mut agent, "会议改到哪一天了？"), TEXTS[4]);
    let configured = std::fs::read_to_string(home.path(".loci/config.toml")).expect("it exists");
    assert_eq!(configured, "# mine\n[embedding]\ndownload = false\nmodel = \"multilingual\"\n");

    let refused = home.loci(&["model", "use", "nonsense"]);
    assert!(!refused.status.success(), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("multilingual"), "{refused:?}");
    let after = std::fs::read_to_string(home.path(".loci/config.toml")).expect("it exists");
    assert_eq!(after, configured, "the configuration is as before");

    assert!(home.loci(&["model", "use", "minilm"]).status.success());
    wait_for_model(&home, &mut agent, |id| id == PINNED);
    assert_eq!(answer(&mut agent, "Where are the spare keys?"), before);
}
