#!/usr/bin/env python3
"""Changes a store of 10,000 notes to the multilingual model and back while four sessions store and recall.

    python3 bench/change_model.py              about 10 minutes
    python3 bench/change_model.py --write      the same, and writes it to docs/benchmarks.md

Every memory that a session stored meanwhile is read again at the end, every error is counted, and so are the replies that name the model that
serves, which they do while the store changes. Not here: what a model costs (model_costs.py).
"""

import collections
import sys
import threading
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import report
import script
from during import quantile
from home import Home
from notes import Notes
from session import Session

SEED, NOTES, SESSIONS, PAUSE_S = 20261128, 10_000, 4, 0.2
"""Seed of the notes; notes of the store; sessions; pause of a session between a recall with a store and the next."""
MODELS = {"multilingual": "multilingual-e5-small-q4", "minilm": "all-MiniLM-L6-v2"}
WITHIN_S = 3600


class Busy(threading.Thread):
    """A session that recalls and stores until it is told to stop."""

    def __init__(self, home, project, seed):
        super().__init__()
        self.notes, self.is_over = Notes(seed), threading.Event()
        self.times, self.stored, self.errors, self.named = [], {}, [], collections.Counter()
        self.session = Session(home, project)

    def run(self):
        while not self.is_over.wait(PAUSE_S):
            note = next(iter(self.notes.notes(1)))
            try:
                self.call("recall_memory", query=self.notes.question())
                self.stored[self.call("store_memory", **note)["id"]] = note["content"]
            except Exception as error:
                self.errors.append(str(error))

    def call(self, tool, **arguments):
        start = time.perf_counter()
        reply = self.session.tool(tool, **arguments)
        self.times.append((time.perf_counter() - start) * 1000)
        self.named[reply.get("model")] += 1
        return reply


def change(home, name):
    """Changes the store; returns the seconds until the model serves all memories."""
    start = time.perf_counter()
    used = home.run("model", "use", name)
    if used.returncode != 0:
        sys.exit(used.stderr)
    while time.perf_counter() - start < WITHIN_S:
        status = home.status()
        if status and not status.get("re_embedding") and status["model"]["id"] == MODELS[name] and status["model"]["state"] == "ready":
            return time.perf_counter() - start
        time.sleep(1)
    sys.exit(f"Error: the store did not change to {name} within {WITHIN_S} s")


def section(loci):
    """Measures; returns the section of the page."""
    with Home(loci) as home:
        project = home.project("bench")
        with Session(home, project) as session:
            for note in Notes(SEED).notes(NOTES):
                session.tool("store_memory", **note)
            busy = [Busy(home, project, SEED + number) for number in range(1, SESSIONS + 1)]
            for thread in busy:
                thread.start()
            rows = [[f"to {name}", change(home, name)] for name in MODELS]
            for thread in busy:
                thread.is_over.set()
                thread.join()
            stored = {id: text for thread in busy for id, text in thread.stored.items()}
            lost = sum(session.tool("memory_inspect", memory_id=id)["memory"]["content"] != text for id, text in stored.items())
    times = [time for thread in busy for time in thread.times]
    errors = [error for thread in busy for error in thread.errors]
    named = sum((thread.named for thread in busy), collections.Counter())
    serving = ", ".join(f"{name} by {count:,}" for name, count in named.items() if name)
    return f"""\
## Change to another model

A store of {NOTES:,} notes changes to `multilingual` and back while {SESSIONS} sessions recall and store: {len(times):,} calls, {len(errors)} errors,
p50 {quantile(times):.0f} ms, p99 {quantile(times, 0.99):.0f} ms, longest {max(times):.0f} ms. Of {len(stored):,} memories stored meanwhile {lost} were
lost or changed. Named by replies as the model that serves: {serving}.

{report.table(["", "seconds"], rows)}
"""


if __name__ == "__main__":
    script.run(__doc__, "change", section)
