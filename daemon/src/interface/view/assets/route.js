// The address of a view: `#/memories?type=semantic&q=postgres`. Everything that is shown is in it, so back and reload work.

/** @typedef {{view: string, id: string, query: URLSearchParams}} Route */

/**
 * The views, in the order of the navigation: title, key after `g`, and what makes it.
 * @type {Record<string, {title: string, key: string, make: (route: Route) => View, hidden?: boolean}>}
 */
const VIEWS = {
  memories: { title: "Memories", key: "m", make: (route) => memoriesView(route) },
  memory: { title: "Memory", key: "", make: (route) => memoryView(route), hidden: true },
  review: { title: "Review", key: "r", make: (route) => reviewView(route) },
  graph: { title: "Graph", key: "g", make: (route) => graphView(route) },
  timeline: { title: "Timeline", key: "t", make: (route) => timelineView(route) },
  sessions: { title: "Sessions", key: "s", make: (route) => sessionsView(route) },
  history: { title: "History", key: "h", make: (route) => historyView(route) },
  changes: { title: "What changed", key: "d", make: (route) => changesView(route), hidden: true },
  maintenance: { title: "Maintenance", key: "c", make: () => maintenanceView() },
  backups: { title: "Health", key: "b", make: () => backupsView() },
  transfer: { title: "Import & export", key: "i", make: () => transferView() },
  settings: { title: "Settings", key: "o", make: (route) => settingsView(route) },
};

/** Reads the address of the page. */
function readRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const [view, ...rest] = path.split("/");
  const known = Object.hasOwn(VIEWS, view) ? view : "memories";
  let id = rest.join("/");
  try {
    id = decodeURIComponent(id);
  } catch {
    id = "";
  }
  return { view: known, id, query: new URLSearchParams(query) };
}

/**
 * Writes the address of a view.
 * @param {string} view
 * @param {string} [id]
 * @param {URLSearchParams | Record<string, string>} [query]
 */
function address(view, id = "", query = {}) {
  const parameters = new URLSearchParams(query);
  for (const [name, value] of [...parameters]) if (!value) parameters.delete(name);
  const text = parameters.toString();
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${text ? `?${text}` : ""}`;
}

/** Goes to an address; the one before stays in the history of the browser. */
function go(/** @type {string} */ to) {
  if (location.hash === to) showRoute();
  else location.hash = to;
}

/** Changes the address without a step in the history of the browser. */
function replaceAddress(/** @type {string} */ to) {
  if (location.hash === to) return;
  history.replaceState(null, "", to);
  shown.route = readRoute();
  document.dispatchEvent(new CustomEvent("address"));
}

/** What is shown now. */
const shown = { route: readRoute(), view: /** @type {View | null} */ (null), name: "" };

/** Shows the view of the address. */
function showRoute() {
  const route = readRoute();
  shown.route = route;
  document.dispatchEvent(new CustomEvent("address"));
  if (shown.view && shown.name === route.view && shown.view.update?.(route)) return;
  shown.view?.close?.();
  const isFirst = shown.view === null;
  const view = VIEWS[route.view].make(route);
  shown.view = view;
  shown.name = route.view;
  const main = /** @type {HTMLElement} */ (document.getElementById("main"));
  main.className = `main view-${route.view}`;
  main.replaceChildren(view.element);
  document.title = `${VIEWS[route.view].title} · loci`;
  main.scrollTop = 0;
  if (!isFirst) {
    announce(VIEWS[route.view].title);
    if (!isTyping()) (view.focus ?? (() => main.focus()))();
  }
}

/** Shows again what is shown, with what the store holds now. */
function refreshView() {
  shown.view?.refresh?.();
}

/** Returns true if the person writes in a field. */
function isTyping() {
  const active = document.activeElement;
  return active instanceof HTMLInputElement
    ? !["checkbox", "radio", "range", "button"].includes(active.type)
    : active instanceof HTMLTextAreaElement || active instanceof HTMLSelectElement;
}
