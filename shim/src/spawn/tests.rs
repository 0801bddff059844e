//! Starts of a daemon, with shell scripts in place of `locid`.

use crate::spawn::*;
use loci_proto::paths::Variables;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::time::timeout;

/// A temporary home with a `locid` that is the given shell script.
struct Fixture {
    _home: TempDir,
    paths: Paths,
    launch: Launch,
}

fn fixture(script: &str) -> Fixture {
    let home = tempfile::tempdir().expect("the temporary folder is created");
    let variables = Variables {
        home: Some(home.path().join("home")),
        runtime: Some(home.path().to_path_buf()),
        ..Variables::default()
    };
    let paths = Paths::resolve(&variables).expect("the paths resolve");
    let binary = home.path().join("locid");
    std::fs::write(&binary, format!("#!/bin/sh\n{script}\n")).expect("the script is written");
    std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o700))
        .expect("the script is made executable");
    Fixture { _home: home, paths, launch: Launch { binary: Some(binary) } }
}

impl Fixture {
    async fn start(&self) -> Result<UnixStream, ConnectError> {
        self.launch.start(&self.paths, &mut Unreachable::Absent).await
    }
}

#[tokio::test]
async fn the_log_of_a_daemon_that_exits_at_once_is_quoted() {
    let fixture = fixture("echo 'config.toml:3:1: unknown key modle' >&2; exit 78");
    std::fs::create_dir_all(&fixture.paths.logs).expect("the folder is created");
    std::fs::write(fixture.paths.logs.join("locid.log"), "of an earlier daemon\n")
        .expect("the log is written");
    let Err(ConnectError::Permanent(reason)) = fixture.start().await else {
        panic!("the daemon started")
    };
    assert_eq!(reason, not_started("config.toml:3:1: unknown key modle", Some(78)));
}

#[tokio::test]
async fn an_exit_without_output_is_reported_by_its_code() {
    let Err(ConnectError::Permanent(reason)) = fixture("exit 70").start().await else {
        panic!("the daemon started")
    };
    assert_eq!(reason, not_started("it exited with code 70", Some(70)));
}

#[tokio::test]
async fn another_running_daemon_is_a_transient_error() {
    let fixture = fixture("exit 75");
    assert!(matches!(
        fixture.start().await,
        Err(ConnectError::Transient(Unreachable::NoAnswer { pid: None }))
    ));
}

#[tokio::test]
async fn an_error_names_a_missing_binary() {
    let fixture = fixture("");
    let launch = Launch { binary: Some(fixture.paths.home.join("nowhere")) };
    let Err(ConnectError::Permanent(Unreachable::NotStarted { reason, exit: None })) =
        launch.start(&fixture.paths, &mut Unreachable::Absent).await
    else {
        panic!("the daemon started")
    };
    assert!(reason.contains("nowhere: No such file"), "{reason}");
}

#[tokio::test]
async fn a_process_that_waits_for_the_spawn_lock_connects_to_a_daemon_that_another_process_started()
{
    let fixture = fixture("echo started >&2; exit 78");
    folders::ensure_private(&fixture.paths.runtime).expect("the folder is created");
    let Ok(LockOutcome::Locked(lock)) = lock_or_connect(&fixture.paths).await else {
        panic!("the lock is not free")
    };
    let listener = UnixListener::bind(&fixture.paths.socket).expect("the socket is bound");
    assert!(fixture.start().await.is_ok(), "a connection does not need the lock");
    drop((listener, lock));
}

#[tokio::test]
async fn a_spawn_lock_that_is_never_released_does_not_block_forever() {
    let fixture = fixture("exit 78");
    folders::ensure_private(&fixture.paths.runtime).expect("the folder is created");
    let _lock = lock_or_connect(&fixture.paths).await;
    let mut latest_error = Unreachable::Absent;
    let start = fixture.launch.start(&fixture.paths, &mut latest_error);
    assert!(timeout(Duration::from_millis(30), start).await.is_err());
    assert!(
        latest_error.message().contains("another loci is still starting it"),
        "{}",
        latest_error.message()
    );
}

#[tokio::test]
async fn a_restore_in_progress_is_named_to_who_waits_for_the_daemon() {
    let fixture = fixture("exit 78");
    folders::ensure_private(&fixture.paths.runtime).expect("the folder is created");
    let _lock = lock_or_connect(&fixture.paths).await;
    let pid = std::process::id();
    std::fs::write(restore_lock(&fixture.paths), format!("{pid}\n")).expect("the pid is written");
    let mut latest_error = Unreachable::Absent;
    let start = fixture.launch.start(&fixture.paths, &mut latest_error);
    assert!(timeout(Duration::from_millis(30), start).await.is_err());
    assert_eq!(latest_error, Unreachable::Restoring { pid });
    assert!(latest_error.next_step().contains("loci backup restore"));
}

#[tokio::test]
async fn the_daemon_runs_in_its_own_session_and_without_a_group() {
    let fixture = fixture(
        "ps -o sid= -p $$ | tr -d ' ' >&2; echo $$ >&2; echo \"$LOCI_GROUP$1\" >&2; pwd >&2; exit 70",
    );
    let Err(ConnectError::Permanent(Unreachable::NotStarted { reason, .. })) =
        fixture.start().await
    else {
        panic!("the daemon started")
    };
    let [session, pid, argument, folder] = reason.lines().collect::<Vec<_>>()[..] else {
        panic!("not four lines: {reason}")
    };
    assert_eq!((session, argument, folder), (pid, "--auto-started", "/"));
}

#[tokio::test]
async fn the_daemon_inherits_no_open_files() {
    let null = File::open("/dev/null").expect("/dev/null opens");
    let descriptor = nix::fcntl::fcntl(&null, nix::fcntl::FcntlArg::F_DUPFD(200))
        .expect("the descriptor is duplicated");
    let fixture = fixture(&format!(
        "test -e /proc/$$/fd/{descriptor} && echo leaked >&2; echo checked >&2; exit 70"
    ));
    let Err(ConnectError::Permanent(Unreachable::NotStarted { reason, .. })) =
        fixture.start().await
    else {
        panic!("the daemon started")
    };
    assert_eq!(reason, "checked");
}
