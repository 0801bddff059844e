// Time travel: shows the store as it was known at an earlier time, by a slider of days and a field for the exact time. Hidden while the daemon
// cannot answer about the past.

/** Time after the last move before the past is asked, in milliseconds. */
const SLIDE_MS = 250;
const DAY_MS = 86_400_000;

function buildTimeTravel() {
  const box = document.getElementById("time-travel");
  if (!boot.time_travel || !box) return;
  const oldest = Date.parse(`${boot.facets.month[0]?.value ?? dayKey(new Date().toISOString()).slice(0, 7)}-01T00:00:00`);
  const days = Math.max(1, Math.floor((Date.now() - oldest) / DAY_MS));
  let timer = 0;
  const slider = h("input", {
    id: "as-of",
    type: "range",
    min: "0",
    max: String(days),
    value: String(days),
    "aria-label": "Show the store as it was known on a day",
    "aria-valuetext": "now",
    oninput: () => travel(Number(slider.value) >= days ? Infinity : oldest + (Number(slider.value) + 1) * DAY_MS - 1000),
  });
  const exact = h("input", {
    type: "datetime-local",
    step: "1",
    "aria-label": "Show the store as it was known at this time",
    onchange: () => travel(Date.parse(exact.value)),
  });
  const back = button("Now", () => travel(Infinity), { kind: "small-button" });
  const since = button("What changed since", () => go(address("changes", "", { since: asOf })), { kind: "small-button" });
  box.append(icon("history"), slider, exact, back, since);
  show();

  /** Writes the time that is shown into both fields. */
  function show() {
    const time = asOf ? new Date(asOf) : null;
    const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
    exact.value = time ? `${dayKey(asOf)}T${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}` : "";
    slider.value = String(time ? Math.floor((time.getTime() - oldest) / DAY_MS) : days);
    slider.setAttribute("aria-valuetext", time ? MOMENT.format(time) : "now");
    for (const part of [back, since]) part.hidden = !time;
    document.body.classList.toggle("in-the-past", Boolean(time));
  }

  /** Goes to a time; what is not in the past is now. */
  function travel(/** @type {number} */ to) {
    asOf = to < Date.now() ? new Date(to).toISOString() : "";
    show();
    clearTimeout(timer);
    timer = setTimeout(() => {
      shown.view?.close?.();
      shown.view = null;
      showRoute();
      announce(asOf ? `As known on ${longTime(asOf)}` : "Now");
    }, SLIDE_MS);
  }
}
