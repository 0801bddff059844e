"""Claude Code itself, offline: stores, recalls, relates, forgets and restores through `loci mcp`, in one session.

    python3 claude_code_graph.py LOCI CLAUDE
"""

import json
import sys
from pathlib import Path

from claude_code import RECALL, STORE, script_of_a_project
from home import Home

FORGET, INSPECT, RELATE, RESTORE = (
    f"mcp__loci__{tool}" for tool in ("forget_memory", "memory_inspect", "store_relation", "restore_memory")
)
PERSON = {"content": "Ines leads the payments team.", "type": "entity", "metadata": {"name": "Ines", "aliases": ["Inês"]}}
CITY = {"content": "Lisbon is where the payments database stands.", "type": "entity", "metadata": {"name": "Lisbon"}}


def of_id(number, **more):
    """Arguments that name the memory which the call of this number stored."""
    return lambda results: {"memory_id": json.loads(results[number])["id"]} | more


def relation(results):
    """Ines works in Lisbon."""
    person, city = (json.loads(result)["id"] for result in results[:2])
    return {"subject_id": person, "predicate": "works_in", "object_id": city}


def main(loci, claude):
    """What is forgotten is gone from the graph, and back once it is restored."""
    with Home(loci) as home:
        calls = [
            (STORE, PERSON),
            (STORE, CITY),
            (RELATE, relation),
            (RECALL, {"query": "Who is Inês?"}),
            (FORGET, of_id(1, reason="the database has moved")),
            (RECALL, {"query": "Who is Inês?"}),
            (RESTORE, of_id(1)),
            (INSPECT, of_id(0, include_log=True)),
        ]
        told = script_of_a_project(home, claude, "modern", "graph", calls)
        related, found, forgotten, without, restored, inspected = (json.loads(result) for result in told[2:])
        assert related["created"], related
        assert relations(found) == ["works_in"], f"the person did not bring her relation: {found}"
        assert forgotten["status"] == "forgotten", forgotten
        assert relations(without) == [], f"a relation to a forgotten end is shown: {without}"
        assert restored["was"] == "forgotten", restored
        assert [r["predicate"] for r in inspected["relations"]] == ["works_in"], inspected
        assert "claude" in inspected["log"][-1]["client"], f"the log does not say who stored it: {inspected['log']}"


def relations(answer):
    """Predicates of the relations of the first result."""
    return [relation["predicate"] for relation in answer["results"][0].get("relations", [])]


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
