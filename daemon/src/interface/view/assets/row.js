// One memory as a row of a list, and the small marks that tell its type, state and trust everywhere.

const TYPES = ["episodic", "semantic", "procedural", "entity"];

/** What the types mean, for people. */
const TYPE_HINTS = /** @type {Record<string, string>} */ ({
  episodic: "an event or a decision",
  semantic: "a fact or a preference",
  procedural: "how something is done",
  entity: "a person or a thing",
});

const TRUST_HINTS = /** @type {Record<string, string>} */ ({
  person: "you stored or confirmed it",
  agent: "an agent stored it; no person has confirmed it",
  import: "it came with an import",
});

/** The type, in its colour. */
function typeMark(/** @type {string} */ type) {
  return h("span", { class: `type type-${type}`, title: TYPE_HINTS[type] }, type);
}

/**
 * The marks of a memory that are not as usual: state, trust, pin, flags.
 * @param {any} memory
 */
function marksOf(memory) {
  const marks = [];
  if (memory.status !== "active") marks.push(h("span", { class: `mark status-${memory.status}` }, memory.status));
  if (memory.pinned) marks.push(h("span", { class: "mark pinned" }, "pinned"));
  if (memory.trust === "person") marks.push(h("span", { class: "mark trust-person", title: TRUST_HINTS.person }, "yours"));
  if (memory.trust === "import") marks.push(h("span", { class: "mark trust-import", title: TRUST_HINTS.import }, "imported"));
  for (const flag of memory.flags ?? [])
    marks.push(h("span", { class: "mark flag", title: "It is held back until you confirm it" }, `⚑ ${visibleString(flag)}`));
  return marks;
}

/** Steps of the ranking, named as by `loci search --explain`, with what they mean; their place decides their colour. */
const STEPS = /** @type {Record<string, string>} */ ({
  cosine: "its meaning is near that of the query",
  bm25: "it has words of the query, rare ones count more",
  graph: "it is related to an entity of the query or of the best results",
  project: "it is of the asking project, or of one that the query names",
  words: "its words match those of the query one by one",
  window: "memories that were stored around it match too",
  recency: "it is newer than others that match",
  date: "it is of the time that the query names",
  person: "it is about the person of the query",
  first_person: "who speaks in it fits the query",
  expect: "it has the kind of answer that the query asks for",
  answer: "it reads as an answer to the query",
  next: "it follows a memory that matches",
  question: "it is a question itself",
  branch: "it was stored on another branch",
  summary: "a memory that it sums up matches",
  compacted: "it was summed up; the score is halved",
});

/** Returns the class that colours a step of the ranking; equal steps have equal colours everywhere. */
function stepClass(/** @type {string} */ step) {
  const at = Object.keys(STEPS).indexOf(step);
  return `step-${at < 0 ? 7 : at % 9}`;
}

/**
 * How likely a result answers, as a bar of the parts of its score.
 * @param {number} fit
 * @param {{parts: {step: string, adds: number}[]} | undefined} why
 */
function scoreBar(fit, why) {
  const bar = h("span", { class: "score-bar", "aria-hidden": "true" });
  const positive = (why?.parts ?? []).filter((part) => part.adds > 0);
  const sum = positive.reduce((total, part) => total + part.adds, 0) || 1;
  const length = Math.max(0, Math.min(1, fit));
  for (const part of positive) {
    bar.append(setStyle(h("span", { class: stepClass(part.step) }), "width", `${((part.adds / sum) * length * 100).toFixed(1)}%`));
  }
  return bar;
}

/** Creates an empty row. */
function makeRow() {
  const parts = {
    type: h("span", { class: "row-type" }),
    text: h("div", { class: "row-text", dir: "auto" }),
    meta: h("span", { class: "row-meta-text" }),
    time: h("span", { class: "row-time" }),
    marks: h("span", { class: "row-marks" }),
    score: h("span", { class: "row-score" }),
  };
  const row = h(
    "div",
    { class: "row", role: "option" },
    parts.text,
    h("div", { class: "row-meta" }, parts.type, parts.marks, parts.meta, parts.time, parts.score),
  );
  row.parts = parts;
  return row;
}

/** Shows one line of a text that is not long. */
function oneLine(/** @type {string} */ text) {
  return text.replace(/\s+/g, " ").trim();
}

/**
 * Shows a memory in a row; `undefined` shows that it is being loaded.
 * @param {any} row
 * @param {any} memory
 * @param {{words: string[], isMarked: boolean}} context
 */
function fillRow(row, memory, context) {
  const { type, text, meta, time, marks, score } = row.parts;
  row.classList.toggle("loading", !memory);
  row.classList.toggle("inactive", Boolean(memory) && memory.status !== "active" && memory.status !== "candidate");
  row.classList.toggle("selected-many", context.isMarked);
  if (!memory) {
    row.removeAttribute("data-id");
    for (const part of [text, type, meta, time, marks, score]) part.textContent = "";
    text.textContent = "…";
    return;
  }
  row.dataset.id = memory.id;
  const content = oneLine(memory.content ?? memory.preview);
  if (context.words.length > 0 || content.search(HIDDEN) >= 0) text.replaceChildren(...markedText(content, context.words));
  else text.textContent = content;
  type.className = `row-type type type-${memory.type}`;
  type.textContent = memory.type;
  meta.textContent = [visibleString(memory.group ?? ""), storedBy(memory)].filter(Boolean).join(" · ");
  time.textContent = shortTime(memory.created_at);
  marks.replaceChildren(...(context.isMarked ? [h("span", { class: "mark chosen" }, "marked")] : []), ...marksOf(memory));
  if (memory.score === undefined) score.textContent = "";
  else score.replaceChildren(scoreBar(memory.score, memory.why), h("span", { class: "score" }, memory.score.toFixed(2)));
}

/** What can be done with several marked memories at once. */
function bulkTools(/** @type {string[]} */ ids, /** @type {() => void} */ clear) {
  return [
    h("span", null, `${memoriesOf(ids.length)} marked`),
    button("Forget", () => forgetAll(ids).then(clear), { kind: "small-button" }),
    button("Move", () => moveMemories(ids).then(clear), { kind: "small-button" }),
    ...(ids.length === 2 ? [button("Merge", () => mergeMemories(ids[0], ids[1]).then(clear), { kind: "small-button", key: "m" })] : []),
    button("Unmark", clear, { kind: "link" }),
  ];
}
