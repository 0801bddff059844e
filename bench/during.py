#!/usr/bin/env python3
"""Compares recall during maintenance with recall without other work, in alternating blocks.

    python3 bench/during.py              about 5 minutes
    python3 bench/during.py --write      the same, and writes it to docs/benchmarks.md

One store has some thousand old episodes. Blocks of recalls alternate: without other work, and while `loci compact` processes a part of the
store. Its steps do not wait for an idle daemon, unlike those of scheduled maintenance: this is the worst case.
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
BLOCKS, WEEKS, EPISODES_PER_WEEK, CALLS = 6, 4, 120, 60
"""Blocks of each kind; old weeks that each run processes; episodes per week; recalls of a block without other work."""


def store(session, notes, first, weeks):
    """Stores different episodes for each of the old weeks."""
    for week in range(weeks):
        day = (first + timedelta(weeks=week)).isoformat()
        for note in notes.notes(EPISODES_PER_WEEK):
            note |= {"type": "episodic", "metadata": {"event_date": day}}
            session.tool("store_memory", **note)


def recall_ms(session, question):
    """Returns the wall time of one recall in milliseconds."""
    start = time.perf_counter()
    session.tool("recall_memory", query=question)
    return (time.perf_counter() - start) * 1000


def measure_blocks(home):
    """Returns recall times without and during a run, and the number of compacted episodes."""
    notes, project = Notes(SEED), home.project("bench")
    baseline, during, compacted = [], [], 0
    with Session(home, project) as session:
        for block in range(BLOCKS):
            store(session, notes, date(2020, 1, 6) + timedelta(weeks=block * WEEKS), WEEKS)
            process.wait_until_idle(home.status()["pid"])
            baseline += [recall_ms(session, notes.question()) for _ in range(CALLS)]
            command = [str(home.loci), "compact", "--yes", "--json"]
            run = subprocess.Popen(command, env=home.env, cwd=project, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
            while run.poll() is None:
                during.append(recall_ms(session, notes.question()))
            compacted += sum(len(step["members"]) for step in json.loads(run.stdout.read())["done"] if step["act"] == "compact")
    return baseline, during, compacted


def quantile(times, share=0.5):
    """The value at a share of the sorted times."""
    return sorted(times)[int(len(times) * share)]


def section(loci):
    """Measures; returns the section of the page."""
    with Home(loci) as home:
        baseline, during, compacted = measure_blocks(home)
    rows = [[name, len(times), quantile(times), quantile(times, 0.99)] for name, times in (("without other work", baseline), ("during a run", during))]
    ratio = quantile(during) / quantile(baseline)
    return f"""\
## Recall during a maintenance run

Blocks of recalls in one store, alternately without other work and while `loci compact` processes {WEEKS * EPISODES_PER_WEEK} old episodes without
pause ({compacted:,} in total); a scheduled run would wait while calls arrive. Ratio of the p50: {ratio:.2f}.

{report.table(["", "calls", "p50 ms", "p99 ms"], rows)}
"""


if __name__ == "__main__":
    script.run(__doc__, "during", section)
