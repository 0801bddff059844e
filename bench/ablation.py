#!/usr/bin/env python3
"""Ablation study of the ranking: runs the test sets with one constant of the engine changed at a time.

    python3 bench/ablation.py [--rows FILE] [--keep FOLDER]       takes about 10 minutes; prints tables

Builds a copy of the workspace whose engine reads the ranking constants at run time, and deletes the copy afterwards; the shipped engine has
fixed constants. The test sets are those of `bench/run.py --quality` and three further ones. Each conversation is stored three times: with
dates before the texts, without dates, and in shuffled order. Not here: the rows (ablation/rows.tsv), the evaluation
(ablation/ablation.rs).
"""

import argparse
import functools
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
READERS = {
    "crates/search/src/ranking/late_interaction/query_scorer.rs": "SHORT_QUERY_TERMS MAX_LENGTH_FACTOR BM25_WEIGHT WORD_MATCH_WEIGHT "
    "NEIGHBOUR_TERM_FACTOR SPEAKER_BOOST FIRST_PERSON_BOOST DATE_BOOST EXPECTED_CONTENT_BOOST RECENCY_BOOST",
    "crates/search/src/ranking/late_interaction/context.rs": "ANSWER_SHARE NEIGHBOUR_SHARE WINDOW_SHARE QUESTION_PENALTY",
    "crates/search/src/ranking/late_interaction/coherence.rs": "FULL_COHERENCE",
    "crates/search/src/ranking/late_interaction/word_match.rs": "EVENT_TERM_FACTOR",
    "crates/base/src/text/dates/span.rs": "ONE_SIDED_HALF_LIFE",
    "crates/search/src/search/query/event_date.rs": "MIN_EVENT_MATCH",
    "crates/search/src/search/stages.rs": "WORD_MATCHED",
    "crates/search/src/search/mod.rs": "late_interaction::EXHAUSTIVE_LIMIT",
}
"""The files and the constants that they read."""


def names():
    """The constants, in the order of study.rs."""
    array = re.search(r"NAMES: \[&str; \d+\] = \[(.*?)\];", (HERE / "study.rs").read_text(), re.S)[1]
    return re.findall(r'"(\w+)"', array)


def change_constants(copy):
    """Makes the copy read its constants at run time."""
    indices = {name: index for index, name in enumerate(names())}

    def read(name, default, krate="loci_base"):
        return f"{krate}::study::{'count' if name in COUNTS else 'value'}({indices[name]}, {default})"

    for file, constants in READERS.items():
        path = copy / file
        krate = "crate" if file.startswith("crates/base/") else "loci_base"
        path.write_text(replace_reads(path, constants.split(), functools.partial(read, krate=krate)))
    scorer = copy / "crates/search/src/ranking/late_interaction/query_scorer.rs"
    replace_once(scorer, "cosine_weight: model.cosine_weight *", f"cosine_weight: {read('COSINE_WEIGHT', 'model.cosine_weight')} *")
    context = copy / "crates/search/src/ranking/late_interaction/context.rs"
    replace_once(context, "self.window.fill(&self.raised);",
         f"let means = loci_base::study::window_means(&self.raised, {read('WINDOW_RADIUS', 'WINDOW_RADIUS')}, {read('WINDOW_BEST', 'WINDOW_BEST')});")
    replace_once(context, "self.window.mean(&self.raised, at)", "means[at]")
    words = copy / "crates/search/src/ranking/late_interaction/word_match.rs"
    replace_once(words, "/ (doc_freq + 0.5)).ln().max(0.0).sqrt()", f"/ (doc_freq + 0.5)).ln().max(0.0).powf({read('IDF_EXPONENT', '0.5')})")
    bm25 = copy / "crates/search/src/ranking/bm25.rs"
    k1, b = (f"if self.idf == IdfForm::Fts5 {{ {read(name, field)} }} else {{ {field} }}" for name, field in (("BM25_K1", "self.k1"), ("BM25_B", "self.b")))
    replace_once(bm25, "let norm = self.k1 * (1.0 - self.b + self.b * length / mean_length);", f"let (k1, b) = ({k1}, {b});\n        let norm = k1 * (1.0 - b + b * length / mean_length);")
    replace_once(bm25, "term_freq * (self.k1 + 1.0)", "term_freq * (k1 + 1.0)")
    shutil.copy(HERE / "study.rs", copy / "crates/base/src/study.rs")
    shutil.copy(HERE / "ablation.rs", copy / "daemon/examples/ablation.rs")
    replace_once(copy / "crates/base/src/lib.rs", "\npub mod privacy;", "\npub mod privacy;\npub mod study;")
    replace_once(copy / "engine/src/lib.rs", "pub use loci_base::{", "pub use loci_base::{study, ")


def replace_reads(path, constants, read):
    """Returns the source of a file in which each use of the constants, except in tests, is a read at run time."""
    source, marker, tests = path.read_text().partition("#[cfg(test)]")
    imports = re.compile(r"^use [^;]*;", re.M)
    import_lines = imports.findall(source)
    source = imports.sub("\0", source)
    for constant in constants:
        name = constant.rpartition("::")[2]
        # Definitions and comments stay unchanged.
        replace = lambda line: line if re.match(r"\s*(pub|const|//)", line) else re.sub(rf"(?<![\w:]){constant}\b", read(name, constant), line)
        changed = "\n".join(replace(line) for line in source.split("\n"))
        if changed == source:
            sys.exit(f"Error: {path.name} has changed: it does not use {constant}")
        source = changed
    for line in import_lines:
        source = source.replace("\0", line, 1)
    return source + marker + tests


def replace_once(path, old, new):
    """Replaces a text that must occur exactly once."""
    text = path.read_text()
    if text.count(old) != 1:
        sys.exit(f"Error: {path.name} has changed: {old!r} occurs {text.count(old)} times")
    path.write_text(text.replace(old, new))


def make_copy(copy):
    """Copies the workspace and changes the copy."""
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml", "proto", "client", "crates", "engine", "daemon", "shim", "packaging", "tests"):
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, copy / name, dirs_exist_ok=True)
        else:
            shutil.copy(source, copy)
    change_constants(copy)


def build(copy):
    """Makes and builds the copy; returns the path of the binary."""
    make_copy(copy)
    target = ["--target-dir", REPOSITORY / "target"]
    subprocess.run(["cargo", "build", "--release", "--locked", "-p", "locid", "--example", "ablation", *target], cwd=copy, check=True)
    return shutil.copy(REPOSITORY / "target/release/examples/ablation", copy / "ablation")


def quality(figures):
    """(R@5 + R@10 + 2 nDCG@10) / 4."""
    return (figures[0] + figures[1] + 2 * figures[2]) / 4


def total(figures):
    """J: the weighted quality of three sets."""
    return 0.4 * quality(figures["locomo dated"]) + 0.4 * quality(figures["realtalk dated"]) + 0.2 * quality(figures["cranfield dated"])


def table(rows):
    """Prints one line for each row: three figures for each set, J, its difference to the first row, the quality of the two conversations without
    dates and in shuffled order, R@10 of the shuffled LoCoMo, and the quality of the further sets."""
    print("| row | LoCoMo | REALTALK | Cranfield | J | J difference | plain | shuffled | LoCoMo R@10 shuffled | CISI | MED | LongMemEval |")
    print("|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    first = None
    for row in rows:
        figures = row["figures"]
        cell = lambda key: " / ".join(f"{x:.1f}" for x in figures[key])
        conversations = lambda preparation: (quality(figures[f"locomo {preparation}"]) + quality(figures[f"realtalk {preparation}"])) / 2
        first = total(figures) if first is None else first
        further = " | ".join(f"{quality(figures[f'{name} dated']):.2f}" for name in ("cisi", "med", "longmemeval"))
        print(
            f"| {row['row']} | {cell('locomo dated')} | {cell('realtalk dated')} | {cell('cranfield dated')} | {total(figures):.2f} | {total(figures) - first:+.2f} "
            f"| {conversations('plain'):.2f} | {conversations('shuffled'):.2f} | {figures['locomo shuffled'][1]:.1f} "
            f"| {further} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=Path, default=HERE / "rows.tsv", help="file with lines `NAME<TAB>CONSTANT=VALUE,…`")
    parser.add_argument("--models", type=Path, default=Path.home() / ".loci" / "models")
    parser.add_argument("--ablation", type=Path, help="use this binary of an earlier run")
    parser.add_argument("--keep", type=Path, help="keep the copy in this folder")
    parser.add_argument("--check", action="store_true", help="only check that the constants are found in the sources")
    chosen = parser.parse_args()
    if chosen.check:
        with tempfile.TemporaryDirectory() as folder:
            make_copy(Path(folder))
        return
    evals = evals_folder(REPOSITORY) or sys.exit("Error: the test sets are not next to the repository")
    with tempfile.TemporaryDirectory() as folder:
        copy = chosen.keep or Path(folder)
        copy.mkdir(exist_ok=True)
        ablation = chosen.ablation or build(copy)
        run = subprocess.run([ablation, chosen.models, evals / "data" / "dev", chosen.rows], check=True, capture_output=True, text=True)
    table([json.loads(line) for line in run.stdout.splitlines()])


if __name__ == "__main__":
    main()
