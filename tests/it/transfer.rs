//! Export and import through the real binaries: nothing is lost, and invalid files are refused.

use crate::home::TestHome;
use crate::in_time::{ExitInTime, OutputInTime};
use serde_json::{Value, json};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Output, Stdio};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn export(home: &TestHome, more: &[&str]) -> String {
    let output = home.loci(&[&["export"], more].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Imports a file; returns the report, or the error.
fn import(home: &TestHome, file: &str, more: &[&str]) -> Result<Value, String> {
    let output = home.loci(&[&["import", file, "--json"], more].concat());
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).expect("valid JSON"))
    } else {
        Err(text(&output.stderr))
    }
}

fn import_from_pipe(home: &TestHome, bytes: &[u8]) -> Output {
    let mut child = home
        .command("loci")
        .args(["import", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    // A file that is refused early is not read to its end.
    let _ = child.stdin.take().expect("the stream is open").write_all(bytes);
    child.output_in_time().expect("the process ends")
}

/// Returns an export without provenance, which each store sets itself.
fn without_provenance(export: &str) -> Vec<Value> {
    let without = |line: &str| {
        let mut object: Value = serde_json::from_str(line).expect("the line is JSON");
        if let (true, Some(fields)) = (object["kind"] == "memory", object.as_object_mut()) {
            for name in ["origin", "client", "session", "trust", "flags"] {
                fields.remove(name);
            }
        }
        object
    };
    export.lines().map(without).collect()
}

/// Returns two homes that give their project one id, so that the second sees what it imports of the first.
fn homes_of_one_project() -> [TestHome; 2] {
    [(), ()].map(|()| TestHome::new().with("LOCI_GROUP", "shop"))
}

/// Stores every kind of data.
fn fill(home: &TestHome) {
    let mut agent = home.session();
    let first = agent.store("semantic", "The release train leaves on Tuesdays");
    agent.store_with(json!({"content": "The release train leaves on Thursdays", "type": "semantic", "supersedes": first}));
    agent.store("episodic", "Rolled the release back because of the payment service");
    let anna = agent.store_with(json!({"content": "Anna Berg maintains the payment service", "type": "entity", "metadata": {"name": "Anna Berg", "properties": {"weight": 0.1}}}));
    let pay =
        agent.store_with(json!({"content": "The payment service takes cards", "type": "entity", "metadata": {"name": "payment service"}}));
    agent
        .call("store_relation", json!({"subject_id": anna["id"], "predicate": "maintains", "object_id": pay["id"], "evidence": [first]}))
        .expect("the call succeeds");
    let deleted = agent.store("semantic", "The password of the old server was on a note");
    agent
        .call("forget_memory", json!({"memory_id": deleted, "hard_delete": true}))
        .expect("the call succeeds");
    let forgotten = agent.store("procedural", "To deploy: ask Bert");
    agent
        .call("forget_memory", json!({"memory_id": forgotten, "reason": "Bert has left"}))
        .expect("the call succeeds");
    assert!(!agent.recall("who maintains the payment service").is_empty());
}

#[test]
fn an_exported_and_imported_store_is_equal_but_for_provenance() {
    let [old, new] = homes_of_one_project();
    fill(&old);
    let file = new.path("memories.jsonl");
    let written =
        old.loci(&["export", "--vectors", "--output", file.to_str().expect("the path is UTF-8")]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    assert_eq!(file.metadata().expect("the file exists").permissions().mode() & 0o777, 0o600);
    let first = std::fs::read_to_string(&file).expect("the file can be read");
    assert!(
        !first.contains("password") && first.contains("tombstone"),
        "a hard-deleted memory is not exported"
    );
    assert!(first.contains("\"access_count\":1"), "the recall before the export is counted");
    let report =
        import(&new, file.to_str().expect("the path is UTF-8"), &[]).expect("the import succeeds");
    assert_eq!(
        (&report["added"], &report["skipped"], &report["refused"]),
        (&json!(6), &json!(0), &json!(0)),
        "{report}"
    );
    let second = export(&new, &["--vectors"]);
    assert_eq!(without_provenance(&second), without_provenance(&first));
    let again =
        import(&new, file.to_str().expect("the path is UTF-8"), &[]).expect("the import succeeds");
    assert_eq!(
        (&again["added"], &again["changed"], &again["unchanged"], &again["act"]),
        (&json!(0), &json!(0), &json!(6), &Value::Null),
        "{again}"
    );
    assert_eq!(export(&new, &["--vectors"]), second);
    let mut agent = new.session();
    assert_eq!(
        agent.recall("on which day do we ship?")[0],
        "The release train leaves on Thursdays"
    );
}

#[test]
fn an_import_without_vectors_computes_them_and_accepts_a_document() {
    let [old, new] = homes_of_one_project();
    fill(&old);
    let lines = export(&old, &[]);
    assert!(!lines.contains("\"vector\""));
    let document = export(&old, &["--format", "json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&document).expect("valid JSON")["records"]
            .as_array()
            .expect("a JSON array")
            .len()
            + 1,
        lines.lines().count()
    );
    let file = new.path("memories.json");
    std::fs::write(&file, &document).expect("the file is written");
    import(&new, file.to_str().expect("the path is UTF-8"), &[]).expect("the import succeeds");
    assert_eq!(without_provenance(&export(&new, &[])), without_provenance(&lines));
    let mut agent = new.session();
    let begun = std::time::Instant::now();
    let found = std::iter::repeat_with(|| begun.elapsed().as_secs() < 30)
        .take_while(|in_time| *in_time)
        .any(|_| {
            agent.call("memory_stats", json!({})).expect("the call succeeds")["without_vector"]
                == json!(0)
        });
    assert!(found, "every active memory got its vectors");
    assert_eq!(
        agent.recall("on which day do we ship?")[0],
        "The release train leaves on Thursdays"
    );
}

#[test]
fn an_invalid_export_is_refused_and_changes_nothing() {
    let home = TestHome::without_model();
    fill(&TestHome::without_model());
    home.session().store("semantic", "Here before");
    let before = export(&home, &[]);
    let refused = |bytes: &[u8]| {
        let output = import_from_pipe(&home, bytes);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        text(&output.stderr)
    };
    assert!(refused(b"").contains("the file is empty"));
    assert!(refused(b"hello\n").contains("line 1 is not a JSON object"));
    assert!(refused(&[0x1f, 0x8b, 8, 0]).contains("gunzip"));
    assert!(
        refused(before.replacen("\"version\":4", "\"version\":5", 1).as_bytes())
            .contains("reads versions 1 to 4")
    );
    assert!(refused(&before.as_bytes()[..before.len() - 5]).contains("ends too early"));
    let zeros = vec![0; 64 << 20];
    assert!(refused(&zeros).contains("line 1 is longer than 1048576 bytes"));
    assert!(
        refused(&[b"{\"loci\":\"export\",\"version\":1}\n", &zeros[..]].concat())
            .contains("line 2 is longer than")
    );
    let wrong = before.replacen("\"confidence\":1.0", "\"confidence\":7", 1);
    assert!(
        refused(wrong.as_bytes()).contains("line 3 cannot be read: must be a number from 0 to 1")
    );
    let folder = import(&home, home.path("project").to_str().expect("the path is UTF-8"), &[])
        .expect_err("the import fails");
    assert!(folder.contains("is a folder"), "{folder}");
    let endless = import(&home, "/dev/zero", &[]).expect_err("the import fails");
    assert!(endless.contains("line 1 is longer than"), "{endless}");
    assert_eq!(export(&home, &[]), before, "nothing was imported");
    let left: Vec<_> = std::fs::read_dir(home.path(".loci"))
        .expect("the folder can be listed")
        .filter_map(Result::ok)
        .map(|f| f.file_name())
        .collect();
    assert!(!left.iter().any(|name| text(name.as_encoded_bytes()).starts_with(".tmp")), "{left:?}");
}

#[test]
fn bad_lines_are_skipped_and_listed_and_a_pipe_is_read() {
    let (old, new) = (TestHome::without_model(), TestHome::without_model());
    fill(&old);
    let bad = export(&old, &[]).replacen("\"type\":\"procedural\"", "\"type\":\"recipe\"", 1);
    let pipe = new.path("pipe");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .exit_in_time()
            .expect("the command runs")
            .success()
    );
    let writer = std::thread::spawn({
        let (pipe, bad) = (pipe.clone(), bad);
        move || std::fs::write(pipe, bad).expect("the file is written")
    });
    let output = new.loci(&["import", pipe.to_str().expect("the path is UTF-8"), "--skip-bad"]);
    writer.join().expect("the thread does not panic");
    let stdout = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(
        stdout.contains("5 memories added")
            && stdout.contains("1 line skipped:\n  line 8: cannot be read: must be"),
        "{stdout}"
    );
    assert!(new.loci(&["ctl", "status"]).status.success());
}

#[test]
fn an_export_overwrites_no_file_and_follows_no_link() {
    let home = TestHome::without_model();
    home.session().store("semantic", "Kept");
    let run = |more: &[&str]| home.loci(&[&["export", "--output"], more].concat());
    let path = |name: &str| home.path(name).to_str().expect("the path is UTF-8").to_owned();
    std::fs::write(path("there"), "mine").expect("the file is written");
    symlink(path("there"), path("link")).expect("the link is created");
    assert!(text(&run(&[&path("there")]).stderr).contains("already exists"));
    for more in [vec![path("link")], vec![path("link"), "--force".to_owned()]] {
        let refused = run(&more.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(text(&refused.stderr).contains("is a symbolic link"), "{refused:?}");
    }
    assert_eq!(std::fs::read_to_string(path("there")).expect("the file can be read"), "mine");
    assert!(run(&[&path("there"), "--force"]).status.success());
    assert_eq!(
        std::fs::read_to_string(path("there")).expect("the file can be read"),
        export(&home, &[])
    );
    let full = home
        .command("loci")
        .arg("export")
        .stdout(std::fs::File::options().write(true).open("/dev/full").expect("the file opens"))
        .output_in_time();
    let full = full.expect("the command runs");
    assert_eq!(full.status.code(), Some(1));
    assert!(text(&full.stderr).contains("No space left"), "{}", text(&full.stderr));
}

#[test]
fn an_import_is_one_act_that_sessions_see_at_once() {
    let [old, new] = [(), ()].map(|()| TestHome::without_model().with("LOCI_GROUP", "shop"));
    fill(&old);
    let mut agent = new.session();
    agent.store("semantic", "Here before");
    let file = new.path("m.jsonl");
    std::fs::write(&file, export(&old, &[])).expect("the file is written");
    let report =
        import(&new, file.to_str().expect("the path is UTF-8"), &[]).expect("the import succeeds");
    assert!(report["act"].is_i64(), "{report}");
    assert_eq!(agent.recall("release train").len(), 2, "the sessions see it at once");
    assert_eq!(
        export(&new, &[]).matches("\"operation\":\"import\"").count(),
        0,
        "log lines of the import are not exported"
    );
}

#[test]
fn an_export_that_fails_leaves_no_file_and_one_in_an_open_folder_is_private() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for number in 0..20 {
        agent.store("semantic", &format!("Entry {number} {}", "of some length ".repeat(100)));
    }
    let folder = home.path("open");
    std::fs::create_dir(&folder).expect("the folder is created");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755))
        .expect("the mode is set");
    // A limit of the file size, which fails like a full disk.
    let script = "trap '' XFSZ; exec prlimit --fsize=10000 \"$0\" export --output \"$1\"";
    let mut limited = home.command_at("sh".as_ref());
    limited.args(["-c", script]).arg(crate::home::binaries().join("loci"));
    let failed = limited.arg(folder.join("all.jsonl")).output_in_time().expect("the command runs");
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    assert!(text(&failed.stderr).contains("File too large"), "{}", text(&failed.stderr));
    assert_eq!(std::fs::read_dir(&folder).expect("it can be listed").count(), 0, "no part is left");
    let file = folder.join("all.jsonl");
    let done = home.loci(&["export", "--output", file.to_str().expect("the path is UTF-8")]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(file.metadata().expect("it exists").permissions().mode() & 0o777, 0o600);
}

#[test]
fn three_imports_at_once_add_each_memory_once() {
    let (old, new) = (TestHome::without_model(), TestHome::without_model());
    fill(&old);
    let file = new.path("m.jsonl");
    std::fs::write(&file, export(&old, &[])).expect("the file is written");
    let path = file.to_str().expect("the path is UTF-8");
    let added: u64 = std::thread::scope(|scope| {
        let imports: Vec<_> = (0..3).map(|_| scope.spawn(|| import(&new, path, &[]))).collect();
        let report = |import: std::thread::ScopedJoinHandle<'_, Result<Value, String>>| {
            let report = import.join().expect("the thread does not panic");
            report.expect("the import succeeds")["added"].as_u64().expect("a number")
        };
        imports.into_iter().map(report).sum()
    });
    assert_eq!(added, 6);
    let [new, old] = [&new, &old].map(|home| without_provenance(&export(home, &[])));
    assert_eq!(new, old);
}

#[test]
fn an_own_export_changes_nothing() {
    let home = TestHome::without_model();
    let add = home.loci(&["add", "The", "build", "runs", "on", "Jenkins", "--json"]);
    let stored: Value = serde_json::from_slice(&add.stdout).expect("valid JSON");
    let id = stored["id"].as_str().expect("it has an id");
    // The confidence fades by fractions of a second: it has more digits in the database than in the file.
    assert!(home.loci(&["pin", id]).status.success());
    let file = home.path("all.jsonl");
    let file = file.to_str().expect("the path is UTF-8");
    export(&home, &["--output", file]);
    let report = import(&home, file, &[]).expect("it is imported");
    assert_eq!((report["added"].as_u64(), report["changed"].as_u64()), (Some(0), Some(0)));
    assert!(report["act"].is_null() && report["notes"].is_null(), "{report}");
}
