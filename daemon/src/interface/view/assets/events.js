// Changes that others make while the page is open: server-sent events tell that the store has changed, and the view asks again.

/** Time in which several changes are shown at once, in milliseconds. */
const GATHER_MS = 200;
/** Least time between two refreshes, and between two counts of what waits for review, in milliseconds. */
const REFRESH_MS = 1000;
const COUNT_MS = 5000;

/** Time until a broken stream is opened again, a page gives up waiting for a proof, and another tab should have answered, in milliseconds. */
const AGAIN_MS = 1500;
const PROOF_MS = 10_000;
const TAB_MS = 3000;

const live = { timer: 0, refreshedAt: 0, countedAt: 0, isWaiting: false, source: /** @type {EventSource | null} */ (null) };

/**
 * What is known of the server: `unproved` until it has shown that it knows the secret of this page, `lost` from the moment the stream
 * breaks, `ended` if it is another program or does not know this page.
 */
const server = {
  state: /** @type {"unproved" | "proved" | "lost" | "ended"} */ ("unproved"),
  reason: "",
  waiting: /** @type {(() => void)[]} */ ([]),
};

/** Waits for the proof at the start of the page; fails if there is no connection. */
async function waitForProof() {
  if (server.state === "unproved" && boot.proof_secret) {
    await new Promise((resolve) => {
      server.waiting.push(() => resolve(null));
      setTimeout(resolve, PROOF_MS);
    });
  }
  if (server.state === "proved" || !boot.proof_secret) return;
  if (server.state === "ended") throw new RequestFailed({ code: "signed_out", message: server.reason, hint: "Run loci view again" }, 401);
  const hint = "What you wrote stays here. Wait for the connection, or run loci view again if it has ended";
  throw new RequestFailed({ code: "unreachable", message: "No connection to the daemon", hint }, 0);
}

/** Returns the SHA-256 of a text in hexadecimal digits. */
async function sha256(/** @type {string} */ text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Begins to listen. A browser opens few connections to one server, so of all tabs only one keeps the stream, and tells the others. Their
 * channel has a name that only pages of this viewer know.
 */
async function listen() {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && live.isWaiting) storeChanged();
  });
  if (!boot.proof_secret || !navigator.locks) {
    openStream(() => {});
    return;
  }
  const channel = new BroadcastChannel(await sha256(`channel:${boot.proof_secret}`));
  let isOwner = false;
  let isHeard = false;
  channel.onmessage = ({ data }) => {
    if (isOwner && data === "hello") channel.postMessage(server.state);
    if (isOwner || data === "hello") return;
    isHeard = true;
    hear(data);
  };
  navigator.locks.request(await sha256(`lock:${boot.proof_secret}`), () => {
    isOwner = true;
    if (!live.source) openStream((message) => channel.postMessage(message));
    return new Promise(() => {});
  });
  channel.postMessage("hello");
  // The tab that has the stream may be stopped by the browser.
  setTimeout(() => {
    if (!isHeard && !isOwner && !live.source) openStream(() => {});
  }, TAB_MS);
}

/** Takes what the stream, or the tab that has it, tells. */
function hear(/** @type {string} */ message) {
  if (server.state === "ended") return;
  if (message === "change") storeChanged();
  else if (message === "proved") becomeLive();
  else if (message === "lost") becomeLost();
  else if (message.startsWith("ended:")) endPage(message.slice(6));
}

/** Opens the stream, and again when it breaks, each time with a new question to the server. */
function openStream(/** @type {(message: string) => void} */ tell) {
  const numbers = crypto.getRandomValues(new Uint8Array(16));
  const nonce = [...numbers].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const path = `/api/events?nonce=${nonce}`;
  const source = new EventSource(path);
  live.source = source;
  let isProved = false;
  const pass = (/** @type {string} */ message) => {
    hear(message);
    tell(message);
  };
  source.addEventListener("change", () => isProved && pass("change"));
  source.addEventListener("proof", async (event) => {
    const right = boot.proof_secret && (await sha256(`${boot.proof_secret}:${nonce}`));
    if (source.readyState === EventSource.CLOSED) return;
    if (right && right !== proofOf(event.data)) {
      source.close();
      pass("ended:Another program answers at this address");
      return;
    }
    isProved = true;
    pass("proved");
  });
  source.onopen = () => {
    if (boot.proof_secret) return;
    isProved = true;
    pass("proved");
  };
  source.onerror = async () => {
    source.close();
    pass("lost");
    if (await isSignedOut(path)) pass("ended:Signed out");
    else setTimeout(() => server.state !== "ended" && openStream(tell), AGAIN_MS);
  };
}

function proofOf(/** @type {string} */ data) {
  try {
    return JSON.parse(data).proof;
  } catch {
    return "";
  }
}

/** Asks without the key whether the server does not know this page any more. */
async function isSignedOut(/** @type {string} */ path) {
  const aborter = new AbortController();
  try {
    const response = await fetch(path, { credentials: "same-origin", redirect: "error", signal: aborter.signal });
    return response.status === 401;
  } catch {
    return false;
  } finally {
    aborter.abort();
  }
}

function becomeLive() {
  server.state = "proved";
  for (const go of server.waiting.splice(0)) go();
  if (live.isWaiting) storeChanged();
  live.isWaiting = false;
  setConnection("live", "Live: changes of agents appear here");
}

function becomeLost() {
  server.state = "lost";
  for (const go of server.waiting.splice(0)) go();
  live.isWaiting = true;
  setConnection("lost", "No connection to the daemon; trying again");
}

/** Ends the page for good. */
function endPage(/** @type {string} */ reason) {
  if (server.state === "ended") return;
  server.state = "ended";
  server.reason = reason;
  for (const go of server.waiting.splice(0)) go();
  live.source?.close();
  setConnection("lost", reason);
  if (reason === "Signed out") showSignedOut("");
  else showEnd(reason, [h("p", null, "It is not the loci view of this page, so the page sends nothing to it."), nextLink()]);
}

/** Shows the store as it is now, at most a few times a second, and only while the page is visible. */
function storeChanged() {
  clearTimeout(live.timer);
  if (document.hidden) {
    live.isWaiting = true;
    return;
  }
  live.timer = setTimeout(
    () => {
      live.isWaiting = false;
      live.refreshedAt = Date.now();
      refreshView();
      if (Date.now() - live.countedAt < COUNT_MS) return;
      live.countedAt = Date.now();
      countReviews();
    },
    Math.max(GATHER_MS, live.refreshedAt + REFRESH_MS - Date.now()),
  );
}

function setConnection(/** @type {string} */ state, /** @type {string} */ sentence) {
  const dot = document.getElementById("connection");
  if (!dot) return;
  dot.className = `connection ${state}`;
  dot.setAttribute("aria-label", sentence);
  dot.title = sentence;
}
