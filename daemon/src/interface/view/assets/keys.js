// The keyboard: single keys, `g` and a letter, and the page that lists them. Single keys can be switched off.

/** How long after `g` a letter counts, in milliseconds. */
const CHORD_MS = 1500;

/** Keys of every view; a view adds its own with `keys`. */
const GLOBAL_KEYS = /** @type {[string, string, (() => any)][]} */ ([
  ["/", "Search", () => focusSearch()],
  ["n", "Write a new memory", () => newMemory()],
  ["u", "Undo the last change", () => undoLast()],
  ["U", "Redo what was undone", () => redoLast()],
  ["?", "Show all keys", () => showHelp()],
]);

let chordUntil = 0;

/** Returns true if single keys are on. */
function hasSingleKeys() {
  return kept.read("keys") !== "off";
}

/** Handles a key of the whole page. */
function onKey(/** @type {KeyboardEvent} */ event) {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const isRedo = (event.ctrlKey || event.metaKey) && ((event.shiftKey && event.key.toLowerCase() === "z") || event.key === "y");
  if (isRedo && !isTyping()) {
    event.preventDefault();
    redoLast();
    return;
  }
  if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isTyping()) {
    event.preventDefault();
    undoLast();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    onEscape();
    return;
  }
  if (isTyping() || !hasSingleKeys() || isPressedByItself(event)) return;
  if (runKey(event.key)) event.preventDefault();
}

/** Returns true if the element with the focus does something itself with Enter or space. */
function isPressedByItself(/** @type {KeyboardEvent} */ event) {
  const active = document.activeElement;
  return (
    (event.key === "Enter" || event.key === " ") &&
    Boolean(active?.matches("button, a, summary, input, [role=button], [tabindex='0']:not([role=option])"))
  );
}

/** Runs what a key stands for; returns false if it stands for nothing. */
function runKey(/** @type {string} */ key) {
  if (Date.now() < chordUntil) {
    chordUntil = 0;
    const view = Object.entries(VIEWS).find(([name, candidate]) => candidate.key === key && (name !== "changes" || boot.time_travel));
    if (view) go(address(view[0]));
    return view !== undefined;
  }
  if (key === "g") {
    chordUntil = Date.now() + CHORD_MS;
    return true;
  }
  const own = shown.view?.keys?.find(([name]) => name === key);
  const action = own ?? GLOBAL_KEYS.find(([name]) => name === key);
  if (!action) return false;
  action[2]();
  return true;
}

function onEscape() {
  const active = document.activeElement;
  if (document.body.classList.contains("nav-open")) {
    toggleNavigation(false);
  } else if (active instanceof HTMLElement && isTyping()) {
    if (active.id === "search" && shown.name === "memories") focusList();
    else active.blur();
  } else if (active?.closest(".detail") && shown.name === "memories" && focusList()) {
    // The list has the focus again.
  } else {
    shown.view?.escape?.();
  }
}

function focusSearch() {
  const search = /** @type {HTMLInputElement} */ (document.getElementById("search"));
  search.focus();
  search.select();
}

/** Shows all keys. */
function showHelp() {
  const table = (/** @type {string} */ title, /** @type {[string, string][]} */ rows) => [
    h("h3", null, title),
    h(
      "dl",
      { class: "keys" },
      rows.map(([keys, what]) =>
        h(
          "div",
          null,
          h(
            "dt",
            null,
            keys.split(" ").map((key) => h("kbd", null, key)),
          ),
          h("dd", null, what),
        ),
      ),
    ),
  ];
  const views = Object.entries(VIEWS)
    .filter(([name, view]) => view.key && (name !== "changes" || boot.time_travel))
    .map(([, view]) => /** @type {[string, string]} */ ([`g ${view.key}`, view.title]));
  const own = (shown.view?.keys ?? []).filter(([, what]) => what).map(([key, what]) => /** @type {[string, string]} */ ([key, what]));
  const everywhere = GLOBAL_KEYS.map(([key, what]) => /** @type {[string, string]} */ ([key, what]));
  everywhere.push(["Ctrl+Z", "Undo"], ["Ctrl+Shift+Z", "Redo"], ["Ctrl+Enter", "Save a form"], ["Esc", "Leave a field, close a dialog"]);
  const single = h("input", {
    type: "checkbox",
    checked: hasSingleKeys(),
    onchange: (/** @type {any} */ event) => kept.write("keys", event.target.checked ? "on" : "off"),
  });
  const body = [
    h(
      "div",
      { class: "key-columns" },
      h("div", null, own.length > 0 && table("In this view", own), table("Everywhere", everywhere)),
      h("div", null, table("Views", views)),
    ),
    h("label", { class: "check" }, single, h("span", null, "Single keys act without Ctrl; off if they disturb speech input")),
  ];
  openDialog("Keys", body, [], "wide");
}
