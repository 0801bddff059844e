// Changes that others make while the page is open: server-sent events tell that the store has changed, and the view asks again.

/** Time in which several changes are shown at once, in milliseconds. */
const GATHER_MS = 200;
/** Least time between two refreshes, and between two counts of what waits for review, in milliseconds. */
const REFRESH_MS = 1000;
const COUNT_MS = 5000;

const live = { timer: 0, refreshedAt: 0, countedAt: 0, isWaiting: false, source: /** @type {EventSource | null} */ (null) };

/** Begins to listen. */
function listen() {
  const source = new EventSource("/api/events");
  live.source = source;
  source.addEventListener("change", storeChanged);
  source.onopen = () => {
    if (live.isWaiting) storeChanged();
    live.isWaiting = false;
    setConnection("live", "Live: changes of agents appear here");
  };
  source.onerror = () => {
    live.isWaiting = true;
    setConnection("lost", "No connection to the daemon; trying again");
    if (source.readyState === EventSource.CLOSED)
      get("/api/status").then(
        () => setTimeout(listen, 2000),
        () => setTimeout(listen, 5000),
      );
  };
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden && live.isWaiting) storeChanged();
  });
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
