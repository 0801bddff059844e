//! Socket activation without a service manager: systemd's protocol, and the exact command that
//! launchd would run.

use crate::home::TestHome;
use crate::in_time::{ExitInTime, OutputInTime};
use crate::wire::{Daemon, Peer, signal, wait_until};
use serde_json::json;
use std::fs;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Returns a home with a socket folder, and the notify socket of its service manager.
fn home() -> (TestHome, UnixDatagram) {
    let home = TestHome::without_model();
    fs::create_dir(home.path("run/loci")).expect("the folder is created");
    fs::set_permissions(home.path("run/loci"), fs::Permissions::from_mode(0o700))
        .expect("the permissions are set");
    let notify_socket = UnixDatagram::bind(home.path("notify")).expect("the socket binds");
    notify_socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("the socket option is set");
    let notify = home.path("notify");
    (home.with("NOTIFY_SOCKET", notify).with("WATCHDOG_USEC", "200000"), notify_socket)
}

fn next_notification(notify_socket: &UnixDatagram) -> String {
    let mut message = [0; 256];
    let length = loop {
        match notify_socket.recv(&mut message) {
            // A signal, of a child that has ended for example.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            received => break received.expect("a notification arrives"),
        }
    };
    String::from_utf8_lossy(&message[..length]).trim().to_owned()
}

/// Checks a daemon that was passed its socket: readiness, watchdog, serving, exit.
fn check_serving_and_exit(home: &TestHome, mut daemon: Daemon, notify_socket: &UnixDatagram) {
    let socket_path = home.path("run/loci/locid.sock");
    let mut agent = home.session();
    agent.store("semantic", "Stored through the socket that was handed over");
    assert_eq!(home.status()["pid"], daemon.pid(), "no other daemon was started");
    assert_eq!(next_notification(notify_socket), "READY=1");
    assert_eq!(
        [next_notification(notify_socket), next_notification(notify_socket)],
        ["WATCHDOG=1", "WATCHDOG=1"]
    );
    signal("-TERM", [daemon.pid()]);
    assert_eq!(daemon.wait_for_exit().code(), Some(0), "{}", daemon.log());
    let text = std::iter::repeat_with(|| next_notification(notify_socket))
        .find(|text| text != "WATCHDOG=1");
    assert_eq!(text.as_deref(), Some("STOPPING=1"));
    assert!(
        fs::symlink_metadata(&socket_path).expect("the file exists").file_type().is_socket(),
        "the passed socket is not removed"
    );
    assert!(!home.path("run/loci/admin.sock").exists(), "the admin socket is removed");
}

#[test]
fn systemd_starts_the_daemon_at_the_first_connection() {
    let (home, notify_socket) = home();
    let socket_path = home.path("run/loci/locid.sock");
    let mut command = home.command("locid");
    let variables: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, value?.to_str()?)))
        .collect();
    let mut activator = Command::new("systemd-socket-activate");
    activator
        .args(variables.iter().map(|variable| format!("--setenv={variable}")))
        .arg("--listen")
        .arg(&socket_path);
    activator.arg(command.get_program());
    if Command::new("systemd-socket-activate")
        .arg("--version")
        .stdout(Stdio::null())
        .exit_in_time()
        .is_err()
    {
        loci_testkit::skipped::skip("no systemd-socket-activate: a shell took its place");
        return;
    }
    command.arg("--version");
    let activator = Daemon::launch(&home, &mut activator);
    wait_until("the socket exists", || {
        Command::new("test")
            .arg("-S")
            .arg(&socket_path)
            .exit_in_time()
            .expect("the command runs")
            .success()
    });
    assert!(!home.path("run/loci/locid.lock").exists(), "there is no daemon yet");
    check_serving_and_exit(&home, activator, &notify_socket);
}

/// Returns the command of `locid` with a listening socket as descriptor 3, as systemd passes it.
fn locid_with_socket(home: &TestHome, socket_path: &Path) -> Command {
    let listener = UnixListener::bind(socket_path).expect("the socket binds");
    let mut command = home.command_at("/bin/sh".as_ref());
    let hand_over = "exec 3<&0 0</dev/null; LISTEN_FDS=1 LISTEN_PID=$$ exec \"$0\"";
    command
        .args(["-c", hand_over])
        .arg(crate::home::binaries().join("locid"))
        .stdin(OwnedFd::from(listener));
    command
}

#[test]
fn a_passed_socket_is_served_and_not_removed() {
    let (home, notify_socket) = home();
    let mut command = locid_with_socket(&home, &home.path("run/loci/locid.sock"));
    let daemon = Daemon::start(&home, &mut command);
    drop(command);
    drop(Peer::accepted(&home));
    let second = home.command("locid").output_in_time().expect("the command runs");
    assert_eq!(second.status.code(), Some(75), "the lock is held although the socket was passed");
    check_serving_and_exit(&home, daemon, &notify_socket);
}

#[test]
fn a_socket_at_another_path_is_refused() {
    let (home, notify_socket) = home();
    let run = locid_with_socket(&home, &home.path("run/other.sock"))
        .output_in_time()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(78), "{text}");
    assert!(
        text.contains("other.sock") && text.contains("Set ListenStream= of the socket unit to"),
        "{text}"
    );
    notify_socket.set_nonblocking(true).expect("the socket option is set");
    assert_eq!(
        notify_socket.recv(&mut [0; 8]).expect_err("no notification arrives").kind(),
        ErrorKind::WouldBlock
    );
    assert!(
        home.session().call("memory_stats", json!({})).is_ok(),
        "the shim starts a daemon itself"
    );
}

/// Returns the shell command of the launch agent: the only string in the file that ends in a
/// command. `tidy` parses the whole file.
fn launch_command() -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../launchd/dev.loci.locid.plist");
    let text = fs::read_to_string(file).expect("the file can be read");
    let (_, rest) = text.split_once("<string>-c</string>").expect("the file has the element");
    let (_, rest) = rest.split_once("<string>").expect("the file has the element");
    let (command, _) = rest.split_once("</string>").expect("the file has the element");
    command.replace("&gt;", ">").replace("&amp;", "&")
}

/// Returns a home as on macOS, without a runtime folder, with loci installed by cargo.
fn home_as_on_macos() -> TestHome {
    let home = TestHome::without_model().with("XDG_RUNTIME_DIR", "");
    fs::create_dir_all(home.path(".cargo/bin")).expect("the folder is created");
    symlink(crate::home::binaries().join("locid"), home.path(".cargo/bin/locid"))
        .expect("the link is created");
    home
}

#[test]
fn the_command_of_the_launch_agent_serves_at_the_socket_that_it_names() {
    let home = home_as_on_macos();
    let command = format!("umask 077; {}", launch_command());
    let daemon = Daemon::start(&home, home.command_at("/bin/sh".as_ref()).args(["-c", &command]));
    let mut agent = home.session();
    agent.store("semantic", "Stored with the daemon of the launch agent");
    assert_eq!(home.status()["pid"], daemon.pid(), "no other daemon was started");
    assert!(
        fs::symlink_metadata(home.path(".loci/run/locid.sock"))
            .expect("the file exists")
            .file_type()
            .is_socket()
    );
    assert!(home.log().contains("serving"), "it logs to the usual file");
}

#[test]
fn a_launch_agent_with_a_socket_at_another_path_is_refused() {
    let home = home_as_on_macos();
    let home = {
        let elsewhere = home.path("elsewhere");
        home.with("LOCI_HOME", elsewhere)
    };
    let run = home
        .command_at("/bin/sh".as_ref())
        .args(["-c", &format!("umask 077; {}", launch_command())])
        .output_in_time()
        .expect("the command runs");
    let text = fs::read_to_string(home.path(".loci/logs/locid.log")).expect("the file can be read");
    assert_eq!(run.status.code(), Some(78), "{text}");
    assert!(
        text.contains(".loci/run/locid.sock, but agents connect to")
            && text.contains("elsewhere/run/locid-"),
        "{text}"
    );
}
