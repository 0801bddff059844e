"""Steps that many cases take: open a memory, press a key, wait for a message."""

from playwright.sync_api import expect


def goto(page, address):
    """Goes to a view of the open page and waits until it has been read."""
    page.evaluate("address => { location.hash = address }", address)
    settled(page)


def settled(page):
    """Waits until nothing is being read."""
    page.wait_for_function("() => !document.querySelector('#main [aria-busy]') && !document.querySelector('.row.loading')")


def toast(page, text):
    """Waits for a message."""
    found = page.locator(".toast", has_text=text).last
    expect(found).to_be_visible()
    return found


def undo_by_toast(page, text):
    """Undoes by the button of a message, and waits until it is done."""
    toast(page, text).get_by_role("button", name="Undo").click()
    toast(page, "Undone")
    clear_toasts(page)


def clear_toasts(page):
    """Closes all messages."""
    page.evaluate("() => document.getElementById('toasts').replaceChildren()")


def open_memory(page, identity):
    """Opens one memory alone; returns its panel."""
    goto(page, f"#/memory/{identity}")
    detail = page.locator(".detail")
    expect(detail.locator(".content")).to_be_visible()
    return detail


def act(page, label):
    """Presses a tool of the open memory."""
    page.locator(".detail .toolbar").get_by_role("button", name=label, exact=True).or_(
        page.locator(f".detail .toolbar [data-key='tool-{label}']")
    ).first.click()


def dialog(page):
    """The open dialog."""
    found = page.locator("dialog[open]")
    expect(found).to_be_visible()
    return found


def first_row(page):
    """The first row of the list."""
    return page.locator(".row[aria-posinset='1']:not([hidden])")
