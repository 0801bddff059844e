#!/usr/bin/env python3
"""Prints the formula of a release: fill.py VERSION HOMEPAGE RELEASE SHA256SUMS

RELEASE is the address of the folder with the archives. Every checksum of the formula must be in SHA256SUMS.
"""

import re
import sys
from pathlib import Path

TEMPLATE = Path(__file__).resolve().parent / "loci.rb.in"


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    version, homepage, release, sums = sys.argv[1:]
    archives = re.findall(rf"^([0-9a-f]{{64}})  loci-{re.escape(version)}-(\S+)\.tar\.gz$", Path(sums).read_text(), re.MULTILINE)
    words = {"VERSION": version, "HOMEPAGE": homepage, "RELEASE": release.rstrip("/")}
    words |= {f"SHA256_{target}": checksum for checksum, target in archives}

    def word(match):
        if match[1] not in words:
            sys.exit(f"fill.py: {sums} has no checksum for {match[1]}")
        return words[match[1]]

    sys.stdout.write(re.sub(r"@([A-Za-z0-9_-]+)@", word, TEMPLATE.read_text()))


if __name__ == "__main__":
    main()
