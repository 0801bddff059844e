// Starts the page when all parts are defined; their order in the page does not matter.

async function start() {
  setTheme(kept.read("theme"));
  if (!(await loadBoot())) return;
  buildShell();
  buildTimeTravel();
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", showRoute);
  acceptDroppedFiles();
  showRoute();
  listen();
  countReviews();
}

document.addEventListener("DOMContentLoaded", start);
