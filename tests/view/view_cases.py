"""The other views: review, graph, timeline, maintenance, sessions, history, health, settings, import and export."""

import json
import re

from playwright.sync_api import expect
from steps import clear_toasts, dialog, goto, settled, toast, undo_by_toast
from viewer import hook


def reviews_conflicts(viewer):
    """A conflict is shown with its difference and decided; candidates are confirmed; flagged texts are listed"""
    viewer.add("The backup server of the team is called heron.")
    viewer.add("The backup server of the team is called egret.")
    page = viewer.page("#/review")
    item = page.locator(".item", has_text="heron").filter(has_text="egret").first
    expect(item.locator("ins").first).to_be_visible()
    item.get_by_role("button", name="Newer is right").click()
    toast(page, "Superseded")
    expect(item).to_have_count(0)
    undo_by_toast(page, "Superseded")
    item.get_by_role("button", name="Keep both").click()
    expect(item).to_have_count(0)
    clear_toasts(page)
    page.get_by_role("link", name="Candidates").click()
    candidate = page.locator(".item").first
    text = candidate.locator(".item-text").text_content()
    candidate.get_by_role("button", name="Confirm").click()
    expect(page.locator(".item", has_text=text)).to_have_count(0)
    undo_by_toast(page, "Confirmed")
    expect(page.locator(".item", has_text=text).first).to_be_visible()
    page.get_by_role("link", name="Flagged").click()
    settled(page)
    page.get_by_role("link", name="Imported").click()
    settled(page)


def opens_the_graph(viewer):
    """The graph opens hop by hop with the pointer and with the keyboard, and leads to the memory"""
    page = viewer.page("#/graph")
    page.locator(".entities a", has_text="Anna").first.click()
    expect(page.locator(".node")).not_to_have_count(0)
    before = page.locator(".node").count()
    assert before > 3, before
    page.locator(".node:not(.is-open)").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("before => document.querySelectorAll('.node').length > before", arg=before)
    between = page.locator(".node").count()
    page.locator(".graph-panel .links button").last.click()
    page.wait_for_function("() => document.querySelectorAll('.node.is-open').length >= 3")
    page.get_by_role("button", name="Open all one hop").click()
    page.wait_for_function("before => document.querySelectorAll('.node').length > before", arg=between)
    page.get_by_role("link", name="Read").click()
    expect(page.locator(".detail .content")).to_be_visible()


def shows_the_timeline(viewer):
    """The timeline of a project has days in the person's time zone, months, and older memories when it is scrolled"""
    page = viewer.page("#/timeline/g_0000000000000003")
    expect(page.locator(".day").first).to_be_visible()
    first = page.locator(".event").count()
    page.get_by_role("button", name="Older").scroll_into_view_if_needed()
    page.wait_for_function("first => document.querySelectorAll('.event').length > first", arg=first)
    shown = page.locator(".day").evaluate_all("days => days.map(day => day.dataset.day)")
    assert shown == sorted(shown, reverse=True), shown
    page.locator(".months-wide a").nth(3).click()
    expect(page.locator(".months-wide [aria-current]")).to_have_count(1)
    settled(page)
    page.get_by_label("Project").select_option(label="dotfiles")
    page.wait_for_url(re.compile("timeline/g_"))


def shows_the_next_maintenance(viewer):
    """The next run is a difference; one step is run and undone; maintenance is paused and resumed"""
    page = viewer.page("#/maintenance")
    expect(page.locator(".step .minus").first).to_be_visible()
    member = page.locator(".step .minus a").first.get_attribute("href")
    title = page.locator(".step h2").first.text_content()
    page.get_by_role("button", name="Run the first step").click()
    toast(page, "One step was run")
    expect(page.locator(".step h2").first).not_to_have_text(title)
    summary = json.loads(viewer.loci("history", "--json", "-n", "1"))["acts"][0]
    made = summary["changed"][0]["id"]
    goto(page, f"#/memory/{made}")
    expect(page.locator(".detail summary", has_text="Made from")).to_be_visible()
    goto(page, member)
    expect(page.locator(".detail .status-compacted")).to_be_visible()
    page.keyboard.press("u")
    toast(page, "Undone")
    expect(page.locator(".detail .status-compacted")).to_have_count(0)
    goto(page, "#/maintenance")
    clear_toasts(page)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def shows_sessions(viewer):
    """Connected agents, what hooks delivered and why; what a session did can be undone as a whole"""
    agent = viewer.agent()
    agent.call("store_memory", content="The lighthouse of Porto blinks every six seconds.", type="semantic")
    hook(viewer, "session-start", source="startup")
    hook(viewer, "prompt", prompt="How often does the lighthouse of Porto blink?")
    page = viewer.page("#/sessions")
    expect(page.locator("tr", has_text="test-agent").first).to_be_visible()
    expect(page.locator(".receipt.outcome-delivered").first).to_be_visible()
    expect(page.locator(".injected", has_text="lighthouse").first).to_be_visible()
    page.locator("tr", has_text="test-agent").last.get_by_role("link").click()
    expect(page.locator("h1")).to_have_text("What a session did")
    expect(page.locator(".links", has_text="lighthouse")).to_be_visible()
    page.get_by_role("button", name="Undo all of this session").click()
    dialog(page).get_by_role("button", name="Undo all").click()
    toast(page, "The session was undone")
    undo_by_toast(page, "The session was undone")


def shows_history(viewer):
    """The journal lists acts with what changed, and undoes one of another program after asking about large ones"""
    identity = viewer.add("The stairs of the office have 42 steps.")
    viewer.loci("edit", identity, "--content", "The stairs of the office have 43 steps.")
    page = viewer.page("#/history")
    entry = page.locator(".acts li", has_text="43").first
    expect(entry.locator("ins")).to_contain_text("43")
    entry.get_by_role("button", name="Undo").click()
    toast(page, "Undone")
    clear_toasts(page)
    goto(page, "#/history?limit=2")
    page.get_by_role("link", name="Older").click()
    goto(page, "#/history?limit=1000")
    large = page.locator(".acts > li", has_text="Import").last
    large.get_by_role("button", name="Undo").click()
    expect(dialog(page)).to_contain_text("rows")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


def shows_health(viewer):
    """Backups are made and listed, checks are run, the daemon and the store are described"""
    page = viewer.page("#/backups")
    page.get_by_role("button", name="Back up now").click()
    toast(page, "Backed up")
    expect(page.locator("tr", has_text="manual").first).to_be_visible()
    page.get_by_role("button", name="Check everything").click()
    expect(page.locator(".findings .verdict-ok").first).to_be_visible()
    expect(page.locator(".facts", has_text="all-MiniLM")).to_be_visible()


def shows_settings(viewer):
    """Settings have their origin; a project is renamed, gets another name, is switched off and on; each is undone"""
    page = viewer.page("#/settings")
    expect(page.locator("tr", has_text="retrieval.fusion")).to_contain_text("default")
    page.get_by_label("Find a setting").fill("backup.")
    expect(page.locator("tr", has_text="retrieval.fusion")).to_have_count(0)
    page.locator("tr", has_text="billing").get_by_role("button", name="Rename").click()
    dialog(page).locator("input").fill("invoices")
    dialog(page).get_by_role("button", name="Save").click()
    expect(page.locator("tr", has_text="invoices")).to_be_visible()
    undo_by_toast(page, "Project renamed")
    row = page.locator("tr", has_text="billing")
    row.get_by_role("button", name="Alias").click()
    dialog(page).locator("input").fill("accounts")
    dialog(page).get_by_role("button", name="Save").click()
    expect(row.locator(".mark")).to_have_text("accounts")
    undo_by_toast(page, "Alias changed")
    row.get_by_role("button", name="Switch off").click()
    expect(row).to_contain_text("off")
    row.get_by_role("button", name="Switch on").click()
    expect(row.get_by_role("button", name="Switch off")).to_be_visible()


def imports_and_exports(viewer):
    """An export is saved as a file; a changed copy is dropped on another view, looked through, imported and undone"""
    page = viewer.page("#/transfer")
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    path = viewer.home.root / "exported.jsonl"
    download.value.save_as(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["loci"] == "export" and len(lines) > 10_000
    memory = next(record for record in map(json.loads, lines) if record.get("kind") == "memory")
    memory |= {"id": "01953a2b-7c1e-7000-8000-aaaaaaaaaaaa", "content": "A dropped file brought the walrus of Bergen."}
    memory.pop("group", None)
    memory |= {"scope": "global"}
    dropped = "\n".join(json.dumps(line) for line in ({"loci": "export", "version": 3}, memory, {"kind": "end", "lines": 2})) + "\n"
    goto(page, "#/memories")
    page.evaluate(
        """text => {
            const data = new DataTransfer();
            data.items.add(new File([text], "dropped.jsonl"));
            document.dispatchEvent(new DragEvent("dragover", { dataTransfer: data, bubbles: true, cancelable: true }));
            document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }""",
        dropped,
    )
    expect(page.locator(".import-preview")).to_contain_text("1 memory")
    expect(page.locator(".import-preview")).to_contain_text("walrus")
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator(".import-result")).to_contain_text("1 memory added")
    undo_by_toast(page, "Imported")
    page.locator("#import-file").set_input_files({"name": "bad.jsonl", "mimeType": "application/x-ndjson", "buffer": b"not json\n"})
    expect(page.locator(".import-preview .failed")).to_be_visible()


CASES = [
    reviews_conflicts,
    opens_the_graph,
    shows_the_timeline,
    shows_the_next_maintenance,
    shows_sessions,
    shows_history,
    shows_health,
    shows_settings,
    imports_and_exports,
]
