"""Test: Claude Code, offline, stores, recalls, relates, forgets and restores memories through `loci mcp` in one session.

    python3 claude_code_graph.py LOCI CLAUDE
"""

import json
import sys
from pathlib import Path

from claude_code import RECALL, STORE, run_script
from home import Home

FORGET, INSPECT, RELATE, RESTORE = (
    f"mcp__loci__{tool}" for tool in ("forget_memory", "memory_inspect", "store_relation", "restore_memory")
)
PERSON = {"content": "Ines leads the payments team.", "type": "entity", "metadata": {"name": "Ines", "aliases": ["Inês"]}}
CITY = {"content": "Lisbon is where the payments database stands.", "type": "entity", "metadata": {"name": "Lisbon"}}


def with_id_of(number, **more):
    """Returns a function that builds arguments with the id of the memory that call `number` stored."""
    return lambda results: {"memory_id": json.loads(results[number])["id"]} | more


def works_in(results):
    """Builds the arguments of the relation `Ines works_in Lisbon`."""
    person, city = (json.loads(result)["id"] for result in results[:2])
    return {"subject_id": person, "predicate": "works_in", "object_id": city}


def main(loci, claude):
    """A forgotten entity is not in the graph, and is in it again after it is restored."""
    with Home(loci) as home:
        calls = [
            (STORE, PERSON),
            (STORE, CITY),
            (RELATE, works_in),
            (RECALL, {"query": "Who is Inês?"}),
            (FORGET, with_id_of(1, reason="the database has moved")),
            (RECALL, {"query": "Who is Inês?"}),
            (RESTORE, with_id_of(1)),
            (INSPECT, with_id_of(0, include_log=True)),
        ]
        results = run_script(home, claude, "modern", "graph", calls)
        related, found, forgotten, without, restored, inspected = (json.loads(result) for result in results[2:])
        assert related["created"], related
        assert relations(found) == ["works_in"], f"the person has no relation: {found}"
        assert forgotten["status"] == "forgotten", forgotten
        assert relations(without) == [], f"a relation to a forgotten entity is shown: {without}"
        assert restored["was"] == "forgotten", restored
        assert [r["predicate"] for r in inspected["relations"]] == ["works_in"], inspected
        assert "claude" in inspected["log"][-1]["client"], f"the log does not name the client that stored it: {inspected['log']}"


def relations(answer):
    """Returns the predicates of the relations of the first result."""
    return [relation["predicate"] for relation in answer["results"][0].get("relations", [])]


if __name__ == "__main__":
    main(sys.argv[1], str(Path(sys.argv[2]).resolve()))
