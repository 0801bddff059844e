"""Joins the scripts of the page into one file, as the daemon does, so that node and tsc can check it: joined.py FILE."""

import sys
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[2] / "daemon/src/interface/view/assets"


def joined():
    """The scripts in the order of their names, in one scope."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(ASSETS.glob("*.js"))]
    return '// @ts-check\n(() => {\n"use strict";\n' + "\n".join(texts) + "\n})();\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(joined(), encoding="utf-8")
