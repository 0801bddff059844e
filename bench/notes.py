"""Generates plausible notes and questions from a seed; the same seed gives the same texts."""

import random

PEOPLE = "Anna Bruno Chidi Dora Emre Farid Greta Hana Ines Jonas Kofi Lena Marek Nadia Omar Petra Quentin Rosa Sven Tariq".split()
SYSTEMS = (
    "billing service,search index,login page,mobile app,data warehouse,message queue,image pipeline,staging cluster,mail gateway,"
    "feature store,audit log,payment adapter,calendar sync,report builder,translation cache,warehouse scanner"
).split(",")
PLACES = "Lisbon Oslo Nairobi Osaka Quito Tallinn Porto Ghent Lima Hanoi Turin Accra Bergen Cork".split()
TOOLS = "PostgreSQL,Redis,Terraform,Kafka,SQLite,Grafana,Ansible,Nginx,RabbitMQ,Prometheus,Elixir,Rust,Kotlin,Vue".split(",")
FAULTS = (
    "a leap-day bug,an expired certificate,a full disk,a missing index,a race in the retry loop,a wrong time zone,"
    "a leaking connection pool,a truncated upload,a stale cache,a duplicate cron entry"
).split(",")
MONTHS = "January February March April May June July August September October November December".split()

NOTE_TEMPLATES = (
    ("episodic", "On {date}, {person} traced the outage of the {system} in {place} to {fault}; it lasted {n} minutes."),
    ("episodic", "{person} and {other} met in {place} on {date} and agreed to move the {system} from {tool} to {tool2}."),
    ("episodic", "The release {n} of the {system} was rolled back on {date} because of {fault}, and {person} wrote the report."),
    ("semantic", "{person} prefers {tool} to {tool2} for the {system}, since a batch of {n} rows finishes twice as fast."),
    ("semantic", "The {system} in {place} runs on {tool} with {n} workers and is looked after by {person}."),
    ("semantic", "{person} works from {place} and answers for the budget of the {system}, {n} thousand euros in {month}."),
    ("procedural", "To restart the {system} in {place}, drain {tool} first, wait {n} seconds, then ask {person} to watch the alerts."),
    ("procedural", "Before a change of the {system}, {person} takes a backup with {tool} and checks {n} sample records by hand."),
    ("entity", "{person} is the engineer in {place} who built the {system} with {tool}, desk {n}."),
)
QUESTION_TEMPLATES = (
    "What did {person} find out about the {system} in {month}?",
    "Why did the {system} in {place} fail on {date}?",
    "Which tool does {person} like for the {system} since {date}?",
    "How do we restart the {system} in {place} with {n} workers?",
    "Who looks after the {system} that runs on {tool} in {place}?",
    "Where does {person} work, and on what, since {date}?",
    "What was agreed between {person} and {other} about {tool}?",
)


class Notes:
    """An endless generator."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._used = set()

    def note(self):
        """Arguments of one store_memory call; no text repeats."""
        while True:
            kind, template = self._random.choice(NOTE_TEMPLATES)
            content = template.format(**self._words())
            if content not in self._used:
                self._used.add(content)
                return {"content": content, "type": kind}

    def notes(self, count):
        """Arguments of `count` calls."""
        return [self.note() for _ in range(count)]

    def question(self):
        """A question about the notes; none repeats, since the daemon caches encoded queries."""
        while True:
            question = self._random.choice(QUESTION_TEMPLATES).format(**self._words())
            if question not in self._used:
                self._used.add(question)
                return question

    def _words(self):
        pick = self._random
        person, other = pick.sample(PEOPLE, 2)
        tool, tool2 = pick.sample(TOOLS, 2)
        month = pick.choice(MONTHS)
        return {
            "person": person, "other": other, "tool": tool, "tool2": tool2, "month": month,
            "system": pick.choice(SYSTEMS), "place": pick.choice(PLACES), "fault": pick.choice(FAULTS),
            "n": pick.randint(12, 9800), "date": f"{pick.randint(1, 28)} {month} {pick.randint(2021, 2026)}",
        }
