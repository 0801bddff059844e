// Asks the daemon: verbs, status, streams. A failure carries what went wrong and the next step.

/** A refused or failed request. */
class RequestFailed extends Error {
  /** @param {Failure} failure @param {number} status */
  constructor(failure, status) {
    super(failure.message);
    this.failure = failure;
    this.status = status;
  }

  /** Returns message and next step as sentences. */
  sentence() {
    const { field: name, message, hint } = this.failure;
    const first = name ? `${name} ${message}` : message;
    const end = (/** @type {string} */ text) => (/[.!?]$/.test(text) ? text : `${text}.`);
    return hint ? `${end(first)} ${end(hint)}` : end(first);
  }
}

/**
 * What the page began with: the session, the projects, the first page of the list and its counts.
 * @type {Boot}
 */
let boot;

/** The name under which this browser keeps the key of the page for its other tabs and for a reload. */
const KEY_NAME = "key";

/** The key of this page; every request needs it. It is read once: that of a later viewer at this address is not for this page. */
let key = "";

/**
 * Takes the first data from the document, or asks for them if the page was loaded again; returns false if it is not signed in.
 * @returns {Promise<boolean>}
 */
async function loadBoot() {
  const given = JSON.parse(document.getElementById("boot")?.textContent ?? "null");
  if (given) {
    key = given.key ?? "";
    kept.write(KEY_NAME, key);
    boot = given;
  } else {
    key = kept.read(KEY_NAME);
    if (!key) {
      showSignedOut("This link was used already.");
      return false;
    }
    try {
      boot = await get("/api/boot");
    } catch (error) {
      showSignedOut(sentenceOf(error));
      return false;
    }
  }
  // The link with the token works once; this address can be loaded again.
  if (location.pathname !== "/") history.replaceState(null, "", `/${location.hash}`);
  boot.facets.month.sort((a, b) => (a.value < b.value ? -1 : 1));
  return true;
}

/** The moment that is looked at; empty means now. */
let asOf = "";

const TIMED_VERBS = new Set(["list", "recall_memory", "memory_inspect", "facets"]);

/**
 * Sends a request; returns the response if it succeeded.
 * @param {string} path
 * @param {RequestInit & {headers?: Record<string, string>}} [options]
 */
async function request(path, options = {}) {
  // Without a proof, what answers may be another program: it gets nothing that the person wrote.
  if (boot) await waitForProof();
  /** @type {Response} */
  let response;
  try {
    const headers = { ...options.headers, "Loci-View-Key": key };
    response = await fetch(path, { credentials: "same-origin", redirect: "error", ...options, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new RequestFailed({ code: "unreachable", message: "The daemon does not answer", hint: "Run loci view again" }, 0);
  }
  if (response.ok) return response;
  if (response.status === 401) {
    if (boot) endPage("Signed out");
    throw new RequestFailed({ code: "signed_out", message: "This page is no longer signed in", hint: "Run loci view again" }, 401);
  }
  const text = await response.text();
  /** @type {Failure} */
  let failure = { code: "internal", message: text.trim().slice(0, 200) || `The daemon answered ${response.status}` };
  try {
    const parsed = JSON.parse(text);
    if (typeof parsed?.message === "string") failure = parsed;
  } catch {
    // Not JSON: the text says what it is.
  }
  throw new RequestFailed(failure, response.status);
}

/**
 * Calls a verb.
 * @param {string} verb
 * @param {Record<string, any>} [parameters]
 * @param {{long?: boolean, signal?: AbortSignal, shown?: any[]}} [options]
 * @returns {Promise<any>}
 */
async function call(verb, parameters = {}, options = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== "");
  if (asOf && TIMED_VERBS.has(verb)) given.push(["as_of", asOf]);
  const response = await request(`/api/${options.long ? "long" : "verbs"}/${verb}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ session: { ...boot.session, shown: shownOf(options.shown) }, arguments: Object.fromEntries(given) }),
    signal: options.signal,
  });
  return response.json();
}

/** Asks a route that only reads. */
async function get(/** @type {string} */ path) {
  return (await request(path)).json();
}

/** The projects by which calls must name memories that the own project does not see; by id of the memory. */
const projectOfMemory = new Map();

/**
 * Returns the project by which a call must name this memory, or undefined.
 * @param {string} id
 * @returns {Promise<string | undefined>}
 */
async function projectFor(id) {
  if (projectOfMemory.has(id)) return projectOfMemory.get(id);
  const { memories } = await call("find", { part: id });
  const found = memories.find((/** @type {any} */ memory) => memory.id === id);
  const project = found && !found.visible ? found.group_id : undefined;
  if (found) projectOfMemory.set(id, project);
  return project;
}

/**
 * Calls a verb about one memory, and names the project that it is in where that is needed.
 * @param {string} verb
 * @param {string} id
 * @param {Record<string, any>} parameters
 * @param {any[]} [shown] the memories whose texts the person decides about
 */
async function callAbout(verb, id, parameters, shown) {
  return call(verb, { ...parameters, group: await projectFor(id) }, { shown });
}

/** The versions of memories that the person sees: nothing is done to another text. */
function shownOf(/** @type {any[] | undefined} */ memories) {
  const versions = (memories ?? []).filter((memory) => memory.version).map((memory) => [memory.id, memory.version]);
  return versions.length > 0 ? Object.fromEntries(versions) : undefined;
}

/** Returns the sentence that tells an error to a person. */
function sentenceOf(/** @type {unknown} */ error) {
  if (error instanceof RequestFailed) return error.sentence();
  return error instanceof Error ? error.message : String(error);
}

/** Returns true if a request was given up by this page. */
function isAborted(/** @type {unknown} */ error) {
  return error instanceof DOMException && error.name === "AbortError";
}
