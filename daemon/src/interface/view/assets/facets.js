// The filters beside a list, with the number of memories behind each choice.

/** Values of a facet that are shown before `more`. */
const FACET_VALUES = 8;

const STATUS_HINTS = /** @type {Record<string, string>} */ ({
  "": "active",
  all: "all",
  superseded: "superseded",
  compacted: "compacted",
  forgotten: "forgotten",
  candidate: "candidate",
  rejected: "rejected",
  pinned: "pinned",
  flagged: "faded",
  expired: "expired",
});

const TRUST_NAMES = /** @type {Record<string, string>} */ ({ person: "yours", agent: "an agent's", import: "imported" });

/** Facets whose whole list the person has opened. */
const openFacets = new Set();

/**
 * Builds the filters.
 * @param {Facets | null} facets
 * @param {URLSearchParams} query
 * @param {(name: string, value: string) => void} choose an empty value takes the filter away
 */
function facetsPanel(facets, query, choose) {
  const known = facets ?? /** @type {Facets} */ ({ total: 0, type: [], project: [], client: [], trust: [], status: [], month: [] });
  const status = query.get("status") ?? "";
  const counts = new Map(known.status.map((entry) => [entry.value, entry.count]));
  const statuses = Object.keys(STATUS_HINTS)
    .filter((value) => ["", "all", "pinned", "flagged", "expired", status].includes(value) || (counts.get(value) ?? 0) > 0)
    .map((value) => ({
      value,
      name: STATUS_HINTS[value],
      count: value === "all" ? sumOf(known.status) : counts.get(value || "active"),
    }));
  const types = TYPES.map((value) => ({ value, count: known.type.find((entry) => entry.value === value)?.count ?? 0 }));
  return [
    facetList("Type", "type", types, query, choose, (entry) => typeMark(entry.value)),
    facetList("Project", "project", known.project, query, choose),
    facetList("Stored by", "client", known.client, query, choose),
    facetList("Trust", "trust", known.trust, query, choose, (entry) => TRUST_NAMES[entry.value] ?? entry.value),
    facetList("Status", "status", statuses, query, choose),
    monthFacet(known.month, query, choose),
    flagFacet(query, choose),
  ];
}

function sumOf(/** @type {{value: string, count: number}[]} */ entries) {
  const states = ["active", "superseded", "compacted", "forgotten", "candidate", "rejected"];
  return entries.filter((entry) => states.includes(entry.value)).reduce((total, entry) => total + entry.count, 0);
}

/**
 * @param {string} title
 * @param {string} name
 * @param {{value: string, name?: string, count?: number}[]} entries
 * @param {URLSearchParams} query
 * @param {(name: string, value: string) => void} choose
 * @param {(entry: any) => any} [label]
 */
function facetList(title, name, entries, query, choose, label) {
  const chosen = query.get(name) ?? "";
  const isOpen = openFacets.has(name);
  const shown = isOpen ? entries : entries.filter((entry, at) => at < FACET_VALUES || entry.value === chosen);
  const most = Math.max(1, ...entries.map((entry) => entry.count ?? 0));
  const rows = shown.map((entry) => {
    const isChosen = entry.value === chosen;
    const bar = setStyle(h("span", { class: "facet-bar", "aria-hidden": "true" }), "--share", `${((entry.count ?? 0) / most) * 100}%`);
    return h(
      "li",
      null,
      h(
        "button",
        {
          type: "button",
          class: "facet",
          "aria-pressed": String(isChosen),
          "data-key": `facet-${name}-${entry.value}`,
          onclick: () => choose(name, isChosen ? "" : entry.value),
        },
        bar,
        h("span", { class: "facet-name" }, label ? label(entry) : visibleText(entry.name || entry.value || "none")),
        h("span", { class: "facet-count" }, entry.count === undefined ? "" : NUMBER.format(entry.count)),
      ),
    );
  });
  const rest = entries.length - shown.length;
  const more =
    (rest > 0 || isOpen) &&
    entries.length > FACET_VALUES &&
    button(
      isOpen ? "Fewer" : `${rest} more`,
      () => {
        if (isOpen) openFacets.delete(name);
        else openFacets.add(name);
        choose("", "");
      },
      { kind: "link" },
    );
  return h("section", { class: "facet-group" }, h("h3", null, title), h("ul", null, rows), more);
}

/** The months as columns; one can be chosen, or any two days. */
function monthFacet(
  /** @type {{value: string, count: number}[]} */ months,
  /** @type {URLSearchParams} */ query,
  /** @type {any} */ choose,
) {
  const chosen = query.get("month") ?? "";
  const latest = withGaps(months).slice(-24);
  const most = Math.max(1, ...latest.map((entry) => entry.count));
  const columns = latest.map((entry) => {
    const isChosen = entry.value === chosen;
    const label = `${monthName(entry.value)}: ${memoriesOf(entry.count)}`;
    const column = h(
      "button",
      {
        type: "button",
        class: "month",
        title: label,
        disabled: entry.count === 0 && !isChosen,
        "aria-label": label,
        "aria-pressed": String(isChosen),
        "data-key": `facet-month-${entry.value}`,
        onclick: () => choose("month", isChosen ? "" : entry.value),
      },
      h("span", { "aria-hidden": "true" }),
    );
    setStyle(column.firstChild, "height", entry.count === 0 ? "0" : `${Math.max(4, (entry.count / most) * 100)}%`);
    return column;
  });
  const day = (/** @type {string} */ name, /** @type {string} */ label) =>
    field(
      label,
      h("input", {
        type: "date",
        name,
        value: query.get(name) ?? "",
        "data-key": `facet-${name}`,
        onchange: (/** @type {any} */ event) => choose(name, event.target.value),
      }),
    );
  return h(
    "section",
    { class: "facet-group" },
    h("h3", null, "Time"),
    columns.length > 0 && h("div", { class: "months" }, columns),
    columns.length > 1 &&
      h(
        "div",
        { class: "months-ends muted small", "aria-hidden": "true" },
        h("span", null, latest[0].value),
        h("span", null, latest.at(-1)?.value),
      ),
    chosen &&
      h(
        "p",
        { class: "small" },
        monthName(chosen),
        " ",
        button("Any month", () => choose("month", ""), { kind: "link" }),
      ),
    h("div", { class: "days" }, day("from", "From"), day("to", "To")),
  );
}

function flagFacet(/** @type {URLSearchParams} */ query, /** @type {any} */ choose) {
  const box = h("input", {
    type: "checkbox",
    checked: query.get("flags") === "1",
    "data-key": "facet-flags",
    onchange: (/** @type {any} */ event) => choose("flags", event.target.checked ? "1" : ""),
  });
  return h(
    "section",
    { class: "facet-group" },
    h("label", { class: "check" }, box, h("span", null, "Only flagged")),
  );
}

/**
 * Draws a part of the page again without losing the focus: the element with the same `data-key` gets it.
 * @param {any} container
 * @param {any[]} children
 */
function redraw(container, children) {
  const active = document.activeElement;
  const key = active instanceof HTMLElement && container.contains(active) ? active.dataset.key : undefined;
  container.replaceChildren();
  append(container, children);
  if (key) container.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}
