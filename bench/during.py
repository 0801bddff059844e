#!/usr/bin/env python3
"""Recall while maintenance runs beside it, against recall as usual, in one interleaved run.

    python3 bench/during.py              about 5 minutes
    python3 bench/during.py --write      the same, and puts it into docs/benchmarks.md

One store holds some thousand old episodes. Blocks of recalls alternate: with nothing beside them, and while `loci compact` goes through a
part of the store. The steps do not wait for a quiet moment here, as those of the loop would: this is the worst case.
"""

import json
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import process
import report
import script
from home import Home
from notes import Notes
from session import Session

SEED = 20260302
BLOCKS, WEEKS, A_WEEK, CALLS = 6, 4, 120, 60
"""Blocks of each kind; old weeks that each run finds, episodes of each; recalls of a block with nothing beside it."""


def store(session, notes, first, weeks):
    """Episodes of old weeks; no two weeks are alike."""
    for week in range(weeks):
        day = (first + timedelta(weeks=week)).isoformat()
        for note in notes.notes(A_WEEK):
            note |= {"type": "episodic", "metadata": {"event_date": day}}
            session.tool("store_memory", **note)


def timed(session, question):
    """One recall in milliseconds."""
    start = time.perf_counter()
    session.tool("recall_memory", query=question)
    return (time.perf_counter() - start) * 1000


def blocks(home):
    """Times of recalls as usual and beside a run, and how many episodes the runs have compacted."""
    notes, project = Notes(SEED), home.project("bench")
    usual, beside, compacted = [], [], 0
    with Session(home, project) as session:
        for block in range(BLOCKS):
            store(session, notes, date(2020, 1, 6) + timedelta(weeks=block * WEEKS), WEEKS)
            process.settle(home.status()["pid"])
            usual += [timed(session, notes.question()) for _ in range(CALLS)]
            command = [str(home.loci), "compact", "--json"]
            run = subprocess.Popen(command, env=home.env, cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            while run.poll() is None:
                beside.append(timed(session, notes.question()))
            compacted += sum(len(step["members"]) for step in json.loads(run.stdout.read())["done"] if step["act"] == "compact")
    return usual, beside, compacted


def middle(times, share=0.5):
    """A quantile."""
    return sorted(times)[int(len(times) * share)]


def section(loci):
    """The section of the page."""
    with Home(loci) as home:
        usual, beside, compacted = blocks(home)
    rows = [[name, len(times), middle(times), middle(times, 0.99)] for name, times in (("as usual", usual), ("beside a run", beside))]
    ratio = middle(beside) / middle(usual)
    return f"""\
## Recall beside a run of maintenance

Blocks of recalls in one store, in turn with nothing beside them and while `loci compact` goes through {WEEKS * A_WEEK} old episodes without
a pause ({compacted:,} in all); a run of the loop would wait while somebody calls. Ratio of the p50: {ratio:.2f}.

{report.table(["", "calls", "p50 ms", "p99 ms"], rows)}
"""


if __name__ == "__main__":
    script.run(__doc__, "during", section)
