//! `loci backup`: backups are verified copies, and restoring one keeps everything else aside.

use crate::home::{Agent, TestHome, binaries, printed};
use crate::in_time::{ExitInTime, OutputInTime, in_time};
use crate::wire::{kill_daemon, wait_until};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Returns the backups, oldest first.
fn list(home: &TestHome) -> Vec<Value> {
    let reply = home.json(&["backup", "list", "--json"]);
    reply["backups"].as_array().cloned().expect("a JSON array")
}

fn create(home: &TestHome) -> Value {
    home.json(&["backup", "create", "--json"])
}

fn restore(home: &TestHome, id: &str) -> Value {
    home.json(&["backup", "restore", id, "--yes", "--json"])
}

/// Stores `count` notes that begin with a word.
fn store_notes(agent: &mut Agent, word: &str, count: usize) {
    for number in 0..count {
        let side = ["upper", "lower", "left", "right", "small", "large", "green"][number % 7];
        agent.store("semantic", &format!("{word} {number} is in the {side} drawer"));
    }
}

/// Returns how many stored texts begin with a word.
fn notes(home: &TestHome, word: &str) -> usize {
    printed(&home.loci(&["export"])).matches(&format!("\"content\":\"{word} ")).count()
}

/// Returns the lines of an export that describe memories and relations.
fn exported(home: &TestHome) -> Vec<String> {
    let text = printed(&home.loci(&["export"]));
    let is_state = |line: &&str| {
        ["memory", "relation", "group", "variant"]
            .iter()
            .any(|kind| line.contains(&format!("\"kind\":\"{kind}\"")))
    };
    text.lines().filter(is_state).map(str::to_owned).collect()
}

fn database(home: &TestHome) -> PathBuf {
    home.path(".loci/memory.db")
}

fn warnings(home: &TestHome) -> String {
    wait_until("the status is complete", || home.status()["warnings"].is_array());
    home.status()["warnings"].to_string()
}

/// Returns the error of a daemon that refuses to start.
fn refused_start(home: &TestHome) -> String {
    let daemon = home.command("locid").stdin(Stdio::null()).output_in_time().expect("locid runs");
    assert!(!daemon.status.success(), "the start is refused");
    printed(&daemon)
}

/// Starts `locid backup restore ID` without waiting for it.
fn restoring(home: &TestHome, id: &str) -> Child {
    let mut command = home.command("locid");
    command.args(["backup", "restore", id]).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("locid starts")
}

#[test]
fn a_backup_is_private_and_verified_and_a_changed_byte_is_found_later() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 5);
    let made = create(&home);
    let path = PathBuf::from(made["path"].as_str().expect("a path"));
    let permissions =
        |path: &std::path::Path| fs::metadata(path).expect("exists").permissions().mode() & 0o777;
    assert_eq!((permissions(&path), permissions(&home.path(".loci/backups"))), (0o600, 0o700));
    assert_eq!((&made["memories"], &made["reason"]), (&json!(5), &json!("manual")));
    // An older backup has no manifest.
    fs::copy(&path, path.with_file_name("memory-20250101T000000Z.db")).expect("is copied");
    let listed = list(&home);
    assert_eq!(listed.len(), 2);
    assert_eq!((&listed[0]["reason"], &listed[1]["id"]), (&json!("unknown"), &made["id"]));
    let verified = home.loci(&["backup", "verify"]);
    assert!(verified.status.success(), "{}", printed(&verified));
    assert!(printed(&verified).contains("verified 2 of 2 backups"), "{}", printed(&verified));
    let mut bytes = fs::read(&path).expect("the backup is readable");
    let at = bytes.windows(4).position(|part| part == b"Kept").expect("the text is in it");
    bytes[at] ^= 1;
    fs::write(&path, bytes).expect("the backup is changed");
    let faulty = home.loci(&["backup", "verify", "latest"]);
    assert_eq!(faulty.status.code(), Some(1), "{}", printed(&faulty));
    assert!(printed(&faulty).contains("its bytes have changed"), "{}", printed(&faulty));
    assert!(warnings(&home).contains("is faulty"), "{}", warnings(&home));
    let id = made["id"].as_str().expect("an id");
    let refused = home.loci(&["backup", "restore", id, "--yes"]);
    assert!(
        !refused.status.success() && printed(&refused).contains("is faulty"),
        "{}",
        printed(&refused)
    );
    assert_eq!(notes(&home, "Kept"), 5);
    for (id, reason) in [("nothing", "there is no backup"), ("memory-", "2 backups begin with")] {
        let refused = printed(&home.loci(&["backup", "verify", id]));
        assert!(refused.contains(reason), "{refused}");
    }
}

#[test]
fn a_restore_under_running_agents_equals_the_export_of_its_time_without_hard_deleted_memories() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 4);
    let secret = agent.store("semantic", "Secret code of the safe");
    let expected: Vec<String> =
        exported(&home).into_iter().filter(|line| !line.contains(&secret)).collect();
    let made = create(&home);
    store_notes(&mut agent, "Later", 3);
    let forget = json!({"memory_id": secret, "hard_delete": true});
    agent.call("forget_memory", forget).expect("the memory is deleted");
    let unconfirmed = home.loci(&["backup", "restore"]);
    assert_eq!(unconfirmed.status.code(), Some(2), "{}", printed(&unconfirmed));
    assert!(printed(&unconfirmed).contains("(7 memories)"), "{}", printed(&unconfirmed));
    // Another agent calls all the time.
    let mut other = home.session();
    let calls = std::thread::spawn(move || {
        (0..60).filter(|_| other.call("memory_stats", json!({})).is_err()).count()
    });
    let reply = restore(&home, made["id"].as_str().expect("an id"));
    assert_eq!(
        (&reply["memories"], &reply["memories_before"], &reply["forgotten_again"]),
        (&json!(4), &json!(7), &json!(1)),
        "{reply}"
    );
    assert_eq!(calls.join().expect("the thread ends"), 0, "no call failed");
    assert_eq!(exported(&home), expected);
    assert_eq!(agent.recall("drawer").len(), 4, "the session goes on");
    assert!(
        PathBuf::from(reply["quarantine"].as_str().expect("a path")).join("memory.db").exists()
    );
    assert!(warnings(&home).contains("was restored"), "{}", warnings(&home));
    // The way back is a backup too; what was hard-deleted does not come back with it.
    restore(&home, reply["safety_backup"].as_str().expect("an id"));
    assert_eq!((notes(&home, "Later"), notes(&home, "Secret")), (3, 0));
    let at = made["created_at"].as_str().expect("a time");
    let by_time = home.json(&["backup", "restore", "--at", at, "--yes", "--json"]);
    assert_eq!(by_time["backup"], made["id"]);
    let none = printed(&home.loci(&["backup", "restore", "--at", "2001-01-01", "--yes"]));
    assert!(none.contains("there is no backup of this database from 2001"), "{none}");
    let invalid = printed(&home.loci(&["backup", "restore", "--at", "soon", "--yes"]));
    assert!(invalid.contains("must be a date"), "{invalid}");
    let negative = printed(&home.loci(&["backup", "restore", "--at=-1d", "--yes"]));
    assert!(negative.contains("must be a date"), "{negative}");
}

#[test]
fn a_backup_is_restored_when_the_daemon_cannot_start() {
    for damage in ["missing", "empty", "a letter"] {
        let home = TestHome::without_model();
        store_notes(&mut home.session(), "Kept", 3);
        create(&home);
        assert!(home.loci(&["ctl", "stop"]).status.success());
        match damage {
            "missing" => fs::remove_file(database(&home)).expect("is removed"),
            "empty" => fs::write(database(&home), "").expect("is emptied"),
            _ => fs::write(database(&home), "Dear Anna, ".repeat(90)).expect("is overwritten"),
        }
        let before = fs::read(database(&home)).ok();
        let refused = refused_start(&home);
        assert!(refused.contains("loci backup restore"), "{damage}: {refused}");
        assert_eq!(fs::read(database(&home)).ok(), before, "{damage}: nothing was changed");
        let reply = restore(&home, "latest");
        assert_eq!(reply["memories"], 3, "{reply}");
        assert_eq!(notes(&home, "Kept"), 3, "{damage}");
        if damage != "missing" {
            let kept = PathBuf::from(reply["quarantine"].as_str().expect("a path"));
            assert_eq!(fs::read(kept.join("memory.db")).ok(), before);
        }
    }
}

#[test]
fn a_damaged_database_is_recovered_at_start_and_each_session_is_notified_once() {
    for damage in ["first page", "cut", "middle"] {
        let home = TestHome::without_model();
        let mut agent = home.session();
        store_notes(&mut agent, "Kept", 20);
        create(&home);
        store_notes(&mut agent, "Newer", 3);
        assert!(home.loci(&["ctl", "stop"]).status.success());
        let mut bytes = fs::read(database(&home)).expect("the database is readable");
        let half = bytes.len() / 2 / 4096 * 4096;
        match damage {
            "first page" => bytes[..4096].fill(0),
            "cut" => bytes.truncate(half),
            _ => bytes[half..half + 8192].fill(0x5a),
        }
        fs::write(database(&home), &bytes).expect("the database is damaged");
        assert_eq!(notes(&home, "Kept"), 20, "{damage}");
        let found = notes(&home, "Newer");
        let said = warnings(&home);
        assert!(said.contains("was restored from the backup"), "{damage}: {said}");
        assert!(
            found == 3 || said.contains("changes were lost") || said.contains("change was lost"),
            "{said}"
        );
        let mut new_session = home.session();
        let hears = |agent: &mut Agent| {
            let reply = agent.call("memory_stats", json!({})).expect("the call succeeds");
            reply.to_string().contains("was restored from the backup")
        };
        assert_eq!([hears(&mut new_session), hears(&mut new_session)], [true, false], "{damage}");
        let kept = fs::read_dir(home.path(".loci/quarantine")).expect("exists").next();
        let kept = kept.expect("there is a folder").expect("is read").path();
        assert_eq!(fs::read(kept.join("memory.db")).expect("is kept"), bytes);
    }
}

#[test]
fn without_a_backup_a_damaged_database_is_refused_until_doctor_recovers_what_can_be_read() {
    let home = TestHome::without_model();
    store_notes(&mut home.session(), "Kept", 10);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    let conn = rusqlite::Connection::open(database(&home)).expect("the database opens");
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'memory_log'";
    let page: usize = conn
        .query_row(root, [], |row| row.get::<_, u32>(0))
        .map(|page| page as usize)
        .expect("the table exists");
    drop(conn);
    let mut bytes = fs::read(database(&home)).expect("the database is readable");
    bytes[(page - 1) * 4096..page * 4096].fill(0x5a);
    fs::write(database(&home), &bytes).expect("the database is damaged");
    let before = fs::read(database(&home)).expect("the database is readable");
    let refused = refused_start(&home);
    for command in ["loci doctor --recover", "loci backup restore"] {
        assert!(refused.contains(command), "{refused}");
    }
    assert_eq!(fs::read(database(&home)).expect("is readable"), before);
    let reply = home.json(&["doctor", "--recover", "--yes", "--json"]);
    assert_eq!((&reply["salvaged"], &reply["memories"]), (&json!(10), &json!(10)), "{reply}");
    assert_eq!(notes(&home, "Kept"), 10);
    let again = home.json(&["doctor", "--recover", "--yes", "--json"]);
    assert!(again["report"].as_str().expect("a text").contains("is whole"), "{again}");
}

#[test]
fn a_second_restore_and_one_beside_a_daemon_name_who_holds_the_store() {
    let home = TestHome::without_model();
    store_notes(&mut home.session(), "Kept", 2);
    let made = create(&home);
    let id = made["id"].as_str().expect("an id");
    let pid = home.status()["pid"].as_u64().expect("a pid");
    let refused =
        home.command("locid").args(["backup", "restore", id]).output_in_time().expect("runs");
    assert!(!refused.status.success());
    assert!(printed(&refused).contains(&format!("process {pid}")), "{}", printed(&refused));
    let lock = home.path("run/loci/spawn.restore");
    let script = "echo $$ > \"$0\"; echo locked; read -r _";
    let mut holder = Command::new("flock")
        .arg(&lock)
        .args(["sh", "-c", script])
        .arg(&lock)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("flock runs");
    let mut line = String::new();
    let stdout = holder.stdout.take().expect("the stream is open");
    let mut stdout = std::io::BufReader::new(stdout);
    in_time("the lock", || std::io::BufRead::read_line(&mut stdout, &mut line)).expect("is read");
    let second = home.loci(&["backup", "restore", id, "--yes"]);
    assert!(!second.status.success());
    let said = printed(&second);
    assert!(said.contains("Another restore is running (pid "), "{said}");
    drop(holder.stdin.take());
    holder.exit_in_time().expect("the process ends");
    assert_eq!(restore(&home, id)["memories"], 2);
}

#[test]
fn a_killed_restore_leaves_the_old_or_the_new_store() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 6);
    let made = create(&home);
    let id = made["id"].as_str().expect("an id").to_owned();
    let folder = home.path(".loci");
    let has = |prefix: &str| {
        let entries = fs::read_dir(&folder).expect("the folder is readable");
        entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(prefix))
    };
    for moment in [".restore-", "quarantine", "memory.db-restoring", "end"] {
        store_notes(&mut agent, "Newer", 2);
        assert!(home.loci(&["ctl", "stop"]).status.success());
        let _ = fs::remove_dir_all(folder.join("quarantine"));
        let mut child = restoring(&home, &id);
        while child.try_wait().expect("the process is known").is_none() {
            if has(moment) {
                let _ = child.kill();
            }
        }
        let found = (notes(&home, "Kept"), notes(&home, "Newer"));
        assert!([(6, 0), (6, 2)].contains(&found), "killed at {moment}: {found:?}");
        let doctor = home.loci(&["doctor"]);
        assert!(doctor.status.success(), "killed at {moment}: {}", printed(&doctor));
        assert!(!has(".restore-") && !has("memory.db-restoring"), "killed at {moment}");
    }
}

#[test]
fn a_daemon_killed_in_a_backup_leaves_no_half_of_one() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    store_notes(&mut agent, "Kept", 30);
    let folder = home.path(".loci/backups");
    let files = || -> Vec<String> {
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    for moment in [".tmp-", "memory-"] {
        let before = files().len();
        let mut making = home.command("loci");
        making.args(["backup", "create"]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut making = making.spawn().expect("loci runs");
        wait_until("the backup has begun", || {
            files().iter().any(|name| name.starts_with(moment)) || files().len() > before
        });
        kill_daemon(&home);
        making.exit_in_time().expect("the command ends");
        for backup in list(&home) {
            let id = backup["id"].as_str().expect("an id");
            let verified = home.loci(&["backup", "verify", id]);
            assert!(verified.status.success(), "{}", printed(&verified));
        }
        agent.store("semantic", &format!("Stores go on after {moment}"));
    }
    create(&home);
    assert!(files().iter().all(|name| !name.starts_with(".tmp-")), "{:?}", files());
}

#[test]
fn a_restore_on_a_full_disk_leaves_the_old_store() {
    let home = TestHome::without_model();
    let script = r#"
        mount -t tmpfs -o size=24m,mode=0700 tmpfs "$HOME/.loci" || exit 77
        loci=$0; locid=$1
        for n in 1 2 3; do $loci add "Kept $n is in drawer $n" --type semantic > /dev/null || exit 1; done
        $loci backup create > /dev/null || exit 2
        $loci add "Newer 1 is in drawer 9" --type semantic > /dev/null || exit 3
        $loci ctl stop > /dev/null
        rm -f "$HOME/.loci/memory.db-reserve"
        dd if=/dev/zero of="$HOME/.loci/filler" bs=4096 2> /dev/null
        before=$(sha256sum "$HOME/.loci/memory.db")
        $locid backup restore latest; code=$?
        after=$(sha256sum "$HOME/.loci/memory.db")
        rm "$HOME/.loci/filler"
        [ "$before" = "$after" ] || exit 4
        [ $code -ne 0 ] || exit 5
        $loci export | grep -c '"content":"'
        ls -A "$HOME/.loci" | grep -c '^.restore-'
        $loci ctl stop > /dev/null
    "#;
    let mut command = home.command_at(std::path::Path::new("unshare"));
    command.args(["-rm", "sh", "-c", script]);
    command.arg(binaries().join("loci")).arg(binaries().join("locid"));
    let output = command.stdin(Stdio::null()).output_in_time().expect("unshare runs");
    if output.status.code() == Some(77) || printed(&output).contains("unshare failed") {
        loci_testkit::skipped::skip("this user may have no namespaces: no disk was filled");
        return;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("No space left") && said.ends_with("\n4\n0\n"), "{output:?}");
}

#[test]
fn a_changed_store_is_backed_up_and_tested_by_itself() {
    let home = TestHome::without_model();
    let mut daemon = home.command("locid");
    daemon.args(["--backup-check", "1"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut daemon = daemon.spawn().expect("locid starts");
    wait_until("the daemon answers", || home.loci(&["ctl", "status"]).status.success());
    store_notes(&mut home.session(), "Kept", 3);
    wait_until("the backup is tested", || {
        list(&home).first().is_some_and(|backup| backup["drilled_at"].is_string())
    });
    let listed = list(&home);
    assert_eq!((listed.len(), &listed[0]["reason"]), (1, &json!("daily")), "{listed:?}");
    let status = home.status();
    assert_eq!(status["backups"]["last_drill"], listed[0]["drilled_at"], "{status}");
    assert_eq!(status["warnings"].to_string(), "[]");
    let doctor = printed(&home.loci(&["doctor", "--deep"]));
    for expected in ["1 backups", "verified 3 of 3 memories", "verified 1 of 1 backups"] {
        assert!(doctor.contains(expected), "{expected}: {doctor}");
    }
    assert!(home.loci(&["ctl", "stop"]).status.success());
    daemon.exit_in_time().expect("the daemon ends");
}

#[test]
fn an_import_is_preceded_by_a_backup_and_a_disabled_backup_is_not_made() {
    for enabled in [true, false] {
        let home = TestHome::without_model();
        home.configure(&format!("[backup]\nenabled = {enabled}"));
        store_notes(&mut home.session(), "Kept", 2);
        let file = home.path("memories.jsonl");
        let file = file.to_str().expect("the path is UTF-8");
        assert!(home.loci(&["export", "--output", file]).status.success());
        assert!(home.loci(&["import", file]).status.success());
        let reasons: Vec<Value> = list(&home).iter().map(|b| b["reason"].clone()).collect();
        assert_eq!(reasons, if enabled { vec![json!("import")] } else { Vec::new() });
        assert!(home.loci(&["import", file]).status.success());
        assert!(list(&home).len() <= 1, "nothing had changed since");
    }
}
