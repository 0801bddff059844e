"""A store of 10,000 notes with the viewer open on it, and a browser; what goes wrong in a page is remembered as a fault.

Not here: what the cases do (the files `*_cases.py`), the home of the daemon (`tests/clients/home.py`).
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

sys.path.append(str(Path(__file__).resolve().parents[1] / "clients"))

import notes_store  # noqa: E402
from home import Home  # noqa: E402

MEMORIES = 10_000
STORES = Path(__file__).resolve().parents[2] / "target/view"
DAEMON_WAIT_S = 120
"""Longest time to wait for the daemon to go on, and time between two looks, in seconds."""
LOOK_EVERY_S = 0.2
ENCODING_LOOK_EVERY_S = 5
"""The same for the notes that are encoded, in seconds: for a second after a call, the daemon encodes only a few."""
WAIT_MS = 10_000
"""Longest time to wait for a condition of a page, in milliseconds."""
EXPECTED_MESSAGES = (r"status of (400|404|409|422)",)
"""Messages on the console that a refused request leaves, which the page then tells."""


class Viewer:
    """The store, the daemon, `loci view`, and the pages."""

    def __init__(self, home, browser):
        self.home, self._browser = home, browser
        self.faults, self.requests = [], []
        self._command = None
        self._agents = []
        self.context = None
        self.origin = ""

    def start(self):
        """Fills the store, opens the viewer and the first page; returns that page."""
        self.loci("import", "--mine", str(self.encoded_notes()))
        self.loci("list", "--all-groups")
        self.pid = self.home.status()["pid"]
        self.memory_before = self.memory()
        return self.open_first()

    def memory(self):
        """Memory of the daemon that is its own, in KiB; `None` where the system does not say."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return int(re.search(r"^RssAnon:\s+(\d+)", status, re.MULTILINE)[1])

    def encoded_notes(self):
        """The export of the notes with their vectors; encodes them the first time, which takes a minute."""
        notes = self.home.root / "notes.jsonl"
        notes_store.write(notes, MEMORIES)
        STORES.mkdir(parents=True, exist_ok=True)
        encoded = STORES / f"{hashlib.sha256(notes.read_bytes()).hexdigest()[:16]}.jsonl"
        if encoded.exists():
            return encoded
        print("Encoding the notes of the store (once)", flush=True)
        with Home(self.home.loci) as home:
            other = Viewer(home, None)
            other.loci("import", "--mine", str(notes))
            other._wait_until_encoded()
            made = home.root / "encoded.jsonl"
            with made.open("w", encoding="utf-8") as file:
                subprocess.run([str(home.loci), "export", "--vectors"], env=home.env, cwd=home.root, stdout=file, timeout=60, check=True)
            shutil.copy(made, encoded.with_suffix(".part"))
        encoded.with_suffix(".part").rename(encoded)
        return encoded

    def _wait_until_encoded(self):
        left, since = MEMORIES, time.monotonic()
        while left > 0:
            now_left = json.loads(self.loci("stats", "--json"))["without_vector"]
            if now_left < left:
                left, since = now_left, time.monotonic()
            elif time.monotonic() - since > DAEMON_WAIT_S:
                raise TimeoutError(f"{left} notes are not encoded, and none was for {DAEMON_WAIT_S} s")
            time.sleep(ENCODING_LOOK_EVERY_S)

    def open_first(self):
        """Starts `loci view` and opens its link."""
        link = self.link()
        self.origin = "{0.scheme}://{0.netloc}".format(urlsplit(link))
        self.context = self._browser.new_context(
            viewport={"width": 1280, "height": 800}, locale="en-GB", timezone_id="Asia/Tokyo", accept_downloads=True
        )
        self.context.set_default_timeout(WAIT_MS)
        page = self._watched(self.context.new_page())
        self.first_response = page.goto(link)
        return page

    def link(self):
        """Starts `loci view`; returns the link, which works once."""
        command = [str(self.home.loci), "view", "--no-open"]
        self._command = subprocess.Popen(
            command, env=self.home.env, cwd=self.home.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
        )
        for line in self._command.stdout:
            if line.startswith("http://"):
                return line.strip()
        raise AssertionError("loci view printed no link")

    def page(self, address="#/memories"):
        """Opens another page, which is signed in as the first."""
        page = self._watched(self.context.new_page())
        page.goto(f"{self.origin}/{address}")
        page.locator("#main h1").first.wait_for(state="attached")
        return page

    def _watched(self, page):
        page.on("pageerror", lambda error: self.faults.append(f"error in the page: {error}"))
        page.on("console", self._on_console)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.faults.append(f"a dialog of a script: {dialog.message}"), dialog.dismiss()))
        return page

    def _on_console(self, message):
        if message.type in ("error", "warning") and not any(re.search(expected, message.text) for expected in EXPECTED_MESSAGES):
            self.faults.append(f"console: {message.text}")

    def foreign_requests(self):
        """Requests that did not go to the viewer."""
        own = (self.origin + "/", "data:", "blob:", "about:")
        return [url for url in self.requests if not url.startswith(own)]

    def loci(self, *arguments, check=True, **options):
        """Runs `loci`; returns what it prints."""
        result = subprocess.run(
            [str(self.home.loci), *arguments],
            env=self.home.env,
            cwd=self.home.root,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **options,
        )
        if check and result.returncode != 0:
            raise AssertionError(f"loci {' '.join(arguments)} exited with {result.returncode}: {result.stderr}")
        return result.stdout

    def add(self, text, *arguments):
        """Stores a memory as the person; returns its id."""
        return json.loads(self.loci("add", text, "--json", *arguments))["id"]

    def agent(self):
        """Connects an agent."""
        agent = Agent(self.home)
        self._agents.append(agent)
        return agent

    def close(self):
        """Ends what was started."""
        for agent in self._agents:
            agent.close()
        if self.context:
            self.context.close()
        self.end_command()

    def end_command(self):
        """Ends `loci view`."""
        if self._command:
            self._command.terminate()
            self._command.wait(timeout=10)
            self._command.stdout.close()
            self._command = None


class Agent:
    """An agent: `loci mcp` with JSON-RPC on its standard input and output."""

    def __init__(self, home):
        folder = home.project("agent")
        self._process = subprocess.Popen(
            [str(home.loci), "mcp"], env=home.env, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._number = 0
        client = {"name": "test-agent", "version": "1.0"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool, **arguments):
        """Calls a tool; returns its reply."""
        result = self._ask("tools/call", {"name": tool, "arguments": arguments})
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise AssertionError(f"{tool}: {text}")
        return json.loads(text)

    def _ask(self, method, parameters):
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters})
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("id") == self._number:
                return message["result"]
        raise AssertionError("the agent's connection has ended")

    def _send(self, message):
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def close(self):
        """Disconnects."""
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


def until(condition, seconds):
    """Waits for a condition of another process."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("a condition did not come true")
        time.sleep(LOOK_EVERY_S)


def hook(viewer, event, **fields):
    """Lets a hook of Claude Code fire, as the client would."""
    fields = {"session_id": "8b1f1d0e-0000-4000-8000-000000000001", "cwd": str(viewer.home.project("agent"))} | fields
    command = [str(viewer.home.loci), "hook", "claude", event]
    subprocess.run(
        command,
        env=viewer.home.env,
        cwd=viewer.home.project("agent"),
        input=json.dumps(fields),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
