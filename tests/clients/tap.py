"""Stands between an agent and `loci mcp`, passes every line, and ends the daemon between a store's commit and its answer.

    python3 tap.py DATABASE RECORD LOCI mcp

For each call of store_memory: the line is passed on, and the daemon is let run in slices (SIGSTOP, SIGCONT); between two of them the
header of the WAL index is read, until it tells of a commit that shows the new row. Had the answer left the daemon in that slice, it
comes through the relay within a moment; then it was too late, and the daemon goes on. Else it is ended with SIGKILL: the effect was
committed, and no answer of that daemon can come any more. RECORD gets a line for each store: `killed PID` or `late PID`.

SQLite itself is asked only after a commit: a daemon that was stopped while it took a lock would have the question wait for seconds.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing

COMMIT_WITHIN_S = 20
"""Longer than a store takes, also one for which the model is still being read."""
COPY_OF_HEADER = 48
"""Bytes of the WAL index's header, which stands twice at the start of the `-shm` file; every commit writes both copies anew."""
SLICE_S = 0.00003
"""How long the daemon runs between two looks; commit and answer lie a few times as far apart."""
STANDS_WITHIN_S = 0.0001
"""How long it takes until every thread of the daemon has been stopped; one let go before that has not stood at all."""
LATE_WITHIN_S = 0.5
"""In this time an answer that had left the daemon has passed the relay."""


class Tap:
    """One relay, and what was seen of it."""

    def __init__(self, database, record, command):
        self.database, self.record, self.loci = database, record, command[0]
        self.relay = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answered, self.news = set(), threading.Condition()

    def run(self):
        """Passes lines both ways until the agent closes its end; gives the relay's exit code."""
        answers = threading.Thread(target=self._pass_answers)
        answers.start()
        for line in iter(sys.stdin.buffer.readline, b""):
            message = json.loads(line)
            if message.get("method") == "tools/call" and message["params"]["name"] == "store_memory":
                self._pass_store(line, message)
            else:
                self._pass(line)
        self.relay.stdin.close()
        answers.join()
        return self.relay.wait()

    def _pass(self, line):
        self.relay.stdin.write(line)
        self.relay.stdin.flush()

    def _pass_answers(self):
        for line in self.relay.stdout:
            with self.news:
                self.answered.add(json.loads(line).get("id"))
                self.news.notify()
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()

    def _pass_store(self, line, message):
        status = subprocess.run([self.loci, "ctl", "status", "--json"], stdout=subprocess.PIPE, check=True)
        daemon = json.loads(status.stdout)["pid"]
        with closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True, isolation_level=None, timeout=0)) as database:
            before, deadline = _rows(database), time.monotonic() + COMMIT_WITHIN_S
            with open(f"{self.database}-shm", "rb", buffering=0) as shared:
                seen = _commit(shared)
                self._pass(line)
                while (now := _commit(shared)) in (None, seen) or _rows(database) == before:
                    seen = now or seen
                    os.kill(daemon, signal.SIGCONT)
                    assert time.monotonic() < deadline, "nothing was stored"
                    _pass_time(SLICE_S)
                    os.kill(daemon, signal.SIGSTOP)
                    _pass_time(STANDS_WITHIN_S)
        with self.news:
            late = self.news.wait_for(lambda: message["id"] in self.answered, LATE_WITHIN_S)
        os.kill(daemon, signal.SIGCONT if late else signal.SIGKILL)
        with open(self.record, "a", encoding="utf-8") as record:
            print("late" if late else "killed", daemon, file=record)


def _pass_time(seconds):
    """Stays on the processor: who sleeps so briefly wakes too late."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _commit(shared):
    """The state of the WAL that readers are shown; none while the daemon is within writing it down."""
    first, second = (os.pread(shared.fileno(), COPY_OF_HEADER, start) for start in (0, COPY_OF_HEADER))
    return first if first == second else None


def _rows(database):
    return database.execute("SELECT count(*) FROM memories").fetchone()


if __name__ == "__main__":
    sys.exit(Tap(sys.argv[1], sys.argv[2], sys.argv[3:]).run())
