// The view of all memories: filters, a list or the results of a search, and the memory that is open.

/**
 * Makes the view.
 * @param {Route} route
 * @returns {View}
 */
function memoriesView(route) {
  let query = route.query;
  let isFirst = !query.toString() || (query.size === 1 && query.has("id"));
  /** @type {Facets | null} */
  let facets = isFirst ? boot.facets : null;
  /** @type {Set<string>} */
  const marked = new Set();
  /** @type {ReturnType<typeof makeDetail> | null} */
  let detail = null;
  const list = new VirtualList({
    label: "Memories",
    make: makeRow,
    need: (end) => feed.need(end),
    fill: (row, index) => {
      const memory = feed.at(index);
      row.classList.toggle("first-text", feed.best.length > 0 && index === feed.best.length);
      fillRow(row, memory, { words, isMarked: Boolean(memory) && marked.has(memory.id) });
    },
    choose: (index, how) => chosen(index, how),
  });
  const facetLists = h("div");
  const done = button("Show the list", closeFacets, { icon: "back", kind: "quiet facets-close" });
  const facetBox = h("aside", { class: "facets", "aria-label": "Filters", id: "facets" }, h("h2", { class: "unseen" }, "Filters"), done, facetLists);
  const status = h("p", { class: "list-status", role: "status" });
  const chips = h("div", { class: "chips" });
  const past = h("p", { class: "past small" });
  const bulk = h("div", { class: "bulk", hidden: true });
  const sort = select(
    [
      ["newest", "Newest"],
      ["oldest", "Oldest"],
      ["day", "By day"],
      ["used", "Most used"],
      ["confidence", "Confidence"],
    ],
    query.get("sort") ?? "newest",
    {
      "aria-label": "Order",
      onchange: (/** @type {any} */ event) => choose("sort", event.target.value === "newest" ? "" : event.target.value),
    },
  );
  const filters = button("Filters", () => element.classList.toggle("facets-open"), { icon: "filter", kind: "quiet filter-button" });
  const showNew = () => {
    list.element.scrollTop = 0;
  };
  const fresh = h("button", { type: "button", class: "button small-button fresh", hidden: true, onclick: showNew });
  const head = h(
    "div",
    { class: "list-head" },
    filters,
    status,
    fresh,
    sort,
    button("New", newMemory, { title: "Write a new memory (n)", kind: "small-button" }),
  );
  let newRows = 0;
  /** Tells how many rows have come above what is shown. */
  function tellNew() {
    if (list.element.scrollTop < list.rowHeight / 2) newRows = 0;
    fresh.hidden = newRows === 0;
    fresh.textContent = `${NUMBER.format(newRows)} new`;
  }
  list.element.addEventListener("scroll", () => newRows > 0 && tellNew());
  const listBox = h(
    "section",
    { class: "list-box", "aria-label": "List" },
    h("h1", { class: "unseen" }, "Memories"),
    head,
    chips,
    past,
    bulk,
    list.element,
  );
  const detailBox = h("section", { class: "detail-box", "aria-label": "Memory" });
  const element = h("div", { class: "memories" }, facetBox, listBox, detailBox);

  let words = queryWords(query.get("q") ?? "");
  let feed = newFeed();
  let facetsAsked = 0;

  function newFeed() {
    const made = new Feed(query, () => made === feed && drawList());
    return made;
  }

  /** Loads the list of the address. */
  function load() {
    words = queryWords(query.get("q") ?? "");
    marked.clear();
    if (isFirst && !asOf && boot.list) {
      isFirst = false;
      feed.begin(boot.list);
      // It is of the time when the page was loaded.
      boot.list = null;
      drawList();
    } else {
      for (const part of [list.element, facetBox]) part.setAttribute("aria-busy", "true");
      feed.load();
      loadFacets();
    }
    drawFacets();
  }

  async function loadFacets() {
    facetsAsked += 1;
    const asked = facetsAsked;
    try {
      const { type, scope, status: state, client, trust, flags, group, from_group, all_groups, text, date_from, date_to } = feed.filters;
      const found = await call("facets", {
        type,
        scope,
        status: state,
        client,
        trust,
        flags,
        group,
        from_group,
        all_groups,
        text,
        date_from,
        date_to,
      });
      if (asked !== facetsAsked) return;
      // No text contains the whole question: what the filters hold without it is more use.
      if (text && found.total === 0) Object.assign(found, await call("facets", { group, from_group, all_groups, status: state }));
      const isNew = found.project.some((/** @type {any} */ entry) => !boot.groups.some((group) => group.id === entry.value));
      if (isNew) boot.groups = (await call("groups")).groups;
      found.month.sort((/** @type {any} */ a, /** @type {any} */ b) => (a.value < b.value ? -1 : 1));
      facets = found;
      facetBox.removeAttribute("aria-busy");
      drawFacets();
    } catch (error) {
      tellFailure(error);
    }
  }

  function drawFacets() {
    // The button that closes the filters is not drawn again: counts that arrive while it is pressed would swallow the click.
    redraw(facetLists, facetsPanel(facets, query, choose));
    const names = FILTERS.filter((name) => name !== "sort" && query.get(name));
    const project = boot.groups.find((group) => group.id === query.get("project"))?.name;
    chips.replaceChildren(
      ...names.map((name) =>
        button(visibleString(`${name}: ${name === "project" ? (project ?? query.get(name)) : query.get(name)}`), () => choose(name, ""), {
          icon: "close",
          kind: "chip",
          title: "Remove this filter",
        }),
      ),
    );
    sort.value = query.get("sort") ?? "newest";
    sort.disabled = Boolean(query.get("q"));
  }

  /** Shows the list again where the filters have no room beside it. */
  function closeFacets() {
    element.classList.remove("facets-open");
    list.focus();
  }

  /** Changes one filter. */
  function choose(/** @type {string} */ name, /** @type {string} */ value) {
    if (!name) {
      drawFacets();
      return;
    }
    const changed = new URLSearchParams(query);
    if (value) changed.set(name, value);
    else changed.delete(name);
    if (name === "month") for (const day of ["from", "to"]) changed.delete(day);
    if (name === "from" || name === "to") changed.delete("month");
    changed.delete("id");
    go(address("memories", "", changed));
  }

  function drawList() {
    list.element.removeAttribute("aria-busy");
    placeActive(query.get("id") ?? "");
    const best = feed.best.length;
    const rest = Math.max(0, feed.total - feed.hidden());
    const sentence = !feed.text
      ? memoriesOf(feed.total)
      : rest === 0
        ? `${counted(best, "best result")}`
        : `${best} best, ${NUMBER.format(rest)} more with these words`;
    status.textContent =
      feed.failure ||
      (feed.text && best + rest === 0 ? "Nothing found" : sentence + (feed.isWeak && best > 0 ? "; none is likely an answer" : ""));
    past.textContent = feed.past ? `As known on ${longTime(asOf)}. ${feed.past.note ?? ""}` : "";
    status.title = feed.note;
    status.classList.toggle("failed", Boolean(feed.failure));
    drawBulk();
    explainDetail();
  }

  /** Keeps the active row on its memory, also when others come before it, and the focus on it. */
  function placeActive(/** @type {string} */ id) {
    const hasFocus = document.activeElement?.classList.contains("row");
    const current = list.active >= 0 ? feed.at(list.active) : undefined;
    const waits = list.active >= 0 && list.active < feed.length() && !current;
    if (!waits && !awaited && id && current?.id !== id) {
      const at = feed.indexOf(id);
      if (at >= 0) list.setActive(at);
    }
    list.show(feed.length());
    if (hasFocus && list.active >= 0) list.rows.get(list.active)?.focus({ preventScroll: true });
    if (awaited && current) chosen(list.active, awaited);
    awaited = waits ? awaited || "move" : "";
    const active = document.activeElement;
    if (focusFrom === "anywhere" || (focusFrom === "nothing" && active === document.body)) list.focus();
    focusFrom = "";
  }
  /** Whether the list gets the focus when it has rows: after a search was sent, or unless the person has gone to something else. */
  let focusFrom = /** @type {"" | "nothing" | "anywhere"} */ ("");

  /** Gives the focus to the list, now or when it is there. */
  function focusRows(/** @type {"nothing" | "anywhere"} */ from) {
    const isThere = !list.element.hasAttribute("aria-busy") && list.focus();
    if (!isThere) focusFrom = from;
    return isThere || list.element.hasAttribute("aria-busy");
  }
  /** How the active row was chosen, while its memory is still being read. */
  let awaited = "";

  function drawBulk() {
    bulk.hidden = marked.size === 0;
    if (marked.size === 0) return;
    bulk.replaceChildren(
      ...bulkTools([...marked], () => {
        marked.clear();
        drawList();
      }),
    );
  }

  /** A row became the active one, or the person opens it. */
  function chosen(/** @type {number} */ index, /** @type {string} */ how) {
    clearTimeout(opening);
    const memory = feed.at(index);
    awaited = memory ? "" : how;
    if (!memory) return;
    const isWide = matchMedia("(min-width: 1000px)").matches;
    if (how === "move" && !isWide) return;
    const changed = new URLSearchParams(query);
    changed.set("id", memory.id);
    const to = address("memories", "", changed);
    if (!isWide) {
      go(to);
    } else {
      replaceAddress(to);
      query = changed;
      opening = setTimeout(showDetail, how === "move" ? 60 : 0);
      focusDetail = how === "enter";
    }
  }
  let opening = 0;
  let focusDetail = false;

  /** Shows the memory of the address beside the list. */
  function showDetail() {
    const id = query.get("id") ?? "";
    element.classList.toggle("has-detail", Boolean(id));
    if (detail?.id !== id) {
      detail?.close();
      detail = id ? makeDetail(id, { back: closeDetail }) : null;
      detailBox.replaceChildren(
        detail?.element ??
          h(
            "div",
            { class: "empty" },
            h("p", null, "Choose a memory to read it."),
            h("p", { class: "muted" }, "j and k move, Enter reads, e edits, ? lists all keys."),
          ),
      );
    }
    const at = explainDetail();
    if (id && at >= 0) list.setActive(at);
    if (focusDetail) detail?.focus();
    focusDetail = false;
  }

  /** Tells why the open memory was found; returns its row, or -1. */
  function explainDetail() {
    const at = feed.indexOf(query.get("id") ?? "");
    detail?.explain(at >= 0 ? feed.at(at) : undefined, words);
    return at;
  }

  function closeDetail() {
    const changed = new URLSearchParams(query);
    changed.delete("id");
    go(address("memories", "", changed));
    list.focus();
  }

  /** The memory that keys act on: the open one, also while it is still being read; without one that of the active row. */
  function current() {
    const id = query.get("id");
    if (!id) return list.active >= 0 ? feed.at(list.active) : undefined;
    return detail?.id === id && detail.memory ? detail.memory : feed.at(feed.indexOf(id));
  }
  const about = (/** @type {(memory: any) => any} */ act) => () => {
    const memory = current();
    if (memory) act(memory);
  };
  /** Moves; if the open memory has left the list, the next one is at its place already. */
  const step = (/** @type {number} */ by) => () => {
    const id = query.get("id");
    const hasLeft = by > 0 && id && list.active >= 0 && feed.at(list.active)?.id !== id && feed.indexOf(id) < 0;
    list.move(hasLeft ? list.active : list.active + by);
  };

  load();
  showDetail();
  return {
    element,
    update(/** @type {Route} */ next) {
      const before = new URLSearchParams(query);
      const after = new URLSearchParams(next.query);
      query = next.query;
      before.delete("id");
      after.delete("id");
      if (before.toString() !== after.toString()) {
        feed.close();
        focusFrom = list.element.contains(document.activeElement) ? "anywhere" : "";
        list.active = -1;
        list.element.scrollTop = 0;
        newRows = 0;
        tellNew();
        feed = newFeed();
        load();
      }
      showDetail();
      return true;
    },
    async refresh() {
      loadFacets();
      detail?.refresh();
      const [first, last] = list.range();
      const visible = [];
      for (let index = first; index < last; index += 1) visible.push(feed.at(index));
      const added = await feed.refresh(visible);
      const isHeld = list.element.matches(":hover") || list.element.contains(document.activeElement);
      if (added === 0 || !(isHeld || list.element.scrollTop > list.rowHeight)) return;
      list.element.scrollTop += added * list.rowHeight;
      newRows += added;
      tellNew();
    },
    close() {
      feed.close();
      list.close();
      detail?.close();
    },
    focus: () => focusRows("nothing"),
    focusList: () => focusRows("anywhere"),
    escape: () => {
      if (element.classList.contains("facets-open")) closeFacets();
      else if (query.get("id") && !matchMedia("(min-width: 1000px)").matches) closeDetail();
    },
    keys: [
      ["j", "Next memory", step(1)],
      ["k", "Previous memory", step(-1)],
      [
        "Enter",
        "Read the memory",
        () => {
          focusDetail = true;
          showDetail();
        },
      ],
      ["e", "Edit", about(editMemory)],
      ["p", "Pin or unpin", about(pinMemory)],
      ["x", "Forget, or restore", about(forgetMemory)],
      ["c", "Confirm", about(confirmMemory)],
      ["r", "Restore", about(restoreMemory)],
      ["s", "Supersede by another", about(supersedeMemory)],
      ["o", "Open its graph", about((memory) => go(address("graph", memory.id)))],
      [
        " ",
        "Mark for several at once",
        () => {
          const memory = list.active >= 0 ? feed.at(list.active) : undefined;
          if (!memory) return;
          if (!marked.delete(memory.id)) marked.add(memory.id);
          drawList();
        },
      ],
      ["m", "Merge the two marked memories", () => marked.size === 2 && mergeMemories(.../** @type {[string, string]} */ ([...marked]))],
      [
        "f",
        "Show the filters",
        () => {
          element.classList.add("facets-open");
          facetBox.querySelector("button")?.focus();
        },
      ],
    ],
  };
}
