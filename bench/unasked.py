#!/usr/bin/env python3
"""What loci gives unasked, judged by prompts that people really typed: the brief of a session, and the texts for its prompts.

    python3 bench/unasked.py --repo GITDIR [--loci target/release/loci] [--half 0|1] [--list] [--briefs]

At home: 150 memories of a real project are stored, and 220 later prompts of its people are given to `loci hook claude prompt`, each in a
session of its own. Labels say which memories would have helped, and which are near: about the same, but of no use at that point. Away: the
same prompts in the stores of three other lives, where all that is given is noise. The brief is that of the start of a session at home; it
covers a prompt if it has the beginning of a memory that helps there. A prompt that the logs hold several times counts once. Where the
labels are looked at while something is built, `--half` keeps the other half for the end.

GITDIR is a clone of the repository of the prompts (the README of the set names it). Needs the test sets next to the repository. Not here:
whether questions find their answers (`hooks.py`).
"""

import argparse
import collections
import hashlib
import json
import random
import re
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "bench"))

from quality import evals_folder

EVALS = evals_folder(REPOSITORY)
sys.path.insert(0, str(EVALS))

import mcp
import real_prompts

PERIOD = ("2026-02-15", "2026-02-28")
AWAY = 400
START_CHARS = 45
STEM_CHARS = 20
SESSION = 30


def rows(name, file):
    return [json.loads(line) for line in (EVALS / "data/dev" / name / file).read_text().splitlines() if line.strip()]


def plain(text):
    return re.sub(r"\W+", " ", text).strip().lower()


def prompt_key(of):
    """Equal for the copies of one prompt, which sessions of several names hold."""
    stem, turn = of.split("#")
    return stem[:STEM_CHARS], turn


def half_of(of):
    return int(hashlib.sha1("#".join(prompt_key(of)).encode()).hexdigest(), 16) % 2


def hook(home, folder, event, **fields):
    """Runs a hook as the client does; returns the text it gives, and whether the reply was something else than a text or nothing."""
    command = [home.loci, "hook", "claude", event]
    env = {**home.env, "CLAUDE_PROJECT_DIR": folder}
    run = subprocess.run(command, input=json.dumps({"cwd": folder, **fields}), env=env, cwd=folder, capture_output=True, text=True, timeout=60)
    reply = json.loads(run.stdout)
    is_odd = run.returncode != 0 or bool(run.stderr) or bool(reply) and "hookSpecificOutput" not in reply
    return reply.get("hookSpecificOutput", {}).get("additionalContext", ""), is_odd


def project(home, name):
    folder = Path(home.path, "src", name)
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    home.env["CLAUDE_PROJECT_DIR"] = str(folder)
    return str(folder), home.session(timeout=120)


def store(session, memory, ids, takes_category):
    given = {name: memory[name] for name in ("type", "scope", "questions") if memory.get(name)} | {"content": memory["text"]}
    if takes_category and memory.get("category"):
        given["category"] = memory["category"]
    if memory.get("supersedes"):
        given["supersedes"] = ids[memory["supersedes"]]
    metadata = {name: memory[name] for name in ("error",) if memory.get(name)}
    if memory.get("date") and memory["type"] == "episodic":
        metadata["event_date"] = memory["date"]
    ids[memory["key"]] = session.tool("store_memory", **given, metadata=metadata)["id"]


def takes_category(session):
    """Builds before it had no such argument."""
    store_memory = next(tool for tool in session.call("tools/list")["tools"] if tool["name"] == "store_memory")
    return "category" in store_memory["inputSchema"]["properties"]


class AtHome:
    """What was given to the prompts of the project itself."""

    def __init__(self):
        self.given, self.helped, self.labels, self.lines, self.odd, self.tokens = {}, {}, collections.Counter(), [], 0, []
        self.brief, self.covered, self.counted = "", {}, set()

    def ask(self, text, label, keys, is_odd, tokens):
        key = prompt_key(label["id"])
        self.odd += is_odd
        if key in self.counted:
            return
        self.counted.add(key)
        kinds = ["helps" if k in label["helps"] else "near" if k in label["near"] else "noise" for k in keys]
        self.given[key], self.labels = bool(tokens), self.labels + collections.Counter(kinds)
        self.tokens.append(tokens)
        self.lines += [(kind, memory, text) for kind, memory in zip(kinds, keys)]
        if label["helps"]:
            self.helped[key] = "helps" in kinds

    def print(self):
        share = lambda flags: f"{sum(flags)} of {len(flags)} ({100 * sum(flags) / max(1, len(flags)):.0f} %)"
        total = sum(self.labels.values())
        of = ", ".join(f"{name} {self.labels[name]} ({100 * self.labels[name] / max(1, total):.0f} %)" for name in ("helps", "near", "noise"))
        print(f"at home: prompts that get something: {share(self.given.values())}; {total} memories: {of}")
        print(f"  prompts that a memory helps and that get it: {share(self.helped.values())}; odd replies: {self.odd}")
        print(f"  brief: {len(self.brief)} characters, about {len(self.brief) // 4} tokens; covers {share(self.covered.values())} of the prompts that a memory helps")
        per_prompt = sum(self.tokens) / max(1, len(self.tokens))
        print(f"  a session of {SESSION} prompts: about {len(self.brief) / 4 + SESSION * per_prompt:.0f} tokens")


def at_home(loci, texts, half):
    memories, labels = rows("work", "memories.jsonl"), rows("work", "prompts.jsonl")
    starts = {plain(memory["text"])[:START_CHARS]: memory["key"] for memory in memories}
    outcome = AtHome()
    with mcp.Home(loci, []) as home:
        folder, session = project(home, "work")
        ids, declares = {}, takes_category(session)
        for memory in memories:
            store(session, memory, ids, declares)
        for label in labels:
            if half is not None and half_of(label["id"]) != half:
                continue
            text, is_odd = hook(home, folder, "prompt", session_id=label["id"], prompt=texts[label["id"]])
            keys = [key for start, key in starts.items() if start in plain(text)]
            outcome.ask(texts[label["id"]], label, keys, is_odd, len(text) / 4)
        # Last: a client that has announced one session would get the brief with the first prompt of the others.
        outcome.brief, _ = hook(home, folder, "session-start", session_id="brief", source="startup")
        in_brief = {key for start, key in starts.items() if start in plain(outcome.brief)}
        for label in labels:
            if label["helps"] and half in (None, half_of(label["id"])):
                outcome.covered[prompt_key(label["id"])] = bool(in_brief & set(label["helps"]))
        session.close()
    outcome.memories = {memory["key"]: memory for memory in memories}
    return outcome


def away(loci, prompts):
    """The share of prompts of another life that get something, and the briefs, by life."""
    notes, shares, briefs = sorted(rows("notes", "notes.jsonl"), key=lambda note: note["order"]), {}, {}
    for persona in sorted({note["persona"] for note in notes}):
        mine = [note for note in notes if note["persona"] == persona]
        with mcp.Home(loci, []) as home:
            places, ids = {name: project(home, name) for name in sorted({note["project"] for note in mine})}, {}
            for note in mine:
                store(places[note["project"]][1], note, ids, False)
            folder = next(iter(places.values()))[0]
            given = [hook(home, folder, "prompt", session_id=prompt.id, prompt=prompt.text)[0] for prompt in prompts]
            shares[persona] = 100 * sum(map(bool, given)) / len(given)
            for name, (folder, _) in places.items():
                briefs[f"{persona}, {name}"], _ = hook(home, folder, "session-start", session_id=f"brief-{name}", source="startup")
            for _, session in places.values():
                session.close()
    return shares, briefs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--loci", default=str(REPOSITORY / "target/release/loci"))
    parser.add_argument("--repo", required=True, metavar="GITDIR")
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--list", action="store_true", help="print what was given with its label")
    parser.add_argument("--briefs", action="store_true", help="print the briefs")
    options = parser.parse_args()
    loci = str(Path(options.loci).resolve())
    prompts = real_prompts.load(options.repo, *PERIOD)
    outcome = at_home(loci, {prompt.id: prompt.text for prompt in prompts}, options.half)
    outcome.print()
    people = [prompt for prompt in prompts if not prompt.machine]
    shares, briefs = away(loci, random.Random(3).sample(people, min(AWAY, len(people))))
    print("away: something given to " + ", ".join(f"{share:.1f} % ({name})" for name, share in shares.items()) + f" of {AWAY} prompts")
    sizes = sorted(map(len, briefs.values()))
    print(f"  briefs of the {len(briefs)} projects there: {sizes[0]} to {sizes[-1]} characters")
    if options.list:
        for kind, key, text in outcome.lines:
            print(f"{kind:5}  {' '.join(text.split())[:120]}\n       {outcome.memories[key]['text'][:160]}")
    if options.briefs:
        for name, brief in {"home": outcome.brief, **briefs}.items():
            print(f"\n## {name}\n{brief}")


if __name__ == "__main__":
    main()
