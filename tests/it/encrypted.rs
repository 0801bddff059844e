//! Encryption at rest with the real programs: `just encrypted` builds them with the feature and runs this.
//!
//! Not here: failures at each step of a conversion (the engine), a build without the feature (`without_encryption`).

use crate::home::{TestHome, printed};
use crate::wire::kill_daemon;
use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A word that only the memories have.
const WORD: &str = "quokka";

fn stop(home: &TestHome) {
    assert!(home.loci(&["ctl", "stop"]).status.success());
}

fn exported(home: &TestHome) -> String {
    let output = home.loci(&["export"]);
    assert!(output.status.success(), "{}", printed(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the files of a folder, at any depth, that contain a text.
fn files_with(folder: &Path, needle: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files_with(&path, needle));
        } else if path.is_file() {
            let bytes = fs::read(&path).unwrap_or_default();
            if bytes.windows(needle.len()).any(|part| part == needle.as_bytes()) {
                found.push(path);
            }
        }
    }
    found
}

fn is_encrypted(file: &Path) -> bool {
    fs::read(file).is_ok_and(|bytes| bytes.starts_with(b"loci enc"))
}

#[test]
fn an_encrypted_store_of_two_sessions_that_is_killed_and_decrypted_has_every_acknowledged_memory() {
    let home = TestHome::new();
    let mut first = home.session();
    first.store("semantic", &format!("The {WORD} of the zoo is called Ada"));
    home.json(&["backup", "create", "--json"]);
    let before = exported(&home);
    let reply = home.json(&["encrypt", "--yes", "--json"]);
    assert_eq!(
        (reply["memories"].as_u64(), reply["backups_converted"].as_u64()),
        (Some(1), Some(1))
    );
    assert_eq!(reply.get("left"), None, "{reply}");
    let key = home.path(".loci/key");
    assert_eq!(key.metadata().expect("it exists").permissions().mode() & 0o777, 0o600);
    let data = home.path(".loci");
    let all = |suffix: &str| data.join(format!("memory.db{suffix}"));
    assert!(is_encrypted(&all("")));
    assert_eq!(files_with(&data, WORD), Vec::<PathBuf>::new());
    assert_eq!(exported(&home), before, "unused, it exports as before");

    // Two sessions at once; the first goes on where it was.
    let mut second = home.session();
    let mut stored = vec![format!("The {WORD} of the zoo is called Ada")];
    for number in 0..20 {
        let content = format!("The {WORD} in burrow {number} likes leaf {}", number * 13);
        let agent = if number % 2 == 0 { &mut first } else { &mut second };
        agent.store("semantic", &content);
        stored.push(content);
        if number == 12 {
            kill_daemon(&home);
        }
    }
    for content in &stored {
        assert_eq!(second.recall(content).first(), Some(content), "search is as before");
    }
    home.json(&["backup", "create", "--json"]);
    assert_eq!(files_with(&data, WORD), Vec::<PathBuf>::new(), "also in the log and the backups");
    kill_daemon(&home);
    let reply = home.json(&["rekey", "--yes", "--json"]);
    assert_eq!(reply["backups_converted"], 2, "{reply}");
    assert_eq!(files_with(&data, WORD), Vec::<PathBuf>::new());
    home.json(&["backup", "verify", "--json"]);
    home.json(&["backup", "restore", "--yes", "--json"]);
    assert!(is_encrypted(&all("")));

    home.json(&["decrypt", "--yes", "--json"]);
    assert!(!is_encrypted(&all("")));
    let found = exported(&home);
    for content in &stored {
        assert!(found.contains(content.as_str()), "{content}");
    }
    let doctor = printed(&home.loci(&["doctor"]));
    assert!(!doctor.contains("fail  "), "{doctor}");
}

#[test]
fn a_lost_key_and_one_that_others_can_read_are_named_and_nothing_is_moved() {
    let home = TestHome::without_model();
    home.session().store("semantic", &format!("The {WORD} of the zoo is called Ada"));
    let reply = home.json(&["encrypt", "--yes", "--json"]);
    let id = reply["key"].as_str().expect("a key").to_owned();
    stop(&home);
    let (key, kept) = (home.path(".loci/key"), home.path("kept"));
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).expect("is set");
    let refused = printed(&home.loci(&["stats"]));
    assert!(refused.contains("chmod 600"), "{refused}");
    fs::rename(&key, &kept).expect("the key is lost");
    for arguments in [
        &["stats"][..],
        &["encrypt", "--yes"],
        &["rekey", "--yes"],
        &["doctor", "--recover", "--yes"],
    ] {
        let refused = printed(&home.loci(arguments));
        assert!(
            refused.contains(&id) || refused.contains("not encrypted"),
            "{arguments:?}: {refused}"
        );
    }
    assert!(!home.path(".loci/quarantine").exists());
    assert!(!key.exists(), "no other key was made");
    fs::rename(&kept, &key).expect("the key is put back");
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("is set");
    assert!(exported(&home).contains(WORD));
    let shown = printed(&home.loci(&["encrypt", "--show-key"]));
    let secret = fs::read_to_string(&key).expect("is read");
    let secret = secret.lines().find(|line| line.starts_with("current ")).expect("a key");
    assert!(shown.contains(secret));
    assert!(!home.log().contains(&secret[8..]), "no key is in the log");
}

#[test]
fn a_fresh_store_with_a_key_is_encrypted_from_its_first_byte() {
    let home = TestHome::without_model();
    let reply = home.json(&["encrypt", "--yes", "--json"]);
    assert_eq!(reply["memories"], 0);
    let mut agent = home.session();
    agent.store_with(json!({"content": format!("The {WORD} is awake"), "type": "semantic"}));
    assert!(is_encrypted(&home.path(".loci/memory.db")));
    assert_eq!(files_with(&home.path(".loci"), WORD), Vec::<PathBuf>::new());
    assert_eq!(agent.recall(WORD).len(), 1);
}
