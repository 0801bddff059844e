"""What protects a person's work: undo takes back what the page did last, and nothing is sent to another program at the address."""

import json
import re

from playwright.sync_api import expect

from steps import act, clear_toasts, dialog, first_row, goto, open_memory, settled, toast


def undoes_what_the_page_did_last(viewer):
    """Undo pressed twice quickly takes back two changes and names them, redo makes both again, and an act of an agent is left alone"""
    page = viewer.page()
    first = viewer.add("The log retention of the mail archive is ninety days.")
    second = viewer.add("The mail archive of the harbour office is read by Tove.")
    open_memory(page, first)
    page.keyboard.press("p")
    toast(page, "Pinned")
    open_memory(page, second)
    page.keyboard.press("x")
    toast(page, "Forgotten")
    other = viewer.agent().call("store_memory", content="A plain text that an agent stores meanwhile.", type="semantic")["id"]
    viewer.loci("pin", other)
    page.keyboard.press("u")
    page.keyboard.press("u")
    toast(page, "Undone: forgetting of “The mail archive")
    toast(page, "Undone: pin of “The log retention")
    states = [viewer_memory(viewer, identity) for identity in (first, second, other)]
    assert [state["pinned"] for state in states] == [False, False, True], states
    assert states[1]["status"] == "active"
    assert page.locator(".toast button", has_text="Undo").count() == 0
    page.keyboard.press("U")
    page.keyboard.press("U")
    toast(page, "Done again: pin of")
    toast(page, "Done again: forgetting of")
    states = [viewer_memory(viewer, identity) for identity in (first, second)]
    assert (states[0]["pinned"], states[1]["status"]) == (True, "forgotten"), states
    page.keyboard.press("u")
    page.keyboard.press("u")
    toast(page, "Undone: pin of")
    page.keyboard.press("u")
    expect(dialog(page)).to_contain_text("This page did not do it")
    page.keyboard.press("Escape")


def viewer_memory(viewer, identity, *arguments):
    """What is stored of a memory."""
    return {"pinned": False} | json.loads(viewer.loci("inspect", identity, "--json", *arguments))["memory"]


def undoes_switches_and_decisions(viewer):
    """The switch of a project and Both kept are undone with the key, and nothing else"""
    page = viewer.page("#/settings")
    row = page.locator("tr", has_text="billing").first
    row.get_by_role("button", name="Switch off").click()
    toast(page, "loci is off in billing")
    page.keyboard.press("u")
    toast(page, "Undone: “loci is off in billing”")
    expect(row.get_by_role("button", name="Switch off")).to_be_visible()
    clear_toasts(page)
    pinned = viewer.add("The ferry to Utne carries a clock that is pinned.")
    viewer.add("The printer of the third floor is called puffin.")
    viewer.add("The printer of the third floor is called razorbill.")
    open_memory(page, pinned)
    page.keyboard.press("p")
    toast(page, "Pinned")
    goto(page, "#/review")
    item = page.locator(".item", has_text="puffin").filter(has_text="razorbill").first
    item.get_by_role("button", name="Keep both").click()
    expect(item).to_have_count(0)
    page.keyboard.press("u")
    toast(page, "Undone: keeping both")
    expect(item).to_be_visible()
    assert viewer_memory(viewer, pinned)["pinned"]
    page.keyboard.press("u")
    toast(page, "Undone: pin of")
    assert not viewer_memory(viewer, pinned)["pinned"]


def stores_where_the_old_one_is(viewer):
    """A new text that supersedes is stored in the project of the superseded memory; a merge is one act, and asks if one has changed"""
    old = viewer.add("The invoices of the billing project are sent on the first.", "--group", "billing", "--scope", "group")
    page = viewer.page()
    open_memory(page, old)
    act(page, "Supersede")
    expect(dialog(page)).to_contain_text("billing, only in this project")
    dialog(page).locator("textarea[name=content]").fill("The invoices of the billing project are sent on the tenth.")
    dialog(page).get_by_role("button", name="Supersede").click()
    toast(page, "Superseded")
    billing = ("--group", "billing")
    new = viewer_memory(viewer, viewer_memory(viewer, old, *billing)["superseded_by"], *billing)
    assert (new["group"], new["scope"]) == ("billing", "group"), new
    left = viewer.add("The terminal in Hall A opens at seven.")
    right = viewer.add("Passengers of Hall A queue at the northern door.")
    goto(page, "#/memories?q=terminal+Hall+A")
    settled(page)
    for identity in (left, right):
        page.locator(f".row[data-id='{identity}']").click()
        page.keyboard.press(" ")
    expect(page.locator(".bulk")).to_contain_text("2 memories marked")
    page.keyboard.press("m")
    dialog(page).locator("textarea[name=content]").fill("The terminal of Hall A opens at 7:00.")
    viewer.loci("edit", right, "--content", "Passengers of Hall A queue at the southern door.")
    dialog(page).get_by_role("button", name="Merge").click()
    expect(dialog(page).locator(".failed")).to_contain_text("southern door")
    before = newest_act(viewer)
    dialog(page).get_by_role("button", name="Merge").click()
    toast(page, "Merged")
    assert newest_act(viewer) == before + 1
    page.keyboard.press("u")
    toast(page, "Undone: merge of")
    assert [viewer_memory(viewer, identity)["status"] for identity in (left, right)] == ["active", "active"]


def newest_act(viewer):
    """The number of the newest act of the journal."""
    return json.loads(viewer.loci("history", "--json", "--limit", "1"))["acts"][0]["id"]


def asks_before_a_text_is_lost(viewer):
    """Escape in a form with a changed text asks; without a change it closes"""
    page = viewer.page()
    open_memory(page, viewer.add("The bicycle cellar of the office is locked at nine."))
    page.keyboard.press("e")
    dialog(page)
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)
    page.keyboard.press("e")
    dialog(page).locator("textarea[name=content]").fill("The bicycle cellar is locked at ten.")
    page.keyboard.press("Escape")
    asked = page.locator("dialog", has_text="Throw the text away?")
    asked.get_by_role("button", name="Close").click()
    expect(dialog(page).locator("textarea[name=content]")).to_have_value("The bicycle cellar is locked at ten.")
    page.locator("dialog").get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Throw away").click()
    expect(page.locator("dialog")).to_have_count(0)


def sends_nothing_to_another_program(viewer):
    """A wrong proof ends the page: it sends no request afterwards"""
    page = viewer.page()
    sent = []
    page.route("**/api/boot", with_secret)
    body = 'event: proof\ndata: {"proof": "00"}\n\n'
    page.route("**/api/events?*", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    page.on("request", lambda request: sent.append(request.url))
    page.reload()
    expect(page.locator("dialog")).to_contain_text("Another program answers at this address")
    assert [url for url in sent if "/api/verbs/" in url] == [], sent


def ends_before_it_sends(viewer):
    """Under a service worker of another program, and without a key, the page says what to do and asks for nothing"""
    page = viewer.page()
    sent = []
    key = page.evaluate("() => localStorage.getItem('loci.key')")
    page.evaluate("() => localStorage.removeItem('loci.key')")
    page.on("request", lambda request: sent.append(request.url))
    page.reload()
    expect(page.locator("dialog")).to_contain_text("This link was used already")
    page.evaluate("key => localStorage.setItem('loci.key', key)", key)
    page.add_init_script("Object.defineProperty(navigator.serviceWorker, 'controller', { get: () => ({}) })")
    page.reload()
    expect(page.locator("dialog")).to_contain_text("Another program controls this address")
    assert [url for url in sent if "/api/" in url] == [], sent


def with_secret(route):
    """Gives the page a secret that no server knows."""
    reply = route.fetch()
    route.fulfill(response=reply, json=reply.json() | {"proof_secret": "of the test"})


def opens_many_tabs(viewer):
    """Nine tabs work: only one keeps a stream, and the next one takes over when it is closed"""
    pages = [viewer.page() for _ in range(9)]
    for page in pages:
        page.bring_to_front()
        expect(page.locator(".connection.live")).to_be_visible()
        settled(page)
    viewer.first.close()
    viewer.first = pages.pop()
    for page in pages[:2]:
        page.close()
    identity = viewer.add("The ninth tab shows a cormorant.")
    for page in (pages[-1], viewer.first):
        page.bring_to_front()
        expect(page.locator(f".row[data-id='{identity}']")).to_be_visible()


def tells_what_is_no_export(viewer):
    """Files that cannot be imported are not offered; kinds with the names of properties are counted as any other"""
    page = viewer.page("#/transfer")
    preview = page.locator(".import-preview")
    for name, text, told in (
        ("notes.md", "# Notes", "loci import --from markdown"),
        ("empty.jsonl", "", "The file is empty"),
        ("broken.jsonl", "{broken", "not a file of loci export"),
        ("other.json", '{"loci": 1, "records": ', "JSON"),
    ):
        page.locator("#import-file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})
        expect(preview.locator(".failed")).to_contain_text(told)
        expect(preview.get_by_role("button", name="Import")).to_have_count(0)
    lines = '{"kind": "__proto__"}\n{"kind": "constructor"}\n{"kind": "group", "id": "g_1", "name": "x"}\n'
    page.locator("#import-file").set_input_files({"name": "a.jsonl", "mimeType": "text/plain", "buffer": lines.encode()})
    expect(preview.locator(".counts li")).to_have_text(["1 __proto__", "1 constructor", "1 project"])
    expect(preview).not_to_contain_text("false")


def shows_hidden_characters_of_names(viewer):
    """Hidden characters of an address are shown as their numbers; the joiner of an emoji is not"""
    page = viewer.page("#/history?session=ab%E2%80%AEcd")
    expect(page.locator(".intro")).to_contain_text("ab⟨U+202E⟩cd")
    goto(page, "#/sessions?session=ab%E2%80%AEcd")
    expect(page.locator("#main")).to_contain_text("ab⟨U+202E⟩cd")
    identity = viewer.add("The 👩‍💻 of the lighthouse office is on call in May.")
    goto(page, "#/memories")
    row = page.locator(f".row[data-id='{identity}']")
    expect(row).to_contain_text("👩‍💻")
    expect(row).not_to_contain_text("200D")


def holds_the_rows_under_the_pointer(viewer):
    """At the top of the list, rows that others add do not move what is under the pointer, and are offered"""
    page = viewer.page()
    settled(page)
    row = first_row(page)
    identity = row.get_attribute("data-id")
    row.hover()
    top = row.bounding_box()["y"]
    viewer.add("A gannet was seen above the harbour of Utne.")
    expect(page.locator(".fresh")).to_have_text("1 new")
    assert abs(page.locator(f".row[data-id='{identity}']").bounding_box()["y"] - top) < 2
    page.locator(".fresh").click()
    expect(page.locator(".fresh")).to_be_hidden()
    expect(first_row(page)).to_contain_text("gannet")


def redoes_and_rejects(viewer):
    """An undone act is made again from the history; a rejected candidate is forgotten, and the next card has the focus"""
    identity = viewer.add("The stapler of the mail room is green.")
    viewer.loci("pin", identity)
    page = viewer.page("#/history")
    item = page.locator(".acts li", has_text="stapler of the mail room").first
    item.get_by_role("button", name="Undo").click()
    toast(page, "Undone")
    assert not viewer_memory(viewer, identity)["pinned"]
    item.get_by_role("button", name="Redo").click()
    toast(page, "Done again")
    assert viewer_memory(viewer, identity)["pinned"]
    viewer.loci("forget", identity)
    goto(page, "#/review?tab=candidates")
    expect(page.locator("[data-count=candidates]")).to_have_text(re.compile("[1-9]"))
    candidate = page.locator(".item").first
    text = candidate.locator(".item-text").text_content()
    candidate.get_by_role("button", name="Reject").click()
    toast(page, "Rejected")
    expect(page.locator(".item", has_text=text)).to_have_count(0)
    page.wait_for_function("() => document.activeElement.classList.contains('item')")
    page.keyboard.press("u")
    toast(page, "Undone: rejection of")
    expect(page.locator(".item", has_text=text).first).to_be_visible()


CASES = [
    undoes_what_the_page_did_last,
    undoes_switches_and_decisions,
    stores_where_the_old_one_is,
    asks_before_a_text_is_lost,
    sends_nothing_to_another_program,
    ends_before_it_sends,
    tells_what_is_no_export,
    shows_hidden_characters_of_names,
    redoes_and_rejects,
    holds_the_rows_under_the_pointer,
    opens_many_tabs,
]
