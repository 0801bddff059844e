// Starts the page when all parts are defined; their order in the page does not matter.

function start() {
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
