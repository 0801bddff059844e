//! The daemon as a service of a real systemd: a user manager that runs in name spaces of its own. Not here: the files
//! (`ctl_install`).

use crate::home::{TestHome, binaries};
use crate::in_time::{ExitInTime, OutputInTime};
use std::process::{Command, Output, Stdio};

/// Starts a user manager of systemd and waits until it answers, then runs a script. The first line of its output says that it answered.
/// systemd wants its own control groups and to find that it has booted the machine.
const IN_SYSTEMD: &str = r#"
    mount -t cgroup2 none /sys/fs/cgroup && mount -t tmpfs none /run && mkdir -p /run/systemd/system || exit 0
    mkfifo "$HOME/ready" && exec 3<>"$HOME/ready"
    /lib/systemd/systemd --user > "$HOME/systemd.log" 2>&1 &
    for try in $(seq 200); do
        systemctl --user show --property=Version > /dev/null 2>&1 && break
        read -t 0.1 -u 3
    done
    systemctl --user show --property=Version > /dev/null 2>&1 || exit 0
    echo answers
    cd "$HOME/project"
    PATH="$1:$PATH"
    eval "$2"
"#;

/// Runs a script under a user manager, in which `loci` is the program under test. All processes end with it. `None` if this system
/// cannot run one.
fn in_systemd(home: &TestHome, script: &str) -> Option<String> {
    let mut command = home.command_at("unshare".as_ref());
    command.args([
        "--mount",
        "--propagation",
        "private",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ]);
    command.args(["bash", "-c", IN_SYSTEMD, "bash"]).arg(binaries()).arg(script);
    let Ok(Output { stdout, stderr, .. }) = command.stdin(Stdio::null()).output_in_time() else {
        return None;
    };
    let text = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
    text.strip_prefix("answers\n").map(str::to_owned)
}

const SCRIPT: &str = r#"
    loci add 'Stored before the service' --type semantic
    loci ctl install
    echo "socket: $(systemctl --user is-active locid.socket), $(systemctl --user is-enabled locid.socket)"
    loci ctl install
    loci add 'Stored through the service' --type semantic
    echo "main pid: $(systemctl --user show --property=MainPID --value locid.service)"
    loci ctl status --json | tr ',' '\n' | grep '"pid"' | head -n 1
    loci ctl stop
    echo "stopped: $?, service: $(systemctl --user is-active locid.service)"
    loci search service
    loci ctl install --uninstall
    echo "socket: $(systemctl --user is-active locid.socket)"
    loci search service
    loci uninstall --yes
    echo "exit code: $?"
"#;

#[test]
fn systemd_runs_the_daemon_and_an_uninstallation_takes_it_back() {
    let home = TestHome::without_model();
    if Command::new("unshare").arg("--version").stdout(Stdio::null()).exit_in_time().is_err() {
        loci_testkit::skipped::skip("unshare is not installed: no service was installed");
        return;
    }
    let Some(text) = in_systemd(&home, SCRIPT) else {
        loci_testkit::skipped::skip(
            "no user manager of systemd could be started: no service was installed",
        );
        return;
    };
    for expected in [
        "locid was stopped; the next call of an agent starts it as a service",
        "socket: active, enabled",
        "Installed already: ",
        "stopped: 0, service: inactive",
        "socket: inactive",
        "exit code: 0",
    ] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let number = |line: &str| line.chars().filter(char::is_ascii_digit).collect::<String>();
    let served_by = text.lines().find(|line| line.starts_with("main pid: ")).map(number);
    let asked = text.lines().find(|line| line.contains("\"pid\"")).map(number);
    assert!(served_by.is_some() && served_by == asked, "the service is the daemon: {text}");
    assert_eq!(text.matches("semantic  ").count(), 4, "both memories are found twice: {text}");
    assert!(!home.path(".config/systemd").exists(), "no folder is left: {text}");
}
