#!/usr/bin/env python3
"""Measures the frames of `loci browse` in a pseudo-terminal, over a generated store without the model.

    python3 bench/browse.py                       100,000 memories, 120 x 40, about a minute
    python3 bench/browse.py --write               the same, and writes it to docs/benchmarks.md
    python3 bench/browse.py --memories 1000       a smaller store

A frame is timed from the key that is typed until the terminal has received the end of the frame that follows (the end of the synchronised
update). A result is timed until the frame in which the list has changed.
"""

import argparse
import fcntl
import json
import os
import pty
import random
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from datetime import date
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True

import process
import report

END_OF_FRAME = b"\x1b[?2026l"
TEXT = """\
`loci browse` at {memories} memories, in a pseudo-terminal of {columns} columns and {rows} lines. A frame: from a key until its frame is on the
terminal. Results: from a query that is typed at once until its results are shown; they come beside the frames, which never wait for them.
Without the model: the query is searched by keywords, and the store is scanned for the words.
"""
SUBJECTS = ["The staging server", "Anna", "The payment gateway", "The nightly backup", "Release 4.2", "The search index", "日本語の文書"]
FACTS = [
    "is called heron and lives in the second rack, behind the printer",
    "prefers tabs over spaces in Go and in Makefiles",
    "was moved to the new disk by the infrastructure team after the outage",
    "needs the feature flag checkout-v2 before it can be deployed",
    "fails with error E4711 when the certificate has expired",
    "talks to Postgres 17 through pgbouncer with a pool of 40 connections",
]
TYPES = ["episodic", "semantic", "procedural", "semantic"]


def export_file(path, memories):
    """Writes a store in the format of `loci export`."""
    choose = random.Random(25)
    start = 1_767_225_600_000
    with open(path, "w", encoding="utf-8") as file:
        def line(fields):
            file.write(json.dumps(fields, ensure_ascii=False) + "\n")

        line({"loci": "export", "version": 3})
        groups = [f"project-{number}" for number in range(12)]
        for group in groups:
            line({"kind": "group", "id": group, "name": group, "created_at": start})
        for number in range(memories):
            at = start + number * 250_000
            text = f"{choose.choice(SUBJECTS)} {choose.choice(FACTS)}; note {number} of {choose.choice(groups)}"
            line({
                "kind": "memory", "id": f"0199c2aa-7c1e-7000-8000-{number:012x}", "type": choose.choice(TYPES), "scope": "global",
                "group": choose.choice(groups), "status": "active", "content": text, "confidence": 1, "confidence_at": at,
                "created_at": at, "updated_at": at, "status_at": at,
            })
        line({"kind": "end", "lines": 1 + len(groups) + memories})


class Screen:
    """`loci browse` in a pseudo-terminal."""

    def __init__(self, command, environment, columns, rows):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.seen = b""

    def read_until(self, wanted, seconds=60):
        """Reads until the output contains `wanted`; returns the time of its arrival."""
        end = time.monotonic() + seconds
        while wanted not in self.seen:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                sys.exit(f"no {wanted!r} within {seconds} s: {self.seen[-400:]!r}")
            self.seen += os.read(self.master, 65536)
        return time.monotonic()

    def settle(self, quiet=0.25):
        """Reads until nothing comes any more."""
        while select.select([self.master], [], [], quiet)[0]:
            os.read(self.master, 65536)
        self.seen = b""

    def frame(self, key):
        """Types a key; returns the milliseconds until its frame has arrived."""
        self.seen = b""
        typed = time.monotonic()
        os.write(self.master, key)
        return (self.read_until(END_OF_FRAME) - typed) * 1000

    def close(self):
        os.write(self.master, b"\x03")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            if select.select([self.master], [], [], 0.1)[0]:
                try:
                    os.read(self.master, 65536)
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        sys.exit("loci browse does not end")


def percentiles(values):
    ordered = sorted(values)
    at = lambda share: ordered[min(len(ordered) - 1, int(len(ordered) * share))]
    return len(ordered), at(0.5), at(0.99), ordered[-1]


def measure(screen):
    """Returns the rows of the table."""
    screen.read_until(b" of ")
    screen.settle(1.0)
    rows = []

    def frames(name, keys, pause):
        taken = []
        for key in keys:
            taken.append(screen.frame(key))
            # What arrives later belongs to no key.
            time.sleep(pause)
            while select.select([screen.master], [], [], 0)[0]:
                os.read(screen.master, 65536)
        rows.append((name, *percentiles(taken)))
        screen.settle()

    frames("frame, down one row", [b"j"] * 200, 0.02)
    frames("frame, down one page", [b"\x1b[6~"] * 150, 0.05)
    frames("frame, up one page", [b"\x1b[5~"] * 100, 0.02)
    os.write(screen.master, b"/")
    screen.settle()
    query = b"staging server heron rack"
    frames("frame, a letter of a query", [bytes([c]) for c in query] + [b"\x7f"] * len(query), 0.05)
    screen.settle(1.5)
    results = []
    for word in [b"pgbouncer", b"certificate", b"checkout", b"outage", b"printer"]:
        os.write(screen.master, b"\x15")
        screen.settle(1.5)
        typed = time.monotonic()
        # As fast as a paste: the list of the words before is not shown in between.
        os.write(screen.master, word)
        last = typed
        while select.select([screen.master], [], [], 1.0)[0]:
            os.read(screen.master, 65536)
            last = time.monotonic()
        results.append((last - typed) * 1000)
    rows.append(("results of a query", *percentiles(results)))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=120)
    parser.add_argument("--rows", type=int, default=40)
    options = parser.parse_args()
    loci = Path(os.environ.get("LOCI_BINARIES", REPOSITORY / "target" / "release")) / "loci"
    with tempfile.TemporaryDirectory(prefix="loci-browse-") as folder:
        home = Path(folder)
        for name in [".loci", "run", "models", "project"]:
            (home / name).mkdir(mode=0o700)
        config = home / ".loci" / "config.toml"
        config.write_text("[embedding]\ndownload = false\n")
        config.chmod(0o600)
        environment = {
            "HOME": folder, "XDG_RUNTIME_DIR": str(home / "run"), "LOCI_MODELS": str(home / "models"), "LOCI_PERSON": "1", "TERM": "xterm-256color",
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8",
        }
        run = lambda *arguments: subprocess.run([loci, *arguments], env=environment, cwd=home / "project", check=True, stdout=subprocess.DEVNULL)
        export_file(home / "store.jsonl", options.memories)
        run("import", str(home / "store.jsonl"))
        os.chdir(home / "project")
        try:
            screen = Screen([str(loci), "browse"], environment, options.columns, options.rows)
            rows = measure(screen)
            code = screen.close()
        finally:
            os.chdir(REPOSITORY)
            run("ctl", "stop")
    if code != 0:
        sys.exit(f"loci browse ended with {code}")
    lines = ["|  | n | p50 ms | p99 ms | max ms |", "|---|---:|---:|---:|---:|"]
    lines += [f"| {name} | {count} | {p50:.1f} | {p99:.1f} | {most:.1f} |" for name, count, p50, p99, most in rows]
    command = "python3 bench/browse.py" + (f" --memories {options.memories}" if options.memories != 100_000 else "")
    heading = TEXT.format(memories=f"{options.memories:,}", columns=options.columns, rows=options.rows)
    text = f"## Browsing\n\n{heading}\n" + "\n".join(lines) + "\n\n" + report.source("loci", process.machine(), command, date.today().isoformat())
    print(text)
    if options.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "browse", text)


if __name__ == "__main__":
    main()
