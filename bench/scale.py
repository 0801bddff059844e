#!/usr/bin/env python3
"""Compares search by store size with SQLite's vector and keyword search, using the example `scale`.

    python3 bench/scale.py                        some minutes, most of them for 100,000
    python3 bench/scale.py --write                the same, and writes it to docs/benchmarks.md
    python3 bench/scale.py --sizes 3000 1000000   other sizes; a million takes 4 minutes and 3 GB of disk

Each size is measured in a process of its own, since its memory use is measured too.
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
TEXT = """\
`Reader::recall` of 20 full results, without embedding and relay: thread CPU time, median of nine rounds of 60 questions, interleaved with the
same questions to `vec0` (50 nearest) and FTS5 (any word, 50 best) in the same file, which always run without a filter. Notes are generated: 20
words, a vector of 384 numbers, about 13 sign codes each. "Eligible" is the share of the notes that the caller can see. recall@10 is the share
of the ten best that are found, compared with exact cosines, and with an exhaustive search of vectors and words. MiB is the memory that opening
the store adds to the process.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    options = parser.parse_args()
    optimised = ["--config", "profile.release.package.loci-tests.opt-level=3"]
    build = ["cargo", "build", "--release", "--locked", *optimised, "-p", "loci-tests", "--example", "scale"]
    subprocess.run(build, cwd=REPOSITORY, check=True)
    tables = [_table_lines(size) for size in options.sizes]
    lines = tables[0][:2] + [line for table in tables for line in table[2:]]
    command = "python3 bench/scale.py" + (" --sizes " + " ".join(options.sizes) if options.sizes != SIZES else "")
    text = f"## Search by store size\n\n{TEXT}\n" + "\n".join(lines) + "\n\n" + report.source("loci", process.machine(), command, date.today().isoformat())
    print(text)
    if options.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "scale", text)


def _table_lines(size):
    """Measures one size; returns the lines of its table: two of the head, then the rows."""
    command = [REPOSITORY / "target" / "release" / "examples" / "scale", size]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


if __name__ == "__main__":
    main()
