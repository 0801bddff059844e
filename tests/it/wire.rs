//! The daemon without a shim: started by hand, addressed on its socket, and observed from outside.
//!
//! Not here: any test; sessions as agents have them (`home`).

use crate::home::TestHome;
use crate::in_time::ExitInTime;
use loci_proto::hello;
use loci_proto::hello::Hello;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Time limit for anything that must happen.
const DEADLINE: Duration = Duration::from_secs(20);

/// Polls without pause until the condition holds; returns how long that took. The condition must be
/// slow enough that polling does not keep a core busy.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "{what}: not in time");
    }
    start.elapsed()
}

/// Returns the number of sessions of this home's daemon.
pub fn sessions(home: &TestHome) -> usize {
    home.status()["sessions"].as_array().expect("a JSON array").len()
}

/// Sends a signal to processes.
pub fn signal(name: &str, pids: impl IntoIterator<Item = u32>) {
    let pids: Vec<String> = pids.into_iter().map(|pid| pid.to_string()).collect();
    assert!(
        Command::new("kill")
            .arg(name)
            .args(pids)
            .exit_in_time()
            .expect("the command runs")
            .success()
    );
}

/// A daemon started by a test.
pub struct Daemon {
    child: Child,
    log: PathBuf,
}

impl Daemon {
    /// Starts it and waits until it answers.
    pub fn start(home: &TestHome, command: &mut Command) -> Self {
        let daemon = Self::launch(home, command);
        wait_until("the daemon answers", || home.loci(&["ctl", "status"]).status.success());
        daemon
    }

    /// Starts it; its log goes to a file of its own.
    pub fn launch(home: &TestHome, command: &mut Command) -> Self {
        let log = home.path("daemon.log");
        let file = File::create(&log).expect("the file is created");
        let child = command.stdout(Stdio::null()).stderr(file).spawn().expect("the command starts");
        Self { child, log }
    }

    /// Returns its pid.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        std::fs::read_to_string(&self.log).expect("the file can be read")
    }

    /// Waits for its exit.
    pub fn wait_for_exit(&mut self) -> ExitStatus {
        self.child.exit_in_time().expect("the process ends")
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // A failed test may have left it running.
        let _ = self.child.kill();
        let _ = self.child.exit_in_time();
    }
}

/// Returns a value in kilobytes from `/proc/PID/status`.
pub fn resident_kib(pid: &str) -> u64 {
    let status =
        std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the file can be read");
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .expect("the process has memory");
    line.trim().trim_end_matches(" kB").parse().expect("the value is a number")
}

/// Returns the number of open connections of this home's daemon, agents' and others'.
pub fn connections(home: &TestHome) -> usize {
    let folder = home.path("").to_string_lossy().into_owned();
    let all = std::fs::read_to_string("/proc/net/unix").expect("the file can be read");
    // Number, references, protocol, flags, type, state, inode, path; state 3 is a connection.
    let is_one = |fields: &[&str]| {
        fields.get(5) == Some(&"03") && fields.get(7).is_some_and(|path| path.starts_with(&folder))
    };
    all.lines().filter(|line| is_one(&line.split_whitespace().collect::<Vec<_>>())).count()
}

/// Returns the number of open descriptors; `None` without root, since the daemon is not dumpable
/// and only root may read its folder.
pub fn descriptors(pid: &str) -> Option<usize> {
    std::fs::read_dir(format!("/proc/{pid}/fd")).ok().map(Iterator::count)
}

/// Returns the CPU time of a process in clock ticks of 10 ms.
pub fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the file can be read");
    let fields: Vec<&str> =
        stat.rsplit(')').next().expect("the line has fields").split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("the value is a number")).sum()
}

/// A raw client of the agents' socket.
pub struct Peer(BufReader<UnixStream>);

impl Peer {
    /// Connects and sends nothing.
    pub fn silent(home: &TestHome) -> Self {
        let stream =
            UnixStream::connect(home.path("run/loci/locid.sock")).expect("the daemon accepts");
        stream.set_read_timeout(Some(DEADLINE)).expect("the socket option is set");
        Self(BufReader::new(stream))
    }

    /// Connects and sends a hello; returns the daemon's reply.
    pub fn with_hello(home: &TestHome) -> (Self, Value) {
        Self::with_versions(home, (hello::MIN_VERSION, hello::MAX_VERSION))
    }

    /// The same as a shim that speaks these protocols.
    pub fn with_versions(home: &TestHome, loci: (u32, u32)) -> (Self, Value) {
        let mut peer = Self::silent(home);
        let session = hello::Session {
            id: "wire".to_owned(),
            pid: std::process::id(),
            ..hello::Session::default()
        };
        let hello = Hello { loci, shim: "wire".to_owned(), session };
        peer.send(&serde_json::to_value(hello).expect("valid JSON"));
        let answer = peer.receive().expect("the daemon answers");
        (peer, answer)
    }

    /// Returns a peer that the daemon accepted.
    pub fn accepted(home: &TestHome) -> Self {
        let (peer, answer) = Self::with_hello(home);
        assert_eq!(answer["ok"], true, "{answer}");
        peer
    }

    /// Sends raw bytes.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).expect("the peer reads its input");
    }

    /// Sends raw bytes to a peer that may have closed the connection.
    ///
    /// # Errors
    /// When it has.
    pub fn try_send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.get_mut().write_all(bytes)
    }

    /// Sends bytes repeatedly until the daemon accepts no more; returns how many it accepted.
    pub fn send_repeatedly(&mut self, bytes: &[u8], times: usize) -> usize {
        let accepted = (0..times).find(|_| self.0.get_mut().write_all(bytes).is_err());
        accepted.unwrap_or(times) * bytes.len()
    }

    /// Sends one line.
    pub fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    /// Sends a call without waiting for its reply.
    pub fn call(&mut self, id: usize, tool: &str, arguments: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}));
    }

    /// Returns the next line; `None` if the daemon has closed the connection.
    pub fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.0.read_line(&mut line) {
            Ok(0) => None,
            Ok(_) => Some(
                serde_json::from_str(&line)
                    .unwrap_or_else(|_| panic!("not a complete line: {} bytes", line.len())),
            ),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("cannot read a line: {error}"),
        }
    }
}

/// Kills the daemon of a home without a chance to clean up, and waits until it has ended.
pub fn kill_daemon(home: &TestHome) {
    let pid = home.status()["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    let pid = pid.expect("the daemon runs");
    signal("-9", [pid]);
    // The first thread can be a zombie while others still hold the files and locks; the last one to go releases them.
    wait_until("the daemon ends", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let threads = std::fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
        let is_zombie =
            stat.rsplit(')').next().is_none_or(|rest| rest.is_empty() || rest.starts_with(" Z"));
        is_zombie && threads <= 1
    });
}
