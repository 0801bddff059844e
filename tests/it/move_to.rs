//! `loci move` through the real binaries.

use crate::home::TestHome;
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
