//! `loci update`: it says how this loci was installed, and updates nothing itself. Not here: real installers (`tests/packages`).

use crate::home::{TestHome, binaries};
use crate::in_time::OutputInTime;
use serde_json::Value;
use std::process::Command;

#[test]
fn the_check_names_the_build_and_the_command() {
    let home = TestHome::without_model();
    let output = home.loci(&["update", "--check"]);
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    assert!(
        output.status.success() && text.contains("Installed by a build of the source"),
        "{text}"
    );
    assert!(text.contains("cargo build --release --locked"), "{text}");
    let output = home.loci(&["update", "--check", "--json"]);
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    assert_eq!(reply["installer"], "build");
    assert_eq!(reply["version"], loci_proto::VERSION);
    let program = binaries().join("loci").canonicalize().expect("the binary exists");
    assert_eq!(reply["program"], program.to_str().expect("the path is UTF-8"));
}

#[test]
fn a_copy_of_unknown_origin_says_so() {
    let home = TestHome::without_model();
    let copy = home.path("loci");
    // By another process: a file that this one has open for writing while another test starts a program is busy.
    let copied = Command::new("cp").arg(binaries().join("loci")).arg(&copy).output_in_time();
    assert!(copied.expect("cp runs").status.success());
    let output = home.command_at(&copy).args(["update", "--check"]).output_in_time();
    let text = String::from_utf8(output.expect("loci runs").stdout).expect("the output is UTF-8");
    assert!(text.contains("Installed by an unknown way"), "{text}");
    assert!(text.contains("Replace loci and locid in"), "{text}");
}

#[test]
fn without_check_the_command_is_refused() {
    let home = TestHome::without_model();
    let output = home.loci(&["update"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("loci update --check"), "{text}");
    assert_eq!(home.loci(&["update", "now"]).status.code(), Some(2));
}
