// Starts the page when all parts are defined; their order in the page does not matter.

async function start() {
  setTheme(kept.read("theme"));
  if (await isControlled()) return;
  if (!(await loadBoot())) return;
  buildShell();
  buildTimeTravel();
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", showRoute);
  acceptDroppedFiles();
  listen();
  showRoute();
  countReviews();
}

/** A service worker of an earlier program at this address sees and changes every request: it is removed, and nothing is sent. */
async function isControlled() {
  if (!navigator.serviceWorker?.controller) return false;
  const next = h("p", null, "Run ", h("code", null, "loci view"), " without --port and open its link.");
  showEnd("Another program controls this address", next);
  const workers = await navigator.serviceWorker.getRegistrations().catch(() => []);
  await Promise.allSettled(workers.map((worker) => worker.unregister()));
  return true;
}

document.addEventListener("DOMContentLoaded", start);
