#!/usr/bin/env python3
"""What each part of the ranking is worth: the engine itself, asked the test sets with one constant changed at a time.

    python3 bench/ablation.py [--rows FILE] [--keep FOLDER]       some 10 minutes; prints tables

A copy of the workspace is made in which the constants of the ranking are read at run time, built beside the real one, and thrown away;
what is shipped has no such thing. The test sets are those of `bench/run.py --quality` and three further ones. Three stores of each
conversation: as it is, without dates before the texts, and in shuffled order. Not here: the rows (ablation/rows.tsv), how answers are judged (ablation/ablation.rs).
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
COUNTS = {"REACH", "BEST", "SCAN_ALL", "COMPARED"}
WHERE = {
    "engine/src/ranking/late_interaction/mod.rs": "COS SPREAD LONG LEX SOFT TERM_BESIDE PERSON FIRST DATE EXPECT RECENT",
    "engine/src/ranking/late_interaction/context.rs": "ANSWER NEXT WINDOW QUESTION LINK",
    "engine/src/text/dates/event_reference.rs": "HELD_BACK",
    "engine/src/text/dates/span.rs": "FAR",
    "engine/src/search/query/event_date.rs": "MET",
    "engine/src/search/coarse_to_fine.rs": "COMPARED",
    "engine/src/search/mod.rs": "SCAN_ALL",
}


def names():
    """The constants, in the order in which study.rs has them."""
    listed = re.search(r"NAMES: \[&str; \d+\] = \[(.*?)\];", (HERE / "study.rs").read_text(), re.S)[1]
    return re.findall(r'"(\w+)"', listed)


def change(copy):
    """Lets the copy read its constants."""
    places = {name: at for at, name in enumerate(names())}
    for file, constants in WHERE.items():
        path = copy / file
        text = path.read_text()
        for name in constants.split():
            read = f"crate::study::{'count' if name in COUNTS else 'value'}({places[name]}, {{0}})"
            own = ("late_interaction::" if file == "engine/src/search/mod.rs" else "") + name
            # Not where it is defined, imported, or spoken of.
            line = lambda line: line if re.match(r"\s*(pub|const|use|//)", line) else re.sub(rf"(?<!\w){own}\b", read.format(own), line)
            changed = "\n".join(line(each) for each in text.split("\n"))
            if changed == text:
                sys.exit(f"Error: {file} has changed: nothing there reads {name}")
            text = changed
        path.write_text(text)
    order = copy / "engine/src/ranking/late_interaction/context.rs"
    swap(order, "self.around.look(&self.near);",
         f"let around = crate::study::best_around(&self.near, crate::study::count({places['REACH']}, REACH), crate::study::count({places['BEST']}, BEST));")
    swap(order, "self.around.mean(&self.near, at)", "around[at]")
    words = copy / "engine/src/ranking/late_interaction/word_match.rs"
    swap(words, "/ (having + 0.5)).ln().max(0.0).sqrt()", f"/ (having + 0.5)).ln().max(0.0).powf(crate::study::value({places['RARITY']}, 0.5))")
    bm25 = copy / "engine/src/ranking/bm25.rs"
    k1, b = (f"if self.rarity == Rarity::Fts5 {{ crate::study::value({places[name]}, self.{name.lower()}) }} else {{ self.{name.lower()} }}" for name in ("K1", "B"))
    swap(bm25, "let norm = self.k1 * (1.0 - self.b + self.b * length / mean_length);", f"let (k1, b) = ({k1}, {b});\n        let norm = k1 * (1.0 - b + b * length / mean_length);")
    swap(bm25, "times * (self.k1 + 1.0)", "times * (k1 + 1.0)")
    shutil.copy(HERE / "study.rs", copy / "engine/src/study.rs")
    shutil.copy(HERE / "ablation.rs", copy / "daemon/examples/ablation.rs")
    swap(copy / "engine/src/lib.rs", "\npub mod ranking;", "\npub mod ranking;\npub mod study;")


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


def table(told):
    """A row a line: three figures a set, then J, J of the two conversations without dates and in shuffled order, and of the further sets."""
    print("| row | LoCoMo | REALTALK | Cranfield | J | J beside | plain | shuffled | LoCoMo R@10 shuffled | CISI | MED | LongMemEval |")
    print("|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    first = None
    for each in told:
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
    parser.add_argument("--ablation", type=Path, help="what an earlier run has built and kept")
    parser.add_argument("--keep", type=Path, help="leave the copy in this folder")
    parser.add_argument("--check", action="store_true", help="only see whether the constants can be found in the sources")
    given = parser.parse_args()
    if given.check:
        with tempfile.TemporaryDirectory() as folder:
            fill(Path(folder))
        return
    evals = evals_folder(REPOSITORY) or sys.exit("Error: the test sets are not beside the repository")
    with tempfile.TemporaryDirectory() as folder:
        copy = given.keep or Path(folder)
        copy.mkdir(exist_ok=True)
        ablation = given.ablation or build(copy)
        run = subprocess.run([ablation, given.models, evals / "data" / "dev", given.rows], check=True, capture_output=True, text=True)
    table([json.loads(line) for line in run.stdout.splitlines()])


if __name__ == "__main__":
    main()
