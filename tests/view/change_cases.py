"""What a person changes: edit, pin, forget, restore, supersede, merge, move, reject, confirm, relate, write, undo, redo."""

import re

from playwright.sync_api import expect

from steps import (
    act,
    clear_toasts,
    dialog,
    first_row,
    goto,
    open_memory,
    settled,
    toast,
    undo_by_toast,
)
from viewer import DAEMON_WAIT_S, until


def corrects_a_wrong_fact(viewer):
    """The walk: a wrong fact is found, with who stored it and when; corrected; the agent recalls the new one; undone"""
    agent = viewer.agent()
    stored = agent.call("store_memory", content="The deploy of the web shop runs on Friday at 17:00.", type="semantic")
    page = viewer.page()
    page.keyboard.press("/")
    page.keyboard.type("when is the deploy of the web shop")
    row = page.locator(f".row[data-id='{stored['id']}']")
    expect(row).to_be_visible()
    row.click()
    detail = page.locator(".detail")
    expect(detail.locator(".facts")).to_contain_text("test-agent")
    assert detail.locator(".facts time").first.get_attribute("datetime").startswith("20")
    page.keyboard.press("e")
    dialog(page).locator("textarea[name=content]").fill("The deploy of the web shop runs on Tuesday at 10:00.")
    page.keyboard.press("Control+Enter")
    toast(page, "Saved")
    expect(detail.locator(".content")).to_have_text("The deploy of the web shop runs on Tuesday at 10:00.")
    recall = {"query": "when is the deploy of the web shop", "max_results": 1}
    assert "Tuesday" in agent.call("recall_memory", **recall)["results"][0]["content"]
    clear_toasts(page)
    page.keyboard.press("u")
    toast(page, "Undone")
    expect(detail.locator(".content")).to_have_text("The deploy of the web shop runs on Friday at 17:00.")
    again = encoded_recall(agent, recall)
    assert "Friday" in again["results"][0]["content"], again
    clear_toasts(page)
    page.keyboard.press("U")
    toast(page, "Done again")
    expect(detail.locator(".content")).to_contain_text("Tuesday")


def encoded_recall(agent, recall):
    """Recalls when every text is encoded: one that an undo has brought back is encoded after it."""
    replies = []
    until(lambda: replies.append(agent.call("recall_memory", **recall)) or "degraded" not in replies[-1], DAEMON_WAIT_S)
    return replies[-1]


def undoes_every_change(viewer):
    """Pin, forget, restore, reject, confirm, move, relate and a new memory: each is made and undone"""
    page = viewer.page()
    identity = viewer.agent().call("store_memory", content="Grafana panels of the mail gateway are grouped by region.", type="semantic")[
        "id"
    ]
    detail = open_memory(page, identity)
    act(page, "Pin")
    expect(detail.locator(".mark.pinned")).to_be_visible()
    undo_by_toast(page, "Pinned")
    expect(detail.locator(".mark.pinned")).to_have_count(0)
    act(page, "Forget")
    expect(detail.locator(".status-forgotten")).to_be_visible()
    clear_toasts(page)
    act(page, "Restore")
    undo_by_toast(page, "Restored")
    expect(detail.locator(".status-forgotten")).to_be_visible()
    page.keyboard.press("r")
    expect(detail.locator(".status-forgotten")).to_have_count(0)
    clear_toasts(page)
    act(page, "Reject")
    dialog(page).locator("textarea").fill("The regions changed too often.")
    dialog(page).get_by_role("button", name="Reject").click()
    expect(detail.locator(".status-rejected")).to_be_visible()
    undo_by_toast(page, "Marked as given up")
    act(page, "Confirm")
    expect(detail.locator(".trust-person")).to_be_visible()
    undo_by_toast(page, "Confirmed")
    act(page, "Move")
    dialog(page).locator("select").select_option(label="billing")
    dialog(page).get_by_role("button", name="Move").click()
    expect(detail.locator(".facts")).to_contain_text("billing")
    undo_by_toast(page, "Moved")
    expect(detail.locator(".facts")).not_to_contain_text("billing")
    page.keyboard.press("n")
    dialog(page).locator("textarea").fill("The mascot of the data warehouse is an otter called Brine.")
    dialog(page).get_by_role("button", name="Store").click()
    expect(page.locator(".detail .content")).to_contain_text("otter")
    undo_by_toast(page, "Stored")
    expect(page.locator(".detail .status-forgotten")).to_be_visible()


def replaces_and_merges(viewer):
    """Supersede by a new text and by a stored one, versions, merge of two marked memories, relate; each is undone"""
    page = viewer.page()
    old = viewer.add("The office plants are watered by Omar every Monday.")
    detail = open_memory(page, old)
    act(page, "Supersede")
    dialog(page).locator("textarea[name=content]").fill("The office plants are watered by Ines every Wednesday.")
    dialog(page).get_by_role("button", name="Supersede").click()
    expect(detail.locator(".status-superseded").first).to_be_visible()
    expect(detail.locator(".versions li")).to_have_count(2)
    expect(detail.locator(".versions ins").first).to_be_visible()
    undo_by_toast(page, "Superseded")
    expect(detail.locator(".status-superseded")).to_have_count(0)
    newer = viewer.add("A robot waters the plants of the office since March 2026.")
    act(page, "Supersede")
    dialog(page).locator("input[name=find]").fill("robot waters the plants")
    dialog(page).locator(".pick", has_text="robot").locator("input").check()
    dialog(page).get_by_role("button", name="Supersede").click()
    expect(detail.locator(".facts")).to_contain_text("Replaced by")
    undo_by_toast(page, "Superseded")
    goto(page, "#/memories?q=plants+of+the+office")
    for identity in (old, newer):
        page.locator(f".row[data-id='{identity}']").click()
        page.keyboard.press(" ")
    expect(page.locator(".bulk")).to_contain_text("2 memories marked")
    page.keyboard.press("m")
    dialog(page).locator("textarea[name=content]").fill("A robot waters the office plants every Monday.")
    dialog(page).get_by_role("button", name="Merge").click()
    toast(page, "Merged")
    undo_by_toast(page, "Merged")
    detail = open_memory(page, old)
    expect(detail.locator(".content")).to_have_text("The office plants are watered by Omar every Monday.")
    anna = page_of_entity(page, "Anna")
    act(page, "Relate")
    dialog(page).locator("input[name=predicate]").fill("waters_with")
    dialog(page).locator("input[name=find]").fill("Kafka")
    dialog(page).locator(".pick input").first.check()
    dialog(page).get_by_role("button", name="Relate").click()
    expect(anna.locator(".predicate", has_text="waters_with")).to_be_visible()
    undo_by_toast(page, "Related")
    expect(anna.locator(".predicate", has_text="waters_with")).to_have_count(0)


def page_of_entity(page, name):
    """Opens the entity with this name."""
    goto(page, f"#/memories?type=entity&sort=oldest&q={name}+is+a+person")
    settled(page)
    identity = page.locator(".row", has_text=re.compile(f"^{name} is a person")).first.get_attribute("data-id")
    return open_memory(page, identity)


def forgets_several(viewer):
    """Several marked memories of different projects are forgotten at once, and come back at once"""
    page = viewer.page("#/memories?type=procedural")
    page.locator(".row").first.wait_for()
    before = page.locator(".list-status").text_content()
    first_row(page).click()
    for _ in range(5):
        page.keyboard.press(" ")
        page.keyboard.press("ArrowDown")
    page.locator(".bulk").get_by_role("button", name="Forget").click()
    dialog(page).get_by_role("button", name="Forget").click()
    toast(page, "5 memories forgotten")
    expect(page.locator(".list-status")).not_to_have_text(before)
    undo_by_toast(page, "5 memories forgotten")
    expect(page.locator(".list-status")).to_have_text(before)


def tells_a_refusal(viewer):
    """A refused change says what is wrong and the next step, and the text is not lost"""
    page = viewer.page()
    identity = viewer.add("A text of the viewer that will be edited badly.")
    open_memory(page, identity)
    page.keyboard.press("e")
    dialog(page).locator("textarea[name=content]").fill("   ")
    page.keyboard.press("Control+Enter")
    expect(dialog(page).locator(".failed")).to_contain_text("must not be empty")
    dialog(page).locator("textarea[name=content]").fill("Another text.")
    viewer.loci("edit", identity, "--content", "An agent was faster.")
    page.keyboard.press("Control+Enter")
    expect(dialog(page).locator(".failed")).to_contain_text("An agent was faster")
    page.keyboard.press("Control+Enter")
    toast(page, "Saved")
    expect(page.locator(".detail .content")).to_have_text("Another text.")
    goto(page, "#/memory/01953a2b-7c1e-7000-8000-ffffffffffff")
    expect(page.locator(".detail .failed")).to_be_visible()


CASES = [corrects_a_wrong_fact, undoes_every_change, replaces_and_merges, forgets_several, tells_a_refusal]
