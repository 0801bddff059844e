//! What an embedding API does not get: texts of a project that is off, expired memories, and the words of `[groups.NAME]` in questions. And
//! `locid embed` of a daemon whose program was replaced.
//!
//! Not here: secrets and incognito sessions (`api_embeddings`).

use crate::embedding_api::{EmbeddingApi, Received};
use crate::home::{TestHome, binaries};
use crate::in_time::OutputInTime;
use crate::wire::{signal, wait_until};
use serde_json::json;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn done(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns all texts that were sent.
fn sent(api: &EmbeddingApi) -> String {
    let texts: Vec<String> = api.received().iter().flat_map(Received::texts).collect();
    texts.join("\n")
}

#[test]
fn texts_of_a_project_that_is_off_and_expired_ones_are_sent_when_it_is_on_again_or_never() {
    let (home, api) = (TestHome::new(), EmbeddingApi::start());
    let mut agent = home.session();
    for number in 0..20 {
        agent.store("semantic", &format!("Kettle note {number} of the kitchen"));
    }
    let stored = Instant::now();
    agent.store_with(json!({"content": "The EXPIRED mast", "type": "semantic", "ttl_seconds": 1}));
    let mut other = home.session_in("harbour");
    for number in 0..3 {
        let content = format!("HIDDEN plan {number} of the harbour");
        other.store_with(json!({"content": content, "type": "semantic", "scope": "group"}));
    }
    let id = other.store_with(json!({"content": "HIDDEN crane", "type": "semantic"}))["id"].clone();
    drop(other);
    done(&home.loci(&["groups", "off", "harbour"]));
    wait_until("the memory has expired", || stored.elapsed() > Duration::from_millis(1500));

    home.configure_whole(&api.keys(&home, "openai", "text-embedding-3-small"));
    done(&home.loci(&["ctl", "restart"]));
    let preview = done(&home.loci(&["re-embed", "--dry-run", "--json"]));
    let preview: serde_json::Value = serde_json::from_str(&preview).expect("valid JSON");
    assert_eq!(preview["to_encode"], 20, "{preview}");
    done(&home.loci(&["re-embed", "--yes", "--wait"]));
    // A person may change the text where loci is off.
    let id = id.as_str().expect("a JSON string");
    done(&home.loci(&["edit", id, "--content", "HIDDEN crane of the second pier"]));
    done(&home.loci(&["add", "Kettle note of the end", "--type", "semantic"]));
    wait_until("the last note is sent", || sent(&api).contains("Kettle note of the end"));
    let texts = sent(&api);
    assert_eq!(texts.matches("Kettle note").count(), 21, "{texts}");
    assert!(!texts.contains("HIDDEN") && !texts.contains("EXPIRED"), "{texts}");

    done(&home.loci(&["groups", "on", "harbour"]));
    wait_until("its memories are sent", || sent(&api).matches("HIDDEN").count() == 4);
    assert!(!sent(&api).contains("EXPIRED"));
}

#[test]
fn words_of_the_project_are_replaced_in_questions_too() {
    let (home, api) = (TestHome::without_model(), EmbeddingApi::start());
    let keys = api.keys(&home, "openai", "text-embedding-3-small");
    home.configure_whole(&format!(
        "{keys}[groups.project]\nwords = [\"Bluebird\"]\nredact = [\"email\"]\n"
    ));
    let mut agent = home.session();
    agent.store("semantic", "The launch of Bluebird is in May");
    let ask = |query: &str| json!({"query": query, "dry_run": true});
    agent
        .call("recall_memory", ask("who of anna@example.org launches Bluebird"))
        .expect("is answered");
    wait_until("the question is sent", || sent(&api).contains("launches"));
    let texts = sent(&api);
    assert!(!texts.contains("Bluebird") && !texts.contains("anna@"), "{texts}");
    let mut other = home.session_in("harbour");
    other.call("recall_memory", ask("where is Bluebird moored")).expect("is answered");
    wait_until("the question is sent", || sent(&api).contains("Bluebird moored"));
}

#[test]
fn a_daemon_whose_program_was_replaced_still_gets_vectors() {
    let (home, api) = (TestHome::without_model(), EmbeddingApi::start());
    home.configure_whole(&api.keys(&home, "openai", "text-embedding-3-small"));
    let folder = home.path("bin");
    std::fs::create_dir(&folder).expect("the folder is created");
    let copy = |name: &str, to: &str| {
        std::fs::copy(binaries().join(name), folder.join(to)).expect("the program is copied");
    };
    copy("loci", "loci");
    copy("locid", "locid");
    let loci = |arguments: &[&str]| {
        let output = home.command_at(&folder.join("loci")).args(arguments).output_in_time();
        done(&output.expect("loci runs"))
    };
    loci(&["ctl", "start"]);
    loci(&["add", "The spare keys hang behind the door", "--type", "semantic"]);
    wait_until("the memory is sent", || sent(&api).contains("spare keys"));
    let pid = home.status()["pid"].to_string();
    copy("locid", "new");
    std::fs::rename(folder.join("new"), folder.join("locid")).expect("the program is replaced");
    let children = Command::new("pgrep").args(["-P", &pid]).output_in_time().expect("pgrep runs");
    let children = done(&children);
    signal("-9", children.lines().map(|pid| pid.parse().expect("a number")));
    let mut number = 0;
    wait_until("a question is encoded", || {
        number += 1;
        sent(&api).contains("latchkeys of the new program")
            || !loci(&["search", &format!("latchkeys of the new program {number}"), "--json"])
                .contains("degraded")
    });
    assert_eq!(home.status()["pid"].to_string(), pid);
}
