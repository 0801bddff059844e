//! The rules of the house, as tests. Each tells, when it is broken, what it protects and what to do instead.
//!
//! A rule is a pure function from a file to what is wrong in it. It is first tried on made-up text, so that it is known to be able to
//! fail, and then put to every file of the repository. Not here: what loci does (`it`), lints that clippy has already.

mod code;
mod documents;
mod floors;
mod hosts;
mod migrations;
mod plist;
mod repository;
mod rust;
mod scripts;
mod units;

/// Ends the test with the rule and every place where it is broken.
#[track_caller]
fn keep(rule: &str, broken: &[String]) {
    assert!(broken.is_empty(), "\n\nThe rule: {rule}\n\nBroken here:\n  {}\n", broken.join("\n  "));
}
