//! A build without encryption meets an encrypted store: it says so, and touches nothing.

use crate::home::{TestHome, printed};
use std::fs;

#[test]
fn an_encrypted_store_is_refused_with_the_next_step_and_not_touched() {
    let home = TestHome::without_model();
    let data = home.path(".loci");
    fs::create_dir_all(data.join("backups")).expect("the folder is created");
    let mut bytes = b"loci encABCDEFGH".to_vec();
    bytes.resize(8 * 4096, 7);
    let files = [data.join("memory.db"), data.join("backups/memory-20260210T083000Z.db")];
    for file in &files {
        fs::write(file, &bytes).expect("the file is written");
    }
    for arguments in [
        &["stats"][..],
        &["backup", "verify"],
        &["doctor", "--recover", "--yes"],
        &["backup", "restore", "--yes"],
    ] {
        let refused = home.loci(arguments);
        assert!(!refused.status.success(), "{arguments:?}");
        let refused = printed(&refused);
        assert!(refused.contains("4142434445464748"), "{arguments:?}: {refused}");
        assert!(refused.contains("feature encrypted"), "{arguments:?}: {refused}");
    }
    for file in &files {
        assert_eq!(fs::read(file).expect("is read"), bytes);
    }
    assert!(!data.join("quarantine").exists());
    assert!(!data.join("backups/memory-20260210T083000Z.json").exists(), "no verdict is written");
}

#[test]
fn the_commands_of_encryption_name_the_build_that_has_them() {
    let home = TestHome::without_model();
    home.session().store("semantic", "The heron is the staging server");
    for command in ["encrypt", "decrypt", "rekey"] {
        let refused = home.loci(&[command, "--yes"]);
        assert!(!refused.status.success());
        assert!(printed(&refused).contains("--features encrypted"), "{}", printed(&refused));
    }
    assert!(!home.path(".loci/key").exists());
    assert!(home.loci(&["stats"]).status.success(), "the daemon is back");
}
