//! Records that a test, or a part of one, was not run because this machine lacks something.
//!
//! `tests/run.sh` prints the records at its end (`tests/skipped.sh`).

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// Appends `TEST: REASON` to the file that `LOCI_SKIPPED` names; the test's name is that of its
/// thread.
pub fn skip(reason: &str) {
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    println!("skipped: {test}: {reason}");
    if let Some(file) = std::env::var_os("LOCI_SKIPPED") {
        record(file.as_ref(), &test, reason);
    }
}

fn record(file: &Path, test: &str, reason: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("the file opens");
    // One write: tests of several processes append at the same time.
    file.write_all(format!("{test}: {reason}\n").as_bytes()).expect("the file is written");
}

#[test]
fn a_skipped_test_is_in_the_summary_with_its_reason() {
    let folder = tempfile::tempdir().expect("the folder is created");
    let file = folder.path().join("skipped");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let summary = || {
        let script = root.join("tests/skipped.sh");
        let output =
            std::process::Command::new(script).arg(&file).output().expect("the command runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("the output is UTF-8")
    };
    assert_eq!(summary(), "Skipped: none\n");
    record(&file, "sockets::another_user", "not root");
    record(&file, "full_disk::a_full_disk", "no user namespaces");
    record(&file, "sockets::another_user", "not root");
    assert_eq!(
        summary(),
        "Skipped: 2\n  full_disk::a_full_disk: no user namespaces\n  sockets::another_user: not root\n"
    );
}
