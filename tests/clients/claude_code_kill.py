"""Claude Code, offline, while the daemon is killed between the commit of a store and its answer.

    python3 claude_code_kill.py LOCI CLAUDE [modern|legacy]

Each store must be answered without an error and be there once, and the calls after it must work. tap.py finds the moment; it does
not always succeed, so there are several stores, and a further run when the moment was missed in all of them.
"""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from claude_code import RECALL, STATS, STORE, script_of_a_project
from home import Home

RUNS = 8
"""Runs of Claude Code, each with all stores, before it is given up to find the moment."""
FACTS = (
    "Our invoices are printed on yellow paper.",
    "The night watchman of the harbour keeps two greyhounds.",
    "Release notes are written in Portuguese first.",
    "The coffee machine on the third floor takes no coins.",
)
TAP = Path(__file__).with_name("tap.py")


def stores_under_kills(home, claude, era, run):
    """One session that stores every fact, recalls the first, and counts; gives how often the moment was found."""
    database, record = Path(home.env["HOME"]) / ".loci/memory.db", home.root / f"kills-{run}"
    server = {"command": sys.executable, "args": [str(TAP), str(database), str(record), str(home.loci), "mcp"]}
    facts = [f"{fact} (As of round {run}.)" for fact in FACTS]
    # The first call has the daemon started and the database made; the store can be watched from then on.
    calls = [(STATS, {}), *[(STORE, {"content": fact, "type": "semantic"}) for fact in facts], (RECALL, {"query": FACTS[0]}), (STATS, {})]
    _, *stored, found, _ = script_of_a_project(home, claude, era, f"run-{run}", calls, server)

    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as memories:
        for fact, answer in zip(facts, stored):
            rows = memories.execute("SELECT id FROM memories WHERE content = ?", (fact,)).fetchall()
            assert [row[0] for row in rows] == [json.loads(answer)["id"]], f"rows {rows} for the answer {answer}"
    assert facts[0] in found, f"the call after the kills did not find what was stored: {found}"
    verdicts = record.read_text().splitlines()
    assert len(verdicts) == len(facts), f"not every store was watched: {verdicts}"
    return sum(verdict.startswith("killed") for verdict in verdicts)


def main(loci, claude, era):
    """Runs until the daemon was killed in the moment at least once; what must hold is checked for every store."""
    with Home(loci) as home:
        for run in range(1, RUNS + 1):
            kills = stores_under_kills(home, claude, era, run)
            print(f"run {run}: {kills} of {len(FACTS)} stores lost their daemon between commit and answer")
            if kills:
                return
        raise AssertionError(f"the moment was missed in {RUNS} runs")


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()), (sys.argv[3:] or ["modern"])[0])
