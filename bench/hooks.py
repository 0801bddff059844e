#!/usr/bin/env python3
"""What `loci hook claude prompt` delivers, and how long it takes.

    python3 bench/hooks.py [--loci target/release/loci] [--chats] [--latency] [--memories 10000]      prints tables

Stores of notes (one for each person), and with `--chats` of chats, are asked through the real programs: every off-topic prompt, and every
question whose right memory comes first in `recall_memory`. Each prompt is a process and a session of its own. A question is lost if its
right memory is not in the text. `--latency` fills a store with generated notes and measures the time from the start of the process to its
end, and the processor time of the daemon for each hook, compared with the same recalls over `loci mcp`.

Needs the test sets next to the repository, like `bench/run.py --quality`. Not here: the verdict itself (`judge.py`).
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

sys.path.insert(0, str(evals_folder(REPOSITORY)))

import mcp
from notes_eval import DATA, SILENT, Store, read

CHATS = ("locomo", "realtalk")
QUESTIONS_OF_A_CHAT = 100
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
    """What was delivered to the prompts of one set."""

    def __init__(self, name):
        self.name, self.off_topic, self.lost, self.tokens = name, [], [], []

    def ask_off_topic(self, home, text, group=None):
        delivered = hook(home, prompt=text, group=group)
        self.off_topic.append(not delivered)

    def ask(self, home, text, right, group=None):
        """`right`: the texts of which one must be delivered."""
        delivered = hook(home, prompt=text, group=group)
        words = " ".join(delivered.split())
        self.lost.append(not any(" ".join(content.split())[:60] in words for content in right))
        if delivered:
            self.tokens.append(len(delivered) / 4)

    def print(self):
        share = lambda flags: 100 * sum(flags) / max(1, len(flags))
        print(f"{self.name}: {share(self.off_topic):.1f} % of {len(self.off_topic)} off-topic prompts silent; "
              f"{share(self.lost):.1f} % of {len(self.lost)} right answers lost; "
              f"tokens median {mcp.percentile(self.tokens, 50):.0f}, p95 {mcp.percentile(self.tokens, 95):.0f}")


def ask_notes(loci, outcomes):
    notes, questions = read("notes.jsonl", DATA), read("questions.jsonl", DATA)
    notes.sort(key=lambda note: note["order"])
    for persona in sorted({note["persona"] for note in notes}):
        of_persona = [note for note in notes if note["persona"] == persona]
        texts = {note["key"]: note["text"] for note in of_persona}
        with mcp.Home(loci) as home:
            store = Store(home, sorted({note["project"] for note in of_persona}))
            for note in of_persona:
                store.add(note)
            keep_sessions_apart(home)
            for q in (q for q in questions if q["persona"] == persona):
                if q["kind"] == "off_topic":
                    outcomes.ask_off_topic(home, q["text"], q["project"])
                elif q["kind"] not in SILENT:
                    results = store.ask(q["project"], q["text"])["results"]
                    keys = set(store.keys.get(results[0]["id"], ())) & set(q["keys"]) if results else ()
                    if keys:
                        outcomes.ask(home, q["text"], [texts[key] for key in keys] + [results[0]["content"]], q["project"])
            for session in store.sessions.values():
                session.close()


def ask_chats(loci, outcomes):
    off_topic = [q["text"] for q in read("questions.jsonl", DATA) if q["kind"] == "off_topic"]
    for chats in CHATS:
        folder = evals_folder(REPOSITORY) / "data" / "dev" / chats
        corpus = [json.loads(line) for line in (folder / "corpus.jsonl").read_text().splitlines()]
        questions = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
        for group in sorted({item["group"] for item in corpus}):
            with mcp.Home(loci) as home:
                session, units = home.session(timeout=60), {}
                wait_for_model(session)
                for item in (item for item in corpus if item["group"] == group):
                    text = f"[{item['time'][:10]}] {item['text']}" if item.get("time") else item["text"]
                    units.setdefault(session.tool("store_memory", content=text, type="episodic")["id"], set()).add(item["unit"])
                keep_sessions_apart(home)
                own = [q for q in questions if q["group"] == group and q["category"] != "adversarial"]
                for q in own[:QUESTIONS_OF_A_CHAT]:
                    results = session.tool("recall_memory", query=q["text"], dry_run=True, max_results=5)["results"]
                    if results and units.get(results[0]["id"], set()) & set(q["relevant"]):
                        outcomes.ask(home, q["text"], [results[0]["content"]])
                for text in off_topic:
                    outcomes.ask_off_topic(home, text)
                session.close()


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
    parser.add_argument("--chats", action="store_true")
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--memories", type=int, default=10_000)
    options = parser.parse_args()
    loci = str(Path(options.loci).resolve())
    if options.latency:
        measure_latency(loci, options.memories)
        return
    outcomes = Outcomes("notes")
    ask_notes(loci, outcomes)
    outcomes.print()
    if options.chats:
        outcomes = Outcomes("chats")
        ask_chats(loci, outcomes)
        outcomes.print()


if __name__ == "__main__":
    main()
