//! Models of the user's own that do not answer: graphs that do not end, and pipes and devices in place of files. Agents are served, and the
//! daemon can be stopped. The models are tiny ones (`onnx_model`).

use crate::embedding_api::EmbeddingApi;
use crate::home::{Agent, TestHome, models};
use crate::in_time::ExitInTime;
use crate::onnx_model::{TinyCrossEncoder, TinyModel};
use crate::wire::wait_until;
use serde_json::{Value, json};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const LONG: &str = "Anna checks the backup of the database every Monday at nine, says the harbor office, and writes down the result in the book";
/// Agents wait 30 s for an answer. The test machine may be slow.
const ANSWERED: Duration = Duration::from_secs(15);

fn tokenizer() -> Vec<u8> {
    std::fs::read(models().join("all-MiniLM-L6-v2/tokenizer.json")).expect("the tokenizer exists")
}

fn restart(home: &TestHome, config: &str) {
    home.configure_whole(config);
    let output = home.loci(&["ctl", "restart"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn with_cross_encoder(home: &TestHome) -> String {
    let path = home.path("cross");
    format!(
        "[retrieval]\nrerank = \"cross-encoder\"\nrerank_path = \"{}\"\n[embedding]\ndownload = false\n",
        path.display()
    )
}

fn with_custom_model(home: &TestHome) -> String {
    let path = home.path("own");
    format!("[embedding]\ndownload = false\nmodel = \"custom\"\npath = \"{}\"\n", path.display())
}

fn recall(agent: &mut Agent, query: &str) -> Value {
    let arguments = json!({"query": query, "max_results": 5, "dry_run": true});
    agent.call("recall_memory", arguments).expect("the call succeeds")
}

/// Runs a call and checks that it takes no longer than an agent waits.
fn in_time<T>(call: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let answer = call();
    let took = started.elapsed();
    assert!(took < ANSWERED, "{took:?}");
    answer
}

/// Stops the daemon and checks that its process has ended.
fn stop(home: &TestHome) {
    let pid = home.status()["pid"].as_u64().expect("a number");
    let output = in_time(|| home.loci(&["ctl", "stop"]));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    wait_until("the process has ended", || !Path::new(&format!("/proc/{pid}/exe")).exists());
}

fn make_pipe(path: &Path) {
    if path.exists() {
        std::fs::remove_file(path).expect("the file is removed");
    }
    let made = Command::new("mkfifo").arg(path).exit_in_time().expect("mkfifo runs");
    assert!(made.success());
}

fn doctor(home: &TestHome) -> String {
    let output = in_time(|| home.loci(&["doctor"]));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_cross_encoder_that_does_not_end_delays_no_other_call_and_the_daemon_stops() {
    let home = TestHome::new();
    let endless = TinyCrossEncoder {
        endless_above: Some(1),
        ..TinyCrossEncoder::preferring(&[], &tokenizer())
    };
    endless.write(&home.path("cross"), &tokenizer());
    restart(&home, &with_cross_encoder(&home));
    let mut agent = home.session();
    agent.store_all("semantic", ["The backup runs at two", "The mail server has a backup", LONG]);
    wait_until("the model is loaded", || doctor(&home).contains("the cross-encoder in"));
    let mut agents: Vec<Agent> = (0..12).map(|_| home.session()).collect();
    let started = Instant::now();
    let replies: Vec<Value> = std::thread::scope(|scope| {
        let ask = |agent| scope.spawn(|| recall(agent, "When does the backup run?"));
        let asking: Vec<_> = agents.iter_mut().map(ask).collect();
        asking.into_iter().map(|one| one.join().expect("the call succeeds")).collect()
    });
    // One after the other would take 12 s.
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    for reply in replies {
        assert_eq!(reply["degraded"], json!(["rerank"]), "{reply}");
        assert_eq!(reply["results"].as_array().map(Vec::len), Some(3), "{reply}");
    }
    wait_until("the comparison was ended", || {
        home.log().contains("the model did not answer within")
    });
    stop(&home);
}

#[test]
fn a_custom_model_that_does_not_end_leaves_keywords_and_the_daemon_stops() {
    let home = TestHome::new();
    TinyModel { endless_above: Some(12), ..TinyModel::new(5) }
        .write(&home.path("own"), &tokenizer());
    restart(&home, &with_custom_model(&home));
    let mut agent = home.session();
    agent.store("semantic", "The backup runs at two");
    in_time(|| agent.store("semantic", LONG));
    let reply = in_time(|| recall(&mut agent, LONG));
    assert_eq!(reply["degraded"][0], "embedding", "{reply}");
    assert_eq!(reply["results"][0]["content"], LONG, "{reply}");
    assert!(reply["hint"].to_string().contains("in time"), "{reply}");
    in_time(|| agent.store("semantic", "Another note on the harbor"));
    stop(&home);

    // It ends in the middle of a forward pass; what was acknowledged is there.
    restart(&home, "[embedding]\ndownload = false\n");
    let mut agent = home.session();
    let stats = agent.call("memory_stats", json!({})).expect("the memories are counted");
    assert_eq!(stats["total_memories"], 3, "{stats}");
}

#[test]
fn a_model_that_is_being_loaded_without_an_end_leaves_keywords_and_the_daemon_stops() {
    let home = TestHome::new();
    TinyModel { endless_above: Some(1), ..TinyModel::new(5) }
        .write(&home.path("own"), &tokenizer());
    let endless = TinyCrossEncoder {
        endless_above: Some(0),
        ..TinyCrossEncoder::preferring(&[], &tokenizer())
    };
    endless.write(&home.path("cross"), &tokenizer());
    restart(
        &home,
        &(with_cross_encoder(&home).replace("[embedding]\ndownload = false\n", "")
            + &with_custom_model(&home)),
    );
    let mut agent = home.session();
    in_time(|| agent.store("semantic", LONG));
    let reply = in_time(|| recall(&mut agent, "Who checks the backup?"));
    assert_eq!(reply["results"][0]["content"], LONG, "{reply}");
    assert!(reply["degraded"].to_string().contains("embedding"), "{reply}");
    stop(&home);
}

#[test]
fn pipes_and_devices_in_place_of_files_are_refused_by_name() {
    let home = TestHome::new();
    let folder = home.path("own");
    for (name, make) in [
        ("loci-profile.toml", make_pipe as fn(&Path)),
        ("loci-profile.toml", |path| symlink("/dev/zero", path).expect("is linked")),
        ("tokenizer.json", make_pipe),
        ("model.onnx_data", make_pipe),
    ] {
        TinyModel::new(5).write(&folder, &tokenizer());
        let path = folder.join(name);
        if path.exists() {
            std::fs::remove_file(&path).expect("the file is removed");
        }
        make(&path);
        restart(&home, &with_custom_model(&home));
        let mut agent = home.session();
        in_time(|| agent.store("semantic", LONG));
        wait_until("the file is refused", || doctor(&home).contains("not a regular file"));
        assert!(doctor(&home).contains(name), "{}", doctor(&home));
        let status = in_time(|| home.loci(&["model", "status"]));
        assert!(!status.stdout.is_empty());
        drop(agent);
        stop(&home);
        std::fs::remove_dir_all(&folder).expect("the folder is removed");
    }
    let cross = home.path("cross");
    TinyCrossEncoder::preferring(&[], &tokenizer()).write(&cross, &tokenizer());
    make_pipe(&cross.join("tokenizer.json"));
    restart(&home, &with_cross_encoder(&home));
    wait_until("the file is refused", || doctor(&home).contains("the cross-encoder is not loaded"));
    stop(&home);
}

#[test]
fn a_pipe_in_place_of_the_counters_of_an_api_blocks_nothing() {
    let (home, api) = (TestHome::without_model(), EmbeddingApi::start());
    home.configure_whole(&api.keys(&home, "openai", "text-embedding-3-small"));
    make_pipe(&home.path(".loci").join("memory.db-api-usage"));
    let mut agent = home.session();
    in_time(|| agent.store("semantic", LONG));
    let reply = in_time(|| recall(&mut agent, "backup"));
    assert_eq!(reply["results"][0]["content"], LONG, "{reply}");
    assert_eq!(api.received().len(), 0, "what cannot be counted is not sent");
    drop(agent);
    stop(&home);
}
