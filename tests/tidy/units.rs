//! The unit files: they can be read, run the daemon as it is, and take nothing for granted that a person's service manager may lack.

use crate::keep;
use crate::plist::{self, Value};
use crate::repository::{files, read, sources};
use crate::rust::Source;
use loci_proto::paths::{Paths, Variables};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

const UNIT: &str = "systemd/locid.service";
const SOCKET: &str = "systemd/locid.socket";
const AGENT: &str = "launchd/dev.loci.locid.plist";
const BINARY: &str = "%h/.cargo/bin/locid";

/// Settings that the unit has to have.
const REQUIRED: [(&str, &str, &str); 14] = [
    ("Service", "ExecStart", BINARY),
    ("Service", "Restart", "on-failure"),
    ("Service", "SuccessExitStatus", "75"),
    ("Service", "RestartPreventExitStatus", "78"),
    ("Service", "RuntimeDirectoryPreserve", "yes"),
    ("Service", "UMask", "0077"),
    ("Service", "LimitCORE", "0"),
    ("Service", "NoNewPrivileges", "yes"),
    ("Service", "RestrictAddressFamilies", "AF_UNIX"),
    ("Service", "RestrictNamespaces", "yes"),
    ("Service", "SystemCallFilter", "@system-service"),
    ("Service", "SystemCallErrorNumber", "EPERM"),
    ("Unit", "Requires", "locid.socket"),
    ("Install", "Also", "locid.socket"),
];
/// Settings that the socket unit has to have; the path is that of `loci_proto::paths`.
const SOCKET_REQUIRED: [(&str, &str, &str); 4] = [
    ("Socket", "ListenStream", "%t/loci/locid.sock"),
    ("Socket", "SocketMode", "0600"),
    ("Socket", "DirectoryMode", "0700"),
    ("Install", "WantedBy", "sockets.target"),
];
/// Tenths of `systemd-analyze security` that the service may have. What it counts above this are capabilities that no service of a
/// person has, and name spaces.
const EXPOSURE: u32 = 60;
/// Beginnings of settings that need a user name space, which is not to be had everywhere; without it the unit would not start.
const NAME_SPACES: [&str; 7] = [
    "Private",
    "Protect",
    "ReadWritePaths",
    "ReadOnlyPaths",
    "InaccessiblePaths",
    "BindPaths",
    "RootDirectory",
];

/// Section, key and value of every line of a unit.
fn settings(unit: &str) -> Result<Vec<(String, String, String)>, String> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in unit.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(['#', ';']))
    {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else {
            let (key, value) = line.split_once('=').ok_or_else(|| format!("no setting: {line}"))?;
            settings.push((section.clone(), key.to_owned(), value.to_owned()));
        }
    }
    Ok(settings)
}

/// Whether the daemon tells its service manager that it is ready.
fn tells_readiness(sources: &[Source]) -> bool {
    sources.iter().any(|source| {
        source.path.starts_with("daemon/src/") && source.text.contains("NotifyState::Ready")
    })
}

fn faults(unit: &str, tells_readiness: bool) -> Vec<String> {
    let settings = match settings(unit) {
        Ok(settings) => settings,
        Err(why) => return vec![format!("{UNIT}: {why}")],
    };
    let kind = if tells_readiness { "notify" } else { "simple" };
    let required = REQUIRED.into_iter().chain([("Service", "Type", kind)]);
    let has = |wanted: &(&str, &str, &str)| {
        settings.iter().any(|(s, k, v)| (s.as_str(), k.as_str(), v.as_str()) == *wanted)
    };
    let missing = required.filter(|wanted| !has(wanted));
    let missing =
        missing.map(|(section, key, value)| format!("{UNIT}: [{section}] lacks {key}={value}"));
    let spaces = settings
        .iter()
        .filter(|(_, key, _)| NAME_SPACES.iter().any(|start| key.starts_with(start)));
    missing
        .chain(spaces.map(|(_, key, _)| format!("{UNIT}: {key} needs a user name space")))
        .collect()
}

#[test]
fn the_service_unit_runs_the_daemon_as_it_is() {
    let unit = read(UNIT);
    for line in ["ExecStart=%h/.cargo/bin/locid", "SuccessExitStatus=75", "NoNewPrivileges=yes"] {
        assert_eq!(faults(&unit.replace(line, ""), true).len(), 1, "{line}");
    }
    assert_eq!(faults(&unit.replace("[Install]", "PrivateTmp=yes\n[Install]"), true).len(), 1);
    assert_eq!(faults(&unit.replace("[Install]", "nonsense\n[Install]"), true).len(), 1);
    assert_eq!(
        faults(&unit, false).len(),
        1,
        "a daemon that never tells when it is ready wants Type=simple"
    );
    let rule = "The service unit starts locid from the folder that cargo installs into, does not start it again when another daemon serves (75) \
                or its configuration is wrong (78), and hardens it without name spaces. Type is notify only once the daemon sends READY=1.";
    keep(rule, &faults(&unit, tells_readiness(&sources())));
}

fn socket_faults(unit: &str) -> Vec<String> {
    let settings = settings(unit).unwrap_or_default();
    let has = |wanted: &(&str, &str, &str)| {
        settings.iter().any(|(s, k, v)| (s.as_str(), k.as_str(), v.as_str()) == *wanted)
    };
    let missing = SOCKET_REQUIRED.into_iter().filter(|wanted| !has(wanted));
    missing
        .map(|(section, key, value)| format!("{SOCKET}: [{section}] lacks {key}={value}"))
        .collect()
}

#[test]
fn the_socket_unit_listens_where_the_shims_look() {
    let unit = read(SOCKET);
    assert_eq!(socket_faults(&unit.replace("/loci/locid.sock", "/locid.sock")).len(), 1);
    let runtime = Some("/run/user/7".into());
    let variables =
        Variables { user_home: Some("/home/anna".into()), runtime, ..Variables::default() };
    let socket = Paths::resolve(&variables).expect("resolves").socket;
    assert_eq!(SOCKET_REQUIRED[0].2.replace("%t", "/run/user/7"), socket.display().to_string());
    let rule =
        "The socket unit listens at the agents' socket of loci_proto::paths, for its owner alone.";
    keep(rule, &socket_faults(&unit));
}

/// Whether `systemd-analyze security` finds the service closed enough; nothing when this machine has no systemd.
fn closed_enough(name: &str, unit: &str) -> Option<(bool, String)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("units").join(name);
    fs::create_dir_all(&folder).expect("the folder is made");
    let path = folder.join("locid.service");
    fs::write(&path, unit.replace(BINARY, "/bin/true")).expect("the unit is written");
    let arguments = ["security", "--offline=yes", "--no-pager", &format!("--threshold={EXPOSURE}")];
    let said = Command::new("systemd-analyze").args(arguments).arg(&path).output().ok()?;
    let text = [said.stdout, said.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
        .concat();
    Some((said.status.success(), text.lines().last().unwrap_or_default().to_owned()))
}

#[test]
fn systemd_finds_the_service_closed_enough() {
    let unit = read(UNIT);
    let Some((closed, said)) = closed_enough("closed", &unit) else {
        println!(
            "systemd-analyze is not on this machine: the hardening was only read, not weighed"
        );
        return;
    };
    println!("{said}");
    keep(
        "`systemd-analyze security` finds no more exposure than EXPOSURE of tests/tidy/units.rs.",
        &if closed { vec![] } else { vec![said] },
    );
    let (closed, said) = closed_enough("opened", &unit.replace("NoNewPrivileges=yes", ""))
        .expect("is on this machine");
    assert!(!closed, "systemd would have told: {said}");
}

/// What systemd says about a unit whose binary is there; nothing when this machine has no systemd.
fn verified(name: &str, unit: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("units").join(name);
    fs::create_dir_all(&folder).expect("the folder is made");
    let binary = std::env::current_exe().expect("this test runs");
    let path = folder.join("locid.service");
    fs::write(&path, unit.replace(BINARY, &binary.display().to_string()))
        .expect("the unit is written");
    let socket = folder.join("locid.socket");
    fs::write(&socket, read(SOCKET)).expect("the unit is written");
    let verify = ["verify", "--user", "--man=no"];
    let said = Command::new("systemd-analyze")
        .args(verify)
        .arg(&socket)
        .arg(&path)
        .env("XDG_RUNTIME_DIR", &folder)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&said.stderr);
    // It speaks of the machine's other units too, and ends well over a key that it does not know.
    let ours = text.lines().filter(|line| line.contains("locid.")).map(str::to_owned);
    let failed = (!said.status.success()).then(|| format!("systemd-analyze: {}", text.trim()));
    Some(ours.chain(failed).collect::<Vec<_>>().join("\n"))
}

#[test]
fn systemd_finds_no_fault_with_the_unit() {
    let unit = read(UNIT);
    let Some(said) = verified("good", &unit) else {
        println!("systemd-analyze is not on this machine: the unit was only read, not verified");
        return;
    };
    keep(
        "`systemd-analyze verify --user` finds no fault with the service unit.",
        &said.lines().map(str::to_owned).collect::<Vec<_>>(),
    );
    let misspelt = verified("misspelt", &unit.replace("RestartSec=", "RestrtSec="))
        .expect("is on this machine");
    assert!(misspelt.contains("RestrtSec"), "systemd would have told: {misspelt}");
}

fn agent_faults(text: &str) -> Vec<String> {
    let entries = match plist::parse(text) {
        Ok(Value::Table(entries)) => entries,
        Ok(other) => return vec![format!("{AGENT}: is no table: {other:?}")],
        Err(why) => return vec![format!("{AGENT}: {why}")],
    };
    let after_a_failure = Value::Table([("SuccessfulExit".to_owned(), Value::Flag(false))].into());
    let required = [
        ("Label", Value::Text("dev.loci.locid".to_owned())),
        ("RunAtLoad", Value::Flag(true)),
        ("KeepAlive", after_a_failure),
        ("Umask", Value::Whole(0o077)),
    ];
    let missing = required.into_iter().filter(|(key, value)| entries.get(*key) != Some(value));
    let mut faults: Vec<String> =
        missing.map(|(key, value)| format!("{AGENT}: {key} is not {value:?}")).collect();
    let command = command(&entries).unwrap_or_default();
    if !command.contains("exec \"$HOME/.cargo/bin/locid\"") {
        faults.push(format!("{AGENT}: ProgramArguments do not run locid"));
    }
    let named = command
        .split_once("--socket \"")
        .and_then(|(_, rest)| rest.split_once('"'))
        .map_or("none", |(path, _)| path);
    let expected = socket_on_macos("/Users/anna");
    if named.replace("$HOME", "/Users/anna") != expected {
        faults.push(format!("{AGENT}: the socket it names is {named}, agents look at {expected}"));
    }
    faults
}

/// What the shell of the launch agent is told to do.
fn command(entries: &BTreeMap<String, Value>) -> Option<&str> {
    match entries.get("ProgramArguments")? {
        Value::List(items) => match items.as_slice() {
            [Value::Text(shell), Value::Text(option), Value::Text(command)]
                if shell == "/bin/sh" && option == "-c" =>
            {
                Some(command)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Where agents look for the daemon of somebody with this home folder; macOS knows no `XDG_RUNTIME_DIR`.
fn socket_on_macos(home: &str) -> String {
    let variables = Variables { user_home: Some(home.into()), ..Variables::default() };
    Paths::resolve(&variables).expect("resolves").socket.display().to_string()
}

#[test]
fn the_launch_agent_runs_the_daemon_and_names_its_socket() {
    let text = read(AGENT);
    assert_eq!(
        agent_faults(&text.replace("<integer>63</integer>", "<integer>77</integer>")).len(),
        1
    );
    assert_eq!(agent_faults(&text.replace(".cargo/bin/locid", "bin/locid")).len(), 1);
    assert_eq!(agent_faults(&text.replace("/run/locid.sock", "/locid.sock")).len(), 1);
    assert_eq!(agent_faults(&text.replace("--socket", "")).len(), 1);
    assert_eq!(agent_faults(&text.replace("</array>", "")).len(), 1);
    let rule = "The launch agent parses, starts locid at login and after a crash (not after `loci ctl stop`), with files for its owner alone, and \
                names the agents' socket of loci_proto::paths, so that locid itself refuses to start where agents look elsewhere.";
    keep(rule, &agent_faults(&text));
}

/// The socket unit, if there is one that nobody would serve.
fn idle_socket(paths: &[&str], daemon: &str) -> Vec<String> {
    let takes_sockets = daemon.contains("listenfd") || daemon.contains("LISTEN_FDS");
    paths
        .iter()
        .filter(|path| path.ends_with("locid.socket") && !takes_sockets)
        .map(|path| (*path).to_owned())
        .collect()
}

#[test]
fn only_units_that_work_are_shipped() {
    assert_eq!(
        idle_socket(&["systemd/locid.service", "systemd/locid.socket"], "bind(path)").len(),
        1
    );
    assert!(idle_socket(&["systemd/locid.socket"], "listenfd::ListenFd::from_env()").is_empty());
    let files = files();
    let paths: Vec<&str> = files
        .iter()
        .map(|file| file.path.as_str())
        .filter(|path| path.starts_with("systemd/"))
        .collect();
    let daemon: String = sources()
        .iter()
        .filter(|source| source.path.starts_with("daemon/src/"))
        .map(|source| source.text.as_str())
        .collect();
    let rule = "A socket unit is shipped only once the daemon takes the socket that systemd hands it; else both would bind the same path.";
    keep(rule, &idle_socket(&paths, &daemon));
}
