#!/usr/bin/env python3
"""Compares a plain store with an encrypted one, and the default build with one that has encryption: start, store and recall, in one run.

    tests/encrypted.sh                        first: builds loci with encryption
    python3 bench/encryption.py               about a minute
    python3 bench/encryption.py --write       the same, and writes it to docs/benchmarks.md

Everything is measured as by against.py, in turns whose order rotates.
"""

import argparse
import statistics
import sys
from datetime import date
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import process
import report
from against import CALLS, SIZES, STORED, Build

TURNS = 9
TEXT = """\
Three stores with the same notes: one of the default build (SQLite), a plain and an encrypted one of a build with encryption (SQLCipher).
Medians of {turns} turns in which each does the same; who begins rotates. A start is measured from the start of `locid` until a session got its
first answer, without the model, which loads beside; its CPU is that of the process from start to end. Store and recall are calls of an
agent with the model, {calls} in a turn after {stored} memories; their CPU is the daemon's.
"""


class EncryptedBuild(Build):
    """A build with encryption whose stores are encrypted."""

    def __init__(self, folder):
        super().__init__(folder)
        for home in (*self.starts.values(), self.calls):
            for command in (["encrypt", "--yes"], ["ctl", "stop"]):
                result = home.run(*command)
                if result.returncode != 0:
                    raise RuntimeError(f"{' '.join(result.args)}: {result.stderr.strip()}")


def measure(sides, turns):
    """Measures in turns; returns the medians of the sides by figure."""
    figures = {}
    for turn in range(turns):
        for place in range(len(sides)):
            side = (turn + place) % len(sides)
            measured = {f"start, {size:,} memories": sides[side].start(size) for size in SIZES}
            measured |= {"store": sides[side].store(), "recall": sides[side].recall()}
            for name, values in measured.items():
                for kind, value in zip(("p50", "CPU"), values):
                    figures.setdefault(f"{name}, {kind} ms", [[] for _ in sides])[side].append(value)
        print(f"turn {turn + 1} of {turns}", file=sys.stderr)
    return {name: [statistics.median(values) for values in of_sides] for name, of_sides in figures.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plain", default=REPOSITORY / "target" / "release", metavar="FOLDER", help="binaries of the default build")
    parser.add_argument(
        "--encrypted", default=REPOSITORY / "target" / "encrypted" / "release", metavar="FOLDER", help="binaries with encryption"
    )
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    options = parser.parse_args()
    sides = []
    try:
        for kind, folder in ((Build, options.plain), (Build, options.encrypted), (EncryptedBuild, options.encrypted)):
            sides.append(kind(folder))
            sides[-1].begin()
        medians = measure(sides, options.turns)
    finally:
        for side in sides:
            side.end()
    rows = [
        [name, *[f"{value:.2f}" for value in (default, plain, encrypted)], f"{plain / default:.2f}", f"{encrypted / plain:.2f}"]
        for name, (default, plain, encrypted) in medians.items()
    ]
    columns = ["", "default build", "with the feature, plain", "encrypted", "feature : default", "encrypted : plain"]
    text = TEXT.format(turns=options.turns, calls=CALLS, stored=STORED)
    source = report.source("loci", process.machine(), f"python3 bench/encryption.py --turns {options.turns}", date.today().isoformat())
    page = f"## Encryption\n\n{text}\n{report.table(columns, rows)}\n\n{source}"
    print(page)
    if options.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "encryption", page)


if __name__ == "__main__":
    main()
