"""The main function of scripts that measure one build and write one section of docs/benchmarks.md."""

import argparse
import subprocess
import sys
from datetime import date
from pathlib import Path

import process
import report

REPOSITORY = Path(__file__).resolve().parent.parent


def run(description, section, measure):
    """Prints the section that `measure` returns for the chosen build; with --write also writes it to docs/benchmarks.md."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"), metavar="PATH", help="default: target/release/loci")
    parser.add_argument("--write", action="store_true", help="write the figures to docs/benchmarks.md")
    chosen = parser.parse_args()
    text = measure(chosen.loci)
    version = subprocess.run([chosen.loci, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    command = f"python3 bench/{Path(sys.argv[0]).name}"
    text += "\n" + report.source(version, process.machine(), command, date.today().isoformat())
    print(text)
    if chosen.write:
        report.write(REPOSITORY / "docs" / "benchmarks.md", section, text)
