//! What is given unasked: of whom, for which questions, what a person forbids, and what was declared.

use crate::home::TestHome;
use crate::hooks::{QUESTION, claude, home_with_model, json_of, prompt, receipts, start, text};
use serde_json::json;

#[test]
fn another_project_is_given_only_if_the_prompt_names_it() {
    let (home, mut agent) = home_with_model();
    agent.store("semantic", "Releases of this project are signed by Ines.");
    let mut bakery = home.session_in("crumbledger");
    bakery.store("semantic", "The VAT rate of rye bread at the till is 7 percent.");
    let asked = "What is the VAT rate of rye bread at the till?";
    assert_eq!(prompt(&home, "a", asked), "");
    assert_eq!(receipts(&home, "a")[0]["withheld"][0]["why"], "of another project");
    assert!(!agent.recall(asked).is_empty(), "an agent that asks gets it");
    let named = "What is the VAT rate of rye bread at the till of crumbledger?";
    assert!(prompt(&home, "b", named).contains("7 percent"));
    let declared = json!({"content": "The user wants commit messages in English.", "type": "semantic", "category": "preference"});
    bakery.call("store_memory", declared).expect("the memory is stored");
    let about_person = "In which language does the user want commit messages?";
    assert!(prompt(&home, "c", about_person).contains("English"));
    let brief = start(&home, "d", "startup");
    assert!(brief.contains("in English") && !brief.contains("7 percent"), "{brief}");
}

#[test]
fn each_question_is_answered_and_nothing_stands_in_for_a_known_answer() {
    let (home, mut agent) = home_with_model();
    agent.store("semantic", "The staging database listens on port 5433.");
    agent.store("semantic", "Marta signs off every release.");
    agent.store("semantic", "Release notes are kept in docs/NEWS.md.");
    let both =
        prompt(&home, "a", "Which port has the staging database? And who signs off a release?");
    assert!(both.contains("5433") && both.contains("Marta"), "{both}");
    assert_eq!(prompt(&home, "a", "Who signs off a release?"), "");
    for said in ["yup", "A", "2", "Delete them.", "ok, proceed with the first one"] {
        assert_eq!(prompt(&home, "b", said), "", "{said}");
    }
}

#[test]
fn a_person_says_never_or_always_and_sees_what_was_given() {
    let (home, mut agent) = home_with_model();
    let id = agent.store("semantic", "The staging server of the shop is called heron.");
    let other = agent.store("episodic", "The router was replaced.");
    assert!(home.loci(&["edit", &id, "--unasked", "never"]).status.success());
    assert!(home.loci(&["edit", &other, "--unasked", "always"]).status.success());
    assert_eq!(prompt(&home, "a", QUESTION), "");
    assert_eq!(receipts(&home, "a")[0]["withheld"][0]["why"], "never unasked");
    let brief = start(&home, "b", "startup");
    assert!(brief.contains("Always given:\n- The router") && !brief.contains("heron"), "{brief}");
    let subagent = text(&claude(&home, "subagent-start", &json!({"session_id": "b"})));
    assert!(subagent.contains("The router"), "{subagent}");
    assert!(home.loci(&["undo", "--last", "--yes"]).status.success());
    assert!(home.loci(&["edit", &id, "--unasked", "auto"]).status.success());
    assert!(prompt(&home, "c", QUESTION).contains("heron"));
}

#[test]
fn an_older_value_is_marked_in_a_brief() {
    let (home, mut agent) = home_with_model();
    agent.store("semantic", "The feature registry file sits in S3 at s3://lfh-fs/registry.db.");
    agent.store("semantic", "Backups of the vault run at four in the morning.");
    agent.store(
        "semantic",
        "The feature registry is a Postgres database now; the registry.db file in S3 was removed.",
    );
    let brief = start(&home, "a", "startup");
    let marked: Vec<&str> =
        brief.lines().filter(|line| line.contains("may be out of date")).collect();
    assert!(matches!(marked[..], [line] if line.contains("s3://lfh-fs")), "{brief}");
}

#[test]
fn a_category_is_kept_listed_filtered_set_and_exported() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let rule = json!({"content": "Tests come first.", "type": "semantic", "scope": "group", "category": "rule"});
    agent.call("store_memory", rule).expect("the memory is stored");
    let plain = agent.store("semantic", "The queue runs on port 4711.");
    let wrong = json!({"content": "x y", "type": "semantic", "category": "rules"});
    let refused = agent.call("store_memory", wrong).expect_err("it is no category");
    assert!(refused.contains("category") && refused.contains("did you mean rule?"), "{refused}");
    let two = json!({"content": "x y", "type": "semantic", "category": "rule", "metadata": {"category": "fix"}});
    let refused = agent.call("store_memory", two).expect_err("it says two things");
    assert!(refused.contains("category differs from metadata.category"), "{refused}");
    let listed = |args: &[&str]| json_of(&home, args)["memories"].clone();
    assert_eq!(listed(&["list", "--category", "rule", "--json"])[0]["category"], "rule");
    let without = listed(&["review", "--categories", "--json"]);
    assert_eq!((without.as_array().map(Vec::len), &without[0]["id"]), (Some(1), &json!(plain)));
    assert!(home.loci(&["edit", &plain, "--category", "state"]).status.success());
    let brief = start(&home, "a", "startup");
    let order = [brief.find("Rules of this project:"), brief.find("Open:\n- The queue")];
    assert!(order.is_sorted() && order[0].is_some(), "{brief}");
    let again = json!({"content": "Tests come first.", "type": "semantic", "scope": "group", "category": "state"});
    let reply = agent.call("store_memory", again).expect("the memory is known");
    assert_eq!(reply["note"], "Its category stays rule: loci edit changes it");
    let everywhere =
        json!({"content": "Name the reason of a commit.", "type": "semantic", "category": "rule"});
    let reply = agent.call("store_memory", everywhere).expect("the memory is stored");
    assert!(reply["note"].as_str().is_some_and(|note| note.starts_with("Given in every project")));
    let exported = String::from_utf8_lossy(&home.loci(&["export"]).stdout).into_owned();
    assert!(
        exported.contains(r#""category":"rule""#) && exported.contains(r#""category":"state""#)
    );
}
