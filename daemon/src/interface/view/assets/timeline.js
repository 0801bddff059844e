// What a project's memories tell, day by day: the day is that of the event, otherwise that of storing.

/** @returns {View} */
function timelineView(/** @type {Route} */ route) {
  const project = route.id || (boot.project?.id ?? boot.groups.toSorted((a, b) => b.active - a.active)[0]?.id ?? "");
  const month = route.query.get("month") ?? "";
  const choice = projectSelect(project, "All projects");
  choice.setAttribute("aria-label", "Project");
  choice.addEventListener("change", () => go(address("timeline", choice.value || "all")));
  const isAll = project === "all" || !project;
  const scope = { group: isAll ? "" : project, from_group: isAll ? undefined : true, all_groups: isAll ? true : undefined, status: "all" };
  /** @type {any[]} */
  let later = [];
  /** @type {number | undefined} */
  let next;
  const days = h("div", { class: "timeline" });
  const more = button("Older", () => loadMore(), { kind: "older" });
  const observer = new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && loadMore(), {
    rootMargin: "600px",
  });
  observer.observe(more);
  let isLoading = false;

  const page = (/** @type {number | undefined} */ before) =>
    call("list", {
      ...scope,
      sort: "day",
      before,
      limit: 100,
      text_chars: 300,
      date_to: month && lastDayOf(month),
      date_from: undefined,
    });

  async function loadMore() {
    if (isLoading || next === undefined) return;
    isLoading = true;
    try {
      const reply = await page(next);
      later.push(...reply.memories);
      next = reply.next;
      more.hidden = next === undefined;
      addDays(days, reply.memories);
    } catch (error) {
      tellFailure(error);
    }
    isLoading = false;
  }

  return pageView("Timeline", {
    tools: choice,
    ask: async () => {
      const [facets, first] = await Promise.all([call("facets", scope), page(undefined)]);
      facets.month.sort((/** @type {any} */ a, /** @type {any} */ b) => (a.value < b.value ? -1 : 1));
      return { months: facets.month, first };
    },
    draw: ({ months, first }) => {
      later = [];
      next = first.next;
      more.hidden = next === undefined;
      days.replaceChildren();
      addDays(days, first.memories);
      if (first.memories.length === 0) days.append(nothing("Nothing is stored in this project."));
      return [monthColumns(months, month, isAll ? "all" : project), days, more];
    },
    close: () => observer.disconnect(),
    update: () => false,
    keys: [
      ["j", "Next memory", () => moveLink(1)],
      ["k", "Previous memory", () => moveLink(-1)],
    ],
  });
}

/** Moves the focus through the memories of the timeline. */
function moveLink(/** @type {number} */ by) {
  const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#main .event a")]);
  const at = links.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const next = links[Math.max(0, Math.min(links.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** The months as columns, each leads to its days. */
function monthColumns(/** @type {{value: string, count: number}[]} */ months, /** @type {string} */ chosen, /** @type {string} */ project) {
  const latest = withGaps(months).slice(-36);
  const most = Math.max(1, ...latest.map((entry) => entry.count));
  const columns = latest.map((entry) =>
    h(
      "li",
      null,
      h(
        "a",
        {
          class: "month",
          href: address("timeline", project, { month: entry.value }),
          "aria-current": entry.value === chosen ? "true" : undefined,
          title: `${monthName(entry.value)}: ${memoriesOf(entry.count)}`,
        },
        setStyle(h("span", { "aria-hidden": "true" }), "height", entry.count === 0 ? "0" : `${Math.max(3, (entry.count / most) * 100)}%`),
        h("span", { class: "unseen" }, `${monthName(entry.value)}, ${memoriesOf(entry.count)}`),
      ),
    ),
  );
  return h(
    "nav",
    { class: "months-wide card", "aria-label": "Months" },
    h("ul", null, columns),
    h(
      "p",
      { class: "months-ends muted small", "aria-hidden": "true" },
      h("span", null, latest[0]?.value),
      chosen && h("strong", null, `up to ${monthName(chosen)}`),
      h("span", null, latest.at(-1)?.value),
    ),
  );
}

/** Adds memories under the headings of their days. */
function addDays(/** @type {any} */ days, /** @type {any[]} */ memories) {
  for (const memory of memories) {
    const key = dayKey(memory.event_date ?? memory.event_date_derived ?? memory.created_at);
    // The daemon sorts by days of UTC, so days of this time zone overlap a little.
    let day = days.lastElementChild;
    while (day?.dataset.day < key) day = day.previousElementSibling;
    if (day?.dataset.day !== key) {
      const made = h("section", { class: "day", "data-day": key }, h("h2", null, dayName(key)), h("ul", null));
      if (day) day.after(made);
      else days.prepend(made);
      day = made;
    }
    const isInactive = memory.status !== "active" && memory.status !== "candidate";
    day.lastElementChild.append(
      h(
        "li",
        { class: `event ${isInactive ? "inactive" : ""}` },
        h("a", { href: address("memory", memory.id) }, visibleText(oneLine(memory.content ?? memory.preview))),
        h(
          "p",
          { class: "small muted" },
          typeMark(memory.type),
          h("span", { class: "row-marks" }, marksOf(memory)),
          h("span", null, `${storedBy(memory)} · `, timeOf(memory.created_at)),
        ),
      ),
    );
  }
}
