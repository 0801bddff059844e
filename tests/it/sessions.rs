//! Many sessions that start and end: all share one daemon, and killed sessions leave no process or
//! connection.

use crate::home::{Agent, TestHome};
use crate::wire::{connections, descriptors, resident_kib, sessions, signal, wait_until};
use serde_json::json;
use std::path::Path;

/// Sessions that are open at the same time.
const AT_ONCE: usize = 20;

/// Starts `size` sessions at once and waits until each has reached the daemon.
fn start_sessions(home: &TestHome, size: usize) -> Vec<Agent> {
    std::thread::scope(|scope| {
        let begin = || {
            let mut agent = home.session();
            agent.call("memory_stats", json!({})).expect("the call succeeds");
            agent
        };
        let starts: Vec<_> = (0..size).map(|_| scope.spawn(begin)).collect();
        starts.into_iter().map(|start| start.join().expect("the thread does not panic")).collect()
    })
}

#[test]
fn twenty_four_concurrent_shims_start_one_daemon() {
    let home = TestHome::without_model();
    for round in 1..=20 {
        let agents = start_sessions(&home, 24);
        assert_eq!(sessions(&home), 24, "round {round}");
        let served = home.log().lines().filter(|line| line.contains("serving")).count();
        assert_eq!(served, round, "one daemon in each round: {}", home.log());
        drop(agents);
        assert!(home.loci(&["ctl", "stop"]).status.success());
    }
}

/// Starts `times` sessions in groups of [`AT_ONCE`], kills them, and checks that nothing remains.
fn start_and_kill(home: &TestHome, times: usize) {
    for _ in 0..times / AT_ONCE {
        let agents = start_sessions(home, AT_ONCE);
        let pids: Vec<u32> = agents.iter().map(Agent::pid).collect();
        assert!(connections(home) >= AT_ONCE, "each is connected");
        signal("-KILL", pids.clone());
        drop(agents);
        assert!(
            pids.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists()),
            "no shim is left"
        );
    }
    wait_until("the daemon has no session", || sessions(home) == 0);
    // The status query was a connection, too.
    wait_until("the daemon has closed every connection", || connections(home) == 0);
}

#[test]
fn two_hundred_killed_sessions_leave_no_process_behind() {
    let home = TestHome::without_model();
    start_and_kill(&home, 3 * AT_ONCE);
    let pid = home.status()["pid"].to_string();
    wait_until("nobody is connected", || connections(&home) == 0);
    let before = (descriptors(&pid), resident_kib(&pid));
    start_and_kill(&home, 200);
    assert_eq!(home.status()["pid"].to_string(), pid, "it is the same daemon");
    wait_until("nobody is connected", || connections(&home) == 0);
    let after = (descriptors(&pid), resident_kib(&pid));
    println!("descriptors and KiB before {before:?}, after {after:?}");
    assert!(before.0.is_some() || record_uncounted_descriptors(), "descriptors are counted");
    assert_eq!(after.0, before.0, "descriptors");
    assert!(after.1 < before.1 + 2048, "{} KiB before, {} KiB after", before.1, after.1);
}

#[test]
fn a_working_shim_takes_less_than_three_mebibytes() {
    let home = TestHome::without_model();
    // The shims share the pages of their code, whatever else runs.
    let mut agents = [(); 4].map(|()| home.session());
    for agent in &mut agents {
        agent.request("tools/list", json!({}));
        agent.store("semantic", "One memory");
    }
    let agent = &agents[0];
    let rollup = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", agent.pid()))
        .expect("the file can be read");
    let kib = |name: &str| -> u64 {
        let line = rollup
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .expect("the file has the field");
        line.trim().trim_end_matches(" kB").parse().expect("the value is a number")
    };
    // Shims of other tests share its code pages too, but not its anonymous memory.
    let (all, own) = (kib("Pss:"), kib("Pss_Anon:"));
    println!("{all} KiB, of which {own} KiB are anonymous");
    assert!(all <= 3 * 1024 && own <= 640, "{all} KiB, of which {own} KiB are anonymous");
}

/// Records that the descriptors were not counted. Returns true, to be used in an assertion.
fn record_uncounted_descriptors() -> bool {
    loci_testkit::skipped::skip("not root: the daemon's descriptors could not be counted");
    true
}

#[test]
fn the_weights_are_given_back_after_a_single_recall() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store("semantic", "The kettle is on the stove");
    let pid = home.status()["pid"].to_string();
    let resident = || resident_file_kib(&pid, "model.safetensors");
    // A text that no cache has, so that the model runs.
    agent.recall("Where do we boil the water for tea?");
    let mapped = resident();
    assert!(mapped > 0, "the model has run");
    wait_until("the weights are given back", || resident() == 0);
    assert_eq!(agent.recall("Which pot whistles?"), ["The kettle is on the stove"]);
    assert!(resident() > 0, "they are mapped again when they are needed");
}

/// Returns how much of the mapped files with this name is resident in a process, in KiB.
fn resident_file_kib(pid: &str, name: &str) -> u64 {
    let smaps = std::fs::read_to_string(format!("/proc/{pid}/smaps")).expect("smaps is readable");
    let (mut is_file, mut resident) = (false, 0);
    for line in smaps.lines() {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("Rss:") if is_file => {
                let number = words.next().and_then(|number| number.parse::<u64>().ok());
                resident += number.expect("Rss is a number");
            }
            Some(word) if !word.ends_with(':') => is_file = line.ends_with(name),
            _ => {}
        }
    }
    resident
}
