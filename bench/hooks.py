#!/usr/bin/env python3
"""What `loci hook claude prompt` delivers, and how long it takes.

    python3 bench/hooks.py [--loci target/release/loci] [--latency] [--memories 10000]      prints tables

Stores of notes and of facts of one shape (one for each person of the sets) are asked through the real programs; each prompt is a process and
a session of its own. `--latency` fills a store with generated notes and measures the time from the start of the process to its end, and the
processor time of the daemon for each hook, compared with the same recalls over `loci mcp`.

Needs the test sets next to the repository. Not here: prompts that people typed (`unasked.py`), the verdict itself (`judge.py`).
"""

import argparse
import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "bench"))

from notes import Notes
from quality import evals_folder

EVALS = evals_folder(REPOSITORY)
sys.path.insert(0, str(EVALS))

import mcp
from judge import fill
from judge_sets import Sets

SETS = ("notes", "parallel")
CALLS = 300


def hook(home, event="prompt", group=None, **fields):
    """Runs one hook in a session of its own; returns the text that it delivers, empty for none."""
    fields = {"session_id": str(uuid.uuid4()), "cwd": home.path, **fields}
    env = {**home.env, "LOCI_GROUP": group} if group else home.env
    command = [home.loci, "hook", "claude", event]
    run = subprocess.run(command, input=json.dumps(fields), env=env, cwd=home.path, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and not run.stderr, run
    return json.loads(run.stdout).get("hookSpecificOutput", {}).get("additionalContext", "")


def keep_sessions_apart(home):
    """Hooks and MCP sessions of one process belong together unless it runs several sessions: here all have the same process."""
    for _ in range(2):
        hook(home, prompt="yes")


class Outcomes:
    """What was delivered to the questions of one set."""

    def __init__(self, name):
        self.name, self.off_topic, self.tokens = name, [], []
        self.given, self.right = 0, 0
        self.asked = 0

    def ask(self, home, q, texts):
        """`texts`: the memories that answer the question; none for one that nothing answers."""
        delivered = hook(home, prompt=q["text"], group=q["project"])
        if q["class"] == "off_topic":
            self.off_topic.append(not delivered)
        if q["class"] != "own":
            return
        words = " ".join(delivered.split())
        self.asked += 1
        self.given += bool(delivered)
        self.right += any(" ".join(text.split())[:60] in words for text in texts)
        if delivered:
            self.tokens.append(len(delivered) / 4)

    def print(self):
        share = lambda part, of: 100 * part / max(1, of)
        print(f"{self.name}: {share(self.right, self.asked):.1f} % of {self.asked} questions get a right memory; of {self.given} that get something "
              f"{share(self.right, self.given):.1f} % do; {share(sum(self.off_topic), len(self.off_topic)):.1f} % of {len(self.off_topic)} off-topic prompts "
              f"get nothing; tokens median {mcp.percentile(self.tokens, 50):.0f}, p95 {mcp.percentile(self.tokens, 95):.0f}")


def ask_set(loci, name):
    outcomes = Outcomes(name)
    for store in Sets(EVALS).make(name):
        texts = {note["key"]: note["text"] for note in store.notes}
        with mcp.Home(loci) as home:
            sessions, _ = fill(home, store)
            keep_sessions_apart(home)
            for q in store.questions:
                outcomes.ask(home, q, [texts[key] for key in q["keys"]])
            for session in sessions.values():
                session.close()
    outcomes.print()


def wait_for_model(session):
    while session.tool("recall_memory", query="warm", dry_run=True).get("degraded"):
        time.sleep(0.2)


def cpu_seconds(pid):
    """Processor time of all threads of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_latency(loci, memories):
    made = Notes(7)
    with mcp.Home(loci) as home:
        session = home.session(timeout=60)
        wait_for_model(session)
        for note in made.notes(memories):
            session.tool("store_memory", **note)
        keep_sessions_apart(home)
        pid = json.loads(home.ctl("ctl", "status", "--json").stdout)["pid"]
        questions = [made.question() for _ in range(2 * CALLS + 40)]
        for text in questions[:20]:
            session.tool("recall_memory", query=text, dry_run=True)
            hook(home, prompt=questions.pop())
        of_recalls, of_hooks, times = 0.0, 0.0, []
        # In turns, so that both see the same load of the machine.
        for start in range(20, 20 + 2 * CALLS, 20):
            before = cpu_seconds(pid)
            for text in questions[start:start + 10]:
                session.tool("recall_memory", query=text, dry_run=True)
            between = cpu_seconds(pid)
            for text in questions[start + 10:start + 20]:
                began = time.perf_counter()
                hook(home, prompt=text)
                times.append((time.perf_counter() - began) * 1e3)
            of_recalls, of_hooks = of_recalls + between - before, of_hooks + cpu_seconds(pid) - between
        session.close()
    print(f"{memories} memories, {len(times)} hooks: p50 {mcp.percentile(times, 50):.1f} ms, p99 {mcp.percentile(times, 99):.1f} ms; "
          f"daemon {1e3 * of_hooks / len(times):.1f} ms of processor time each, over `loci mcp` {1e3 * of_recalls / len(times):.1f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"))
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--memories", type=int, default=10_000)
    options = parser.parse_args()
    loci = str(Path(options.loci).resolve())
    if options.latency:
        measure_latency(loci, options.memories)
        return
    for name in SETS:
        ask_set(loci, name)


if __name__ == "__main__":
    main()
