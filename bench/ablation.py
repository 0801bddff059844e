#!/usr/bin/env python3
"""Measures what each part of the ranking contributes: runs the test sets with one constant changed at a time.

    python3 bench/ablation.py [--rows FILE] [--keep FOLDER]       some 10 minutes; prints tables

Makes a copy of the workspace in which the constants of the ranking are variables, builds it, and removes it; no build of loci has such
variables. The test sets are those of `bench/run.py --quality` and three further ones. Each conversation is stored in three ways: as it is,
without dates before the texts, and in shuffled order. Not here: the rows (ablation/rows.tsv), the metrics (ablation/ablation.rs).
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "bench"))

from quality import evals_folder

HERE = REPOSITORY / "bench" / "ablation"
COUNTS = {"WINDOW_RADIUS", "WINDOW_BEST", "EXHAUSTIVE_LIMIT", "WORD_MATCHED"}
ENGINE = "engine/src"
PATCHED = {"WINDOW_RADIUS", "WINDOW_BEST", "BM25_K1", "BM25_B", "RARITY_EXPONENT"}
"""Not read by name: the places that compute with them are patched one by one."""


def names():
    """The constants in the order of study.rs."""
    listed = re.search(r"NAMES: \[&str; \d+\] = \[(.*?)\];", (HERE / "study.rs").read_text(), re.S)[1]
    return re.findall(r'"(\w+)"', listed)


def change(copy):
    """Makes the copy read its constants from study.rs."""
    index = {name: at for at, name in enumerate(names())}
    for name in set(index) - PATCHED:
        read = f"crate::study::{'count' if name in COUNTS else 'value'}({index[name]}, {{0}})"
        if not sum(make_variable(path, name, read) for path in sorted((copy / ENGINE).rglob("*.rs"))):
            sys.exit(f"Error: nothing in {ENGINE} reads {name}")
    ranking = copy / ENGINE / "ranking"
    context = ranking / "late_interaction" / "context.rs"
    radius, best = (f"crate::study::count({index[name]}, {name})" for name in ("WINDOW_RADIUS", "WINDOW_BEST"))
    swap(context, "self.window.fill(&self.raised);", f"let windows = crate::study::best_in_window(&self.raised, {radius}, {best});")
    swap(context, "self.window.mean(&self.raised, at)", "windows[at]")
    swap(ranking / "late_interaction" / "word_match.rs", "/ (doc_freq + 0.5)).ln().max(0.0).sqrt()",
         f"/ (doc_freq + 0.5)).ln().max(0.0).powf(crate::study::value({index['RARITY_EXPONENT']}, 0.5))")
    bm25 = ranking / "bm25.rs"
    k1, b = (f"if self.idf == IdfForm::Fts5 {{ crate::study::value({index['BM25_' + name.upper()]}, self.{name}) }} else {{ self.{name} }}" for name in ("k1", "b"))
    swap(bm25, "let norm = self.k1 * (1.0 - self.b + self.b * length / mean_length);",
         f"let (k1, b) = ({k1}, {b});\n        let norm = k1 * (1.0 - b + b * length / mean_length);")
    swap(bm25, "term_freq * (self.k1 + 1.0)", "term_freq * (k1 + 1.0)")
    shutil.copy(HERE / "study.rs", copy / "engine/src/study.rs")
    shutil.copy(HERE / "ablation.rs", copy / "daemon/examples/ablation.rs")
    swap(copy / "engine/src/lib.rs", "\npub mod ranking;", "\npub mod ranking;\npub mod study;")


def make_variable(path, name, read):
    """Replaces the uses of a constant in product code; returns whether there were any."""
    code, test, tests = path.read_text().partition("#[cfg(test)]\nmod tests")
    is_use = lambda line: not re.match(r"\s*(pub|const|use|//|[A-Z0-9_, ]+,$)", line)
    replace = lambda line: re.sub(rf"(?<![\w])(?:late_interaction::|weights::)?{name}\b", read.format(name), line) if is_use(line) else line
    changed = "\n".join(replace(line) for line in code.split("\n"))
    if changed == code or path.name == "weights.rs":
        return False
    path.write_text(changed + test + tests)
    return True


def swap(path, old, new):
    text = path.read_text()
    if text.count(old) != 1:
        sys.exit(f"Error: {path.name} has changed: {old!r} is there {text.count(old)} times")
    path.write_text(text.replace(old, new))


def fill(copy):
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml", "proto", "engine", "daemon", "shim", "tests"):
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, copy / name, dirs_exist_ok=True)
        else:
            shutil.copy(source, copy)
    change(copy)


def build(copy):
    fill(copy)
    target = ["--target-dir", REPOSITORY / "target"]
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "locid", "--example", "ablation", *target], cwd=copy, check=True)
    return shutil.copy(REPOSITORY / "target/release/examples/ablation", copy / "ablation")


def worth(figures):
    """(R@5 + R@10 + 2 nDCG@10) / 4."""
    return (figures[0] + figures[1] + 2 * figures[2]) / 4


def total(figures):
    return 0.4 * worth(figures["locomo dated"]) + 0.4 * worth(figures["realtalk dated"]) + 0.2 * worth(figures["cranfield dated"])


def table(results):
    """Prints one line per row: three figures a set, then J, J of both conversations without dates and shuffled, and of the further sets."""
    print("| row | LoCoMo | REALTALK | Cranfield | J | difference | plain | shuffled | LoCoMo R@10 shuffled | CISI | MED | LongMemEval |")
    print("|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    first = None
    for each in results:
        figures = each["figures"]
        of = lambda key: " / ".join(f"{x:.1f}" for x in figures[key])
        talks = lambda how: (worth(figures[f"locomo {how}"]) + worth(figures[f"realtalk {how}"])) / 2
        first = total(figures) if first is None else first
        further = " | ".join(f"{worth(figures[f'{name} dated']):.2f}" for name in ("cisi", "med", "longmemeval"))
        print(
            f"| {each['row']} | {of('locomo dated')} | {of('realtalk dated')} | {of('cranfield dated')} | {total(figures):.2f} | {total(figures) - first:+.2f} "
            f"| {talks('plain'):.2f} | {talks('shuffled'):.2f} | {figures['locomo shuffled'][1]:.1f} "
            f"| {further} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, default=HERE / "rows.tsv", help="lines of a name, a tab, and CONSTANT=value,…")
    parser.add_argument("--models", type=Path, default=Path.home() / ".loci" / "models")
    parser.add_argument("--ablation", type=Path, help="use the program that an earlier run has built and kept")
    parser.add_argument("--keep", type=Path, help="leave the copy in this folder")
    parser.add_argument("--check", action="store_true", help="only check that the constants are found in the sources")
    given = parser.parse_args()
    if given.check:
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder))
        return
    evals = evals_folder(REPOSITORY) or sys.exit("Error: no test sets next to the repository")
    with tempfile.TemporaryDirectory() as folder:
        copy = given.keep or Path(folder)
        copy.mkdir(exist_ok=True)
        ablation = given.ablation or build(copy)
        run = subprocess.run([ablation, given.models, evals / "data" / "dev", given.rows], check=True, capture_output=True, text=True)
    table([json.loads(line) for line in run.stdout.splitlines()])


if __name__ == "__main__":
    main()
