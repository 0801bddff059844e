//! Writes and syncs of the daemon fail, once or from then on, on each of its files: every call is
//! answered in time with a result or a typed error, nothing acknowledged is lost, and without the
//! fault it goes on.
//!
//! About 40 cases run here; `LOCI_FAULTS=all` runs every one (`just faults`). A full disk that is
//! real is in `full_disk`; the shutdown after a failed sync in `disk_faults`.

use crate::home::{TestHome, binaries};
use crate::in_time::ExitInTime;
use crate::preload;
use crate::proof::session::{Answer, MixedSession, check_all};
use crate::proof::stored::Stored;
use crate::wire::wait_until;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Within this time every call is answered.
const DEADLINE: Duration = Duration::from_secs(5);
/// Calls before, during and after the fault.
const CALLS: usize = 8;
/// Cases that run at the same time; most of their time is waiting.
const THREADS: usize = 4;
/// The first words of every error that a call may end with.
const CODES: [&str; 2] = ["storage_failed: ", "busy: "];
/// What fails: the operation of `fault.c`, and the error.
const FAULTS: [(char, i32); 4] =
    [('W', libc::ENOSPC), ('W', libc::EIO), ('H', libc::ENOSPC), ('S', libc::EIO)];
const FILES: [&str; 4] = ["/memory.db", "/memory.db-wal", "/memory.db-identity", "/memory.db-sums"];

/// One case.
#[derive(Debug, Clone)]
struct Case {
    operation: char,
    error: i32,
    file: &'static str,
    number: usize,
    mode: &'static str,
}

impl Case {
    fn plan(&self) -> String {
        let Self { operation, error, file, number, mode } = self;
        format!("{operation} {error} {file} {number} {mode}")
    }
}

/// How a case ended.
#[derive(Debug, Default)]
struct Outcome {
    /// Whether a call of the file system failed.
    is_hit: bool,
    refused: usize,
    /// Whether the daemon shut down because of the fault.
    has_ended: bool,
}

/// Returns the cases: every one, or a spread of them.
fn cases(all: bool) -> Vec<Case> {
    let numbers: &[usize] = if all { &[0, 1, 2, 3, 5, 8, 13] } else { &[0, 3] };
    let mut cases = Vec::new();
    for (operation, error) in FAULTS {
        for file in FILES {
            // The identity and the checksums are synced when the store is opened or closed only.
            let is_synced = file == "/memory.db" || file == "/memory.db-wal";
            for number in numbers.iter().filter(|_| operation != 'S' || is_synced) {
                for mode in ["once", "sticky"] {
                    cases.push(Case { operation, error, file, number: *number, mode });
                }
            }
        }
    }
    // Of a write that failed once at a later call, the rest is as for the first.
    cases
        .retain(|case| all || case.number == 0 || (case.mode == "sticky" && case.operation != 'H'));
    cases
}

/// Starts a daemon with the library.
fn start(home: &TestHome, library: &Path, plan: &str) -> Child {
    let mut daemon = home.command_at(&binaries().join("locid"));
    daemon.env("LD_PRELOAD", library).env("LOCI_FAULT", plan);
    daemon.env("LOCI_FAULT_FLAG", home.path("fault")).stdin(Stdio::null());
    let daemon = daemon.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("locid starts");
    wait_until("the daemon serves", || home.loci(&["ctl", "status"]).status.success());
    daemon
}

/// Makes calls while the fault lasts; hard deletes run a checkpoint at once.
fn call_during_the_fault(session: &mut MixedSession, case: &Case) -> usize {
    let mut refused = 0;
    for number in 0..CALLS {
        let start = Instant::now();
        let answer = if number % 4 == 1 { session.forget(true) } else { session.step() };
        let took = start.elapsed();
        assert!(took < DEADLINE, "{case:?}: {answer:?} after {took:?}");
        match answer {
            Answer::Acknowledged => {}
            Answer::Refused(error) => {
                let is_typed = CODES.iter().any(|code| error.starts_with(code));
                assert!(is_typed, "{case:?}: {error}");
                refused += 1;
            }
            Answer::None => panic!("{case:?}: the shim has ended"),
        }
    }
    refused
}

fn run(case: &Case, library: &Path) -> Outcome {
    let home = TestHome::without_model();
    let mut daemon = start(&home, library, &case.plan());
    let mut session = MixedSession::new("Session", home.session(), case.number as u64);
    for _ in 0..CALLS {
        assert_eq!(session.step(), Answer::Acknowledged, "{case:?}");
    }
    let flag = home.path("fault");
    std::fs::write(&flag, "").expect("the flag is written");
    let refused = call_during_the_fault(&mut session, case);
    std::fs::remove_file(&flag).expect("the flag is removed");
    // A change: a daemon that shuts down still answers reads.
    wait_until("it goes on", || session.store() == Answer::Acknowledged);
    for _ in 0..CALLS {
        assert_eq!(session.step(), Answer::Acknowledged, "{case:?}");
    }
    let stopped = home.loci(&["ctl", "stop"]);
    assert!(stopped.status.success(), "{case:?}: {stopped:?}");
    let code = daemon.exit_in_time().expect("the daemon ends").code();
    assert!(matches!(code, Some(0 | 70)), "{case:?}: {code:?}");
    let stored = Stored::read(&home.path(".loci/memory.db"));
    let stored = stored.unwrap_or_else(|fault| panic!("{case:?}: {fault}"));
    let sessions = [session];
    check_all(&sessions, &stored).unwrap_or_else(|fault| panic!("{case:?}: {fault}"));
    let is_hit = home.path("fault.hit").exists();
    Outcome { is_hit, refused, has_ended: code == Some(70) }
}

#[test]
fn a_failing_file_loses_nothing_and_every_call_is_answered() {
    let all = std::env::var("LOCI_FAULTS").is_ok_and(|value| value == "all");
    let cases = cases(all);
    let folder = tempfile::tempdir().expect("the folder is created");
    let library = preload::compile(folder.path(), "fault", preload::FAULT);
    let (next, outcomes) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = run(case, &library);
                    outcomes.lock().expect("no case panics").insert(case.plan(), outcome);
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no case panics");
    let count = |is: fn(&Outcome) -> bool| outcomes.values().filter(|outcome| is(outcome)).count();
    println!(
        "{} cases, {} hit, {} with refused calls, {} with the end of the daemon",
        outcomes.len(),
        count(|outcome| outcome.is_hit),
        count(|outcome| outcome.refused > 0),
        count(|outcome| outcome.has_ended)
    );
    assert!(count(|outcome| outcome.is_hit) * 4 >= outcomes.len() * 3, "{outcomes:#?}");
}

#[test]
fn a_backup_that_cannot_be_written_deletes_nothing() {
    let folder = tempfile::tempdir().expect("the folder is created");
    let library = preload::compile(folder.path(), "fault", preload::FAULT);
    for (operation, error) in FAULTS {
        let case = Case { operation, error, file: "*/backups/", number: 0, mode: "sticky" };
        let home = TestHome::without_model();
        let mut daemon = start(&home, &library, &case.plan());
        let mut agent = home.session();
        agent.store("semantic", "Kept before the reset");
        std::fs::write(home.path("fault"), "").expect("the flag is written");
        let output = home.loci(&["reset", "--yes"]);
        let is_short_write = operation == 'H';
        assert!(home.path("fault.hit").exists(), "{case:?}");
        assert!(!output.status.success() || is_short_write, "{case:?}: {output:?}");
        std::fs::remove_file(home.path("fault")).expect("the flag is removed");
        let left: Vec<_> = std::fs::read_dir(home.path(".loci/backups"))
            .expect("the folder is readable")
            .map(|entry| entry.expect("the entry is readable").path())
            .collect();
        if output.status.success() {
            let is_database =
                |path: &&std::path::PathBuf| path.extension().is_some_and(|kind| kind == "db");
            let made: Vec<_> = left.iter().filter(is_database).collect();
            assert_eq!((made.len(), left.len()), (1, 2), "with its manifest: {left:?}");
            Stored::read(made[0]).expect("the backup is whole");
        } else {
            assert_eq!(left, Vec::<std::path::PathBuf>::new(), "no part of a backup is left");
            assert_eq!(agent.recall("kept"), ["Kept before the reset"], "{case:?}");
            assert!(home.loci(&["reset", "--yes"]).status.success(), "{case:?}");
        }
        let mut stop: Command = home.command("loci");
        assert!(stop.args(["ctl", "stop"]).exit_in_time().expect("loci runs").success());
        assert_eq!(daemon.exit_in_time().expect("the daemon ends").code(), Some(0), "{case:?}");
    }
}

#[test]
fn a_daemon_that_cannot_accept_does_not_spin_and_recovers() {
    let folder = tempfile::tempdir().expect("the folder is created");
    let library = preload::compile(folder.path(), "fault", preload::FAULT);
    let home = TestHome::without_model();
    let plan = format!("A {} *socket: 0 sticky", libc::EMFILE);
    let mut daemon = start(&home, &library, &plan);
    std::fs::write(home.path("fault"), "").expect("the flag is written");
    let socket = UnixStream::connect(home.path("run/loci/locid.sock")).expect("the kernel accepts");
    let second = Some(Duration::from_secs(1));
    socket.set_read_timeout(second).expect("the option is set");
    let since = Instant::now();
    let mut read = (&socket).read(&mut [0]);
    while read.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {
        read = (&socket).read(&mut [0]);
    }
    let is_unanswered = matches!(&read, Err(error) if error.kind() == ErrorKind::WouldBlock);
    assert!(is_unanswered, "nothing answers: {read:?}");
    let failed = std::fs::metadata(home.path("fault.hit")).expect("an accept failed").len();
    let per_second = failed as f64 / since.elapsed().as_secs_f64();
    assert!(failed >= 2 && per_second < 50.0, "{failed} failed accepts, {per_second} a second");
    std::fs::remove_file(home.path("fault")).expect("the flag is removed");
    drop(socket);
    home.session().store("semantic", "Stored afterwards");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert_eq!(daemon.exit_in_time().expect("the daemon ends").code(), Some(0));
}
