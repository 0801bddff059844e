#!/usr/bin/env python3
"""Measures loci: time and CPU of store and recall, memory of daemon and shims, a burst of stores.

    python3 bench/run.py                 about two minutes; --quick leaves out 10,000 memories
    python3 bench/run.py --write         the same, and writes it to docs/benchmarks.md
    python3 bench/run.py --quality       recall quality instead, on public sets next to the repository (minutes)

Standard library only; Linux. The model must be in the cache (`loci model download`). Publish figures of an
idle machine only.
"""

import argparse
import subprocess
import sys
from datetime import date
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))  # home.py: the temporary home of the client tests and the benchmarks

import measure
import process
import quality
import report
from home import Home

PAGE = REPOSITORY / "docs" / "benchmarks.md"
QUICK_SIZES, SIZES = (100, 1_000), (100, 1_000, 10_000)
SESSIONS = (1, 8)


def options():
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"), metavar="PATH", help="default: target/release/loci")
    parser.add_argument("--quick", action="store_true", help="100 and 1,000 memories only; with --quality a smoke test")
    parser.add_argument("--quality", action="store_true", help="run the evaluations of ../shared/evals instead")
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    chosen = parser.parse_args()
    if chosen.quality and chosen.quick and chosen.write:
        parser.error("figures of a smoke test cannot be written: leave out --quick or --write")
    return chosen


def speed_and_memory(loci, quick):
    """Measures time and memory; returns the section."""
    with Home(loci) as home:
        print("Store and recall …", file=sys.stderr)
        text = report.speed(measure.latencies(home, QUICK_SIZES if quick else SIZES))
    with Home(loci) as home:
        print("Memory …", file=sys.stderr)
        text += "\n" + report.memory(measure.footprints(home, SESSIONS), measure.MEMORY_AT)
    with Home(loci) as home:
        print("Concurrent stores …", file=sys.stderr)
        text += "\n" + report.burst(measure.burst(home), measure.BURST_SESSIONS, measure.BURST_STORES)
    return text


def recall_quality(loci, quick):
    """Measures quality; returns the section."""
    folder = quality.evals_folder(REPOSITORY)
    if folder is None:
        sys.exit("Error: no folder ../shared/evals next to the repository\nHint: the test sets are not part of it; see docs/benchmarks.md")
    return report.quality(*quality.run(folder, loci, quick))


def main():
    """Measures, prints, and writes with --write."""
    chosen = options()
    loci = str(Path(chosen.loci).resolve())
    name, text = ("quality", recall_quality(loci, chosen.quick)) if chosen.quality else ("figures", speed_and_memory(loci, chosen.quick))
    version = subprocess.run([loci, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    flags = [flag for flag, given in (("--quality", chosen.quality), ("--quick", chosen.quick)) if given]
    command = " ".join(["python3 bench/run.py", *flags])
    text += "\n" + report.source(version, process.machine(), command, date.today().isoformat())
    print(text)
    if chosen.write:
        report.write(PAGE, name, text)
        print(f"Written to {PAGE.relative_to(REPOSITORY)}", file=sys.stderr)


if __name__ == "__main__":
    main()
