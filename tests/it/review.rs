//! `loci review`: pairs of memories that look like two versions of one fact.

use crate::home::TestHome;
use serde_json::Value;

fn pairs(home: &TestHome) -> Vec<(String, String)> {
    let output = home.loci(&["review", "--json"]);
    let reply: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let pairs = reply["pairs"].as_array().expect("a JSON array");
    let preview = |memory: &Value| memory["preview"].as_str().unwrap_or_default().to_owned();
    pairs.iter().map(|pair| (preview(&pair["newer"]), preview(&pair["older"]))).collect()
}

/// Stores two pairs, the pair of the server first.
fn home_with_pairs() -> TestHome {
    let home = TestHome::new();
    for text in [
        "The staging server is called heron",
        "The staging server is called egret",
        "The printer on the second floor needs black toner",
        "The printer on the second floor needs blue toner",
        "The canteen closes at two",
    ] {
        assert!(home.loci(&["add", text, "--type", "semantic"]).status.success());
    }
    home
}

#[test]
fn without_a_terminal_the_pairs_are_listed_and_keep_records_a_decision() {
    let home = home_with_pairs();
    let found = pairs(&home);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].0.contains("blue toner") && found[1].1.contains("heron"), "{found:?}");
    let text = String::from_utf8_lossy(&home.loci(&["review"]).stdout).into_owned();
    assert!(text.contains("newer") && text.ends_with("2 pairs\n"), "{text}");
    let output = home.loci(&["review", "--json", "--limit", "1"]);
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let id = |which: &str| reply["pairs"][0][which]["id"].as_str().expect("an id").to_owned();
    assert!(home.loci(&["review", "--keep", &id("newer"), &id("older")]).status.success());
    assert_eq!(pairs(&home).len(), 1);
    let unkeep = || home.loci(&["review", "--unkeep", &id("older"), &id("newer")]).stdout;
    assert_eq!(String::from_utf8_lossy(&unkeep()), "The pair is listed again\n");
    assert_eq!(pairs(&home).len(), 2);
    assert!(String::from_utf8_lossy(&unkeep()).contains("nothing has changed"));
}

#[test]
fn at_a_terminal_a_letter_decides() {
    let home = home_with_pairs();
    let (code, screen) = home.at_terminal(&["review", "--limit", "1"], "Enter skips:", "s");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("Superseded"), "{screen}");
    assert_eq!(pairs(&home).len(), 1);
    let (_, screen) = home.at_terminal(&["review", "--limit", "1"], "Enter skips:", "k");
    assert!(screen.contains("Both are kept"), "{screen}");
    assert!(pairs(&home).is_empty());
    assert!(home.loci(&["undo", "--last", "--yes"]).status.success());
    assert_eq!(pairs(&home).len(), 1, "the supersession is undone");
}
