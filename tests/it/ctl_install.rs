//! `loci ctl install`: the printed and written files are valid, a system without a service manager is left alone, and only files that
//! loci wrote are removed. Not here: a running systemd (`user_service`).

use crate::home::{TestHome, binaries};
use crate::in_time::{ExitInTime, OutputInTime};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const UNITS: &str = ".config/systemd/user";

/// Standard output and standard error of a successful command.
fn text(home: &TestHome, arguments: &[&str]) -> String {
    let output = home.loci(arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {text}");
    text
}

/// The files that `--print` shows, by their paths.
fn printed(home: &TestHome) -> Vec<(PathBuf, String)> {
    let output = home.loci(&["ctl", "install", "--print"]);
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    let mut files: Vec<(PathBuf, String)> = Vec::new();
    for line in text.lines() {
        if let Some(path) = line.strip_prefix("# /") {
            files.push((Path::new("/").join(path), String::new()));
        } else {
            let (_, text) = files.last_mut().expect("a path comes first");
            *text += line;
            *text += "\n";
        }
    }
    files
}

/// Writes the printed files where they belong, as an installation does.
fn write_printed(home: &TestHome) -> Vec<PathBuf> {
    let files = printed(home);
    fs::create_dir_all(home.path(UNITS)).expect("the folder is created");
    for (path, text) in &files {
        // Between the files is an empty line.
        fs::write(path, format!("{}\n", text.trim_end())).expect("the file is written");
    }
    files.into_iter().map(|(path, _)| path).collect()
}

#[test]
fn the_printed_units_name_this_daemon_and_nothing_is_written() {
    let home = TestHome::without_model();
    let files = printed(&home);
    let paths: Vec<&PathBuf> = files.iter().map(|(path, _)| path).collect();
    assert_eq!(
        paths,
        [&home.path(UNITS).join("locid.service"), &home.path(UNITS).join("locid.socket")]
    );
    let locid = binaries().join("locid").canonicalize().expect("the binary exists");
    assert!(files[0].1.contains(&format!("\nExecStart={}\n", locid.display())), "{}", files[0].1);
    let models = home.path("models");
    assert!(files[0].1.contains(&format!("\nEnvironment=\"LOCI_MODELS={}\"\n", models.display())));
    assert!(files[1].1.contains("\nListenStream=%t/loci/locid.sock\n"), "{}", files[1].1);
    assert!(!home.path(".config").exists());
}

#[test]
fn the_folder_of_units_follows_xdg_config_home() {
    let home = TestHome::without_model();
    let config = home.path("my config");
    let home = home.with("XDG_CONFIG_HOME", &config);
    assert_eq!(printed(&home)[0].0, config.join("systemd/user/locid.service"));
}

#[test]
fn systemd_finds_no_fault_in_the_printed_units() {
    if Command::new("systemd-analyze")
        .arg("--version")
        .stdout(Stdio::null())
        .exit_in_time()
        .is_err()
    {
        loci_testkit::skipped::skip(
            "systemd-analyze is not installed: the units were not verified",
        );
        return;
    }
    let home = TestHome::without_model();
    let odd = home.path("100% \"odd\" $HOME");
    let home = home.with("LOCI_HOME", odd);
    let files = write_printed(&home);
    let mut verify = Command::new("systemd-analyze");
    let output = verify.args(["verify", "--user", "--man=no"]).args(&files).output_in_time();
    let output = output.expect("systemd-analyze runs");
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(!report.contains("locid."), "{report}");
}

#[test]
fn without_a_service_manager_nothing_is_changed_and_agents_start_the_daemon() {
    let home = TestHome::without_model();
    let text = text(&home, &["ctl", "install"]);
    assert!(text.contains("does not answer"), "{text}");
    assert!(text.contains("Nothing was changed. Agents start the daemon by themselves"), "{text}");
    assert!(!home.path(".config").exists());
    home.session().store("semantic", "Stored without a service");
}

#[test]
fn an_uninstallation_removes_what_loci_wrote_and_nothing_else() {
    let home = TestHome::without_model();
    assert!(
        text(&home, &["ctl", "install", "--uninstall"]).contains("No service of loci is installed")
    );
    let files = write_printed(&home);
    let wants = home.path(UNITS).join("sockets.target.wants");
    fs::create_dir(&wants).expect("the folder is created");
    std::os::unix::fs::symlink(&files[1], wants.join("locid.socket")).expect("the link is created");
    fs::write(home.path(UNITS).join("other.service"), "[Service]\n").expect("the file is written");
    let removed = text(&home, &["ctl", "install", "--uninstall"]);
    assert_eq!(removed.matches("Removed: ").count(), 2, "{removed}");
    let left = fs::read_dir(home.path(UNITS)).expect("the folder can be listed").count();
    assert_eq!((left, wants.exists()), (1, false), "only the other unit stays");
}

#[test]
fn a_changed_or_foreign_unit_stays() {
    let home = TestHome::without_model();
    let files = write_printed(&home);
    let mine = fs::read_to_string(&files[0]).expect("the file can be read") + "\nNice=5\n";
    fs::write(&files[0], &mine).expect("the file is written");
    fs::write(&files[1], "[Socket]\nListenStream=/x\n").expect("the file is written");
    let report = text(&home, &["ctl", "install", "--uninstall"]);
    assert_eq!(report.matches("Kept: ").count(), 2, "{report}");
    assert_eq!(fs::read_to_string(&files[0]).expect("the file can be read"), mine);
    assert!(files[1].exists());
}
