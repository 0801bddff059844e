// The frame of the views that are not lists of memories: a heading, a body that is asked from the daemon, and asked again after changes.

/**
 * Makes such a view.
 * @param {string} title
 * @param {{intro?: any, tools?: any, ask: () => Promise<any>, draw: (reply: any) => any[],
 *   keys?: [string, string, () => any][], close?: () => void,
 *   update?: (route: Route) => boolean}} parts
 * @returns {View}
 */
function pageView(title, parts) {
  const body = h("div", { class: "page-body", "aria-busy": "true" }, h("p", { class: "muted" }, "Reading …"));
  const heading = h("h1", { tabindex: "-1" }, title);
  const element = h(
    "div",
    { class: "page" },
    h("div", { class: "page-head" }, heading, h("div", { class: "page-tools" }, parts.tools)),
    parts.intro && h("p", { class: "intro muted" }, parts.intro),
    body,
  );
  let latest = "";
  let asked = 0;
  const refresh = async (isForced = false) => {
    asked += 1;
    const mine = asked;
    try {
      const reply = await parts.ask();
      if (mine !== asked) return;
      const text = JSON.stringify(reply);
      if (text !== latest || isForced) redraw(body, parts.draw(reply));
      latest = text;
    } catch (error) {
      if (mine !== asked || isAborted(error)) return;
      latest = "";
      redraw(body, [h("p", { class: "failed" }, sentenceOf(error)), button("Try again", () => refresh(true))]);
    }
    body.removeAttribute("aria-busy");
  };
  refresh();
  return { element, refresh, keys: parts.keys, close: parts.close, update: parts.update, focus: () => heading.focus() };
}

/** A framed part of a page. */
function card(/** @type {any} */ title, /** @type {any[]} */ ...children) {
  return h("section", { class: "card" }, title && h("h2", null, title), children);
}

/** A list of names and values. */
function factList(/** @type {any[]} */ rows) {
  return h(
    "dl",
    { class: "facts" },
    rows.filter(Boolean).map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
  );
}

/** Says that there is nothing. */
function nothing(/** @type {string} */ sentence) {
  return h("p", { class: "nothing muted" }, sentence);
}
