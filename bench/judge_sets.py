"""The stores of bench/judge.py and the questions that each is asked. Not here: asking and figures (judge.py)."""

import collections
import json
import random
import re
from dataclasses import dataclass, field

CHATS = ("locomo", "realtalk")
SILENT = {"no_answer": "plausible", "off_topic": "off_topic", "wrong_project": "wrong_project", "adversarial": "plausible"}
"""The kinds of questions that have no answer in their store, and their class."""
PERSONAL = {"notes": ("bakery", "hearing", "hospital"), "parallel": ("brewery", "games", "harbour", "household", "museum", "seismic", "transit")}
SMALL = (10, 60)
STORES_OF_A_SIZE = 2
FEW = 60
"""Questions of other stores that a store is asked."""
TURNS = 6_000


@dataclass
class Store:
    """Memories of one person, and questions to them. `fold` is what a fit leaves out as a whole."""

    set: str
    fold: str
    notes: list
    """Dicts with key, project, type, text, and date, scope, supersedes or metadata."""
    questions: list = field(default_factory=list)
    results: int = 5

    @property
    def projects(self):
        return sorted({note["project"] for note in self.notes})

    def ask(self, question, kind=None, klass="own", keys=()):
        """Adds a question; a project that the store does not have becomes one of its own."""
        known = self.projects
        project = question.get("project")
        project = project if project in known else known[len(self.questions) % len(known)]
        row = {"text": question["text"], "project": project, "kind": kind or klass, "class": klass, "keys": list(keys)}
        self.questions.append(row)


class Sets:
    """Reads the test sets of the folder `evals` and makes stores of them."""

    def __init__(self, evals):
        self.folder = evals / "data" / "dev"
        self.random = random.Random()
        self.chat_questions = [q for chat in CHATS for q in self.rows(chat, "queries") if q["category"] != "adversarial"]
        self.persons = {}
        for name in PERSONAL:
            notes = sorted(self.rows(name, "notes"), key=lambda note: note["order"])
            for person in PERSONAL[name]:
                of_person = [note for note in notes if note["persona"] == person]
                questions = [q for q in self.rows(name, "questions") if q["persona"] == person]
                self.persons[person] = (name, of_person, questions)
        couples = self.rows("parallel", "couples")
        self.changed = {(couple["a"], couple["b"]) for couple in couples if couple["relation"] == "changed"}
        """The keys of an older and a newer version of one fact."""
        self.changed |= {(note["after"], note["key"]) for note in self.rows("notes", "notes") if note["after"]}
        self.off_topic = [q for q in self.rows("notes", "questions") if q["kind"] == "off_topic"]

    def rows(self, name, file):
        return [json.loads(line) for line in (self.folder / name / f"{file}.jsonl").read_text().splitlines() if line.strip()]

    def make(self, name):
        """Returns the stores of a set: the same ones, whatever other sets are made."""
        self.random.seed(name)
        return {"notes": self.personal, "parallel": self.personal, "small": self.small, "xquad": self.xquad, "turns": self.turns}.get(name, self.chat)(name)

    def personal(self, name):
        return [self.of_person(name, person) for person in PERSONAL[name]]

    def of_person(self, name, person):
        _, notes, questions = self.persons[person]
        store = Store(name, person, notes)
        self.add_own(store, questions)
        self.add_foreign(store, self.others(person))
        return store

    def add_own(self, store, questions):
        """Asks what the store answers, and what it does not."""
        stored = {note["key"] for note in store.notes}
        for question in questions:
            klass = SILENT.get(question["kind"], "own")
            if klass != "off_topic" and (klass != "own" or stored & set(question["keys"])):
                store.ask(question, question["kind"], klass, stored & set(question["keys"]))

    def add_foreign(self, store, others):
        """Asks what belongs to no memory, and what belongs to another store."""
        for question in self.random.sample(self.off_topic, FEW):
            store.ask(question, klass="off_topic")
        for question in self.random.sample(others, FEW // 2) + self.random.sample(self.chat_questions, FEW // 2):
            store.ask(question, klass="other_store")

    def others(self, person):
        return [q for other, (_, _, of) in self.persons.items() if other != person for q in of if q["kind"] not in SILENT]

    def small(self, name):
        """Stores of a part of one project each."""
        stores = []
        for person, (_, notes, questions) in self.persons.items():
            projects = collections.defaultdict(list)
            for note in notes:
                projects[note["project"]].append(note)
            for size in SMALL:
                for project in self.random.sample(sorted(projects), STORES_OF_A_SIZE):
                    of = projects[project]
                    chosen = sorted(self.random.sample(of, min(size, len(of))), key=lambda note: note["order"])
                    keys = {note["key"] for note in chosen}
                    store = Store(name, person, [note | {"supersedes": note["supersedes"] if note["supersedes"] in keys else None} for note in chosen])
                    # Of a question, all that answers it or its older version is stored, or nothing.
                    self.add_own(store, [q for q in questions if set(q["keys"]) | set(q.get("old", ())) <= keys and q["kind"] != "wrong_project"])
                    self.add_foreign(store, self.others(person))
                    stores.append(store)
        return stores

    def chat(self, name):
        """One store for each conversation; a memory for each turn."""
        corpus, questions = self.rows(name, "corpus"), self.rows(name, "queries")
        stores = []
        for group in sorted({turn["group"] for turn in corpus}):
            store = Store(name, group, [turn_note(turn, "chat") for turn in corpus if turn["group"] == group], results=20)
            for q in questions:
                if q["group"] == group:
                    store.ask(q, str(q["category"]), SILENT.get(q["category"], "own"), q["relevant"])
            own = {q["text"] for q in store.questions}
            self.add_foreign(store, [q for q in self.chat_questions if q["text"] not in own] + self.others(None))
            store.questions = [q for q in store.questions if q["class"] != "other_store" or q["text"] not in own]
            stores.append(store)
        return stores

    def xquad(self, name):
        """One store for each language; the kind of a question is the language of the question and that of the texts."""
        corpus, questions = self.rows(name, "corpus"), self.rows(name, "queries")
        stores = []
        for group in sorted({text["group"] for text in corpus}):
            store = Store(name, group, [turn_note(text, "texts") for text in corpus if text["group"] == group])
            for q in questions:
                if q["group"] == group:
                    store.ask(q, q["category"], "own", q["relevant"])
            stores.append(store)
        return stores

    def turns(self, name):
        """The notes of a person among turns of chats in the same projects."""
        corpus = [turn for chat in CHATS for turn in self.rows(chat, "corpus")][:TURNS]
        stores = []
        for person in PERSONAL["notes"]:
            store = self.of_person("notes", person)
            projects, notes = store.projects, store.notes
            turns = [turn_note(turn, projects[at % len(projects)]) for at, turn in enumerate(corpus)]
            each = len(turns) // len(notes)
            mixed = [memory for at, note in enumerate(notes) for memory in (*turns[at * each : (at + 1) * each], note)]
            stores.append(Store(name, person, mixed, [q for q in store.questions if q["class"] == "own"]))
        return stores


def turn_note(turn, project):
    """A turn of a chat or a paragraph as a memory, with its day before it."""
    day = re.match(r"\d{4}-\d\d-\d\d", turn.get("time") or "")
    return {"key": turn["unit"], "project": project, "type": "episodic", "text": f"[{day[0]}] {turn['text']}" if day else turn["text"]}
