//! A disk that fails a sync: nothing more is acknowledged by that daemon, and nothing is lost.

use crate::home::{TestHome, binaries};
use crate::in_time::ExitInTime;
use crate::wire::wait_until;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Lets each sync of a write-ahead log fail with EIO while the file named by `LOCI_FAIL_SYNC`
/// exists.
const FAILING_SYNC: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int fd) {
    char link[64], path[4096];
    const char *flag = getenv("LOCI_FAIL_SYNC");
    if (!flag || access(flag, F_OK) != 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 4) return 0;
    path[length] = 0;
    return strcmp(path + length - 4, "-wal") == 0;
}

#define SYNC(name) \
    int name(int fd) { \
        if (fails(fd)) { errno = EIO; return -1; } \
        int (*real)(int) = dlsym(RTLD_NEXT, #name); \
        return real(fd); \
    }
SYNC(fsync)
SYNC(fdatasync)
"#;

/// Compiles the library into the home.
fn compile(home: &TestHome) -> PathBuf {
    let (source, library) = (home.path("sync.c"), home.path("sync.so"));
    fs::write(&source, FAILING_SYNC).expect("the source is written");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).arg("-ldl");
    assert!(compiler.exit_in_time().expect("the C compiler runs").success());
    library
}

/// Starts a daemon whose syncs fail while `flag` exists.
fn start(home: &TestHome, flag: &Path) -> Child {
    let mut daemon = home.command_at(&binaries().join("locid"));
    daemon.env("LD_PRELOAD", compile(home)).env("LOCI_FAIL_SYNC", flag);
    let daemon = daemon.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("locid starts");
    wait_until("the daemon serves", || home.loci(&["ctl", "status"]).status.success());
    daemon
}

#[test]
fn after_a_failed_sync_the_daemon_acknowledges_nothing() {
    let home = TestHome::without_model();
    let flag = home.path("fail");
    let mut daemon = start(&home, &flag);
    let mut agent = home.session();
    agent.store("semantic", "Stored before the fault");
    fs::write(&flag, "").expect("the flag is written");
    let note = |text: &str| serde_json::json!({"content": text, "type": "semantic"});
    let failed = agent.call("store_memory", note("Stored during the fault"));
    assert!(failed.is_err(), "{failed:?}");
    // The disk works again, but what SQLite takes for written may be lost.
    fs::remove_file(&flag).expect("the flag is removed");
    wait_until("the daemon ends", || !home.loci(&["ctl", "status"]).status.success());
    assert_eq!(daemon.exit_in_time().expect("the daemon ends").code(), Some(70));
    agent.store("semantic", "Stored by the next daemon");
    let found = agent.recall("stored");
    assert!(found.contains(&"Stored before the fault".to_owned()), "{found:?}");
    assert!(found.contains(&"Stored by the next daemon".to_owned()), "{found:?}");
}
