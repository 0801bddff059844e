//! Rules for the service files of systemd and launchd: they parse, start the daemon with the right
//! settings, and need nothing that a user's service manager may lack.

use crate::assert_rule;
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
/// A drop-in file with the restrictions that need a user name space.
const DROP_IN: &str = "systemd/locid-namespaces.conf";
const AGENT: &str = "launchd/dev.loci.locid.plist";
const BINARY: &str = "%h/.cargo/bin/locid";

/// Settings that the service unit must have: section, key, value.
const REQUIRED: [(&str, &str, &str); 16] = [
    ("Service", "ExecStart", BINARY),
    ("Service", "Restart", "on-failure"),
    ("Service", "SuccessExitStatus", "75"),
    ("Service", "RestartPreventExitStatus", "78"),
    ("Service", "RuntimeDirectoryPreserve", "yes"),
    ("Service", "UMask", "0077"),
    ("Service", "LimitCORE", "0"),
    ("Service", "NoNewPrivileges", "yes"),
    ("Service", "MemoryDenyWriteExecute", "yes"),
    ("Service", "RestrictAddressFamilies", "AF_UNIX"),
    ("Service", "RestrictNamespaces", "yes"),
    ("Service", "SystemCallFilter", "@system-service"),
    ("Service", "SystemCallFilter", "~@privileged"),
    ("Service", "SystemCallErrorNumber", "EPERM"),
    ("Unit", "Requires", "locid.socket"),
    ("Install", "Also", "locid.socket"),
];
/// Settings that the socket unit must have; the path is that of `loci_proto::paths`.
const SOCKET_REQUIRED: [(&str, &str, &str); 4] = [
    ("Socket", "ListenStream", "%t/loci/locid.sock"),
    ("Socket", "SocketMode", "0600"),
    ("Socket", "DirectoryMode", "0700"),
    ("Install", "WantedBy", "sockets.target"),
];
/// Maximum exposure that `systemd-analyze security` may report for the unit, in tenths. The rest of its score
/// comes from capabilities, which a user service does not have, and from user name spaces.
const EXPOSURE: u32 = 60;
/// The same for the unit with its drop-in file.
const EXPOSURE_WITH_DROP_IN: u32 = 30;
/// Prefixes of settings that need a user name space. Where user name spaces are disabled, a unit
/// with such a setting does not start.
const NAME_SPACE_SETTINGS: [&str; 7] = [
    "Private",
    "Protect",
    "ReadWritePaths",
    "ReadOnlyPaths",
    "InaccessiblePaths",
    "BindPaths",
    "RootDirectory",
];

/// Section, key and value of each setting of a unit.
fn settings(unit: &str) -> Result<Vec<(String, String, String)>, String> {
    let mut section = String::new();
    let mut settings = Vec::new();
    for line in unit.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(['#', ';']))
    {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else {
            let (key, value) =
                line.split_once('=').ok_or_else(|| format!("not a setting: {line}"))?;
            settings.push((section.clone(), key.to_owned(), value.to_owned()));
        }
    }
    Ok(settings)
}

/// Whether the daemon notifies its service manager that it is ready.
fn notifies_readiness(sources: &[Source]) -> bool {
    sources.iter().any(|source| {
        source.path.starts_with("daemon/src/") && source.text.contains("NotifyState::Ready")
    })
}

fn faults(unit: &str, notifies_readiness: bool) -> Vec<String> {
    let settings = match settings(unit) {
        Ok(settings) => settings,
        Err(reason) => return vec![format!("{UNIT}: {reason}")],
    };
    let kind = if notifies_readiness { "notify" } else { "simple" };
    let required = REQUIRED.into_iter().chain([("Service", "Type", kind)]);
    let has = |wanted: &(&str, &str, &str)| {
        settings.iter().any(|(s, k, v)| (s.as_str(), k.as_str(), v.as_str()) == *wanted)
    };
    let missing = required.filter(|wanted| !has(wanted));
    let missing =
        missing.map(|(section, key, value)| format!("{UNIT}: [{section}] lacks {key}={value}"));
    let spaces = settings
        .iter()
        .filter(|(_, key, _)| NAME_SPACE_SETTINGS.iter().any(|start| key.starts_with(start)));
    missing
        .chain(spaces.map(|(_, key, _)| format!("{UNIT}: {key} needs a user name space")))
        .collect()
}

#[test]
fn the_service_unit_starts_the_daemon() {
    let unit = read(UNIT);
    for line in ["ExecStart=%h/.cargo/bin/locid", "SuccessExitStatus=75", "NoNewPrivileges=yes"] {
        assert_eq!(faults(&unit.replace(line, ""), true).len(), 1, "{line}");
    }
    assert_eq!(faults(&unit.replace("[Install]", "PrivateTmp=yes\n[Install]"), true).len(), 1);
    assert_eq!(faults(&unit.replace("[Install]", "nonsense\n[Install]"), true).len(), 1);
    assert_eq!(
        faults(&unit, false).len(),
        1,
        "a daemon that never sends READY=1 needs Type=simple"
    );
    let rule = "The service unit starts locid from the folder that cargo installs into, does not restart it when another daemon is running (75) \
                or its configuration is invalid (78), and hardens it without name spaces. Type is notify only if the daemon sends READY=1.";
    assert_rule(rule, &faults(&unit, notifies_readiness(&sources())));
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
fn the_socket_unit_listens_where_shims_connect() {
    let unit = read(SOCKET);
    assert_eq!(socket_faults(&unit.replace("/loci/locid.sock", "/locid.sock")).len(), 1);
    let runtime = Some("/run/user/7".into());
    let variables =
        Variables { user_home: Some("/home/anna".into()), runtime, ..Variables::default() };
    let socket = Paths::resolve(&variables).expect("the paths resolve").socket;
    assert_eq!(SOCKET_REQUIRED[0].2.replace("%t", "/run/user/7"), socket.display().to_string());
    let rule = "The socket unit listens at the agents' socket of loci_proto::paths, and only its owner can connect.";
    assert_rule(rule, &socket_faults(&unit));
}

/// The unit with the settings of the drop-in file.
fn with_drop_in(unit: &str, drop_in: &str) -> String {
    let settings = drop_in.replace("[Service]\n", "");
    unit.replace("[Install]", &format!("{settings}\n[Install]"))
}

fn drop_in_faults(drop_in: &str) -> Vec<String> {
    let settings = match settings(drop_in) {
        Ok(settings) => settings,
        Err(reason) => return vec![format!("{DROP_IN}: {reason}")],
    };
    let needs_none = settings.iter().filter(|(section, key, _)| {
        section != "Service" || !NAME_SPACE_SETTINGS.iter().any(|start| key.starts_with(start))
    });
    let needs_none = needs_none.map(|(section, key, _)| format!("{DROP_IN}: [{section}] {key}"));
    let written = |key: &str| {
        settings.iter().filter(|(_, k, _)| k == key).map(|(.., v)| v.as_str()).collect::<Vec<_>>()
    };
    let has_data = written("ReadWritePaths") == ["%h/.loci"];
    let data = (!has_data).then(|| format!("{DROP_IN}: the data folder cannot be written"));
    needs_none.chain(data).collect()
}

#[test]
fn the_drop_in_has_the_settings_that_need_name_spaces() {
    let drop_in = read(DROP_IN);
    assert_eq!(drop_in_faults(&drop_in.replace("%h/.loci", "%h")).len(), 1);
    assert_eq!(drop_in_faults(&format!("{drop_in}\nUMask=0077\n")).len(), 1);
    let rule = "The drop-in file has only settings of the service that need name spaces; the others belong to the unit. The data folder stays writable.";
    assert_rule(rule, &drop_in_faults(&drop_in));
}

/// Whether the exposure that `systemd-analyze security` reports is at most `EXPOSURE`, and its last
/// line of output. `None` without systemd.
fn exposure_check(name: &str, unit: &str, most: u32) -> Option<(bool, String)> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("units").join(name);
    fs::create_dir_all(&folder).expect("the folder is created");
    let path = folder.join("locid.service");
    fs::write(&path, unit.replace(BINARY, "/bin/true")).expect("the unit is written");
    let arguments = ["security", "--offline=yes", "--no-pager", &format!("--threshold={most}")];
    let output = Command::new("systemd-analyze").args(arguments).arg(&path).output().ok()?;
    let text = [output.stdout, output.stderr]
        .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
        .concat();
    Some((output.status.success(), text.lines().last().unwrap_or_default().to_owned()))
}

#[test]
fn systemd_rates_the_exposure_of_the_service_as_acceptable() {
    let unit = read(UNIT);
    let stricter = with_drop_in(&unit, &read(DROP_IN));
    for (name, unit, setting, most) in [
        ("unit", &unit, "NoNewPrivileges=yes", EXPOSURE),
        ("drop-in", &stricter, "PrivateNetwork=yes", EXPOSURE_WITH_DROP_IN),
    ] {
        let Some((passes, report)) = exposure_check(&format!("{name}-closed"), unit, most) else {
            loci_testkit::skipped::skip("no systemd-analyze: the hardening was parsed, not rated");
            return;
        };
        println!("{name}: {report}");
        assert_rule(
            "`systemd-analyze security` reports at most EXPOSURE or EXPOSURE_WITH_DROP_IN of tests/tidy/units.rs.",
            &if passes { vec![] } else { vec![format!("{name}: {report}")] },
        );
        let weaker = unit.replace(setting, "");
        let (passes, report) = exposure_check(&format!("{name}-opened"), &weaker, most)
            .expect("systemd-analyze is installed");
        assert!(!passes, "{name}: a weaker unit passes too: {report}");
    }
}

/// The faults that `systemd-analyze verify` reports, one a line, for a unit whose binary exists.
/// `None` without systemd.
fn verify_unit(name: &str, unit: &str) -> Option<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("units").join(name);
    fs::create_dir_all(&folder).expect("the folder is created");
    let binary = std::env::current_exe().expect("the path of the test is known");
    let path = folder.join("locid.service");
    fs::write(&path, unit.replace(BINARY, &binary.display().to_string()))
        .expect("the unit is written");
    let socket = folder.join("locid.socket");
    fs::write(&socket, read(SOCKET)).expect("the unit is written");
    let verify = ["verify", "--user", "--man=no"];
    let output = Command::new("systemd-analyze")
        .args(verify)
        .arg(&socket)
        .arg(&path)
        .env("XDG_RUNTIME_DIR", &folder)
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    // It also reports other units of this machine, and its exit code is 0 for an unknown key.
    let ours = text.lines().filter(|line| line.contains("locid.")).map(str::to_owned);
    let failed = (!output.status.success()).then(|| format!("systemd-analyze: {}", text.trim()));
    Some(ours.chain(failed).collect::<Vec<_>>().join("\n"))
}

#[test]
fn systemd_verifies_the_unit() {
    let unit = read(UNIT);
    let Some(report) = verify_unit("good", &unit) else {
        loci_testkit::skipped::skip("no systemd-analyze: the unit was parsed, not verified");
        return;
    };
    let stricter = verify_unit("drop-in", &with_drop_in(&unit, &read(DROP_IN)))
        .expect("systemd-analyze is installed");
    assert_rule(
        "`systemd-analyze verify --user` reports no fault in the service unit, alone and with its drop-in file.",
        &report.lines().chain(stricter.lines()).map(str::to_owned).collect::<Vec<_>>(),
    );
    let misspelt = verify_unit("misspelt", &unit.replace("RestartSec=", "RestrtSec="))
        .expect("systemd-analyze is installed");
    assert!(misspelt.contains("RestrtSec"), "no report of the misspelt key: {misspelt}");
}

fn agent_faults(text: &str) -> Vec<String> {
    let entries = match plist::parse(text) {
        Ok(Value::Table(entries)) => entries,
        Ok(other) => return vec![format!("{AGENT}: not a table: {other:?}")],
        Err(reason) => return vec![format!("{AGENT}: {reason}")],
    };
    let restart_after_failure =
        Value::Table([("SuccessfulExit".to_owned(), Value::Flag(false))].into());
    let required = [
        ("Label", Value::Text("dev.loci.locid".to_owned())),
        ("RunAtLoad", Value::Flag(true)),
        ("KeepAlive", restart_after_failure),
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
        faults.push(format!("{AGENT}: names the socket {named}, but agents connect to {expected}"));
    }
    faults
}

/// The shell command of the launch agent.
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

/// Path of the agents' socket for this home folder on macOS, which has no `XDG_RUNTIME_DIR`.
fn socket_on_macos(home: &str) -> String {
    let variables = Variables { user_home: Some(home.into()), ..Variables::default() };
    Paths::resolve(&variables).expect("the paths resolve").socket.display().to_string()
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
    let rule = "The launch agent parses, starts locid at login and after a crash (not after `loci ctl stop`), with files readable only by their owner, and \
                names the agents' socket of loci_proto::paths, so that locid refuses to start if agents would connect elsewhere.";
    assert_rule(rule, &agent_faults(&text));
}

/// The socket units that the daemon does not support.
fn unsupported_sockets(paths: &[&str], daemon: &str) -> Vec<String> {
    let supports_activation = daemon.contains("listenfd") || daemon.contains("LISTEN_FDS");
    paths
        .iter()
        .filter(|path| path.ends_with("locid.socket") && !supports_activation)
        .map(|path| (*path).to_owned())
        .collect()
}

#[test]
fn socket_units_need_socket_activation() {
    assert_eq!(
        unsupported_sockets(&["systemd/locid.service", "systemd/locid.socket"], "bind(path)").len(),
        1
    );
    assert!(
        unsupported_sockets(&["systemd/locid.socket"], "listenfd::ListenFd::from_env()").is_empty()
    );
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
    let rule = "A socket unit is shipped only if the daemon takes over the socket that systemd passes; otherwise both would bind the same path.";
    assert_rule(rule, &unsupported_sockets(&paths, &daemon));
}
