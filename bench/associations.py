#!/usr/bin/env python3
"""Compares a recall with associations with a plain one, in one run, using the example `scale`.

    python3 bench/associations.py             about a minute
    python3 bench/associations.py --write     the same, and writes it to docs/benchmarks.md

Fails if the ratio of the p50 at 10,000 memories is above 2.
"""

import argparse
import subprocess
import sys
from datetime import date
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True

import process
import report

SIZES = ["1000", "10000", "100000"]
LIMITED, MAX_RATIO = "10000", 2.0
"""The size at which the ratio is limited, and the limit."""
TEXT = """\
`Reader::recall` of 20 full results with and without `associations`, without embedding and relay: thread CPU time, median of nine rounds of 60
questions; each question is asked both ways, and which comes first alternates. Notes are generated: every fiftieth is an entity with three
relations, every note mentions two entities, twenty notes are of one day. "Associations of a reply" is their mean number, at most 3.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    options = parser.parse_args()
    optimised = ["--config", "profile.release.package.loci-tests.opt-level=3"]
    build = ["cargo", "build", "--release", "--locked", *optimised, "-p", "loci-tests", "--example", "scale"]
    subprocess.run(build, cwd=REPOSITORY, check=True)
    command = [REPOSITORY / "target" / "release" / "examples" / "scale", "associations", *SIZES]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    source = report.source("loci", process.machine(), "python3 bench/associations.py", date.today().isoformat())
    text = f"## Associations\n\n{TEXT}\n" + "\n".join(lines) + "\n\n" + source
    print(text)
    if options.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "associations", text)
    ratio = next(float(row.split("|")[4]) for row in lines if row.startswith(f"| {LIMITED} "))
    if ratio > MAX_RATIO:
        sys.exit(f"with associations a recall takes {ratio} times as long, more than {MAX_RATIO}")


if __name__ == "__main__":
    main()
