// Time travel: a slider that shows the store as it was. Hidden while the daemon cannot answer about the past.

/** Time after the last move before the past is asked, in milliseconds. */
const SLIDE_MS = 200;

function buildTimeTravel() {
  const box = document.getElementById("time-travel");
  if (!boot.time_travel || !box) return;
  const oldest = Date.parse(`${boot.facets.month[0]?.value ?? dayKey(new Date().toISOString()).slice(0, 7)}-01`);
  const days = Math.max(1, Math.ceil((Date.now() - oldest) / 86_400_000));
  const told = h("output", { for: "as-of" }, "now");
  let timer = 0;
  const slider = h("input", {
    id: "as-of",
    type: "range",
    min: "0",
    max: String(days),
    value: String(days),
    "aria-label": "Show the store as it was on a day",
    oninput: () => slide(),
  });
  const back = button(
    "Now",
    () => {
      slider.value = String(days);
      slide();
      slider.focus();
    },
    { kind: "small-button" },
  );
  back.hidden = true;
  function slide() {
    const day = Number(slider.value);
    asOf = day >= days ? "" : new Date(oldest + (day + 1) * 86_400_000 - 1000).toISOString();
    told.textContent = asOf ? DAY.format(Date.parse(asOf)) : "now";
    slider.setAttribute("aria-valuetext", told.textContent);
    back.hidden = !asOf;
    since.hidden = !asOf;
    document.body.classList.toggle("in-the-past", Boolean(asOf));
    clearTimeout(timer);
    timer = setTimeout(() => {
      shown.view?.close?.();
      shown.view = null;
      showRoute();
    }, SLIDE_MS);
  }
  const since = button("What changed since", () => go(address("changes", "", { since: asOf })), { kind: "small-button" });
  since.hidden = true;
  box.append(icon("history"), slider, told, back, since);
}
