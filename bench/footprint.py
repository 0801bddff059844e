#!/usr/bin/env python3
"""Compares what two builds of loci take, in turns: memory, disk, the first recall of a cold start, the size of the programs.

    python3 bench/footprint.py --old FOLDER --new FOLDER            about 4 minutes; FOLDER has loci and locid
    python3 bench/footprint.py --old FOLDER --new FOLDER --turns 1  fewer turns

Memory is the proportional set size of the daemon and all shims with 200 memories and the model loaded, after one recall in each session,
idle. Disk is everything below ~/.loci but the logs, with 1,000 memories and a running daemon. A cold start begins with `loci mcp` and no daemon,
and ends with the first answer to a recall in a store of 1,000 memories. Not here: CPU and time of calls (against.py).
"""

import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import measure
import two_builds
from home import Home
from notes import Notes
from session import Session

SEED = 20261127
TURNS, SESSIONS, STORED = 3, (1, 8), 1_000
MIB = 1 << 20


class Build:
    """One of the two builds, with a store of 1,000 memories."""

    def __init__(self, folder):
        self.folder = Path(folder).resolve()
        self.home = Home(self.folder / "loci")
        self.project, self.notes = self.home.project("bench"), Notes(SEED)
        with Session(self.home, self.project) as session:
            for note in self.notes.notes(STORED):
                session.tool("store_memory", **note)
            self.disk = self._disk()
        self._stop()

    def _disk(self):
        """MiB below ~/.loci but the logs and what the models folder has."""
        root = Path(self.home.env["HOME"], ".loci")
        files = [file for file in root.rglob("*") if file.is_file() and not {"logs", "models"} & set(file.relative_to(root).parts)]
        return sum(file.stat().st_blocks * 512 for file in files) / MIB

    def _stop(self):
        stopped = self.home.run("ctl", "stop")
        if stopped.returncode != 0:
            raise RuntimeError(stopped.stderr)

    def memory(self):
        """MiB by number of sessions, in a new home."""
        with Home(self.folder / "loci") as home:
            return {found.sessions: found.daemon + found.shims for found in measure.footprints(home, SESSIONS)}

    def cold(self):
        """Milliseconds from the start of a session without a daemon to the first answer of a recall."""
        began = time.perf_counter()
        with Session(self.home, self.project) as session:
            session.tool("recall_memory", query=self.notes.question())
            wall = (time.perf_counter() - began) * 1000
        self._stop()
        return wall

    def end(self):
        """Removes the home."""
        self.home.__exit__(None)

    def sizes(self):
        """MB of the programs."""
        return {name: (self.folder / name).stat().st_size / 1e6 for name in ("locid", "loci")}


def compare(old, new, turns):
    """Measures in turns; returns one row for each figure."""
    figures = {}

    def add(name, build, value):
        figures.setdefault(name, {old: [], new: []})[build].append(value)

    for turn in range(turns):
        for build in (old, new) if turn % 2 == 0 else (new, old):
            for _ in range(3):
                add("first recall of a cold start, ms", build, build.cold())
            for sessions, mib in build.memory().items():
                add(f"PSS with {sessions} sessions, MiB", build, mib)
        print(f"turn {turn + 1} of {turns}", file=sys.stderr)
    for build in (old, new):
        add("disk, 1,000 memories, MiB", build, build.disk)
        for name, size in build.sizes().items():
            add(f"{name}, MB", build, size)
    return [two_builds.row(name, values[old], values[new], 1) for name, values in figures.items()]


if __name__ == "__main__":
    two_builds.run(__doc__, TURNS, Build, compare)
