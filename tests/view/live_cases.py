"""Several at once: two tabs, an agent that writes meanwhile, and the keyboard alone."""

import re
import time
from datetime import datetime
from zoneinfo import ZoneInfo

from playwright.sync_api import expect

from steps import clear_toasts, first_row, goto, settled, toast
from viewer import DAEMON_WAIT_S, until

VIEW_KEYS = {
    "r": "review",
    "g": "graph",
    "t": "timeline",
    "s": "sessions",
    "h": "history",
    "c": "maintenance",
    "b": "backups",
    "i": "transfer",
    "o": "settings",
    "m": "memories",
}


def shows_what_others_change(viewer):
    """Two tabs and an agent: what one stores, edits or forgets appears in the others without a reload"""
    agent = viewer.agent()
    left, right = viewer.page(), viewer.page()
    expect(left.locator(".connection.live")).to_be_visible()
    identity = agent.call("store_memory", content="The heron of Quito eats at noon.", type="semantic")["id"]
    for page in (left, right):
        page.bring_to_front()
        expect(first_row(page)).to_contain_text("heron of Quito")
    right.locator(f".row[data-id='{identity}']").click()
    expect(right.locator(".detail .content")).to_contain_text("noon")
    left.bring_to_front()
    left.locator(f".row[data-id='{identity}']").click()
    left.keyboard.press("p")
    expect(left.locator(".detail .mark.pinned")).to_be_visible()
    right.bring_to_front()
    expect(right.locator(".detail .mark.pinned")).to_be_visible()
    agent.call("forget_memory", memory_id=identity, reason="no longer true")
    expect(right.locator(".detail .status-forgotten")).to_be_visible()
    expect(right.locator(f".row[data-id='{identity}']")).to_have_count(0)
    goto(right, "#/history")
    goto(right, "#/memories")
    settled(right)
    expect(right.locator(f".row[data-id='{identity}']")).to_have_count(0)


def keeps_the_place(viewer):
    """While an agent stores, a list that is scrolled keeps showing the same memory, and the focus stays"""
    agent = viewer.agent()
    page = viewer.page()
    settled(page)
    page.locator(".vlist").evaluate("list => { list.scrollTop = 40 * list.querySelector('.row').offsetHeight }")
    settled(page)
    row = page.locator(".row[aria-posinset='45']:not([hidden])")
    expect(row).to_have_attribute("data-id", re.compile("."))
    identity = row.get_attribute("data-id")
    row.click()
    top = page.locator(f".row[data-id='{identity}']").bounding_box()["y"]
    agent.call("store_memory", content="A new memory that comes while the person reads another one.", type="semantic")
    expect(page.locator(f".row[data-id='{identity}']")).to_have_attribute("aria-posinset", "46")
    assert abs(page.locator(f".row[data-id='{identity}']").bounding_box()["y"] - top) < 2
    assert page.evaluate("() => document.activeElement.dataset.id") == identity


def works_with_the_keyboard(viewer):
    """Every view and a correction with the keyboard alone; single keys can be switched off"""
    page = viewer.page()
    for key, view in VIEW_KEYS.items():
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(re.compile(f"#/{view}"))
    settled(page)
    page.keyboard.press("?")
    expect(page.locator("dialog h2")).to_have_text("Keys")
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("k")
    expect(page.locator(".row[aria-selected='true']")).to_have_attribute("aria-posinset", "3")
    page.keyboard.press("End")
    expect(page.locator(".row[aria-selected='true']")).to_contain_text(re.compile("person|system|tool"))
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.classList.contains('detail')")
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.activeElement.classList.contains('row')")
    page.keyboard.press("p")
    toast(page, "Pinned")
    page.keyboard.press("Control+z")
    toast(page, "Undone")
    page.keyboard.press("Control+Shift+Z")
    toast(page, "Done again")
    page.keyboard.press("u")
    toast(page, "Undone: pin of")
    clear_toasts(page)
    second = page.locator(".row[aria-posinset='2']:not([hidden])").get_attribute("data-id")
    page.keyboard.press("j")
    page.keyboard.press("x")
    toast(page, "Forgotten")
    expect(page.locator(f".row[data-id='{second}']")).to_have_count(0)
    page.keyboard.press("u")
    toast(page, "Undone: forgetting of")
    clear_toasts(page)
    tool = page.locator(".detail [data-key='tool-Pin']")
    tool.focus()
    page.keyboard.press("Enter")
    toast(page, "Pinned")
    page.keyboard.press("u")
    toast(page, "Undone: pin of")
    page.keyboard.press("?")
    page.get_by_label("Single keys act").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.locator("dialog")).to_have_count(0)
    page.evaluate("() => localStorage.removeItem('loci.keys')")
    goto(page, "#/memories")


def travels_in_time(viewer):
    """A time in the past shows the earlier text without tools to change it, and what has changed since; now shows the present"""
    identity = viewer.add("The lamp of the lighthouse of Bergen is green.")
    then = time.time() + 1
    until(lambda: time.time() > then + 1, DAEMON_WAIT_S)
    viewer.loci("edit", identity, "--content", "The lamp of the lighthouse of Bergen is red.")
    page = viewer.page(f"#/memory/{identity}")
    content = page.locator(".detail .content")
    expect(content).to_contain_text("red")
    page.get_by_label("as it was known at this time").fill(
        datetime.fromtimestamp(then, ZoneInfo("Asia/Tokyo")).strftime("%Y-%m-%dT%H:%M:%S")
    )
    expect(content).to_contain_text("green")
    expect(page.locator(".detail .toolbar")).to_have_count(0)
    page.get_by_role("button", name="What changed since").click()
    entry = page.locator(".item", has_text="lighthouse of Bergen")
    expect(entry.locator("del")).to_have_text("green")
    expect(entry.locator("ins")).to_have_text("red")
    goto(page, "#/memories?q=lighthouse+of+Bergen")
    expect(page.locator(f".row[data-id='{identity}']")).to_contain_text("green")
    expect(page.locator(".past")).to_contain_text("As known on")
    page.get_by_role("button", name="Now").click()
    expect(page.locator(f".row[data-id='{identity}']")).to_contain_text("red")
    page.locator("#as-of").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".past")).to_contain_text("As known on")
    page.keyboard.press("End")
    expect(page.locator(".past")).to_be_hidden()


def tells_the_end(viewer):
    """When `loci view` has ended, the page says so and what to do, and a text that was written stays in its form"""
    page = viewer.page()
    settled(page)
    page.keyboard.press("n")
    page.locator("dialog textarea").fill("A draft that must not be lost.")
    viewer.end_command()
    expect(page.locator(".connection.lost")).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.locator("dialog .failed")).to_contain_text("loci view")
    expect(page.locator("dialog textarea")).to_have_value("A draft that must not be lost.")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Throw away").click()
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page.locator("#main .failed")).to_contain_text("loci view")
    viewer.faults.clear()


CASES = [shows_what_others_change, keeps_the_place, works_with_the_keyboard, travels_in_time]
