// What waits for a person: wishes of agents, pairs that look like two versions of one fact, candidates, flagged memories, imports.

/** Pairs that are looked for at once. */
const PAIRS = 20;

/** Counts what waits, for the navigation. */
async function countReviews() {
  try {
    const { wishes, candidates, flagged, imported } = await countWaiting({ all_groups: true });
    const all = wishes + candidates + flagged + imported;
    setBadge("review", all > 999 ? "999+" : all);
  } catch {
    setBadge("review", 0);
  }
}

/** Counts the memories behind each tab. */
async function countWaiting(/** @type {Record<string, any>} */ scope) {
  const count = async (/** @type {Record<string, any>} */ filter) => (await call("list", { ...scope, ...filter, limit: 1 })).total;
  const [wishes, candidates, flagged, imported] = await Promise.all([
    count({ wished: true, status: "all" }),
    count({ status: "candidate" }),
    count({ flags: true, status: "all" }),
    count({ trust: "import" }),
  ]);
  return { wishes, candidates, flagged, imported };
}

/** Finds pairs in the projects of the store, as far as the first page of each. */
async function findPairs(/** @type {string} */ project, /** @type {boolean} */ all) {
  const groups = project
    ? [project]
    : [
        undefined,
        ...boot.groups
          .filter((group) => !group.off)
          .slice(0, 8)
          .map((group) => group.id),
      ];
  const pairs = new Map();
  let examined = 0;
  for (const group of groups) {
    let before;
    for (let page = 0; page < 8 && pairs.size < PAIRS; page += 1) {
      const reply = await call("review", { limit: PAIRS, group, before, all: all || undefined });
      examined += reply.examined;
      for (const pair of reply.pairs) pairs.set(`${pair.newer.id} ${pair.older.id}`, { ...pair, group });
      before = reply.next;
      if (before === undefined) break;
    }
  }
  const found = [...pairs.values()];
  const ids = [...new Set(found.flatMap((pair) => [pair.newer.id, pair.older.id]))];
  if (ids.length > 0) {
    const texts = new Map(
      (await call("list", { ids, all_groups: true, status: "all", limit: ids.length, text_chars: 2000 })).memories.map(
        (/** @type {any} */ memory) => [memory.id, memory],
      ),
    );
    for (const pair of found) for (const side of ["newer", "older"]) pair[side] = { ...texts.get(pair[side].id), ...pair[side] };
  }
  return { pairs: found, examined };
}

/** @returns {View} */
function reviewView(/** @type {Route} */ route) {
  const tab = route.query.get("tab") ?? "conflicts";
  const project = route.query.get("project") ?? "";
  const all = route.query.get("all") === "1";
  const tabs = [
    ["conflicts", "Conflicts"],
    ["wishes", "Wishes"],
    ["candidates", "Candidates"],
    ["flagged", "Flagged"],
    ["imported", "Imported"],
  ];
  const links = h(
    "div",
    { class: "tabs", role: "group", "aria-label": "What to review" },
    tabs.map(([name, label]) =>
      h(
        "a",
        { href: address("review", "", { tab: name, project }), "aria-current": name === tab ? "true" : undefined, class: "tab" },
        label,
        h("span", { class: "muted", "data-count": name }),
      ),
    ),
  );
  const showCounts = (/** @type {Record<string, number>} */ counts) => {
    for (const [name, count] of Object.entries(counts)) {
      const place = links.querySelector(`[data-count="${name}"]`);
      if (place) place.textContent = ` ${NUMBER.format(count)}`;
    }
  };
  const choice = projectSelect(project, "All projects");
  choice.setAttribute("aria-label", "Project");
  choice.addEventListener("change", () => go(address("review", "", { tab, project: choice.value })));
  const box = h("input", {
    type: "checkbox",
    checked: all,
    onchange: () => go(address("review", "", { tab, project, all: all ? "" : "1" })),
  });
  const kept = tab === "conflicts" && h("label", { class: "check" }, box, h("span", null, "Also pairs that were kept"));
  const scope = {
    all_groups: project ? undefined : true,
    group: project,
    from_group: project ? true : undefined,
    limit: 100,
    text_chars: 600,
  };
  const asks = /** @type {Record<string, () => Promise<any>>} */ ({
    conflicts: () => findPairs(project, all),
    wishes: () => call("list", { ...scope, wished: true, status: "all" }),
    candidates: () => call("list", { ...scope, status: "candidate" }),
    flagged: () => call("list", { ...scope, flags: true, status: "all" }),
    imported: () => call("list", { ...scope, trust: "import" }),
  });
  const intros = /** @type {Record<string, string>} */ ({
    conflicts: "Memories that look like two versions of one fact. Keep what is true; everything here can be undone.",
    wishes: "What agents asked to do to a memory and only you may do. Do it or decline it.",
    candidates: "Memories that no person has confirmed. A search gives them to agents last and marked; briefs and hooks never have them.",
    flagged: "Texts that ask to ignore instructions, to hide something or to send data away, or that disagree with a memory that you trust more. Confirm what is right.",
    imported: "Memories of an import that you have not confirmed.",
  });
  const view = pageView("Review", {
    intro: intros[tab],
    tools: [links, choice, kept],
    ask: () => {
      countWaiting({ all_groups: scope.all_groups, group: scope.group, from_group: scope.from_group }).then(showCounts, () => null);
      return (asks[tab] ?? asks.conflicts)();
    },
    draw: (reply) => {
      if (reply.pairs) showCounts({ conflicts: reply.pairs.length });
      keepPlace();
      return reply.pairs ? drawPairs(reply) : drawWaiting(reply, tab);
    },
    update: () => false,
    keys: [
      ["j", "Next", () => moveCard(1)],
      ["k", "Previous", () => moveCard(-1)],
    ],
  });
  return view;
}

/** After the card with the focus was settled and has gone, the one at its place gets the focus. */
function keepPlace() {
  const cards = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#main .item")]);
  const at = cards().findIndex((item) => item.contains(document.activeElement));
  if (at < 0) return;
  setTimeout(() => {
    if (document.activeElement === document.body) (cards()[Math.min(at, cards().length - 1)] ?? document.querySelector("#main h1"))?.focus();
  });
}

/** Moves the focus to the next or previous card. */
function moveCard(/** @type {number} */ by) {
  const cards = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#main .item")]);
  const at = cards.findIndex((item) => item.contains(document.activeElement));
  const next = cards[Math.max(0, Math.min(cards.length - 1, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function drawPairs(/** @type {any} */ reply) {
  if (reply.pairs.length === 0) return [nothing(`No conflicts among the ${memoriesOf(reply.examined)} that were compared.`)];
  const looks = /** @type {Record<string, string>} */ ({
    "other value": "another value",
    near: "near in meaning",
    "same fact": "the same fact",
  });
  return reply.pairs.map((/** @type {any} */ pair) => {
    const { newer, older } = pair;
    const side = (/** @type {any} */ memory, /** @type {string} */ label) =>
      h(
        "div",
        { class: "side" },
        h(
          "p",
          { class: "small muted" },
          label,
          " · ",
          timeOf(memory.created_at),
          memory.group && visibleText(` · ${memory.group}`),
          memory.client && ` · ${storedBy(memory)}`,
        ),
        h("p", null, memoryLink(memory.id, visibleText(memory.content ?? memory.preview))),
      );
    const keep = (/** @type {any} */ winner, /** @type {any} */ loser) =>
      change("Superseded", () => callAbout("supersede", loser.id, { old: loser.id, new: winner.id }, [winner, loser]), textOf(loser));
    const made = (/** @type {string} */ label, /** @type {() => any} */ act, /** @type {any} */ about, /** @type {string} */ kind = "") =>
      named(button(label, act, { kind: `small-button ${kind}` }), `${label}: ${visibleString(oneLine(textOf(about)).slice(0, 80))}`);
    return h(
      "article",
      { class: "item card", tabindex: "-1" },
      h("p", { class: "small muted" }, `Looks like ${looks[pair.looks_like] ?? pair.looks_like} · cosine ${pair.cosine.toFixed(2)}`),
      h("div", { class: "sides" }, side(older, "Older"), side(newer, "Newer")),
      diffOf(older.content ?? older.preview, newer.content ?? newer.preview),
      h(
        "div",
        { class: "toolbar" },
        made("Newer is right", () => keep(newer, older), newer, "primary"),
        made("Older is right", () => keep(older, newer), older),
        made("Keep both", () => keepBoth(pair), newer),
        made("Merge", () => mergeMemories(newer.id, older.id), newer),
        made("Forget newer", () => forgetMemory({ ...newer, status: "active" }), newer, "danger"),
        made("Forget older", () => forgetMemory({ ...older, status: "active" }), older, "danger"),
      ),
    );
  });
}

/** Records that both memories of a pair are right. Nothing of them changes, and the pair can be listed again. */
async function keepBoth(/** @type {any} */ pair) {
  try {
    const ids = [pair.newer.id, pair.older.id];
    const to = (/** @type {"keep" | "unkeep"} */ way) => call("review", { [way]: ids, group: pair.group });
    await inTurn(() => to("keep"));
    const ways = { switchBack: () => to("unkeep"), switchAgain: () => to("keep") };
    remember({ label: "Both kept", name: changeName("keeping both", pair.newer.preview), at: Date.now(), acts: [], ...ways });
    refreshView();
  } catch (error) {
    tellFailure(error);
  }
}

function drawWaiting(/** @type {any} */ reply, /** @type {string} */ tab) {
  if (reply.memories.length === 0) return [nothing("Nothing waits here.")];
  const head = h(
    "div",
    { class: "toolbar" },
    h("p", null, memoriesOf(reply.total), reply.next !== undefined && `, the newest ${reply.memories.length} are shown`),
    tab === "imported" && button("Confirm all without flags", confirmImported, { kind: "small-button" }),
  );
  return [
    head,
    ...reply.memories.map((/** @type {any} */ memory) =>
      h(
        "article",
        { class: "item card", tabindex: "-1" },
        h(
          "div",
          { class: "detail-head" },
          typeMark(memory.type),
          h("span", { class: "row-marks" }, marksOf(memory)),
          h(
            "span",
            { class: "muted small" },
            `${storedBy(memory)} · `,
            timeOf(memory.created_at),
            memory.group && visibleText(` · ${memory.group}`),
          ),
        ),
        h("p", { class: "item-text", dir: "auto" }, visibleText(memory.content ?? memory.preview)),
        (memory.wishes ?? []).map((/** @type {any} */ wish) => h("p", { class: "small" }, visibleText(wishText(wish)))),
        memory.rejected && h("p", { class: "small" }, "Given up: ", visibleText(memory.rejected)),
        h(
          "div",
          { class: "toolbar" },
          memory.wishes ? wishTools(memory) : waitingTools(memory),
          h("a", { class: "button small-button", href: address("memory", memory.id) }, "Open"),
        ),
      ),
    ),
  ];
}

/** What can be done with a memory that waits. To reject a candidate is to forget it. */
function waitingTools(/** @type {any} */ memory) {
  const text = visibleString(oneLine(textOf(memory)).slice(0, 80));
  const isCandidate = memory.status === "candidate";
  const made = (/** @type {string} */ label, /** @type {() => any} */ act, /** @type {string} */ kind = "") =>
    named(button(label, act, { kind: `small-button ${kind}` }), `${label}: ${text}`);
  return [
    made("Confirm", () => confirmMemory(memory), "primary"),
    made("Edit", () => editMemory(memory)),
    isCandidate ? made("Reject", () => rejectCandidate(memory), "danger") : made("Forget", () => forgetMemory(memory), "danger"),
    memory.status === "active" && made("Reject", () => forgetWithReason(memory, true)),
  ];
}

/** Who wishes what, with the command that does it. */
function wishText(/** @type {any} */ wish) {
  return `${wish.client ?? "a script"} · ${wish.at.slice(0, 10)} · ${wish.command}`;
}

/** What can be done with the wishes for a memory. What cannot be undone, and moves, are left to the command line. */
function wishTools(/** @type {any} */ memory) {
  const text = visibleString(oneLine(textOf(memory)).slice(0, 80));
  const acts = /** @type {Record<string, [string, () => any]>} */ ({
    forget: ["Forget", () => forgetMemory(memory)],
    restore: ["Restore", () => restoreMemory(memory)],
    confirm: ["Confirm", () => confirmMemory(memory)],
    move: ["Move", () => moveMemories([memory.id])],
  });
  const offered = memory.wishes.flatMap((/** @type {any} */ wish) => (acts[wish.kind] ? [acts[wish.kind]] : []));
  const made = (/** @type {[string, () => any]} */ [label, act]) => named(button(label, act, { kind: "small-button" }), `${label}: ${text}`);
  return [...offered, ["Decline", () => decline(memory)]].map(made);
}

/** Declines the wishes for a memory: nothing of it changes. */
async function decline(/** @type {any} */ memory) {
  try {
    await callAbout("review", memory.id, { decline: [memory.id] });
    toast("Declined");
    refreshView();
  } catch (error) {
    tellFailure(error);
  }
}

/** Gives a control the name that says what it acts on. */
function named(/** @type {any} */ control, /** @type {string} */ name) {
  control.setAttribute("aria-label", name);
  return control;
}

/** Confirms all imported memories without flags, after saying how many. */
async function confirmImported() {
  try {
    const { confirmed, selection } = await call("confirm", { imported: true, preview: true });
    const text = `They are then trusted as your own: ${memoriesOf(confirmed)} of every project.`;
    if (await openDialog("Confirm all imported memories?", h("p", null, text), [{ label: "Confirm", value: true, kind: "primary" }])) {
      await change(`${memoriesOf(confirmed)} confirmed`, () => call("confirm", { imported: true, selection }));
    }
  } catch (error) {
    tellFailure(error);
  }
}
