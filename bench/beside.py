#!/usr/bin/env python3
"""Measures recalls and stores while a person runs operations on the whole store.

    python3 bench/beside.py              about 2 minutes
    python3 bench/beside.py --write      the same, and writes it to docs/benchmarks.md

Two agents call without pause, one recalls and one stores, while a person runs an import, an export, doctor, stats, an undo and a reset.
The notes are generated and have no vectors, which the daemon computes in the background.
"""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import report
import script
from home import Home
from notes import Notes
from session import Session

SEED = 20261123
MEMORIES = 100_000
AFTER_S = 1.0
"""Calls this many seconds after an operation still count, since its background work may delay them."""

OPERATIONS = (
    ("nothing", ("ctl", "status")),
    ("import", ("import", "notes.jsonl")),
    ("export", ("export", "--output", "out.jsonl")),
    ("doctor", ("doctor",)),
    ("stats", ("stats",)),
    ("undo of the import", ("undo", "1", "--yes")),
    ("reset", ("reset", "--yes")),
)


def write_notes(path):
    """Writes an export file of generated notes, without vectors."""
    notes, first_ms = Notes(SEED), 1_767_225_600_000
    with path.open("w") as file:
        write = lambda record: print(json.dumps(record), file=file)
        write({"loci": "export", "version": 1})
        write({"kind": "group", "id": "bench", "name": "bench", "created_at": first_ms})
        for number in range(MEMORIES):
            note, time_ms = notes.note(), first_ms + 60_000 * number
            entity = {"metadata": {"name": f"Desk {number}"}} if note["type"] == "entity" else {}
            write(
                {"kind": "memory", "id": f"00000000-0000-7000-8000-{number:012x}", "scope": "global", "group": "bench", "status": "active"}
                | {"status_at": time_ms, "confidence": 1.0, "confidence_at": time_ms, "created_at": time_ms, "updated_at": time_ms}
                | note
                | entity
            )
        write({"kind": "end", "lines": MEMORIES + 2})


class Agent(threading.Thread):
    """A session that calls without pause."""

    def __init__(self, home, project, call):
        super().__init__()
        self._home, self._project, self._call = home, home.project(project), call
        self.calls, self.refused, self._stop = [], 0, threading.Event()

    def run(self):
        """Calls until `end`; records the start in s and the duration in ms of each call."""
        notes = Notes(SEED + 1)
        with Session(self._home, self._project) as session:
            while not self._stop.is_set():
                began = time.perf_counter()
                try:
                    self._call(session, notes)
                except RuntimeError as refusal:
                    self.refused += 1
                    print(refusal, file=sys.stderr)
                self.calls.append((began, (time.perf_counter() - began) * 1000))

    def end(self):
        """Stops after the current call."""
        self._stop.set()
        self.join()

    def figures_between(self, start, end):
        """p50 and maximum in ms of the calls in flight between two times."""
        times = sorted(took for began, took in self.calls if began < end and began + took / 1000 > start)
        return times[len(times) // 2], times[-1]


def section(loci):
    """Measures; returns the section of the page."""
    rows = []
    with Home(loci) as home:
        write_notes(home.root / "notes.jsonl")
        agents = [
            Agent(home, "bench", lambda session, notes: session.tool("recall_memory", query=notes.question())),
            Agent(home, "other", lambda session, notes: session.tool("store_memory", **notes.note())),
        ]
        for agent in agents:
            agent.start()
        try:
            time.sleep(2 * AFTER_S)
            for name, arguments in OPERATIONS:
                began = time.perf_counter()
                command = [str(home.loci), *arguments]
                finished = subprocess.run(command, env=home.env, cwd=home.root, stdin=subprocess.DEVNULL, capture_output=True, text=True)
                if finished.returncode != 0 and name != "doctor":
                    raise RuntimeError(f"{name}: {finished.stderr}")
                took = time.perf_counter() - began
                time.sleep(AFTER_S)
                end = time.perf_counter()
                rows.append([name, took, *[figure for agent in agents for figure in agent.figures_between(began, end)]])
        finally:
            for agent in agents:
                agent.end()
    refused = sum(agent.refused for agent in agents)
    return f"""\
## Calls during operations on the whole store

Two agents call without pause, one recalls and one stores, while a person runs operations on {MEMORIES:,} notes.
Meanwhile the daemon computes the vectors of the imported notes. Wall times; p50 and maximum of the calls. Refused calls: {refused}.

{report.table(["", "duration s", "recall p50 ms", "max ms", "store p50 ms", "max ms"], rows)}
"""


if __name__ == "__main__":
    script.run(__doc__, "beside", section)
