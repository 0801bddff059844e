#!/usr/bin/env python3
"""Measures agents on the socket while HTTP clients send 10,000 requests, and the memory of a daemon that serves HTTP.

    python3 bench/door.py              about 5 minutes
    python3 bench/door.py --write      the same, and writes it to docs/benchmarks.md

Ten agents recall without pause: alone, beside HTTP clients that keep to the rate of one token, and beside HTTP clients that do not. The
HTTP clients keep their connections open, as clients do. Memory is that of the same store without and with HTTP, each in a daemon of its own.
"""

import http.client
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "tests" / "clients"))

import process
import report
import script
from home import Home
from notes import Notes
from session import Session

SEED, NOTES, AGENTS, ALONE_S = 20261126, 200, 10, 15
CONNECTIONS, REQUESTS, RATE = 16, 10_000, 90
"""Connections of the HTTP clients together; requests of a phase; requests a second of the clients that keep to the rate."""


class Agents:
    """Agents that recall in threads until they are stopped."""

    def __init__(self, home, project, questions):
        self._home, self._project, self._questions = home, project, questions
        self._phase, self._ended, self._lock = None, False, threading.Lock()
        self.times = {}
        self._threads = [threading.Thread(target=self._run) for _ in range(AGENTS)]
        for thread in self._threads:
            thread.start()

    def _run(self):
        with Session(self._home, self._project) as session:
            number = 0
            while not self._ended:
                number += 1
                start, phase = time.perf_counter(), self._phase
                session.tool("recall_memory", query=self._questions[number % len(self._questions)])
                if phase is not None and phase == self._phase:
                    with self._lock:
                        self.times.setdefault(phase, []).append((time.perf_counter() - start) * 1000)

    def measure(self, phase, work):
        """Counts the recalls that begin and end while `work` runs; returns what it returns."""
        self._phase = phase
        try:
            return work()
        finally:
            self._phase = None

    def stop(self):
        self._ended = True
        for thread in self._threads:
            thread.join()


def serve(home):
    """Starts `loci serve --http`; returns the process, the port and a token."""
    command = [str(home.loci), "serve", "--http", "--port", "0"]
    serving = subprocess.Popen(command, env=home.env, cwd=home.root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    port = int(serving.stdout.readline().split("127.0.0.1:")[1].split("/")[0])
    return serving, port, home.run("serve", "token", "show", "default").stdout.strip()


def send(port, token, questions, rate=None, count=REQUESTS):
    """Sends recalls on several connections; returns the wall times by status, and the seconds."""
    begin, taken, lock, times = time.perf_counter(), iter(range(count)), threading.Lock(), {}

    def client():
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        while True:
            with lock:
                number = next(taken, None)
            if number is None:
                return connection.close()
            if rate is not None:
                time.sleep(max(0, begin + number / rate - time.perf_counter()))
            call = {"name": "recall_memory", "arguments": {"query": questions[number % len(questions)]}}
            body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call})
            start = time.perf_counter()
            try:
                connection.request("POST", "/mcp", body, headers)
                answer = connection.getresponse()
                answer.read()
                status = str(answer.status)
            except (OSError, http.client.HTTPException):
                connection.close()
                status = "connection closed"
            with lock:
                times.setdefault(status, []).append((time.perf_counter() - start) * 1000)

    clients = [threading.Thread(target=client) for _ in range(CONNECTIONS)]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    return times, time.perf_counter() - begin


def fill(home, project):
    """Stores the notes; returns questions about them."""
    notes = Notes(SEED)
    with Session(home, project) as session:
        for note in notes.notes(NOTES):
            session.tool("store_memory", **note)
    return [notes.question() for _ in range(100)]


def memory_mib(loci, with_http):
    """PSS of a daemon after 500 recalls, over HTTP or on the socket, and 4 s without a call."""
    with Home(loci) as home:
        project = home.project("bench")
        questions = fill(home, project)
        with Session(home, project) as session:
            serving = None
            if with_http:
                serving, port, token = serve(home)
                send(port, token, questions, RATE, 500)
            else:
                for number in range(500):
                    session.tool("recall_memory", query=questions[number % len(questions)])
            session.tool("recall_memory", query=questions[0])
            pid = home.status()["pid"]
            process.wait_until_idle(pid, process.QUIET_S)
            pss = process.pss_mib(pid)
            if serving:
                serving.terminate()
                serving.wait()
            return pss


def quantile(times, share=0.5):
    """The value at a share of the sorted times."""
    return sorted(times)[int(len(times) * share)]


def section(loci):
    """Measures; returns the section of the page."""
    with Home(loci) as home:
        project = home.project("bench")
        questions = fill(home, project)
        serving, port, token = serve(home)
        agents = Agents(home, project, questions)
        try:
            time.sleep(2)
            agents.measure("alone", lambda: time.sleep(ALONE_S))
            paced, paced_s = agents.measure("paced", lambda: send(port, token, questions, RATE))
            flood, flood_s = agents.measure("flood", lambda: send(port, token, questions))
            agents.measure("after", lambda: time.sleep(ALONE_S))
        finally:
            agents.stop()
            serving.terminate()
            serving.wait()
    row = lambda name, times: [name, len(times), quantile(times), quantile(times, 0.99), max(times)]
    rows = [row("10 agents alone", agents.times["alone"])]
    rows += [row(f"10 agents beside {RATE} requests/s", agents.times["paced"]), row("10 agents beside requests without pause", agents.times["flood"])]
    rows += [row("10 agents afterwards", agents.times["after"])]
    rows += [row(f"HTTP, {RATE} requests/s, {status}", times) for status, times in sorted(paced.items())]
    rows += [row(f"HTTP, without pause, {status}", times) for status, times in sorted(flood.items())]
    closed, opened = memory_mib(loci, False), memory_mib(loci, True)
    return f"""\
## HTTP clients

Ten agents recall without pause through `loci mcp` while HTTP clients send {REQUESTS:,} recalls on {CONNECTIONS} connections with one token: at
{RATE} a second ({paced_s:.0f} s), and without pause ({flood_s:.0f} s), where most are answered 429. Wall times; {NOTES} memories.

{report.table(["", "calls", "p50 ms", "p99 ms", "max ms"], rows)}

Proportional set size of the daemon after 500 recalls: {closed:.1f} MiB on the socket, {opened:.1f} MiB over HTTP.
"""


if __name__ == "__main__":
    script.run(__doc__, "door", section)
