#!/usr/bin/env python3
"""Puts deliberate bugs into a copy of the repository, one at a time, and runs the tests that must fail.

    tests/mutants.py [NAME ...]      default: all

The copy is in target/mutants. Prints each bug as found or SURVIVED; exits with 1 if one survived, if a text to be
replaced is gone, or if the tests fail without a bug. Dependencies are built once; the crates of the workspace are not
optimised, so a bug takes about a minute.
"""

import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASE = ROOT / "target" / "mutants"
TREE = BASE / "tree"
CRATES = ["loci-base", "loci-search", "loci-engine", "loci-proto", "locid", "loci", "loci-tests"]

# Name, file, the text that is replaced, the replacement, and the tests that must fail: of the engine, of the daemon,
# and of `it`.
BUGS = [
    ("acknowledged although the commit failed", "daemon/src/service/pools.rs",
     "    let committed = resource.commit_group();\n",
     "    let committed: Result<(), Failure> = Ok(());\n    let _ = resource.commit_group();\n",
     {"daemon": ["pools"]}),
    ("synchronous=NORMAL in place of FULL", "engine/src/db/connection.rs",
     "PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL", {"it": ["power_loss"]}),
    ("the keyword index keeps a changed text", "engine/src/db/migrations/0001_initial.sql",
     "AFTER UPDATE OF content ON memories BEGIN\n"
     "  INSERT INTO memories_fts(memories_fts, rowid, content) VALUES ('delete', old.seq, old.content);\n",
     "AFTER UPDATE OF content ON memories BEGIN\n", {"engine": ["state_machine", "failpoints"]}),
    ("the index is updated before the commit of a group", "engine/src/transaction/change.rs",
     "        let committed =\n            if self.is_group_open()",
     "        self.apply_to_index()?;\n        let committed =\n            if self.is_group_open()",
     {"engine": ["failpoints"]}),
    ("connections of every user are accepted", "daemon/src/interface/agents/listen.rs",
     "if uid != nix::unistd::geteuid().as_raw() {", "if uid == u32::MAX {", {"it": ["sockets::another_user"]}),
    ("an import brings a deleted memory back", "engine/src/transfer/apply_line.rs",
     "if self.is_hard_deleted(&line.id)? {\n            self.refuse(line.id);",
     "if self.is_hard_deleted(&line.id)? && line.content.is_empty() {\n            self.refuse(line.id);",
     {"engine": ["hard_deletes"]}),
    ("no pause when a connection cannot be accepted", "daemon/src/interface/agents/listen.rs",
     "tokio::time::sleep(ACCEPT_PAUSE).await;", "tokio::time::sleep(ACCEPT_PAUSE * 0).await;",
     {"it": ["fault_matrix::a_daemon_that_cannot_accept"]}),
    ("the database is not locked", "engine/src/database_files/database_file.rs",
     "FlockArg::LockExclusiveNonblock", "FlockArg::LockSharedNonblock",
     {"engine": ["a_hard_link"], "it": ["replaced_files::a_database_has_one_daemon"]}),
    ("the identity is not written after a commit", "engine/src/database_files/store_files.rs",
     "        self.identity_file.write(&self.identity)\n    }", "        Ok(())\n    }",
     {"it": ["replaced_files"]}),
    ("the checksums are not updated after a checkpoint", "engine/src/database_files/store_files.rs",
     "let summed = self.sums.update(&self.database, &self.unsummed);",
     "let summed = std::io::Result::Ok(());", {"engine": ["failpoints"], "it": ["replaced_files"]}),
    ("the answer of a call is not kept", "engine/src/transaction/change.rs",
     "                idempotency::keep(conn, key, &json, call.now)?;\n",
     "                let _ = (key, &json);\n", {"engine": ["failpoints", "idempotency"]}),
    ("a failed checkpoint counts as done", "engine/src/handles/durable.rs",
     "                self.files.record_interrupted_checkpoint(&pages)?;\n                Err(error)",
     "                self.files.record_interrupted_checkpoint(&pages)?;\n                drop(error);\n"
     "                Ok(Moved::ALL)", {"it": ["disk_faults", "storage_warnings", "fault_matrix"]}),
    ("mentions are requested after the commit of a migration", "engine/src/db/migrate.rs",
     "    tx.commit()?;\n    failpoint!(\"after a migration step\");\n",
     "    if step == STEP_TO_MENTIONS {\n        health::remove_meta(&tx, \"mentions\")?;\n    }\n    tx.commit()?;\n    failpoint!(\"after a migration step\");\n"
     "    if step == STEP_TO_MENTIONS && memories::count(conn)? > 0 {\n"
     "        health::request_mention_backfill(conn)?;\n    }\n", {"engine": ["failpoints"]}),
    ("pending updates are lost if a transaction cannot begin", "engine/src/transaction/change.rs",
     "        failpoint!(\"before the begin of a transaction\");\n",
     "        let pending = std::mem::take(&mut self.pending);\n"
     "        failpoint!(\"before the begin of a transaction\");\n        self.pending = pending;\n",
     {"engine": ["failpoints"]}),
    ("a connection that is dropped empties the log", "engine/src/db/connection.rs",
     "set_checkpoint_on_close(&conn, false)?;", "set_checkpoint_on_close(&conn, true)?;",
     {"engine": ["left_log"]}),
    ("a checkpoint that was blocked counts as one more", "engine/src/db/checkpoint.rs",
     "Some(number) if continues => number,", "Some(number) if continues && number < 0 => number,",
     {"engine": ["left_log"]}),
    ("an emptied log is taken for a missing one", "engine/src/database_files/recognition.rs",
     "if self.has_later_checkpoint(known) {", "if self.has_later_checkpoint(known) && false {",
     {"engine": ["left_log"]}),
]


def copy_tree():
    """Copies the files that git knows; an unchanged file keeps its time, so that it is not built again."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
    for name in listed.stdout.splitlines():
        source, target = ROOT / name, TREE / name
        if not source.is_file():
            continue
        content = source.read_bytes()
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(source.stat().st_mode)


def run(tests, log):
    """Builds and runs tests; returns whether all passed, or None if the code does not compile."""
    flags = [f"--config=profile.release.package.{crate}.opt-level=0" for crate in CRATES]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(BASE / "target"), "CARGO_INCREMENTAL": "1"}

    def cargo(*arguments):
        command = ["cargo", arguments[0], "--release", *flags, *arguments[1:]]
        return subprocess.run(command, cwd=TREE, env=environment, stdout=log, stderr=log).returncode == 0

    packages = {"engine": ["-p", "loci-engine", "--lib"], "daemon": ["-p", "locid", "--lib"],
                "it": ["-p", "loci-tests", "--test", "it"]}
    if "it" in tests and not cargo("build", "--bins"):
        return None
    for crate, names in tests.items():
        if not cargo("test", *packages[crate], "--no-run"):
            return None
        if not cargo("test", *packages[crate], "--", *names):
            return False
    return True


def main():
    chosen = [bug for bug in BUGS if not sys.argv[1:] or bug[0] in sys.argv[1:]]
    BASE.mkdir(parents=True, exist_ok=True)
    copy_tree()
    with open(BASE / "log", "wb") as log:
        whole = {}
        for bug in chosen:
            for crate, names in bug[4].items():
                whole.setdefault(crate, set()).update(names)
        if run({crate: sorted(names) for crate, names in whole.items()}, log) is not True:
            sys.exit(f"the tests fail without a bug: see {BASE / 'log'}")
        failures = []
        for name, path, old, new, tests in chosen:
            start, file = time.monotonic(), TREE / path
            text = file.read_text()
            if text.count(old) != 1:
                failures.append(name)
                print(f"GONE      {name}: its text occurs {text.count(old)} times in {path}", flush=True)
                continue
            file.write_text(text.replace(old, new))
            passed = run(tests, log)
            file.write_text(text)
            verdict = {True: "SURVIVED", False: "found", None: "DOES NOT COMPILE"}[passed]
            if passed is not False:
                failures.append(name)
            print(f"{verdict:9} {name} ({time.monotonic() - start:.0f} s)", flush=True)
    print(f"{len(chosen) - len(failures)} of {len(chosen)} bugs were found")
    sys.exit(bool(failures))


main()
