#!/usr/bin/env python3
"""How often recall calls its results weak: the curves behind the verdict.

    python3 bench/silence.py [--loci target/release/loci] [--rows FILE] [--fit]      about 10 minutes; prints tables

Asks stores of notes and of chats, of 10 to some 3,000 memories, their own questions and questions that they cannot answer, through
`loci mcp`. A question of its own counts as lost if its right memory comes first and the reply is called weak all the same. Of the others
three classes are counted: off-topic prompts, questions that belong to another store, and plausible ones without an answer. For each family
(notes, short facts: notes of less than 15 words, chats) the table gives the share of each class that is called weak where 1, 2, 5 and 10 %
of the right answers would be lost, and with the limit of the engine.

`--rows` keeps what was asked in a file, or reads it from there if it exists. `--fit` prints the logistic regression from which the
constants of crates/search/src/search/evidence.rs come. Needs the test sets next to the repository, like `bench/run.py --quality`. Not here: the
ranking (`ablation.py`).
"""

import argparse
import json
import math
import random
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "bench"))

from quality import evals_folder

sys.path.insert(0, str(evals_folder(REPOSITORY)))

import mcp
from notes_eval import DATA, SILENT, Store, read

CHATS = ("locomo", "realtalk")
SHORT_WORDS = 15
CLASSES = ("off_topic", "other_store", "plausible")
LOSSES = (1, 2, 5, 10)
NAMES = ["words", "cosine", "covered", "score", "log_admitted", "log_terms"]
STEPS = 25


class Asker:
    """Asks questions and keeps the evidence of each."""

    def __init__(self):
        self.rows = []

    def ask(self, session, text, **about):
        reply = session.tool("recall_memory", query=text, dry_run=True, max_results=5, explain=True)
        explain = reply.get("explain") or {}
        first = reply["results"][0]["id"] if reply["results"] else None
        right, length = first in about.pop("right", ()), about.pop("length", 0)
        self.rows.append({**about, "text": text, "right": right, "empty": not reply["results"], "weak": bool(reply.get("weak")),
                          "fit": explain.get("fit"), "evidence": explain.get("evidence", {}), "words": length})


def without_mark(text, rng):
    """Half of the questions lose their question mark."""
    return (text.rstrip("?") or text) if rng.random() < 0.5 else text


def chat_questions():
    questions = {}
    for chats in CHATS:
        for line in (evals_folder(REPOSITORY) / "data" / "dev" / chats / "queries.jsonl").read_text().splitlines():
            question = json.loads(line)
            questions.setdefault(question["group"], []).append(question)
    return questions


def ask_notes(loci, asker, rng):
    """Stores of one person, of parts of it, and of all persons together."""
    notes, questions = read("notes.jsonl", DATA), read("questions.jsonl", DATA)
    notes.sort(key=lambda note: note["order"])
    personas = sorted({note["persona"] for note in notes})
    chats = [q["text"] for of in chat_questions().values() for q in rng.sample(of, 12) if q["category"] != "adversarial"]
    stores = [(persona, [n for n in notes if n["persona"] == persona]) for persona in personas]
    for persona, of_persona in list(stores):
        projects = sorted({n["project"] for n in of_persona})
        for number in range(5):
            project = rng.choice(projects)
            few = [n for n in of_persona if n["project"] == project and not n["supersedes"] and not n.get("after")]
            stores.append((f"{persona} 10 #{number}", rng.sample(few, 10)))
        stores.append((f"{persona} 60", [n for n in of_persona if n["project"] == projects[0]][:60]))
    stores.append(("all", notes))
    for name, stored in stores:
        people, keys = {n["persona"] for n in stored}, {n["key"] for n in stored}
        stored = [dict(n, supersedes=n["supersedes"] if n["supersedes"] in keys else None) for n in stored]
        size = {"all": "800", "10": "10", "60": "60"}.get(name.split()[1] if " " in name else name, "300")
        with mcp.Home(loci) as home:
            store = Store(home, sorted({n["project"] for n in stored}))
            for note in stored:
                store.add(note)
            texts = {n["key"]: n["text"] for n in stored}
            for q in questions:
                if q["kind"] not in SILENT and not set(q.get("keys", [])) & keys and q["persona"] in people:
                    continue
                if size == "10" and q["persona"] not in people and rng.random() < 0.7:
                    continue
                session = store.sessions.get(q["project"]) or rng.choice(list(store.sessions.values()))
                about = {"store": name, "size": size, "family": "notes", "kind": q["kind"]}
                text = without_mark(q["text"], rng)
                if q["kind"] == "off_topic":
                    asker.ask(session, text, **about, klass="off_topic")
                elif q["persona"] not in people:
                    if q["kind"] not in SILENT and rng.random() < 0.3:
                        asker.ask(session, text, **about, klass="other_store")
                elif q["kind"] == "no_answer":
                    if size in ("300", "800"):
                        asker.ask(session, text, **about, klass="plausible")
                else:
                    right = {store.ids[k] for k in q["keys"] if k in keys}
                    length = max(len(texts[k].split()) for k in q["keys"] if k in keys)
                    asker.ask(session, text, **about, klass="own", right=right, length=length)
            for text in (chats if size != "10" else rng.sample(chats, 15)):
                session = rng.choice(list(store.sessions.values()))
                about = {"store": name, "size": size, "family": "notes", "kind": "chat"}
                asker.ask(session, without_mark(text, rng), **about, klass="other_store")
            for session in store.sessions.values():
                session.close()


def ask_chats(loci, asker, rng):
    """Stores of one chat each, and of all chats of a set."""
    notes_questions = read("questions.jsonl", DATA)
    off_topic = [q["text"] for q in notes_questions if q["kind"] == "off_topic"]
    of_notes = [q["text"] for q in notes_questions if q["kind"] not in SILENT]
    questions = chat_questions()
    for chats in CHATS:
        lines = (evals_folder(REPOSITORY) / "data" / "dev" / chats / "corpus.jsonl").read_text().splitlines()
        corpus = [json.loads(line) for line in lines]
        groups = sorted({item["group"] for item in corpus})
        stores = [([group], "1000") for group in groups] + [(groups, "3000")]
        for groups, size in stores:
            with mcp.Home(loci) as home:
                session, ids = home.session(timeout=60), {}
                while session.tool("recall_memory", query="warm", dry_run=True).get("degraded"):
                    time.sleep(0.2)
                for item in corpus:
                    if item["group"] in groups:
                        text = f"[{item['time'][:10]}] {item['text']}" if item.get("time") else item["text"]
                        ids.setdefault(item["unit"], set()).add(
                            session.tool("store_memory", content=text, type="episodic")["id"])
                about = {"store": "+".join(groups), "size": size, "family": "chats"}
                own = [q for group in groups for q in questions.get(group, [])]
                for q in rng.sample(own, min(len(own), 150)):
                    right = set().union(*(ids.get(unit, set()) for unit in q["relevant"]), set())
                    klass = "plausible" if q["category"] == "adversarial" else "own"
                    if klass == "plausible" and size == "3000":
                        continue
                    asker.ask(session, without_mark(q["text"], rng), **about, kind=str(q["category"]), klass=klass, right=right, length=99)
                others = [q["text"] for group, of in questions.items() if group not in groups for q in of if q["category"] != "adversarial"]
                for text in rng.sample(others, 80) + rng.sample(of_notes, 40):
                    asker.ask(session, without_mark(text, rng), **about, kind="other", klass="other_store")
                for text in off_topic:
                    asker.ask(session, without_mark(text, rng), **about, kind="off_topic", klass="off_topic")
                session.close()


def fit_of(row):
    return -1.0 if row["empty"] or row["fit"] is None else row["fit"]


def print_curves(rows):
    """One table for each family and size."""
    families = [("notes", lambda r: r["family"] == "notes"),
                ("short facts", lambda r: r["family"] == "notes" and (r["klass"] != "own" or r["words"] < SHORT_WORDS)),
                ("chats", lambda r: r["family"] == "chats")]
    families += [(f"{family}, {size} memories", lambda r, f=family, s=size: r["family"] == f and r["size"] == s)
                 for family, size in sorted({(r["family"], r["size"]) for r in rows}, key=lambda fs: (fs[0], int(fs[1])))]
    for name, of in families:
        chosen = [r for r in rows if of(r)]
        own = sorted(fit_of(r) for r in chosen if r["klass"] == "own" and r["right"])
        print(f"\n{name}: {len(own)} right answers first")
        print(f"{'':24}" + "".join(f"{klass:>14}" for klass in CLASSES))
        for loss in LOSSES:
            limit = own[int(len(own) * loss / 100)]
            print(f"{loss:>3} % lost (limit {limit:.3f})" + shares(chosen, lambda r: fit_of(r) < limit))
        lost = sum(r["weak"] or r["empty"] for r in chosen if r["klass"] == "own" and r["right"]) / max(1, len(own))
        print(f"as it is: {100 * lost:4.1f} % lost    " + shares(chosen, lambda r: r["weak"] or r["empty"]))


def shares(rows, is_weak):
    cells = []
    for klass in CLASSES:
        of = [is_weak(r) for r in rows if r["klass"] == klass]
        cells.append(f"{100 * sum(of) / len(of):>13.1f}%" if of else f"{'-':>14}")
    return "".join(cells)


def print_fit(rows):
    """The logistic regression by Newton's method; families, sizes and answerable or not count the same."""
    used = [r for r in rows if r["evidence"] and (r["klass"] != "own" or r["right"])]
    cells = {}
    for r in used:
        cells.setdefault((r["family"], r["size"], r["klass"] == "own"), []).append(r)
    weights = {id(r): len(used) / len(cells) / len(of) for of in cells.values() for r in of}
    inputs = [[1.0] + [r["evidence"][name] for name in NAMES] for r in used]
    factors = [0.0] * (len(NAMES) + 1)
    for _ in range(STEPS):
        fits = [likelihood(factors, x) for x in inputs]
        size = range(len(factors))
        gradient, hessian = [0.0 for _ in size], [[1e-6 * (i == j) for j in size] for i in size]
        for r, x, fit in zip(used, inputs, fits):
            weight = weights[id(r)]
            for i in size:
                gradient[i] += weight * ((r["klass"] == "own") - fit) * x[i]
                for j in size:
                    hessian[i][j] += weight * fit * (1 - fit) * x[i] * x[j]
        factors = [f + d for f, d in zip(factors, solved(hessian, gradient))]
    print("intercept", round(factors[0], 3), {name: round(f, 3) for name, f in zip(NAMES, factors[1:])})
    for r, x in zip(used, inputs):
        r["fit"] = likelihood(factors, x)


def likelihood(factors, inputs):
    return 1 / (1 + math.exp(-sum(f * x for f, x in zip(factors, inputs))))


def solved(matrix, right):
    """The solution of a system of linear equations, by elimination."""
    rows = [row + [value] for row, value in zip(matrix, right)]
    for i in range(len(rows)):
        pivot = max(range(i, len(rows)), key=lambda at: abs(rows[at][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for j in range(len(rows)):
            if j != i:
                rows[j] = [a - rows[j][i] * b for a, b in zip(rows[j], rows[i])]
    return [row[-1] for row in rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"))
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--fit", action="store_true")
    options = parser.parse_args()
    if options.rows and options.rows.exists():
        rows = [json.loads(line) for line in options.rows.read_text().splitlines()]
    else:
        asker, rng = Asker(), random.Random(1)
        ask_notes(options.loci, asker, rng)
        ask_chats(options.loci, asker, rng)
        rows = asker.rows
        if options.rows:
            options.rows.write_text("".join(json.dumps(row) + "\n" for row in rows))
    if options.fit:
        print_fit(rows)
    print_curves(rows)


if __name__ == "__main__":
    main()
