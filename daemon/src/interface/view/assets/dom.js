// Builds elements, and only from text: no other file creates one. Nothing here or elsewhere parses HTML.

const SVG = "http://www.w3.org/2000/svg";

/** Attributes that `h` sets as they are; anything else that is not listed in `h` is an error. */
const PLAIN_ATTRIBUTES = new Set([
  "id",
  "class",
  "role",
  "tabindex",
  "title",
  "for",
  "type",
  "name",
  "min",
  "max",
  "step",
  "rows",
  "cols",
  "placeholder",
  "autocomplete",
  "spellcheck",
  "maxlength",
  "lang",
  "dir",
  "download",
  "scope",
  "datetime",
  "accept",
  "open",
  "disabled",
  "checked",
  "multiple",
  "hidden",
  "readonly",
  "selected",
  "inert",
  "value",
  "low",
  "high",
  "inputmode",
  "enterkeyhint",
  "draggable",
  "viewBox",
  "d",
  "x",
  "y",
  "x1",
  "x2",
  "y1",
  "y2",
  "cx",
  "cy",
  "r",
  "width",
  "height",
  "text-anchor",
  "dy",
  "dx",
  "transform",
  "rx",
  "marker-end",
  "refX",
  "refY",
  "orient",
  "markerWidth",
  "markerHeight",
  "points",
  "colspan",
]);

/**
 * Sets one property of an element.
 * @param {Element} element
 * @param {string} name
 * @param {any} value
 */
function setProperty(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  if (name.startsWith("on") && typeof value === "function") {
    element.addEventListener(name.slice(2), value);
  } else if (name === "href") {
    // A link leads to a view of this page, or to a file that the page has made; never to what a memory names.
    if (!/^(#|blob:)/.test(value)) throw new Error("a link must lead to a view");
    element.setAttribute("href", value);
  } else if (PLAIN_ATTRIBUTES.has(name) || name.startsWith("aria-") || name.startsWith("data-")) {
    element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  } else {
    throw new Error(`no property ${name}`);
  }
}

/**
 * Appends children; strings and numbers become text.
 * @param {Element} element
 * @param {any[]} children
 */
function append(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(element, child);
    else if (child instanceof Node) element.append(child);
    else if (child !== undefined && child !== null && child !== false && child !== true) element.append(String(child));
  }
}

/**
 * Creates an element of HTML.
 * @param {string} tag
 * @param {Record<string, any> | null} [properties]
 * @param {...any} children
 * @returns {any}
 */
function h(tag, properties, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) setProperty(element, name, value);
  append(element, children);
  return element;
}

/**
 * Creates an element of SVG.
 * @param {string} tag
 * @param {Record<string, any> | null} [properties]
 * @param {...any} children
 * @returns {any}
 */
function s(tag, properties, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(properties ?? {})) setProperty(element, name, value);
  append(element, children);
  return element;
}

/** Paths of the icons, drawn in a square of 16. */
const ICONS = /** @type {Record<string, string>} */ ({
  memories: "M3 3.5h10M3 8h10M3 12.5h6",
  review: "M2.5 4.5h5v7h-5zM8.5 4.5h5v7h-5zM10 8l1 1.2 1.7-2.2",
  graph: "M4 4a1.5 1.5 0 1 0 .1 0M12 5.500a1.5 1.5 0 1 0 .1 0M6.5 12.500a1.5 1.5 0 1 0 .1 0M5.4 5.500l5.2 1M4.5 7l1.6 5M8 13l3-5",
  timeline: "M8 2v12M8 4h4.500M8 8H3.500M8 12h3.5",
  changes: "M3 5h6M6 2v6M3 12.500h6M11 3v10M11 13l2-2.5",
  maintenance: "M3 8a5 5 0 0 1 8.7-3.400M13 8a5 5 0 0 1-8.7 3.400M12 2v3H9M4 14v-3h3",
  sessions: "M2.5 3.500h11v7h-6l-3 2.500v-2.500h-2z",
  history: "M8 4.500V8l2.5 1.500M2.5 8a5.5 5.5 0 1 0 1.8-4M4 1.500V4.300h2.8",
  backups: "M3 4c0-2 10-2 10 0v8c0 2-10 2-10 0zM3 4c0 2 10 2 10 0M3 8c0 2 10 2 10 0",
  transfer: "M5 13V3M2.5 5.500L5 3l2.5 2.500M11 3v10M8.5 10.500L11 13l2.5-2.5",
  settings: "M2.5 4.500h6M11.5 4.500h2M10 3v3M2.5 11.500h2M7.5 11.500h6M6 10v3",
  search: "M7 2.500a4.5 4.5 0 1 0 .1 0M10.3 10.300L14 14",
  undo: "M3 6.500h7a3 3 0 0 1 0 6H6M5.5 4L3 6.5 5.5 9",
  redo: "M13 6.500H6a3 3 0 0 0 0 6h4M10.5 4L13 6.5 10.5 9",
  theme: "M8 2.500a5.5 5.5 0 1 0 .1 0M8 2.500v11",
  help: "M5.8 6a2.2 2.2 0 1 1 3 2c-.6.3-.8.7-.8 1.500M8 12v.4",
  menu: "M2.5 4.500h11M2.5 8h11M2.5 11.500h11",
  close: "M4 4l8 8M12 4l-8 8",
  pin: "M6 2.500h4M7 2.500v4L4.5 9.500h7L9 6.500v-4M8 9.500V14",
  filter: "M2.5 4h11M4.5 8h7M6.5 12h3",
  back: "M9.5 3.500L5 8l4.5 4.5",
});

/**
 * Creates an icon, which screen readers skip.
 * @param {string} name
 */
function icon(name) {
  return s("svg", { class: "icon", viewBox: "0 0 16 16", "aria-hidden": "true" }, s("path", { d: ICONS[name] ?? "" }));
}

/**
 * Creates a button.
 * @param {string} label
 * @param {(event: any) => void} onclick
 * @param {{icon?: string, key?: string, kind?: string, title?: string, disabled?: boolean, hideLabel?: boolean, id?: string}} [options]
 */
function button(label, onclick, options = {}) {
  return h(
    "button",
    {
      type: "button",
      class: `button ${options.kind ?? ""}`,
      onclick,
      title: options.title,
      disabled: options.disabled,
      id: options.id,
      "aria-label": options.hideLabel ? label : undefined,
      "aria-keyshortcuts": options.key,
    },
    options.icon && icon(options.icon),
    !options.hideLabel && h("span", null, label),
    options.key && h("kbd", { "aria-hidden": "true" }, options.key),
  );
}

/**
 * Creates a label with the control below it.
 * @param {string} label
 * @param {any} control
 * @param {string} [note]
 */
function field(label, control, note) {
  return h(
    "label",
    { class: "field" },
    h("span", { class: "field-label" }, label),
    control,
    note && h("span", { class: "muted small" }, note),
  );
}

/**
 * Creates a list of choices.
 * @param {[string, string][]} choices value and label
 * @param {string} chosen
 * @param {Record<string, any>} [properties]
 */
function select(choices, chosen, properties) {
  return h(
    "select",
    properties ?? {},
    choices.map(([value, label]) => h("option", { value, selected: value === chosen }, label)),
  );
}

/**
 * Sets a custom property, for what only a number can say: a position or a width.
 * @param {any} element
 * @param {string} name
 * @param {string | number} value
 */
function setStyle(element, name, value) {
  element.style.setProperty(name, String(value));
  return element;
}

/** Says a sentence to screen readers. */
function announce(/** @type {string} */ sentence) {
  const live = document.getElementById("live");
  if (live) live.textContent = sentence;
}
