//! Socket activation without a service manager: systemd's protocol, and the exact command that
//! launchd would run.

use crate::home::TestHome;
use crate::wire::{Daemon, Peer, signal, until};
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
    let ear = UnixDatagram::bind(home.path("notify")).expect("the socket binds");
    ear.set_read_timeout(Some(Duration::from_secs(20))).expect("the socket option is set");
    let notify = home.path("notify");
    (home.with("NOTIFY_SOCKET", notify).with("WATCHDOG_USEC", "200000"), ear)
}

fn hear(ear: &UnixDatagram) -> String {
    let mut message = [0; 256];
    let length = ear.recv(&mut message).expect("a notification arrives");
    String::from_utf8_lossy(&message[..length]).trim().to_owned()
}

/// Tests a daemon that was given its socket, from readiness to exit.
fn serve_and_end(home: &TestHome, mut daemon: Daemon, ear: &UnixDatagram) {
    let place = home.path("run/loci/locid.sock");
    let mut agent = home.session();
    agent.store("semantic", "Stored through the socket that was handed over");
    assert_eq!(home.status()["pid"], daemon.pid(), "no other daemon was started");
    assert_eq!(hear(ear), "READY=1");
    assert_eq!([hear(ear), hear(ear)], ["WATCHDOG=1", "WATCHDOG=1"]);
    signal("-TERM", [daemon.pid()]);
    assert_eq!(daemon.ended().code(), Some(0), "{}", daemon.log());
    let said = std::iter::repeat_with(|| hear(ear)).find(|said| said != "WATCHDOG=1");
    assert_eq!(said.as_deref(), Some("STOPPING=1"));
    assert!(
        fs::symlink_metadata(&place).expect("the file exists").file_type().is_socket(),
        "the socket is not ours to remove"
    );
    assert!(!home.path("run/loci/admin.sock").exists(), "the admin socket is");
}

#[test]
fn systemd_starts_the_daemon_at_the_first_connection() {
    let (home, ear) = home();
    let place = home.path("run/loci/locid.sock");
    let mut command = home.command("locid");
    let variables: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| Some(format!("{}={}", name.to_str()?, value?.to_str()?)))
        .collect();
    let mut activator = Command::new("systemd-socket-activate");
    activator
        .args(variables.iter().map(|variable| format!("--setenv={variable}")))
        .arg("--listen")
        .arg(&place);
    activator.arg(command.get_program());
    if Command::new("systemd-socket-activate")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_err()
    {
        crate::skipped::skip("no systemd-socket-activate: a shell took its place");
        return;
    }
    command.arg("--version");
    let activator = Daemon::launch(&home, &mut activator);
    until("the socket is there", || {
        Command::new("test").arg("-S").arg(&place).status().expect("the command runs").success()
    });
    assert!(!home.path("run/loci/locid.lock").exists(), "there is no daemon yet");
    serve_and_end(&home, activator, &ear);
}

/// Returns `locid` with a listening socket as descriptor 3, as systemd passes it.
fn handed(home: &TestHome, place: &Path) -> Command {
    let listener = UnixListener::bind(place).expect("the socket binds");
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
    let (home, ear) = home();
    let mut command = handed(&home, &home.path("run/loci/locid.sock"));
    let daemon = Daemon::start(&home, &mut command);
    drop(command);
    drop(Peer::welcome(&home));
    let second = home.command("locid").output().expect("the command runs");
    assert_eq!(second.status.code(), Some(75), "the lock is held all the same");
    serve_and_end(&home, daemon, &ear);
}

#[test]
fn a_socket_at_another_path_is_refused() {
    let (home, ear) = home();
    let run = handed(&home, &home.path("run/other.sock")).output().expect("the command runs");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(78), "{said}");
    assert!(
        said.contains("other.sock") && said.contains("Set ListenStream= of the socket unit to"),
        "{said}"
    );
    ear.set_nonblocking(true).expect("the socket option is set");
    assert_eq!(
        ear.recv(&mut [0; 8]).expect_err("no notification arrives").kind(),
        ErrorKind::WouldBlock
    );
    assert!(
        home.session().call("memory_stats", json!({})).is_ok(),
        "agents start one of their own"
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
fn mac() -> TestHome {
    let home = TestHome::without_model().with("XDG_RUNTIME_DIR", "");
    fs::create_dir_all(home.path(".cargo/bin")).expect("the folder is created");
    symlink(crate::home::binaries().join("locid"), home.path(".cargo/bin/locid"))
        .expect("the link is created");
    home
}

#[test]
fn the_command_of_the_launch_agent_serves_at_the_socket_that_it_names() {
    let home = mac();
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
    assert!(home.log().contains("serving"), "its log is the one that people are shown");
}

#[test]
fn a_launch_agent_with_a_socket_at_another_path_is_refused() {
    let home = mac();
    let home = {
        let elsewhere = home.path("elsewhere");
        home.with("LOCI_HOME", elsewhere)
    };
    let run = home
        .command_at("/bin/sh".as_ref())
        .args(["-c", &format!("umask 077; {}", launch_command())])
        .output()
        .expect("the command runs");
    let said = fs::read_to_string(home.path(".loci/logs/locid.log")).expect("the file can be read");
    assert_eq!(run.status.code(), Some(78), "{said}");
    assert!(
        said.contains(".loci/run/locid.sock, but agents connect to")
            && said.contains("elsewhere/run/locid-"),
        "{said}"
    );
}
