#!/usr/bin/env python3
"""Compares two builds of loci in turns: time and CPU of a cold start, a store, a recall and a list of the tools.

    python3 bench/against.py --old FOLDER --new FOLDER            about 3 minutes; FOLDER has loci and locid
    python3 bench/against.py --old FOLDER --new FOLDER --turns 3  fewer turns

In each turn both builds do the same, in an order that alternates, so that other load of the machine reaches both. A start is measured
from the start of `locid` until a session got its first answer, with stores of several sizes and without the model, which loads beside; its
CPU is that of the process from start to end. Store and recall are measured with the model; their CPU is the daemon's, that of a list the
daemon's and the shim's.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import process
import two_builds
from home import Home
from notes import Notes
from session import Session

SEED = 20261125
SIZES = (0, 1_000, 10_000)
"""Memories of the stores that are started."""
TURNS, CALLS, LISTS, STORED = 9, 20, 200, 200
"""Turns; stores and recalls of a turn; lists of tools of a turn; memories before the first turn."""


class Build:
    """One of the two builds: a home for each size of store, without the model, and one for calls, with it."""

    def __init__(self, folder):
        self.loci = Path(folder).resolve() / "loci"
        self.starts = {size: Home(self.loci) for size in SIZES}
        self.calls = Home(self.loci)
        self.notes = Notes(SEED)
        self.project = self.calls.project("bench")
        for size, home in self.starts.items():
            empty = home.root / "models"
            empty.mkdir()
            home.env["LOCI_MODELS"] = str(empty)
            home.project("bench")
            self._fill(home, size)

    def _fill(self, home, size):
        """Imports the notes and stops the daemon."""
        config = Path(home.env["HOME"], ".loci")
        config.mkdir(mode=0o700)
        (config / "config.toml").write_text("[embedding]\ndownload = false\n")
        (config / "config.toml").chmod(0o600)
        write_notes(home.root / "notes.jsonl", size)
        _succeed(home.run("import", "notes.jsonl"))
        _succeed(home.run("ctl", "stop"))

    def begin(self):
        """Opens the session for the calls and stores the first memories."""
        self.session = Session(self.calls, self.project)
        for note in self.notes.notes(STORED):
            self.session.tool("store_memory", **note)
        self.daemon = self.calls.status()["pid"]

    def start(self, size):
        """Starts and ends a daemon; returns wall time until the first answer and CPU time of its whole life, in ms."""
        home = self.starts[size]
        began = time.perf_counter()
        locid = subprocess.Popen([str(self.loci.with_name("locid"))], env=home.env, stderr=subprocess.DEVNULL)
        wait_for_socket(home, locid)
        with Session(home, home.root / "projects" / "bench") as session:
            counted = session.tool("memory_stats")["total_memories"]
            wall = (time.perf_counter() - began) * 1000
        if counted != size:
            raise RuntimeError(f"{self.loci} has {counted} memories, not {size}")
        _succeed(home.run("ctl", "stop"))
        _, status, used = os.wait4(locid.pid, 0)
        locid.returncode = os.waitstatus_to_exitcode(status)
        if locid.returncode != 0:
            raise RuntimeError(f"{locid.args[0]} exited with {locid.returncode}")
        return wall, (used.ru_utime + used.ru_stime) * 1000

    def store(self):
        """Stores; returns median wall time and CPU time of one call in ms."""
        return self._call(lambda: self.session.tool("store_memory", **self.notes.note()))

    def recall(self):
        """Recalls; returns the same."""
        return self._call(lambda: self.session.tool("recall_memory", query=self.notes.question()))

    def list(self):
        """Lists the tools; returns the same, with the CPU time of the shim too."""
        return self._call(self.session.list_tools, LISTS, self.daemon, self.session.pid)

    def _call(self, call, count=CALLS, *pids):
        pids = pids or (self.daemon,)
        walls, before = [], _cpu_ms(pids)
        for _ in range(count):
            began = time.perf_counter()
            call()
            walls.append((time.perf_counter() - began) * 1000)
        return statistics.median(walls), (_cpu_ms(pids) - before) / count

    def end(self):
        """Stops every daemon and removes the homes."""
        if hasattr(self, "session"):
            self.session.close()
        for home in [*self.starts.values(), self.calls]:
            home.__exit__(None)


def _cpu_ms(pids):
    return sum(sum(process.cpu_by_thread_ms(pid).values()) for pid in pids)


def wait_for_socket(home, locid):
    """Waits until the daemon has its socket: before that, the shim of a session would start another daemon."""
    socket = Path(home.env["XDG_RUNTIME_DIR"], "loci", "locid.sock")
    while not socket.exists():
        if locid.poll() is not None:
            raise RuntimeError(f"{locid.args[0]} exited with {locid.returncode}")
        time.sleep(0.0005)


def write_notes(path, count):
    """Writes an export file of generated notes, without vectors."""
    notes, first_ms = Notes(SEED), 1_767_225_600_000
    lines = [{"loci": "export", "version": 1}, {"kind": "group", "id": "bench", "name": "bench", "created_at": first_ms}]
    for number in range(count):
        note, at = notes.note(), first_ms + 60_000 * number
        entity = {"metadata": {"name": f"Desk {number}"}} if note["type"] == "entity" else {}
        fixed = {"kind": "memory", "id": f"00000000-0000-7000-8000-{number:012x}", "scope": "global", "group": "bench", "status": "active"}
        times = {name: at for name in ("status_at", "confidence_at", "created_at", "updated_at")}
        lines.append(fixed | times | {"confidence": 1.0} | note | entity)
    lines.append({"kind": "end", "lines": count + 2})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _succeed(result):
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(result.args)}: {result.stderr.strip()}")


def compare(old, new, turns):
    """Measures in turns; returns one row for each figure."""
    for build in (old, new):
        build.begin()
    figures = {}
    for turn in range(turns):
        for build in (old, new) if turn % 2 == 0 else (new, old):
            measured = {f"start, {size:,} memories": build.start(size) for size in SIZES}
            measured |= {"store": build.store(), "recall": build.recall(), "tools/list": build.list()}
            for name, (wall, cpu) in measured.items():
                figures.setdefault((name, "wall"), {old: [], new: []})[build].append(wall)
                figures.setdefault((name, "CPU"), {old: [], new: []})[build].append(cpu)
        print(f"turn {turn + 1} of {turns}", file=sys.stderr)
    return [two_builds.row(f"{name}, {kind} ms", values[old], values[new], 2) for (name, kind), values in figures.items()]


if __name__ == "__main__":
    two_builds.run(__doc__, TURNS, Build, compare)
