// The sections of a memory: score, versions, relations, metadata, changes, log.

/** Bars for each part of a score. */
function explanationOf(/** @type {any} */ found) {
  const { why, score, result } = found;
  const most = Math.max(...why.parts.map((/** @type {any} */ part) => Math.abs(part.adds)), 0.0001);
  const bars = why.parts.map((/** @type {any} */ part) =>
    h(
      "div",
      { class: "why-row" },
      h("dt", { title: STEPS[part.step] }, part.step),
      h(
        "dd",
        null,
        setStyle(
          h("span", { class: `why-bar ${stepClass(part.step)} ${part.adds < 0 ? "negative" : ""}`, "aria-hidden": "true" }),
          "width",
          `${(Math.abs(part.adds) / most) * 60}%`,
        ),
        h("span", { class: "why-number" }, `${part.adds < 0 ? "−" : "+"}${Math.abs(part.adds).toFixed(3)}`),
      ),
    ),
  );
  const ranked = [
    why.vector && `by meaning number ${why.vector.rank} (cosine ${why.vector.score.toFixed(2)})`,
    why.keywords && `by words number ${why.keywords.rank} (${percent(why.keywords.score)} of the ideal)`,
  ]
    .filter(Boolean)
    .join(", ");
  return [
    h(
      "p",
      null,
      h("strong", null, `Likelihood that it answers: ${score.toFixed(2)}`),
      ranked && `: ${ranked}`,
      ".",
    ),
    h("dl", { class: "why" }, bars),
    result?.also?.length > 0 &&
      h(
        "p",
        { class: "small" },
        "States the same: ",
        result.also.map((/** @type {string} */ id) => [memoryLink(id, shortId(id)), " "]),
      ),
    result?.stale && h("p", { class: "small" }, visibleText(result.stale)),
  ];
}

/** The versions of a fact, with what changed from each to the next. */
function versionsOf(/** @type {any} */ reply) {
  const { chain, version } = reply.versions;
  const rows = chain.map((/** @type {any} */ entry, /** @type {number} */ at) => {
    const before = chain[at - 1]?.preview;
    const text =
      entry.preview === undefined
        ? h("em", null, "forgotten")
        : before !== undefined && before !== entry.preview
          ? diffOf(before, entry.preview)
          : visibleText(entry.preview);
    const isThis = entry.version === version;
    return h(
      "li",
      { class: isThis ? "this" : "", "aria-current": isThis ? "true" : undefined },
      h(
        "span",
        { class: "small muted" },
        `${entry.version} · `,
        timeOf(entry.created_at),
        ` · ${entry.status}${isThis ? " · shown here" : ""}`,
      ),
      isThis ? h("div", null, text) : h("div", null, text, " ", memoryLink(entry.id, "Open")),
    );
  });
  return h("ol", { class: "versions" }, rows);
}

/** A list of memories that are linked. */
function linked(
  /** @type {string} */ name,
  /** @type {string} */ title,
  /** @type {{id: string, preview: string}[] | undefined} */ memories,
) {
  if (!memories?.length) return "";
  return section(
    name,
    `${title} (${memories.length})`,
    h(
      "ul",
      { class: "links" },
      memories.map((memory) => h("li", null, memoryLink(memory.id, visibleText(memory.preview)))),
    ),
  );
}

/** The relations of an entity in both directions. */
function relationsOf(/** @type {any} */ reply, /** @type {() => Promise<void>} */ more) {
  const rows = reply.relations.map((/** @type {any} */ relation) => {
    const other = relation.object ?? relation.subject;
    return h(
      "li",
      null,
      h("span", { class: "predicate" }, visibleText(relation.object ? `${relation.predicate} →` : `← ${relation.predicate}`)),
      " ",
      memoryLink(other.id, visibleText(other.preview)),
      relation.confidence !== undefined && h("span", { class: "muted small" }, ` ${percent(relation.confidence)}`),
      relation.evidence?.length > 0 &&
        h(
          "span",
          { class: "small" },
          " stated by ",
          relation.evidence.map((/** @type {string} */ id) => [memoryLink(id, shortId(id)), " "]),
        ),
    );
  });
  return [
    rows.length === 0 ? h("p", { class: "muted" }, "None yet.") : h("ul", { class: "links" }, rows),
    reply.relations_next && button("More relations", () => more().catch(tellFailure), { kind: "link" }),
  ];
}

function metadataOf(/** @type {Record<string, any>} */ metadata) {
  return h(
    "dl",
    { class: "facts" },
    Object.entries(metadata).map(([name, value]) =>
      h("div", null, h("dt", null, visibleText(name)), h("dd", null, visibleText(valueText(value)))),
    ),
  );
}

/** Names of acts for people; others keep their name. */
const ACT_NAMES = /** @type {Record<string, string>} */ ({
  edit: "Edited",
  forget: "Forgotten",
  forget_many: "Forgotten",
  restore: "Restored",
  pin: "Pinned",
  supersede: "Superseded",
  confirm: "Confirmed",
  undo: "Undo",
  redo: "Redo",
  import: "Import",
  compact: "Compacted",
  promote: "Promoted",
  link: "Linked",
  cleanup: "Cleaned up",
  move: "Moved",
  move_to: "Moved",
  merge: "Merged",
  store: "Stored",
  relate: "Related",
  reject: "Given up",
  review: "Both kept",
  groups_rename: "Project renamed",
  groups_merge: "Projects merged",
  groups_alias: "Alias of a project",
  store_relation: "Related",
  hard_delete: "Deleted",
  undo_session: "A session undone",
  keep: "Both kept",
  groups_switch: "Project switched",
});

function actName(/** @type {string} */ act) {
  const key = act.replaceAll(/[ -]/g, "_");
  return ACT_NAMES[key] ?? key.replaceAll("_", " ");
}

/** What an act changed, in a few lines. */
function actSummary(/** @type {any} */ act, /** @type {string} */ only = "") {
  const changed = (act.changed ?? [])
    .filter((/** @type {any} */ entry) => !only || entry.id !== only || entry.before !== undefined)
    .slice(0, only && act.rows >= LARGE_ACT ? 0 : 3)
    .map((/** @type {any} */ entry) =>
      h(
        "li",
        null,
        entry.before !== undefined
          ? diffOf(entry.before, entry.preview)
          : entry.id
            ? memoryLink(entry.id, visibleText(entry.preview))
            : visibleText(entry.preview),
      ),
    );
  return h(
    "div",
    { class: "act" },
    h(
      "p",
      null,
      h("strong", null, actName(act.act)),
      ` · ${visibleString(act.client ?? "loci")} · `,
      timeOf(act.at),
      ` · ${counted(act.rows, "row")}`,
      act.undone_at && h("span", { class: "mark undone" }, "undone"),
    ),
    changed.length > 0 && h("ul", { class: "changed" }, changed),
  );
}

/** Acts with a button that undoes each. */
function actsOf(/** @type {any[]} */ acts, /** @type {string} */ id) {
  if (acts.length === 0) return h("p", { class: "muted" }, "Not changed since it was stored.");
  return h(
    "ul",
    { class: "acts" },
    acts.map((act) => h("li", null, actSummary(act, id), undoButton(act))),
  );
}

/** The button that undoes an act, or makes it again. */
function undoButton(/** @type {any} */ act) {
  if (asOf) return "";
  const label = act.undone_at ? "Redo" : "Undo";
  const press = () => (act.undone_at ? redoAct(act) : undoAct(act));
  const made = button(label, press, { kind: "small-button", title: `${label} act ${act.id}` });
  made.dataset.key = `undo-${act.id}`;
  made.setAttribute("aria-label", `${label}: ${actName(act.act)}, act ${act.id}`);
  return made;
}

/** The audit log of a memory. */
function logOf(/** @type {any[]} */ log) {
  if (log.length === 0) return h("p", { class: "muted" }, "Empty.");
  const rows = log.map((entry) =>
    h(
      "tr",
      null,
      h("td", null, timeOf(entry.at)),
      h("td", null, entry.operation),
      h("td", null, visibleText(entry.client ?? "")),
      h("td", null, entry.session ? sessionLink(entry.session) : ""),
      h("td", { class: "wrap" }, entry.details ? visibleText(valueText(entry.details)) : ""),
    ),
  );
  return tableOf(["Time", "Operation", "Client", "Session", "Details"], rows);
}

/** A table that scrolls by itself where it is too wide. */
function tableOf(/** @type {string[]} */ heads, /** @type {any[]} */ rows, /** @type {string} */ label = "Table") {
  return h(
    "div",
    { class: "table-box", tabindex: "0", role: "region", "aria-label": label },
    h(
      "table",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h("tbody", null, rows),
    ),
  );
}
