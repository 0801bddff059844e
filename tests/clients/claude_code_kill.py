"""Test: Claude Code, offline, while the daemon is killed between the commit of a store and its reply.

    python3 claude_code_kill.py LOCI CLAUDE [modern|legacy]

Each store must be answered without an error and be in the database exactly once, and later calls must work. tap.py kills the daemon.
It can miss the moment, so each run has several stores, and the test runs again if all of them were missed.
"""

import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from claude_code import RECALL, STATS, STORE, run_script
from home import Home

RUNS = 8
"""Maximum number of runs of Claude Code; fails if no run hit the moment."""
FACTS = (
    "Our invoices are printed on yellow paper.",
    "The night watchman of the harbour keeps two greyhounds.",
    "Release notes are written in Portuguese first.",
    "The coffee machine on the third floor takes no coins.",
)
TAP = Path(__file__).with_name("tap.py")


def count_kills(home, claude, era, run):
    """Runs one session that stores every fact, recalls the first and counts them; returns the number of kills."""
    database, record = Path(home.env["HOME"]) / ".loci/memory.db", home.root / f"kills-{run}"
    server = {"command": sys.executable, "args": [str(TAP), str(database), str(record), str(home.loci), "mcp"]}
    facts = [f"{fact} (As of round {run}.)" for fact in FACTS]
    # The first call starts the daemon and creates the database, which tap.py needs.
    calls = [(STATS, {}), *[(STORE, {"content": fact, "type": "semantic"}) for fact in facts], (RECALL, {"query": FACTS[0]}), (STATS, {})]
    _, *stored, found, _ = run_script(home, claude, era, f"run-{run}", calls, server)

    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as memories:
        for fact, answer in zip(facts, stored):
            rows = memories.execute("SELECT id FROM memories WHERE content = ?", (fact,)).fetchall()
            assert [row[0] for row in rows] == [json.loads(answer)["id"]], f"rows {rows} for the answer {answer}"
    assert facts[0] in found, f"the recall after the kills did not find the fact: {found}"
    verdicts = record.read_text().splitlines()
    assert len(verdicts) == len(facts), f"not every store has a verdict: {verdicts}"
    return sum(verdict.startswith("killed") for verdict in verdicts)


def main(loci, claude, era):
    """Runs until the daemon was killed between commit and reply at least once; checks every store."""
    with Home(loci) as home:
        for run in range(1, RUNS + 1):
            kills = count_kills(home, claude, era, run)
            print(f"run {run}: {kills} of {len(FACTS)} stores had their daemon killed between commit and reply")
            if kills:
                return
        raise AssertionError(f"the daemon was never killed in time in {RUNS} runs")


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()), (sys.argv[3:] or ["modern"])[0])
