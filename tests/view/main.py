"""Runs the cases of the viewer in Chromium: main.py LOCI CHROMIUM PACKAGES [CASE… | -CASE…].

LOCI is the binary under test, PACKAGES the folder of the npm packages; CASEs are run alone, -CASEs are left out. Prints a verdict for each case; the exit code is 0 if none failed.
Screenshots are written to target/view-screens.
"""

import sys
import time
import traceback
from pathlib import Path

import change_cases
import first_cases
import frame_cases
import guard_cases
import live_cases
import look_cases
import view_cases
from home import Home
from playwright.sync_api import sync_playwright
from viewer import Viewer

CASES = [
    *first_cases.CASES,
    *change_cases.CASES,
    *view_cases.CASES,
    *guard_cases.CASES,
    *live_cases.CASES,
    *frame_cases.CASES,
    *look_cases.CASES,
    live_cases.tells_the_end,
]
MESSAGE_LINES = 30
"""Lines of the message of a failure that are printed."""


def run_case(viewer, case):
    """Runs one case; returns what went wrong."""
    viewer.faults.clear()
    try:
        case(viewer)
    except Exception as error:
        here = str(Path(__file__).parent)
        lines = [
            f"{frame.filename.rpartition('/')[2]}:{frame.lineno}: {frame.line}"
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename.startswith(here)
        ]
        message = [line for line in str(error).splitlines() if line.strip()][:MESSAGE_LINES]
        trace = "\n        ".join([*lines[1:], *message])
        if viewer.context:
            for number, page in enumerate(viewer.context.pages):
                page.screenshot(path=viewer.screens / f"failed-{case.__name__}-{number}.png")
        return [trace, *viewer.faults]
    return viewer.faults + [f"request to another origin: {url}" for url in viewer.foreign_requests()]


def main(loci, chromium, packages, chosen):
    """Runs all cases on one store."""
    failed = []
    wanted = {name for name in chosen if not name.startswith("-")}
    cases = [case for case in CASES if (not wanted or case.__name__ in wanted) and f"-{case.__name__}" not in chosen]
    with Home(loci) as home, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-dev-shm-usage"])
        viewer = Viewer(home, browser)
        viewer.screens = Path(__file__).resolve().parents[2] / "target/view-screens"
        viewer.screens.mkdir(parents=True, exist_ok=True)
        viewer.axe = (Path(packages) / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
        try:
            viewer.first = viewer.start()
            for case in cases:
                start = time.monotonic()
                wrong = run_case(viewer, case)
                print(f"{'FAILED' if wrong else 'ok    '}  {case.__doc__} ({time.monotonic() - start:.1f} s)", flush=True)
                for line in wrong:
                    print(f"        {line}", flush=True)
                failed += [case] if wrong else []
                for page in viewer.context.pages[1:]:
                    page.close()
        finally:
            viewer.close()
            browser.close()
    print(f"{len(cases) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4], sys.argv[4:]))
