//! Recall of what agents store, with the real model: titled procedures, facts that change, log lines, relations, several projects.
//!
//! Not here: chats and short facts (`recall`), single ranking steps (the engine's tests).

use crate::home::{TestHome, contents};
use serde_json::{Value, json};

const NOTES: &[&str] = &[
    "Rotate certificates: run `certtool renew --all`, then restart the proxy",
    "Deploy Heron Portal: merge to main, wait for the canary, press promote",
    "Portal sessions expire after 40 minutes of idling",
    "The invoices of Brandt GmbH go to Paula, not to the shared mailbox",
    "Deploy freeze from 18 December until 7 January",
    "Error E4017 in the importer means that the CSV file has a byte order mark",
    "Staging has no licence for the map server; maps are grey there",
    "Heron is written in Kotlin, the importer in Go",
    "The importer rejects files that are larger than two gigabytes",
    "Marta prefers video calls to long e-mail threads",
];

#[test]
fn a_title_counts_as_text() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("procedural", NOTES.iter().copied());
    assert_eq!(agent.recall("deploy heron")[0], NOTES[1]);
    assert_eq!(agent.recall("certificates rotate")[0], NOTES[0]);
}

#[test]
fn the_procedure_of_the_asking_project_comes_first_unless_another_is_named() {
    let home = TestHome::new();
    let (heron, egret) = (
        "Run the tests: `just test` needs the container `pg-test`; about nine minutes",
        "Running the tests: `npm run test:all`, then look at the screenshots in out/",
    );
    home.session_in("heron").store("procedural", heron);
    home.session_in("egret").store("procedural", egret);
    for (project, own, other, name) in
        [("heron", heron, egret, "egret"), ("egret", egret, heron, "heron")]
    {
        let mut agent = home.session_in(project);
        assert_eq!(agent.recall("how do I run the tests")[0], own);
        assert_eq!(agent.recall(&format!("how do I run the tests of {name}"))[0], other);
    }
}

#[test]
fn a_newer_value_comes_before_the_older_one_which_is_marked() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", NOTES.iter().copied());
    let older = agent.store("semantic", "The portal is built with JDK 17");
    let newer = agent.store("semantic", "The portal is built with JDK 21 now");
    let reply = agent
        .call("recall_memory", json!({"query": "which JDK builds the portal"}))
        .expect("the call succeeds");
    let of = |at: usize| (&reply["results"][at]["id"], &reply["results"][at]["older_version_of"]);
    assert_eq!(of(0), (&json!(newer), &Value::Null), "{reply}");
    assert_eq!(of(1), (&json!(older), &json!(newer)), "{reply}");
}

/// Facts of one shape about two things, and what is asked for each.
const PARALLEL: &[(&str, &str, &str, &str)] = &[
    (
        "The staging database is db-s1",
        "The production database is db-p1",
        "what is the staging database",
        "what is the production database",
    ),
    (
        "Error E17 means that the oven door is open",
        "Error E23 means that the pump is blocked",
        "what does error E17 mean",
        "what does error E23 mean",
    ),
    (
        "The VAT in Austria is 20 percent",
        "The VAT in Poland is 23 percent",
        "VAT in Austria",
        "VAT in Poland",
    ),
    (
        "Anna signs in to the registry as akeller",
        "Anna signs in to the tracker as anna.k",
        "Anna's user in the registry",
        "Anna's user in the tracker",
    ),
    (
        "Release 4.1 ships with the dark theme",
        "Release 4.2 ships with the offline mode",
        "what ships with release 4.1",
        "what ships with release 4.2",
    ),
];

#[test]
fn of_facts_of_one_shape_the_one_that_is_asked_for_comes_first() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", NOTES.iter().copied());
    agent.store_all("semantic", PARALLEL.iter().flat_map(|(one, other, ..)| [*one, *other]));
    for (one, other, of_one, of_other) in PARALLEL {
        assert_eq!(agent.recall(of_one)[0], *one);
        assert_eq!(agent.recall(of_other)[0], *other);
    }
}

/// Facts that changed, in ordinary words, and what is asked.
const CHANGED: &[(&str, &str, &str)] = &[
    (
        "The nightly build starts at 02:00",
        "The nightly build starts at 04:30",
        "when does the nightly build start",
    ),
    (
        "Deploy the map server with `make ship`",
        "Deploy the map server with `just ship`",
        "how is the map server deployed",
    ),
    (
        "The hourly rate for Brandt is 95 euros",
        "The hourly rate for Brandt is 110 euros",
        "hourly rate for Brandt",
    ),
];

#[test]
fn of_a_fact_that_changed_the_newer_value_comes_first() {
    let home = TestHome::new();
    let mut agent = home.session();
    for (older, ..) in CHANGED {
        agent.store("semantic", older);
    }
    agent.store_all("semantic", NOTES.iter().copied());
    for (_, newer, _) in CHANGED {
        agent.store("semantic", newer);
    }
    for (_, newer, query) in CHANGED {
        assert_eq!(agent.recall(query)[0], *newer);
    }
}

#[test]
fn log_lines_of_one_pattern_do_not_hide_a_distinct_memory() {
    let home = TestHome::new();
    let mut outside = home.session_in("egret");
    let distinct = "Nightly backups are encrypted with the key in the safe of the bank";
    outside.store("semantic", distinct);
    let mut agent = home.session_in("heron");
    let lines: Vec<String> = (0..200)
        .map(|n| {
            format!("Nightly backup {n}: finished in {} min, {} GB written", 30 + n % 9, 200 + n)
        })
        .collect();
    agent.store_all("episodic", lines.iter().map(String::as_str));
    let reply = agent
        .call(
            "recall_memory",
            json!({"query": "nightly backup", "max_results": 20, "token_budget": 20_000}),
        )
        .expect("the call succeeds");
    let found = contents(&reply);
    assert!(found.iter().any(|content| content == distinct), "{reply}");
    let log_lines = found.iter().filter(|content| content.starts_with("Nightly backup ")).count();
    assert_eq!(log_lines, 2, "{reply}");
    let listed = |result: &Value| result["also"].as_array().map_or(0, Vec::len);
    let results = reply["results"].as_array().expect("there are results");
    assert!(results.iter().map(listed).sum::<usize>() > 0, "{reply}");
}

#[test]
fn a_question_for_a_relation_is_answered_by_the_entity_that_has_it() {
    let home = TestHome::new();
    let mut agent = home.session();
    let entity = |name: &str, about: &str| json!({"content": about, "type": "entity", "metadata": {"name": name}});
    let store = |agent: &mut crate::home::Agent, arguments: Value| {
        agent.store_with(arguments)["id"].as_str().expect("there is an id").to_owned()
    };
    let piotr = store(&mut agent, entity("Piotr", "Piotr works on the importer"));
    let anna = store(&mut agent, entity("Anna", "Anna leads the platform team"));
    for report in [
        "Piotr reported a memory leak of the importer to the vendor",
        "Who reports incidents is decided by the rota; Piotr is on it in March",
        "Piotr sends the weekly report of the importer on Fridays",
    ] {
        agent.store("semantic", report);
    }
    agent
        .call(
            "store_relation",
            json!({"subject_id": piotr, "predicate": "reports_to", "object_id": anna}),
        )
        .expect("the call succeeds");
    let reply = agent
        .call("recall_memory", json!({"query": "Who does Piotr report to?"}))
        .expect("the call succeeds");
    assert_eq!(reply["results"][0]["id"], json!(piotr), "{reply}");
    assert!(reply["results"][0].to_string().contains("reports_to"), "{reply}");
    assert_eq!(reply["weak"], Value::Null, "{reply}");
}

#[test]
fn a_prompt_without_an_answer_is_called_weak() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", NOTES.iter().copied());
    let mut is_weak = |query: &str| {
        let reply =
            agent.call("recall_memory", json!({"query": query})).expect("the call succeeds");
        reply["weak"] == json!(true) || contents(&reply).is_empty()
    };
    for prompt in [
        "zzzqqq",
        "write a haiku about autumn leaves",
        "what is the capital of Australia?",
        "convert 30 degrees celsius to fahrenheit",
        "recommend a film for tonight",
    ] {
        assert!(is_weak(prompt), "{prompt}");
    }
    for question in [
        "what does error E4017 mean?",
        "who gets the invoices of Brandt?",
        "how do I deploy heron",
        "when is the deploy freeze",
        "why are maps grey on staging",
    ] {
        assert!(!is_weak(question), "{question}");
    }
    let stdout =
        |query: &str| String::from_utf8_lossy(&home.loci(&["search", query]).stdout).into_owned();
    let poor = stdout("who watched the film about canaries");
    assert!(poor.starts_with("Nothing fits well."), "{poor}");
    assert!(!stdout("what does error E4017 mean?").contains("Nothing fits well"));
}
