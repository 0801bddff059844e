"""The measurements of run.py. Each needs a new home and returns plain figures. Not here: their formatting (report.py)."""

import itertools
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from notes import Notes
from process import QUIET_S, cpu_ms, other_loci_processes, pss_mib, wait_until_idle
from session import Refused, Session

SEED = 20260301
FILL_SESSIONS = 8
"""Concurrent sessions that fill the store between measurements."""
STORES, RECALLS, WARM_UP = 200, 200, 20
MEMORY_AT = 200
"""Stored memories while memory use is measured."""
BURST_SESSIONS, BURST_STORES = 8, 25


@dataclass
class Latency:
    """One verb at one store size; times in milliseconds."""

    memories: int
    verb: str
    calls: int
    p50: float
    p99: float
    cpu: float
    """The daemon's CPU time per call."""


@dataclass
class Footprint:
    """Proportional set size by number of sessions, in MiB."""

    sessions: int
    daemon: float
    shims: float
    """All shims together."""
    other_processes: int
    """Other loci processes on the machine; they share pages and lower the figures."""


@dataclass
class Burst:
    """Outcome of stores that many sessions sent concurrently."""

    sent: int
    acknowledged: int
    found: int
    errors: int
    seconds: float
    """From the first line sent to the last acknowledgement."""


def latencies(home, sizes):
    """Fills one store to each of the sizes, and measures store and recall at each, calls in sequence."""
    notes, project = Notes(SEED), home.project("bench")
    figures = []
    with Session(home, project) as session:
        _warm_up(home, session, notes)
        for size in sizes:
            count = min(STORES, size // 2)
            _fill(home, project, notes, size - count)
            stores = [lambda note=note: session.tool("store_memory", **note) for note in notes.notes(count)]
            figures.append(_measure_calls(home, size, "store", stores))
            _grow_to(home, session, notes, size)
            recalls = [lambda text=notes.question(): session.tool("recall_memory", query=text) for _ in range(RECALLS)]
            figures.append(_measure_calls(home, size, "recall", recalls))
    return figures


def footprints(home, counts):
    """Measures the PSS of daemon and shims for each number of sessions, after one recall in each."""
    notes, project, sessions, figures = Notes(SEED), home.project("bench"), [], []
    try:
        sessions.append(Session(home, project))
        _warm_up(home, sessions[0], notes)
        _fill(home, project, notes, MEMORY_AT)
        for count in counts:
            sessions += [Session(home, project) for _ in range(count - len(sessions))]
            for session in sessions:
                session.tool("recall_memory", query=notes.question())
            daemon, shims = home.status()["pid"], [session.pid for session in sessions]
            wait_until_idle(daemon, QUIET_S)
            others = len(other_loci_processes({daemon, *shims}))
            figures.append(Footprint(count, pss_mib(daemon), sum(map(pss_mib, shims)), others))
    finally:
        for session in sessions:
            session.close()
    return figures


def burst(home):
    """Sends all stores of every session without waiting for replies; then searches each text by its own words."""
    notes, project = Notes(SEED), home.project("bench")
    sessions = [Session(home, project) for _ in range(BURST_SESSIONS)]
    shares = [notes.notes(BURST_STORES) for _ in sessions]
    try:
        start = time.perf_counter()
        sent = [[session.send_call("store_memory", **note) for note in share] for session, share in zip(sessions, shares)]
        with ThreadPoolExecutor(len(sessions)) as pool:
            replies = list(itertools.chain.from_iterable(pool.map(Session.replies, sessions, sent)))
        seconds = time.perf_counter() - start
        errors = sum(isinstance(reply, Refused) for reply in replies)
        found = sum(_is_found(sessions[0], note["content"]) for share in shares for note in share)
    finally:
        for session in sessions:
            session.close()
    return Burst(len(replies), len(replies) - errors, found, errors, seconds)


def _is_found(session, text):
    results = session.tool("recall_memory", query=text)["results"]
    return any(result.get("content") == text for result in results)


def _warm_up(home, session, notes):
    """Loads the model with the first calls. Exits if there is no model, since the figures would be meaningless."""
    for _ in range(WARM_UP):
        session.tool("store_memory", **notes.note())
        session.tool("recall_memory", query=notes.question())
    status = home.status()
    if status["degraded"]:
        sys.exit(f"Error: the daemon is degraded: {', '.join(status['degraded'])}\nHint: Run loci model download")


def _fill(home, project, notes, size):
    """Fills the store to the size with concurrent sessions."""

    def store(share):
        with Session(home, project) as session:
            for note in share:
                session.tool("store_memory", **note)

    while (missing := size - home.status()["memories"]) > 0:
        missing_notes = notes.notes(missing)
        with ThreadPoolExecutor(FILL_SESSIONS) as pool:
            list(pool.map(store, (missing_notes[start::FILL_SESSIONS] for start in range(min(FILL_SESSIONS, missing)))))
    wait_until_idle(home.status()["pid"])


def _grow_to(home, session, notes, size):
    """Stores more notes until the store has the size: a few were merged as duplicates."""
    while home.status()["memories"] < size:
        session.tool("store_memory", **notes.note())


def _measure_calls(home, size, verb, calls):
    """Runs the calls in sequence; returns their latency."""
    daemon = home.status()["pid"]
    wait_until_idle(daemon)
    before, times = cpu_ms(daemon), []
    for call in calls:
        start = time.perf_counter()
        call()
        times.append(1000 * (time.perf_counter() - start))
    wait_until_idle(daemon)
    cpu = cpu_ms(daemon) - before
    return Latency(size, verb, len(times), percentile(times, 50), percentile(times, 99), cpu / len(times))


def percentile(values, p):
    """The nearest-rank percentile."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * p // 100) - 1)]
