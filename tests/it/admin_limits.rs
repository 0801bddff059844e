//! Stalled clients of the admin socket: the command line goes on, and no body is waited for without
//! a limit.

use crate::home::TestHome;
use crate::in_time::ExitInTime;
use crate::wire::{Daemon, wait_until};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Starts `loci import -` and sends it nothing.
fn stalled_import(home: &TestHome) -> Child {
    let mut command = home.command("loci");
    command.args(["import", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("loci starts")
}

#[test]
fn stalled_imports_do_not_lock_the_command_line_out() {
    let home = TestHome::without_model();
    let mut daemon = Daemon::start(&home, &mut home.command("locid"));
    let connections = || crate::wire::connections(&home);
    wait_until("the connections of the start are closed", || connections() == 0);
    let mut imports: Vec<Child> = (0..24).map(|_| stalled_import(&home)).collect();
    // Some are refused at once, because too many others are received.
    wait_until("each is connected or refused", || {
        let ended = imports.iter_mut().filter_map(|import| import.try_wait().ok()?).count();
        connections() + ended >= 24
    });
    let started = Instant::now();
    for command in [&["ctl", "status"][..], &["stats"], &["list"], &["ctl", "stop"]] {
        let output = home.loci(command);
        assert!(output.status.success(), "{command:?}: {output:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(daemon.wait_for_exit().code(), Some(0), "{}", daemon.log());
    for import in &mut imports {
        let _ = import.kill();
        let _ = import.exit_in_time();
    }
}

/// Sends a request whose body never comes; returns the first line of the answer and how long it
/// took.
fn stalled_body(home: &TestHome, path: &str, length: u64) -> (String, Duration) {
    let socket = home.path("run/loci/admin.sock");
    let mut stream = UnixStream::connect(socket).expect("the daemon accepts");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("the socket option is set");
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: loci\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{{"
    );
    let started = Instant::now();
    stream.write_all(head.as_bytes()).expect("the request is sent");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    (answer.lines().next().unwrap_or_default().to_owned(), started.elapsed())
}

#[test]
fn a_body_that_never_comes_is_refused() {
    let home = TestHome::without_model();
    let _daemon = Daemon::start(&home, &mut home.command("locid"));
    for path in ["/verbs/stats", "/long/doctor", "/export"] {
        let (answer, took) = stalled_body(&home, path, 99_999_999_999);
        assert!(answer.starts_with("HTTP/1.1 400"), "{path}: {answer}");
        assert!(took < Duration::from_secs(3), "{path}: {took:?}");
    }
    let (answer, took) = stalled_body(&home, "/long/doctor", 100);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(took < Duration::from_secs(15), "{took:?}");
}
