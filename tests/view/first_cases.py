"""The first page: it works after one request, is small, runs nothing of a memory, and needs its cookie and its key."""

import json
import urllib.error
import urllib.request
from urllib.parse import urlsplit

from notes_store import INJECTIONS, memory_id
from playwright.sync_api import expect
from steps import first_row, goto, open_memory, settled
from viewer import MEMORIES

MAX_PAGE_BYTES = 200 * 1024
TEXT_WITHOUT_HIDDEN = """element => {
    for (const hidden of element.querySelectorAll(".hidden-char")) hidden.remove();
    return element.textContent;
}"""


def works_after_one_request(viewer):
    """The first page shows the list before any other request, and has less than 200 KB"""
    page = viewer.first
    assert viewer.requests[0] == viewer.first_response.url
    size = len(viewer.first_response.body())
    print(f"        the first page has {size:,} bytes")
    assert size < MAX_PAGE_BYTES, size
    expect(page.locator(".list-status")).to_have_text(f"{shown_memories(viewer):,} memories")
    again = viewer.context.new_page()
    again.route("**/api/verbs/**", lambda route: route.abort())
    again.route("**/api/events", lambda route: route.abort())
    again.goto(f"{viewer.origin}/")
    expect(first_row(again)).to_be_visible()
    again.keyboard.press("j")
    expect(again.locator(".row[aria-selected='true']")).to_have_count(1)
    assert "/open/" not in page.url, page.url
    if viewer.memory_before:
        print(f"        the daemon has {(viewer.memory() - viewer.memory_before) / 1024:.1f} MiB more than before the viewer was opened")


def shown_memories(viewer):
    """Number of active memories of the store."""
    return viewer.home.status()["memories"]


def has_strict_policy(viewer):
    """The policy of the page allows its own script, style and requests, and nothing else"""
    policy = dict(part.strip().split(" ", 1) for part in viewer.first_response.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'" and policy["connect-src"] == "'self'" and policy["trusted-types"] == "'none'"
    for name in ("script-src", "style-src"):
        assert policy[name].startswith("'sha256-") and " " not in policy[name], policy[name]
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"


def needs_cookie_and_key(viewer):
    """Without the cookie or the key every request is refused, and the page says what to do"""
    name = f"loci_view_{urlsplit(viewer.origin).port}"
    for cookie, key in (("", ""), (f"{name}=guess", "guess")):
        request = urllib.request.Request(f"{viewer.origin}/api/status", headers={"Cookie": cookie, "Loci-View-Key": key})
        try:
            with urllib.request.urlopen(request) as response:
                raise AssertionError(f"answered {response.status}")
        except urllib.error.HTTPError as error:
            assert error.code == 401, error.code
    [cookie] = [found for found in viewer.context.cookies() if found["name"] == name]
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    stranger = viewer.context.browser.new_context()
    page = stranger.new_page()
    page.goto(f"{viewer.origin}/")
    expect(page.locator("dialog")).to_contain_text("loci view")
    stranger.close()


def shows_texts_as_texts(viewer):
    """HTML, scripts, Markdown and links in memories are shown as text, and hidden characters are visible"""
    page = viewer.page()
    number = next(number for number in range(60, 0, -1) if memory_text(viewer, number) == INJECTIONS[-1]) - len(INJECTIONS) + 1
    for at, text in enumerate(INJECTIONS):
        detail = open_memory(page, memory_id(number + at))
        content = detail.locator(".content")
        shown = content.evaluate(TEXT_WITHOUT_HIDDEN)
        expected = "".join(character for character in text if character not in "\u202e\u200b\u0007\u001b")
        assert shown == expected, (shown, expected)
        assert content.evaluate("element => element.querySelectorAll(':not(mark, .hidden-char)').length") == 0
    hidden = open_memory(page, memory_id(number + 6)).locator(".content .hidden-char").all_text_contents()
    assert hidden == ["U+202E", "U+200B", "U+0007", "U+001B", "U+001B"], hidden
    for query in ("script alert onerror", "<img src=x onerror>", '"><svg onload=1>'):
        goto(page, "#/memories")
        page.locator("#search").fill(query)
        page.wait_for_function("query => new URLSearchParams(location.hash.split('?')[1]).get('q') === query", arg=query)
        settled(page)
    assert page.evaluate("() => window.injected") is None
    tags = page.evaluate("() => [...new Set([...document.body.querySelectorAll('*')].map(element => element.localName))]")
    assert not {"iframe", "img", "base", "object", "embed"} & set(tags), tags
    assert page.evaluate("() => document.querySelectorAll('script').length") == 2


def memory_text(viewer, number):
    """The text of a memory of the store."""
    lines = (viewer.home.root / "notes.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines[:200]:
        record = json.loads(line)
        if record.get("id") == memory_id(number):
            return record["content"]
    return ""


def filters_and_searches(viewer):
    """Each filter narrows the list to the number beside it, and a search explains its scores with bars"""
    page = viewer.page()
    for name, value in (("type", "procedural"), ("trust", "person"), ("status", "forgotten"), ("project", "g_0000000000000002")):
        goto(page, "#/memories")
        facet = page.locator(f"[data-key='facet-{name}-{value}']")
        count = facet.locator(".facet-count").text_content()
        facet.click()
        expect(page.locator(".list-status")).to_have_text(f"{count} memories")
        expect(page.locator(f"[data-key='facet-{name}-{value}']")).to_have_attribute("aria-pressed", "true")
        page.locator(".chips .chip").first.click()
        expect(page.locator(".chips .chip")).to_have_count(0)
    goto(page, "#/memories")
    for name in ("client", "month"):
        goto(page, "#/memories")
        page.locator(f"[data-key^='facet-{name}-']").nth(1).click()
        settled(page)
        expect(page.locator(".chips .chip")).to_have_count(1)
    page.go_back()
    expect(page.locator(".chips .chip")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("what runs on Kafka in Porto")
    expect(page.locator(".score-bar span").first).to_be_attached()
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.classList.contains('row')")
    page.keyboard.press("Enter")
    expect(page.locator(".why-row").first).to_be_visible()
    assert page.locator(".why-bar").count() >= 2
    page.reload()
    expect(page.locator(".why-row").first).to_be_visible()
    assert viewer.home.status()["memories"] <= MEMORIES


CASES = [works_after_one_request, has_strict_policy, needs_cookie_and_key, shows_texts_as_texts, filters_and_searches]
