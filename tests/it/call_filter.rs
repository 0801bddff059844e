//! System call filters that a command and all processes that it starts inherit.
//!
//! Not here: any test.

use crate::in_time::OutputInTime;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Calls that may happen, or may not: the number, and the conditions of which one must hold.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Makes the kernel kill the command at the first socket that is not a Unix socket, and at an
/// `io_uring`, which could open one without the call `socket`.
pub fn allow_only_local_sockets(command: &mut Command) {
    let rules = [
        (libc::SYS_socket, vec![argument(0, SeccompCmpOp::Ne, libc::AF_UNIX)]),
        (libc::SYS_io_uring_setup, Vec::new()),
    ];
    let (otherwise, matched) = (SeccompAction::Allow, SeccompAction::KillProcess);
    install(command, rules.into_iter().collect(), otherwise, matched);
}

/// Applies the restrictions of `systemd/locid.service` to the command: its system calls, no memory
/// that is writable and executable, Unix sockets only. Returns false if this machine cannot say
/// which calls systemd's sets contain.
pub fn apply_restrictions_of_the_unit(command: &mut Command, unit: &str) -> bool {
    let Some(calls) = permitted_calls(unit) else { return false };
    let mut rules: Rules = calls.into_iter().map(|number| (number, Vec::new())).collect();
    let exec = libc::PROT_EXEC;
    let not = |index, mask, value| argument(index, SeccompCmpOp::MaskedEq(bits(mask)), value);
    let write_or_exec = libc::PROT_WRITE | exec;
    let mappings = [0, libc::PROT_WRITE, exec].map(|value| not(2, write_or_exec, value));
    for (call, conditions) in [
        (libc::SYS_mmap, mappings.to_vec()),
        (libc::SYS_mprotect, vec![not(2, exec, 0)]),
        (libc::SYS_pkey_mprotect, vec![not(2, exec, 0)]),
        (libc::SYS_shmat, vec![not(2, libc::SHM_EXEC, 0)]),
        (libc::SYS_socket, vec![argument(0, SeccompCmpOp::Eq, libc::AF_UNIX)]),
    ] {
        if rules.contains_key(&call) {
            rules.insert(call, conditions);
        }
    }
    let refused = SeccompAction::Errno(u32::try_from(libc::EPERM).expect("it is not negative"));
    install(command, rules, refused, SeccompAction::Allow);
    true
}

fn bits(number: i32) -> u64 {
    u64::try_from(number).expect("the number is not negative")
}

fn argument(index: u8, operator: SeccompCmpOp, value: i32) -> SeccompRule {
    let condition = SeccompCondition::new(index, SeccompCmpArgLen::Dword, operator, bits(value))
        .expect("the condition is valid");
    SeccompRule::new(vec![condition]).expect("the rule is valid")
}

fn install(command: &mut Command, rules: Rules, otherwise: SeccompAction, matched: SeccompAction) {
    let arch = TargetArch::try_from(std::env::consts::ARCH).expect("the architecture is supported");
    let filter = SeccompFilter::new(rules, otherwise, matched, arch).expect("the filter is valid");
    let program: BpfProgram = filter.try_into().expect("the filter compiles");
    // SAFETY: applying a filter is two system calls on memory allocated before the fork.
    unsafe {
        command
            .pre_exec(move || seccompiler::apply_filter(&program).map_err(std::io::Error::other));
    }
}

/// Returns the numbers of the calls that the lines `SystemCallFilter=` of a unit permit: the sets
/// without a tilde, less those with one. `None` without systemd or the headers of the kernel.
fn permitted_calls(unit: &str) -> Option<BTreeSet<i64>> {
    let listing = Command::new("systemd-analyze").arg("syscall-filter").output_in_time().ok()?;
    let sets = String::from_utf8(listing.stdout).ok()?;
    let numbers = call_numbers()?;
    let mut names = BTreeSet::new();
    for value in unit.lines().filter_map(|line| line.strip_prefix("SystemCallFilter=")) {
        match value.strip_prefix('~') {
            Some(set) => names = &names - &members(&sets, set),
            None => names.extend(members(&sets, value)),
        }
    }
    Some(names.iter().filter_map(|name| numbers.get(name).copied()).collect())
}

/// Returns the calls of a set of systemd, with those of the sets that it contains.
fn members(sets: &str, set: &str) -> BTreeSet<String> {
    let lines = sets.lines().skip_while(|line| *line != set).skip(1);
    let mut found = BTreeSet::new();
    for line in lines.take_while(|line| line.starts_with(' ')).map(str::trim) {
        match line.get(..1) {
            Some("#") | None => {}
            Some("@") => found.extend(members(sets, line)),
            Some(_) => drop(found.insert(line.to_owned())),
        }
    }
    found
}

/// Returns the number of each system call from the headers of the kernel.
fn call_numbers() -> Option<BTreeMap<String, i64>> {
    let header = match std::env::consts::ARCH {
        "x86_64" => "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
        _ => "/usr/include/asm-generic/unistd.h",
    };
    let text = std::fs::read_to_string(header).ok()?;
    let define = |line: &str| {
        let (name, number) = line.strip_prefix("#define __NR_")?.split_once(' ')?;
        Some((name.to_owned(), number.trim().parse().ok()?))
    };
    Some(text.lines().filter_map(define).collect())
}
