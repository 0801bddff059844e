#!/usr/bin/env python3
"""Draws docs/images/terminal.svg: what the real `loci` prints at a terminal, in a temporary home.

    python3 docs/images/draw.py [--loci target/release/loci] [--models ~/.loci/models] [--check]

Ids, scores and dates are replaced by fixed ones, so that the picture is the same after every run. With --check it is compared with the file.
"""

import argparse
import html
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
COLUMNS = 96
STORED = [
    (["add", "Deploys of the shop go through just ship, never by hand", "--type", "procedural"], "shop"),
    (["add", "The staging server of the shop is called heron and runs in Lisbon", "--type", "semantic"], "shop"),
    (["add", "Anna decided on 2 March to keep Postgres instead of moving to MySQL", "--type", "episodic"], "shop"),
    (["add", "Invoices are numbered per year and never reused", "--type", "semantic"], "billing"),
]
SHOWN = [
    ["search", "name of the pre-production host"],
    ["search", "how do we release the shop?"],
    ["bridge", "restore", "MEMORY.md", "--yes"],
]
COLOURS = {1: "#ff7b72", 2: "#7ee787", 3: "#e3b341", 4: "#79c0ff", 5: "#d2a8ff", 6: "#76e3ea", 90: "#8b949e", 31: "#ff7b72",
           32: "#7ee787", 33: "#e3b341", 34: "#79c0ff", 35: "#d2a8ff", 36: "#76e3ea"}
TEXT, DIM, BACKGROUND = "#c9d1d9", "#8b949e", "#0d1117"
LINE, LETTER = 19, 8.0


class Home:
    """A temporary home with its own daemon."""

    def __init__(self, loci, models):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="loci-draw-"))
        self.loci = loci
        for name in ["run", "shop", "billing"]:
            (self.folder / name).mkdir(mode=0o700)
        self.environment = {
            "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder / "run"), "LOCI_MODELS": str(models), "LOCI_PERSON": "1",
            "PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": "50", "LANG": "C.UTF-8",
        }

    def run(self, arguments, project):
        return subprocess.run([self.loci, *arguments], env=self.environment, cwd=self.folder / project, capture_output=True,
                              text=True, check=True).stdout

    def at_terminal(self, arguments, project):
        """Returns what a command prints at a terminal, with its colours."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder / project)
            os.execve(self.loci, [str(self.loci), *arguments], self.environment)
        import fcntl, struct, termios
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        screen = b""
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:
                break
            if not part:
                break
            screen += part
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status != 0:
            sys.exit(f"loci {' '.join(arguments)} failed ({status}): {screen.decode()}")
        return screen.decode().replace("\r\n", "\n")

    def wait_for_vectors(self):
        """Waits until every memory is encoded, so that searches are by meaning."""
        search = [self.loci, "search", "deploys of the shop"]
        for _ in range(240):
            done = subprocess.run(search, env=self.environment, cwd=self.folder / "shop", capture_output=True, text=True, check=True)
            if not done.stderr:
                return
            time.sleep(0.5)
        sys.exit(f"the memories were not encoded: {done.stderr}")

    def memory_file(self):
        """Writes a memory file of Claude Code, and lets the client overwrite it."""
        name = re.sub("[^A-Za-z0-9]", "-", str((self.folder / "shop").resolve()))
        folder = self.folder / ".claude" / "projects" / name / "memory"
        folder.mkdir(parents=True)
        file = folder / "MEMORY.md"
        file.write_text("# Shop\n\n- Use pnpm, never npm\n- Tests need Postgres on port 5433\n")
        self.run(["bridge", "claude", "--on", "--yes"], "shop")
        file.write_text("# Shop\n\n- Use pnpm, never npm\n")
        return name

    def close(self):
        subprocess.run([self.loci, "ctl", "stop"], env=self.environment, cwd=self.folder, capture_output=True, check=False)
        shutil.rmtree(self.folder)


def normalized(text, home, name):
    """Replaces what differs between two runs."""
    text = text.replace(name, "-home-anna-shop").replace(str(home.folder.resolve()), "/home/anna").replace(str(home.folder), "/home/anna")
    ids = {}
    fixed = lambda match: ids.setdefault(match.group(0), f"{0x5f0c9a1e + 0x11d2b3 * len(ids):08x}")
    text = re.sub(r"(?<![0-9a-f])(?=[0-9a-f]*[0-9])[0-9a-f]{8}(?![0-9a-z])", fixed, text)
    return re.sub(r"20\d\d-\d\d-\d\d", "2026-03-02", text)


def spans(line):
    """Splits a line at its escapes; yields text, colour and whether it is bold."""
    colour, bold, at = TEXT, False, 0
    for match in re.finditer(r"\x1b\[([0-9;]*)m|\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|\x1b\[[0-9;?]*[A-Za-z]", line):
        if match.start() > at:
            yield line[at:match.start()], colour, bold
        at = match.end()
        for code in [int(code or 0) for code in (match.group(1) or "").split(";")] if match.group(1) is not None else []:
            if code == 0:
                colour, bold = TEXT, False
            elif code == 1:
                bold = True
            elif code == 2:
                colour = DIM
            elif code == 22:
                bold = False
            elif code == 39:
                colour = TEXT
            elif code in COLOURS and code >= 30:
                colour = COLOURS[code]
    if at < len(line):
        yield line[at:], colour, bold


def svg(lines):
    width, height = int(COLUMNS * LETTER) + 32, len(lines) * LINE + 56
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img" '
           f'aria-label="loci in a terminal">',
           f'<rect width="{width}" height="{height}" rx="8" fill="{BACKGROUND}"/>']
    for number, colour in enumerate(["#ff5f56", "#ffbd2e", "#27c93f"]):
        out.append(f'<circle cx="{20 + 18 * number}" cy="18" r="5" fill="{colour}"/>')
    out.append('<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.3" xml:space="preserve">')
    for number, line in enumerate(lines):
        column, y = 0, 50 + number * LINE
        for text, colour, bold in spans(line):
            weight = ' font-weight="bold"' if bold else ""
            # Each part has its own place, so that columns stay columns in any font.
            for part in re.finditer(r"\S+(?: \S+)*", text):
                x, words = 16 + (column + part.start()) * LETTER, part.group(0)
                length = f' textLength="{len(words) * LETTER:g}" lengthAdjust="spacingAndGlyphs"'
                out.append(f'<text x="{x:g}" y="{y}" fill="{colour}"{weight}{length}>{html.escape(words)}</text>')
            column += len(text)
    out.append("</g>\n</svg>\n")
    return "\n".join(out)


def draw(loci, models):
    home = Home(loci, models)
    try:
        for arguments, project in STORED:
            home.run(arguments, project)
        name = home.memory_file()
        home.wait_for_vectors()
        screen = ""
        for arguments in SHOWN:
            words = " ".join(f"'{word}'" if " " in word else word for word in arguments)
            screen += f"\x1b[32m$\x1b[0m \x1b[1mloci {words}\x1b[0m\n{home.at_terminal(arguments, 'shop').rstrip()}\n\n"
        return svg(normalized(screen, home, name).rstrip().split("\n"))
    finally:
        home.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loci", type=pathlib.Path, default=REPOSITORY / "target/release/loci")
    parser.add_argument("--models", type=pathlib.Path, default=pathlib.Path.home() / ".loci/models")
    parser.add_argument("--check", action="store_true", help="compare with the committed picture")
    arguments = parser.parse_args()
    picture, file = draw(arguments.loci.resolve(), arguments.models.resolve()), HERE / "terminal.svg"
    if not arguments.check:
        file.write_text(picture)
    elif file.read_text() != picture:
        sys.exit(f"{file} is not what the programs print; run docs/images/draw.py")


if __name__ == "__main__":
    main()
