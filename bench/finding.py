#!/usr/bin/env python3
"""How often the answer to a question is found first, and among the first five, in the test sets of tests/data.

    python3 bench/finding.py                 by words alone and with the model, about 2 minutes
    python3 bench/finding.py --loci PATH     the same with another build, to compare

`tongues/`: notes and questions in several languages, all in one store; the questions use other forms of the words. `graph.json`: notes,
people and things, and how they are related; the answer does not name who is asked for. `events.json`: notes of a year that say the same of
different times; which of them is asked for, a day tells, or what happened. Standard library only; all sets are our own.
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


def fill_tongues(session):
    """Stores the notes of all languages; what to ask."""
    asked = {}
    for path in sorted((DATA / "tongues").glob("*.jsonl")):
        pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for pair in pairs:
            session.tool("store_memory", content=pair["note"], type="semantic")
        asked[path.stem] = [(pair["question"], pair["note"]) for pair in pairs]
    return asked


def fill_graph(session):
    """Stores the people and things, how they are related, and the notes; what to ask."""
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
    asked = {}
    for question in graph["questions"]:
        asked.setdefault(f"graph, {question['kind']}", []).append((question["question"], question["answer"]))
    return asked


def fill_events(session):
    """Stores the notes of a year; what to ask."""
    events = json.loads((DATA / "events.json").read_text(encoding="utf-8"))
    for day, note in events["notes"]:
        session.tool("store_memory", content=note, type="episodic", metadata={"event_date": day})
    asked = {}
    for question in events["questions"]:
        asked.setdefault(f"events, {question['kind']}", []).append((question["question"], question["answer"]))
    return asked


def ready(home, session, wanted):
    """Waits until the model is there, where it is wanted."""
    end = time.monotonic() + 60
    while wanted and ((status := home.status()) is None or status["degraded"]):
        if time.monotonic() > end:
            sys.exit("Error: the daemon works without the model\nHint: loci model download")
        session.tool("recall_memory", query="anything")
        time.sleep(0.5)


def places(session, questions):
    """For each question the place of its answer among the first five; 0 where it is not there."""
    found = []
    for question, answer in questions:
        reply = session.tool("recall_memory", query=question, max_results=5, token_budget=20000)
        texts = [result["content"] for result in reply["results"]]
        found.append(texts.index(answer) + 1 if answer in texts else 0)
    return found


def shares(places):
    """In percent: first, and among the first five."""
    return [round(100 * sum(0 < place <= most for place in places) / len(places)) for most in (1, 5)]


def measure(loci, models, missed):
    """Rows of `(set, questions, first, among five)`."""
    rows = []
    for project, fill in (("tongues", fill_tongues), ("graph", fill_graph), ("events", fill_events)):
        with Home(loci) as home:
            home.env["LOCI_OFFLINE"] = "1"
            if models is not None:
                home.env["LOCI_MODELS"] = models
            with Session(home, home.project(project)) as session:
                ready(home, session, models is None)
                for name, questions in fill(session).items():
                    rows.append((name, *told(session, questions, missed)))
    return rows


def told(session, questions, missed):
    """Asks, and names what was not found first where that is wanted."""
    found = places(session, questions)
    if missed:
        for place, (question, answer) in zip(found, questions):
            if place != 1:
                print(f"{place}  {question}  |  {answer}")
    return len(questions), *shares(found)


def main():
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"), metavar="PATH", help="default: target/release/loci")
    parser.add_argument("--missed", action="store_true", help="also print what was not found first")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as empty:
        for title, models in (("by words alone", empty), ("with the model", None)):
            print(f"{title}: set, questions, % first, % among the first five", flush=True)
            for row in measure(chosen.loci, models, chosen.missed):
                print("  ", *row, flush=True)


if __name__ == "__main__":
    main()
