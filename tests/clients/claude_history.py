"""Three weeks of a made-up person's work with Claude Code: transcripts in the shape that Claude Code 2.1 writes, a CLAUDE.md and a MEMORY.md.

The texts are invented. Most lines are what transcripts are full of: reading files, small talk, long outputs. A few are worth remembering.
"""

import json
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path

CLAUDE_MD = """# Orchard

Backend of the fruit shop. Python 3.12, FastAPI, Postgres 16.

## Commands

- Run the tests with `make test-fast`; `make test` also starts the browser and takes nine minutes.
- Format with `ruff format` before each commit.

## Rules

- Money is stored in cents as an integer, never as a float.
- Do not edit files below `generated/`; change `schema/orders.yaml` and run `make schema`.
- The staging database is reset every Sunday at 03:00.
"""

MEMORY_MD = """# Memory

- Anna Keller reviews every change to `billing/`.
- The label printer in the warehouse accepts only PDF 1.4.
"""

DAYS = 21


def user(text):
    return ("user", text)


def say(text):
    return ("text", text)


def run(command, output, error=False, about="Run it"):
    return ("bash", command, output, error, about)


def read(path, lines):
    return ("read", path, "\n".join(f"{number}\tvalue_{number} = {number}" for number in range(1, lines)))


SESSIONS = [
    [
        user("have a look at the repository and tell me what it does"),
        read("app/main.py", 120),
        read("app/orders.py", 200),
        say("This is a small FastAPI service with orders, stock and billing."),
        user("thanks"),
    ],
    [
        user("the tests are red, please fix them"),
        run("make test-fast", 'ImportError: libpq.so.5: cannot open shared object file: No such file or directory\nmake: *** [Makefile:12: test-fast] Error 1', True),
        say("The library of Postgres is missing in this container."),
        run("apt-get install -y libpq5", "Setting up libpq5 (16.2-1) ...", about="Install libpq"),
        run("make test-fast", "214 passed in 31.20s", about="Run the tests again"),
        say("All 214 tests pass now. The import failed because libpq5 was not installed."),
    ],
    [
        user("Please always write commit messages in English, even when I write German to you."),
        say("Understood: commit messages in English."),
        user("ok, jetzt mach den Commit"),
        run("git commit -am 'orders: reject empty baskets'", "[main 4be1a2f] orders: reject empty baskets"),
    ],
    [
        user("should we use Celery or arq for the nightly jobs?"),
        read("requirements.txt", 30),
        say("Both would do. Celery needs a broker with more parts; arq needs only the Redis that you have."),
        user("we decided to use arq instead of Celery for the nightly jobs, because Redis is there already"),
        say("Good. I will write the worker with arq."),
        run("uv add arq", "Resolved 61 packages in 212ms\n + arq==0.26.1"),
    ],
    [
        user("deploy to staging"),
        run("fly deploy --config fly.staging.toml", "Error: app orchard-staging has no volume in region ams", True, "Deploy"),
        run("fly volumes create data --region ams --size 3 -a orchard-staging", "ID: vol_x1\nState: created", about="Create the volume"),
        run("fly deploy --config fly.staging.toml", "v41 deployed successfully", about="Deploy again"),
        say("Deployed. Staging had no volume in the region ams, so I created one and deployed again."),
    ],
    [
        user("what is in app/stock.py?"),
        read("app/stock.py", 300),
        say("It counts the crates in the warehouse."),
        user("and tests?"),
        read("tests/test_stock.py", 150),
        say("There are 14 tests."),
    ],
    [
        user("the invoice total is off by one cent for some customers"),
        run("python -m pytest tests/test_invoice.py -k rounding", "E   assert 1999 == 2000\n1 failed, 3 passed", True),
        say("The rounding uses the default of round(), which is half to even."),
        run("python -m pytest tests/test_invoice.py -k rounding", "4 passed in 0.41s"),
        say("We decided to round half up with Decimal.quantize(ROUND_HALF_UP) in invoices, because the accountant expects it."),
    ],
    [
        user("I tried caching the price list in memory, but we reverted it because two workers showed different prices."),
        say("Then prices should stay in Redis."),
        user("exactly"),
    ],
    [
        user("migrate the database"),
        run("alembic upgrade head", "sqlalchemy.exc.OperationalError: (psycopg.OperationalError) FATAL: password authentication failed for user \"orchard\"", True),
        run("source .env.local && alembic upgrade head", "INFO  [alembic] Running upgrade 8a1 -> 9c2, add delivery window"),
        say("The migration ran. The variables of .env.local have to be loaded first."),
    ],
    [
        user("never push to main directly, always open a pull request"),
        say("I will open pull requests."),
        run("gh pr create --fill", "https://example.com/orchard/pull/88"),
    ],
    [
        user("write a haiku about apples"),
        say("Red on the low branch, / the ladder waits in the grass, / September is near."),
    ],
    [
        user("the port for the local server is taken"),
        run("uvicorn app.main:app --port 8000", "ERROR:    [Errno 98] error while attempting to bind on address ('127.0.0.1', 8000): address already in use", True),
        run("uvicorn app.main:app --port 8010", "INFO:     Uvicorn running on http://127.0.0.1:8010", about="Use another port"),
        user("ok, from now on we use port 8010 for the local server, since 8000 belongs to the other project"),
        say("Noted."),
    ],
]

QUESTIONS = [
    ("ImportError: libpq.so.5: cannot open shared object file", "libpq5"),
    ("Celery or arq for nightly jobs?", "arq"),
    ("fly deploy says the app has no volume in region ams", "fly volumes create"),
    ("how are invoice amounts rounded?", "half up"),
    ("in which language do I write commit messages?", "English"),
    ("may I push to main?", "pull request"),
    ("which port does the local server use?", "8010"),
    ("why is the price list not cached in memory?", "different prices"),
    ("how do I run the fast tests?", "make test-fast"),
    ("how is money stored?", "cents"),
]
"""Ten questions of the first minutes, each with words that the right memory has: eight from the history, two from CLAUDE.md."""

NOISE = ("haiku", "value_17", "thanks", "what is in app/stock.py")
"""Parts of texts of which no candidate must be made."""


def encoded(path):
    """Returns the name of a project's folder, as Claude Code makes it."""
    return "".join(char if char.isalnum() else "-" for char in str(path))


def write(home, project, now=None):
    """Writes transcripts and memory of `project` below `home`/.claude and a CLAUDE.md into the project; returns the transcripts' folder."""
    now = now or datetime.now(timezone.utc)
    (project / "CLAUDE.md").write_text(CLAUDE_MD)
    folder = Path(home) / ".claude" / "projects" / encoded(project)
    (folder / "memory").mkdir(parents=True)
    (folder / "memory" / "MEMORY.md").write_text(MEMORY_MD)
    step = timedelta(days=DAYS) / len(SESSIONS)
    for number, turns in enumerate(SESSIONS):
        transcript = Transcript(project, now - timedelta(days=DAYS) + number * step)
        for kind, *parts in turns:
            getattr(transcript, kind)(*parts)
        (folder / f"{transcript.session}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in transcript.lines))
    return folder


class Transcript:
    """The lines of one session."""

    def __init__(self, project, start):
        self.session, self.project, self.time = str(uuid.uuid4()), str(project), start
        self.lines, self.last, self.count = [], None, 0

    def add(self, kind, message, **more):
        self.time += timedelta(seconds=20)
        stamp = self.time.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        line = {"parentUuid": self.last, "isSidechain": False, "userType": "external", "cwd": self.project, "sessionId": self.session}
        line |= {"version": "2.1.197", "gitBranch": "main", "type": kind, "message": message, "uuid": str(uuid.uuid4()), "timestamp": stamp}
        self.last = line["uuid"]
        self.lines.append(line | more)

    def assistant(self, block):
        message = {"id": f"msg_{len(self.lines)}", "type": "message", "role": "assistant", "model": "claude-opus-4-8", "content": [block]}
        self.add("assistant", message | {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 5, "output_tokens": 5}})

    def user(self, text):
        self.add("user", {"role": "user", "content": text}, promptId=str(uuid.uuid4()))

    def text(self, text):
        self.assistant({"type": "text", "text": text})

    def tool(self, name, arguments, output, error, result):
        self.count += 1
        call = f"toolu_{self.count:04}"
        self.assistant({"type": "tool_use", "id": call, "name": name, "input": arguments})
        block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": error}
        self.add("user", {"role": "user", "content": [block]}, toolUseResult=result)

    def bash(self, command, output, error, about):
        content = f"Exit code 1\n{output}" if error else output
        result = f"Error: {content}" if error else {"stdout": output, "stderr": "", "interrupted": False}
        self.tool("Bash", {"command": command, "description": about}, content, error, result)

    def read(self, path, text):
        self.tool("Read", {"file_path": f"{self.project}/{path}"}, text, False, {"type": "text", "file": {"filePath": path}})
