#!/usr/bin/env python3
"""Compares `loci import` with storing the same texts call by call; the CPU time of the model is not counted.

    python3 bench/bulk.py              three minutes
    python3 bench/bulk.py --write      the same, and writes it to docs/benchmarks.md

Stores and imports run as a user runs them: `loci mcp`, `loci import`, one daemon. The embedding thread is recognised by its name. Vectors that
an import does not contain are computed later, while the daemon is idle; that is not counted.
"""

import sys
import time
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

SEED, WARM_UP, STORES, ROUNDS = 20261122, 50, 4000, 7
"""Seed of the notes; warm-up stores; measured stores; imports of each kind."""


def measure(home, work):
    """Runs `work`; returns its wall time and the daemon's CPU time without embedding, in ms."""
    pid = home.status()["pid"]
    process.wait_until_idle(pid)
    before, start = process.cpu_by_thread_ms(pid), time.perf_counter()
    work()
    wall, after = (time.perf_counter() - start) * 1000, process.cpu_by_thread_ms(pid)
    return wall, sum(after[name] - before.get(name, 0) for name in after if name != "embedding")


def measure_stores(home):
    """Stores notes call by call; returns wall and CPU time of one store in ms."""
    notes = Notes(SEED)
    with Session(home, home.project("bench")) as session:

        def store(count):
            for note in notes.notes(count):
                session.tool("store_memory", **note)

        store(WARM_UP)
        return [total / STORES for total in measure(home, lambda: store(STORES))]


def measure_import(loci, file, memories):
    """Imports a file into an empty store; returns wall and CPU time of one memory in ms."""
    with Home(loci) as home:
        home.run("list")
        totals = measure(home, lambda: home.run("import", str(file)))
        if home.status()["memories"] != memories:
            raise RuntimeError(f"{home.status()['memories']} of {memories} memories were imported")
        return [total / memories for total in totals]


def section(loci):
    """Measures; returns the section of the page."""
    with Home(loci) as home:
        store_times = measure_stores(home)
        memories = home.status()["memories"]
        rows = [["stored call by call", *(f"{each:.3f}" for each in store_times), "", ""]]
        for name, options in (("imported with vectors", ["--vectors"]), ("imported without", [])):
            file = home.root / "all.jsonl"
            home.run("export", *options, "--force", "--output", str(file))
            rounds = zip(*(measure_import(loci, file, memories) for _ in range(ROUNDS)), strict=True)
            import_times = [sorted(times)[ROUNDS // 2] for times in rounds]
            ratios = [store / load for store, load in zip(store_times, import_times, strict=True)]
            rows.append([name, *(f"{each:.3f}" for each in import_times), *(f"{ratio:.0f}" for ratio in ratios)])
    columns = ["a memory", "wall ms", "CPU ms", "times less wall", "times less CPU"]
    return f"""\
## Bulk import

{memories:,} notes of some 20 words, stored call by call through `loci mcp`, and the export of that store imported into an empty one by
`loci import`; medians of {ROUNDS} imports. CPU is the daemon's without the embedding thread; the wall time of a store includes
embedding. Without vectors the texts are encoded later, while the daemon is idle.

{report.table(columns, rows)}
"""


if __name__ == "__main__":
    script.run(__doc__, "import", section)
