// The search field of every view: it shows the memories that it finds while the person types.

/** Time after the last key before a search begins, in milliseconds. */
const TYPING_MS = 180;
let typing = 0;

/** Searches for what the person has written; `now` does not wait for another key. */
function searchFor(/** @type {string} */ text, now = false) {
  clearTimeout(typing);
  const opened = shown.route.query.get("id");
  const begin = () => {
    const query = shown.name === "memories" ? new URLSearchParams(shown.route.query) : new URLSearchParams();
    if ((query.get("q") ?? "") === text.trim()) return;
    query.set("q", text.trim());
    // A result that was opened meanwhile stays open.
    if (query.get("id") === opened) query.delete("id");
    const to = address("memories", "", query);
    if (shown.name === "memories") {
      replaceAddress(to);
      showRoute();
    } else {
      go(to);
    }
  };
  if (now) begin();
  else typing = setTimeout(begin, TYPING_MS);
}

/** Gives the focus to the list of the view; returns false if there is none. */
function focusList() {
  return shown.view?.focusList?.() ?? false;
}
