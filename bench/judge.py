#!/usr/bin/env python3
"""Whether the right memory comes first, whether loci is silent where it has none, and whether its number means what it says.

    python3 bench/judge.py before=/tmp/old/loci now=target/release/loci [--sets notes,parallel] [--rows FOLDER]

Fills stores through `loci mcp` and asks each its own questions and some that it cannot answer; prints one table for all builds. About ten
minutes a build; `--rows` keeps what a build answered in a file of its name, and reads it from there the next time.

notes, parallel   notes of three and of seven persons, by kind of question
small             stores of 10 and of up to 60 of these notes
locomo, realtalk  conversations, a memory for each turn
xquad             paragraphs in nine languages: asked in the language (de), in English (en>de), English asked in the language (de>en)
turns             the notes among 6,000 turns of chats in the same projects

hit@1, hit@5, MRR, R@10 and nDCG@10 are percentages of the questions with an answer. Silence: the share of the questions without one whose
fit is below the limit that loses 5 % of the questions answered among the first five; then the same by the product's own verdict, `weak`.
ECE, if scores are likelihoods: how far the scores of the first five results are from the share of right ones, in ten bins. A row of `--rows`
also has what a fit needs: what is left out as a whole (`fold`) and the evidence. Needs the test sets next to the repository. Not here: the
stores (judge_sets.py), the formulas (crates/search).
"""

import argparse
import collections
import concurrent.futures
import json
import math
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "bench"))

import report
from judge_sets import Sets
from quality import evals_folder

EVALS = evals_folder(REPOSITORY)
sys.path.insert(0, str(EVALS))

import mcp

SETS = ("notes", "parallel", "small", "locomo", "realtalk", "xquad", "turns")
CLASSES = ("off_topic", "other_store", "plausible", "wrong_project")
LOST = 0.05
BINS = 10
AT_ONCE = 2
BUDGET = 1_000_000
"""A token budget that cuts nothing."""


def fill(home, store):
    """Stores the memories; returns the sessions by project, and the keys of what each id states."""
    sessions, ids, keys = {}, {}, collections.defaultdict(set)
    for project in store.projects:
        home.env["LOCI_GROUP"] = project
        sessions[project] = home.session(timeout=120)
    while next(iter(sessions.values())).tool("recall_memory", query="warm", dry_run=True).get("degraded"):
        time.sleep(0.2)
    for note in store.notes:
        given = {"content": note["text"], "type": note["type"]}
        if note.get("scope"):
            given["scope"] = note["scope"]
        if note.get("supersedes"):
            given["supersedes"] = ids[note["supersedes"]]
        metadata = dict(note.get("metadata") or {}) | ({"event_date": note["date"]} if note.get("date") else {})
        if metadata:
            given["metadata"] = metadata
        ids[note["key"]] = sessions[note["project"]].tool("store_memory", **given)["id"]
        keys[ids[note["key"]]].add(note["key"])
    return sessions, keys


def answers(loci, store, changed):
    """Fills a home with the memories of a store; returns a row for each of its questions."""
    rows = []
    with mcp.Home(loci) as home:
        sessions, keys = fill(home, store)
        for q in store.questions:
            asked = {"query": q["text"], "max_results": store.results, "token_budget": BUDGET, "dry_run": True, "explain": True}
            reply = sessions[q["project"]].tool("recall_memory", **asked)
            rows.append({"set": store.set, "fold": store.fold, **row(q, reply, keys, changed)})
        for session in sessions.values():
            session.close()
    return rows


def row(q, reply, keys, changed):
    """What a reply says of a question, without the texts."""
    got = [keys[result["id"]] for result in reply["results"]]
    seen, right = set(), []
    for at, of in enumerate(got):
        new = of & set(q["keys"]) - seen
        seen |= new
        right += [at] * bool(new)
    explain = reply.get("explain") or {}
    return {
        **{name: q[name] for name in ("text", "project", "kind", "class")},
        "wanted": len(set(q["keys"])),
        "right": right,
        "is_right": [bool(of & set(q["keys"])) for of in got[:5]],
        "scores": [result["score"] for result in reply["results"][:5]],
        "weak": bool(reply.get("weak")) or not got,
        "fit": explain.get("fit") if got else 0.0,
        "evidence": explain.get("evidence", {}),
        "versions": [versions(keys[result["id"]], keys, result["why"]["newer"], changed) for result in reply["results"][:5] if result.get("why", {}).get("newer")],
    }


def versions(older, keys, newer, changed):
    """Whether a result really is an older version of the one that is taken for its likeliest newer version, and what speaks for that."""
    return [any((a, b) in changed for a in older for b in keys[newer["id"]]), newer["evidence"]]


def asked(loci, names, file):
    """Returns the rows of a build by set, from its file as far as it has them."""
    rows = json.loads(file.read_text()) if file and file.exists() else {}
    sets = Sets(EVALS)
    stores = [(name, store) for name in SETS if name in names for store in sets.make(name) if name not in rows]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        found = [(name, pool.submit(answers, loci, store, sets.changed)) for name, store in stores]
        for name, future in found:
            rows.setdefault(name, []).extend(future.result())
            print(f"{loci}: {name} {len(rows[name])}", file=sys.stderr)
    if file:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(rows))
    return rows


def found(rows):
    """hit@1, hit@5, MRR, R@10 and nDCG@10 of the questions with an answer."""
    def mean(value):
        return 100 * sum(map(value, rows)) / len(rows)

    def gain(places):
        return sum(1 / math.log2(place + 2) for place in places if place < 10)

    return [
        mean(lambda r: r["right"][:1] == [0]),
        mean(lambda r: any(place < 5 for place in r["right"])),
        mean(lambda r: 1 / (r["right"][0] + 1) if r["right"] else 0),
        mean(lambda r: sum(place < 10 for place in r["right"]) / r["wanted"]),
        mean(lambda r: gain(r["right"]) / gain(range(r["wanted"]))),
    ]


def fit(r):
    return r["fit"] or 0.0


def silence(rows):
    """Shares of each class below the limit that loses [`LOST`], and by the product's verdict; what that verdict loses."""
    answered = [r for r in rows if r["class"] == "own" and any(r["is_right"])]
    if not answered:
        return None
    limit = sorted(map(fit, answered))[int(LOST * len(answered))]
    of = {name: [r for r in rows if r["class"] == name] for name in CLASSES}
    def share(rows, is_silent):
        return 100 * sum(map(is_silent, rows)) / len(rows) if rows else None

    below = [share(of[name], lambda r: fit(r) < limit) for name in CLASSES]
    weak = [share(of[name], lambda r: r["weak"]) for name in CLASSES]
    return limit, below, weak, share(answered, lambda r: r["weak"])


def calibration_error(rows):
    """The error of the fit of the first five results: half of the weight for questions with an answer, the rest for the other classes alike."""
    classes = collections.Counter(r["class"] for r in rows)
    bins = collections.defaultdict(list)
    for r in rows:
        weight = (1 if r["class"] == "own" else 1 / max(1, len(classes) - 1)) / classes[r["class"]]
        for score, is_right in zip(r["scores"], r["is_right"]):
            bins[min(BINS - 1, int(score * BINS))].append((weight, weight * (score - is_right)))
    total = sum(weight for of in bins.values() for weight, _ in of)
    return sum(abs(sum(error for _, error in of)) for of in bins.values()) / max(1e-9, total)


def cell(values, digits=1):
    return " / ".join("-" if value is None else f"{value:.{digits}f}" for value in values)


def print_tables(builds):
    """Prints the table of what is found and that of silence; a column for each build."""
    names = list(builds)
    lines = []
    for name in SETS:
        of_set = [builds[build].get(name, []) for build in names]
        own = [[r for r in rows if r["class"] == "own"] for rows in of_set]
        if not own[0]:
            continue
        kinds = [None, *dict.fromkeys(r["kind"] for r in own[0])]
        for kind in kinds if len(kinds) > 2 else kinds[:1]:
            chosen = [[r for r in rows if kind in (None, r["kind"])] for rows in own]
            figures = [cell(found(rows)) if rows else "-" for rows in chosen]
            lines.append([f"**{name}**" if kind is None else kind, str(len(chosen[0])), *figures])
    print("\nhit@1 / hit@5 / MRR / R@10 / nDCG@10\n")
    print(report.table(["", "n", *names], lines))
    print(f"\nSilence, off-topic / other store / plausible / wrong project: at {100 * LOST:.0f} % lost; by `weak` (what that loses). ECE.\n")
    lines = []
    for name in SETS:
        cells = []
        for build in names:
            rows = builds[build].get(name, [])
            figures = silence(rows)
            if not figures or not any(r["class"] in CLASSES for r in rows):
                cells += ["-"] * 3
                continue
            limit, below, weak, lost = figures
            error = f"{calibration_error(rows):.3f}" if all(s <= 1 for r in rows for s in r["scores"]) else "-"
            cells += [f"{cell(below, 0)} (limit {limit:.2f})", f"{cell(weak, 0)} ({lost:.1f})", error]
        if set(cells) != {"-"}:
            lines.append([name, *cells])
    print(report.table(["", *(f"{build}, {what}" for build in names for what in ("5 % lost", "weak", "ECE"))], lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="+", metavar="NAME=LOCI", help="a name and the path of `loci`")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--rows", type=Path, metavar="FOLDER")
    chosen = parser.parse_args()
    builds = {}
    for build in chosen.builds:
        name, _, loci = build.partition("=")
        builds[name] = asked(loci, chosen.sets.split(","), chosen.rows and chosen.rows / f"{name}.json")
    print_tables(builds)


if __name__ == "__main__":
    main()
