#!/usr/bin/env python3
"""Measures ours beside the figures that Local Memory publishes of itself, which were not run here.

    python3 bench/published.py             two minutes, most of them to compile
    python3 bench/published.py --write     the same, and writes it to docs/benchmarks.md
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

TEXT = """\
Local Memory's document names these figures; they are copied from it, were not run, and are of its authors' machine. Ours are of one run on the
machine below. The work is not equal: their codes and vectors have 768 numbers, ours 384; their search is by vectors alone, ours is the whole
`Reader::recall` of five results, which also searches by keywords, applies filters and reads the rows. Neither includes encoding the query.
Ours is thread CPU time, the median of nine rounds of 60 questions about generated notes; distances are medians of 101 rounds over 4,096 codes.

Their search begins with the Hamming distance of the query to every memory. Ours does not: its first stage estimates a cosine from a query of
four bits a number and the sign bits of a vector, for 64 vectors at once, and only in stores of more than 2,000 memories. Hamming distances are
compared for the words of a text, eight of the query at once. "First stage, a vector" is therefore the comparable step of a search.
"""


def build_and_run():
    """The lines of both examples, as a dictionary."""
    optimised = ["--config", "profile.release.package.loci-tests.opt-level=3"]
    # Built for the whole workspace, so that what the release has compiled is used.
    build = ["cargo", "build", "--release", "--locked", *optimised, "--workspace", "--example", "scale", "--example", "distances"]
    subprocess.run(build, cwd=REPOSITORY, check=True)
    examples, lines = REPOSITORY / "target" / "release" / "examples", []
    for command in ([examples / "distances"], [examples / "scale", "published", "1000", "10000"]):
        lines += subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return dict(line.split("\t") for line in lines)


def rows(figures):
    def search(size):
        p50, p99 = (int(figures[f"{share} us {size}"]) for share in ("p50", "p99"))
        return f"{p50:,} µs, p99 {p99:,} µs"

    kib = float(figures["database bytes"]) / 1000
    snapshot = float(figures["snapshot bytes"]) / 1000
    distance = {name: float(figures[name]) for name in ("one by one", "eight at once", "first stage")}
    return [
        ["Hamming distance, ns", "768 bits: 52 without SIMD, 3 with",
         f"384 bits: {distance['one by one']:.1f} one by one without SIMD, {distance['eight at once']:.1f} eight at once with"],
        ["first stage, a vector, ns", "~127 (1,000 in ~127 µs)", f"{distance['first stage']:.1f}"],
        ["search of 1,000", "~282 µs", search(1000)],
        ["search of 10,000", "~2,000 µs, estimated", search(10000)],
        ["bytes a document", "~3.2 KB: vector, code and 64 bytes of metadata",
         f"{kib:.1f} KB of database: text of {figures['characters']} characters, vector, {figures['codes']} codes of words, keyword index, "
         f"journal; {snapshot:.1f} KB more if a stop writes the index, which it does from 50,000 memories on"],
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    options = parser.parse_args()
    table = ["| work | theirs, published, not run | ours, this run |", "|---|---|---|"]
    table += ["| " + " | ".join(row) + " |" for row in rows(build_and_run())]
    source = report.source("loci", process.machine(), "python3 bench/published.py", date.today().isoformat())
    text = f"## Beside published figures\n\n{TEXT}\n" + "\n".join(table) + "\n\n" + source
    print(text)
    if options.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", "published", text)


if __name__ == "__main__":
    main()
