//! Daemons and shims are killed repeatedly under busy sessions: every call is answered, each
//! acknowledged effect is present exactly once, and no other call leaves half of its effect.
//!
//! `LOCI_KILLS` sets how often (100 here, thousands in `just torture`). Prints what was in flight
//! at each kill: a run with fewer than one call in flight on average proves nothing, and fails.

use crate::home::{Agent, TestHome};
use crate::in_time::ExitInTime;
use crate::proof::session::{Answer, MixedSession, check_all};
use crate::proof::setting;
use crate::proof::stored::Stored;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

const SESSIONS: usize = 8;
/// One kill in so many is that of a shim too.
const KILLS_PER_SHIM: usize = 10;

/// State shared by the sessions and the thread that kills.
#[derive(Default)]
struct SharedState {
    in_flight: AtomicUsize,
    stopped: AtomicBool,
    shims: Mutex<BTreeMap<usize, u32>>,
}

#[test]
fn killed_daemons_lose_and_duplicate_nothing() {
    let kills = setting("LOCI_KILLS", 100);
    let home = TestHome::without_model();
    let shared = SharedState::default();
    let (acknowledge, acknowledged) = channel();
    let (sessions, at_kills) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let (home, shared, acknowledge) = (&home, &shared, acknowledge.clone());
                scope.spawn(move || call_until_stopped(number, home, shared, &acknowledge))
            })
            .collect();
        drop(acknowledge);
        let at_kills = kill_often(&home, kills, &shared, &acknowledged);
        shared.stopped.store(true, Ordering::Relaxed);
        let sessions: Vec<MixedSession> =
            workers.into_iter().map(|w| w.join().expect("every call is answered")).collect();
        (sessions, at_kills)
    });
    let average = at_kills.iter().sum::<usize>() as f64 / at_kills.len() as f64;
    report(&sessions, at_kills.len(), average);
    assert!(average >= 1.0, "fewer than one call in flight at a kill");
    let doctor = home.loci(&["doctor"]);
    let findings = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(!findings.contains("fail  "), "{findings}");
    assert!(!home.path(".loci/quarantine").exists(), "no log was taken for a foreign one");
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let stored = Stored::read(&home.path(".loci/memory.db")).expect("the database is whole");
    check_all(&sessions, &stored).expect("the database has what was acknowledged");
}

fn report(sessions: &[MixedSession], kills: usize, in_flight: f64) {
    let events = || sessions.iter().flat_map(|session| &session.events);
    let unanswered = events().filter(|event| event.answer != Answer::Acknowledged).count();
    println!(
        "{kills} kills, {} changes acknowledged, {unanswered} without an answer, {in_flight:.1} calls in flight at a kill",
        events().count() - unanswered
    );
}

/// Makes calls until stopped. A session whose shim was killed gets another one.
fn call_until_stopped(
    number: usize,
    home: &TestHome,
    shared: &SharedState,
    acknowledge: &Sender<()>,
) -> MixedSession {
    let name = format!("Session {number}");
    // The client's own session goes on when its shim is killed: what it stored it may delete permanently.
    let connected = || {
        let mut command = home.command("loci");
        command.env("CLAUDE_CODE_SESSION_ID", format!("torture-{number}"));
        Agent::start(command)
    };
    let mut session = MixedSession::new(&name, connected(), number as u64);
    let enter = |session: &MixedSession| {
        shared.shims.lock().expect("no session panics").insert(number, session.shim());
    };
    enter(&session);
    while !shared.stopped.load(Ordering::Relaxed) {
        shared.in_flight.fetch_add(1, Ordering::Relaxed);
        let answer = session.step();
        shared.in_flight.fetch_sub(1, Ordering::Relaxed);
        match answer {
            // The receiver is gone once the last kill is done.
            Answer::Acknowledged => drop(acknowledge.send(())),
            Answer::None => {
                session.reconnect(connected());
                enter(&session);
            }
            Answer::Refused(error) => panic!("a call failed: {error}"),
        }
    }
    shared.shims.lock().expect("no session panics").remove(&number);
    session
}

/// Kills the daemon after a varying number of acknowledged calls, and a shim now and then; returns
/// the calls in flight at each kill.
fn kill_often(
    home: &TestHome,
    kills: usize,
    shared: &SharedState,
    acknowledged: &Receiver<()>,
) -> Vec<usize> {
    let mut at_kills = Vec::new();
    for round in 0..kills {
        let calls_before_kill = 1 + (round * 7919) % 23;
        (0..calls_before_kill).for_each(|_| {
            acknowledged.recv_timeout(crate::in_time::LIMIT).expect("the sessions still run");
        });
        let pid = std::fs::read_to_string(home.path("run/loci/locid.lock"))
            .expect("the file can be read")
            .trim()
            .to_owned();
        let mut pids = vec![pid];
        if round % KILLS_PER_SHIM == KILLS_PER_SHIM - 1 {
            let mut shims = shared.shims.lock().expect("no session panics");
            let shim = shims.remove(&((round / KILLS_PER_SHIM) % SESSIONS));
            pids.extend(shim.map(|pid| pid.to_string()));
        }
        at_kills.push(shared.in_flight.load(Ordering::Relaxed));
        // A daemon that is being replaced has no process; the next round finds the new one.
        let _ = Command::new("kill").arg("-9").args(&pids).stderr(Stdio::null()).exit_in_time();
    }
    at_kills
}
