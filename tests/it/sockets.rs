//! The daemon's sockets: existing files in their place, who may connect, and removal while running.

use crate::home::{Agent, TestHome};
use crate::in_time::{ExitInTime, OutputInTime};
use crate::wire::{Daemon, Peer, wait_until};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Returns a home whose socket folder exists already.
fn home() -> TestHome {
    let home = TestHome::without_model();
    fs::create_dir(home.path("run/loci")).expect("the folder is created");
    set_mode(&home.path("run/loci"), 0o700);
    home
}

fn set_mode(path: &Path, mode: u32) {
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
            let path = home.path("run/loci").join(name);
            fs::write(home.path("target"), "precious").expect("the file is written");
            match kind {
                "file" => fs::write(&path, "precious"),
                "folder" => fs::create_dir(&path),
                "link" => symlink(home.path("target"), &path),
                _ => symlink(home.path("nowhere"), &path),
            }
            .expect("the file is created");
            let before = fs::symlink_metadata(&path).expect("the file exists").file_type();
            let run = home.command("locid").output_in_time().expect("the command runs");
            let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
            assert_eq!(run.status.code(), Some(70), "{name}, {kind}: {stderr}");
            assert!(
                stderr.contains("not a socket") && stderr.contains(name),
                "{name}, {kind}: {stderr}"
            );
            assert_eq!(
                fs::symlink_metadata(&path).expect("the file exists").file_type(),
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
    let path = home.path("run/loci/locid.sock");
    let other = UnixListener::bind(&path).expect("the socket binds");
    let run = home.command("locid").output_in_time().expect("the command runs");
    let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(70), "{stderr}");
    assert!(stderr.contains("another process listens"), "{stderr}");
    assert!(UnixStream::connect(&path).is_ok());
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
    let took =
        wait_until("the sockets are back", || home.loci(&["ctl", "status"]).status.success());
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(home.session().recall("stored before"), ["Stored before"]);
    fs::remove_dir_all(home.path("run/loci")).expect("the folder is removed");
    let took = wait_until("the folder is back", || home.loci(&["ctl", "status"]).status.success());
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(home.session().recall("stored before"), ["Stored before"]);
    assert_eq!(
        before.recall("stored before"),
        ["Stored before"],
        "the session from before the removal continues"
    );
    assert_eq!(home.status()["pid"], pid, "it is the same daemon");
}

#[test]
fn a_daemon_whose_sockets_were_replaced_leaves_them_to_the_other() {
    let home = TestHome::without_model();
    let mut daemon = Daemon::start(&home, &mut home.command("locid"));
    let path = home.path("run/loci/locid.sock");
    fs::remove_file(&path).expect("the file is removed");
    let other = UnixListener::bind(&path).expect("the socket binds");
    assert_eq!(daemon.wait_for_exit().code(), Some(0), "{}", daemon.log());
    assert!(UnixStream::connect(&path).is_ok(), "the socket of the other process still works");
    assert!(!home.path("run/loci/admin.sock").exists());
    drop(other);
}

#[test]
fn a_socket_path_that_is_too_long_is_refused_with_both_lengths() {
    let home = TestHome::without_model();
    let deep = home.path(&"x".repeat(120));
    fs::create_dir(&deep).expect("the folder is created");
    let home = home.with("XDG_RUNTIME_DIR", deep);
    let run = home.command("locid").output_in_time().expect("the command runs");
    let stderr = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(78), "{stderr}");
    assert!(
        stderr.contains("too long (")
            && stderr.contains("> 107 bytes")
            && stderr.contains("shorter path"),
        "{stderr}"
    );
    let refused = home.session().call("memory_stats", json!({})).expect_err("the call fails");
    assert!(refused.contains("too long"), "{refused}");
    // With a short path, the home finds no daemon to stop when it is dropped.
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
        .exit_in_time()
        .expect("the command runs");
    assert!(stopped.success());
    // A user unknown to the system has no home folder.
    let mut unknown = Command::new("setpriv");
    unknown
        .args(["--reuid=64242", "--regid=64242", "--clear-groups"])
        .arg(crate::home::binaries().join("locid"))
        .env_clear();
    match run_as_root(unknown.current_dir("/")) {
        None => {
            loci_testkit::skipped::skip(
                "not root, or no setpriv: a missing home folder was not tried",
            );
        }
        Some((code, output)) => {
            assert_eq!(code, Some(78), "{output}");
            assert!(output.contains("HOME is not set") && output.contains("LOCI_HOME"), "{output}");
        }
    }
}

/// Runs a command that only root may run; returns its exit code and output, or `None` if this user
/// is not root or the command cannot be started.
fn run_as_root(command: &mut Command) -> Option<(Option<i32>, String)> {
    let id = Command::new("id").arg("-u").output_in_time().expect("the command runs");
    if id.stdout != b"0\n" {
        return None;
    }
    let output = command.output_in_time().ok()?;
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Some((output.status.code(), text.concat()))
}

/// A Perl program that connects, sends a hello and prints the reply.
const CONNECT: &str = r#"
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
        set_mode(&home.path(name), mode);
    }
    let connect_as = |user: &str| {
        let mut probe = Command::new("setpriv");
        probe
            .args([user, "--clear-groups", "perl", "-MIO::Socket::UNIX", "-e", CONNECT])
            .arg(home.path("run/loci/locid.sock"));
        run_as_root(probe.current_dir("/"))
    };
    let Some((_, output)) = connect_as("--reuid=65534") else {
        loci_testkit::skipped::skip("not root, or no setpriv: another user was not tried");
        set_mode(&home.path("run/loci"), 0o700);
        return;
    };
    assert_eq!(output, "connected\n", "the daemon answers nothing");
    assert!(
        daemon.log().contains("refused a connection of another user uid=65534"),
        "{}",
        daemon.log()
    );
    let (_, output) = connect_as("--reuid=0").expect("setpriv runs");
    assert!(output.contains(r#""ok":true"#), "the probe itself works: {output}");
    set_mode(&home.path("run/loci"), 0o700);
    drop(Peer::accepted(&home));
}

/// A Perl program that listens, and prints for each peer how many bytes it sent.
const LISTEN: &str = r#"
    $| = 1;
    my $listener = IO::Socket::UNIX->new(Type => SOCK_STREAM, Local => $ARGV[0], Listen => 9) or die "no socket: $!";
    print "listens\n";
    while (my $peer = $listener->accept) {
        my $received = 0;
        while (my $length = sysread($peer, my $part, 4096)) { $received += $length }
        print "$received\n";
    }
"#;

#[test]
fn a_socket_of_another_user_gets_no_byte() {
    let home = home();
    for (name, mode) in [("", 0o755), ("run", 0o755), ("run/loci", 0o777)] {
        set_mode(&home.path(name), mode);
    }
    let mut listener = Command::new("setpriv");
    listener.args(["--reuid=65534", "--clear-groups", "perl", "-MIO::Socket::UNIX", "-e", LISTEN]);
    listener.arg(home.path("run/loci/locid.sock")).current_dir("/").stdout(Stdio::piped());
    if !nix::unistd::geteuid().is_root() {
        loci_testkit::skipped::skip("not root: nobody else could listen");
        return;
    }
    let mut listener = listener.spawn().expect("setpriv runs");
    let mut lines = BufReader::new(listener.stdout.take().expect("the output is a pipe")).lines();
    let mut next = || lines.next().expect("there is a line").expect("the line can be read");
    assert_eq!(next(), "listens");
    set_mode(&home.path("run/loci"), 0o700);
    let refused = home.session().call("memory_stats", json!({})).expect_err("the call fails");
    assert!(refused.contains("another user (uid 65534) serves locid's socket"), "{refused}");
    for _ in 0..2 {
        assert_eq!(next(), "0", "the shim closed the connection without a byte");
    }
    listener.kill().and_then(|()| listener.exit_in_time()).expect("the process ends");
    fs::remove_file(home.path("run/loci/locid.sock")).expect("the file is removed");
}
