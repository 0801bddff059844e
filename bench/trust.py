#!/usr/bin/env python3
"""How many public texts an agent stores are held back: harmless instructions of repositories, and collected injections.

    python3 bench/trust.py DIR [--loci target/release/loci] [--half 0|1] [--list]

DIR has `harmless/REPOSITORY/FILE` (AGENTS.md, CLAUDE.md, .cursorrules and the like) and `injected.jsonl`: one object a line with `text`,
`collection` and `kinds`, a list of hide, send, override, run. The files are split into sentences; code, headings and tables are left out.
Each text is stored by an agent through `loci mcp`, and the reply says whether it is flagged. The halves are those of the repositories and of
the collections, by a hash of their names: where rules are changed, the other half is looked at once, at the end.

No text of DIR is in this repository. Needs the test sets next to the repository, for their client.
"""

import argparse
import collections
import hashlib
import json
import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "bench"))

from quality import evals_folder

sys.path.insert(0, str(evals_folder(REPOSITORY)))

import mcp

KINDS = ("hide", "send", "override", "run")
CHARS = (20, 600)
WIDE_CHARS = 8
WIDE = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")
NO_PROSE = ("#", "|", "---")
BULLET = re.compile(r"^(?:[-*+>]|\d+[.)])\s+(?:\[[ x]\]\s+)?")
SENTENCE_END = re.compile(r'(?<=[.!?])\s+(?=[A-ZÀ-Þ"`])|(?<=[。！？])')


def half_of(name):
    return hashlib.sha256(name.encode()).digest()[0] % 2


def sentences(text):
    is_code = False
    for line in map(str.strip, re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL).splitlines()):
        if line.startswith(("```", "~~~")):
            is_code = not is_code
        elif not is_code and line and not line.startswith(NO_PROSE):
            for sentence in map(str.strip, SENTENCE_END.split(BULLET.sub("", line).replace("**", ""))):
                if (WIDE_CHARS if WIDE.search(sentence) else CHARS[0]) <= len(sentence) <= CHARS[1]:
                    yield sentence


def harmless(folder, half):
    texts = {}
    for repository in sorted((folder / "harmless").iterdir()):
        if half in (None, half_of(repository.name)):
            for file in sorted(repository.iterdir()):
                texts.update(dict.fromkeys(sentences(file.read_text(errors="replace"))))
    return list(texts)


def injected(folder, half):
    rows = [json.loads(line) for line in (folder / "injected.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kinds"] and half in (None, half_of(row["collection"]))]


def flags_of(loci, texts):
    """Stores each text and returns the flags of the reply."""
    with mcp.Home(loci) as home:
        session = home.session()
        flags = [
            session.tool("store_memory", content=text, type="semantic", scope="group", group=f"g{number}").get("flagged", [])
            for number, text in enumerate(texts)
        ]
        session.close()
    return flags


def report(half, texts, rows, flags, is_list):
    of_texts, of_rows = flags[: len(texts)], flags[len(texts) :]
    found = sum(map(bool, of_texts))
    print(f"half {half}: {found} of {len(texts)} harmless sentences flagged ({1000 * found / len(texts):.2f} in 1,000)")
    for kind in (*KINDS, None):
        of_kind = [bool(f) for row, f in zip(rows, of_rows, strict=True) if kind is None or kind in row["kinds"]]
        print(f"  {kind or 'any of the four':16} {sum(of_kind):4} of {len(of_kind):4} held back ({100 * sum(of_kind) / len(of_kind):.0f} %)")
    for flag in sorted({name for f in flags for name in f}):
        alone = sum(f == [flag] for f in of_rows)
        print(f"  flag {flag:14} injected {sum(flag in f for f in of_rows):4}, alone {alone:4}, harmless {sum(flag in f for f in of_texts):3}")
    collected = collections.defaultdict(list)
    for row, f in zip(rows, of_rows, strict=True):
        collected[row["collection"]].append(bool(f))
    for name, values in sorted(collected.items()):
        print(f"    {name}: {sum(values)} of {len(values)}")
    if is_list:
        for text, f in zip(texts, of_texts, strict=True):
            if f:
                print("  harmless and flagged:", f, text)
        for row, f in zip(rows, of_rows, strict=True):
            if not f:
                print("  injected and not flagged:", row["kinds"], row["text"][:200].replace("\n", " "))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"))
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    for half in (0, 1) if args.half is None else (args.half,):
        texts, rows = harmless(args.folder, half), injected(args.folder, half)
        flags = flags_of(args.loci, texts + [row["text"] for row in rows])
        report(half, texts, rows, flags, args.list)


if __name__ == "__main__":
    main()
