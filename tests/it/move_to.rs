//! `loci move` through the real binaries.

use crate::home::TestHome;
use crate::in_time::OutputInTime;
use serde_json::Value;

fn done(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(&[arguments, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

#[test]
fn memories_move_to_a_project_that_exists_and_come_back() {
    let home = TestHome::without_model();
    let ids: Vec<String> = ["The kiln was repaired", "The kiln was sold"]
        .iter()
        .map(|text| {
            done(&home, &["add", text, "--type", "episodic"])["id"]
                .as_str()
                .expect("an id")
                .to_owned()
        })
        .collect();
    let refused = home.loci(&["move", &ids[0], "--to", "pottery"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && error.contains("--create"), "{error}");
    let reply = done(&home, &["move", &ids[0], &ids[1], "--to", "pottery", "--create"]);
    assert_eq!(
        (reply["moved"].as_u64(), reply["created"].as_bool()),
        (Some(2), Some(true)),
        "{reply}"
    );
    assert_eq!(done(&home, &["list"])["total"], 0);
    assert_eq!(done(&home, &["list", "--group", "pottery"])["total"], 2);
    done(&home, &["undo", &reply["act"].to_string(), "--yes"]);
    assert_eq!(done(&home, &["list"])["total"], 2);
}

#[test]
fn a_move_into_an_isolated_project_does_not_offer_an_undo() {
    let home = TestHome::without_model();
    let isolated = home.path("isolated");
    std::fs::create_dir(&isolated).expect("the folder is created");
    std::fs::write(isolated.join(".loci.toml"), "isolated = true\ngroup = \"pottery\"\n")
        .expect("the file is written");
    home.allow("isolated");
    let mut add = home.command("loci");
    let add = add.args(["add", "The kiln is new"]).current_dir(&isolated).output_in_time();
    assert!(add.expect("loci runs").status.success());
    let reply = done(&home, &["add", "The kiln was sold", "--type", "episodic"]);
    let id = reply["id"].as_str().expect("an id");
    let moved = home.loci(&["move", id, "--to", "pottery"]);
    let text = String::from_utf8_lossy(&moved.stdout);
    assert!(moved.status.success() && text.starts_with("Moved 1 memory to pottery"), "{text}");
    assert!(!text.contains("loci undo") && text.contains("cannot be undone"), "{text}");
}
