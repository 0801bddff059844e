//! `loci groups`: renamed and merged projects, and the sessions that continue to work in them.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use serde_json::{Value, json};

fn groups(home: &TestHome, arguments: &[&str]) -> Result<Value, String> {
    let output = home.loci(&[&["groups"], arguments, &["--json"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).expect("valid JSON"))
    } else {
        Err(stderr)
    }
}

/// Returns the id of the group with this display name.
fn id(home: &TestHome, name: &str) -> String {
    let listed = groups(home, &["list"]).expect("the command succeeds");
    let found = listed["groups"]
        .as_array()
        .expect("a JSON array")
        .iter()
        .find(|group| group["name"] == name)
        .expect("the group is listed")
        .clone();
    found["id"].as_str().expect("a JSON string").to_owned()
}

#[test]
fn a_session_of_a_merged_project_uses_the_target_from_its_next_call() {
    let home = TestHome::without_model();
    let (mut garden, mut shop) = (home.session_in("garden"), home.session_in("shop"));
    garden.store("episodic", "The garden gate squeaks");
    shop.store("episodic", "The shop bell squeaks");
    assert_eq!(shop.recall("squeaks"), ["The shop bell squeaks"]);
    assert!(
        groups(&home, &["merge", "garden", "shop"])
            .expect_err("the command fails")
            .contains("Add --yes")
    );
    let merged =
        groups(&home, &["merge", "garden", "shop", "--yes"]).expect("the command succeeds");
    assert_eq!(
        (&merged["moved"], &merged["group"]["memories"]),
        (&json!(1), &json!(2)),
        "{merged}"
    );
    for agent in [&mut garden, &mut shop, &mut home.session_in("garden")] {
        assert_eq!(agent.recall("squeaks").len(), 2, "open and new sessions see both memories");
    }
    garden.store("episodic", "The garden hose squeaks too");
    assert_eq!(shop.recall("hose").len(), 1);
    assert_eq!(
        groups(&home, &["list"]).expect("the command succeeds")["groups"]
            .as_array()
            .expect("a JSON array")
            .len(),
        1,
        "no group was created"
    );
    let named = shop
        .call("recall_memory", json!({"query": "squeaks", "group": "garden"}))
        .expect("the call succeeds");
    assert_eq!(
        named["results"].as_array().expect("a JSON array").len(),
        3,
        "the old name selects the merged project"
    );
    home.loci(&["ctl", "restart"]);
    assert_eq!(garden.recall("squeaks").len(), 3, "also after a restart");
}

#[test]
fn a_rename_is_shown_and_changes_nothing_else() {
    let home = TestHome::without_model();
    let mut garden = home.session_in("garden");
    garden.store("episodic", "The gate squeaks");
    let before = id(&home, "garden");
    groups(&home, &["rename", "garden", "the allotment"]).expect("the command succeeds");
    assert_eq!(id(&home, "the allotment"), before);
    assert_eq!(garden.recall("gate"), ["The gate squeaks"]);
    let in_garden = |arguments: &[&str]| {
        let mut command = home.command("loci");
        let output = command.current_dir(home.path("garden")).args(arguments).output_in_time();
        String::from_utf8_lossy(&output.expect("loci runs").stdout).into_owned()
    };
    assert!(in_garden(&["doctor"]).contains("the allotment is not isolated"));
    assert!(in_garden(&["injected", "--json"]).contains(r#""group":"the allotment""#));
    assert!(in_garden(&["groups", "off"]).contains("loci is off in the allotment:"));
    assert!(in_garden(&["stats"]).contains("the allotment"), "{}", in_garden(&["stats"]));
    assert!(in_garden(&["doctor"]).contains("off in the allotment"));
    in_garden(&["groups", "on"]);
    groups(&home, &["alias", "the allotment", "plot"]).expect("the command succeeds");
    let table = String::from_utf8_lossy(&home.loci(&["groups", "list"]).stdout).into_owned();
    assert!(
        table.contains("the allotment") && table.contains(&before) && table.contains("plot"),
        "{table}"
    );
    let removed = home.loci(&["groups", "alias", "the allotment", "plot", "--remove"]);
    assert!(
        String::from_utf8_lossy(&removed.stdout)
            .starts_with("plot no longer refers to the allotment. Undo: loci undo "),
        "{removed:?}"
    );
}

#[test]
fn missing_ambiguous_and_equal_group_names_are_refused() {
    let home = TestHome::without_model();
    for folder in ["a/app", "b/app", "c"] {
        home.session_in(folder).store("episodic", "Something");
    }
    assert!(
        groups(&home, &["merge", "app", "c", "--yes"])
            .expect_err("the command fails")
            .contains("several groups: g_")
    );
    assert!(
        groups(&home, &["merge", "nowhere", "c", "--yes"])
            .expect_err("the command fails")
            .contains("names no project: nowhere")
    );
    assert!(
        groups(&home, &["merge", "c", "c", "--yes"])
            .expect_err("the command fails")
            .contains("is the group itself")
    );
    assert!(
        groups(&home, &["rename", "c", "app"])
            .expect_err("the command fails")
            .contains("another group")
    );
}

#[test]
fn a_person_names_a_project_by_its_display_name_unless_two_have_it() {
    let home = TestHome::without_model();
    let loci_in = |folder: &str, arguments: &[&str]| {
        let folder = home.path(folder);
        std::fs::create_dir_all(&folder).expect("the folder is created");
        let output = home.command("loci").current_dir(folder).args(arguments).output_in_time();
        let output = output.expect("loci runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    loci_in("one/trail", &["add", "The trail map has three layers", "--type", "semantic"]);
    loci_in("shop", &["add", "The trail bell squeaks", "--type", "episodic", "--group", "trail"]);
    let listed = loci_in("shop", &["list", "--group", "trail"]);
    assert!(listed.contains("three layers") && listed.contains("bell"), "{listed}");
    let found = loci_in("shop", &["search", "trail", "bell", "--group", "trail"]);
    assert!(found.contains("squeaks"), "{found}");
    let count = |name: &str| {
        let listed = groups(&home, &["list"]).expect("the command succeeds")["groups"].clone();
        listed.as_array().into_iter().flatten().filter(|group| group["name"] == name).count()
    };
    assert_eq!(count("trail"), 1, "no second project was made");
    loci_in("two/trail", &["add", "Another trail", "--type", "semantic"]);
    let refused = loci_in("shop", &["list", "--group", "trail"]);
    assert!(refused.contains("is the name of 2 projects"), "{refused}");
    assert_eq!(count("trail"), 2);
}
