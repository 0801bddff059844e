// The frame around the views: navigation, search, undo, theme, messages and dialogs.

/** Keeps a choice of the person in this browser. */
const kept = {
  /** @param {string} name */
  read(name) {
    try {
      return localStorage.getItem(`loci.${name}`) ?? "";
    } catch {
      return "";
    }
  },
  /** @param {string} name @param {string} value */
  write(name, value) {
    try {
      localStorage.setItem(`loci.${name}`, value);
    } catch {
      // Storage is off: the choice holds until the page is closed.
    }
  },
};

const THEMES = ["", "light", "dark"];

/** Sets the theme; empty follows the system. */
function setTheme(/** @type {string} */ theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  kept.write("theme", theme);
}

/** Goes on to the next theme. */
function nextTheme() {
  const theme = THEMES[(THEMES.indexOf(kept.read("theme")) + 1) % THEMES.length];
  setTheme(theme);
  announce(theme ? `Theme: ${theme}` : "Theme: as the system");
  toast(theme ? `Theme: ${theme}` : "Theme: as the system");
}

/** Builds the frame; views are shown in `main`. */
function buildShell() {
  const main = h("main", { id: "main", class: "main", tabindex: "-1" });
  const skip = h("button", { type: "button", class: "skip", onclick: () => main.focus() }, "Skip to the content");
  document.body.append(
    skip,
    buildHeader(),
    buildNavigation(),
    main,
    h("div", { id: "toasts", class: "toasts", role: "region", "aria-label": "Messages" }),
    h("div", { id: "live", class: "unseen", "aria-live": "polite" }),
  );
  document.addEventListener("address", markNavigation);
}

function buildHeader() {
  const search = h("input", {
    id: "search",
    type: "search",
    name: "q",
    placeholder: "Search by meaning and words",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: "1000",
    "aria-label": "Search memories",
    enterkeyhint: "search",
    oninput: (/** @type {any} */ event) => searchFor(event.target.value),
  });
  const form = h(
    "form",
    {
      role: "search",
      class: "search",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        searchFor(search.value, true);
        if (search.value) focusList();
      },
    },
    icon("search"),
    search,
    h("kbd", { "aria-hidden": "true" }, "/"),
  );
  document.addEventListener("address", () => {
    const { view, query } = shown.route;
    if (document.activeElement !== search) search.value = view === "memories" ? (query.get("q") ?? "") : "";
  });
  return h(
    "header",
    { class: "top" },
    button("Views", toggleNavigation, { icon: "menu", hideLabel: true, kind: "quiet menu-button", id: "menu" }),
    h("a", { class: "brand", href: "#/memories" }, "loci"),
    boot.read_only && h("strong", { class: "small", title: "Run loci view in your own terminal" }, "Only reads: an agent or a script opened this page"),
    form,
    h("div", { id: "time-travel", class: "time-travel" }),
    h(
      "div",
      { class: "top-actions" },
      h("span", { id: "connection", class: "connection", role: "img", "aria-label": "Connecting", title: "Connecting" }),
      button("Undo", () => undoLast(), { icon: "undo", hideLabel: true, kind: "quiet", title: "Undo (u)" }),
      button("Redo", () => redoLast(), { icon: "redo", hideLabel: true, kind: "quiet", title: "Redo (U)" }),
      button("Theme", nextTheme, { icon: "theme", hideLabel: true, kind: "quiet wide-only", title: "Light, dark, or as the system" }),
      button("Keys", showHelp, { icon: "help", hideLabel: true, kind: "quiet wide-only", title: "Keys (?)" }),
    ),
  );
}

function buildNavigation() {
  const items = Object.entries(VIEWS)
    .filter(([name, view]) => !view.hidden || (name === "changes" && boot.time_travel))
    .map(([name, view]) =>
      h(
        "li",
        null,
        h(
          "a",
          { href: address(name), "data-view": name, "aria-keyshortcuts": `g ${view.key}`, onclick: () => toggleNavigation(false) },
          icon(name),
          h("span", null, view.title),
          h("span", { class: "badge", "data-badge": name, hidden: true }),
          h("kbd", { "aria-hidden": "true" }, `g ${view.key}`),
        ),
      ),
    );
  const about = h("p", { class: "muted small about" }, `loci ${boot.version}`);
  const narrow = h(
    "div",
    { class: "narrow-only" },
    button("Theme", nextTheme, { icon: "theme", kind: "quiet" }),
    button("Keys", showHelp, { icon: "help", kind: "quiet" }),
  );
  return h("nav", { id: "nav", class: "nav", "aria-label": "Views" }, h("ul", null, items), narrow, about);
}

/** Opens or closes the navigation where it has no room beside the view. */
function toggleNavigation(/** @type {any} */ open) {
  const isOpen = document.body.classList.toggle("nav-open", typeof open === "boolean" ? open : undefined);
  document.getElementById("menu")?.setAttribute("aria-expanded", String(isOpen));
}

function markNavigation() {
  for (const link of document.querySelectorAll("#nav a")) {
    const view = link.getAttribute("data-view");
    if (view === shown.route.view || (view === "memories" && shown.route.view === "memory")) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Shows a number beside the name of a view; none hides it. */
function setBadge(/** @type {string} */ view, /** @type {number | string} */ count) {
  const badge = /** @type {HTMLElement | null} */ (document.querySelector(`[data-badge="${view}"]`));
  if (!badge) return;
  badge.hidden = !count;
  badge.textContent = count ? String(count) : "";
}

/** How long a message stays, in milliseconds; what it offers is in the history of acts too. */
const TOAST_MS = 12_000;

/**
 * Shows a message for a while.
 * @param {string} text
 * @param {{kind?: string, action?: [string, () => void]}} [options]
 */
function toast(text, options = {}) {
  const region = /** @type {HTMLElement} */ (document.getElementById("toasts"));
  const close = () => element.remove();
  const element = h(
    "div",
    { class: `toast ${options.kind ?? ""}`, role: options.kind === "error" ? "alert" : "status" },
    h("p", null, visibleText(text)),
    options.action &&
      button(
        options.action[0],
        () => {
          close();
          options.action?.[1]();
        },
        { kind: "small-button" },
      ),
    button("Dismiss", close, { icon: "close", hideLabel: true, kind: "quiet small-button" }),
  );
  while (region.children.length > 2) region.firstElementChild?.remove();
  region.append(element);
  let timer = setTimeout(close, TOAST_MS);
  element.addEventListener("pointerenter", () => clearTimeout(timer));
  element.addEventListener("focusin", () => clearTimeout(timer));
  element.addEventListener("pointerleave", () => {
    timer = setTimeout(close, TOAST_MS);
  });
  return element;
}

/** Tells a failure, unless the page gave the request up itself. */
function tellFailure(/** @type {unknown} */ error) {
  if (!isAborted(error)) toast(sentenceOf(error), { kind: "error" });
}

/**
 * Opens a dialog; returns the value that it was closed with, or `null`.
 * @param {string} title
 * @param {any} body
 * @param {{label: string, value: any | (() => any), kind?: string}[]} choices the last is the default; `undefined` keeps it open
 * @param {string} [kind]
 * @returns {Promise<any>}
 */
function openDialog(title, body, choices, kind = "") {
  return new Promise((resolve) => {
    const finish = (/** @type {any} */ value) => {
      dialog.close();
      dialog.remove();
      resolve(value);
    };
    // What the person wrote is not thrown away by one key.
    const leave = async () => {
      const isWritten = [...dialog.querySelectorAll("textarea")].some((text) => text.value !== text.defaultValue && text.value.trim());
      const question = h("p", null, "What you wrote is not saved.");
      const choices = [{ label: "Throw away", value: true, kind: "danger" }];
      if (!isWritten || (await openDialog("Throw the text away?", question, choices))) finish(null);
    };
    let isChoosing = false;
    const choose = async (/** @type {any} */ value) => {
      if (isChoosing) return;
      isChoosing = true;
      try {
        const chosen = typeof value === "function" ? await value() : value;
        if (chosen !== undefined) finish(chosen);
      } finally {
        isChoosing = false;
      }
    };
    // Behind it nothing can be done any more.
    const isFinal = kind === "signed-out";
    const id = `dialog-${Math.random().toString(36).slice(2)}`;
    const buttons = choices.map((choice, at) =>
      h(
        "button",
        {
          type: at === choices.length - 1 ? "submit" : "button",
          class: `button ${choice.kind ?? ""}`,
          onclick: at === choices.length - 1 ? undefined : () => choose(choice.value),
        },
        choice.label,
      ),
    );
    const form = h(
      "form",
      {
        onsubmit: (/** @type {Event} */ event) => {
          event.preventDefault();
          choose(choices.at(-1)?.value);
        },
      },
      h("h2", { id }, title),
      h("div", { class: "dialog-body" }, body),
      h(
        "div",
        { class: "dialog-buttons" },
        !isFinal && h("button", { type: "button", class: "button quiet", onclick: leave }, "Close"),
        buttons,
      ),
    );
    const dialog = h(
      "dialog",
      {
        class: `dialog ${kind}`,
        "aria-labelledby": id,
        oncancel: (/** @type {Event} */ event) => {
          event.preventDefault();
          if (!isFinal) leave();
        },
      },
      form,
    );
    dialog.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    document.body.append(dialog);
    dialog.showModal();
    const first = dialog.querySelector("textarea, input, select, button.primary, button[type=submit]");
    first?.focus();
  });
}

/** Says that the page is no longer signed in, and how to go on. */
function showSignedOut(/** @type {string} */ reason) {
  showEnd("Signed out", [h("p", null, reason || "This page is no longer signed in, or the daemon has started again."), nextLink()]);
}

function nextLink() {
  return h("p", null, "Run ", h("code", null, "loci view"), " again and open its link.");
}

/** Says why the page has ended; what it could undo is forgotten, and it sends nothing any more. */
function showEnd(/** @type {string} */ title, /** @type {any} */ body) {
  dropChanges();
  if (!document.querySelector(".signed-out")) openDialog(title, body, [], "signed-out");
}
