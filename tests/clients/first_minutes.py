"""Test: the first minutes of a person who has three weeks of Claude Code behind them, a CLAUDE.md and a MEMORY.md, but no memory in loci.

    python3 first_minutes.py LOCI

Transcripts and CLAUDE.md are imported and reviewed, ten questions are answered, and the file that Claude Code deletes comes back. The texts
are invented (claude_history.py); no client runs. Not here: `loci browse` (tests/it/browse.rs).
"""

import json
import subprocess
import sys
import time

import claude_history
from home import Home

MINUTES = 5
"""All of it, with a person's reading time left out, takes less than this."""


class Person:
    """Types commands in one project."""

    def __init__(self, home, project):
        self.home, self.project = home, project

    def loci(self, *arguments):
        """Runs a command; returns what it prints."""
        command = [str(self.home.loci), *arguments]
        run = subprocess.run(command, env=self.home.env, cwd=self.project, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, f"loci {' '.join(arguments)} exited with {run.returncode}: {run.stdout}{run.stderr}"
        return run.stdout

    def json(self, *arguments):
        return json.loads(self.loci(*arguments, "--json"))

    def accept_candidates(self):
        """Confirms each candidate, as in `loci review --candidates`; returns their texts."""
        listed = self.json("list", "--status", "candidate")["memories"]
        texts = [self.json("inspect", memory["id"])["memory"]["content"] for memory in listed]
        for memory in listed:
            self.loci("confirm", memory["id"])
        return texts

    def answers(self, question):
        results = self.json("search", question, "--full", "--limit", "3")["results"]
        return [result["content"] for result in results]


def check_history(person):
    """Imports the transcripts and reviews what was found: nothing of the noise, and again it is nothing new."""
    preview = person.loci("import", "--from", "history", "--dry-run")
    assert not any(noise in preview for noise in claude_history.NOISE), preview
    assert person.json("list", "--all-groups")["total"] == 0, "a preview changes nothing"
    report = person.json("import", "--from", "history", "--yes")["import"]
    assert report["added"] >= 8 and report["act"], report
    again = person.json("import", "--from", "history", "--yes")
    assert (again["new"], again["changed"]) == (0, 0), again
    texts = person.accept_candidates()
    assert len(texts) == report["added"] and not any(noise in text for noise in claude_history.NOISE for text in texts), texts


def check_claude_md(person):
    """Imports CLAUDE.md, once."""
    assert person.json("import", "--from", "claude-md", "--yes")["import"]["added"] == 6
    again = person.json("import", "--from", "claude-md", "--dry-run")
    assert (again["new"], again["unchanged"]) == (0, 6), again


def check_bridge(person, memory):
    """Claude Code deletes its notes; they come back byte for byte."""
    text = memory.read_bytes()
    person.loci("bridge", "claude", "--on", "--yes")
    memory.unlink()
    person.loci("bridge", "status", "--scan")
    assert "deleted" in person.loci("bridge", "list")
    person.loci("bridge", "restore", "--yes")
    assert memory.read_bytes() == text


def main(loci):
    start = time.monotonic()
    with Home(loci) as home:
        project = home.project("orchard")
        subprocess.run(["git", "init", "--quiet", "."], cwd=project, env=home.env, check=True)
        folder = claude_history.write(home.env["HOME"], project)
        person = Person(home, project)
        check_history(person)
        check_claude_md(person)
        failed = [question for question, words in claude_history.QUESTIONS if not any(words in text for text in person.answers(question))]
        assert not failed, f"not answered: {failed}"
        check_bridge(person, folder / "memory" / "MEMORY.md")
    seconds = time.monotonic() - start
    assert seconds < 60 * MINUTES, f"it took {seconds:.0f} s"
    print(f"10 of 10 questions answered, {seconds:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1])
