//! Rules for the whole repository, as tests. A failing rule says what it protects and how to
//! comply.
//!
//! A rule is a pure function from a file to its violations. Each test first applies it to made-up
//! text, to prove that it can fail, and then to every file of the repository. Not here: tests of
//! what loci does (`it`), and lints that clippy has.

mod code;
mod configuration;
mod cycles;
mod dependencies;
mod hosts;
mod hyperlinks;
mod layers;
mod migrations;
mod names;
mod network;
mod plist;
mod powers;
mod proofs;
mod references;
mod repository;
mod ruler;
mod rust;
mod scripts;
mod units;
mod vocabulary;

/// Fails the test if there are violations: prints the rule and all of them.
#[track_caller]
fn assert_rule(rule: &str, violations: &[String]) {
    assert!(
        violations.is_empty(),
        "\n\nRule: {rule}\n\nViolations:\n  {}\n",
        violations.join("\n  ")
    );
}
