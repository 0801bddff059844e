// Import by drag and drop, and export as a file.

/** The preview reads this much of a file, in parts of this size, in bytes; and it names this many kinds of lines. */
const PREVIEW_BYTES = 8 * 1024 * 1024;
const PART_BYTES = 512 * 1024;
const PREVIEW_KINDS = 50;

/** Kinds of lines of an export, and how they are called. */
const RECORD_NAMES = /** @type {Map<string, [string, string]>} */ (
  new Map([
    ["memory", ["memory", "memories"]],
    ["group", ["project", "projects"]],
    ["relation", ["relation", "relations"]],
    ["log", ["log line", "log lines"]],
    ["vector", ["vector", "vectors"]],
    ["tombstone", ["deletion", "deletions"]],
  ])
);

/** @type {File | null} The file that was dropped on another view. */
let droppedFile = null;

/** @returns {View} */
function transferView() {
  const preview = h("div", { class: "import-preview", "aria-live": "polite" });
  const input = h("input", {
    type: "file",
    accept: ".jsonl,.ndjson,.json,.dump,.txt,.md",
    class: "unseen",
    id: "import-file",
    onchange: () => input.files[0] && look(input.files[0]),
  });
  const zone = h(
    "div",
    { class: "drop-zone" },
    icon("transfer"),
    h("p", null, h("strong", null, "Drop a file here"), " or ", h("label", { class: "button", for: "import-file" }, "choose one"), input),
    h("p", { class: "muted small" }, "A file of loci export or loci dump. Other programs' memories: loci import --from …"),
  );
  const layout = select(
    [
      ["lines", "Lines of JSON"],
      ["document", "One JSON document"],
      ["dump", "Sorted lines for git"],
    ],
    "lines",
    { name: "layout" },
  );
  const vectors = h("input", { type: "checkbox", name: "vectors" });
  const result = h("div", { class: "import-result" });

  let looks = 0;
  async function look(/** @type {File} */ file) {
    looks += 1;
    const mine = looks;
    preview.replaceChildren(h("p", { class: "muted" }, "Reading …"));
    result.replaceChildren();
    const own = h("input", { type: "checkbox", name: "own" });
    const skip = h("input", { type: "checkbox", name: "skip" });
    const counts = await countRecords(file).catch((error) => ({ kinds: new Map(), samples: [], note: "", failure: sentenceOf(error) }));
    if (mine !== looks) return;
    const fault = h("p", { class: "failed", role: "alert" }, counts.failure);
    const name = h("p", null, h("strong", null, visibleText(file.name)), ` · ${bytesOf(file.size)}`);
    const cancel = button("Cancel", () => preview.replaceChildren());
    preview.replaceChildren();
    if (counts.failure) {
      append(preview, [name, fault, h("div", { class: "toolbar" }, cancel)]);
      return;
    }
    const kinds = [...counts.kinds].map(([kind, count]) => {
      const names = RECORD_NAMES.get(kind) ?? /** @type {[string, string]} */ ([kind, kind]);
      return h("li", null, visibleText(counted(count, ...names)));
    });
    append(preview, [
      name,
      h("ul", { class: "counts" }, kinds),
      counts.note && h("p", { class: "muted" }, counts.note),
      counts.samples.length > 0 &&
        h(
          "ul",
          { class: "diff" },
          counts.samples.map((text) => h("li", { class: "plus" }, visibleText(text))),
        ),
      h("label", { class: "check" }, own, h("span", null, "These are my own texts: keep the trust that the file claims")),
      h("label", { class: "check" }, skip, h("span", null, SKIP_LABEL)),
      fault,
      h(
        "div",
        { class: "toolbar" },
        button("Import", () => importFile(file, own.checked, skip.checked, fault), { kind: "primary", id: "import-button" }),
        cancel,
      ),
    ]);
    document.getElementById("import-button")?.focus();
  }

  async function importFile(
    /** @type {File} */ file,
    /** @type {boolean} */ own_texts,
    /** @type {boolean} */ skip_bad,
    /** @type {any} */ fault,
  ) {
    const started = /** @type {any} */ (document.getElementById("import-button"));
    fault.textContent = "";
    started.disabled = true;
    result.replaceChildren(h("p", { class: "muted" }, "Importing …"));
    try {
      const first = `${JSON.stringify({ session: boot.session, arguments: { own_texts, skip_bad } })}\n`;
      const headers = { "Content-Type": "application/x-ndjson" };
      const body = new Blob([first, file]);
      const reply = await inTurn(async () => (await request("/api/import", { method: "POST", headers, body })).json());
      await change("Imported", async () => reply, file.name);
      preview.replaceChildren();
      result.replaceChildren(importReport(reply));
    } catch (error) {
      result.replaceChildren();
      const sentence = sentenceOf(error).replace("skip bad lines with --skip-bad", `tick “${SKIP_LABEL}”`);
      fault.replaceChildren(...visibleText(sentence));
      started.disabled = false;
    }
  }

  async function exportStore() {
    try {
      const response = await request("/api/export", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ session: boot.session, arguments: { layout: layout.value, vectors: vectors.checked } }),
      });
      const blob = await response.blob();
      const tail = await blob.slice(Math.max(0, blob.size - 4096)).text();
      const last = tail.trimEnd().split("\n").at(-1) ?? "";
      if (last.startsWith('{"error":')) throw new RequestFailed(JSON.parse(last).error, 500);
      const link = h("a", {
        href: URL.createObjectURL(blob),
        download: `loci-${dayKey(new Date().toISOString())}.${layout.value === "document" ? "json" : "jsonl"}`,
      });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      toast(`Exported: ${bytesOf(blob.size)}`);
    } catch (error) {
      tellFailure(error);
    }
  }

  if (droppedFile) look(droppedFile);
  droppedFile = null;
  const heading = h("h1", { tabindex: "-1" }, "Import & export");
  const element = h(
    "div",
    { class: "page" },
    heading,
    card(
      "Import",
      h(
        "p",
        { class: "muted" },
        "Importing twice changes nothing, it is one change that can be undone, and nothing that you stored or confirmed is overwritten.",
      ),
      zone,
      preview,
      result,
    ),
    card(
      "Export",
      h("p", { class: "muted" }, "Everything that is stored, as a file on this machine."),
      h("div", { class: "fields" }, field("Layout", layout), h("label", { class: "check" }, vectors, h("span", null, "With vectors"))),
      h("div", { class: "toolbar" }, button("Export", exportStore, { kind: "primary" })),
    ),
  );
  return { element, focus: () => heading.focus(), drop: look };
}

const SKIP_LABEL = "Skip lines that cannot be imported";

/** Counts the lines of a file by kind, as far as the preview reads it, and shows the first texts. */
async function countRecords(/** @type {File} */ file) {
  const found = { kinds: /** @type {Map<string, number>} */ (new Map()), samples: /** @type {string[]} */ ([]), note: "", failure: "" };
  const foreign = "This is not a file of loci export or loci dump.";
  if (/\.(md|markdown)$/i.test(file.name)) {
    found.failure = "Markdown files cannot be imported here. In a terminal: loci import --from markdown FILE";
  } else if (file.size === 0) {
    found.failure = "The file is empty.";
  } else if (/^\s*\{"loci":[^\n]*"records":/.test(await file.slice(0, 4096).text())) {
    if (file.size > PREVIEW_BYTES) {
      found.note = "It is too large to be looked through before the import.";
    } else {
      const { records } = JSON.parse(await file.text());
      for (const record of Array.isArray(records) ? records : []) countRecord(record, found);
    }
  } else if (!(await countLines(file, found)) && found.kinds.size === 0) {
    found.failure = foreign;
  }
  const isKnown = [...found.kinds.keys()].some((kind) => RECORD_NAMES.has(kind));
  if (!found.failure && !found.note && !isKnown) found.failure = foreign;
  return found;
}

/** Counts the lines at the beginning of a file; returns false if one of them is not JSON. */
async function countLines(/** @type {File} */ file, /** @type {{kinds: Map<string, number>, samples: string[], note: string}} */ found) {
  const decoder = new TextDecoder();
  const end = Math.min(file.size, PREVIEW_BYTES);
  let rest = "";
  let bad = 0;
  for (let from = 0; from < end; from += PART_BYTES) {
    const part = await file.slice(from, Math.min(end, from + PART_BYTES)).arrayBuffer();
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (from + PART_BYTES >= file.size) lines.push(rest);
    for (const line of lines) {
      if (!line.trim()) continue;
      try {
        countRecord(JSON.parse(line), found);
      } catch {
        bad += 1;
      }
    }
    // Nothing of an export so far: the rest need not be read.
    if (found.kinds.size === 0 && bad > 0) return false;
  }
  if (bad > 0) found.note = `${counted(bad, "line is", "lines are")} not JSON and cannot be imported.`;
  if (file.size > end) found.note += ` The file is large: only its first ${bytesOf(end)} were looked through.`;
  return bad === 0;
}

function countRecord(/** @type {any} */ record, /** @type {{kinds: Map<string, number>, samples: string[]}} */ found) {
  const kind = record?.kind;
  if (typeof kind !== "string" || kind === "end") return;
  const name = found.kinds.has(kind) || found.kinds.size < PREVIEW_KINDS ? kind.slice(0, 40) : "others";
  found.kinds.set(name, (found.kinds.get(name) ?? 0) + 1);
  if (kind === "memory" && found.samples.length < 5) found.samples.push(oneLine(String(record.content)).slice(0, 160));
}

function importReport(/** @type {any} */ reply) {
  const skipped = (reply.skipped_lines ?? []).map((/** @type {any} */ line) =>
    h("li", null, `line ${line.line}: `, visibleText(line.reason)),
  );
  const notes = [...(reply.redacted ?? []).map((/** @type {string} */ text) => `Replaced: ${text}`), ...(reply.notes ?? [])];
  return h(
    "div",
    { role: "status" },
    h(
      "p",
      null,
      h(
        "strong",
        null,
        `${memoriesOf(reply.added)} added, ${NUMBER.format(reply.changed)} changed, ${NUMBER.format(reply.unchanged)} unchanged.`,
      ),
      reply.flagged > 0 && ` ${NUMBER.format(reply.flagged)} are flagged.`,
    ),
    reply.refused > 0 && h("p", null, `${counted(reply.refused, "line")} refused: their memories were deleted here.`),
    reply.skipped > 0 && [h("p", null, `${counted(reply.skipped, "line")} skipped:`), h("ul", { class: "plain" }, skipped)],
    notes.map((text) => h("p", { class: "small" }, visibleText(text))),
    h("a", { href: address("review", "", { tab: "imported" }) }, "Review what was imported"),
  );
}

/** Takes files that are dropped anywhere on the page. */
function acceptDroppedFiles() {
  const hasFile = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && document.body.classList.remove("dragging"));
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dragging");
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    if (shown.name === "transfer") {
      shown.view?.drop?.(file);
    } else {
      droppedFile = file;
      go(address("transfer"));
    }
  });
}
