"""Runs a comparison of two builds: its command line, and the table of the medians. Not here: what is measured (against.py, footprint.py)."""

import argparse
import statistics

import process
import report


def run(description, turns, build, compare):
    """Measures the builds in the folders `--old` and `--new` in turns, and prints the table.

    `build(folder)` prepares one and has `end()`; `compare(old, new, turns)` returns the rows.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--old", required=True, metavar="FOLDER", help="binaries to compare with")
    parser.add_argument("--new", required=True, metavar="FOLDER", help="binaries to measure")
    parser.add_argument("--turns", type=int, default=turns)
    chosen = parser.parse_args()
    builds = []
    try:
        for folder in (chosen.old, chosen.new):
            builds.append(build(folder))
        rows = compare(*builds, chosen.turns)
    finally:
        for ended in builds:
            ended.end()
    print(f"Medians of {chosen.turns} turns on {process.machine()}:\n")
    print(report.table(["", "old", "new", "ratio"], rows))


def row(name, before, after, digits):
    """Returns the row of a figure: its name, the medians of both builds, their ratio."""
    old, new = statistics.median(before), statistics.median(after)
    return [name, f"{old:.{digits}f}", f"{new:.{digits}f}", f"{new / old:.2f}"]
