#!/usr/bin/env python3
"""Measures what a cross-encoder costs in the daemon: CPU of a pair, and the time of a recall with and without it.

    python3 bench/cross_encoder.py FOLDER            a minute; FOLDER has model.onnx and tokenizer.json
    python3 bench/cross_encoder.py FOLDER --write    the same, and writes it to docs/benchmarks.md

Two daemons have the same notes and the default model; rounds alternate between them. bench/random_models.py writes a cross-encoder of the
full size with random weights. Not here: quality.
"""

import argparse
import datetime
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

SEED, STORED, CALLS, ROUNDS, PAIRS = 20261127, 200, 30, 7, 20
"""Seed of the notes; notes in the store; recalls in a round; rounds; pairs of a recall, the default of retrieval.rerank_depth."""
LOADED_WITHIN_S = 60


class Measured:
    """A daemon with a session."""

    def __init__(self, name, home, config):
        self.name, self._notes = name, Notes(SEED)
        path = home.root / "config.toml"
        path.write_text(config)
        home.env["LOCI_CONFIG"] = str(path)
        self._session = Session(home, home.project("bench"))
        self.pid, self.times, self.pair, self.everything = home.status()["pid"], [], [], []
        for note in self._notes.notes(STORED):
            self._session.tool("store_memory", **note)
        deadline = time.monotonic() + LOADED_WITHIN_S
        while (reply := self._recall(self._notes.question())).get("degraded"):
            if time.monotonic() > deadline:
                sys.exit(f"Error: {name} is degraded: {reply['degraded']}\nHint: run loci doctor")
            time.sleep(0.5)

    def round(self):
        """Recalls; notes the time of each and the CPU time of all."""
        process.wait_until_idle(self.pid)
        before = process.cpu_by_thread_ms(self.pid)
        for _ in range(CALLS):
            question, start = self._notes.question(), time.perf_counter()
            reply = self._recall(question)
            self.times.append((time.perf_counter() - start) * 1000)
            if reply.get("degraded"):
                sys.exit(f"Error: a recall was {reply['degraded']}")
        after = process.cpu_by_thread_ms(self.pid)
        spent = {name: (after[name] - before.get(name, 0)) / CALLS for name in after}
        self.pair.append(spent.get("rerank", 0) / PAIRS)
        self.everything.append(sum(spent.values()))

    def row(self):
        """Returns the figures, and memory while nothing is asked."""
        process.wait_until_idle(self.pid, process.QUIET_S)
        medians = [statistics.median(numbers) for numbers in (self.pair, self.everything, self.times)]
        return [self.name, *medians, process.pss_mib(self.pid)]

    def close(self):
        self._session.close()

    def _recall(self, question):
        return self._session.tool("recall_memory", query=question, dry_run=True)


def main():
    """Measures, prints, and writes with --write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the cross-encoder")
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"), metavar="PATH", help="the loci to measure")
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    chosen = parser.parse_args()
    plain = "[embedding]\ndownload = false\n"
    reranked = f'{plain}[retrieval]\nrerank = "cross-encoder"\nrerank_path = "{chosen.folder.resolve()}"\n'
    starts = [lambda home: Measured("none", home, plain), lambda home: Measured("cross-encoder", home, reranked)]
    rows = alternating.rows(chosen.loci, starts, ROUNDS)
    columns = ["`retrieval.rerank`", "a pair, CPU ms", "whole recall, CPU ms", "recall p50 ms", "daemon PSS MiB"]
    text = f"""\
## Cross-encoder

A recall over {STORED} notes of about 20 words, without a cross-encoder and with one that compares the {PAIRS} best results. It has the size of
`ms-marco-MiniLM-L6-v2` and random weights (bench/random_models.py): its costs are real, its results are not. Medians of {ROUNDS} rounds of
{CALLS} recalls, alternating between two daemons.

{report.table(columns, rows)}
"""
    version = subprocess.run([chosen.loci, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    text += "\n" + report.source(version, process.machine(), "python3 bench/cross_encoder.py FOLDER", datetime.date.today().isoformat())
    print(text)
    if chosen.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "cross-encoder", text)


if __name__ == "__main__":
    main()
