// One memory with everything that is stored about it, and what can be done with it.

/** Sections that the person has closed or opened; the others are as they are made. */
const openSections = /** @type {Map<string, boolean>} */ (new Map());

/**
 * A section that can be closed.
 * @param {string} name
 * @param {string} title
 * @param {any} body
 * @param {boolean} [isOpen]
 */
function section(name, title, body, isOpen = true) {
  return h(
    "details",
    {
      class: "section",
      open: openSections.get(name) ?? isOpen,
      ontoggle: (/** @type {any} */ event) => openSections.set(name, event.target.open),
    },
    h("summary", { "data-key": `section-${name}` }, h("h3", null, title)),
    body,
  );
}

/**
 * Makes the panel of one memory.
 * @param {string} id
 * @param {{back?: () => void}} options
 */
function makeDetail(id, options) {
  const element = h("article", { class: "detail", tabindex: "-1", "aria-busy": "true" }, h("p", { class: "muted pad" }, "Reading …"));
  let latest = "";
  /** @type {any} */
  let explained = null;
  let relationsNext = "";
  const made = {
    id,
    element,
    memory: /** @type {any} */ (undefined),
    reply: /** @type {any} */ (null),
    close: () => {
      made.isClosed = true;
    },
    isClosed: false,
    focus: () => element.focus(),
    /** Tells why the memory was found. */
    explain(/** @type {any} */ found, /** @type {string[]} */ words) {
      const next = { found: found?.why ? found : undefined, words };
      if (JSON.stringify(next) === JSON.stringify(explained)) return;
      explained = next;
      if (made.reply) draw();
    },
    async refresh() {
      try {
        const [reply, past] = await Promise.all([
          callAbout("memory_inspect", id, { memory_id: id, include_log: true }),
          call("history", { memory_id: id, limit: 30 }),
        ]);
        if (made.isClosed) return;
        const text = JSON.stringify([reply, past]);
        if (text === latest) return;
        latest = text;
        made.reply = reply;
        made.memory = reply.memory;
        made.acts = past.acts;
        relationsNext = reply.relations_next ?? "";
        draw();
      } catch (error) {
        if (made.isClosed || isAborted(error)) return;
        element.replaceChildren(backButton(), h("p", { class: "failed pad" }, sentenceOf(error)));
      }
      element.removeAttribute("aria-busy");
    },
    acts: /** @type {any[]} */ ([]),
  };

  function backButton() {
    return options.back ? button("Back to the list", options.back, { icon: "back", kind: "quiet back-button" }) : "";
  }

  function draw() {
    const { memory, reply } = { memory: made.memory, reply: made.reply };
    const sections = [
      explained?.found && section("why", "Why it was found", explanationOf(explained.found)),
      reply.versions && section("versions", `Versions (${reply.versions.chain.length})`, versionsOf(reply)),
      (memory.type === "entity" || reply.relations.length > 0) && section("relations", "Relations", relationsOf(reply, loadRelations)),
      linked("mentions", "Mentions", reply.mentions),
      linked("mentioned", "Mentioned in", reply.mentioned_in),
      linked("sources", "Made from", reply.sources),
      memory.variants?.length > 0 &&
        section(
          "variants",
          "Other wordings",
          h(
            "ul",
            { class: "plain" },
            memory.variants.map((/** @type {string} */ text) => h("li", { class: "quote" }, visibleText(text))),
          ),
        ),
      Object.keys(memory.metadata).length > 0 && section("metadata", "Metadata", metadataOf(memory.metadata)),
      section("acts", `Changes (${made.acts.length})`, actsOf(made.acts, id)),
      section("log", "Log", logOf(reply.log), false),
    ];
    redraw(element, [backButton(), headOf(memory), contentOf(memory, explained?.words ?? []), factsOf(memory), toolbar(memory), sections]);
  }

  async function loadRelations() {
    const page = await callAbout("memory_inspect", id, { memory_id: id, relations_before: relationsNext });
    made.reply.relations.push(...page.relations);
    made.reply.relations_next = page.relations_next;
    relationsNext = page.relations_next ?? "";
    draw();
  }

  made.refresh();
  return made;
}

function headOf(/** @type {any} */ memory) {
  return h(
    "div",
    { class: "detail-head" },
    typeMark(memory.type),
    h("span", { class: "row-marks" }, marksOf(memory)),
    h("span", { class: "muted small", title: memory.id }, shortId(memory.id)),
  );
}

function contentOf(/** @type {any} */ memory, /** @type {string[]} */ words) {
  const long = memory.content.length > 600 ? " long" : "";
  return h("div", { class: `content${long}`, dir: "auto" }, markedText(memory.content, words));
}

/** Who stored it, when, where, and how far it is trusted. */
function factsOf(/** @type {any} */ memory) {
  const confidence = setStyle(h("span", { class: "meter", "aria-hidden": "true" }), "--share", percent(memory.confidence).replace(" ", ""));
  const rows = [
    [
      "Stored",
      [timeOf(memory.created_at), " by ", h("strong", null, storedBy(memory)), memory.session && [" in ", sessionLink(memory.session)]],
    ],
    memory.updated_at !== memory.created_at && ["Changed", timeOf(memory.updated_at)],
    ["Project", [visibleString(memory.group ?? "none"), memory.scope === "global" ? ", known in all projects" : ", only in this project"]],
    ["Trust", TRUST_HINTS[memory.trust] ?? memory.trust],
    ["Confidence", [confidence, ` ${percent(memory.confidence)}${memory.pinned ? ", does not fade" : ""}`]],
    ["Category", visibleString(String(memory.metadata.category ?? "none"))],
    memory.metadata.unasked && ["Given unasked", visibleString(String(memory.metadata.unasked))],
    memory.access_count > 0 && [
      "Used",
      [counted(memory.access_count, "time"), memory.last_accessed && [", last ", timeOf(memory.last_accessed)]],
    ],
    (memory.metadata.event_date || memory.event_date_derived) && [
      "Day of the event",
      [visibleString(String(memory.metadata.event_date || memory.event_date_derived)), memory.event_date_derived && " (from the text)"],
    ],
    (memory.metadata.valid_from || memory.metadata.valid_to) && [
      "True",
      visibleString(`${memory.metadata.valid_from ?? "always"} to ${memory.metadata.valid_to ?? "now"}`),
    ],
    memory.expires_at && ["Expires", timeOf(memory.expires_at)],
    memory.branch && ["Checked out", [visibleText(memory.branch), memory.commit && ` at ${memory.commit.slice(0, 10)}`]],
    memory.superseded_by && [
      "Replaced by",
      memory.superseded_by === "forgotten" ? "nothing: it was forgotten" : memoryLink(memory.superseded_by, shortId(memory.superseded_by)),
    ],
    memory.forgotten_reason && ["Reason", visibleText(memory.forgotten_reason)],
  ].filter(Boolean);
  return h(
    "dl",
    { class: "facts" },
    rows.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
  );
}

function sessionLink(/** @type {string} */ session) {
  return h("a", { href: address("history", "", { session }) }, `session ${session.slice(-6)}`);
}

function memoryLink(/** @type {string} */ id, /** @type {any} */ text) {
  return h("a", { href: address("memory", id), "data-key": `memory-${id}` }, text);
}

/** The categories in the order of their keys. */
const CATEGORIES = ["rule", "preference", "decision", "procedure", "fix", "fact", "state", "event"];

/** What can be done with a memory in this state. */
function toolbar(/** @type {any} */ memory) {
  if (asOf) return h("p", { class: "muted small pad" }, "This is the past. Return to now to change it.");
  const isActive = memory.status === "active";
  const tools = [
    tool("Edit", () => editMemory(memory), "e"),
    isActive && tool(memory.pinned ? "Unpin" : "Pin", () => pinMemory(memory), "p"),
    memory.status === "forgotten"
      ? tool("Restore", () => restoreMemory(memory), "r")
      : tool("Forget", () => forgetMemory(memory), "x", "danger"),
    !isActive && memory.status !== "forgotten" && tool("Restore", () => restoreMemory(memory), "r"),
    (memory.trust !== "person" || memory.flags?.length > 0 || memory.status === "candidate") &&
      tool("Confirm", () => confirmMemory(memory), "c"),
    isActive && tool("Supersede", () => supersedeMemory(memory), "s"),
    isActive && tool("Merge", () => mergeWith(memory)),
    tool("Move", () => moveMemories([memory.id])),
    memory.status !== "rejected" && isActive && tool("Reject", () => forgetWithReason(memory, true)),
    memory.type === "entity" && isActive && tool("Relate", () => relateEntity(memory)),
    tool("Graph", () => go(address("graph", memory.id)), "o"),
  ];
  return h("div", { class: "toolbar", role: "group", "aria-label": "What to do with this memory" }, tools.filter(Boolean));
}

function tool(/** @type {string} */ label, /** @type {() => void} */ act, /** @type {string} */ key = "", /** @type {string} */ kind = "") {
  const made = button(label, act, { key: key || undefined, kind: `small-button ${kind}` });
  made.dataset.key = `tool-${label}`;
  return made;
}

/** The view of one memory alone. */
function memoryView(/** @type {Route} */ route) {
  const detail = makeDetail(route.id, { back: () => (history.length > 1 ? history.back() : go("#/memories")) });
  const about = (/** @type {(memory: any) => any} */ act) => () => detail.memory && act(detail.memory);
  return {
    element: h("div", { class: "alone" }, h("h1", { class: "unseen" }, "Memory"), detail.element),
    refresh: () => detail.refresh(),
    close: () => detail.close(),
    focus: () => detail.focus(),
    keys: /** @type {[string, string, () => any][]} */ ([
      ["e", "Edit", about(editMemory)],
      ["p", "Pin or unpin", about(pinMemory)],
      ["h", "Never give it unasked, or again", about((memory) => giveUnasked(memory, "never"))],
      ["a", "Always give it, or no longer", about((memory) => giveUnasked(memory, "always"))],
      .../** @type {[string, string, () => any][]} */ (
        CATEGORIES.map((category, at) => [String(at + 1), `Category: ${category}`, about((memory) => categorise(memory, category))])
      ),
      ["x", "Forget, or restore", about(forgetMemory)],
      ["r", "Restore", about(restoreMemory)],
      ["c", "Confirm", about(confirmMemory)],
      ["s", "Supersede by another", about(supersedeMemory)],
      ["o", "Open its graph", about((memory) => go(address("graph", memory.id)))],
    ]),
  };
}
