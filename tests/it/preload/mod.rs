//! Libraries in C that a daemon is started with (`LD_PRELOAD`): they record or fail its calls of
//! the file system.
//!
//! Not here: any test.

use crate::in_time::ExitInTime;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Records writes, truncations, syncs and removals of the files of a store, in order.
pub const RECORD: &str = include_str!("record.c");
/// Fails chosen calls on chosen files.
pub const FAULT: &str = include_str!("fault.c");

/// Compiles a library into a folder.
pub fn compile(folder: &Path, name: &str, text: &str) -> PathBuf {
    let (source, library) = (folder.join(format!("{name}.c")), folder.join(format!("{name}.so")));
    std::fs::write(&source, text).expect("the source is written");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-o"]).arg(&library).arg(&source);
    let status = compiler.args(["-ldl", "-lpthread"]).exit_in_time().expect("the C compiler runs");
    assert!(status.success(), "{name}.c does not compile");
    library
}
