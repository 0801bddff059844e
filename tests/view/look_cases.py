"""How it looks: axe on every view in both themes, screenshots at three sizes, nothing that sticks out, targets large enough."""

from notes_store import memory_id
from steps import goto, settled

VIEWS = (
    "#/memories",
    "#/memories?q=which+cluster+runs+Kafka",
    f"#/memory/{memory_id(0)}",
    "#/review",
    "#/review?tab=candidates",
    "#/graph",
    f"#/graph/{memory_id(0)}",
    "#/timeline/g_0000000000000003",
    "#/sessions",
    "#/history",
    "#/maintenance",
    "#/backups",
    "#/transfer",
    "#/settings",
)
SIZES = ((360, 740), (1280, 800), (2560, 1440))
THEMES = ("light", "dark")
SERIOUS = ("serious", "critical")
MIN_TARGET = 24
"""Smallest side of what can be pressed, in CSS pixels (WCAG 2.2, 2.5.8)."""

SMALL_TARGETS = """least => [...document.querySelectorAll("button, select, input, summary, nav a")].filter(element => {
    const box = element.getBoundingClientRect();
    const isInline = element.closest(".unseen") || element.matches(".month, .skip, [type=checkbox], [type=radio]");
    return box.width > 0 && !isInline && (box.height < least - 0.5 || box.width < least - 0.5);
}).map(element => `${element.localName}.${element.className} ${element.textContent.slice(0, 30)}`)"""


OVERFLOW = """() => {
    const main = document.getElementById("main");
    return Math.max(document.documentElement.scrollWidth - innerWidth, main.scrollWidth - main.clientWidth);
}"""


def file_name(address):
    """The name of the screenshots of a view."""
    view = address.removeprefix("#/").split("?")[0].split("/")[0]
    details = {"q=": "-search", "/01953": "-one", "candidates": "-candidates"}
    return view + next((name for part, name in details.items() if part in address), "")


def show(page, address):
    """Shows a view with a memory open where there is a list."""
    goto(page, "#/transfer")
    goto(page, address)
    page.locator("#main h1").first.wait_for(state="attached")
    settled(page)
    if address.startswith("#/memories") and page.viewport_size["width"] >= 1000:
        page.locator(".row").first.click()
        page.locator(".detail .content").wait_for()
    if address.startswith("#/graph/"):
        page.locator(".graph-panel h2").wait_for()


def is_accessible(viewer):
    """axe finds nothing serious in any view, light or dark"""
    page = viewer.page()
    wrong = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        for address in VIEWS:
            show(page, address)
            wrong += axe(viewer, page, f"{theme} {address}")
        goto(page, "#/memories")
        for key in ("?", "e", "s", "n"):
            page.locator(".row").first.click()
            page.keyboard.press(key)
            page.locator("dialog").wait_for()
            wrong += axe(viewer, page, f"{theme} dialog {key}")
            page.keyboard.press("Escape")
    assert not wrong, "\n".join(wrong)


def axe(viewer, page, place):
    """The serious findings of axe in a page."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(viewer.axe + "; 0")
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("tags => axe.run(document, { runOnly: { type: 'tag', values: tags }, resultTypes: ['violations'] })", tags)
    return [
        f"{place}: {violation['id']} {node['target']} {node['failureSummary'][:200]}"
        for violation in found["violations"]
        if violation["impact"] in SERIOUS
        for node in violation["nodes"][:3]
    ]


def fits_every_size(viewer):
    """Every view at 360, 1280 and 2560 pixels: nothing sticks out, targets are large enough; screenshots in both themes"""
    page = viewer.page()
    wrong = []
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for address in VIEWS:
            show(page, address)
            overflow = page.evaluate(OVERFLOW)
            if overflow > 0:
                wrong.append(f"{width} {address}: {overflow} px too wide")
            wrong += [f"{width} {address}: small target {target}" for target in page.evaluate(SMALL_TARGETS, MIN_TARGET)]
            for theme in THEMES:
                page.emulate_media(color_scheme=theme, reduced_motion="reduce")
                page.screenshot(path=viewer.screens / f"{file_name(address)}-{width}-{theme}.png")
    assert not wrong, "\n".join(wrong)


CASES = [is_accessible, fits_every_size]
