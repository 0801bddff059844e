#!/usr/bin/env python3
"""Compares the costs of models in the daemon: CPU of a query and of a stored note, and memory.

    python3 bench/model_costs.py                                two minutes: minilm, minilm-fast and multilingual
    python3 bench/model_costs.py --write                        the same, and writes it to docs/benchmarks.md
    python3 bench/model_costs.py --models minilm,large          others, whose files are installed

Each model has a daemon of its own; rounds alternate between them. The CPU time of the model is that of the threads named `embedding`. Not here:
quality.
"""

import argparse
import datetime
import functools
import statistics
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import alternating
import process
import report
from notes import Notes
from session import Session

SEED, WARM_UP, CALLS, ROUNDS = 20261126, 20, 60, 7
"""Seed of the notes; calls before the first round; calls of each kind in a round; rounds."""
LOADED_WITHIN_S = 60


class Measured:
    """A model with its daemon and a session."""

    def __init__(self, name, home):
        self.name, self._notes = name, Notes(SEED)
        config = home.root / "config.toml"
        config.write_text(f'[embedding]\ndownload = false\nmodel = "{name}"\n')
        home.env["LOCI_CONFIG"] = str(config)
        self._session = Session(home, home.project("bench"))
        self.pid, self.stores, self.queries, self.query_calls = home.status()["pid"], [], [], []
        self._store(WARM_UP)
        deadline = time.monotonic() + LOADED_WITHIN_S
        while self._session.tool("recall_memory", query="warm", dry_run=True).get("degraded"):
            if time.monotonic() > deadline:
                sys.exit(f"Error: the model {name} is not available\nHint: loci model download")
            time.sleep(0.5)

    def round(self):
        """Stores and recalls; notes the CPU time of each."""
        model, _ = self._cpu(lambda: self._store(CALLS))
        self.stores.append(model)
        questions = [self._notes.question() for _ in range(CALLS)]
        model, everything = self._cpu(lambda: [self._session.tool("recall_memory", query=question, dry_run=True) for question in questions])
        self.queries.append(model)
        self.query_calls.append(everything)

    def row(self):
        """Returns the figures: medians of the rounds, and memory while nothing is asked."""
        process.wait_until_idle(self.pid, process.QUIET_S)
        return [self.name, *[statistics.median(times) for times in (self.queries, self.stores, self.query_calls)], process.pss_mib(self.pid)]

    def close(self):
        self._session.close()

    def _store(self, count):
        for note in self._notes.notes(count):
            self._session.tool("store_memory", **note)

    def _cpu(self, work):
        """Returns the CPU time of one call in ms: of the model, and of the whole daemon."""
        process.wait_until_idle(self.pid)
        before = process.cpu_by_thread_ms(self.pid)
        work()
        after = process.cpu_by_thread_ms(self.pid)
        spent = {name: (after[name] - before.get(name, 0)) / CALLS for name in after}
        return spent.get("embedding", 0), sum(spent.values())


def main():
    """Measures, prints, and writes with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"), metavar="PATH", help="the loci to measure")
    parser.add_argument("--models", default="minilm,minilm-fast,multilingual", metavar="NAMES", help="values of embedding.model, by comma")
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    chosen = parser.parse_args()
    models = chosen.models.split(",")
    rows = alternating.rows(chosen.loci, [functools.partial(Measured, model) for model in models], ROUNDS)
    columns = ["", "query, CPU ms", "stored note, CPU ms", "whole recall, CPU ms", "daemon PSS MiB"]
    text = f"""\
## Costs of the models

CPU time of the model for one question of about 10 words and for one note of about 20 words, of the whole daemon for a recall, and proportional
set size 4 s after the last call. Medians of {ROUNDS} rounds of {CALLS} calls, alternating between the daemons; all ran at the same time.

{report.table(columns, rows)}
"""
    if "large" in models:
        text += "\n`large` has the full size and random weights (bench/random_models.py): its costs are real, its results are not.\n"
    version = subprocess.run([chosen.loci, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    text += "\n" + report.source(version, process.machine(), f"python3 bench/model_costs.py --models {chosen.models}", datetime.date.today().isoformat())
    print(text)
    if chosen.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "models", text)


if __name__ == "__main__":
    main()
