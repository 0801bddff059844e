"""Measures daemons in rounds that alternate between them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "clients"))

from home import Home


def rows(loci, starts, rounds):
    """Calls each of `starts` with a home of its own; returns the row of each daemon after the rounds."""
    homes, measured = [], []
    try:
        for start in starts:
            homes.append(Home(loci))
            measured.append(start(homes[-1]))
        for _ in range(rounds):
            for daemon in measured:
                daemon.round()
        return [daemon.row() for daemon in measured]
    finally:
        for daemon in measured:
            daemon.close()
        for home in homes:
            home.__exit__(None)
