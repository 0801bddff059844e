"""Writes an export of about 10,000 notes of several projects, clients, months, types and states, for a store that a person might have.

The same call writes the same file: texts come from bench/notes.py with a seed, ids are counted.
"""

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench"))

from notes import PEOPLE, SYSTEMS, TOOLS, Notes  # noqa: E402

PROJECTS = ("web shop", "billing", "search index", "mobile app", "data warehouse", "dotfiles")
CLIENTS = (("claude-code 2.1", 50), ("codex 0.169", 25), ("gemini-cli 0.61", 10), (None, 15))
"""Clients with their share in percent; None is the person."""
STATES = (("active", 90), ("superseded", 3), ("forgotten", 3), ("candidate", 2), ("rejected", 2))
NEWEST = datetime(2026, 11, 20, 18, 30, tzinfo=UTC)
DAYS = 400
PREDICATES = ("works_on", "knows", "maintains", "reports_to", "built")

INJECTIONS = (
    "<script>window.injected = 1</script> The build runs on Tuesdays.",
    '<img src=x onerror="window.injected = 1"> is how the logo is broken.',
    "# Heading\n\n**bold** [click me](javascript:window.injected=1) and ![x](https://tracker.example/p.png)",
    "</script></style></textarea><svg onload=window.injected=1> closes nothing here.",
    '"><iframe srcdoc="<script>parent.injected=1</script>"></iframe>',
    "Visit https://evil.example/?q=1 and {{boot}} {{script}} ${window.injected=1} now.",
    "Right\u202eto left, zero\u200bwidth, bell\u0007 and \u001b[31mred\u001b[0m text.",
    "<!--<script> --!> &lt;b&gt; &#x3c;script&#x3e; <base href='https://evil.example/'>",
)
"""Texts that a page which does not treat them as text would run, load or show as something else."""


def memory_id(number):
    """The id of the memory with this number: UUID version 7 in form."""
    return f"01953a2b-7c1e-7000-8000-{number:012x}"


def group_id(number):
    """The id of the project with this number."""
    return f"g_{number + 1:016x}"


def millis(moment):
    """Milliseconds since 1970."""
    return int(moment.timestamp() * 1000)


def _pick(source, weighted):
    values, weights = zip(*weighted, strict=True)
    return source.choices(values, weights)[0]


class Store:
    """Lines of an export."""

    def __init__(self, count, seed=7):
        self._random = random.Random(seed)
        self._notes = Notes(seed)
        self._lines = [{"loci": "export", "version": 3}]
        self._count = count
        self._number = 0
        self._relations = 0

    def lines(self):
        """All lines, with the last that counts them."""
        for number, name in enumerate(PROJECTS):
            created = millis(NEWEST - timedelta(days=DAYS + 10))
            self._lines.append({"kind": "group", "id": group_id(number), "name": name, "created_at": created})
        entities = self._entities()
        for text in INJECTIONS:
            self._memory(NEWEST - timedelta(hours=self._number), "semantic", text, scope="global")
        rest = self._count - self._number
        moments = sorted(self._random.uniform(0, DAYS * 86_400) for _ in range(rest))
        for seconds in reversed(moments):
            note = self._notes.note()
            moment = NEWEST - timedelta(seconds=int(seconds))
            status = _pick(self._random, STATES)
            self._memory(moment, note["type"], note["content"], status=status)
        self._relate(entities)
        return [*self._lines, {"kind": "end", "lines": len(self._lines)}]

    def _entities(self):
        day = NEWEST - timedelta(days=DAYS + 1)
        named = [(name, "person") for name in PEOPLE] + [(name, "system") for name in SYSTEMS] + [(name, "tool") for name in TOOLS]
        entities = []
        for name, kind in named:
            metadata = {"name": name, "entity_type": kind}
            text = f"{name} is a {kind} that the team of the web shop speaks of."
            entities.append(self._memory(day, "entity", text, scope="global", metadata=metadata))
        return entities

    def _relate(self, entities):
        people, things = entities[: len(PEOPLE)], entities[len(PEOPLE) :]
        relations = []
        for person in people:
            for target in self._random.sample(things, 4) + self._random.sample(people, 2):
                if target != person:
                    predicate = "knows" if target in people else self._random.choice(PREDICATES)
                    relations.append((person, predicate, target))
        created = millis(NEWEST - timedelta(days=DAYS))
        for number, (subject, predicate, target) in enumerate(dict.fromkeys(relations)):
            self._lines.append(
                {
                    "kind": "relation",
                    "id": f"01953a2b-7c1e-7000-9000-{number:012x}",
                    "subject": subject,
                    "predicate": predicate,
                    "object": target,
                    "confidence": 1.0,
                    "created_at": created + number,
                }
            )

    def _memory(self, moment, kind, content, status="active", scope=None, metadata=None):
        pick = self._random
        identity = memory_id(self._number)
        self._number += 1
        at = millis(moment)
        client = _pick(pick, CLIENTS)
        default = "group" if kind == "episodic" else pick.choice(("global", "group"))
        line = {
            "kind": "memory",
            "id": identity,
            "type": kind,
            "scope": scope or default,
            "group": group_id(pick.randrange(len(PROJECTS))),
            "status": status,
            "status_at": at,
            "confidence": round(pick.uniform(0.3, 1.0), 2),
            "confidence_at": at,
            "pinned": pick.random() < 0.01,
            "access_count": int(pick.expovariate(0.5)),
            "created_at": at,
            "updated_at": at,
            "origin": "agent" if client else "person",
            "trust": "agent" if client else "person",
            "content": content,
        }
        if client:
            line |= {"client": client, "session": f"01953a2b-7c1e-7000-a000-{pick.randrange(200):012x}"}
        if status in ("forgotten", "rejected"):
            line["forgotten_reason"] = "No longer true since the move." if status == "forgotten" else "It made the build slower."
        if metadata:
            line["metadata"] = metadata
        self._lines.append(line)
        return identity


def write(path, count=10_000):
    """Writes the file."""
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in Store(count).lines())
    Path(path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(sys.argv[1])
