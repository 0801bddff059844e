//! Losses of power: the files of a busy daemon are put into every kind of state that they may have
//! on the disk then, and opened: what was acknowledged is there once, and the start finds nothing
//! wrong.
//!
//! `LOCI_IMAGES` sets how many states are tried (200 here, 20,000 in `just power-loss`). The same
//! states of a disk that ignores the syncs of the log must show losses: a harness that finds none
//! there is blind.

mod trace;

use crate::home::{TestHome, binaries};
use crate::preload;
use crate::proof::effect::{Effect, State};
use crate::proof::random::Random;
use crate::proof::session::{Answer, MixedSession};
use crate::proof::stored::Stored;
use crate::proof::{folder_in_memory, setting};
use crate::wire::{Daemon, kill_daemon, wait_until};
use loci_engine::model::time::Timestamp;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use trace::{DATABASE, Disk, FILES, IDENTITY, Record};

/// Sessions that call at the same time, so that commits are grouped.
const SESSIONS: usize = 3;
/// Calls of each session between two starts of the daemon.
const CALLS: usize = 40;
/// Sessions of the three runs of the daemon.
const ALL_SESSIONS: usize = 3 * SESSIONS;

/// Records after a start or a stop that are tried more often than others.
const NEAR: usize = 400;

/// A recorded run.
struct Recorded {
    records: Vec<Record>,
    /// The changes of each session with its acknowledged ones.
    sessions: Vec<Vec<Effect>>,
}

impl Recorded {
    /// Runs the real daemon three times: it is killed, stopped, and killed again.
    fn run() -> Self {
        let home = TestHome::without_model();
        let library = preload::compile(&home.path(""), "record", preload::RECORD);
        let (log, boot) = (home.path("record"), home.path("boot"));
        std::fs::write(&boot, "an earlier boot\n").expect("the file is written");
        let mut sessions = Vec::new();
        for number in 0..3 {
            let mut command = home.command_at(&binaries().join("locid"));
            command.env("LD_PRELOAD", &library).env("LOCI_RECORD", &log);
            let mut daemon = Daemon::start(&home, command.env("LOCI_BOOT_ID", &boot));
            sessions.extend(call_in_parallel(&home, number * SESSIONS, &log));
            if number == 1 {
                assert!(home.loci(&["ctl", "stop"]).status.success());
                daemon.wait_for_exit();
            } else {
                kill_daemon(&home);
            }
        }
        let records = trace::parse(&std::fs::read(&log).expect("the record is readable"));
        Self { records, sessions }
    }

    /// Returns positions in order: a third of them anywhere, a third soon after a start or a stop,
    /// which sync the identity, a third at the end of a checkpoint, where most pages can be torn.
    /// Before the first start the store does not exist: a loss of power then may leave files that are
    /// refused.
    fn positions(&self, count: usize) -> Vec<usize> {
        let is_identity = |record: &Record| matches!(record, Record::Sync { file: IDENTITY });
        let length = self.records.len();
        let turns: Vec<usize> = (0..length).filter(|at| is_identity(&self.records[*at])).collect();
        assert!(turns.len() >= 3, "{turns:?}");
        let checkpoints = self.ends_of_checkpoints();
        assert!(checkpoints.len() >= 3, "{checkpoints:?}");
        let mut random = Random::new(4711);
        let mut positions: Vec<usize> = (0..count)
            .map(|number| match number % 3 {
                0 => turns[0] + random.below(length - turns[0]),
                1 => {
                    let turn = turns[random.below(turns.len())];
                    turn + random.below(NEAR.min(length - turn))
                }
                _ => checkpoints[random.below(checkpoints.len())],
            })
            .collect();
        positions.sort_unstable();
        positions
    }

    /// Returns the positions after the first start at which every page of a checkpoint is written, and
    /// none is synced.
    fn ends_of_checkpoints(&self) -> Vec<usize> {
        let (mut positions, mut is_within, mut has_started) = (Vec::new(), false, false);
        for (at, record) in self.records.iter().enumerate() {
            match record {
                Record::Write { file: DATABASE, .. } => is_within = true,
                Record::Sync { file: DATABASE } => {
                    if is_within && has_started {
                        positions.push(at);
                    }
                    is_within = false;
                }
                Record::Sync { file: IDENTITY } => has_started = true,
                _ => {}
            }
        }
        positions
    }

    /// Returns what must be stored after these acknowledged calls, and the calls in flight.
    fn expected(&self, acknowledged: &[usize]) -> (State, Vec<&Effect>) {
        let (mut state, mut in_flight) = (State::default(), Vec::new());
        for (effects, count) in self.sessions.iter().zip(acknowledged) {
            effects[..*count].iter().for_each(|effect| state.apply(effect));
            in_flight.extend(effects.get(*count));
        }
        (state, in_flight)
    }
}

/// Makes the calls of some sessions; returns their changes.
fn call_in_parallel(home: &TestHome, first: usize, log: &Path) -> Vec<Vec<Effect>> {
    std::thread::scope(|scope| {
        let workers: Vec<_> = (first..first + SESSIONS)
            .map(|number| scope.spawn(move || call(home, number, log)))
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("no call fails")).collect()
    })
}

fn call(home: &TestHome, number: usize, log: &Path) -> Vec<Effect> {
    let mut session =
        MixedSession::new(&format!("Session {number}"), home.session(), number as u64);
    // The daemon may not have written anything yet.
    let mut log = OpenOptions::new().append(true).create(true).open(log).expect("the record opens");
    for _ in 0..CALLS {
        let answer = session.step();
        assert_eq!(answer, Answer::Acknowledged);
        let bytes = trace::acknowledgement(number, session.events.len());
        log.write_all(&bytes).expect("the record is written");
    }
    session.events.into_iter().map(|event| event.effect).collect()
}

/// Opens the files of one state as a start does; returns what is wrong.
fn judge(folder: &Path, recorded: &Recorded, disk: &Disk) -> Result<(), String> {
    let path = folder.join(FILES[0]);
    let settings = loci_engine::Settings::for_model("test");
    let writer = loci_engine::open(&path, settings, Timestamp(0));
    let writer = writer.map_err(|error| format!("refused: {error}"))?;
    if let Some(finding) = writer.findings().first() {
        return Err(format!("a wrong finding: {finding}"));
    }
    writer.close().map_err(|error| format!("not closed: {error}"))?;
    let stored = Stored::read(&path)?;
    let (expected, in_flight) = recorded.expected(&disk.acknowledged);
    expected.check(in_flight, &stored.state)
}

/// Tries states at random positions; returns the faults.
fn try_images(recorded: &Recorded, images: usize, ignores_log_syncs: bool) -> Vec<String> {
    // A position may be tried more than once, with another share of the sectors each time.
    let positions: Vec<_> = recorded.positions(images).into_iter().enumerate().collect();
    let faults = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for half in positions.chunks(positions.len().div_ceil(2)) {
            let faults = &faults;
            scope.spawn(move || {
                let mut disk = Disk::new(ALL_SESSIONS, ignores_log_syncs);
                let mut taken = 0;
                for (seed, position) in half {
                    recorded.records[taken..*position].iter().for_each(|record| disk.take(record));
                    taken = *position;
                    let folder = folder_in_memory();
                    disk.write(folder.path(), &mut Random::new(*seed as u64));
                    if let Err(fault) = judge(folder.path(), recorded, &disk) {
                        // The control has many faults; those of an honest disk are looked at.
                        let kept = if ignores_log_syncs { None } else { Some(folder.keep()) };
                        let fault = format!("at {position}: {fault}; the files: {kept:?}");
                        faults.lock().expect("no thread panics").push(fault);
                    }
                }
            });
        }
    });
    faults.into_inner().expect("no thread panics")
}

/// Starts the real daemon on one state; returns its warnings.
fn warnings_of_daemon(recorded: &Recorded, position: usize) -> String {
    let home = TestHome::without_model();
    let mut disk = Disk::new(ALL_SESSIONS, false);
    recorded.records[..position].iter().for_each(|record| disk.take(record));
    disk.write(&home.path(".loci"), &mut Random::new(position as u64));
    assert!(home.loci(&["ctl", "start"]).status.success(), "position {position}");
    wait_until("the status is complete", || home.status()["warnings"].is_array());
    let warnings = home.status()["warnings"].to_string();
    let mut agent = home.session();
    agent.store("semantic", "Stored after the loss of power");
    assert_eq!(
        agent.recall("loss of power").first().map(String::as_str),
        Some("Stored after the loss of power")
    );
    warnings
}

#[test]
fn a_loss_of_power_loses_nothing_that_was_acknowledged() {
    let images = setting("LOCI_IMAGES", 200);
    let recorded = Recorded::run();
    let syncs = recorded.records.iter().filter(|r| matches!(r, Record::Sync { .. })).count();
    let faults = try_images(&recorded, images, false);
    let blind = try_images(&recorded, images, true);
    println!(
        "{} records with {syncs} syncs, {images} states, {} faults; without the syncs of the log {}",
        recorded.records.len(),
        faults.len(),
        blind.len()
    );
    assert!(faults.is_empty(), "{:#?}", &faults[..faults.len().min(10)]);
    assert!(blind.len() >= images / 4, "the control shows too few losses: {blind:#?}");
    for part in 1..=3 {
        let position = recorded.records.len() * part / 3 - part;
        assert_eq!(warnings_of_daemon(&recorded, position), "[]", "position {position}");
    }
}
