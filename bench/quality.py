"""Runs the evaluations of recall and of the duplicate gate, which are in a folder next to the repository, and reads their figures.

The test sets have licences of their own and are not part of this repository; neither are the scripts.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

SETS = ("locomo", "realtalk", "cranfield")
SMOKE = {"recall_eval.py": ["--groups", "1", "--questions", "30"], "dedup_eval.py": ["--limit", "10"]}
"""Flags of a smoke test of minutes; its figures are meaningless."""


def evals_folder(repository):
    """Returns the folder of the evaluations; None if this machine does not have it."""
    folder = repository.parent / "shared" / "evals"
    return folder if (folder / "recall_eval.py").is_file() else None


def run(folder, loci, quick):
    """Runs both evaluations; returns their figures `(recall, duplicates)`."""
    recall = _run(folder / "recall_eval.py", loci, ["--sets", ",".join(SETS)], quick)
    duplicates = _run(folder / "dedup_eval.py", loci, [], quick)
    return recall, duplicates


def _run(script, loci, flags, quick):
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        extra = SMOKE[script.name] if quick else []
        command = [sys.executable, "-B", script, "--loci", shlex.quote(loci), *flags, *extra, "--json", figures]
        subprocess.run(command, check=True)
        return json.loads(figures.read_text())
