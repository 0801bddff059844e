//! The daemon's sockets: existing files in their place, who may connect, and removal while running.

use crate::home::{Agent, TestHome};
use crate::wire::{Daemon, Peer, until};
use serde_json::json;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Returns a home whose socket folder exists already.
fn home() -> TestHome {
    let home = TestHome::without_model();
    fs::create_dir(home.path("run/loci")).expect("the folder is created");
    open(&home.path("run/loci"), 0o700);
    home
}

fn open(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the permissions are set");
}

#[test]
fn a_stale_socket_is_replaced() {
    let home = home();
    for name in ["run/loci/locid.sock", "run/loci/admin.sock"] {
        drop(UnixListener::bind(home.path(name)).expect("the socket binds"));
    }
    assert_eq!(
        home.session().call("memory_stats", json!({})).expect("the call succeeds")["total_memories"],
        0
    );
}

#[test]
fn another_file_in_place_of_a_socket_is_refused_unchanged() {
    for name in ["locid.sock", "admin.sock"] {
        for kind in ["file", "folder", "link", "link to nothing"] {
            let home = home();
            let place = home.path("run/loci").join(name);
            fs::write(home.path("target"), "precious").expect("the file is written");
            match kind {
                "file" => fs::write(&place, "precious"),
                "folder" => fs::create_dir(&place),
                "link" => symlink(home.path("target"), &place),
                _ => symlink(home.path("nowhere"), &place),
            }
            .expect("the file is created");
            let before = fs::symlink_metadata(&place).expect("the file exists").file_type();
            let run = home.command("locid").output().expect("the command runs");
            let said = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(run.status.code(), Some(70), "{name}, {kind}: {said}");
            assert!(said.contains("not a socket") && said.contains(name), "{name}, {kind}: {said}");
            assert_eq!(
                fs::symlink_metadata(&place).expect("the file exists").file_type(),
                before,
                "{name}, {kind}"
            );
            assert_eq!(
                fs::read_to_string(home.path("target")).expect("the file can be read"),
                "precious"
            );
            let refused =
                home.session().call("memory_stats", json!({})).expect_err("the call fails");
            assert!(refused.contains("not a socket"), "{name}, {kind}: {refused}");
        }
    }
}

#[test]
fn a_socket_in_use_is_not_replaced() {
    let home = home();
    let place = home.path("run/loci/locid.sock");
    let other = UnixListener::bind(&place).expect("the socket binds");
    let run = home.command("locid").output().expect("the command runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(70), "{said}");
    assert!(said.contains("another process listens"), "{said}");
    assert!(UnixStream::connect(&place).is_ok());
    drop(other);
}

#[test]
fn removed_sockets_are_bound_again() {
    let home = TestHome::without_model();
    let mut before = home.session();
    before.store("semantic", "Stored before");
    let pid = home.status()["pid"].clone();
    fs::remove_file(home.path("run/loci/locid.sock")).expect("the file is removed");
    fs::remove_file(home.path("run/loci/admin.sock")).expect("the file is removed");
    let took = until("the sockets are back", || home.loci(&["ctl", "status"]).status.success());
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(home.session().recall("stored before"), ["Stored before"]);
    fs::remove_dir_all(home.path("run/loci")).expect("the folder is removed");
    let took = until("the folder is back", || home.loci(&["ctl", "status"]).status.success());
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(home.session().recall("stored before"), ["Stored before"]);
    assert_eq!(
        before.recall("stored before"),
        ["Stored before"],
        "the session that was there before goes on"
    );
    assert_eq!(home.status()["pid"], pid, "it is the same daemon");
}

#[test]
fn a_daemon_whose_sockets_were_replaced_leaves_them_to_the_other() {
    let home = TestHome::without_model();
    let mut daemon = Daemon::start(&home, &mut home.command("locid"));
    let place = home.path("run/loci/locid.sock");
    fs::remove_file(&place).expect("the file is removed");
    let other = UnixListener::bind(&place).expect("the socket binds");
    assert_eq!(daemon.ended().code(), Some(0), "{}", daemon.log());
    assert!(UnixStream::connect(&place).is_ok(), "the other's socket was left alone");
    assert!(!home.path("run/loci/admin.sock").exists());
    drop(other);
}

#[test]
fn a_socket_path_that_is_too_long_is_refused_with_both_lengths() {
    let home = TestHome::without_model();
    let deep = home.path(&"x".repeat(120));
    fs::create_dir(&deep).expect("the folder is created");
    let home = home.with("XDG_RUNTIME_DIR", deep);
    let run = home.command("locid").output().expect("the command runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(78), "{said}");
    assert!(
        said.contains("too long (")
            && said.contains("> 107 bytes")
            && said.contains("shorter path"),
        "{said}"
    );
    let refused = home.session().call("memory_stats", json!({})).expect_err("the call fails");
    assert!(refused.contains("too long"), "{refused}");
    // Nothing to stop: the next look finds a home that works.
    drop(home.with("XDG_RUNTIME_DIR", "/tmp"));
}

#[test]
fn without_a_runtime_folder_the_sockets_are_in_the_data_folder() {
    let home = TestHome::without_model().with("XDG_RUNTIME_DIR", "");
    let mut agent = home.session();
    agent.store("semantic", "Found without a runtime folder");
    assert!(home.path(".loci/run/locid.sock").exists());
    assert_eq!(agent.recall("runtime folder").len(), 1);
}

#[test]
fn without_home_the_data_folder_must_be_set() {
    let home = TestHome::without_model();
    let data = home.path(".loci");
    let home = home.with("LOCI_HOME", &data);
    let mut agent = Agent::bare(home.command("loci").arg("mcp").env_remove("HOME"));
    assert!(agent.call("memory_stats", json!({})).is_ok());
    // Its sockets depend on the usual home folder, so it is stopped as it was started.
    let stopped = home
        .command("loci")
        .args(["ctl", "stop"])
        .env_remove("HOME")
        .status()
        .expect("the command runs");
    assert!(stopped.success());
    // A user unknown to the system has no home folder.
    let mut unknown = Command::new("setpriv");
    unknown
        .args(["--reuid=64242", "--regid=64242", "--clear-groups"])
        .arg(crate::home::binaries().join("locid"))
        .env_clear();
    match as_root(unknown.current_dir("/")) {
        None => {
            crate::skipped::skip("not root, or no setpriv: a missing home folder was not tried");
        }
        Some((code, said)) => {
            assert_eq!(code, Some(78), "{said}");
            assert!(said.contains("HOME is not set") && said.contains("LOCI_HOME"), "{said}");
        }
    }
}

/// Runs a command as another user; returns its exit code and output, or `None` without the
/// privilege.
fn as_root(command: &mut Command) -> Option<(Option<i32>, String)> {
    let id = Command::new("id").arg("-u").output().expect("the command runs");
    if id.stdout != b"0\n" {
        return None;
    }
    let output = command.output().ok()?;
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Some((output.status.code(), said.concat()))
}

/// A Python program that connects, sends a hello and prints the reply.
const KNOCK: &str = r#"
    my $peer = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $ARGV[0]) or die "no connection: $!";
    print "connected\n";
    $SIG{PIPE} = 'IGNORE';
    print $peer qq({"loci":[1,1],"shim":"x","session":{"id":"x","pid":1}}\n);
    $peer->flush;
    $peer->shutdown(1);
    while (<$peer>) { print }
"#;

#[test]
fn another_user_is_refused_even_if_every_mode_is_open() {
    let home = TestHome::without_model();
    let daemon = Daemon::start(&home, &mut home.command("locid"));
    for (name, mode) in
        [("", 0o755), ("run", 0o755), ("run/loci", 0o777), ("run/loci/locid.sock", 0o777)]
    {
        open(&home.path(name), mode);
    }
    let knock = |user: &str| {
        let mut probe = Command::new("setpriv");
        probe
            .args([user, "--clear-groups", "perl", "-MIO::Socket::UNIX", "-e", KNOCK])
            .arg(home.path("run/loci/locid.sock"));
        as_root(probe.current_dir("/"))
    };
    let Some((_, said)) = knock("--reuid=65534") else {
        crate::skipped::skip("not root, or no setpriv: another user was not tried");
        open(&home.path("run/loci"), 0o700);
        return;
    };
    assert_eq!(said, "connected\n", "not one byte was answered");
    assert!(
        daemon.log().contains("refused a connection of another user uid=65534"),
        "{}",
        daemon.log()
    );
    let (_, said) = knock("--reuid=0").expect("setpriv runs");
    assert!(said.contains(r#""ok":true"#), "the probe itself works: {said}");
    open(&home.path("run/loci"), 0o700);
    drop(Peer::welcome(&home));
}
