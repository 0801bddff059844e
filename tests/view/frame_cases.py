"""How smooth the page is with 10,000 memories: times between frames while the whole list is scrolled, and while a search is typed."""

from playwright.sync_api import expect
from steps import settled

MAX_P99_MS = 100
"""Bound of the 99th percentile of the time between two frames."""

COUNT_FRAMES = """() => {
    const frames = window.countedFrames = { deltas: [], isOn: true };
    let last = performance.now();
    const count = now => {
        frames.deltas.push(now - last);
        last = now;
        if (frames.isOn) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
}"""

SCROLL = """() => new Promise(resolve => {
    const list = document.querySelector(".vlist");
    const step = (list.scrollHeight - list.clientHeight) / 160;
    let at = 0;
    const go = () => {
        at += 1;
        list.scrollTop = at * step;
        if (at < 160) requestAnimationFrame(go);
        else resolve();
    };
    requestAnimationFrame(go);
})"""


def take_frames(page, what):
    """Ends the count; prints and returns the 99th percentile."""
    deltas = sorted(page.evaluate("() => { window.countedFrames.isOn = false; return window.countedFrames.deltas.slice(1) }"))
    p99 = deltas[int(len(deltas) * 0.99)]
    print(f"        {what}: {len(deltas)} frames, median {deltas[len(deltas) // 2]:.0f} ms, p99 {p99:.0f} ms, longest {deltas[-1]:.0f} ms")
    return p99


def scrolls_smoothly(viewer):
    """The whole list of 10,000 is scrolled with frames of at most 100 ms"""
    page = viewer.page("#/memories?status=all")
    settled(page)
    rows = page.locator(".row").count()
    assert rows < 60, rows
    page.evaluate(COUNT_FRAMES)
    page.evaluate(SCROLL)
    assert take_frames(page, "scrolling to the end of the list") <= MAX_P99_MS
    settled(page)
    expect(page.locator(".row[data-id]").first).to_be_visible()
    page.evaluate(COUNT_FRAMES)
    page.locator(".vlist").evaluate("list => { list.scrollTop = 0 }")
    page.evaluate(SCROLL)
    assert take_frames(page, "scrolling through the loaded list") <= MAX_P99_MS


def types_smoothly(viewer):
    """A search is typed with frames of at most 100 ms"""
    page = viewer.page()
    settled(page)
    page.evaluate(COUNT_FRAMES)
    page.locator("#search").press_sequentially("who looks after the search index in Oslo", delay=45)
    expect(page.locator(".score").first).to_be_visible()
    settled(page)
    assert take_frames(page, "typing a search") <= MAX_P99_MS


CASES = [scrolls_smoothly, types_smoothly]
