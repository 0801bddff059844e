#!/usr/bin/env python3
"""Whether each constant of a model pays: the ranking with the model's own value and with the default's, on every set of bench/judge.py.

    python3 bench/calibration.py --model multilingual-e5-small-q4 --name multilingual --folder FOLDER [--sets notes,xquad]

Each constant of the model's row in crates/search/src/calibration.rs in turn gets the value of the first row, in a copy of the sources in
FOLDER, which is built there; rows of answers stay in FOLDER. About fifteen minutes a constant. A constant that does not pay on two sets is
deleted. Not here: the sets and the figures (judge.py).
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "bench"))

import judge

TABLE = Path("crates/search/src/calibration.rs")
ROW = re.compile(r'model: "([^"]+)",((?:\s+\w+: [0-9.]+,)+)')
CONSTANT = re.compile(r"(\w+): ([0-9.]+),")


def rows(text):
    """The constants of each model, as they are written."""
    return {model: dict(CONSTANT.findall(constants)) for model, constants in ROW.findall(text)}


def with_value(text, model, name, value):
    """The table with another value of one constant of a model."""
    def changed(row):
        return re.sub(rf"\b{name}: [0-9.]+,", f"{name}: {value},", row[0]) if row[1] == model else row[0]

    return ROW.sub(changed, text)


def build(folder, table, name, model):
    """Builds the copy with a table; returns a program that runs it with the model."""
    copy, binaries = folder / "src", folder / name
    if not copy.exists():
        subprocess.run(["git", "clone", "-q", REPOSITORY, copy], check=True)
    (copy / TABLE).write_text(table)
    subprocess.run(["cargo", "build", "--release", "--locked", "-q"], cwd=copy, check=True)
    binaries.mkdir(exist_ok=True)
    for binary in ("loci", "locid"):
        (binaries / binary).write_bytes((copy / "target" / "release" / binary).read_bytes())
        (binaries / binary).chmod(0o755)
    config, program = binaries / "config.toml", binaries / "run"
    config.write_text(f'[embedding]\nmodel = "{model}"\n')
    config.chmod(0o600)
    program.write_text(f'#!/bin/sh\nLOCI_CONFIG={config} exec {binaries}/loci "$@"\n')
    program.chmod(0o755)
    return str(program)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="the id in the table")
    parser.add_argument("--name", required=True, help="the value of embedding.model")
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--sets", default=",".join(judge.SETS))
    chosen = parser.parse_args()
    folder = chosen.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    table = (REPOSITORY / TABLE).read_text()
    of = rows(table)
    default, own = next(iter(of.values())), of[chosen.model]
    tables = {"own": table} | {name: with_value(table, chosen.model, name, default[name]) for name in own if own[name] != default[name]}
    builds = {name: build(folder, tables[name], name, chosen.name) for name in tables}
    judge.print_tables({name: judge.asked(builds[name], chosen.sets.split(","), folder / f"{name}.json") for name in builds})


if __name__ == "__main__":
    main()
