"""Encodes the notes of the store, so that the cases find it: prepare.py LOCI."""

import signal
import sys

from viewer import Home, Viewer


def main(loci):
    """Writes the store, unless it is there already."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with Home(loci) as home:
        Viewer(home, None).encoded_notes()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
