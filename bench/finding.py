#!/usr/bin/env python3
"""Measures how often the answer is first, and among the first five, in the test sets of tests/data.

    python3 bench/finding.py                 without and with the model, about 2 minutes
    python3 bench/finding.py --loci PATH     the same with another build, to compare

`languages/`: notes and questions in several languages, all in one store; the questions use other forms of the words. `graph.json`: notes,
entities and their relations; the answer does not contain the name in the question. `events.json`: notes of one year that differ only in time;
a date or an event in the question selects one. Uses only the standard library; all sets were written for this repository.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

from home import Home
from session import Session

DATA = REPOSITORY / "tests" / "data"


def fill_languages(session):
    """Stores the notes of all languages; returns the questions."""
    questions_by_set = {}
    for path in sorted((DATA / "languages").glob("*.jsonl")):
        pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for pair in pairs:
            session.tool("store_memory", content=pair["note"], type="semantic")
        questions_by_set[path.stem] = [(pair["question"], pair["note"]) for pair in pairs]
    return questions_by_set


def fill_graph(session):
    """Stores entities, relations and notes; returns the questions."""
    graph = json.loads((DATA / "graph.json").read_text(encoding="utf-8"))
    ids = {}
    for entity in graph["entities"]:
        metadata = {"name": entity["name"], "aliases": [entity["alias"]]}
        content = f"{entity['name']}: {entity['text']}"
        ids[entity["name"]] = session.tool("store_memory", content=content, type="entity", metadata=metadata)["id"]
    for subject, predicate, thing in graph["relations"]:
        session.tool("store_relation", subject_id=ids[subject], predicate=predicate, object_id=ids[thing])
    for note in graph["notes"]:
        session.tool("store_memory", content=note, type="semantic")
    questions_by_set = {}
    for question in graph["questions"]:
        questions_by_set.setdefault(f"graph, {question['kind']}", []).append((question["question"], question["answer"]))
    return questions_by_set


def fill_events(session):
    """Stores the notes of one year; returns the questions."""
    events = json.loads((DATA / "events.json").read_text(encoding="utf-8"))
    for day, note in events["notes"]:
        session.tool("store_memory", content=note, type="episodic", metadata={"event_date": day})
    questions_by_set = {}
    for question in events["questions"]:
        questions_by_set.setdefault(f"events, {question['kind']}", []).append((question["question"], question["answer"]))
    return questions_by_set


def wait_for_model(home, session):
    """Waits until the model is loaded."""
    deadline = time.monotonic() + 60
    while (status := home.status()) is None or status["degraded"]:
        if time.monotonic() > deadline:
            sys.exit("Error: the model is not loaded\nHint: Run loci model download")
        session.tool("recall_memory", query="anything")
        time.sleep(0.5)


def ranks(session, questions):
    """Returns the rank of each answer among the first five, from 1; 0 if it is not among them."""
    answer_ranks = []
    for question, answer in questions:
        reply = session.tool("recall_memory", query=question, max_results=5, token_budget=20000)
        texts = [result["content"] for result in reply["results"]]
        answer_ranks.append(texts.index(answer) + 1 if answer in texts else 0)
    return answer_ranks


def hit_rates(ranks):
    """Returns the percentages of answers that are first, and among the first five."""
    return [round(100 * sum(0 < rank <= k for rank in ranks) / len(ranks)) for k in (1, 5)]


def measure(loci, models, print_missed):
    """Returns rows of `(set, questions, % first, % among five)`. `models`: an empty folder for a run without the model, or None."""
    rows = []
    for project, fill in (("languages", fill_languages), ("graph", fill_graph), ("events", fill_events)):
        with Home(loci) as home:
            home.env["LOCI_OFFLINE"] = "1"
            if models is not None:
                home.env["LOCI_MODELS"] = models
            with Session(home, home.project(project)) as session:
                if models is None:
                    wait_for_model(home, session)
                for name, questions in fill(session).items():
                    rows.append((name, *ask(session, questions, print_missed)))
    return rows


def ask(session, questions, print_missed):
    """Asks all questions; returns their number and the two hit rates. Prints questions whose answer was not first if `print_missed`."""
    answer_ranks = ranks(session, questions)
    if print_missed:
        for rank, (question, answer) in zip(answer_ranks, questions):
            if rank != 1:
                print(f"{rank}  {question}  |  {answer}")
    return len(questions), *hit_rates(answer_ranks)


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"), metavar="PATH", help="default: target/release/loci")
    parser.add_argument("--missed", action="store_true", help="also print the questions whose answer was not first")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        for title, models in (("without the model", empty), ("with the model", None)):
            print(f"{title}: set, questions, % first, % among the first five", flush=True)
            for row in measure(chosen.loci, models, chosen.missed):
                print("  ", *row, flush=True)


if __name__ == "__main__":
    main()
